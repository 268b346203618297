//! Two runs judged against each other, where what they measured can be compared.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use super::findings::Findings;
use super::judging;
use super::kept::Kept;
use crate::apply::Variant;
use crate::arch::Arch;
use crate::blame::Failure;
use crate::compare::Reason;
use crate::event::StageTimes;
use crate::measure::{Booted, Clock, Side};
use crate::report::{Asked, Comparison, Host, Image, Layout, Run};

/// What two runs may differ in, if it is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Despite {
    /// QEMU's version.
    Qemu,
    /// The compiler.
    Compiler,
    /// The guest: init and the benchmarks.
    Guest,
    /// The kernel's configuration.
    Config,
}

/// Judges what a later run measured by what an earlier one did of the same: the trees as they are, and each edit
/// that both made. What was not measured under equal conditions is not comparable, and the row says why.
///
/// # Errors
///
/// A folder holds no finished run, or the two have nothing in common.
pub fn across(earlier: &Utf8Path, later: &Utf8Path, despite: &[Despite]) -> Result<Run, Failure> {
    let (earlier, later) = (Kept::read(earlier)?, Kept::read(later)?);
    let (ones, others) = (measured(&earlier), measured(&later));
    let of_both = |one: &(Key, Measured<'_>)| others.iter().any(|(key, _)| *key == one.0);
    if !ones.iter().any(of_both) {
        return Err(nothing_in_common(&ones, &others));
    }
    let mut trials = Vec::new();
    for (key, one) in ones.iter().filter(|one| of_both(one)) {
        let other = others.iter().filter(|(other, _)| other == key).map(|(_, other)| other);
        for other in other {
            trials.push(Trial::new(key, (&earlier, one), (&later, other), despite)?);
        }
    }
    let mut settings = later.run.settings.clone();
    let known = &later.run.settings.allowed_splats;
    let other = earlier.run.settings.allowed_splats.iter().filter(|text| !known.contains(text));
    settings.allowed_splats.extend(other.cloned());
    let findings: Vec<_> = trials.iter().map(Trial::findings).collect();
    let rows = judging::judge(&findings, &settings.compare).rows(&findings);
    let splats = findings.iter().flat_map(Findings::splats).collect();
    let trees = earlier.run.trees.into_iter().chain(later.run.trees).collect();
    let mut layouts: Vec<Layout> = Vec::new();
    for layout in trials.iter().flat_map(|trial| &trial.layouts) {
        if !layouts.contains(layout) {
            layouts.push(layout.clone());
        }
    }
    let comparisons = findings.iter().map(Findings::compared).collect();
    let nothing = (Vec::new(), StageTimes::default());
    let (failures, stages) = nothing;
    let command = std::env::args().collect();
    let growths = judging::growths(&rows);
    Ok(Run {
        rows,
        growths,
        trees,
        layouts,
        comparisons,
        failures,
        splats,
        settings,
        stages,
        command,
        wall_seconds: 0.0,
        nspatch_cpu_seconds: 0.0,
        ..later.run
    })
}

/// What was measured: which variant of which tree, on which architecture. The tree's name counts where a run has
/// several.
type Key = (String, Option<String>, Arch);

/// One side of a comparison of a run.
struct Measured<'a> {
    comparison: &'a Comparison,
    image: &'a Image,
    side: Side,
    booted: &'a [Booted],
}

