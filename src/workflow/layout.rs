//! How far code that comes to lie elsewhere moves each benchmark: the tree as it is, built several times with other padding,
//! and each build booted several times. Only then can a change be told from what any rebuild does.

use std::collections::BTreeMap;

use super::boots::{self, Match};
use super::cases::Cases;
use super::kernels::{self, Equipment};
use super::record::Record;
use super::{Settings, findings};
use crate::apply;
use crate::arch::Arch;
use crate::blame::Failure;
use crate::build::{Image, Outcome};
use crate::compare;
use crate::event::Stage;
use crate::measure::{self, Booted, Machine, Pair, QemuLab, Sample};
use crate::report::{Layout, Trouble};
use crate::rootfs::Planned;

/// How often each build is booted.
const BOOTS: u64 = 4;

/// What it takes beside what the run has anyway.
pub(super) struct Means<'a> {
    pub settings: &'a Settings,
    pub cases: &'a Cases,
    pub equipment: &'a BTreeMap<Arch, Equipment>,
    pub lab: &'a QemuLab<'a>,
    pub record: &'a Record,
}

/// Builds and boots for each tree and architecture that is compared, and gives what each benchmark needs. A build that fails
/// is a trouble.
pub(super) fn measure(
    means: &Means<'_>,
    compared: &[(&Match<'_>, &Pair)],
    planned: &[Planned],
) -> Result<(Vec<Layout>, Vec<Trouble>), Failure> {
    let mut troubles = Vec::new();
    let mut places: Vec<(usize, Arch)> = Vec::new();
    let mut pairs = Vec::new();
    for (matched, pair) in compared {
        let place = (matched.case.tree, matched.arch);
        if !places.contains(&place) {
            for number in 1..=means.settings.layout {
                let machine = means.machine(place, number, &pair.candidate, &mut troubles)?;
                pairs.extend(machine.map(|candidate| (place, Pair { baseline: None, candidate })));
            }
            places.push(place);
        }
    }
    let (of, alone): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let seeds: Vec<u64> = (1..=BOOTS).collect();
    let coarse = |order: &measure::Order<'_>| boots::tell_coarse(order, means.lab.job);
    let booted = measure::alternate(&alone, &seeds, &means.settings.started, means.lab, &coarse)?;
    means.record.layouts(&booted)?;
    // What a kernel that dies measured in its other boots is no number: such a build does not count
    let mut sound = Vec::new();
    for (place, boots) in of.iter().zip(&booted) {
        match boots.iter().find_map(|booted| booted.reading.failure()) {
            Some(failure) => troubles.push(means.trouble(*place, failure, Stage::Boot)),
            None => sound.push((*place, boots)),
        }
    }
    let mut layouts = Vec::new();
    for place in places {
        let of_place: Vec<_> = sound.iter().filter(|(of, _)| *of == place).map(|(_, boots)| *boots).collect();
        layouts.extend(planned.iter().filter_map(|planned| means.layout(place, planned, &of_place)));
    }
    Ok((layouts, troubles))
}

impl Means<'_> {
    /// One build of a tree, as a machine like the given one.
    fn machine(
        &self,
        (tree, arch): (usize, Arch),
        number: u32,
        like: &Machine,
        troubles: &mut Vec<Trouble>,
    ) -> Result<Option<Machine>, Failure> {
        let place = (tree, arch);
        let (tree, job) = (&self.cases.trees[tree], self.lab.job);
        let Some(equipment) = self.equipment.get(&arch) else { return Ok(None) };
        let revision = apply::padded(tree, number, job)?;
        let image: Image = match kernels::build_one(tree, &revision, equipment, self.settings.jobs, job)? {
            Outcome::Built(image) => image,
            Outcome::Broken(broken) => {
                troubles.push(self.trouble(place, broken.failure(), Stage::Build));
                return Ok(None);
            }
        };
        let name = format!("{arch} base, layout {number}");
        Ok(Some(Machine { name, image: image.path, image_digest: image.sha256, ..like.clone() }))
    }

    /// What keeps the layout floor from being measured. It is about no patch.
    fn trouble(&self, (tree, arch): (usize, Arch), failure: Failure, stage: Stage) -> Trouble {
        Trouble {
            patch: None,
            tree: Some(self.cases.trees[tree].name.clone()),
            arch: Some(arch),
            variant: None,
            stage: Some(stage),
            failure: failure.hint(
                "the tree was only rebuilt with other padding, for --layout: what is measured rests on the other builds",
            ),
        }
    }

    fn layout(&self, (tree, arch): (usize, Arch), planned: &Planned, builds: &[&Vec<Booted>]) -> Option<Layout> {
        let parameters = findings::own_parameters(planned);
        let of_build = |boots: &&Vec<Booted>| -> Vec<Sample> {
            let readings = boots.iter().map(|booted| &booted.reading);
            readings.filter_map(|reading| reading.sample(&planned.benchmark, &parameters).cloned()).collect()
        };
        let found = compare::layout(&builds.iter().map(of_build).collect::<Vec<_>>());
        let tree = self.cases.trees[tree].name.clone();
        let benchmark = planned.benchmark.clone();
        let Some(layout) = found else {
            let what = format!(
                "the layout floor of {benchmark} on {arch} could not be measured: too few builds were booted and measured"
            );
            self.lab.job.notice(Stage::Boot, what, Some("the threshold stands in for it"));
            return None;
        };
        Some(Layout { tree, arch, benchmark, parameters, layout })
    }
}
