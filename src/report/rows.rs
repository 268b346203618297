//! A row: what one comparison says of one benchmark.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::apply::Variant;
use crate::arch::Arch;
use crate::compare::{Doubt, Judgement, Ratio, Reason, Verdict};
use crate::measure::{Clock, Sample};

use super::Comparison;

/// What one comparison says of one benchmark. It repeats what the comparison is about, so that it can be read alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The patch's name.
    pub patch: String,
    /// The tree, as the user named it.
    pub tree: String,
    /// The architecture.
    pub arch: Arch,
    /// The clock.
    pub clock: Clock,
    /// The benchmark's name.
    pub benchmark: String,
    /// The benchmark's parameters.
    pub parameters: BTreeMap<String, i64>,
    /// Whether the benchmark is one of those that are known to show the patch's effect.
    pub shows: bool,
    /// What the other one is measured by; none where the patch can neither be put in nor taken out.
    pub baseline: Option<Measured>,
    /// What is judged.
    pub candidate: Measured,
    /// Candidate over baseline; none if the two are not comparable.
    pub ratio: Option<Ratio>,
    /// The confidence of the ratio's interval.
    pub level: f64,
    /// The smallest change that matters, as a part of 1.
    pub threshold: f64,
    /// How many pairs of boots the verdict rests on.
    pub pairs: u32,
    /// How likely so clear a difference is where there is none, looks counted in; none if the two are not comparable.
    pub p: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
    /// If inconclusive: how many pairs would decide at the noise seen; none if too many to be worth it.
    pub pairs_needed: Option<u32>,
    /// If not comparable: why.
    pub reason: Option<Reason>,
    /// What speaks against trusting the numbers.
    pub doubts: Vec<Doubt>,
    /// What the patch's mail says of this benchmark.
    pub mail: Option<Figures>,
}

/// What was measured of one side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The variant.
    pub variant: Variant,
    /// ns per operation: the median over boots of the median over repeats; none without samples.
    pub ns_per_operation: Option<f64>,
    /// How long the kernel went on freeing in the background after a repeat, in ns, likewise.
    pub drain_ns: Option<f64>,
    /// How much memory was still in use after the benchmark that was free before it, in KiB: the median over boots. Below 0
    /// more was free than before; none where the kernel does not say.
    pub kept_kib: Option<f64>,
    /// Every sample.
    pub samples: Vec<Sample>,
}

/// What was heard of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    /// Every sample.
    pub samples: Vec<Sample>,
    /// As [`Measured::kept_kib`].
    pub kept_kib: Option<f64>,
}

impl From<Vec<Sample>> for Heard {
    fn from(samples: Vec<Sample>) -> Self {
        Heard { samples, kept_kib: None }
    }
}

/// The mail's own figures, as the mail writes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// Before the patch.
    pub before: String,
    /// After the patch.
    pub after: String,
}

/// What was asked of both sides of a comparison: a benchmark, and how it was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The benchmark's name.
    pub benchmark: String,
    /// Its parameters.
    pub parameters: BTreeMap<String, i64>,
    /// Whether it is known to show the patch's effect.
    pub shows: bool,
    /// What the patch's mail says of it.
    pub mail: Option<Figures>,
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Place<'a> {
    /// The comparison.
    pub comparison: &'a Comparison,
    /// What was asked.
    pub asked: Asked,
}

impl Row {
    /// The row of a judgement and of what it judged.
    pub fn new(place: Place<'_>, judgement: Judgement, [baseline, candidate]: [Heard; 2]) -> Row {
        let Place { comparison, asked: Asked { benchmark, parameters, shows, mail } } = place;
        Row {
            patch: comparison.patch.clone(),
            tree: comparison.tree.clone(),
            arch: comparison.arch,
            clock: comparison.clock,
            benchmark,
            parameters,
            shows,
            baseline: comparison.baseline.as_ref().map(|image| Measured {
                variant: image.variant,
                ns_per_operation: judgement.baseline_ns,
                drain_ns: judgement.drain.map(|drain| drain.baseline_ns),
                kept_kib: baseline.kept_kib,
                samples: baseline.samples,
            }),
            candidate: Measured {
                variant: comparison.candidate.variant,
                ns_per_operation: judgement.candidate_ns,
                drain_ns: judgement.drain.map(|drain| drain.candidate_ns),
                kept_kib: candidate.kept_kib,
                samples: candidate.samples,
            },
            ratio: judgement.ratio,
            level: judgement.level,
            threshold: judgement.threshold,
            pairs: judgement.pairs,
            p: judgement.p,
            verdict: judgement.verdict,
            pairs_needed: judgement.pairs_needed,
            reason: judgement.reason,
            doubts: judgement.doubts,
            mail,
        }
    }

    /// Whether the row belongs to a comparison.
    pub fn is_of(&self, comparison: &Comparison) -> bool {
        (&self.patch, &self.tree, self.arch, self.clock)
            == (&comparison.patch, &comparison.tree, comparison.arch, comparison.clock)
            && self.baseline.as_ref().map(|side| side.variant) == comparison.baseline.as_ref().map(|side| side.variant)
            && self.candidate.variant == comparison.candidate.variant
    }

    /// What the row answers.
    pub fn asked(&self) -> Asked {
        Asked {
            benchmark: self.benchmark.clone(),
            parameters: self.parameters.clone(),
            shows: self.shows,
            mail: self.mail.clone(),
        }
    }

    /// The benchmark with its parameters: `umount-propagated n=10`.
    pub fn title(&self) -> String {
        title(&self.benchmark, &self.parameters)
    }
}

/// A benchmark with its parameters.
pub(super) fn title(benchmark: &str, parameters: &BTreeMap<String, i64>) -> String {
    let parameters = parameters.iter().map(|(name, value)| format!(" {name}={value}"));
    benchmark.to_owned() + &parameters.collect::<String>()
}
