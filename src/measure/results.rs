//! What one boot's guest said, checked and in order.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Drain, FailureClass, Lost, Sample};
use crate::blame::{Blame, Class, Failure};

/// All that a guest said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Results {
    /// What the guest says of its kernel and its clock.
    pub facts: Facts,
    /// The benchmarks, in the order of the plan.
    pub benchmarks: Vec<BenchmarkResult>,
    /// What failed and belongs to no single benchmark.
    pub failures: Vec<GuestFailure>,
}

/// What a guest says of its kernel and its clock. `None` is what the kernel does not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Facts {
    /// The kernel's release.
    pub kernel: String,
    /// The machine, as uname(2) has it.
    pub machine: String,
    /// CPUs online when the guest started.
    pub cpus_online: u32,
    /// Bytes in a page.
    pub page_size: u64,
    /// The guest's memory in KiB.
    pub mem_total_kib: u64,
    /// The clock source's name.
    #[serde(deserialize_with = "Option::deserialize")]
    pub clocksource: Option<String>,
    /// One tick in ns.
    pub tick_ns: u64,
    /// The smallest step of the clock that was seen, in ns.
    pub clock_resolution_ns: u64,
    /// What one reading of the clock costs, in ns.
    pub clock_overhead_ns: u64,
    /// `/sys/kernel/rcu_expedited`.
    #[serde(deserialize_with = "Option::deserialize")]
    pub rcu_expedited: Option<u64>,
    /// `/sys/kernel/rcu_normal`.
    #[serde(deserialize_with = "Option::deserialize")]
    pub rcu_normal: Option<u64>,
    /// `fs.mount-max`.
    #[serde(deserialize_with = "Option::deserialize")]
    pub mount_max: Option<u64>,
    /// How the end of background freeing is seen.
    pub drain: Drain,
    /// The seed of the dithers.
    pub seed: u64,
}

/// One benchmark of a boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchmarkResult {
    /// Its name.
    pub name: String,
    /// How it was set; `None` if the guest could not make sense of what was asked.
    pub settings: Option<Settings>,
    /// What came of it.
    pub outcome: Measurement,
}

/// How a benchmark was set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Its own parameters.
    pub parameters: BTreeMap<String, i64>,
    /// Operations per repeat.
    pub operations: u64,
    /// Timed repeats.
    pub repeats: u32,
    /// Repeats before these.
    pub warmups: u32,
}

/// What came of a benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measurement {
    /// All of it was measured.
    Measured(Measured),
    /// It failed, and nothing of it counts.
    Failed(GuestFailure),
}

/// A benchmark that ran to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// Every repeat.
    pub sample: Sample,
    /// How the end of its background freeing was seen.
    pub drain: Drain,
    /// Available memory before it in KiB.
    pub mem_available_before_kib: Option<u64>,
    /// Available memory after it in KiB.
    pub mem_available_after_kib: Option<u64>,
}

/// Why a benchmark failed in the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestFailure {
    /// The kind.
    pub class: FailureClass,
    /// The system call that failed, if one did.
    pub call: Option<String>,
    /// Its error number, or 0.
    pub errno: i32,
    /// Its error as text, or nothing.
    pub error: String,
    /// What was being done.
    pub detail: String,
}

impl GuestFailure {
    /// The failure in one line.
    pub fn message(&self) -> String {
        match &self.call {
            Some(call) => format!("{call}: {} ({})", self.error, self.detail),
            None => self.detail.clone(),
        }
    }

    /// This, where nothing is left to do but to stop.
    pub fn failure(&self, benchmark: &str) -> Failure {
        let (blame, hint) = match self.class {
            FailureClass::Usage => (Blame::User, "the plan asks for what this guest does not have"),
            FailureClass::Enospc => (Blame::Kernel, "a limit on namespaces or mounts was hit: nothing was measured"),
            FailureClass::Clock => (Blame::Kernel, "more operations a repeat give the clock more to measure"),
            FailureClass::Call => (Blame::Kernel, "is what the benchmark needs in the kernel's configuration?"),
            FailureClass::Count | FailureClass::Drain => (Blame::Kernel, "the kernel did not do what was asked of it"),
        };
        let what = format!("benchmark {benchmark} failed in the guest: {}", self.message());
        Failure::new(Class::Guest, blame, what).hint(hint)
    }
}

impl Results {
    /// The result of a benchmark with these parameters; none either where the guest could not make sense of what was asked.
    pub fn benchmark(&self, name: &str, parameters: &BTreeMap<String, i64>) -> Option<&BenchmarkResult> {
        let is_set = |one: &BenchmarkResult| one.settings.as_ref().is_some_and(|own| own.parameters == *parameters);
        self.benchmarks.iter().find(|one| one.name == name && is_set(one))
    }

