//! Whether the same boot gives the same numbers, which is what the virtual clock promises.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{BenchmarkResult, Lab, Machine, Measurement, Order, Reading, Repeat, Results};
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

/// What a second boot of the same showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// The same numbers.
    Same,
    /// Other numbers: this machine's clock cannot be trusted.
    Differs(Difference),
    /// One of the two boots has no results.
    Broken(Box<Reading>),
}

/// Boots a machine again with a seed and compares with what that boot gave before.
///
/// # Errors
///
/// As [`Lab::boot`].
pub fn probe(machine: &Machine, seed: u64, before: &Reading, lab: &dyn Lab) -> Result<Probe, Failure> {
    let Some(first) = before.results() else { return Ok(Probe::Broken(Box::new(before.clone()))) };
    let again = lab.boot(&Order { machine, seed, turn: 1 })?;
    let Some(second) = again.results() else { return Ok(Probe::Broken(Box::new(again))) };
    Ok(deterministic(first, second).map_or_else(Probe::Differs, |()| Probe::Same))
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
