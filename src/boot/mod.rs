//! An image and an initramfs in QEMU: the guest's results and console, or a located boot failure.

mod arguments;
mod clock;
mod judge;
mod outcome;
mod qemu;
mod run;
mod signs;
mod start;
mod visit;
mod watch;

pub use clock::Clock;
pub use outcome::{BootFailure, Guest, Kind, Outcome};
pub use qemu::Qemu;
pub use run::boot;
pub use start::{Limits, Start};
pub use visit::{Visit, Visited, visit};
