//! `images/`: the guest and its benchmarks, as an initramfs for an architecture.

mod archive;
mod bench;
mod benchmark;
mod description;
mod guest;
mod pack;
mod plan;

pub use benchmark::{Benchmark, Parameter, benchmarks, find};
pub use pack::{Rootfs, pack, with_programs};
pub use plan::{Planned, check_room, plan};
