//! The one place that starts programs.
//!
//! Every child gets its own process group, a deadline, a fixed locale, no standard input unless it
//! is given one, and is told to end when nspatch ends, however that happens. A child that has to go
//! is asked first (SIGTERM) and killed after a grace; the whole group goes with it.

mod attached;
mod call;
mod run;
mod seat;
mod sink;

pub use attached::{Patience, Prompt};
pub use call::{Call, Explain};
pub use run::{Ended, Exit, Watch};
pub use sink::check_temporary_files;
