//! The machine: what to measure next, and when to stop.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Range;
use super::ends::{self, Ends};
use super::information::bits;
use super::posterior::{Measured, Weights, weigh};

/// A commit that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spot {
    /// The good end.
    Good,
    /// A candidate by its place in the range; the last one is the bad end.
    Candidate(usize),
}

/// How sure the machine has to be, and what a measurement costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The weight that one candidate must have to be named, from 0 to 1.
    pub confidence: f64,
    /// The smallest difference of the ends that matters, as a part of 1.
    pub threshold: f64,
    /// Whether the same commit always gives the same value: one is then enough.
    pub exact: bool,
    /// Seconds that it takes to get a commit ready that was not measured before.
    pub build_seconds: f64,
    /// Seconds of a measurement.
    pub boot_seconds: f64,
    /// After so many measurements it is over, however far it is.
    pub most_boots: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            confidence: 0.95,
            threshold: 0.05,
            exact: false,
            build_seconds: 240.0,
            boot_seconds: 20.0,
            most_boots: 600,
        }
    }
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The values, each above 0.
    Values(Vec<f64>),
    /// The commit cannot be measured: it does not build, boot, or end.
    Skip,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Measure a commit so many times.
    Measure {
        /// The commit.
        spot: Spot,
        /// How many times.
        times: u32,
    },
    /// Nothing more.
    Done(Outcome),
}

/// How a bisect ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The ends do not differ by as much as matters.
    NothingToBisect,
    /// Whether they do could not be told.
    EndsUndecided,
    /// An end cannot be measured.
    EndBroken(Spot),
    /// One commit made the change.
    Found {
        /// Its place.
        place: usize,
        /// Its weight.
        confidence: f64,
        /// The value after it over the value before it.
        ratio: f64,
    },
    /// One of several made it, and no more can be told.
    OneOf {
        /// Their places: the fewest that hold the confidence that was asked for, or all there are.
        places: Vec<usize>,
        /// Their weight.
        confidence: f64,
    },
}

/// The machine. Ask for the [`next`](Self::next) step, do it, [`tell`](Self::tell) what came of it, and so on: what it says
/// depends on the answers alone.
#[derive(Clone, Debug)]
pub struct Machine {
    range: Range,
    settings: Settings,
    measured: Measured,
    skipped: BTreeSet<usize>,
    broken: Option<Spot>,
}

/// With a commit next to skipped ones this many places away, the chance that it can be measured is 63 %.
const SKIPS_REACH: f64 = 12.0;
/// Values that each end needs where the levels are one deviation apart; with the distance they fall by its square.
const LEVELS_WANT: f64 = 30.0;
/// No end needs more.
const MOST_FOR_LEVELS: f64 = 64.0;
/// A measurement that tells less than this is none.
const LEAST_BITS: f64 = 1e-4;

impl Machine {
    /// A machine for a range, which has at least one candidate.
    pub fn new(range: Range, settings: Settings) -> Self {
        Machine { range, settings, measured: BTreeMap::new(), skipped: BTreeSet::new(), broken: None }
    }

    /// Takes what came of a step.
    pub fn tell(&mut self, spot: Spot, answer: Answer) {
        match (answer, spot) {
            (Answer::Values(values), _) => {
                self.measured.entry(spot).or_default().extend(values.into_iter().map(f64::ln));
            }
            (Answer::Skip, Spot::Candidate(place)) if place + 1 < self.range.len() => {
                self.measured.remove(&spot);
                self.skipped.insert(place);
            }
            (Answer::Skip, end) => self.broken = Some(end),
        }
    }

