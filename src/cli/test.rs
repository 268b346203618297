//! `nspatch test`.

use camino::{Utf8Path, Utf8PathBuf};

use super::doctor;
use super::global::Global;
use super::output::{Format, show_run};
use super::patches::Patches;
use crate::arch::Arch;
use crate::blame::Failure;
use crate::compare::{self, Looks};
use crate::job::Job;
use crate::measure::{Accelerator, Clock};
use crate::store::file_in_the_way;
use crate::workflow::{self, Parameter, Settings, Sweep};

/// The tree that is tested where none is named.
pub(super) const DEFAULT_TREE: &str = "debian:6.12";

/// Build, boot and compare: does a patch make these operations faster or slower?
///
/// For each patch, tree and architecture, the state of the patch decides what is compared: with a
/// patch that applies, the tree against the patched tree; with one that was merged, the tree without
/// it against the tree. Both kernels boot several times with the same seeds, and each benchmark gets
/// a verdict. Finished builds are kept: the same command again goes on where it stopped.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch test --setup
      install what is missing, then test every shipped patch on the default tree
  nspatch test --tree debian:6.12 --patch ipc-free-work-queue --arch x86_64,arm64
  nspatch test --tree ~/src/linux --patch 0001-my-change.patch --bench setns-net
  nspatch test --bench umount-propagated --sweep umount-propagated.n=6,8,10,12
  nspatch test --clock wall --layout 6 --patch ipc-free-work-queue
  nspatch test --param umount-propagated.n=8 --seeds 5 --format json > result.json")]
pub(super) struct Args {
    /// A kernel source: debian:VERSION, a name that `nspatch trees` shows, a folder, a tarball's path or
    /// URL; may be repeated
    #[arg(long, value_name = "TREE", default_value = DEFAULT_TREE)]
    tree: Vec<String>,

    #[command(flatten)]
    patches: Patches,

    /// The architectures, with commas [default: all]
    #[arg(long, value_name = "ARCH,...", value_delimiter = ',')]
    arch: Vec<String>,

    /// The compiler of kernels and guests, such as gcc-9; with another architecture's prefix where that is needed
    #[arg(long, value_name = "PROGRAM")]
    cc: Option<String>,

    /// The benchmarks, with commas [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    bench: Vec<String>,

    /// A setting of a benchmark: one of its parameters, operations, repeats or warmups; may be
    /// repeated
    #[arg(long, value_name = "BENCH.NAME=NUMBER", value_parser = parameter)]
    param: Vec<Parameter>,

    /// Measure a benchmark at several values of one of its parameters, at least three, and say how its time grows; may be
    /// repeated for others
    #[arg(long, value_name = "BENCH.NAME=A,B,C", value_parser = sweep)]
    sweep: Vec<Sweep>,

    /// What measures time in the guest
    #[arg(long, value_enum, default_value_t = ClockChoice::Virtual)]
    clock: ClockChoice,

    /// What runs the guests on the wall clock; KVM is believed only when a guest has run on it
    #[arg(long, value_enum, value_name = "ACCELERATOR", default_value_t = AcceleratorChoice::Auto)]
    accel: AcceleratorChoice,

    /// On the wall clock: build the baseline this many times, each with code that lies elsewhere, and measure how far that alone
    /// moves each benchmark [default: as far as the threshold is assumed]
    #[arg(long, value_name = "BUILDS", value_parser = clap::value_parser!(u32).range(4..=20))]
    layout: Option<u32>,

    /// How many boots each variant gets, each with its own seed [default: 3, and 6 or 12 where fewer do not decide; on the
    /// wall clock 4, and 8, 16 or 32]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: Option<u32>,

    /// A smaller change than this does not matter, in percent [default: 1, on the wall clock 5]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    threshold: Option<f64>,

    /// Let a complaint of a kernel pass that would break its boot, such as a WARNING: if this text stands
    /// in its first line; may be repeated
    #[arg(long, value_name = "TEXT", value_parser = splat)]
    allow_splat: Vec<String>,