    /// Checks that this is the answer to what was asked: this seed, and every benchmark of this
    /// plan, in order and set as asked, and no other.
    ///
    /// # Errors
    ///
    /// Another seed, another benchmark, one too few or one too many, or one that was set otherwise.
    pub fn answer(&self, run: &str, seed: u64) -> Result<(), Lost> {
        let asked = planned(run);
        let found: Vec<_> = self.benchmarks.iter().map(|benchmark| benchmark.name.as_str()).collect();
        if self.facts.seed != seed {
            return Err(Lost::Seed { asked: seed, found: self.facts.seed });
        }
        // A plan that the guest could not read is told by a failure of no benchmark
        if asked != found && self.failures.is_empty() {
            return Err(Lost::Unanswered { asked: asked.join(","), found: found.join(",") });
        }
        self.benchmarks.iter().zip(words(run)).try_for_each(|(benchmark, word)| benchmark.is_set_as(word))
    }

    /// Checks that the guest had so many CPUs: with one alone, a kernel may skip the waits that are to be measured.
    ///
    /// # Errors
    ///
    /// It had more or fewer.
    pub fn with_cpus(&self, asked: u32) -> Result<(), Lost> {
        let found = self.facts.cpus_online;
        if found == asked { Ok(()) } else { Err(Lost::Cpus { asked, found }) }
    }
}

impl BenchmarkResult {
    /// What was measured, if it was.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            Measurement::Measured(measured) => Some(measured),
            Measurement::Failed(_) => None,
        }
    }

    /// Checks that a benchmark was set as its words in the plan have it, `name:n=10:repeats=3`. Fewer operations are
    /// as good: the guest does no more of them than say enough.
    fn is_set_as(&self, word: &str) -> Result<(), Lost> {
        let Some(settings) = &self.settings else { return Ok(()) };
        for (name, asked) in word.split(':').skip(1).filter_map(|setting| setting.split_once('=')) {
            let found = match name {
                "operations" if asked.parse().is_ok_and(|asked| settings.operations <= asked) => continue,
                "operations" => settings.operations.to_string(),
                "repeats" => settings.repeats.to_string(),
                "warmups" => settings.warmups.to_string(),
                _ => settings.parameters.get(name).map_or("nothing".to_owned(), i64::to_string),
            };
            if found != asked {
                let (benchmark, name, asked) = (self.name.clone(), name.to_owned(), asked.to_owned());
                return Err(Lost::Setting { benchmark, name, asked, found });
            }
        }
        Ok(())
    }
}

/// What a plan says of each benchmark.
fn words(run: &str) -> impl Iterator<Item = &str> {
    run.split(',').filter(|word| !word.is_empty())
}

/// The benchmarks' names of a plan.
pub(super) fn planned(run: &str) -> Vec<&str> {
    words(run).map(|word| word.split_once(':').map_or(word, |(name, _)| name)).collect()
}

/// Refuses a plan that names a benchmark twice with the same parameters: the records of the two could not be told apart.
pub(super) fn check_plan(run: &str) -> Result<(), Failure> {
    let how_often =
        |setting: &&str| ["operations=", "repeats=", "warmups="].iter().any(|name| setting.starts_with(name));
    let of_word =
        |word: &'_ str| word.split(':').filter(|one| !how_often(one)).map(str::to_owned).collect::<BTreeSet<_>>();
    let mut seen = BTreeSet::new();
    match words(run).find(|word| !seen.insert(of_word(word))) {
        None => Ok(()),
        Some(word) => {
            let name = word.split(':').next().unwrap_or_default();
            Err(Failure::usage(format!("benchmark `{name}` stands twice in one plan")).at(run))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_its_benchmarks() {
        assert_eq!(planned("a:operations=3:n=2,b,c:repeats=1"), ["a", "b", "c"]);
        assert!(planned("").is_empty());
        assert!(check_plan("a:n=1,b").is_ok());
        assert!(check_plan("a:n=1,b,a:n=2").is_ok(), "a sweep");
        assert!(check_plan("a:n=1:repeats=3,b,a:repeats=4:n=1").unwrap_err().what.contains("`a`"));
    }

    #[test]
    fn a_failed_call_says_which_and_why() {
        let failure = GuestFailure {
            class: FailureClass::Enospc,
            call: Some("unshare".into()),
            errno: 28,
            error: "No space left on device".into(),
            detail: "operation 4 of 32".into(),
        };
        insta::assert_snapshot!(failure.failure("unshare-ipc").render(), @r"
        error: benchmark unshare-ipc failed in the guest: unshare: No space left on device (operation 4 of 32)
          owner: the kernel tree
        hint: a limit on namespaces or mounts was hit: nothing was measured
        ");
    }
}
