//! What guests say, as samples; and the order in which boots happen.

mod sample;

pub use sample::{Clock, Repeat, Sample, median};
