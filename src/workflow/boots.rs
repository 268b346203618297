//! The boots of a run. On the virtual clock: every comparison's two kernels, several at once, equal boots made once, and each
//! of them once more, as only a boot that gives the same numbers twice counts. On the wall clock: one by one.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::Settings;
use super::cases::{Case, Cases};
use super::findings::{image, own_parameters};
use super::kernels::{Equipment, Kernels};
use crate::apply::Revision;
use crate::arch::Arch;
use crate::blame::Failure;
use crate::boot::{self, KVM, Kvm, Limits, Qemu};
use crate::build::Image;
use crate::event::Stage;
use crate::job::Job;
use crate::measure::{self, Accelerator, Booted, Clock, Confirmed, Difference, Machine, Order, Pair, QemuLab};
use crate::report::{Asked, Comparison, Figures};
use crate::rootfs::{Planned, Rootfs};
use crate::source::{Figure, Patch};

/// The guest's memory in MiB: enough for 2^15 mounts, and little to set up.
pub(super) const MEMORY_MIB: u32 = 256;
/// The guest's CPUs: with one alone, some kernels skip the waits that are to be measured.
pub(super) const CPUS: u32 = 2;

/// One comparison on one architecture with both kernels built.
pub(super) struct Match<'a> {
    pub case: &'a Case,
    pub arch: Arch,
    /// None where the case has none.
    pub baseline: Option<&'a Image>,
    pub candidate: &'a Image,
    /// The guest of both.
    pub guest: &'a Rootfs,
}

/// The comparisons whose kernels are all there.
pub(super) fn matches<'a>(
    cases: &'a Cases,
    settings: &Settings,
    kernels: &'a Kernels,
    equipment: &'a BTreeMap<Arch, Equipment>,
) -> Vec<Match<'a>> {
    let built = |revision: &Revision, arch: Arch| kernels.get(&(revision.commit.clone(), arch));
    let of_case = |case: &'a Case| {
        settings.architectures.iter().filter_map(move |&arch| {
            // A baseline that was not built is not the same as none
            let baseline = match &case.baseline {
                Some(revision) => Some(built(revision, arch)?),
                None => None,
            };
            Some(Match {
                case,
                arch,
                baseline,
                candidate: built(&case.candidate, arch)?,
                guest: &equipment.get(&arch)?.rootfs,
            })
        })
    };
    cases.cases.iter().flat_map(of_case).collect()
}

impl Match<'_> {
    /// The comparison as reports have it; `tree` by its name.
    pub(super) fn comparison(&self, patch: &Patch, tree: &str, machine: &Machine) -> Comparison {
        let Match { case, arch, baseline, candidate, guest } = self;
        Comparison {
            patch: patch.name.clone(),
            tree: tree.to_owned(),
            state: case.standing.sentence(),
            arch: *arch,
            clock: machine.clock,
            accelerator: machine.accelerator,
            machine: boot::machine(machine.accelerator, machine.arch, CPUS, MEMORY_MIB),
            guest_sha256: guest.sha256.clone(),
            guest: None,
            surroundings: None,
            baseline: baseline.zip(case.baseline.as_ref()).map(|(built, revision)| image(revision, built)),
            candidate: image(&case.candidate, candidate),
        }
    }

    /// What is asked of both sides: every benchmark, or without a baseline those that show what the patch is about.
    pub(super) fn asked(&self, patch: &Patch, planned: &[Planned]) -> Vec<Asked> {
        let one = |planned: &Planned| Asked {
            benchmark: planned.benchmark.clone(),
            parameters: own_parameters(planned),
            shows: patch.benchmarks().is_some_and(|names| names.contains(&planned.benchmark)),
            mail: figures(patch, planned),
        };
        planned.iter().map(one).filter(|asked| self.baseline.is_some() || asked.shows).collect()
    }
}

