//! Pairs of boots: one of each side with the same seed. They are what the statistics count.

use std::cmp::Ordering;

use crate::measure::{Repeat, Sample, median};

use super::{Reason, Side};

/// One pair, as logs of candidate over baseline.
#[derive(Debug)]
pub(super) struct Pair {
    /// Of the medians of the two boots.
    pub ratio: f64,
    /// Of the repeats, each with the one of the same place in the other boot.
    pub repeats: Vec<f64>,
}

/// Pairs the boots of the same seeds, in the order of the seeds.
pub(super) fn pair(baseline: &[Sample], candidate: &[Sample]) -> Result<Vec<Pair>, Reason> {
    let baseline = sorted(baseline, Side::Baseline)?;
    let candidate = sorted(candidate, Side::Candidate)?;
    same_seeds(&baseline, &candidate)?;
    baseline.iter().zip(&candidate).map(|(baseline, candidate)| one(baseline, candidate)).collect()
}

/// The boots of a side by seed, each of which timed something.
fn sorted(samples: &[Sample], side: Side) -> Result<Vec<&Sample>, Reason> {
    let mut sorted: Vec<&Sample> = samples.iter().collect();
    sorted.sort_by_key(|sample| sample.seed);
    if sorted.is_empty() {
        return Err(Reason::NoSamples { side });
    }
    if let Some(twice) = sorted.windows(2).find(|two| two[0].seed == two[1].seed) {
        return Err(Reason::SeedTwice { side, seed: twice[0].seed });
    }
    match sorted.iter().find(|sample| sample.timed().next().is_none()) {
        Some(empty) => Err(Reason::NothingTimed { side, seed: empty.seed }),
        None => Ok(sorted),
    }
}

fn same_seeds(baseline: &[&Sample], candidate: &[&Sample]) -> Result<(), Reason> {
    let missing = |of: &[&Sample], from: &[&Sample]| -> Vec<u64> {
        of.iter().map(|sample| sample.seed).filter(|seed| !from.iter().any(|other| other.seed == *seed)).collect()
    };
    let only_baseline = missing(baseline, candidate);
    let only_candidate = missing(candidate, baseline);
    if only_baseline.is_empty() && only_candidate.is_empty() {
        return Ok(());
    }
    Err(Reason::SeedsDiffer { only_baseline, only_candidate })
}

fn one(baseline: &Sample, candidate: &Sample) -> Result<Pair, Reason> {
    let seed = baseline.seed;
    let (timed, others) = (baseline.timed().count() as u64, candidate.timed().count() as u64);
    if timed != others {
        return Err(Reason::RepeatsDiffer { seed, baseline: timed, candidate: others });
    }
    let mut repeats = Vec::new();
    for (baseline, candidate) in baseline.timed().zip(candidate.timed()) {
        repeats.push(log_ratio(seed, baseline, candidate)?);
    }
    // Each repeat has operations and took time, so both medians are there and above 0
    let ratio = match (ns(baseline), ns(candidate)) {
        (Some(baseline), Some(candidate)) => (candidate / baseline).ln(),
        _ => {
            return Err(Reason::NothingTimed { side: Side::Baseline, seed });
        }
    };
    Ok(Pair { ratio, repeats })
}

fn ns(sample: &Sample) -> Option<f64> {
    median(sample.timed().map(ns_per_operation))
}

fn ns_per_operation(repeat: &Repeat) -> f64 {
    repeat.elapsed_ns as f64 / repeat.operations as f64
}

/// Numbers of operations that differ by no more than this part are as good as equal: a cost that is paid once a repeat weighs as much
/// in both.
const ALIKE: f64 = 1.0 / 16.0;

/// Whether two repeats did equally many operations, or fewer only where these took longer: the guest asks
/// for fewer of what takes long, and a cost that is paid once a repeat does not weigh more there. It finds out by a trial
/// how many say enough, so that equal kernels may differ by a few.
fn counts_agree(one: &Repeat, other: &Repeat) -> bool {
    let (few, many) = (one.operations.min(other.operations), one.operations.max(other.operations));
    if (many - few) as f64 <= many as f64 * ALIKE {
        return true;
    }
    match one.operations.cmp(&other.operations) {
        Ordering::Equal => true,
        Ordering::Less => one.elapsed_ns > other.elapsed_ns,
        Ordering::Greater => one.elapsed_ns < other.elapsed_ns,
    }
}

fn log_ratio(seed: u64, baseline: &Repeat, candidate: &Repeat) -> Result<f64, Reason> {
    let index = baseline.index;
    for (side, repeat) in [(Side::Baseline, baseline), (Side::Candidate, candidate)] {
        if repeat.elapsed_ns == 0 || repeat.operations == 0 {
            return Err(Reason::NothingElapsed { side, seed, index });
        }
    }
    if !counts_agree(baseline, candidate) {
        let (baseline, candidate) = (baseline.operations, candidate.operations);
        return Err(Reason::OperationsDiffer { seed, index, baseline, candidate });
    }
    if baseline.dither_ns != candidate.dither_ns {
        return Err(Reason::DithersDiffer { seed, index });
    }
    Ok((ns_per_operation(candidate) / ns_per_operation(baseline)).ln())
}
