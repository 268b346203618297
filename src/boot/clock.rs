//! What the guest's time is made of, and what runs its instructions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::arch::Description;

/// What measured the time in the guest. Numbers of different clocks are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// QEMU counts instructions: the same boot gives the same numbers.
    Virtual,
    /// Real time passes: every boot gives other numbers, caches and parallelism among what they show.
    Wall,
}

/// What runs the guest's instructions. Numbers of different accelerators are never compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accelerator {
    /// QEMU translates them. The virtual clock has no other.
    Tcg,
    /// The host's CPUs run them.
    Kvm,
}

impl Clock {
    /// QEMU's arguments for this clock. The seed feeds all that QEMU itself draws at random; on the virtual clock
    /// the guest's time of day starts at a fixed moment and follows its own clock, not the host's.
    pub(super) fn arguments(self, accelerator: Accelerator, seed: u64) -> Vec<String> {
        let seed = seed.to_string();
        let words = match self {
            // 2^1 ns an instruction: slower CPUs make their work loom large against the waits in which
            // a tick's length counts. sleep=off: when every CPU waits, time jumps to the next timer
            Clock::Virtual => {
                let rtc = ["-rtc", "base=2020-01-01T00:00:00,clock=vm"];
                [["-accel", "tcg"], ["-icount", "shift=1,sleep=off"], ["-seed", &seed], rtc].concat()
            }
            Clock::Wall => [["-accel", accelerator.argument()], ["-seed", &seed]].concat(),
        };
        words.into_iter().map(str::to_owned).collect()
    }

    /// The kernel parameters that an architecture needs on this clock.
    pub(super) fn parameters(self, arch: &Description) -> &'static [&'static str] {
        match self {
            Clock::Virtual => arch.virtual_parameters,
            Clock::Wall => &[],
        }
    }
}

impl Accelerator {
    /// QEMU's own word for it.
    fn argument(self) -> &'static str {
        match self {
            Accelerator::Tcg => "tcg",
            Accelerator::Kvm => "kvm",
        }
    }

    /// QEMU's arguments for an architecture's machine and CPUs.
    pub(super) fn machine(self, arch: &Description) -> &'static [&'static str] {
        match self {
            Accelerator::Tcg => arch.qemu_machine,
            Accelerator::Kvm => arch.kvm_machine,
        }
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Clock::Virtual => "virtual",
            Clock::Wall => "wall",
        })
    }
}

impl fmt::Display for Accelerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Accelerator::Tcg => "TCG",
            Accelerator::Kvm => "KVM",
        })
    }
}
