//! What to run: the only code that calls the stages in turn.

mod boots;
mod cases;
mod findings;
mod kernels;
mod record;
mod settings;
mod test;

pub use settings::{Parameter, Settings};
pub use test::test;
