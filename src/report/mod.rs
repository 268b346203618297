//! Findings → what people and programs read. Pure functions from one versioned model.
//!
//! `docs/json.md` describes the model as JSON, `docs/exit-codes.md` what a run's exit code means.

mod exit_code;
mod json;
mod lives;
mod model;
mod numbers;
mod rows;
mod sentences;
#[cfg(test)]
mod sample_run;
mod style;
mod table;
mod text;
mod where_time_went;

pub use exit_code::exit_code;
pub use json::{json, read};
pub use model::{
    Comparison, Growth, Guest, Host, Image, Layout, Run, Settings, Splat, Surroundings, TreeFacts, Trouble, VERSION,
};
pub use rows::{Asked, Figures, Heard, Measured, Place, Row};
pub use style::Style;
pub use text::text;
