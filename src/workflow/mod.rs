//! What to run: the only code that calls the stages in turn.

mod boots;
mod cases;
mod findings;
mod judging;
mod kernels;
mod record;
mod settings;
mod status;
mod test;

pub use cases::patches;
pub use settings::{Parameter, Settings};
pub use status::{Row as StatusRow, STATUS_VERSION, Turn, status, turns};
pub use test::test;
