//! The front door: samples of two sides → a judgement.

use crate::measure::{Sample, median};

use super::doubt::doubts;
use super::interval::{self, Interval};
use super::pairs::{Pair, pair};
use super::{Doubt, Drain, Judgement, Ratio, Reason, Settings, Verdict};

/// So many pairs show two modes of boots: that chance puts all of either side into another one happens once in 2,000
/// times.
const SHOW_MODES: u32 = 6;

/// Judges a candidate by a baseline: one sample a boot, the same seeds on both sides, in any order.
pub fn judge(baseline: &[Sample], candidate: &[Sample], settings: &Settings) -> Judgement {
    let mut judgement = match pair(baseline, candidate) {
        Ok(pairs) => of_pairs(&pairs, settings),
        Err(reason) => Judgement::not_comparable(reason, settings),
    };
    judgement.baseline_ns = over_boots(baseline, Sample::ns_per_operation);
    judgement.candidate_ns = over_boots(candidate, Sample::ns_per_operation);
    judgement.drain = drain(baseline, candidate);
    if let Some(ratio) = judgement.ratio {
        let found = doubts(baseline, candidate, (ratio.estimate, judgement.verdict), judgement.drain, settings);
        judgement.doubts.extend(found);
    }
    judgement
}

/// What a candidate takes where there is no baseline to judge it by.
pub fn alone(candidate: &[Sample], settings: &Settings) -> Judgement {
    Judgement {
        candidate_ns: over_boots(candidate, Sample::ns_per_operation),
        ..Judgement::not_comparable(Reason::NoBaseline, settings)
    }
}

fn of_pairs(pairs: &[Pair], settings: &Settings) -> Judgement {
    let count = u32::try_from(pairs.len()).unwrap_or(u32::MAX);
    let interval = interval::of_pairs(pairs, settings.looks.level(settings.level, count));
    let mut verdict = Verdict::of(&interval, settings);
    let layout = verdict == Verdict::Inconclusive && is_within_layout(&interval, settings);
    let needed = if layout {
        None
    } else if may_be_modes(verdict, &interval, count) {
        verdict = Verdict::Inconclusive;
        Some(SHOW_MODES)
    } else {
        interval::pairs_needed(pairs, &interval, settings)
    };
    Judgement {
        verdict,
        baseline_ns: None,
        candidate_ns: None,
        ratio: Some(ratio(&interval)),
        level: settings.level,
        threshold: settings.threshold,
        pairs: count,
        p: Some((interval::p_value(pairs) / settings.looks.share(count)).min(1.0)),
        pairs_needed: needed.filter(|_| verdict == Verdict::Inconclusive),
        reason: None,
        drain: None,
        doubts: Vec::from_iter(layout.then_some(Doubt::WithinLayout { floor: settings.layout_floor })),
    }
}

/// Whether the sides differ by more than matters, and yet by no more than a new layout can bring: more boots do not average out
/// where the code lies.
fn is_within_layout(interval: &Interval, settings: &Settings) -> bool {
    let differ = interval.low.max(-interval.high) > 0.0;
    let (limit, floor) = (settings.threshold.ln_1p(), settings.layout_floor.ln_1p());
    differ && (limit..=floor).contains(&interval.estimate.abs())
}

/// Whether a change may be nothing but chance among boots that fall into two modes: with so few of them, all of one
/// side may be in one mode and all of the other side in the other. Modes of twice the time are not known.
fn may_be_modes(verdict: Verdict, interval: &Interval, pairs: u32) -> bool {
    let claimed = matches!(verdict, Verdict::Regressed | Verdict::Improved);
    claimed && pairs < SHOW_MODES && interval.estimate.abs() < std::f64::consts::LN_2
}

fn ratio(interval: &Interval) -> Ratio {
    let known = |end: f64| end.is_finite().then(|| end.exp());
    Ratio { estimate: interval.estimate.exp(), low: known(interval.low), high: known(interval.high) }
}

fn over_boots(samples: &[Sample], value: impl Fn(&Sample) -> Option<f64>) -> Option<f64> {
    median(samples.iter().filter_map(value))
}

