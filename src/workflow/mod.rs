//! What to run: the only code that calls the stages in turn.

mod settings;

pub use settings::{Parameter, Settings};