    /// Wait this many times as long as usual before a boot counts as one that hangs: more on a slow machine
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = patience)]
    patience: f64,

    /// How many compilers, or boots, run side by side [default: one for each CPU]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// The run folder, for all that is needed to judge again [default: nspatch-runs/DATE-TIME, in UTC]
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,

    /// How to show the results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// First install what this machine lacks, as `nspatch doctor --install` does
    #[arg(long)]
    setup: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ClockChoice {
    /// QEMU counts instructions: the same boot gives the same figures on any machine
    Virtual,
    /// Real time: caches and parallelism count, and so does all else that the machine does
    Wall,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AcceleratorChoice {
    /// TCG on the virtual clock; on the wall clock KVM where it works
    Auto,
    /// The machine's own CPUs run the guests
    Kvm,
    /// QEMU translates what the guests run
    Tcg,
}

impl Args {
    /// What the arguments ask for.
    ///
    /// # Errors
    ///
    /// An architecture or the project's folder does not exist, or the arguments contradict each other.
    pub(super) fn settings(&self, global: &Global) -> Result<Settings, Failure> {
        self.check()?;
        let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Settings {
            catalogue: global.catalogue()?,
            places: global.places()?,
            trees: self.tree.clone(),
            patches: self.patches.patch.clone(),
            archive: self.patches.lore.lore.clone(),
            architectures: architectures(&self.arch)?,
            compiler: self.cc.clone(),
            benchmarks: self.bench.clone(),
            parameters: self.param.clone(),
            sweeps: self.sweep.clone(),
            clock: match self.clock {
                ClockChoice::Virtual => Clock::Virtual,
                ClockChoice::Wall => Clock::Wall,
            },
            accelerator: match self.accel {
                AcceleratorChoice::Auto => None,
                AcceleratorChoice::Kvm => Some(Accelerator::Kvm),
                AcceleratorChoice::Tcg => Some(Accelerator::Tcg),
            },
            layout: self.layout.unwrap_or_default(),
            jobs: self.jobs.map_or_else(cpus, usize::from),
            compare: self.rule(),
            allowed_splats: self.allow_splat.clone(),
            patience: self.patience,
            out: self.out.clone().unwrap_or_else(new_run_folder),
            command: std::env::args().collect(),
            started: jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default().to_string(),
        })
    }
}

impl Args {
    /// How verdicts are found: as the clock needs it, where nothing else is asked for.
    fn rule(&self) -> compare::Settings {
        let usual = match self.clock {
            ClockChoice::Virtual => compare::Settings::virtual_clock(),
            ClockChoice::Wall => compare::Settings::wall_clock(),
        };
        let threshold = self.threshold.map_or(usual.threshold, |percent| percent / 100.0);
        let layout_floor = if self.clock == ClockChoice::Wall { threshold } else { usual.layout_floor };
        let looks = self.seeds.map_or(usual.looks, Looks::once);
        compare::Settings { threshold, layout_floor, looks, ..usual }
    }

