//! The kernels of a run: every revision on every architecture, each built once.

use std::collections::BTreeMap;

use super::Settings;
use super::cases::{Case, Cases};
use crate::apply::{Revision, Variant};
use crate::arch::Arch;
use crate::blame::{Blame, Failure};
use crate::build::{self, Bench, Image, Kconfig, Outcome, Request, Toolchain, Wanted, Workbench};
use crate::catalogue::Catalogue;
use crate::event::Stage;
use crate::interrupt;
use crate::job::Job;
use crate::report::Trouble;
use crate::rootfs::{self, Benchmark, Rootfs};
use crate::source::Patch;
use crate::tree::{Tree, Workshop};

/// What an architecture's kernels and guests are made with.
pub(super) struct Equipment {
    pub toolchain: Toolchain,
    pub kconfig: Kconfig,
    pub rootfs: Rootfs,
}

/// Finds the compilers, reads the configurations and packs the guests. Cheap, and whatever is
/// missing shows before the first build.
///
/// All patches and benchmarks of a run share one configuration, so that they share kernels too.
pub(super) fn equip(
    settings: &Settings,
    patches: &[Patch],
    benchmarks: &[Benchmark],
    job: Job<'_>,
) -> Result<BTreeMap<Arch, Equipment>, Failure> {
    let one = |arch: &Arch| {
        let equipment = equip_one(*arch, settings.compiler.clone(), &settings.catalogue, patches, benchmarks, job)?;
        Ok((*arch, equipment))
    };
    settings.architectures.iter().map(one).collect()
}

/// The equipment of one architecture.
pub(super) fn equip_one(
    arch: Arch,
    compiler: Option<String>,
    catalogue: &Catalogue,
    patches: &[Patch],
    benchmarks: &[Benchmark],
    job: Job<'_>,
) -> Result<Equipment, Failure> {
    let toolchain = Toolchain::find(arch, &Wanted { compiler, ..Wanted::default() })?;
    let mut kconfig = Kconfig::load(catalogue, arch, &[])?;
    for patch in patches {
        kconfig =
            kconfig.require(patch.kconfig().iter().map(String::as_str), &format!("patch {}", patch.name), true)?;
    }
    for benchmark in benchmarks {
        let symbols = benchmark.kconfig.iter().map(String::as_str);
        kconfig = kconfig.require(symbols, &format!("benchmark {}", benchmark.name), true)?;
    }
    let rootfs = rootfs::pack(catalogue, &toolchain, job)?;
    Ok(Equipment { toolchain, kconfig, rootfs })
}

/// A built kernel, or why there is none. The key is the revision's commit and the architecture.
pub(super) type Kernels = BTreeMap<(String, Arch), Image>;

/// Builds what the cases need. A kernel that does not build is a trouble, and the rest goes on.
pub(super) fn build_all(
    cases: &Cases,
    equipment: &BTreeMap<Arch, Equipment>,
    jobs: usize,
    job: Job<'_>,
) -> Result<(Kernels, Vec<Trouble>), Failure> {
    let mut kernels = Kernels::new();
    let mut troubles = Vec::new();
    for (place, tree) in cases.trees.iter().enumerate() {
        let mut workbench = Lease { tree, workshop: None };
        for (case, revision) in revisions(cases, place) {
            for (arch, equipment) in equipment {
                interrupt::check()?;
                let request = Request { jobs, ..Request::new(revision, &equipment.kconfig, &equipment.toolchain) };
                match build::build(&request, &mut workbench, job)? {
                    Outcome::Built(image) => {
                        kernels.insert((revision.commit.clone(), *arch), image);
                    }
                    Outcome::Broken(broken) => {
                        let mut trouble = Trouble {
                            patch: (revision.variant != Variant::Base).then(|| cases.patches[case.patch].name.clone()),
                            tree: Some(tree.name.clone()),
                            arch: Some(*arch),
                            variant: Some(revision.variant),
                            stage: Some(Stage::Build),
                            failure: broken.failure(),
                        };
                        absolve(&mut trouble, &troubles);
                        troubles.push(trouble);
                    }
                }
            }
        }
    }
    Ok((kernels, troubles))
}

/// Builds one kernel of a tree.
pub(super) fn build_one(
    tree: &Tree,
    revision: &Revision,
    equipment: &Equipment,
    jobs: usize,
    job: Job<'_>,
) -> Result<Outcome, Failure> {
    let request = Request { jobs, ..Request::new(revision, &equipment.kconfig, &equipment.toolchain) };
    build::build(&request, &mut Lease { tree, workshop: None }, job)
}

/// Takes the blame off a patch where the tree without it does not build either.
fn absolve(trouble: &mut Trouble, known: &[Trouble]) {
    let of_base = |other: &&Trouble| {
        other.variant == Some(Variant::Base) && (&other.tree, other.arch) == (&trouble.tree, trouble.arch)
    };
    if trouble.failure.blame == Blame::Patch
        && let Some(base) = known.iter().find(of_base)
    {
        trouble.failure.blame = base.failure.blame;
    }
}

/// A tree's revisions, each once, `base` first: then every edit is a small step from it.
fn revisions(cases: &Cases, tree: usize) -> Vec<(&Case, &Revision)> {
    let own = cases.cases.iter().filter(|case| case.tree == tree);
    let mut found: Vec<(&Case, &Revision)> =
        own.flat_map(|case| case.baseline.iter().chain([&case.candidate]).map(move |one| (case, one))).collect();
    found.sort_by_key(|(case, revision)| (revision.variant != Variant::Base, case.patch));
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|(_, revision)| seen.insert(revision.commit.as_str()));
    found
}

/// Leases a checkout when the first kernel really has to be built, and keeps it for the rest.
struct Lease<'a> {
    tree: &'a Tree,
    workshop: Option<Workshop>,
}

impl Workbench for Lease<'_> {
    fn prepare(&mut self, revision: &Revision, objects: &str, job: Job<'_>) -> Result<Bench, Failure> {
        let workshop = match self.workshop.take() {
            Some(workshop) => workshop,
            None => Workshop::lease(self.tree, job)?,
        };
        let workshop = self.workshop.insert(workshop);
        workshop.lay(&revision.commit, job)?;
        Ok(Bench {
            source: workshop.source().to_owned(),
            objects: workshop.objects(objects)?,
            lease: Some(workshop.lease_file()),
        })
    }
}
