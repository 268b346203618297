//! The one integration test program; `architecture` also checks that no file is forgotten here.

mod architecture;
mod benchmarks;
mod boot;
mod cli;
mod e2e;
mod failures;
mod flow;
mod guest;
mod mail;
mod measure;
