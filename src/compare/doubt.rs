//! What speaks against trusting a number, as data; every word of advice is in its `Display`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::measure::{Sample, median};

use super::verdict::percent;
use super::{Drain, Settings, Side, Time, Verdict};

/// The relative spread of repeats from which on it is worth a word.
const WIDE: f64 = 0.05;

/// Among fewer boots none can be called wild.
const FEWEST_TO_BE_WILD: usize = 5;

/// One tick's work moves a repeat of fewer ticks by more than a little.
const TICKS_WANTED: u64 = 5;

/// Beyond this ratio, or its inverse, none of what is doubted here could be the cause.
const BEYOND_DOUBT: f64 = 2.0;

/// What speaks against trusting a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Doubt {
    /// The repeats of a boot differ much.
    WideSpread {
        /// The side.
        side: Side,
        /// The median absolute deviation from the boot's median, scaled to a standard deviation, as a part of 1.
        spread: f64,
    },
    /// The repeats fall into two groups.
    TwoGroups {
        /// The side.
        side: Side,
        /// The median of the faster group, in ns per operation.
        fast_ns: f64,
        /// The median of the slower group, in ns per operation.
        slow_ns: f64,
    },
    /// Some boots lie far from all the others of their side. They are kept: the interval has their share in it.
    WildBoots {
        /// The side.
        side: Side,
        /// Their seeds.
        seeds: Vec<u64>,
    },
    /// A repeat took only few ticks.
    ShortRepeat {
        /// The side with the shortest repeat.
        side: Side,
        /// How long it took, in ns.
        elapsed_ns: u64,
        /// One tick, in ns.
        tick_ns: u64,
    },
    /// The clock that should give the same numbers for the same boot did not: there is noise between boots, which the
    /// interval covers, but the promise of the clock does not hold.
    NotRepeatable {
        /// What differed first between two boots of the same.
        what: String,
    },
    /// The sides differ by more than boots do, but not by more than building the same source again can bring.
    WithinLayout {
        /// How far that moves a benchmark, as a part of 1.
        floor: f64,
    },
    /// Alone it would have been a change; among so many comparisons, such a one comes by chance.
    OneOfMany {
        /// The verdict that it would have had alone.
        alone: Verdict,
        /// How many comparisons there were.
        comparisons: u32,
    },
    /// After the benchmark less memory is available with the candidate than with the baseline.
    MemoryKept {
        /// By how much less, in KiB.
        more_kib: f64,
    },
    /// The candidate leaves more to be freed in the background than the baseline.
    DrainGrew {
        /// The baseline's drain, in ns.
        baseline_ns: f64,
        /// The candidate's drain, in ns.
        candidate_ns: f64,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::WideSpread { side, spread } => write!(
                f,
                "the repeats of the {side} differ by {} % within a boot; more operations in a repeat, or more repeats, \
                 would steady them",
                percent(*spread)
            ),
            Doubt::TwoGroups { side, fast_ns, slow_ns } => write!(
                f,
                "the repeats of the {side} fall into two groups, about {} and {} per operation: look whether they wait for \
                 ticks or grace periods, as a median of two groups can jump",
                Time(*fast_ns),
                Time(*slow_ns)
            ),
            Doubt::WildBoots { side, seeds } => write!(
                f,
                "the {side}'s boots of seed {} lie far from its others, which counts: on the virtual clock they waited a tick or a \
                 grace period more or less, in real time the host may have been busy",
                seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
            ),
            Doubt::ShortRepeat { side, elapsed_ns, tick_ns } => write!(
                f,
                "a repeat of the {side} took {} where a tick is {}: the work of one tick may have moved it; more operations \
                 in a repeat would help",
                Time(*elapsed_ns as f64),
                Time(*tick_ns as f64)
            ),
            Doubt::NotRepeatable { what } => write!(
                f,
                "the same boot made again gave other numbers ({what}): judged as noise between boots; on a less busy machine \
                 the numbers would repeat"
            ),
            Doubt::WithinLayout { floor } => write!(
                f,
                "the two images differ, but building the same source again moves this benchmark by up to {} %: where code lies \
                 may be all that changed",
                percent(*floor)
            ),
            Doubt::OneOfMany { alone, comparisons } => write!(
                f,
                "alone it would be called {}, but {comparisons} comparisons were made, and so many bring forth such a one by \
                 chance: more boots can tell",
                alone.short()
            ),
            Doubt::MemoryKept { more_kib } => write!(
                f,
                "after the benchmark {} MiB less are available with the candidate: something is not freed, or much later",
                percent(more_kib / 1024.0 / 100.0)
            ),
            Doubt::DrainGrew { baseline_ns, candidate_ns } => write!(
                f,
                "background freeing after a repeat grew from {} to {}: work may have moved to where this benchmark does not \
                 time it",
                Time(*baseline_ns),
                Time(*candidate_ns)
            ),
        }
    }
}

