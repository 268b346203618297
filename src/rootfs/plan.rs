//! What a boot is to run, as the guest reads it from the kernel command line: `docs/protocol.md`.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::benchmark::Benchmark;
use crate::blame::Failure;
use crate::catalogue::nearest;

/// One benchmark with all its settings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Planned {
    /// The benchmark's name.
    pub benchmark: String,
    /// All settings, also those that were left as they are: `operations`, `repeats`, `warmups` and
    /// the benchmark's own parameters.
    pub settings: BTreeMap<String, i64>,
}

impl Planned {
    /// A benchmark with some settings changed.
    ///
    /// # Errors
    ///
    /// It has no such setting, or the value is out of its range.
    pub fn new(benchmark: &Benchmark, changed: &BTreeMap<String, i64>) -> Result<Self, Failure> {
        let known = benchmark.settings();
        for (name, value) in changed {
            let Some((_, _, min, max)) = known.iter().find(|(own, ..)| own == name) else {
                return Err(unknown(benchmark, name));
            };
            if !(min..=max).contains(&value) {
                return Err(Failure::usage(format!("{name} of `{}` cannot be {value}", benchmark.name))
                    .hint(format!("it goes from {min} to {max}")));
            }
        }
        let value = |name: &str, default| changed.get(name).copied().unwrap_or(default);
        let settings = known.iter().map(|(name, default, ..)| ((*name).to_owned(), value(name, *default))).collect();
        Ok(Planned { benchmark: benchmark.name.clone(), settings })
    }
}

fn unknown(benchmark: &Benchmark, name: &str) -> Failure {
    let names: Vec<_> = benchmark.settings().into_iter().map(|(name, ..)| name.to_owned()).collect();
    let failure = Failure::usage(format!("`{}` has no setting `{name}`", benchmark.name));
    match nearest(name, names.iter().map(String::as_str)).first() {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("it has {}", names.join(", "))),
    }
}

impl fmt::Display for Planned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.benchmark)?;
        self.settings.iter().try_for_each(|(name, value)| write!(f, ":{name}={value}"))
    }
}

/// The value of `nspatch.run=`.
pub fn plan(planned: &[Planned]) -> String {
    planned.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::rootfs::{benchmarks, find};

    fn planned(name: &str, changed: &[(&str, i64)]) -> Result<Planned, Failure> {
        let all = benchmarks(&Catalogue::shipped()).unwrap();
        let changed = changed.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Planned::new(find(&all, name).unwrap(), &changed)
    }

    #[test]
    fn a_plan_says_every_setting() {
        let one = planned("unshare-ipc", &[("operations", 32), ("repeats", 3), ("warmups", 1)]).unwrap();
        let two =
            planned("umount-propagated", &[("n", 12), ("operations", 1), ("repeats", 2), ("warmups", 0)]).unwrap();
        assert_eq!(
            plan(&[one, two]),
            "unshare-ipc:operations=32:repeats=3:warmups=1,umount-propagated:n=12:operations=1:repeats=2:warmups=0"
        );
    }

    #[test]
    fn settings_that_do_not_exist_or_do_not_fit_are_refused() {
        assert_eq!(planned("unshare-ipc", &[("repeat", 3)]).unwrap_err().hints, ["did you mean `repeats`?"]);
        assert_eq!(planned("unshare-ipc", &[("warmups", 101)]).unwrap_err().hints, ["it goes from 0 to 100"]);
        assert!(planned("umount-propagated", &[("n", 0)]).is_err());
    }

    #[test]
    fn all_shipped_benchmarks_fit_into_the_kernel_s_command_line() {
        let all = benchmarks(&Catalogue::shipped()).unwrap();
        let planned: Vec<_> = all.iter().map(|one| Planned::new(one, &BTreeMap::new()).unwrap()).collect();
        assert!(plan(&planned).len() < 1024);
    }
}
