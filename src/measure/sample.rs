//! Samples: what one boot measured of one benchmark, with every repeat kept.

use serde::{Deserialize, Serialize};

/// One timed stretch of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// Its place in the boot, from 0.
    pub index: u32,
    /// Whether it only warmed the kernel up; such repeats are kept but not judged.
    pub warmup: bool,
    /// How many operations were timed.
    pub operations: u64,
    /// How long they took, in ns of the guest's monotonic clock.
    pub elapsed_ns: u64,
    /// How long the start was put off to hit another phase of the tick, in ns.
    pub dither_ns: u64,
    /// How long the kernel still freed in the background afterwards, in ns.
    pub drain_ns: u64,
}

/// What one boot measured of one benchmark: the unit of all statistics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// The seed of the boot.
    pub seed: u64,
    /// Every repeat, in order.
    pub repeats: Vec<Repeat>,
}

impl Sample {
    /// The repeats that count.
    pub fn timed(&self) -> impl Iterator<Item = &Repeat> {
        self.repeats.iter().filter(|repeat| !repeat.warmup)
    }

    /// The median over the timed repeats of ns per operation; `None` without any.
    pub fn ns_per_operation(&self) -> Option<f64> {
        median(self.timed().filter(|r| r.operations > 0).map(|r| r.elapsed_ns as f64 / r.operations as f64))
    }

    /// The median over the timed repeats of the drain time in ns; `None` without any.
    pub fn drain_ns(&self) -> Option<f64> {
        median(self.timed().map(|r| r.drain_ns as f64))
    }
}

/// The median: the middle value, or the mean of the two middle ones; `None` of nothing.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[middle]),
        _ => Some(f64::midpoint(values[middle - 1], values[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeat(warmup: bool, elapsed_ns: u64) -> Repeat {
        Repeat { index: 0, warmup, operations: 10, elapsed_ns, dither_ns: 0, drain_ns: 0 }
    }

    #[test]
    fn warm_up_repeats_do_not_count() {
        let sample = Sample { seed: 1, repeats: vec![repeat(true, 900), repeat(false, 100), repeat(false, 200)] };
        assert_eq!(sample.ns_per_operation(), Some(15.0));
    }

    #[test]
    fn nothing_timed_is_no_number() {
        assert_eq!(Sample { seed: 1, repeats: vec![repeat(true, 900)] }.ns_per_operation(), None);
        assert_eq!(median([]), None);
    }
}
