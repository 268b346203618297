//! What `nspatch test` was asked to do.

use camino::Utf8PathBuf;

use crate::arch::Arch;
use crate::catalogue::Catalogue;
use crate::compare;
use crate::measure::{Accelerator, Clock};
use crate::tree::Places;

/// All that decides what a run does and measures.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where patches, kconfigs and the guest come from.
    pub catalogue: Catalogue,
    /// Where trees are looked for.
    pub places: Places,
    /// The trees, as named on the command line; never empty.
    pub trees: Vec<String>,
    /// The patches, by name, file, folder or mail; all of the catalogue's if empty.
    pub patches: Vec<String>,
    /// The address of the list's archive that threads are fetched from.
    pub archive: String,
    /// The architectures, in the order of reports; never empty.
    pub architectures: Vec<Arch>,
    /// The compiler, by the name that it has for this machine's own architecture; gcc if `None`.
    pub compiler: Option<String>,
    /// The benchmarks; all of the catalogue's if empty.
    pub benchmarks: Vec<String>,
    /// Settings of benchmarks that differ from the shipped ones.
    pub parameters: Vec<Parameter>,
    /// Benchmarks that are measured at several values of a parameter.
    pub sweeps: Vec<Sweep>,
    /// What measures the time in the guest.
    pub clock: Clock,
    /// What runs the guest's instructions; if `None` TCG on the virtual clock, and on the wall clock KVM where it works.
    pub accelerator: Option<Accelerator>,
    /// From how many builds of the same source it is measured how far code that comes to lie elsewhere moves a benchmark; 0
    /// for not at all.
    pub layout: u32,
    /// How many compilers, or boots, run side by side.
    pub jobs: usize,
    /// How verdicts are found, and after how many boots of each side.
    pub compare: compare::Settings,
    /// Texts of splats that do not break a boot: a splat is allowed if one stands in its first line.
    pub allowed_splats: Vec<String>,
    /// How many times the usual limits a boot gets before it counts as one that does not end.
    pub patience: f64,
    /// The run folder; it may be there, but hold no run.
    pub out: Utf8PathBuf,
    /// The command line, as typed; for the record.
    pub command: Vec<String>,
    /// When the run was started, in RFC 3339; for the record.
    pub started: String,
}

/// A benchmark at several values of one of its own parameters, to see how its time grows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The benchmark.
    pub benchmark: String,
    /// The parameter.
    pub name: String,
    /// Its values, in rising order, each once; at least three.
    pub values: Vec<i64>,
}

/// A setting of a benchmark: one of its parameters, or `operations`, `repeats` or `warmups`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The benchmark.
    pub benchmark: String,
    /// The setting.
    pub name: String,
    /// Its value.
    pub value: i64,
}