    /// How many values there are.
    pub fn boots(&self) -> u32 {
        u32::try_from(self.measured.values().map(Vec::len).sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// How many candidates still have a part in the weight that was asked for.
    pub fn left(&self) -> usize {
        if self.missing_end().is_some() { self.range.len() } else { self.smallest_set(&self.weights()).0.len() }
    }

    /// What to do next.
    pub fn next(&self) -> Step {
        if let Some(end) = self.broken {
            return Step::Done(Outcome::EndBroken(end));
        }
        if let Some(step) = self.look_at_ends() {
            return step;
        }
        let weights = self.weights();
        if let Some(step) = self.know_levels(weights.distance()) {
            return step;
        }
        let (best, weight) = heaviest(&weights.of);
        if weight >= self.settings.confidence {
            return self.check(best).unwrap_or_else(|| {
                let ratio = (weights.after - weights.before).exp();
                Step::Done(Outcome::Found { place: best, confidence: weight, ratio })
            });
        }
        if self.boots() >= self.settings.most_boots {
            return self.give_up(&weights);
        }
        self.choose(&weights).unwrap_or_else(|| self.give_up(&weights))
    }

    fn bad(&self) -> Spot {
        Spot::Candidate(self.range.len() - 1)
    }

    fn count(&self, spot: Spot) -> usize {
        self.measured.get(&spot).map_or(0, Vec::len)
    }

    fn missing_end(&self) -> Option<Spot> {
        [Spot::Good, self.bad()].into_iter().find(|end| self.count(*end) == 0)
    }

    fn weights(&self) -> Weights {
        weigh(&self.range, &self.measured)
    }

    /// The step that the ends need, if they need one: at first, and until it is known that they differ.
    fn look_at_ends(&self) -> Option<Step> {
        let looks: &[(usize, f64)] = if self.settings.exact { &[(1, 1.0)] } else { &ends::LOOKS };
        let counts = [Spot::Good, self.bad()].map(|end| (end, self.count(end)));
        for &(wanted, share) in looks {
            if let Some((spot, have)) = counts.into_iter().find(|(_, have)| *have < wanted) {
                return Some(Step::Measure { spot, times: (wanted - have) as u32 });
            }
            let first = |spot: Spot| self.measured.get(&spot).map_or(&[][..], |values| &values[..wanted]);
            match ends::ends(first(Spot::Good), first(self.bad()), share, self.settings.threshold.ln_1p()) {
                Ends::Differ => return None,
                Ends::Same => return Some(Step::Done(Outcome::NothingToBisect)),
                Ends::Open => {}
            }
        }
        Some(Step::Done(Outcome::EndsUndecided))
    }

    /// The step that the ends need for their levels to be known well enough. Ends that were found to differ after few values
    /// look farther apart than they are, and whoever believes that is surer of all that follows than he may be.
    fn know_levels(&self, distance: f64) -> Option<Step> {
        if self.settings.exact {
            return None;
        }
        let wanted = (LEVELS_WANT / distance.powi(2)).ceil().min(MOST_FOR_LEVELS) as usize;
        let spot = [Spot::Good, self.bad()].into_iter().find(|end| self.count(*end) < wanted)?;
        Some(Step::Measure { spot, times: (wanted - self.count(spot)).min(8) as u32 })
    }

    /// What is still to be measured before a candidate may be named: itself and its parents, twice if there is noise.
    fn check(&self, place: usize) -> Option<Step> {
        let wanted = if self.settings.exact { 1 } else { 2 };
        let parents = self.range.parents(place).iter().map(|parent| Spot::Candidate(*parent));
        let lacking = std::iter::once(Spot::Candidate(place)).chain(parents).find(|spot| self.count(*spot) < wanted)?;
        Some(Step::Measure { spot: lacking, times: (wanted - self.count(lacking)) as u32 })
    }

    /// The measurement that tells most for its time.
    fn choose(&self, weights: &Weights) -> Option<Step> {
        let distance = weights.distance();
        let times = if self.settings.exact || distance > 1.5 { 1 } else { if distance < 0.7 { 8 } else { 2 } };
        let told = Told::new(distance * f64::from(times).sqrt());
        let worth = |place: usize| {
            let chance = self.range.weight_behind(place, &weights.of);
            let bits = told.by(chance);
            let build = if self.count(Spot::Candidate(place)) > 0 { 0.0 } else { self.settings.build_seconds };
            let seconds = build + f64::from(times) * self.settings.boot_seconds;
            (bits >= LEAST_BITS).then(|| bits * self.luck(place) / seconds)
        };
        let open = (0..self.range.len()).filter(|place| !self.skipped.contains(place));
        let open = open.filter(|place| !(self.settings.exact && self.count(Spot::Candidate(*place)) > 0));
        let rated = open.filter_map(|place| Some((place, worth(place)?)));
        let (best, _) = rated.max_by(|one, other| one.1.total_cmp(&other.1))?;
        let spot = Spot::Candidate(best);
        // A commit can only be placed as well as the levels are known, and the ends are there already
        let will_have = self.count(spot) + times as usize;
        let behind =
            [Spot::Good, self.bad()].into_iter().find(|end| !self.settings.exact && self.count(*end) < will_have);
        Some(Step::Measure { spot: behind.unwrap_or(spot), times })
    }

    /// The chance that a commit can be measured: what breaks one often breaks its neighbours.
    fn luck(&self, place: usize) -> f64 {
        let distances = self.skipped.iter().map(|skipped| skipped.abs_diff(place));
        distances.min().map_or(1.0, |distance| 1.0 - (-(distance as f64) / SKIPS_REACH).exp())
    }

    fn give_up(&self, weights: &Weights) -> Step {
        let (places, confidence) = self.smallest_set(weights);
        Step::Done(Outcome::OneOf { places, confidence })
    }

    /// The fewest candidates that hold the confidence that was asked for, in the order of the range.
    fn smallest_set(&self, weights: &Weights) -> (Vec<usize>, f64) {
        let mut by_weight: Vec<usize> = (0..weights.of.len()).collect();
        by_weight.sort_by(|one, other| weights.of[*other].total_cmp(&weights.of[*one]));
        let mut sum = 0.0;
        let mut places = Vec::new();
        for place in by_weight {
            if sum >= self.settings.confidence {
                break;
            }
            sum += weights.of[place];
            places.push(place);
        }
        places.sort_unstable();
        (places, sum)
    }
}

fn heaviest(weights: &[f64]) -> (usize, f64) {
    weights.iter().copied().enumerate().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap_or_default()
}

/// What a measurement tells by how likely it is to be on the far side, worked out once for a step.
struct Told(Vec<f64>);

impl Told {
    const PARTS: usize = 200;

    fn new(distance: f64) -> Self {
        Told((0..=Self::PARTS).map(|part| bits(part as f64 / Self::PARTS as f64, distance)).collect())
    }

    fn by(&self, chance: f64) -> f64 {
        let at = chance.clamp(0.0, 1.0) * Self::PARTS as f64;
        let (low, part) = (at.floor() as usize, at.fract());
        let high = (low + 1).min(Self::PARTS);
        self.0[low] * (1.0 - part) + self.0[high] * part
    }
}
