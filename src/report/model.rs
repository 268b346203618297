//! The model of one run: all that its report needs, so that it can be printed again from `run.json` alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::apply::Variant;
use crate::arch::Arch;
use crate::blame::Failure;
use crate::event::{Stage, StageTimes};
use crate::measure::{Accelerator, Clock};

use super::{Asked, Row};

/// The version of the model's shape. Raised when a key is added, removed, or changes its meaning.
pub const VERSION: u32 = 5;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// [`VERSION`].
    pub version: u32,
    /// nspatch's own version.
    pub nspatch: String,
    /// The command line, program first.
    pub command: Vec<String>,
    /// When it began, RFC 3339.
    pub started: String,
    /// The run folder, as it was named when the run was made.
    pub folder: String,
    /// The kernel sources.
    pub trees: Vec<TreeFacts>,
    /// What was asked for.
    pub settings: Settings,
    /// The machine.
    pub host: Host,
    /// The findings: one row for each benchmark of each comparison.
    pub rows: Vec<Row>,
    /// How times grow, for each benchmark that was measured at several values of a parameter.
    pub growths: Vec<Growth>,
    /// How far a new layout alone moves each benchmark, where it was measured.
    pub layouts: Vec<Layout>,
    /// What was compared with what.
    pub comparisons: Vec<Comparison>,
    /// What did not work.
    pub failures: Vec<Trouble>,
    /// What kernels complained of and was allowed.
    pub splats: Vec<Splat>,
    /// Where the time went.
    pub stages: StageTimes,
    /// Wall time of the whole run, in seconds.
    pub wall_seconds: f64,
    /// CPU time of nspatch itself, without its children, in seconds.
    pub nspatch_cpu_seconds: f64,
}

impl Run {
    /// Whether the run did not come to its end: then it has a failure that is about nothing in particular.
    pub fn is_cut(&self) -> bool {
        let of_all = |trouble: &Trouble| trouble.patch.is_none() && trouble.tree.is_none() && trouble.stage.is_none();
        self.failures.iter().any(of_all)
    }
}

/// A kernel source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeFacts {
    /// As the user named it.
    pub name: String,
    /// The commit, 40 hexadecimal digits.
    pub commit: String,
    /// The kernel's version by its Makefile.
    pub version: String,
    /// Where it came from.
    pub origin: String,
}

/// What a run was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How verdicts are found.
    pub compare: crate::compare::Settings,
    /// Texts that allowed a splat in whose first line they stand.
    pub allowed_splats: Vec<String>,
}

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// How many CPUs nspatch could use.
    pub cpus: u32,
    /// The name of its CPUs; none where the kernel has none.
    pub cpu: Option<String>,
    /// Why KVM ran no guests, by architecture, where it was tried.
    pub kvm_fails: BTreeMap<Arch, String>,
    /// QEMU's version by architecture.
    pub qemu: BTreeMap<Arch, String>,
}

/// Two variants of a tree on one architecture and one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The patch's name.
    pub patch: String,
    /// The tree, as the user named it.
    pub tree: String,
    /// How the patch stands to the tree: one line, lower case, no full stop.
    pub state: String,
    /// The architecture.
    pub arch: Arch,
    /// The clock.
    pub clock: Clock,
    /// What ran the guests' instructions.
    pub accelerator: Accelerator,
    /// QEMU's machine, CPUs and memory, as its arguments have them.
    pub machine: String,
    /// SHA-256 of the guest's root file system.
    pub guest_sha256: String,
    /// What the guests say of themselves; none where no boot came to its end.
    pub guest: Option<Guest>,
    /// What the host did during the boots; none where it does not tell.
    pub surroundings: Option<Surroundings>,
    /// What the other one is measured by; none where the patch can neither be put in nor taken out.
    pub baseline: Option<Image>,
    /// What is judged.
    pub candidate: Image,
}

