//! Whether the two ends of a range differ at all: a bisect of nothing would name somebody all the same.

use statrs::distribution::{ContinuousCDF, StudentsT};

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
/// logarithm. Welch's interval (Biometrika 34, 1947).
pub(super) fn ends(good: &[f64], bad: &[f64], share: f64, threshold: f64) -> Ends {
    let (difference, half) = interval(good, bad, ERROR * share);
    if difference.abs() > half && difference.abs() > threshold {
        Ends::Differ
    } else if difference.abs() + half <= threshold {
        Ends::Same
    } else {
        Ends::Open
    }
}

fn interval(one: &[f64], other: &[f64], error: f64) -> (f64, f64) {
    let ((mean, square), (other_mean, other_square)) = (of(one), of(other));
    let difference = other_mean - mean;
    let sum = square + other_square;
    if sum == 0.0 {
        return (difference, 0.0);
    }
    let freedom = sum.powi(2)
        / (square.powi(2) / (one.len() - 1).max(1) as f64 + other_square.powi(2) / (other.len() - 1).max(1) as f64);
    let quantile = StudentsT::new(0.0, 1.0, freedom)
        .map_or(f64::INFINITY, |distribution| distribution.inverse_cdf(1.0 - error / 2.0));
    (difference, quantile * sum.sqrt())
}

/// The mean, and the square of its standard error.
fn of(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0).max(1.0) / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_welch() {
        // Means 2 and 7, variances 1 and 4, three values each: freedom 2.94, as scipy's ttest_ind has it
        let (difference, half) = interval(&[1.0, 2.0, 3.0], &[5.0, 7.0, 9.0], 0.05);
        assert_eq!(difference, 5.0);
        assert!((half - 4.155_399).abs() < 1e-5, "{half}");
    }

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
