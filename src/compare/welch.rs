//! The difference of two means with its interval, where the two sides scatter differently: Welch, "The generalization of
//! Student's problem when several different population variances are involved", Biometrika 34, 1947.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The difference of the means, second less first, and half of its interval, which is wrong with a chance of `error`.
pub fn welch(one: &[f64], other: &[f64], error: f64) -> (f64, f64) {
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
        let (difference, half) = welch(&[1.0, 2.0, 3.0], &[5.0, 7.0, 9.0], 0.05);
        assert_eq!(difference, 5.0);
        assert!((half - 4.155_399).abs() < 1e-5, "{half}");
    }
}
