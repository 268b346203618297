//! What guests say, as samples; and the order in which boots happen.

mod alternate;
mod determinism;
mod lab;
mod lost;
mod read;
mod record;
mod results;
mod run;
mod sample;
mod schedule;

pub use alternate::alternate;
pub use determinism::{Confirmed, Difference, deterministic};
pub use lab::{Lab, Machine, Order, QemuLab, Reading};
pub use lost::Lost;
pub use read::read;
pub use record::{Drain, FailureClass};
pub use results::{BenchmarkResult, Facts, GuestFailure, Measured, Measurement, Results, Settings};
pub use run::{Booted, Pair, run};
pub use sample::{Repeat, Sample, median};
pub use schedule::{BootOrder, Side, schedule};

pub use crate::boot::{Accelerator, Clock};