/// The guest as an instrument: what it is, and how fine its clock is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guest {
    /// Its CPUs.
    pub cpus: u32,
    /// Its memory in KiB.
    pub memory_kib: u64,
    /// The clock source's name; none where the kernel does not say.
    pub clocksource: Option<String>,
    /// One tick in ns.
    pub tick_ns: u64,
    /// The smallest step of the clock that was seen, in ns: the largest of all boots.
    pub clock_resolution_ns: u64,
    /// What one reading of the clock costs, in ns: the most of all boots.
    pub clock_overhead_ns: u64,
}

/// What the host did during the boots of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surroundings {
    /// The least load average at the beginning of a boot.
    pub least_load: f64,
    /// The most.
    pub most_load: f64,
    /// The largest part of the time of all CPUs that a hypervisor above the host gave to others during a boot, from 0 to 1.
    pub most_stolen: f64,
}

/// How a benchmark's time grows with one of its parameters, in each variant of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// The patch's name.
    pub patch: String,
    /// The tree, as the user named it.
    pub tree: String,
    /// The architecture.
    pub arch: Arch,
    /// The benchmark's name.
    pub benchmark: String,
    /// The parameter.
    pub parameter: String,
    /// Its values.
    pub values: Vec<i64>,
    /// How the baseline grows; none where it was not measured at three values.
    pub baseline: Option<crate::compare::Growth>,
    /// How the candidate grows; likewise.
    pub candidate: Option<crate::compare::Growth>,
}

impl Growth {
    /// Whether it belongs to a comparison.
    pub fn is_of(&self, comparison: &Comparison) -> bool {
        (&self.patch, &self.tree, self.arch) == (&comparison.patch, &comparison.tree, comparison.arch)
    }
}

/// How far building a tree again moves a benchmark on an architecture, because code comes to lie elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// The tree, as the user named it.
    pub tree: String,
    /// The architecture.
    pub arch: Arch,
    /// The benchmark's name.
    pub benchmark: String,
    /// The benchmark's parameters.
    pub parameters: BTreeMap<String, i64>,
    /// How far.
    pub layout: crate::compare::Layout,
}

impl Layout {
    /// The benchmark with its parameters.
    pub fn title(&self) -> String {
        super::rows::title(&self.benchmark, &self.parameters)
    }

    /// Whether it was measured for this.
    pub fn is_of(&self, comparison: &Comparison, asked: &Asked) -> bool {
        (&self.tree, self.arch) == (&comparison.tree, comparison.arch)
            && (&self.benchmark, &self.parameters) == (&asked.benchmark, &asked.parameters)
    }
}

/// One kernel image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// The variant.
    pub variant: Variant,
    /// The commit it was built from, 40 hexadecimal digits.
    pub commit: String,
    /// The commit's git tree.
    pub content: String,
    /// SHA-256 of the image.
    pub image_sha256: String,
    /// SHA-256 of the resolved kernel configuration.
    pub config_sha256: String,
    /// The compiler, as it names itself.
    pub toolchain: String,
}

/// A kernel's complaint of itself that did not break its boots, as it was allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Splat {
    /// The patch of the comparison.
    pub patch: String,
    /// The tree, as the user named it.
    pub tree: String,
    /// The architecture.
    pub arch: Arch,
    /// The variant whose kernel it was.
    pub variant: Variant,
    /// Its first line.
    pub message: String,
    /// How many boots showed it.
    pub boots: u32,
}

impl Splat {
    /// Whether it belongs to this comparison.
    pub fn is_of(&self, comparison: &Comparison) -> bool {
        let of = (&comparison.patch, &comparison.tree, comparison.arch);
        let baseline = comparison.baseline.as_ref().map(|image| image.variant);
        let sides = [baseline, Some(comparison.candidate.variant)];
        (&self.patch, &self.tree, self.arch) == of && sides.contains(&Some(self.variant))
    }
}

/// Something that did not work, and what it was about; what is not known is left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trouble {
    /// The patch.
    pub patch: Option<String>,
    /// The tree, as the user named it.
    pub tree: Option<String>,
    /// The architecture.
    pub arch: Option<Arch>,
    /// The variant.
    pub variant: Option<Variant>,
    /// The stage.
    pub stage: Option<Stage>,
    /// What happened, where, who owns it, and what to do next.
    pub failure: Failure,
}
