//! Whether the same boot gives the same numbers, which is what the virtual clock promises.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BenchmarkResult, Lab, Measurement, Order, Reading, Repeat, Results};
use crate::blame::Failure;

/// The first thing in which two boots differ that should be the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The benchmark; `None` if the facts differ.
    pub benchmark: Option<String>,
    /// The repeat's index, if it is one.
    pub repeat: Option<u32>,
    /// What differs.
    pub what: String,
    /// In the first boot.
    pub first: String,
    /// In the second boot.
    pub second: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.benchmark, self.repeat) {
            (Some(benchmark), Some(repeat)) => write!(f, "{benchmark}, repeat {repeat}: ")?,
            (Some(benchmark), None) => write!(f, "{benchmark}: ")?,
            (None, _) => f.write_str("the guest: ")?,
        }
        write!(f, "{} {} in one boot and {} in another", self.what, self.first, self.second)
    }
}

/// Compares the results of two boots of one image with one seed.
///
/// # Errors
///
/// The first difference, in the order of the results.
pub fn deterministic(a: &Results, b: &Results) -> Result<(), Difference> {
    let differ = |what: &str, first: String, second: String| {
        let what = what.to_owned();
        Err(Difference { benchmark: None, repeat: None, what, first, second })
    };
    if a.facts != b.facts {
        return differ("facts", format!("{:?}", a.facts), format!("{:?}", b.facts));
    }
    for (one, other) in a.benchmarks.iter().zip(&b.benchmarks) {
        benchmark(one, other)?;
    }
    if a.benchmarks.len() != b.benchmarks.len() {
        return differ("benchmarks", a.benchmarks.len().to_string(), b.benchmarks.len().to_string());
    }
    if a.failures != b.failures {
        return differ("failures", format!("{:?}", a.failures), format!("{:?}", b.failures));
    }
    Ok(())
}

fn benchmark(a: &BenchmarkResult, b: &BenchmarkResult) -> Result<(), Difference> {
    if let (Measurement::Measured(one), Measurement::Measured(other)) = (&a.outcome, &b.outcome) {
        for (x, y) in one.sample.repeats.iter().zip(&other.sample.repeats) {
            repeat(&a.name, x, y)?;
        }
    }
    if a == b {
        return Ok(());
    }
    let name = Some(a.name.clone());
    let (first, second) = (format!("{a:?}"), format!("{b:?}"));
    Err(Difference { benchmark: name, repeat: None, what: "outcome".into(), first, second })
}

fn repeat(benchmark: &str, a: &Repeat, b: &Repeat) -> Result<(), Difference> {
    let fields = [
        ("elapsed_ns", a.elapsed_ns, b.elapsed_ns),
        ("drain_ns", a.drain_ns, b.drain_ns),
        ("dither_ns", a.dither_ns, b.dither_ns),
        ("operations", a.operations, b.operations),
    ];
    let Some((what, first, second)) = fields.into_iter().find(|(_, first, second)| first != second) else {
        return Ok(());
    };
    Err(Difference {
        benchmark: Some(benchmark.to_owned()),
        repeat: Some(a.index),
        what: what.to_owned(),
        first: first.to_string(),
        second: second.to_string(),
    })
}

/// How often a boot is made before its numbers are taken for what they are on any other clock: samples with noise.
const MOST_TURNS: u32 = 9;

/// A lab that believes a boot on the virtual clock only when a second one of the same gave the same
/// numbers, to the last digit.
///
/// QEMU promises that on this clock, and nearly always keeps it; but on a host that is busy enough
/// its main loop can run a guest's timer at an instruction other than the usual one.
pub struct Confirmed<'a> {
    /// Makes the boots.
    pub lab: &'a dyn Lab,
    /// Told of every boot whose first two turns differ.
    pub differed: &'a (dyn Fn(&Order<'_>, &Difference) + Sync),
}

impl Lab for Confirmed<'_> {
    /// Boots until two turns agree. A turn without results is given back at once.
    fn boot(&self, order: &Order) -> Result<Reading, Failure> {
        let mut turns: Vec<Reading> = Vec::new();
        let mut difference = None;
        for turn in 0..MOST_TURNS {
            let reading = self.lab.boot(&Order { turn, ..*order })?;
            let Some(results) = reading.results() else { return Ok(reading) };
            for earlier in turns.iter().filter_map(Reading::results) {
                match deterministic(earlier, results) {
                    Ok(()) => return Ok(reading.with_splats_of(&turns)),
                    Err(found) => {
                        if difference.is_none() {
                            (self.differed)(order, &found);
                        }
                        difference.get_or_insert(found);
                    }
                }
            }
            turns.push(reading);
        }
        let last = turns.pop().map(|last| last.with_splats_of(&turns));
        match (last, difference) {
            (Some(Reading::Read { results, guest }), Some(difference)) => {
                Ok(Reading::Unsteady { results, guest, difference })
            }
            // Turns with results that all differ hold at least one difference
            _ => Err(Failure::internal("boots differ in nothing, and yet differ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::read;

    fn real() -> Results {
        read(include_bytes!("../../tests/fakes/qemu-results.jsonl")).unwrap()
    }

    fn changed(change: impl FnOnce(&mut Results)) -> String {
        let mut other = real();
        change(&mut other);
        deterministic(&real(), &other).unwrap_err().to_string()
    }

    fn repeats(results: &mut Results, at: usize) -> &mut Vec<Repeat> {
        match &mut results.benchmarks[at].outcome {
            Measurement::Measured(measured) => &mut measured.sample.repeats,
            Measurement::Failed(_) => panic!(),
        }
    }

    #[test]
    fn equal_results_are_deterministic() {
        assert_eq!(deterministic(&real(), &real()), Ok(()));
    }

    #[test]
    fn the_first_difference_is_named() {
        let repeat = changed(|other| {
            repeats(other, 1)[2].elapsed_ns = 1;
            repeats(other, 2)[0].elapsed_ns = 1;
        });
        assert!(repeat.starts_with("setns-net, repeat 2: elapsed_ns "), "{repeat}");
        assert!(repeat.ends_with(" in one boot and 1 in another"), "{repeat}");
        assert!(changed(|other| other.facts.cpus_online = 1).starts_with("the guest: facts"));
        assert!(changed(|other| repeats(other, 0).truncate(3)).starts_with("unshare-ipc: outcome"));
        assert!(changed(|other| other.benchmarks.truncate(4)).starts_with("the guest: benchmarks 5"));
    }
}
