//! `nspatch test`: trees and patches → states → kernels → boots → verdicts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::boots::{self, Match};
use super::cases::{self, Cases};
use super::findings::Findings;
use super::judging;
use super::kernels::{self, Equipment, Kernels};
use super::layout;
use super::record::Record;
use super::{Parameter, Settings, Sweep};
use crate::arch::Arch;
use crate::blame::{Class, Failure};
use crate::boot::{self, Qemu};
use crate::event::{Event, Stage, StageTimes};
use crate::job::Job;
use crate::measure::{Booted, Pair, QemuLab};
use crate::report::{self, Asked, Comparison, Layout, Run, TreeFacts};
use crate::rootfs::{self, Benchmark, Planned};
use crate::source::Patch;

/// With less than this, a disk is full: the smallest thing in the cache takes some KiB.
const LEAST_SPACE: u64 = 1 << 20;

/// Runs what the settings ask for, and keeps it in the run folder.
///
/// # Errors
///
/// Whatever stops the work; it is in the run folder too. What only kept some comparison from
/// being made is in the run's failures.
pub fn test(settings: &Settings, job: Job<'_>) -> Result<Run, Failure> {
    let patches = cases::patches(&settings.catalogue, &settings.patches, &settings.archive, job)?;
    let benchmarks = benchmarks(settings)?;
    let planned = plan(settings, &benchmarks)?;
    let qemus = settings.architectures.iter().map(|arch| Qemu::find(*arch)).collect::<Result<Vec<_>, _>>()?;
    let record = Record::begin(&settings.out)?;
    let times = Mutex::new(StageTimes::default());
    let emit = |event: Event| {
        times.lock().unwrap_or_else(PoisonError::into_inner).add(&event);
        (job.emit)(event);
    };
    let mut testing = Testing {
        settings,
        job: Job { emit: &emit, ..job },
        run: empty_run(settings, &qemus),
        record: &record,
        times: &times,
        since: Instant::now(),
    };
    let tested = testing.go(patches, &benchmarks, &planned, qemus);
    testing.take_times();
    match tested {
        Ok(()) => record.finished(&testing.run)?,
        // The first failure is the one to tell, even if it cannot be written down
        Err(failure) => {
            let failure = explain_full_cache(failure, job);
            let _ = record.stopped(&testing.run, failure.clone());
            return Err(failure);
        }
    }
    Ok(testing.run)
}

/// One run under way.
struct Testing<'a> {
    settings: &'a Settings,
    job: Job<'a>,
    run: Run,
    record: &'a Record,
    times: &'a Mutex<StageTimes>,
    since: Instant,
}