fn measured(kept: &Kept) -> Vec<(Key, Measured<'_>)> {
    let several = kept.run.trees.len() > 1;
    let mut found: Vec<(Key, Measured<'_>)> = Vec::new();
    for (comparison, booted) in kept.run.comparisons.iter().zip(&kept.booted) {
        let baseline = comparison.baseline.as_ref().map(|image| (Side::Baseline, image));
        for (side, image) in baseline.into_iter().chain([(Side::Candidate, &comparison.candidate)]) {
            let what = match image.variant {
                Variant::Base => "base".to_owned(),
                variant => format!("{} {variant}", comparison.patch),
            };
            let key = (what, several.then(|| comparison.tree.clone()), comparison.arch);
            // Several patches share one tree as it is
            if found.iter().all(|(known, _)| *known != key) {
                found.push((key, Measured { comparison, image, side, booted }));
            }
        }
    }
    found
}

fn nothing_in_common(ones: &[(Key, Measured<'_>)], others: &[(Key, Measured<'_>)]) -> Failure {
    let list = |of: &[(Key, Measured<'_>)]| {
        let names = of.iter().map(|((what, tree, arch), _)| match tree {
            Some(tree) => format!("{what} of {tree} on {arch}"),
            None => format!("{what} on {arch}"),
        });
        names.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    };
    Failure::usage("the two runs measured nothing that is the same")
        .hint(format!("the first has {}", list(ones)))
        .hint(format!("the second has {}", list(others)))
}

/// The two sides, as one comparison.
struct Trial {
    comparison: Comparison,
    asked: Vec<Asked>,
    booted: Vec<Booted>,
    /// What both runs know of layouts.
    layouts: Vec<Layout>,
    refusal: Option<Reason>,
}

impl Trial {
    fn new(
        key: &Key,
        (earlier, one): (&Kept, &Measured<'_>),
        (later, other): (&Kept, &Measured<'_>),
        despite: &[Despite],
    ) -> Result<Self, Failure> {
        let comparison = Comparison {
            patch: key.0.clone(),
            tree: format!("{} -> {}", one.comparison.tree, other.comparison.tree),
            state: format!("{} by {}", later.folder, earlier.folder),
            baseline: Some(one.image.clone()),
            candidate: other.image.clone(),
            ..other.comparison.clone()
        };
        let (mine, theirs) = (earlier.asked(one.comparison), later.asked(other.comparison));
        let both = |asked: &Asked| {
            mine.iter().any(|own| (&own.benchmark, &own.parameters) == (&asked.benchmark, &asked.parameters))
        };
        let asked = theirs.into_iter().filter(both).map(|asked| Asked { mail: None, ..asked }).collect();
        let refusal = difference((earlier, one), (later, other), despite)?;
        let of = |kept: &'_ Kept, side: &Measured<'_>| {
            let own = (side.comparison.tree.clone(), side.comparison.arch);
            let known = kept.run.layouts.iter().filter(move |one| (&one.tree, one.arch) == (&own.0, own.1)).cloned();
            known.collect::<Vec<_>>()
        };
        let known = of(earlier, one).into_iter().chain(of(later, other));
        let layouts = known.map(|layout| Layout { tree: comparison.tree.clone(), ..layout }).collect();
        Ok(Trial { comparison, asked, booted: of_both(one, other), layouts, refusal })
    }

    fn findings(&self) -> Findings<'_> {
        let Trial { comparison, asked, booted, layouts, refusal } = self;
        Findings { comparison, asked, booted, layouts, refusal: refusal.clone() }
    }
}

/// The boots of the seeds that both have.
fn of_both(one: &Measured<'_>, other: &Measured<'_>) -> Vec<Booted> {
    let of = |measured: &Measured<'_>, side: Side| -> Vec<Booted> {
        let own = measured.booted.iter().filter(|booted| booted.side == measured.side);
        own.map(|booted| Booted { side, ..booted.clone() }).collect()
    };
    let (mut earlier, mut later) = (of(one, Side::Baseline), of(other, Side::Candidate));
    let has = |boots: &[Booted], seed: u64| boots.iter().any(|booted| booted.seed == seed);
    let shared: BTreeSet<u64> = earlier.iter().map(|booted| booted.seed).filter(|seed| has(&later, *seed)).collect();
    earlier.retain(|booted| shared.contains(&booted.seed));
    later.retain(|booted| shared.contains(&booted.seed));
    earlier.into_iter().chain(later).collect()
}

/// The first thing that must be equal and is not, unless it is named as one that may differ.
fn difference(
    (earlier, one): (&Kept, &Measured<'_>),
    (later, other): (&Kept, &Measured<'_>),
    despite: &[Despite],
) -> Result<Option<Reason>, Failure> {
    let arch = one.comparison.arch;
    let qemu = |kept: &Kept| kept.run.host.qemu.get(&arch).cloned().unwrap_or_default();
    let facts = [
        (None, "the clock", one.comparison.clock.to_string(), other.comparison.clock.to_string()),
        (None, "the accelerator", one.comparison.accelerator.to_string(), other.comparison.accelerator.to_string()),
        (None, "QEMU's machine", one.comparison.machine.clone(), other.comparison.machine.clone()),
        (None, "the host", host(earlier, one), host(later, other)),
        (Some(Despite::Qemu), "QEMU's version", qemu(earlier), qemu(later)),
        (Some(Despite::Compiler), "the compiler", one.image.toolchain.clone(), other.image.toolchain.clone()),
        (Some(Despite::Guest), "the guest", short(&one.comparison.guest_sha256), short(&other.comparison.guest_sha256)),
    ];
    let counts = |what: &Option<Despite>| what.is_none_or(|what| !despite.contains(&what));
    let differing = facts.into_iter().find(|(what, _, one, other)| counts(what) && one != other);
    if let Some((_, what, baseline, candidate)) = differing {
        return Ok(Some(Reason::ConditionsDiffer { what: what.to_owned(), baseline, candidate }));
    }
    if !counts(&Some(Despite::Config)) || one.image.config_sha256 == other.image.config_sha256 {
        return Ok(None);
    }
    let config = |kept: &Kept, image: &Image| -> Result<BTreeMap<String, String>, Failure> {
        Ok(symbols(&fs_err::read_to_string(kept.folder.join("configs").join(&image.config_sha256))?))
    };
    Ok(differing_symbol(&config(earlier, one.image)?, &config(later, other.image)?))
}

/// As much of a sum as tells it from others.
fn short(sum: &str) -> String {
    sum.get(..12).unwrap_or(sum).to_owned()
}

/// The host, where it is part of what was measured.
fn host(kept: &Kept, measured: &Measured<'_>) -> String {
    let Host { cpus, cpu, .. } = &kept.run.host;
    match measured.comparison.clock {
        Clock::Virtual => "any".to_owned(),
        Clock::Wall => format!("{cpus} x {}", cpu.as_deref().unwrap_or("unknown")),
    }
}

/// The symbols of a resolved configuration that are on, without those that only say with what and when it was made.
fn symbols(config: &str) -> BTreeMap<String, String> {
    const OF_THE_BUILD: [&str; 9] = [
        "CC_VERSION_TEXT",
        "GCC_VERSION",
        "CLANG_VERSION",
        "AS_VERSION",
        "LD_VERSION",
        "LLD_VERSION",
        "RUSTC_VERSION",
        "RUSTC_LLVM_VERSION",
        "PAHOLE_VERSION",
    ];
    let line = |line: &str| {
        let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
        (!OF_THE_BUILD.contains(&name)).then(|| (name.to_owned(), value.to_owned()))
    };
    config.lines().filter_map(line).collect()
}

fn differing_symbol(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Option<Reason> {
    let value = |of: &BTreeMap<String, String>, name: &str| of.get(name).cloned().unwrap_or_else(|| "off".to_owned());
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differing = names.into_iter().find(|name| one.get(*name) != other.get(*name))?;
    Some(Reason::ConditionsDiffer {
        what: format!("CONFIG_{differing}"),
        baseline: value(one, differing),
        candidate: value(other, differing),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_what_is_on_and_not_with_what_it_was_made() {
        let one = symbols("# Linux/x86 6.12.9 Kernel Configuration\nCONFIG_HZ=250\nCONFIG_GCC_VERSION=120200\n");
        let other = symbols("# Linux/x86 6.12.10\nCONFIG_HZ=250\nCONFIG_GCC_VERSION=130200\n# CONFIG_NEW is not set\n");
        assert_eq!(differing_symbol(&one, &other), None);
        let faster = symbols("CONFIG_HZ=250\nCONFIG_IPC_NS=y\n");
        let Some(Reason::ConditionsDiffer { what, baseline, candidate }) = differing_symbol(&one, &faster) else {
            panic!("no difference was found");
        };
        assert_eq!((what.as_str(), baseline.as_str(), candidate.as_str()), ("CONFIG_IPC_NS", "off", "y"));
    }
}
