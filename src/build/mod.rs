//! A variant, a configuration and a compiler: a kernel image, or a located build failure.

mod bench;
mod broken;
mod compile;
mod expression;
mod fragment;
mod image;
mod kconfig;
mod kernel;
mod leftover;
mod log;
mod lost;
mod make;
mod menus;
mod missing;
mod resolve;
mod toolchain;

pub use bench::{Bench, Workbench};
pub use broken::BuildFailure;
pub use image::Image;
pub use kconfig::{Kconfig, Wish};
pub use kernel::{Outcome, Request, build};
pub(crate) use log::first_error;
pub use lost::{Lost, Reason};
pub(crate) use missing::host_failure;
pub(crate) use toolchain::STRAY_VARIABLES;
pub use toolchain::{Toolchain, Wanted};

#[cfg(test)]
mod tests;