impl Testing<'_> {
    fn go(
        &mut self,
        patches: Vec<Patch>,
        benchmarks: &[Benchmark],
        planned: &[Planned],
        qemus: Vec<Qemu>,
    ) -> Result<(), Failure> {
        self.record.unfinished(&self.run)?;
        self.record.patches(&patches)?;
        let equipment = kernels::equip(self.settings, &patches, benchmarks, self.job)?;
        let cases = cases::find(self.settings, patches, self.job)?;
        self.take_cases(&cases)?;
        let (kernels, troubles) = kernels::build_all(&cases, &equipment, self.settings.jobs, self.job)?;
        self.run.failures.extend(troubles);
        self.record.kernels(&kernels)?;
        self.step()?;
        self.boot_and_judge(&cases, &kernels, &equipment, planned, qemus)
    }

    fn boot_and_judge(
        &mut self,
        cases: &Cases,
        kernels: &Kernels,
        equipment: &BTreeMap<Arch, Equipment>,
        planned: &[Planned],
        qemus: Vec<Qemu>,
    ) -> Result<(), Failure> {
        let matches = boots::matches(cases, self.settings, kernels, equipment);
        let lab = boots::lab(qemus, &self.settings.out, self.job);
        let limits = lab.limits.clone().times(self.settings.patience);
        let lab = QemuLab { allowed_splats: self.settings.allowed_splats.clone(), limits, ..lab };
        let pairs = self.pairs(&matches, &rootfs::plan(planned), &lab)?;
        let of_both = matches.iter().zip(&pairs);
        let mut trials = of_both.map(|(one, pair)| self.trial(one, pair, cases, planned)).collect::<Vec<_>>();
        if self.settings.layout > 0 {
            let means = layout::Means { settings: self.settings, cases, equipment, lab: &lab, record: self.record };
            let compared: Vec<_> = matches.iter().zip(&pairs).filter(|(one, _)| one.baseline.is_some()).collect();
            let (layouts, troubles) = layout::measure(&means, &compared, planned)?;
            self.run.layouts = layouts;
            self.run.failures.extend(troubles);
        }
        self.boot_until_decided(&mut trials, &pairs, &lab)?;
        let found = findings(&trials, &self.run.layouts);
        self.run.rows = judging::judge(&found, &self.run.settings.compare).rows(&found);
        self.run.growths = judging::growths(&self.run.rows);
        self.run.failures.extend(judging::troubles(&found));
        self.run.splats = found.iter().flat_map(Findings::splats).collect();
        self.run.comparisons = found.iter().map(Findings::compared).collect();
        Ok(())
    }

    /// Boots in rounds: what a look at the numbers does not decide gets the boots of the next one.
    fn boot_until_decided(&self, trials: &mut [Trial], pairs: &[Pair], lab: &QemuLab<'_>) -> Result<(), Failure> {
        let settings = &self.run.settings.compare;
        let mut open: Vec<usize> = (0..trials.len()).collect();
        let mut made = 0;
        for look in settings.looks.pairs() {
            let undecided: Vec<_> = open.iter().map(|place| pairs[*place].clone()).collect();
            let booted = boots::boot_all(&undecided, self.settings, (made, look), lab)?;
            open.iter().zip(booted).for_each(|(place, booted)| trials[*place].booted.extend(booted));
            self.record.boots(trials.iter().map(|trial| &trial.booted[..]))?;
            made = look;
            let worth_more = judging::judge(&findings(trials, &self.run.layouts), settings).open(settings.looks.most());
            open.retain(|place| worth_more.contains(place));
            if open.is_empty() {
                break;
            }
            let many = if open.len() == 1 { "comparison is" } else { "comparisons are" };
            self.job.notice(
                Stage::Boot,
                format!("{} {many} undecided after {made} pairs of boots: more are made", open.len()),
                None,
            );
        }
        Ok(())
    }

    /// What is booted for each comparison, and by what.
    fn pairs(&mut self, matches: &[Match<'_>], plan: &str, lab: &QemuLab<'_>) -> Result<Vec<Pair>, Failure> {
        let mut pairs: Vec<Pair> = matches.iter().map(|one| boots::pair(one, self.settings, plan)).collect();
        let mut known = BTreeMap::new();
        for pair in &mut pairs {
            let arch = pair.candidate.arch;
            let accelerator = match known.get(&arch) {
                Some(accelerator) => *accelerator,
                None => {
                    let (accelerator, why) =
                        boots::accelerator(pair.baseline.as_ref().unwrap_or(&pair.candidate), self.settings, lab)?;
                    self.run.host.kvm_fails.extend(why.map(|why| (arch, why)));
                    accelerator
                }
            };
            known.insert(arch, accelerator);
            pair.baseline.iter_mut().chain([&mut pair.candidate]).for_each(|machine| machine.accelerator = accelerator);
        }
        Ok(pairs)
    }

    fn trial(&self, matched: &Match<'_>, pair: &Pair, cases: &Cases, planned: &[Planned]) -> Trial {
        let (patch, tree) = (&cases.patches[matched.case.patch], &cases.trees[matched.case.tree].name);
        let asked = matched.asked(patch, planned);
        Trial { comparison: matched.comparison(patch, tree, &pair.candidate), asked, booted: Vec::new() }
    }

    fn take_cases(&mut self, cases: &Cases) -> Result<(), Failure> {
        let facts = cases.trees.iter().map(|tree| TreeFacts {
            name: tree.name.clone(),
            commit: tree.commit.clone(),
            version: tree.version.clone(),
            origin: tree.origin.clone(),
        });
        self.run.trees = facts.collect();
        self.run.failures.extend(cases.troubles.iter().cloned());
        self.record.states(cases)?;
        self.step()
    }

    fn step(&mut self) -> Result<(), Failure> {
        self.take_times();
        self.record.unfinished(&self.run)
    }

    fn take_times(&mut self) {
        self.run.stages = self.times.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.run.wall_seconds = self.since.elapsed().as_secs_f64();
        self.run.nspatch_cpu_seconds = cpu_seconds();
    }
}