fn figures(patch: &Patch, planned: &Planned) -> Option<Figures> {
    let figures = &patch.about.as_ref()?.figures;
    let is_of = |figure: &&Figure| {
        let as_set =
            |(name, value): (&String, &u64)| planned.settings.get(name).is_some_and(|set| *set == *value as i64);
        figure.benchmark == planned.benchmark && figure.parameters.iter().all(as_set)
    };
    let figure = figures.iter().find(is_of)?;
    let settings = figure.parameters.iter().map(|(name, value)| format!(", {name}={value}")).collect::<String>();
    let per = format!("{} for {}{settings}", figure.unit, figure.operations);
    Some(Figures { before: format!("{} {per}", figure.before), after: format!("{} {per}", figure.after) })
}

/// Makes the boots of so many pairs, those after the first `made`, for each comparison.
pub(super) fn boot_all(
    pairs: &[Pair],
    settings: &Settings,
    (made, wanted): (u32, u32),
    lab: &QemuLab<'_>,
) -> Result<Vec<Vec<Booted>>, Failure> {
    let differed = |order: &Order<'_>, difference: &Difference| {
        let what = format!("two boots of {} with seed {} differ ({difference})", order.machine.name, order.seed);
        lab.job.notice(Stage::Boot, what, Some("it is booted until two agree; a busy machine can cause this"));
    };
    // 1, 2, 3, ... so that every run has the same
    let seeds: Vec<u64> = (made + 1..=wanted).map(u64::from).collect();
    match settings.clock {
        Clock::Virtual => measure::run(pairs, &seeds, settings.jobs, &Confirmed { lab, differed: &differed }),
        Clock::Wall => measure::alternate(pairs, &seeds, &settings.started, lab, &|order| tell_coarse(order, lab.job)),
    }
}

pub(super) fn tell_coarse(order: &Order<'_>, job: Job<'_>) {
    let what = format!("the guest of {} with seed {} found no fine clock", order.machine.name, order.seed);
    job.notice(
        Stage::Boot,
        what,
        Some("it is booted again: in real time under TCG a kernel cannot always calibrate its CPUs' counter"),
    );
}

/// What runs the guests of an architecture, and why that is not KVM, where it was tried.
///
/// # Errors
///
/// KVM was asked for and does not work, or an interrupt.
pub(super) fn accelerator(
    machine: &Machine,
    settings: &Settings,
    lab: &QemuLab<'_>,
) -> Result<(Accelerator, Option<String>), Failure> {
    if settings.clock == Clock::Virtual || settings.accelerator == Some(Accelerator::Tcg) {
        return Ok((Accelerator::Tcg, None));
    }
    let (why, hint) = match lab.probe_kvm(machine, KVM.into())? {
        Kvm::Runs => return Ok((Accelerator::Kvm, None)),
        Kvm::Fails { why, hint } => (why, hint),
    };
    let what = format!("KVM runs no guests of {} here: {why}", machine.arch);
    if settings.accelerator == Some(Accelerator::Kvm) {
        let failure =
            Failure::host(what).at("--accel").hint("--accel tcg measures what QEMU's translation makes of it");
        return Err(hint.into_iter().fold(failure, Failure::hint));
    }
    lab.job.notice(Stage::Boot, format!("{what}; TCG runs them"), hint.as_deref());
    Ok((Accelerator::Tcg, Some(why)))
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

/// The machines that are booted for one comparison; `run` is the plan of the guest.
pub(super) fn pair(one: &Match<'_>, settings: &Settings, run: &str) -> Pair {
    let machine = |image: &Image, revision: &Revision| Machine {
        name: format!("{} {}", one.arch, revision.variant),
        arch: one.arch,
        clock: settings.clock,
        accelerator: Accelerator::Tcg,
        image: image.path.clone(),
        image_digest: image.sha256.clone(),
        initramfs: one.guest.path.clone(),
        initramfs_digest: one.guest.sha256.clone(),
        run: run.to_owned(),
    };
    Pair {
        baseline: one.baseline.zip(one.case.baseline.as_ref()).map(|(image, revision)| machine(image, revision)),
        candidate: machine(one.candidate, &one.case.candidate),
    }
}
