//! Findings → what people and programs read. Pure functions from one versioned model.
//!
//! `docs/json.md` describes the model as JSON, `docs/exit-codes.md` what a run's exit code means.

mod exit_code;
mod json;
mod model;
mod rows;
mod sentences;
mod style;
mod text;
mod where_time_went;

pub use exit_code::exit_code;
pub use json::{json, read};
pub use model::{Comparison, Host, Image, Run, Settings, StageTime, TreeFacts, Trouble, VERSION};
pub use rows::{Figures, Measured, Place, Row};
pub use style::Style;
pub use text::text;