/// One comparison under way.
struct Trial {
    comparison: Comparison,
    asked: Vec<Asked>,
    booted: Vec<Booted>,
}

fn findings<'a>(trials: &'a [Trial], layouts: &'a [Layout]) -> Vec<Findings<'a>> {
    let one = |trial: &'a Trial| Findings {
        comparison: &trial.comparison,
        asked: &trial.asked,
        booted: &trial.booted,
        layouts,
        refusal: None,
    };
    trials.iter().map(one).collect()
}

fn empty_run(settings: &Settings, qemus: &[Qemu]) -> Run {
    Run {
        version: report::VERSION,
        nspatch: env!("CARGO_PKG_VERSION").to_owned(),
        command: settings.command.clone(),
        started: settings.started.clone(),
        folder: settings.out.to_string(),
        trees: Vec::new(),
        settings: report::Settings {
            compare: settings.compare.clone(),
            allowed_splats: settings.allowed_splats.clone(),
        },
        host: report::Host {
            cpus: std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(u32::MAX)),
            cpu: boot::cpu_name(),
            kvm_fails: BTreeMap::new(),
            qemu: qemus.iter().map(|qemu| (qemu.arch, qemu.version.clone())).collect(),
        },
        rows: Vec::new(),
        growths: Vec::new(),
        layouts: Vec::new(),
        comparisons: Vec::new(),
        failures: Vec::new(),
        splats: Vec::new(),
        stages: StageTimes::default(),
        wall_seconds: 0.0,
        nspatch_cpu_seconds: 0.0,
    }
}

/// The benchmarks that the settings name; all if none: those that a patch cannot touch show that
/// the measurement itself is sound.
fn benchmarks(settings: &Settings) -> Result<Vec<Benchmark>, Failure> {
    let all = rootfs::benchmarks(&settings.catalogue)?;
    let set = settings.parameters.iter().map(|one| &one.benchmark);
    for name in settings.benchmarks.iter().chain(set).chain(settings.sweeps.iter().map(|one| &one.benchmark)) {
        rootfs::find(&all, name)?;
    }
    let chosen = |one: &Benchmark| settings.benchmarks.is_empty() || settings.benchmarks.contains(&one.name);
    Ok(all.into_iter().filter(chosen).collect())
}

fn plan(settings: &Settings, benchmarks: &[Benchmark]) -> Result<Vec<Planned>, Failure> {
    let mut all = Vec::new();
    for benchmark in benchmarks {
        let own = settings.parameters.iter().filter(|parameter| parameter.benchmark == benchmark.name);
        let mut changed: BTreeMap<String, i64> =
            own.map(|Parameter { name, value, .. }| (name.clone(), *value)).collect();
        let Some(sweep) = settings.sweeps.iter().find(|sweep| sweep.benchmark == benchmark.name) else {
            all.push(Planned::new(benchmark, &changed)?);
            continue;
        };
        check_sweep(sweep, benchmark)?;
        for value in &sweep.values {
            changed.insert(sweep.name.clone(), *value);
            all.push(Planned::new(benchmark, &changed)?);
        }
    }
    rootfs::check_room(&all)?;
    Ok(all)
}

/// How often a benchmark is run is nothing that its time could grow with.
fn check_sweep(sweep: &Sweep, benchmark: &Benchmark) -> Result<(), Failure> {
    let own: Vec<&str> = benchmark.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    if own.contains(&sweep.name.as_str()) {
        return Ok(());
    }
    let failure = Failure::usage(format!("`{}` has no parameter `{}`", sweep.benchmark, sweep.name)).at("--sweep");
    Err(match &own[..] {
        [] => failure.hint("it has none at all"),
        own => failure.hint(format!("it has {}", own.join(", "))),
    })
}

/// Not every program says that it met a full disk, but the disk does.
fn explain_full_cache(failure: Failure, job: Job<'_>) -> Failure {
    let told = failure.class != Class::Host || failure.hints.iter().any(|hint| hint.contains("NSPATCH_CACHE"));
    match rustix::fs::statvfs(job.cache.root().as_std_path()) {
        Ok(space) if !told && space.f_bavail.saturating_mul(space.f_frsize) < LEAST_SPACE => failure.hint(format!(
            "the disk of the cache, {}, is full: NSPATCH_CACHE moves the cache to another",
            job.cache.root()
        )),
        _ => failure,
    }
}

/// The CPU time of this process without its children, in seconds.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