fn drain(baseline: &[Sample], candidate: &[Sample]) -> Option<Drain> {
    Some(Drain {
        baseline_ns: over_boots(baseline, Sample::drain_ns)?,
        candidate_ns: over_boots(candidate, Sample::drain_ns)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::compare::{Reason, Side};
    use crate::measure::Repeat;

    use super::*;

    fn sample(seed: u64, elapsed: &[u64]) -> Sample {
        let repeat = |(index, elapsed_ns): (usize, &u64)| Repeat {
            index: index as u32,
            warmup: index == 0,
            operations: 32,
            elapsed_ns: *elapsed_ns,
            dither_ns: seed * 1000 + index as u64,
            drain_ns: 5,
        };
        Sample { seed, repeats: elapsed.iter().enumerate().map(repeat).collect() }
    }

    /// Three boots around `ns`, each with a slow warm-up.
    fn boots(ns: u64) -> Vec<Sample> {
        [(1, 0), (2, 1), (3, 2)]
            .map(|(seed, shift)| {
                let at = ns + shift * ns / 2000;
                sample(seed, &[2 * at, at, at + ns / 1000, at - ns / 1000])
            })
            .to_vec()
    }

    fn verdict(baseline: &[Sample], candidate: &[Sample]) -> Verdict {
        judge(baseline, candidate, &Settings::default()).verdict
    }

    #[test]
    fn the_same_samples_differ_by_exactly_nothing() {
        let wild = vec![sample(7, &[1, 900, 100_000, 5]), sample(3, &[1, 77, 78, 1_000_000])];
        for samples in [boots(1_000_000), wild.clone(), wild[..1].to_vec()] {
            let judgement = judge(&samples, &samples, &Settings::default());
            assert_eq!(judgement.verdict, Verdict::NoDifference);
            assert_eq!(judgement.ratio, Some(Ratio { estimate: 1.0, low: Some(1.0), high: Some(1.0) }));
        }
    }

    #[test]
    fn more_time_in_the_candidate_is_a_regression_and_less_an_improvement() {
        assert_eq!(verdict(&boots(100_000_000), &boots(200_000_000)), Verdict::Regressed);
        assert_eq!(verdict(&boots(200_000_000), &boots(100_000_000)), Verdict::Improved);
        assert_eq!(verdict(&boots(100_000_000), &boots(100_300_000)), Verdict::NoDifference);
    }

    #[test]
    fn the_order_of_boots_does_not_matter() {
        let mut turned = boots(200_000_000);
        turned.reverse();
        let settings = Settings::default();
        assert_eq!(
            judge(&boots(100_000_000), &turned, &settings),
            judge(&boots(100_000_000), &boots(200_000_000), &settings)
        );
    }

    #[test]
    fn one_pair_of_different_boots_is_inconclusive_and_asks_for_a_second() {
        let judgement = judge(&boots(100)[..1], &boots(9_000)[..1], &Settings::default());
        assert_eq!((judgement.verdict, judgement.pairs_needed), (Verdict::Inconclusive, Some(2)));
        assert_eq!(judgement.ratio.unwrap().low, None);
        assert_eq!(verdict(&boots(1_000_000)[..2], &boots(9_000_000)[..2]), Verdict::Regressed);
    }

    /// From another tool's users: repeats within a boot agree to 0.2 % and boots differ by 5 %, so many repeats
    /// in two boots look precise and are not.
    #[test]
    fn many_repeats_of_few_boots_do_not_count_as_more_boots() {
        let boot = |seed, ns: u64| sample(seed, &(0..100).map(|i| ns + i * ns / 50_000).collect::<Vec<_>>());
        let baseline = vec![boot(1, 100_000_000), boot(2, 104_000_000)];
        let candidate = vec![boot(1, 108_000_000), boot(2, 106_000_000)];
        let judgement = judge(&baseline, &candidate, &Settings::default());
        assert_eq!(judgement.verdict, Verdict::Inconclusive);
        assert!(judgement.pairs_needed.is_some_and(|pairs| pairs > 2));
    }

    fn refused(baseline: &[Sample], candidate: &[Sample]) -> Reason {
        let judgement = judge(baseline, candidate, &Settings::default());
        assert_eq!((judgement.verdict, judgement.ratio), (Verdict::NotComparable, None));
        judgement.reason.unwrap()
    }

    #[test]
    fn what_was_not_measured_alike_is_not_compared() {
        let good = boots(1000);
        let changed = |change: fn(&mut Sample)| {
            let mut samples = boots(1000);
            change(&mut samples[1]);
            samples
        };
        let baseline = Side::Baseline;
        let candidate = Side::Candidate;
        let cases = [
            (vec![], Reason::NoSamples { side: candidate }),
            (good[..2].to_vec(), Reason::SeedsDiffer { only_baseline: vec![3], only_candidate: vec![] }),
            (changed(|s| s.seed = 9), Reason::SeedsDiffer { only_baseline: vec![2], only_candidate: vec![9] }),
            (changed(|s| s.seed = 1), Reason::SeedTwice { side: candidate, seed: 1 }),
            (changed(|s| s.repeats.truncate(1)), Reason::NothingTimed { side: candidate, seed: 2 }),
            (changed(|s| s.repeats.truncate(3)), Reason::RepeatsDiffer { seed: 2, baseline: 3, candidate: 2 }),
            (
                changed(|s| s.repeats[2].operations = 64),
                Reason::OperationsDiffer { seed: 2, index: 2, baseline: 32, candidate: 64 },
            ),
            (changed(|s| s.repeats[2].dither_ns = 0), Reason::DithersDiffer { seed: 2, index: 2 }),
            (changed(|s| s.repeats[1].elapsed_ns = 0), Reason::NothingElapsed { side: candidate, seed: 2, index: 1 }),
            (changed(|s| s.repeats[1].operations = 0), Reason::NothingElapsed { side: candidate, seed: 2, index: 1 }),
        ];
        for (other, reason) in cases {
            assert_eq!(refused(&good, &other), reason);
        }
        assert_eq!(refused(&[], &good), Reason::NoSamples { side: baseline });
    }

    #[test]
    fn a_side_that_takes_longer_for_fewer_operations_is_compared_by_the_operation() {
        let fewer = |mut samples: Vec<Sample>| {
            samples.iter_mut().flat_map(|sample| &mut sample.repeats).for_each(|repeat| repeat.operations = 8);
            samples
        };
        let judged = judge(&fewer(boots(4000)), &boots(1000), &Settings::default());
        let ratio = judged.ratio.expect("comparable");
        assert!((ratio.estimate - 1.0 / 16.0).abs() < 0.01, "{ratio:?}");
        let nearly = |mut samples: Vec<Sample>| {
            samples.iter_mut().flat_map(|sample| &mut sample.repeats).for_each(|repeat| repeat.operations = 31);
            samples
        };
        let alike = judge(&nearly(boots(970_000)), &boots(1_000_000), &Settings::default());
        assert!(alike.ratio.is_some(), "31 operations of 32 are as good as 32: {alike:?}");
        let reason = refused(&fewer(boots(500)), &boots(1000));
        assert!(matches!(reason, Reason::OperationsDiffer { .. }), "{reason:?}");
    }

    fn any_boots() -> impl Strategy<Value = (Vec<Sample>, Vec<Sample>)> {
        let ns = || prop::collection::vec(prop::collection::vec(1_000u64..1_000_000_000, 5), 1..6);
        (ns(), ns()).prop_map(|(a, b)| {
            let build = |side: &[Vec<u64>]| -> Vec<Sample> {
                side.iter().zip(1..).map(|(elapsed, seed)| sample(seed, elapsed)).collect()
            };
            let n = a.len().min(b.len());
            (build(&a[..n]), build(&b[..n]))
        })
    }

    fn close(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-9
    }

    fn swapped(verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Regressed => Verdict::Improved,
            Verdict::Improved => Verdict::Regressed,
            other => other,
        }
    }

    proptest! {
        #[test]
        fn swapping_the_sides_inverts_the_ratio_and_the_verdict((a, b) in any_boots()) {
            let (there, back) = (judge(&a, &b, &Settings::default()), judge(&b, &a, &Settings::default()));
            prop_assert_eq!(back.verdict, swapped(there.verdict));
            let (there, back) = (there.ratio.unwrap(), back.ratio.unwrap());
            prop_assert!(close(there.estimate, 1.0 / back.estimate));
            if let (Some(low), Some(high)) = (there.low, back.high) {
                prop_assert!(close(low, 1.0 / high), "{low} {high}");
            }
        }

        #[test]
        fn a_clock_of_another_unit_gives_the_same_ratio((a, b) in any_boots()) {
            let scale = |samples: &[Sample]| -> Vec<Sample> {
                let mut scaled = samples.to_vec();
                scaled.iter_mut().flat_map(|s| &mut s.repeats).for_each(|repeat| repeat.elapsed_ns *= 1024);
                scaled
            };
            let (one, other) =
                (judge(&a, &b, &Settings::default()), judge(&scale(&a), &scale(&b), &Settings::default()));
            prop_assert_eq!(one.verdict, other.verdict);
            prop_assert!(close(one.ratio.unwrap().estimate, other.ratio.unwrap().estimate));
        }

        #[test]
        fn the_estimate_lies_in_its_interval((a, b) in any_boots()) {
            let ratio = judge(&a, &b, &Settings::default()).ratio.unwrap();
            prop_assert!(ratio.low.is_none_or(|low| low <= ratio.estimate));
            prop_assert!(ratio.high.is_none_or(|high| high >= ratio.estimate));
        }
    }
}
