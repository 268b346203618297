//! The boots of a run: every comparison's two kernels, interleaved, equal boots made once; and on the
//! virtual clock each of them once more, as only a boot that gives the same numbers twice counts.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::Settings;
use super::cases::{Case, Cases};
use super::kernels::{Equipment, Kernels};
use crate::apply::Revision;
use crate::arch::Arch;
use crate::blame::Failure;
use crate::boot::{Limits, Qemu};
use crate::build::Image;
use crate::event::Stage;
use crate::job::Job;
use crate::measure::{self, Booted, Clock, Confirmed, Difference, Machine, Order, Pair, QemuLab};

/// The guest's memory in MiB: enough for 2^15 mounts, and little to set up.
const MEMORY_MIB: u32 = 256;
/// The guest's CPUs: with one alone, some kernels skip the waits that are to be measured.
const CPUS: u32 = 2;

/// One comparison on one architecture with both kernels built.
pub(super) struct Match<'a> {
    pub case: &'a Case,
    pub arch: Arch,
    /// None where the case has none.
    pub baseline: Option<&'a Image>,
    pub candidate: &'a Image,
}

/// The comparisons whose kernels are all there.
pub(super) fn matches<'a>(cases: &'a Cases, settings: &Settings, kernels: &'a Kernels) -> Vec<Match<'a>> {
    let image = |revision: &Revision, arch: Arch| kernels.get(&(revision.commit.clone(), arch));
    let of_case = |case: &'a Case| {
        settings.architectures.iter().filter_map(move |&arch| {
            let baseline = case.baseline.as_ref().map(|revision| image(revision, arch));
            // A baseline that was not built is not the same as none
            let baseline = match baseline {
                Some(built) => Some(built?),
                None => None,
            };
            Some(Match { case, arch, baseline, candidate: image(&case.candidate, arch)? })
        })
    };
    cases.cases.iter().flat_map(of_case).collect()
}

/// What the boots of one comparison gave.
pub(super) struct Heard {
    pub booted: Vec<Booted>,
}

/// Makes all boots.
pub(super) fn boot_all(
    matches: &[Match<'_>],
    settings: &Settings,
    equipment: &BTreeMap<Arch, Equipment>,
    run: &str,
    lab: &QemuLab<'_>,
) -> Result<Vec<Heard>, Failure> {
    let pairs = matches.iter().map(|one| pair(one, settings, equipment, run)).collect::<Result<Vec<_>, _>>()?;
    let differed = |order: &Order<'_>, difference: &Difference| {
        let what = format!("two boots of {} with seed {} differ ({difference})", order.machine.name, order.seed);
        lab.job.notice(Stage::Boot, what, Some("it is booted until two agree; a busy machine can cause this"));
    };
    let booted = match settings.clock {
        Clock::Virtual => {
            measure::run(&pairs, &seeds(settings), settings.jobs, &Confirmed { lab, differed: &differed })
        }
    };
    Ok(booted?.into_iter().map(|booted| Heard { booted }).collect())
}

/// The lab of a run, with the QEMUs of its architectures.
pub(super) fn lab<'a>(qemus: Vec<Qemu>, folder: &Utf8Path, job: Job<'a>) -> QemuLab<'a> {
    QemuLab {
        job,
        qemus,
        folder: folder.join("boots"),
        cpus: CPUS,
        memory_mib: MEMORY_MIB,
        limits: Limits::default(),
        allowed_splats: Vec::new(),
    }
}

/// The seeds of the boots: 1, 2, 3, ... so that every run has the same.
pub(super) fn seeds(settings: &Settings) -> Vec<u64> {
    (1..=settings.boots.into()).collect()
}

fn pair(
    one: &Match<'_>,
    settings: &Settings,
    equipment: &BTreeMap<Arch, Equipment>,
    run: &str,
) -> Result<Pair, Failure> {
    let rootfs = &equipment
        .get(&one.arch)
        .ok_or_else(|| Failure::internal(format!("there is no guest for {}", one.arch)))?
        .rootfs;
    let machine = |image: &Image, revision: &Revision| Machine {
        name: format!("{} {}", one.arch, revision.variant),
        arch: one.arch,
        clock: settings.clock,
        image: image.path.clone(),
        image_digest: image.sha256.clone(),
        initramfs: rootfs.path.clone(),
        initramfs_digest: rootfs.sha256.clone(),
        run: run.to_owned(),
    };
    Ok(Pair {
        baseline: one.baseline.zip(one.case.baseline.as_ref()).map(|(image, revision)| machine(image, revision)),
        candidate: machine(one.candidate, &one.case.candidate),
    })
}
