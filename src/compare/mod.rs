//! Samples of two variants → a verdict with its evidence. No I/O, no clock, no randomness.
//!
//! `docs/statistics.md` says which rule this is, where it comes from, how often it errs, and what it cannot see.

mod doubt;
mod growth;
mod interval;
mod judge;
mod judgement;
mod layout;
mod looks;
mod many;
mod pairs;
mod reason;
#[cfg(test)]
pub(crate) mod simulation;
mod time;
#[cfg(test)]
mod vectors;
mod verdict;
mod welch;

pub use doubt::Doubt;
pub use growth::{Growth, Law, growth};
pub use judge::{alone, judge};
pub use judgement::{Drain, Judgement, Ratio, Settings, Side};
pub use layout::{Layout, layout};
pub use looks::Looks;
pub use many::account_for_many;
pub use reason::{Death, Reason};
pub use time::Time;
pub(crate) use time::three_digits;
pub use verdict::Verdict;
pub use welch::welch;
