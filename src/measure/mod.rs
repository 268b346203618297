//! What guests say, as samples; and the order in which boots happen.

mod sample;

pub use sample::{Repeat, Sample, median};

pub use crate::boot::Clock;
