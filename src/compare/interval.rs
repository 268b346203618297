//! The estimate and the interval of a log ratio.
//!
//! Hodges and Lehmann, "Estimates of location based on rank tests", 1963, for the estimate; Student's t over pairs
//! for the interval; the sign test's interval (Conover, "Practical nonparametric statistics", 3.2) as its floor.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

use crate::measure::median;

use super::pairs::Pair;
use super::{Judgement, Settings};

/// The confidence of the floor over repeats, which only stands beside the interval over boots.
const FLOOR_LEVEL: f64 = 0.95;

/// A log ratio with its interval; the ends are infinite where nothing is known of the spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    pub estimate: f64,
    pub low: f64,
    pub high: f64,
}

/// The interval over the pairs, never narrower than what the repeats themselves leave open.
///
/// `pairs` holds at least one.
pub(super) fn of_pairs(pairs: &[Pair], level: f64) -> Interval {
    let ratios: Vec<f64> = pairs.iter().map(|pair| pair.ratio).collect();
    let estimate = hodges_lehmann(&ratios);
    let centre = mean(&ratios);
    let half = half_width(pairs, &ratios, level);
    let (floor_low, floor_high) = sign_interval(pairs);
    Interval {
        estimate,
        low: estimate.min(centre - half).min(floor_low),
        high: estimate.max(centre + half).max(floor_high),
    }
}

/// How many pairs would decide, if the spread stayed what it is; none if more than [`Judgement::MOST_PAIRS`].
///
/// An interval decides when it is clear of 1 and of what a new layout can bring, or within the threshold, whichever is nearer.
pub(super) fn pairs_needed(pairs: &[Pair], interval: &Interval, settings: &Settings) -> Option<u32> {
    let now = u32::try_from(pairs.len()).ok()?;
    if now < 2 {
        return Some(2);
    }
    let ratios: Vec<f64> = pairs.iter().map(|pair| pair.ratio).collect();
    let spread = deviation(&ratios);
    let (floor_low, floor_high) = sign_interval(pairs);
    let floor = (floor_high - floor_low) / 2.0;
    let distance = interval.estimate.abs();
    let wanted = (distance - settings.layout_floor.ln_1p()).max(settings.threshold.ln_1p() - distance);
    let decides = |pairs: u32| {
        let n = f64::from(pairs);
        let over_boots = t_quantile(settings.looks.level(settings.level, pairs), pairs as usize) * spread / n.sqrt();
        let over_repeats = floor * (f64::from(now) / n).sqrt();
        over_boots.max(over_repeats) < wanted
    };
    smallest(now + 1, Judgement::MOST_PAIRS, decides)
}