/// Doubts about samples that were paired. An effect beyond all doubt, and an interval that leaves no room for one,
/// are not doubted for their noise.
pub(super) fn doubts(
    baseline: &[Sample],
    candidate: &[Sample],
    (ratio, verdict): (f64, Verdict),
    drain: Option<Drain>,
    settings: &Settings,
) -> Vec<Doubt> {
    let sides = [(Side::Baseline, baseline), (Side::Candidate, candidate)];
    let mut found: Vec<Doubt> = sides.iter().filter_map(|(side, samples)| wild_boots(*side, samples)).collect();
    if verdict != Verdict::NoDifference && (1.0 / BEYOND_DOUBT..=BEYOND_DOUBT).contains(&ratio) {
        found.extend(sides.iter().filter_map(|(side, samples)| wide_spread(*side, samples)));
        found.extend(sides.iter().filter_map(|(side, samples)| two_groups(*side, samples)));
        found.extend(short_repeat(&sides, settings.tick_ns));
    }
    found.extend(drain.and_then(|drain| drain_grew(&sides, drain, settings.tick_ns)));
    found
}

fn wide_spread(side: Side, samples: &[Sample]) -> Option<Doubt> {
    let deviations = samples.iter().flat_map(|sample| {
        let middle = sample.ns_per_operation();
        per_operation(sample).filter_map(move |ns| Some((ns / middle? - 1.0).abs()))
    });
    // 1.4826 makes the median absolute deviation a standard deviation where noise is normal
    let spread = median(deviations)? * 1.4826;
    (spread > WIDE).then_some(Doubt::WideSpread { side, spread })
}

/// Boots further from their side's median than five of its robust standard deviations, and by more than a little.
fn wild_boots(side: Side, samples: &[Sample]) -> Option<Doubt> {
    let levels: Vec<(u64, f64)> =
        samples.iter().filter_map(|sample| Some((sample.seed, sample.ns_per_operation()?.ln()))).collect();
    let middle = median(levels.iter().map(|(_, level)| *level))?;
    let deviation = |level: f64| (level - middle).abs();
    let usual = median(levels.iter().map(|(_, level)| deviation(*level)))? * 1.4826;
    let is_wild = |level: f64| deviation(level) > (5.0 * usual).max(WIDE);
    let seeds: Vec<u64> = levels.iter().filter(|(_, level)| is_wild(*level)).map(|(seed, _)| *seed).collect();
    (levels.len() >= FEWEST_TO_BE_WILD && !seeds.is_empty()).then_some(Doubt::WildBoots { side, seeds })
}

/// Two groups: a gap wider than both groups together, with a fifth of the repeats and at least two on each side.
fn two_groups(side: Side, samples: &[Sample]) -> Option<Doubt> {
    let mut all: Vec<f64> = samples.iter().flat_map(per_operation).collect();
    all.sort_by(f64::total_cmp);
    let least = 2.max(all.len() / 5);
    if all.len() < 2 * least {
        return None;
    }
    let gap = |at: &usize| all[*at] - all[*at - 1];
    let at = (least..=all.len() - least).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let range = all[all.len() - 1] - all[0];
    let (fast_ns, slow_ns) = (median(all[..at].iter().copied())?, median(all[at..].iter().copied())?);
    (gap(&at) > range / 2.0 && slow_ns > fast_ns * (1.0 + WIDE)).then_some(Doubt::TwoGroups { side, fast_ns, slow_ns })
}

fn short_repeat(sides: &[(Side, &[Sample])], tick_ns: u64) -> Option<Doubt> {
    let (elapsed_ns, side) = sides
        .iter()
        .flat_map(|(side, samples)| samples.iter().flat_map(Sample::timed).map(|repeat| (repeat.elapsed_ns, *side)))
        .min_by_key(|(elapsed_ns, _)| *elapsed_ns)?;
    (elapsed_ns < TICKS_WANTED * tick_ns).then_some(Doubt::ShortRepeat { side, elapsed_ns, tick_ns })
}

/// The drain grew by more than a tick and by more than a tenth of what the slower side took for a repeat.
fn drain_grew(sides: &[(Side, &[Sample])], drain: Drain, tick_ns: u64) -> Option<Doubt> {
    let elapsed = |samples: &[Sample]| median(samples.iter().flat_map(Sample::timed).map(|r| r.elapsed_ns as f64));
    let slower = sides.iter().filter_map(|(_, samples)| elapsed(samples)).fold(0.0, f64::max);
    let Drain { baseline_ns, candidate_ns } = drain;
    (candidate_ns - baseline_ns > (slower / 10.0).max(tick_ns as f64))
        .then_some(Doubt::DrainGrew { baseline_ns, candidate_ns })
}

