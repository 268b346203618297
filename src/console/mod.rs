//! Progress: bars for a person, lines for a log, JSON lines for a program. All of it goes to
//! standard error, so that standard output holds data alone.

mod bars;
mod eater;
mod lines;
mod words;

pub use eater::{Console, Style};
pub use words::duration;