    /// Refuses what would otherwise be left out in silence, or happen twice.
    fn check(&self) -> Result<(), Failure> {
        if let Some(out) = &self.out {
            check_out(out)?;
        }
        if self.clock == ClockChoice::Virtual && self.accel == AcceleratorChoice::Kvm {
            return Err(Failure::usage("KVM cannot count a guest's instructions")
                .at("--accel")
                .hint("--clock wall measures with KVM; the virtual clock is made by TCG"));
        }
        if self.clock == ClockChoice::Virtual && self.layout.is_some() {
            return Err(Failure::usage("where code lies costs nothing on the virtual clock")
                .at("--layout")
                .hint("--clock wall --layout 6 measures what it costs in real time"));
        }
        // Two ways of writing one path are one tree
        let real = |tree: &String| Utf8Path::new(tree).canonicalize_utf8().unwrap_or_else(|_| tree.into());
        if let Some(tree) = twice(&self.tree, real) {
            return Err(Failure::usage(format!("the tree `{tree}` is given twice")).at("--tree"));
        }
        if let Some(one) = twice(&self.param, |one| (one.benchmark.clone(), one.name.clone())) {
            return Err(Failure::usage(format!("`{}.{}` is given twice", one.benchmark, one.name)).at("--param"));
        }
        if let Some(one) = twice(&self.sweep, |one| one.benchmark.clone()) {
            return Err(Failure::usage(format!("`{}` is swept twice", one.benchmark))
                .at("--sweep")
                .hint("a benchmark is swept over one parameter; the others are set with --param"));
        }
        let both =
            |one: &&Sweep| self.param.iter().any(|set| (&set.benchmark, &set.name) == (&one.benchmark, &one.name));
        if let Some(Sweep { benchmark, name, .. }) = self.sweep.iter().find(both) {
            return Err(Failure::usage(format!("`{benchmark}.{name}` is set and swept")).at("--sweep"));
        }
        let set = self.param.iter().map(|one| ("--param", &one.benchmark));
        let swept = self.sweep.iter().map(|one| ("--sweep", &one.benchmark));
        match set.chain(swept).find(|(_, name)| !self.bench.is_empty() && !self.bench.contains(name)) {
            None => Ok(()),
            Some((option, name)) => Err(Failure::usage(format!("`{name}` is not among the benchmarks of --bench"))
                .at(option)
                .hint(format!("--bench {},{name} measures it as well", self.bench.join(",")))),
        }
    }
}

/// The run folder has to be one.
pub(super) fn check_out(out: &Utf8Path) -> Result<(), Failure> {
    let wrong = |what: String| Err(Failure::usage(what).at("--out").hint("give a folder; it need not be there yet"));
    match file_in_the_way(out) {
        _ if out.as_str().is_empty() => wrong("the name of the run folder is empty".to_owned()),
        Some(file) => wrong(format!("the run folder has to be a folder, and `{file}` is none")),
        None => Ok(()),
    }
}

/// The first that has the same key as one before it.
fn twice<T, K: Ord>(all: &[T], key: impl Fn(&T) -> K) -> Option<&T> {
    let mut seen = std::collections::BTreeSet::new();
    all.iter().find(|one| !seen.insert(key(one)))
}

/// The architectures of these names, in the order of reports; all of no names.
///
/// # Errors
///
/// There is no architecture of such a name.
pub(super) fn architectures(names: &[String]) -> Result<Vec<Arch>, Failure> {
    let mut found = names.iter().map(|name| Arch::named(name.trim())).collect::<Result<Vec<_>, _>>()?;
    found.sort();
    found.dedup();
    Ok(if found.is_empty() { Arch::all().collect() } else { found })
}

/// A folder that no run has yet, named after the time.
pub(super) fn new_run_folder() -> Utf8PathBuf {
    let now = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let runs = Utf8PathBuf::from("nspatch-runs");
    let numbered = |n: u32| runs.join(if n == 1 { now.clone() } else { format!("{now}-{n}") });
    // Two runs in one second are a matter of scripts; the numbers do not end before the folders do
    (1..).map(numbered).find(|folder| !folder.exists()).unwrap_or(runs)
}

fn parameter(text: &str) -> Result<Parameter, String> {
    let form = || "a setting has the form BENCH.NAME=NUMBER, such as umount-propagated.n=8".to_owned();
    let (benchmark, name, value) = setting(text).ok_or_else(form)?;
    let value = value.parse().map_err(|_| format!("`{value}` is no whole number"))?;
    Ok(Parameter { benchmark: benchmark.to_owned(), name: name.to_owned(), value })
}

