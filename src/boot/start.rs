//! What is to be booted, and how long each part of it may take.

use std::time::Duration;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::{Accelerator, Clock, Qemu};

/// One boot to be made.
#[derive(Clone, Debug)]
pub struct Start {
    /// The emulator, which also says for which architecture.
    pub qemu: Qemu,
    /// The kernel image.
    pub image: Utf8PathBuf,
    /// The initramfs.
    pub initramfs: Utf8PathBuf,
    /// Feeds QEMU's random numbers and the guest's dithers.
    pub seed: u64,
    /// What the guest is to run: the text of `nspatch.run=`, as `docs/protocol.md` has it.
    pub run: String,
    /// What the guest's time is made of.
    pub clock: Clock,
    /// What runs the guest's instructions; the virtual clock needs TCG.
    pub accelerator: Accelerator,
    /// The guest's CPUs; with one alone some kernels skip the waits that are to be measured.
    pub cpus: u32,
    /// The guest's memory in MiB.
    pub memory_mib: u32,
    /// Takes `console.log`, `results.jsonl` and `qemu.log`, which starts with the command line.
    pub folder: Utf8PathBuf,
    /// How long to wait for what.
    pub limits: Limits,
    /// Texts of splats that do not break a boot. One that stands in a splat's first line allows it.
    pub allowed_splats: Vec<String>,
    /// The boot's name in events, such as `x86_64 reversed seed 3`.
    pub subject: String,
}

/// Limits of a boot, all in the host's time. They only guard against boots that do not end: no
/// number that is compared depends on them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// From the start of QEMU to the first byte on the console.
    pub silence: Duration,
    /// Between two signs of life, on the console or the results channel.
    pub hang: Duration,
    /// From the end record to the end of QEMU.
    pub restart: Duration,
    /// For the whole boot.
    pub total: Duration,
    /// How quiet the console must be after a panic or an oops before QEMU is ended.
    pub quiet: Duration,
    /// How long to wait for that quiet.
    pub trace: Duration,
    /// How many bytes the console may print.
    pub console_bytes: u64,
}

impl Limits {
    /// The same limits for a machine that takes so many times as long.
    pub fn times(self, factor: f64) -> Self {
        Limits {
            silence: self.silence.mul_f64(factor),
            hang: self.hang.mul_f64(factor),
            restart: self.restart.mul_f64(factor),
            total: self.total.mul_f64(factor),
            ..self
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            silence: Duration::from_secs(60),
            // A guest says nothing while it measures: three benchmarks took 106 s on a loaded machine
            hang: Duration::from_secs(300),
            restart: Duration::from_secs(30),
            total: Duration::from_secs(15 * 60),
            quiet: Duration::from_millis(300),
            trace: Duration::from_secs(2),
            console_bytes: 16 << 20,
        }
    }
}
