//! How well each candidate explains all that was measured.

use std::collections::BTreeMap;

use super::Range;
use super::machine::Spot;
use super::noise::Noise;
use crate::measure::median;

/// Levels that are tried on each side of the likeliest one.
const LEVELS: i32 = 8;

/// What was measured of each commit: logarithms, in the order in which they came.
pub(super) type Measured = BTreeMap<Spot, Vec<f64>>;

/// What can be said of the candidates.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    /// For each candidate how likely it is to have made the change; they add up to 1.
    pub of: Vec<f64>,
    /// The level before the change.
    pub before: f64,
    /// The level after it.
    pub after: f64,
    /// The scatter around the levels.
    pub noise: Noise,
}

impl Weights {
    /// How many deviations the levels are apart.
    pub(super) fn distance(&self) -> f64 {
        (self.after - self.before).abs() / self.noise.deviation
    }
}

/// Weighs the candidates. Both ends have been measured.
///
/// The two levels are not known, and to take the likeliest ones for certain makes one surer than one may be: each candidate's weight
/// is the sum over levels around them.
pub(super) fn weigh(range: &Range, measured: &Measured) -> Weights {
    let mut weights = Weights {
        of: vec![1.0 / range.len() as f64; range.len()],
        before: level(measured, |spot| *spot == Spot::Good),
        after: level(measured, |spot| *spot == Spot::Candidate(range.len() - 1)),
        noise: Noise::of([].into_iter(), 0.0),
    };
    // The second time the levels are those of all commits on whose side there is little doubt
    for _ in 0..2 {
        let gap = weights.after - weights.before;
        weights.noise = Noise::of(measured.values().map(Vec::as_slice), gap);
        weights.of = once(range, measured, &weights);
        let changed = |spot: &Spot| match spot {
            Spot::Good => false,
            Spot::Candidate(place) => range.weight_behind(*place, &weights.of) > 0.5,
        };
        let (before, after) = (level(measured, |spot| !changed(spot)), level(measured, changed));
        (weights.before, weights.after) = (before, after);
    }
    weights
}

/// The median of all values of some commits.
fn level(measured: &Measured, of: impl Fn(&Spot) -> bool) -> f64 {
    let values = measured.iter().filter(|(spot, _)| of(spot)).flat_map(|(_, values)| values.iter().copied());
    median(values).unwrap_or_default()
}

fn once(range: &Range, measured: &Measured, known: &Weights) -> Vec<f64> {
    let tried = |level: f64, side_has: usize| -> Vec<f64> {
        // The standard error of a median, and where the levels are near each other, where the other one may pull it
        let error = 1.2533 * known.noise.deviation / (side_has.max(1) as f64).sqrt();
        let near = if known.distance() < 2.5 { 0.6 * (known.after - known.before).abs() } else { 0.0 };
        let reach = 5.0 * error + near;
        (-LEVELS..=LEVELS).map(|step| level + reach * f64::from(step) / f64::from(LEVELS)).collect()
    };
    let count = |spot: &Spot| measured.get(spot).map_or(0, Vec::len);
    let before = tried(known.before, count(&Spot::Good));
    let after = tried(known.after, count(&Spot::Candidate(range.len() - 1)));
    let of_levels = |values: &[f64], levels: &[f64]| -> Vec<f64> {
        levels.iter().map(|level| values.iter().map(|value| known.noise.likelihood(*value, *level)).sum()).collect()
    };
    let tables: Vec<_> =
        measured.iter().map(|(spot, values)| (*spot, of_levels(values, &before), of_levels(values, &after))).collect();
    // Candidates that lie alike to all measured commits explain them alike
    let mut known_patterns: BTreeMap<Vec<bool>, f64> = BTreeMap::new();
    let logs: Vec<f64> = (0..range.len())
        .map(|candidate| {
            let pattern: Vec<bool> = tables.iter().map(|(spot, ..)| is_changed(range, *spot, candidate)).collect();
            *known_patterns.entry(pattern).or_insert_with_key(|pattern| explains(pattern, &tables))
        })
        .collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn is_changed(range: &Range, spot: Spot, culprit: usize) -> bool {
    match spot {
        Spot::Good => false,
        Spot::Candidate(place) => range.has(place, culprit),
    }
}

/// The logarithm of how likely everything is if these commits have the change. The levels of the two sides have
/// nothing to do with each other, so that their sums are two.
fn explains(pattern: &[bool], tables: &[(Spot, Vec<f64>, Vec<f64>)]) -> f64 {
    let side = |changed: bool| {
        let width = (2 * LEVELS + 1) as usize;
        let own = pattern.iter().zip(tables).filter(|(is, _)| **is == changed);
        let sums = own.fold(vec![0.0; width], |mut sums, (_, (_, before, after))| {
            let table = if changed { after } else { before };
            sums.iter_mut().zip(table).for_each(|(sum, log)| *sum += log);
            sums
        });
        let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + sums.iter().map(|log| (log - most).exp()).sum::<f64>().ln()
    };
    side(false) + side(true)
}
