//! Whether the two ends of a range differ at all: a bisect of nothing would name somebody all the same.

use crate::compare::welch;

/// When the ends are looked at: after how many values of each, and with which share of the error. Few suffice for most, and
/// pay dearly for a small share.
pub(super) const LOOKS: [(usize, f64); 5] = [(5, 0.6), (10, 0.1), (20, 0.1), (40, 0.1), (64, 0.1)];
/// How often ends that do not differ may be said to.
const ERROR: f64 = 0.01;

/// What the ends say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Differ,
    Same,
    /// More values may tell.
    Open,
}

/// Looks at values of both ends, logarithms, with a share of the error; `threshold` is the smallest difference that matters, as a
/// logarithm.
pub(super) fn ends(good: &[f64], bad: &[f64], share: f64, threshold: f64) -> Ends {
    let (difference, half) = welch(good, bad, ERROR * share);
    if difference.abs() > half && difference.abs() > threshold {
        Ends::Differ
    } else if difference.abs() + half <= threshold {
        Ends::Same
    } else {
        Ends::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_differ_are_the_same_or_leave_it_open() {
        let around = |at: f64| [at - 0.01, at, at + 0.01, at, at];
        assert_eq!(ends(&around(0.0), &around(1.0), 0.4, 0.05), Ends::Differ);
        assert_eq!(ends(&around(0.0), &around(0.001), 0.4, 0.05), Ends::Same);
        assert_eq!(ends(&around(0.0), &around(0.045), 0.4, 0.05), Ends::Open);
        assert_eq!(ends(&[1.0], &[1.0], 1.0, 0.01), Ends::Same);
        assert_eq!(ends(&[1.0], &[1.5], 1.0, 0.01), Ends::Differ);
    }
}
