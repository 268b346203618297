//! What the guest's time is made of.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::arch::Description;

/// What measured the time in the guest. Numbers of different clocks are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// QEMU counts instructions: the same boot gives the same numbers.
    Virtual,
}

impl Clock {
    /// QEMU's arguments for this clock. The seed feeds all that QEMU itself draws at random, and
    /// the guest's time of day starts at a fixed moment and follows its own clock, not the host's.
    pub(super) fn arguments(self, seed: u64) -> Vec<String> {
        let Clock::Virtual = self;
        let seed = seed.to_string();
        // 2^1 ns an instruction: slower CPUs make their work loom large against the waits in which
        // a tick's length counts. sleep=off: when every CPU waits, time jumps to the next timer
        let fixed = ["-accel", "tcg", "-icount", "shift=1,sleep=off", "-seed", &seed];
        let rtc = ["-rtc", "base=2020-01-01T00:00:00,clock=vm"];
        fixed.into_iter().chain(rtc).map(str::to_owned).collect()
    }

    /// The kernel parameters that an architecture needs on this clock.
    pub(super) fn parameters(self, arch: &Description) -> &'static [&'static str] {
        let Clock::Virtual = self;
        arch.virtual_parameters
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Clock::Virtual => "virtual",
        })
    }
}