/// The smallest number from `low` to `high` that fits, if all above one that fits do.
fn smallest(mut low: u32, high: u32, fits: impl Fn(u32) -> bool) -> Option<u32> {
    if low > high || !fits(high) {
        return None;
    }
    let mut good = high;
    while low < good {
        let middle = u32::midpoint(low, good);
        if fits(middle) {
            good = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(good)
}

/// Half of the t interval over pairs. One pair tells nothing of the spread, unless not one repeat differs.
fn half_width(pairs: &[Pair], ratios: &[f64], level: f64) -> f64 {
    match ratios.len() {
        1 if pairs[0].repeats.iter().all(|repeat| *repeat == 0.0) => 0.0,
        1 => f64::INFINITY,
        n => t_quantile(level, n) * deviation(ratios) / (n as f64).sqrt(),
    }
}

/// How likely pairs are that differ so clearly, by the paired t test; 1 where one pair tells nothing of the spread.
pub(super) fn p_value(pairs: &[Pair]) -> f64 {
    let ratios: Vec<f64> = pairs.iter().map(|pair| pair.ratio).collect();
    let (mean, n) = (mean(&ratios), ratios.len() as f64);
    if mean == 0.0 || ratios.len() < 2 {
        return 1.0;
    }
    let t = mean.abs() / (deviation(&ratios) / n.sqrt());
    StudentsT::new(0.0, 1.0, n - 1.0).map_or(1.0, |distribution| 2.0 * distribution.sf(t))
}

/// The quantile of Student's t for a two-sided interval over `n` > 1 values.
fn t_quantile(level: f64, n: usize) -> f64 {
    StudentsT::new(0.0, 1.0, (n - 1) as f64)
        .map_or(f64::INFINITY, |distribution| distribution.inverse_cdf(f64::midpoint(1.0, level)))
}

/// The median of the means of every two values, each with itself too.
fn hodges_lehmann(values: &[f64]) -> f64 {
    let means = values.iter().enumerate().flat_map(|(i, a)| values[i..].iter().map(|b| f64::midpoint(*a, *b)));
    // There is at least one value
    median(means).unwrap_or_default()
}

/// The interval of the median of all repeats' ratios: the order statistics that a sign test does not reject.
/// It assumes nothing of their distribution, so two modes or one wild repeat do not fool it.
fn sign_interval(pairs: &[Pair]) -> (f64, f64) {
    let mut all: Vec<f64> = pairs.iter().flat_map(|pair| pair.repeats.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let rank = outer_ranks(all.len());
    (all[rank], all[all.len() - 1 - rank])
}

/// How many values lie outside of the interval at each end: the largest count that a sign test rejects; with
/// few values none.
fn outer_ranks(n: usize) -> usize {
    let Ok(signs) = Binomial::new(0.5, n as u64) else {
        return 0;
    };
    let rejected = (0..n).take_while(|&count| signs.cdf(count as u64) <= (1.0 - FLOOR_LEVEL) / 2.0).count();
    rejected.saturating_sub(1)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Looks;

    fn pairs(ratios: &[f64]) -> Vec<Pair> {
        ratios.iter().map(|&ratio| Pair { ratio, repeats: vec![ratio; 3] }).collect()
    }

    #[test]
    fn quantiles_are_those_of_the_printed_tables() {
        for (n, wanted) in [(2, 63.657), (3, 9.925), (4, 5.841), (5, 4.604), (9, 3.355), (31, 2.750)] {
            assert!((t_quantile(0.99, n) - wanted).abs() < 0.001, "{n}: {}", t_quantile(0.99, n));
        }
    }

    #[test]
    fn the_floor_leaves_out_as_many_repeats_as_a_sign_test_allows() {
        // The table of the sign test at 5 %, two-sided
        for (n, wanted) in [(1, 0), (5, 0), (6, 0), (8, 0), (9, 1), (11, 1), (12, 2), (15, 3), (25, 7)] {
            assert_eq!(outer_ranks(n), wanted, "{n}");
        }
    }

    #[test]
    fn the_interval_is_that_of_a_paired_t_test() {
        let interval = of_pairs(&pairs(&[0.10, 0.11, 0.12]), 0.99);
        assert!((interval.estimate - 0.11).abs() < 1e-12);
        assert!((interval.high - (0.11 + 9.925 * 0.01 / 3f64.sqrt())).abs() < 1e-4);
        assert!((interval.low - (0.11 - 9.925 * 0.01 / 3f64.sqrt())).abs() < 1e-4);
    }

    #[test]
    fn repeats_that_vary_keep_the_interval_wide_where_boots_agree() {
        let mut wide = pairs(&[0.1, 0.1, 0.1]);
        wide.iter_mut().for_each(|pair| pair.repeats = vec![-0.2, 0.1, 0.3]);
        let interval = of_pairs(&wide, 0.99);
        assert_eq!((interval.low, interval.high), (-0.2, 0.3));
    }

    #[test]
    fn one_wild_repeat_of_nine_does_not_widen_it() {
        let mut wild = pairs(&[0.0, 0.0, 0.0]);
        wild[1].repeats[2] = 0.4;
        assert_eq!(of_pairs(&wild, 0.99).high, 0.0);
    }

    #[test]
    fn a_single_pair_has_no_interval_unless_nothing_differs() {
        assert_eq!(of_pairs(&pairs(&[0.5]), 0.99).high, f64::INFINITY);
        assert_eq!(of_pairs(&pairs(&[0.0]), 0.99), Interval { estimate: 0.0, low: 0.0, high: 0.0 });
    }

    fn once() -> Settings {
        Settings { looks: Looks::once(3), ..Settings::default() }
    }

    #[test]
    fn the_pairs_needed_fit_the_spread() {
        let noisy = pairs(&[-0.01, 0.0, 0.01]);
        let needed = pairs_needed(&noisy, &of_pairs(&noisy, 0.99), &once()).unwrap();
        // 2.9 x 0.01 / sqrt(n) falls below 0.00995 at about n = 10
        assert!((9..=12).contains(&needed), "{needed}");
        let hopeless = pairs(&[-1.0, 0.0, 1.0]);
        assert_eq!(pairs_needed(&hopeless, &of_pairs(&hopeless, 0.99), &once()), None);
    }
}
