//! What the host did while a boot ran: on the wall clock that is noise, and it has to be seen beside the numbers.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// What the host did while a boot ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLoad {
    /// When the boot began, in ms since 1970 began.
    pub began_ms: u64,
    /// The load average over the minute before the boot began.
    pub load: f64,
    /// The part of the time of all CPUs in which they did anything, this boot included, from 0 to 1.
    pub busy: f64,
    /// The part of it that a hypervisor above this host gave to others, from 0 to 1.
    pub stolen: f64,
}

/// The name of the host's CPUs, as the kernel has it; none where it has none.
pub fn cpu_name() -> Option<String> {
    read("/proc/cpuinfo").as_deref().and_then(name)
}

/// x86 says a name, arm64 only numbers.
fn name(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        let mut fields = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned())
    };
    value("model name")
        .or_else(|| Some(format!("implementer {}, part {}", value("CPU implementer")?, value("CPU part")?)))
}

/// Looks at the host when a boot begins, and again when it ends.
pub(super) struct Witness {
    began_ms: u64,
    load: Option<f64>,
    times: Option<Times>,
}

impl Witness {
    pub(super) fn begin() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Witness {
            began_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            load: read("/proc/loadavg").as_deref().and_then(load),
            times: Times::now(),
        }
    }

    /// What was seen; none where the host does not tell.
    pub(super) fn end(&self) -> Option<HostLoad> {
        let (busy, stolen) = self.times?.parts_until(Times::now()?);
        Some(HostLoad { began_ms: self.began_ms, load: self.load?, busy, stolen })
    }
}

/// Time of all CPUs since the host started, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Times {
    all: u64,
    idle: u64,
    stolen: u64,
}

impl Times {
    fn now() -> Option<Self> {
        read("/proc/stat").as_deref().and_then(Self::of)
    }

    /// The first line of /proc/stat, as proc(5) has it: user nice system idle iowait irq softirq steal. What follows
    /// is part of the first two.
    fn of(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks = line.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?;
        let stolen = ticks.get(7).copied().unwrap_or_default();
        Some(Times { all: ticks.iter().take(8).sum(), idle: ticks.get(3)? + ticks.get(4)?, stolen })
    }

    /// The busy and the stolen part of the time since then.
    fn parts_until(self, later: Times) -> (f64, f64) {
        let all = later.all.saturating_sub(self.all).max(1) as f64;
        let idle = later.idle.saturating_sub(self.idle) as f64;
        let stolen = later.stolen.saturating_sub(self.stolen) as f64;
        ((1.0 - idle / all).clamp(0.0, 1.0), (stolen / all).clamp(0.0, 1.0))
    }
}

fn load(loadavg: &str) -> Option<f64> {
    loadavg.split_whitespace().next()?.parse().ok()
}

fn read(path: &str) -> Option<String> {
    fs_err::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busy_and_the_stolen_time_are_parts_of_all_that_passed() {
        let one = Times::of("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 1 1 1\n").unwrap();
        let other = Times::of("cpu  150 10 60 850 80 5 5 40 7 0\n").unwrap();
        // 200 ticks: 80 idle, 40 stolen
        assert_eq!(one.parts_until(other), (0.6, 0.2));
        assert_eq!(one.parts_until(one), (1.0, 0.0));
        assert_eq!((Times::of(""), Times::of("cpu one two"), Times::of("cpu 1 2")), (None, None, None));
    }

    #[test]
    fn a_cpu_has_its_name_or_its_numbers() {
        let x86 = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Processor\nflags\t: fpu\n";
        assert_eq!(name(x86).unwrap(), "Intel(R) Xeon(R) Processor");
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(name(arm).unwrap(), "implementer 0x41, part 0xd0c");
        assert_eq!(name(""), None);
    }

    #[test]
    fn this_host_tells_what_it_does() {
        let seen = Witness::begin().end().unwrap();
        assert!(seen.began_ms > 1_700_000_000_000 && (0.0..=1.0).contains(&seen.busy), "{seen:?}");
        assert_eq!(load("0.52 0.58 0.59 1/389 12"), Some(0.52));
    }
}