/// Benchmark, name and value of `BENCH.NAME=VALUE`.
fn setting(text: &str) -> Option<(&str, &str, &str)> {
    let (key, value) = text.split_once('=')?;
    let (benchmark, name) = key.split_once('.').filter(|(one, two)| !one.is_empty() && !two.is_empty())?;
    Some((benchmark, name, value))
}

fn sweep(text: &str) -> Result<Sweep, String> {
    let form = || "a sweep has the form BENCH.NAME=A,B,C, such as umount-propagated.n=8,10,12".to_owned();
    let (benchmark, name, values) = setting(text).ok_or_else(form)?;
    let value = |value: &str| value.trim().parse().map_err(|_| format!("`{value}` is no whole number"));
    let values = values.split(',').map(value).collect::<Result<std::collections::BTreeSet<i64>, _>>()?;
    if values.len() < 3 {
        return Err("a sweep takes at least three different values: two fit any law".to_owned());
    }
    Ok(Sweep { benchmark: benchmark.to_owned(), name: name.to_owned(), values: values.into_iter().collect() })
}

pub(super) fn patience(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if (0.001..=1000.0).contains(&value) { Ok(value) } else { Err("it must lie between 0.001 and 1000".to_owned()) }
}

fn splat(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("an empty text would allow every splat".to_owned()) } else { Ok(text.to_owned()) }
}

pub(super) fn percent(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim_end_matches('%').parse().map_err(|_| format!("`{text}` is no number"))?;
    if value.is_finite() && value > 0.0 && value < 100.0 {
        Ok(value)
    } else {
        Err("it must lie between 0 and 100".to_owned())
    }
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let settings = args.settings(global)?;
    let scope = doctor::scope(&settings.architectures, &settings.trees, global)?;
    let cache = global.cache()?;
    let console = global.console();
    let emit = |event| console.emit(event);
    let job = Job { cache: &cache, logs: &settings.out.join("logs"), emit: &emit };
    doctor::prepare(&scope, args.setup, job)?;
    let run = workflow::test(&settings, job)?;
    console.clear();
    show_run(&run, args.format, global)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_names_benchmark_parameter_and_number() {
        let expected = Parameter { benchmark: "umount-propagated".to_owned(), name: "n".to_owned(), value: 8 };
        assert_eq!(parameter("umount-propagated.n=8"), Ok(expected));
        for wrong in ["", "n=8", "umount-propagated.n", ".n=8", "umount-propagated.=8", "a.n=eight", "a.n=1.5"] {
            assert!(parameter(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_sweep_names_at_least_three_values() {
        let swept = sweep("umount-propagated.n=12,8,10").unwrap();
        assert_eq!((swept.name.as_str(), swept.values), ("n", vec![8, 10, 12]));
        for wrong in ["", "n=1,2,3", "a.n", "a.n=1,2", "a.n=1,1,2", "a.n=1,2,x", "a.=1,2,3"] {
            assert!(sweep(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_threshold_is_a_percentage_that_can_be_met() {
        assert_eq!((percent("2.5"), percent("1%")), (Ok(2.5), Ok(1.0)));
        for wrong in ["0", "-1", "100", "NaN", "inf", "much"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn patience_is_a_number_of_times_and_no_splat_is_allowed_by_nothing() {
        assert_eq!((patience("2"), patience("0.001")), (Ok(2.0), Ok(0.001)));
        for wrong in ["0", "-1", "1e9", "NaN", "inf", "long"] {
            assert!(patience(wrong).is_err(), "{wrong}");
        }
        assert_eq!(splat("at ipc/"), Ok("at ipc/".to_owned()));
        assert!(splat(" ").is_err());
    }

    #[test]
    fn architectures_come_once_and_in_the_order_of_reports() {
        let named = |names: &[&str]| architectures(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&["arm64", "x86_64", "aarch64"]).unwrap(), Arch::all().collect::<Vec<_>>());
        assert_eq!(named(&[]).unwrap().len(), 2);
        assert!(named(&["vax"]).is_err());
    }
}
