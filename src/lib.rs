//! nspatch says with numbers whether a kernel patch makes an operation faster or slower.
//!
//! This file is the map: the modules stand in the order in which data flows through them, and none
//! uses one that stands after it. `tests/it/architecture.rs` keeps that true.

// The ground floor: what every stage stands on.
pub mod arch;
pub mod blame;
pub mod catalogue;
pub mod event;
pub mod http;
pub mod interrupt;
pub mod process;
pub mod store;
// The job: what every stage is handed.
pub mod job;
// What this machine has and lacks for all of it.
pub mod doctor;

// The stages, in the order of the flow.
pub mod source;
pub mod series;
pub mod tree;
pub mod apply;
pub mod build;
pub mod rootfs;
pub mod boot;
pub mod measure;
pub mod compare;
pub mod bisect;
pub mod report;

// What calls the stages, and what talks to people.
pub mod workflow;
pub mod console;
pub mod cli;
