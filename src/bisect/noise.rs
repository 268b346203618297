//! How a measured value scatters around its level, and how likely a value is at a level.
//!
//! Values are logarithms, so that noise is relative. Their scatter is the median absolute deviation, which a few wild boots do not
//! move; and a part of all values may lie anywhere, so that one wild boot does not decide where the change is.

use crate::measure::median;

/// The part of values that may lie anywhere.
const WILD: f64 = 0.05;
/// No scatter is taken to be smaller than this part of the distance of the two levels: it tells them apart as well as
/// any smaller one, and leaves room for commits that move the value a little.
const LEAST_PART: f64 = 1.0 / 30.0;
/// Nor smaller than this, however near they are.
const LEAST: f64 = 1e-4;

/// The scatter of values, and where they may lie at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Noise {
    pub deviation: f64,
    width: f64,
}

impl Noise {
    /// From the values of each commit, of which those of one share a level; `gap` is the distance of the two levels.
    pub(super) fn of<'a>(groups: impl Iterator<Item = &'a [f64]> + Clone, gap: f64) -> Self {
        let around = |values: &[f64]| {
            let middle = median(values.iter().copied()).unwrap_or_default();
            // Few values lie nearer to their own middle than to the level
            let count = values.len() as f64;
            let stretch = (count / (count - 1.0)).sqrt();
            values.iter().map(move |value| stretch * (value - middle).abs()).collect::<Vec<_>>()
        };
        let several = groups.clone().filter(|values| values.len() > 1);
        let residuals: Vec<f64> = several.flat_map(around).collect();
        let count = residuals.len().max(1) as f64;
        // 1.4826 makes a standard deviation of it where noise is normal; few values tend to look too much alike
        let spread = 1.4826 * median(residuals).unwrap_or_default() * (1.0 + 2.0 / count);
        let deviation = spread.max(gap.abs() * LEAST_PART).max(LEAST);
        let all = || groups.clone().flatten().copied();
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
        Noise { deviation, width: (high - low).max(gap.abs()) + 20.0 * deviation }
    }

    /// The logarithm of how likely a value is at a level.
    pub(super) fn likelihood(&self, value: f64, level: f64) -> f64 {
        let z = (value - level) / self.deviation;
        let normal = (-0.5 * z * z).exp() / (self.deviation * std::f64::consts::TAU.sqrt());
        ((1.0 - WILD) * normal + WILD / self.width).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wild_value_moves_the_scatter_little_and_none_is_impossible() {
        let calm: Vec<f64> = (0..20).map(|i| f64::from(i % 5) * 0.01).collect();
        let mut wild = calm.clone();
        wild[3] = 5.0;
        let of = |values: &[f64]| Noise::of([values].into_iter(), 0.1);
        assert!((of(&wild).deviation / of(&calm).deviation - 1.0).abs() < 0.3);
        assert!(of(&wild).likelihood(5.0, 0.0) > of(&wild).likelihood(0.02, 0.02) - 12.0);
        assert!(of(&calm).likelihood(0.02, 0.02) > of(&calm).likelihood(0.2, 0.02));
    }

    #[test]
    fn values_without_noise_have_the_scatter_that_their_levels_need() {
        let one = [1.0, 1.0];
        let noise = Noise::of([&one[..], &[4.0]].into_iter(), 3.0);
        assert!((noise.deviation - 0.1).abs() < 1e-12);
    }
}