fn per_operation(sample: &Sample) -> impl Iterator<Item = f64> {
    sample
        .timed()
        .filter(|repeat| repeat.operations > 0)
        .map(|repeat| repeat.elapsed_ns as f64 / repeat.operations as f64)
}

#[cfg(test)]
mod tests {
    use crate::measure::Repeat;

    use super::*;

    fn boots(repeats_ms: &[&[u64]], drain_ns: u64) -> Vec<Sample> {
        let repeat = |(index, ms): (usize, &u64)| Repeat {
            index: index as u32,
            warmup: false,
            operations: 10,
            elapsed_ns: ms * 1_000_000,
            dither_ns: 0,
            drain_ns,
        };
        let boot = |(seed, repeats): (usize, &&[u64])| Sample {
            seed: seed as u64,
            repeats: repeats.iter().enumerate().map(repeat).collect(),
        };
        repeats_ms.iter().enumerate().map(boot).collect()
    }

    fn found(baseline: &[Sample], candidate: &[Sample], ratio: f64) -> Vec<String> {
        let drain =
            Drain { baseline_ns: baseline[0].drain_ns().unwrap(), candidate_ns: candidate[0].drain_ns().unwrap() };
        let settings = Settings::default();
        doubts(baseline, candidate, (ratio, Verdict::Inconclusive), Some(drain), &settings)
            .iter()
            .map(Doubt::to_string)
            .collect()
    }

    #[test]
    fn steady_samples_leave_no_doubt() {
        let steady = boots(&[&[100, 101, 102], &[101, 100, 102]], 0);
        assert_eq!(found(&steady, &steady, 1.0), Vec::<String>::new());
    }

    #[test]
    fn each_doubt_says_what_to_do() {
        let steady = boots(&[&[100, 101, 102], &[101, 100, 102]], 0);
        let wide = boots(&[&[80, 100, 120], &[85, 100, 110]], 0);
        let grouped = boots(&[&[100, 101, 201], &[200, 100, 202]], 0);
        let short = boots(&[&[3, 3, 3], &[3, 3, 3]], 0);
        let draining = boots(&[&[100, 101, 102], &[101, 100, 102]], 500_000_000);
        let all = [found(&wide, &steady, 1.0), found(&steady, &grouped, 1.0), found(&short, &short, 1.0)];
        insta::assert_snapshot!(all.concat().join("\n"), @r"
        the repeats of the baseline differ by 18.53 % within a boot; more operations in a repeat, or more repeats, would steady them
        the repeats of the candidate fall into two groups, about 10.0 ms and 20.1 ms per operation: look whether they wait for ticks or grace periods, as a median of two groups can jump
        a repeat of the baseline took 3.00 ms where a tick is 4.00 ms: the work of one tick may have moved it; more operations in a repeat would help
        ");
        insta::assert_snapshot!(found(&steady, &draining, 1.0).join("\n"), @r"
        background freeing after a repeat grew from 0 ns to 500 ms: work may have moved to where this benchmark does not time it
        ");
        assert_eq!(found(&draining, &steady, 1.0), Vec::<String>::new());
    }

    #[test]
    fn boots_far_from_the_others_are_named() {
        let side = |last: u64| boots(&[&[100], &[101], &[100], &[102], &[last]], 0);
        let said = found(&side(101), &side(160), 1.0).join("\n");
        assert!(said.starts_with("the candidate's boots of seed 4 lie far from its others"), "{said}");
        assert!(!found(&side(101), &side(104), 1.0).join("\n").contains("lie far"), "within 5 %");
        assert!(!found(&side(101)[1..], &side(160)[1..], 1.0).join("\n").contains("lie far"), "too few");
    }

    #[test]
    fn an_interval_that_leaves_no_room_is_not_doubted_for_its_noise() {
        let short = boots(&[&[3, 3, 3], &[3, 3, 3]], 0);
        let drain = Drain { baseline_ns: 0.0, candidate_ns: 0.0 };
        let doubts = doubts(&short, &short, (1.0, Verdict::NoDifference), Some(drain), &Settings::default());
        assert_eq!(doubts, []);
    }

    #[test]
    fn an_effect_of_many_times_is_not_doubted_for_its_noise() {
        let short = boots(&[&[3, 4, 9], &[3, 2, 9]], 0);
        assert_eq!(found(&short, &short, 50.0), Vec::<String>::new());
    }
}
