//! What a judgement is made with and made of.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Doubt, Looks, Reason, Verdict};

/// What makes a change large enough, and how sure a verdict must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The smallest change that matters, as a part of 1: 0.01 is 1 %. A ratio from 1 / (1 + threshold) to
    /// 1 + threshold is no relevant change.
    pub threshold: f64,
    /// How far building the same source again may move a benchmark, as a part of 1, because code comes to lie elsewhere: a
    /// change must be clear of it. 0 where layout costs nothing, as on the virtual clock.
    pub layout_floor: f64,
    /// The confidence of the interval, between 0 and 1: that it holds at every look.
    pub level: f64,
    /// When the numbers are looked at.
    pub looks: Looks,
    /// Among many comparisons, the part of all changes found that may be false.
    pub false_discoveries: f64,
    /// The length of one scheduler tick of the guests, in ns.
    pub tick_ns: u64,
}

impl Settings {
    /// 1 % at 99 %, for the virtual clock and the 250 Hz of `kconfigs/base.config`.
    pub fn virtual_clock() -> Self {
        let looks = Looks::virtual_clock();
        Settings { threshold: 0.01, layout_floor: 0.0, level: 0.99, looks, false_discoveries: 0.05, tick_ns: 4_000_000 }
    }

    /// 5 % at 99 %, for the wall clock. As long as nobody measured what a new layout does, it may do as much as matters.
    pub fn wall_clock() -> Self {
        let threshold = 0.05;
        Settings { threshold, layout_floor: threshold, looks: Looks::wall_clock(), ..Settings::virtual_clock() }
    }
}

impl Settings {
    /// What no verdict can be found with, if anything: settings may come from a file that somebody changed.
    pub fn fault(&self) -> Option<&'static str> {
        let part = |value: f64| value > 0.0 && value < 1.0;
        if !(self.threshold > 0.0 && self.threshold.is_finite()) {
            Some("`threshold` has to be above 0")
        } else if !(self.layout_floor >= 0.0 && self.layout_floor.is_finite()) {
            Some("`layout_floor` cannot be below 0")
        } else if !part(self.level) || !part(self.false_discoveries) {
            Some("`level` and `false_discoveries` lie between 0 and 1")
        } else {
            self.looks.fault()
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::virtual_clock()
    }
}

/// One of the two things compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What the other one is measured by.
    Baseline,
    /// What is judged.
    Candidate,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Side::Baseline => "baseline",
            Side::Candidate => "candidate",
        })
    }
}

/// Time of the candidate over time of the baseline: above 1 the candidate is slower.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The Hodges-Lehmann estimate over the pairs of boots.
    pub estimate: f64,
    /// The lower end of the interval; none if a single pair tells nothing of the spread.
    pub low: Option<f64>,
    /// The upper end of the interval; none where `low` is.
    pub high: Option<f64>,
}

/// How long the kernel went on freeing in the background after a repeat: the cost that a faster call may only have moved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// The baseline's, in ns: the median over boots of the median over repeats.
    pub baseline_ns: f64,
    /// The candidate's, in ns.
    pub candidate_ns: f64,
}

/// A verdict with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// ns per operation of the baseline, the median over boots; none without samples.
    pub baseline_ns: Option<f64>,
    /// ns per operation of the candidate, likewise.
    pub candidate_ns: Option<f64>,
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
    /// If inconclusive: how many pairs would decide at the noise seen; none if more than
    /// [`Judgement::MOST_PAIRS`].
    pub pairs_needed: Option<u32>,
    /// If not comparable: why.
    pub reason: Option<Reason>,
    /// The time of background freeing beside the ratio; none without samples on both sides.
    pub drain: Option<Drain>,
    /// What speaks against trusting the numbers.
    pub doubts: Vec<Doubt>,
}

impl Judgement {
    /// The largest number of pairs that is worth proposing.
    pub const MOST_PAIRS: u32 = 1000;

    /// Refuses to compare, for a reason that the samples alone do not show, such as different clocks or a
    /// benchmark that failed on one side.
    pub fn not_comparable(reason: Reason, settings: &Settings) -> Self {
        Judgement {
            verdict: Verdict::NotComparable,
            baseline_ns: None,
            candidate_ns: None,
            ratio: None,
            level: settings.level,
            threshold: settings.threshold,
            pairs: 0,
            p: None,
            pairs_needed: None,
            reason: Some(reason),
            drain: None,
            doubts: Vec::new(),
        }
    }
}
