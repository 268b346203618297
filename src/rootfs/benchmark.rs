//! The benchmarks that the guest has, as the files of `images/bench/` describe them.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use serde::Deserialize;

use super::description::Description;
use crate::blame::Failure;
use crate::catalogue::{Catalogue, nearest};

/// One benchmark: `images/bench/NAME.c`, and what `images/bench/NAME.yaml` says of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// The name in reports, workflows and patches: that of its files.
    #[serde(skip)]
    pub name: String,
    /// Its C file, relative to `images/`.
    #[serde(skip)]
    pub source: Utf8PathBuf,
    /// One line for people.
    pub summary: String,
    /// The number of the shipped patch whose mail describes it, if one does.
    #[serde(default)]
    pub seed: Option<String>,
    /// What is counted once.
    pub operation: String,
    /// What else can be set.
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// Operations in a repeat.
    pub operations: i64,
    /// Timed repeats in a boot.
    pub repeats: i64,
    /// Repeats before these, which are reported and not judged.
    pub warmups: i64,
    /// The configuration symbols that must be `y`, without `CONFIG_`.
    #[serde(default)]
    pub kconfig: Vec<String>,
}

/// A parameter of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The value unless something else is asked for.
    pub default: i64,
    /// The smallest value.
    pub min: i64,
    /// The largest value.
    pub max: i64,
    /// What it means, one line for people.
    pub meaning: String,
}

/// The settings that every benchmark has, with their limits; `docs/protocol.md` has them too.
const COMMON: [(&str, i64, i64); 3] = [("operations", 1, 10_000_000), ("repeats", 1, 100), ("warmups", 0, 100)];

impl Benchmark {
    /// Everything that can be set: name, value unless set, smallest and largest value. First the
    /// benchmark's own parameters, then those that every benchmark has.
    pub(super) fn settings(&self) -> Vec<(&str, i64, i64, i64)> {
        let own = self.parameters.iter().map(|one| (one.name.as_str(), one.default, one.min, one.max));
        let values = [self.operations, self.repeats, self.warmups];
        let common = COMMON.iter().zip(values).map(|((name, min, max), value)| (*name, value, *min, *max));
        own.chain(common).collect()
    }

    /// What is wrong with the description, if anything is, after the key whose line shows it.
    pub(super) fn fault(&self) -> Option<(String, String)> {
        let mut seen = BTreeSet::new();
        for (name, value, min, max) in self.settings() {
            if !is_name(name) || !seen.insert(name) {
                return Some((format!("name: {name}"), format!("`{}` cannot have a parameter `{name}`", self.name)));
            }
            if !(min..=max).contains(&value) {
                let own = self.parameters.iter().any(|parameter| parameter.name == name);
                let key = if own { format!("name: {name}") } else { format!("{name}:") };
                let what = format!("{name} of `{}` is {value}, which is not from {min} to {max}", self.name);
                return Some((key, what));
            }
        }
        None
    }
}

/// Whether a text can stand in the guest's boot plan.
pub(super) fn is_name(text: &str) -> bool {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.len() < 48 && text.chars().all(fine)
}

/// All benchmarks. Those of shipped patches come first, in the order of these: so that another one runs behind them and
/// changes nothing for them.
///
/// # Errors
///
/// A file of `images/` is missing, or is not understood.
pub fn benchmarks(catalogue: &Catalogue) -> Result<Vec<Benchmark>, Failure> {
    Ok(Description::load(catalogue)?.benchmarks)
}

/// The benchmark of a name.
///
/// # Errors
///
/// There is none; the failure names the nearest ones.
pub fn find<'a>(benchmarks: &'a [Benchmark], name: &str) -> Result<&'a Benchmark, Failure> {
    benchmarks.iter().find(|one| one.name == name).ok_or_else(|| {
        let names: Vec<_> = benchmarks.iter().map(|one| one.name.as_str()).collect();
        let failure = Failure::usage(format!("there is no benchmark `{name}`"));
        match nearest(name, names.iter().copied()).first() {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure.hint(format!("there are {}", names.join(", "))),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_benchmarks_are_all_there() {
        let all = benchmarks(&Catalogue::shipped()).unwrap();
        for name in ["exit-ipc", "umount-propagated", "unshare-ipc", "setns-net", "unshare-user-ipc-mnt"] {
            assert!(!find(&all, name).unwrap().kconfig.is_empty(), "{name}");
        }
    }

    #[test]
    fn an_unknown_benchmark_names_the_nearest() {
        let all = benchmarks(&Catalogue::shipped()).unwrap();
        assert_eq!(find(&all, "setnet-ns").unwrap_err().hints, ["did you mean `setns-net`?"]);
    }
}
