//! How far building the same source again moves a benchmark, because code comes to lie elsewhere.
//!
//! Several builds of one source, several boots of each: the part of the variance that is between builds, by the analysis of
//! variance for one random effect (Searle, Casella and McCulloch, "Variance components", 1992, section 3.5). A few builds may lie
//! near each other by chance, so the floor comes from as much variance as they leave possible at [`CONFIDENCE`].

use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::measure::Sample;

/// Of fewer builds no variance is worth its name.
const FEWEST: usize = 4;
/// How sure the floor is to be no lower than it should be. The estimate itself, in place of this limit, let 4 % of rebuilds
/// be called changes, by simulation.
const CONFIDENCE: f64 = 0.9;

/// How far a new layout alone moves a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// From how many builds it was found.
    pub builds: u32,
    /// The standard deviation between builds, as a part of 1.
    pub deviation: f64,
    /// What two builds may differ by without anything having changed, as a part of 1: three standard deviations of their
    /// difference, each as large as the builds leave possible.
    pub floor: f64,
}

/// Finds it from the boots of each build; none where fewer than four were measured, or not each as often as the others.
pub fn layout(builds: &[Vec<Sample>]) -> Option<Layout> {
    let logs: Vec<Vec<f64>> = builds.iter().map(|boots| boots.iter().filter_map(log).collect()).collect();
    let each = logs.first()?.len();
    if logs.len() < FEWEST || each == 0 || logs.iter().any(|boots| boots.len() != each) {
        return None;
    }
    let means: Vec<f64> = logs.iter().map(|boots| mean(boots)).collect();
    let within = mean(&logs.iter().map(|boots| variance(boots)).collect::<Vec<_>>());
    // The means of builds vary by the boots in them too; what is left cannot be below nothing
    let deviation = |of_means: f64| (of_means - within / each as f64).max(0.0).sqrt();
    let most = variance(&means) * stretch(means.len());
    let floor = (3.0 * std::f64::consts::SQRT_2 * deviation(most)).exp_m1();
    let builds = u32::try_from(logs.len()).unwrap_or(u32::MAX);
    Some(Layout { builds, deviation: deviation(variance(&means)), floor })
}

/// By how much a variance found from so many values may be too small: the upper limit of its interval over it.
fn stretch(values: usize) -> f64 {
    let freedom = (values - 1) as f64;
    ChiSquared::new(freedom).map_or(f64::INFINITY, |distribution| freedom / distribution.inverse_cdf(1.0 - CONFIDENCE))
}

fn log(sample: &Sample) -> Option<f64> {
    sample.ns_per_operation().filter(|ns| *ns > 0.0).map(f64::ln)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// 0 of a single value, which shows none.
fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (values.len().saturating_sub(1)).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::simulation::Random;
    use crate::compare::{Settings, Verdict, judge};
    use crate::measure::Repeat;

    fn boot(seed: u64, ns: f64) -> Sample {
        let repeat =
            Repeat { index: 0, warmup: false, operations: 1, elapsed_ns: ns as u64, dither_ns: 0, drain_ns: 0 };
        Sample { seed, repeats: vec![repeat] }
    }

    fn builds(random: &mut Random, between: f64, within: f64) -> Vec<Vec<Sample>> {
        let build = |random: &mut Random| {
            let at = 1e9 * (between * random.normal()).exp();
            (1..=4).map(|seed| boot(seed, at * (within * random.normal()).exp())).collect()
        };
        (0..6).map(|_| build(random)).collect()
    }

    #[test]
    fn equal_builds_need_no_room_and_few_builds_tell_nothing() {
        let same: Vec<Vec<Sample>> = (0..4).map(|_| vec![boot(1, 1e6), boot(2, 1e6)]).collect();
        assert_eq!(layout(&same), Some(Layout { builds: 4, deviation: 0.0, floor: 0.0 }));
        assert_eq!((layout(&same[..3]), layout(&[])), (None, None));
        let uneven = [same[0].clone(), same[1].clone(), same[2].clone(), same[3][..1].to_vec()];
        assert_eq!(layout(&uneven), None);
    }

    #[test]
    fn builds_that_differ_are_told_from_boots_that_do() {
        let mut random = Random(1);
        let mut found = |between, within| {
            let all: Vec<f64> =
                (0..400).map(|_| layout(&builds(&mut random, between, within)).unwrap().deviation.powi(2)).collect();
            mean(&all).sqrt()
        };
        let (clear, lost) = (found(0.02, 0.005), found(0.0, 0.02));
        assert!((0.018..0.022).contains(&clear), "{clear}");
        assert!(lost < 0.008, "noise of boots alone looks like no more than a third of it: {lost}");
    }

    #[test]
    fn the_floor_is_three_of_the_largest_deviations_that_a_difference_may_have() {
        let levels = [1.0, 1.02, 0.98, 1.0];
        let builds: Vec<Vec<Sample>> = levels.iter().map(|level| vec![boot(1, 1e9 * level)]).collect();
        let found = layout(&builds).unwrap();
        assert!((found.deviation - 0.02 * (2.0 / 3f64).sqrt()).abs() < 1e-4, "{found:?}");
        // The 10 % point of chi square with 3 degrees of freedom is 0.584, as the printed tables have it
        let most = found.deviation * (3.0 / 0.584f64).sqrt();
        assert!((found.floor.ln_1p() / (3.0 * 2f64.sqrt() * most) - 1.0).abs() < 1e-3, "{found:?}");
    }

    /// The part of rebuilt twins that are called changed with a floor from six builds.
    fn called_changed(between: f64, within: f64) -> f64 {
        let mut random = Random(7);
        let runs = 2000;
        let side = |random: &mut Random| -> Vec<Sample> {
            let at = 1e9 * (between * random.normal()).exp();
            (1..=32).map(|seed| boot(seed, at * (within * random.normal()).exp())).collect()
        };
        let mut wrong = 0;
        for _ in 0..runs {
            let layout_floor = layout(&builds(&mut random, between, within)).unwrap().floor;
            let settings = Settings { layout_floor, ..Settings::wall_clock() };
            let (one, other) = (side(&mut random), side(&mut random));
            let looks = settings.looks.pairs().map(|pairs| pairs as usize);
            let mut verdicts = looks.map(|pairs| judge(&one[..pairs], &other[..pairs], &settings).verdict);
            let decided = verdicts.find(|verdict| *verdict != Verdict::Inconclusive);
            wrong += u32::from(decided.is_some_and(|verdict| verdict != Verdict::NoDifference));
        }
        f64::from(wrong) / f64::from(runs)
    }

    #[test]
    fn fewer_than_one_in_a_hundred_rebuilt_twins_are_called_changed() {
        for (between, within) in [(0.01, 0.01), (0.01, 0.03), (0.05, 0.05)] {
            let wrong = called_changed(between, within);
            println!("builds {between}, boots {within}: {:.2} %", 100.0 * wrong);
            assert!(wrong <= 0.015, "{between} {within}: {wrong}");
        }
    }
}
