//! Where boots are made: in QEMU, or, in tests, in a table.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::{Accelerator, Clock, Difference, Lost, Measured, Results, Sample, read};
use crate::arch::Arch;
use crate::blame::Failure;
use crate::boot::{self, BootFailure, Guest, Kvm, Limits, Outcome, Qemu, Start};
use crate::job::Job;
use crate::store::Digest;

/// All that goes into a boot but its seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name in events, such as `x86_64 reversed`.
    pub name: String,
    /// The architecture.
    pub arch: Arch,
    /// The clock.
    pub clock: Clock,
    /// What runs the guest's instructions.
    pub accelerator: Accelerator,
    /// The kernel image.
    pub image: Utf8PathBuf,
    /// The SHA-256 of the image.
    pub image_digest: String,
    /// The initramfs.
    pub initramfs: Utf8PathBuf,
    /// The SHA-256 of the initramfs.
    pub initramfs_digest: String,
    /// The text of `nspatch.run=`.
    pub run: String,
}

/// One boot to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order<'a> {
    /// What is booted.
    pub machine: &'a Machine,
    /// The seed.
    pub seed: u64,
    /// 0, and more for another boot of the same, made to see whether it gives the same.
    pub turn: u32,
}

impl Order<'_> {
    /// The address of all that the boot's numbers can depend on: orders of one address are the
    /// same boot.
    pub fn address(&self) -> String {
        let machine = self.machine;
        Digest::of("boot")
            .field("arch", machine.arch.name)
            .field("clock", machine.clock.to_string())
            .field("accelerator", machine.accelerator.to_string())
            .field("image", &machine.image_digest)
            .field("initramfs", &machine.initramfs_digest)
            .field("run", &machine.run)
            .field("seed", self.seed.to_le_bytes())
            .field("turn", self.turn.to_le_bytes())
            .hex()
    }
}

/// What came of a boot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// The guest's results, whole.
    Read {
        /// The results.
        results: Results,
        /// Where they came from.
        guest: Guest,
    },
    /// The boot failed.
    Broken(BootFailure),
    /// The boot ended, but its results count for nothing.
    Lost {
        /// Why.
        lost: Lost,
        /// Where they came from.
        guest: Guest,
    },
    /// The guest's results, whole, but the same boot made again and again gave other numbers each time.
    Unsteady {
        /// The results of the last time.
        results: Results,
        /// Where they came from.
        guest: Guest,
        /// What differed first.
        difference: Difference,
    },
}

impl Reading {
    /// The results, if there are any.
    pub fn results(&self) -> Option<&Results> {
        match self {
            Reading::Read { results, .. } | Reading::Unsteady { results, .. } => Some(results),
            Reading::Broken(_) | Reading::Lost { .. } => None,
        }
    }

    /// The guest, if it came to its end.
    pub fn guest(&self) -> Option<&Guest> {
        match self {
            Reading::Read { guest, .. } | Reading::Lost { guest, .. } | Reading::Unsteady { guest, .. } => Some(guest),
            Reading::Broken(_) => None,
        }
    }

    /// What was measured of a benchmark with these parameters, if it was.
    pub fn measured(&self, benchmark: &str, parameters: &BTreeMap<String, i64>) -> Option<&Measured> {
        self.results()?.benchmark(benchmark, parameters)?.measured()
    }

    /// The sample of a benchmark with these parameters, if there is one.
    pub fn sample(&self, benchmark: &str, parameters: &BTreeMap<String, i64>) -> Option<&Sample> {
        Some(&self.measured(benchmark, parameters)?.sample)
    }

    /// Takes in the splats that were allowed in other boots of the same, so that none is hidden.
    pub(super) fn with_splats_of(mut self, others: &[Reading]) -> Self {
        if let Reading::Read { guest, .. } = &mut self {
            for other in others {
                let Reading::Read { guest: other, .. } = other else { continue };
                let unknown = other.allowed_splats.iter().filter(|splat| !guest.allowed_splats.contains(splat));
                let unknown: Vec<String> = unknown.cloned().collect();
                guest.allowed_splats.extend(unknown);
            }
        }
        self
    }

    /// Why there are no results, where nothing is left to do but to stop.
    pub fn failure(&self) -> Option<Failure> {
        match self {
            Reading::Read { .. } | Reading::Unsteady { .. } => None,
            Reading::Broken(broken) => Some(broken.failure()),
            Reading::Lost { lost, guest } => Some(lost.failure().at(&guest.results)),
        }
    }
}

/// A place where boots are made. Several threads use it at once.
pub trait Lab: Sync {
    /// Makes one boot.
    ///
    /// # Errors
    ///
    /// What stops the work: the machine lacks something, or an interrupt. A broken boot is a reading.
    fn boot(&self, order: &Order) -> Result<Reading, Failure>;
}

/// The real place.
pub struct QemuLab<'a> {
    /// The surroundings.
    pub job: Job<'a>,
    /// One QEMU for each architecture that is booted.
    pub qemus: Vec<Qemu>,
    /// Takes a folder for each boot.
    pub folder: Utf8PathBuf,
    /// The guest's CPUs.
    pub cpus: u32,
    /// The guest's memory in MiB.
    pub memory_mib: u32,
    /// How long to wait for what.
    pub limits: Limits,
    /// Texts of splats that do not break a boot.
    pub allowed_splats: Vec<String>,
}

impl QemuLab<'_> {
    fn start(&self, order: &Order) -> Result<Start, Failure> {
        let Order { machine, seed, turn } = *order;
        let qemu = self.qemus.iter().find(|qemu| qemu.arch == machine.arch);
        let qemu = qemu.ok_or_else(|| Failure::internal(format!("no QEMU was found for {}", machine.arch)))?;
        let again = if turn == 0 { String::new() } else { format!(" turn {turn}") };
        Ok(Start {
            qemu: qemu.clone(),
            image: machine.image.clone(),
            initramfs: machine.initramfs.clone(),
            seed,
            run: machine.run.clone(),
            clock: machine.clock,
            accelerator: machine.accelerator,
            cpus: self.cpus,
            memory_mib: self.memory_mib,
            folder: self.folder.join(format!("{}-{seed}-{}", machine.arch, &order.address()[..12])),
            limits: self.limits.clone(),
            allowed_splats: self.allowed_splats.clone(),
            subject: format!("{} seed {seed}{again}", machine.name),
        })
    }
}

impl QemuLab<'_> {
    /// Looks whether KVM runs what is to be booted; `device` is [`boot::KVM`].
    ///
    /// # Errors
    ///
    /// As [`Lab::boot`]. That KVM does not work is no error.
    pub fn probe_kvm(&self, machine: &Machine, device: &Utf8Path) -> Result<Kvm, Failure> {
        let start = self.start(&Order { machine, seed: 1, turn: 0 })?;
        let folder = self.folder.join(format!("kvm-{}", machine.arch));
        boot::probe_kvm(&Start { folder, ..start }, device, &self.job)
    }
}

impl Lab for QemuLab<'_> {
    fn boot(&self, order: &Order) -> Result<Reading, Failure> {
        let guest = match boot::boot(&self.start(order)?, &self.job)? {
            Outcome::Broken(failure) => return Ok(Reading::Broken(failure)),
            Outcome::Ended(guest) => guest,
        };
        let read = read(&fs_err::read(&guest.results)?);
        let checked = read.and_then(|results| {
            results.answer(&order.machine.run, order.seed)?;
            results.with_cpus(self.cpus)?;
            Ok(results)
        });
        Ok(match checked {
            Ok(results) => Reading::Read { results, guest },
            Err(lost) => Reading::Lost { lost, guest },
        })
    }
}
