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

/// As many as the guest's plan takes: `struct plan` of `images/guest.h`.
const MOST_BENCHMARKS: usize = 32;
/// What the kernel's command line of 2048 bytes leaves to the plan beside everything else.
const LONGEST_PLAN: usize = 1536;

/// Checks that a plan has room in one boot, before anything is built for it.
///
/// # Errors
///
/// The guest takes fewer benchmarks, or the kernel's command line is too short.
pub fn check_room(planned: &[Planned]) -> Result<(), Failure> {
    let (count, length) = (planned.len(), plan(planned).len());
    let what = if count > MOST_BENCHMARKS {
        format!("{count} benchmarks are asked for in one boot, and {MOST_BENCHMARKS} have room")
    } else if length > LONGEST_PLAN {
        format!("the plan of a boot would have {length} bytes, and {LONGEST_PLAN} have room")
    } else {
        return Ok(());
    };
    Err(Failure::usage(what).hint("name fewer benchmarks with --bench, or fewer values in a sweep"))
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

    #[test]
    fn a_plan_that_has_no_room_in_one_boot_is_refused_before_it() {
        let many = |count| {
            let one = |value| planned("unshare-user-ipc-mnt", &[("mounts", value)]).unwrap();
            check_room(&(0..count).map(one).collect::<Vec<_>>())
        };
        assert_eq!(many(15), Ok(()));
        assert!(many(30).unwrap_err().what.contains("bytes"));
        assert!(many(33).unwrap_err().what.contains("33 benchmarks"));
        let guest = Catalogue::shipped().files(crate::catalogue::Folder::Images).unwrap();
        let header = String::from_utf8(guest[camino::Utf8Path::new("guest.h")].bytes.clone()).unwrap();
        assert!(header.contains(&format!("struct job job[{MOST_BENCHMARKS}];")), "as many as the guest takes");
    }
}
