//! An image and an initramfs in QEMU: the guest's results and console, or a located boot failure.

mod arguments;
mod clock;
mod host;
mod judge;
mod kvm;
mod outcome;
mod qemu;
mod run;
mod signs;
mod start;
mod visit;
mod watch;

pub use arguments::machine;
pub use clock::{Accelerator, Clock};
pub use host::{HostLoad, cpu_name};
pub use kvm::{KVM, Kvm, probe_kvm};
pub use outcome::{BootFailure, Guest, Kind, Outcome};
pub use qemu::Qemu;
pub use run::boot;
pub use start::{Limits, Start};
pub use visit::{Visit, Visited, visit};
