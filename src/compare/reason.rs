//! Why two sides must not be compared.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Side;
use crate::boot::Kind;

/// Why two sides must not be compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum Reason {
    /// There is nothing to compare with: the patch can neither be put in nor taken out here.
    NoBaseline,
    /// A kernel died or complained of itself. That is a result of its own, and never a number.
    Died {
        /// What happened, for each side to which it did.
        deaths: Vec<Death>,
    },
    /// A side was never measured: the benchmark failed, or its results were lost.
    NoSamples {
        /// The side.
        side: Side,
    },
    /// A boot has warm-ups only.
    NothingTimed {
        /// The side.
        side: Side,
        /// The boot's seed.
        seed: u64,
    },
    /// Two boots of one side have one seed, so they are one boot counted twice.
    SeedTwice {
        /// The side.
        side: Side,
        /// The seed.
        seed: u64,
    },
    /// The sides were not booted with the same seeds.
    SeedsDiffer {
        /// Seeds that only the baseline has.
        only_baseline: Vec<u64>,
        /// Seeds that only the candidate has.
        only_candidate: Vec<u64>,
    },
    /// The boots of one seed did not do the same number of timed repeats.
    RepeatsDiffer {
        /// The seed.
        seed: u64,
        /// The baseline's number.
        baseline: u64,
        /// The candidate's number.
        candidate: u64,
    },
    /// A repeat did not do the same number of operations on both sides, and not because they take longer on one.
    OperationsDiffer {
        /// The seed.
        seed: u64,
        /// The repeat's index.
        index: u32,
        /// The baseline's number.
        baseline: u64,
        /// The candidate's number.
        candidate: u64,
    },
    /// A repeat did not start at the same phase of the tick on both sides.
    DithersDiffer {
        /// The seed.
        seed: u64,
        /// The repeat's index.
        index: u32,
    },
    /// A repeat took no time, or did nothing.
    NothingElapsed {
        /// The side.
        side: Side,
        /// The seed.
        seed: u64,
        /// The repeat's index.
        index: u32,
    },
    /// What must be alike in all boots of a side is not.
    BootsDiffer {
        /// The side.
        side: Side,
        /// What differs.
        what: String,
        /// In one boot.
        one: String,
        /// In another.
        other: String,
    },
    /// What must be alike in both sides is not: the clock, a parameter, the tick, the number of CPUs.
    ConditionsDiffer {
        /// What differs.
        what: String,
        /// The baseline's.
        baseline: String,
        /// The candidate's.
        candidate: String,
    },
}

/// A kernel that did not live through its boots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Death {
    /// The side.
    pub side: Side,
    /// How the first of them ended.
    pub kind: Kind,
    /// The line that tells it.
    pub how: String,
    /// How many boots ended so.
    pub boots: u32,
    /// Of how many.
    pub of: u32,
}

impl Death {
    /// What became of the kernel, without its name: `does not live: panic: ... (3 of 3 boots)`.
    pub fn told(&self) -> String {
        let Death { kind, how, boots, of, .. } = self;
        format!("{}: {kind}: {how} ({boots} of {of} boots)", self.verb())
    }

    /// The same in a few words.
    pub fn verb(&self) -> &'static str {
        match self.kind {
            Kind::Splat => "complains of itself",
            _ if self.boots == self.of => "does not live",
            _ => "does not always live",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoBaseline => f.write_str("the patch can neither be put in nor taken out here"),
            Reason::Died { deaths } => {
                let told: Vec<_> = deaths.iter().map(|death| format!("the {} {}", death.side, death.told())).collect();
                f.write_str(&told.join("; "))
            }
            Reason::NoSamples { side } => write!(f, "the {side} was not measured"),
            Reason::NothingTimed { side, seed } => {
                write!(f, "the {side}'s boot of seed {seed} timed nothing")
            }
            Reason::SeedTwice { side, seed } => {
                write!(f, "the {side} has two boots of seed {seed}")
            }
            Reason::SeedsDiffer { only_baseline, only_candidate } => write!(
                f,
                "the seeds differ: only the baseline has {}, only the candidate has {}",
                list(only_baseline),
                list(only_candidate)
            ),
            Reason::RepeatsDiffer { seed, baseline, candidate } => {
                write!(f, "seed {seed} timed {baseline} repeats of the baseline and {candidate} of the candidate")
            }
            Reason::OperationsDiffer { seed, index, baseline, candidate } => write!(
                f,
                "repeat {index} of seed {seed} did {baseline} operations in the baseline and {candidate} in the candidate: \
                 the guest chose by a trial how many say enough, and `--param BENCHMARK.operations=NUMBER` sets fewer"
            ),
            Reason::DithersDiffer { seed, index } => {
                write!(f, "repeat {index} of seed {seed} did not start at the same phase of the tick")
            }
            Reason::NothingElapsed { side, seed, index } => write!(
                f,
                "repeat {index} of the {side}'s seed {seed} took no time: the guest's clock is too coarse for it"
            ),
            Reason::BootsDiffer { side, what, one, other } => {
                write!(f, "{what} differs between boots of the {side}: {one} in one and {other} in another")
            }
            Reason::ConditionsDiffer { what, baseline, candidate } => {
                write!(f, "{what} differs: {baseline} for the baseline, {candidate} for the candidate")
            }
        }
    }
}

fn list(seeds: &[u64]) -> String {
    match seeds {
        [] => "none".into(),
        _ => seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}
