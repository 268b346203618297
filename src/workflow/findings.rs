//! What the boots of one comparison say: rows with verdicts, and the troubles that kept others
//! from having one.

use std::collections::BTreeMap;

use crate::apply::{Revision, Variant};
use crate::blame::{Blame, Failure};
use crate::boot::HostLoad;
use crate::compare::{self, Doubt, Judgement, Reason, Settings};
use crate::event::Stage;
use crate::measure::{Booted, Facts, Measurement, Reading, Sample, Side, median};
use crate::report::{Asked, Comparison, Guest, Heard, Image, Layout, Place, Row, Surroundings, Trouble};
use crate::rootfs::Planned;

/// In boots that differ in nothing that is measured, available memory was seen to differ by less than 1 MiB.
const WORTH_A_DOUBT_KIB: f64 = 4096.0;

/// One comparison with what was heard of it.
pub(super) struct Findings<'a> {
    pub comparison: &'a Comparison,
    /// What was asked of both sides, in the order of the rows.
    pub asked: &'a [Asked],
    pub booted: &'a [Booted],
    /// How far a new layout alone moves what, where that was measured.
    pub layouts: &'a [Layout],
    /// Why nothing of it may be judged, where that is known beforehand.
    pub refusal: Option<Reason>,
}

impl Findings<'_> {
    /// A judgement for each thing that was asked.
    pub(super) fn judge(&self, settings: &Settings) -> Vec<Judgement> {
        let obstacle = self.obstacle();
        let one = |asked: &Asked| {
            let [baseline, candidate] = self.both(asked);
            match &obstacle {
                Some(reason) => Judgement::not_comparable(reason.clone(), settings),
                None if self.comparison.baseline.is_none() => compare::alone(&candidate, settings),
                None => {
                    let judgement = compare::judge(&baseline, &candidate, &self.own(asked, settings));
                    let found = self.unsteady().into_iter().chain(self.memory_kept(asked));
                    let doubts = judgement.doubts.iter().cloned().chain(found).collect();
                    Judgement { doubts, ..judgement }
                }
            }
        };
        self.asked.iter().map(one).collect()
    }

    /// The comparison, with what its boots showed of guests and host.
    pub(super) fn compared(&self) -> Comparison {
        let (guest, surroundings) = (self.guest(), self.surroundings());
        Comparison { guest, surroundings, ..self.comparison.clone() }
    }

    /// The rows of judgements in the order of what was asked.
    pub(super) fn rows(&self, judgements: Vec<Judgement>) -> Vec<Row> {
        let one = |(asked, judgement): (&Asked, Judgement)| {
            let heard = [Side::Baseline, Side::Candidate]
                .map(|side| Heard { samples: self.samples(side, asked), kept_kib: self.kept_kib(side, asked) });
            Row::new(Place { comparison: self.comparison, asked: asked.clone() }, judgement, heard)
        };
        self.asked.iter().zip(judgements).map(one).collect()
    }

    fn both(&self, asked: &Asked) -> [Vec<Sample>; 2] {
        [Side::Baseline, Side::Candidate].map(|side| self.samples(side, asked))
    }

    /// What went wrong in the boots, each thing once, however many seeds showed it.
    pub(super) fn troubles(&self) -> Vec<Trouble> {
        let mut found: Vec<Trouble> = Vec::new();
        for booted in self.booted {
            for failure in self.failures(booted) {
                let trouble = self.trouble(booted.side, failure);
                let same =
                    |known: &Trouble| known.variant == trouble.variant && known.failure.what == trouble.failure.what;
                if !found.iter().any(same) {
                    found.push(trouble);
                }
            }
        }
        found
    }

    fn failures(&self, booted: &Booted) -> Vec<Failure> {
        let Some(results) = booted.reading.results() else {
            return booted.reading.failure().map(|failure| self.blamed(booted.side, failure)).into_iter().collect();
        };
        let of_guest = results.failures.iter().map(|failure| failure.failure("of the whole plan"));
        let of_benchmarks = results.benchmarks.iter().filter_map(|benchmark| match &benchmark.outcome {
            Measurement::Failed(failure) => Some(failure.failure(&benchmark.name)),
            Measurement::Measured(_) => None,
        });
        of_guest.chain(of_benchmarks).collect()
    }

    /// A kernel that dies with the patch and lives without it dies of the patch, as far as one can tell.
    fn blamed(&self, side: Side, mut failure: Failure) -> Failure {
        let other = if side == Side::Baseline { Side::Candidate } else { Side::Baseline };
        let lives_without = self.side(other).any(|reading| reading.results().is_some());
        if failure.blame == Blame::Kernel && self.variant(side) == Some(Variant::Patched) && lives_without {
            failure.blame = Blame::Patch;
        }
        failure
    }

    fn trouble(&self, side: Side, failure: Failure) -> Trouble {
        Trouble {
            patch: Some(self.comparison.patch.clone()),
            tree: Some(self.comparison.tree.clone()),
            arch: Some(self.comparison.arch),
            variant: self.variant(side),
            stage: Some(Stage::Boot),
            failure,
        }
    }

    pub(super) fn variant(&self, side: Side) -> Option<Variant> {
        match side {
            Side::Baseline => self.comparison.baseline.as_ref().map(|image| image.variant),
            Side::Candidate => Some(self.comparison.candidate.variant),
        }
    }

    fn side(&self, side: Side) -> impl Iterator<Item = &Reading> {
        self.booted.iter().filter(move |booted| booted.side == side).map(|booted| &booted.reading)
    }

    fn samples(&self, side: Side, asked: &Asked) -> Vec<Sample> {
        self.side(side).filter_map(|reading| reading.sample(&asked.benchmark, &asked.parameters).cloned()).collect()
    }

    /// The memory in KiB that a benchmark kept, the median over boots.
    fn kept_kib(&self, side: Side, asked: &Asked) -> Option<f64> {
        let kept = |reading: &Reading| {
            let measured = reading.measured(&asked.benchmark, &asked.parameters)?;
            Some(measured.mem_available_before_kib? as f64 - measured.mem_available_after_kib? as f64)
        };
        median(self.side(side).filter_map(kept))
    }

    /// That a benchmark keeps more memory in the candidate than comes and goes by itself.
    fn memory_kept(&self, asked: &Asked) -> Option<Doubt> {
        let more_kib = self.kept_kib(Side::Candidate, asked)? - self.kept_kib(Side::Baseline, asked)?;
        (more_kib > WORTH_A_DOUBT_KIB).then_some(Doubt::MemoryKept { more_kib })
    }

    /// What the guests were, with the worst of their clocks.
    fn guest(&self) -> Option<Guest> {
        let facts: Vec<&Facts> =
            self.booted.iter().filter_map(|booted| Some(&booted.reading.results()?.facts)).collect();
        let worst = |of: fn(&Facts) -> u64| facts.iter().map(|facts| of(facts)).max().unwrap_or_default();
        Some(Guest {
            cpus: facts.first()?.cpus_online,
            memory_kib: facts.first()?.mem_total_kib,
            clocksource: facts.first()?.clocksource.clone(),
            tick_ns: facts.first()?.tick_ns,
            clock_resolution_ns: worst(|facts| facts.clock_resolution_ns),
            clock_overhead_ns: worst(|facts| facts.clock_overhead_ns),
        })
    }

    /// What the host did during the boots that came to their end.
    fn surroundings(&self) -> Option<Surroundings> {
        let host: Vec<HostLoad> = self.booted.iter().filter_map(|booted| booted.reading.guest()?.host).collect();
        let loads = || host.iter().map(|host| host.load);
        Some(Surroundings {
            least_load: loads().reduce(f64::min)?,
            most_load: loads().reduce(f64::max)?,
            most_stolen: host.iter().map(|host| host.stolen).reduce(f64::max)?,
        })
    }

    fn facts(&self, side: Side) -> Option<&Facts> {
        self.side(side).find_map(|reading| reading.results().map(|results| &results.facts))
    }

    /// The settings with what was measured of these guests.
    fn own(&self, asked: &Asked, settings: &Settings) -> Settings {
        let tick_ns = self.facts(Side::Candidate).map_or(settings.tick_ns, |facts| facts.tick_ns);
        let floors =
            self.layouts.iter().filter(|layout| layout.is_of(self.comparison, asked)).map(|one| one.layout.floor);
        let layout_floor = floors.reduce(f64::max).unwrap_or(settings.layout_floor);
        Settings { tick_ns, layout_floor, ..settings.clone() }
    }

    /// Why no number of this comparison may be judged: a kernel died, or the guests did not run under the same
    /// conditions.
    fn obstacle(&self) -> Option<Reason> {
        self.refusal.clone().or_else(|| self.died()).or_else(|| self.differ())
    }

    /// The first condition that is not the same in all boots of both sides.
    fn differ(&self) -> Option<Reason> {
        let within = |side| {
            let first = self.facts(side)?;
            let (what, one, other) =
                self.side(side).filter_map(Reading::results).find_map(|results| differing(first, &results.facts))?;
            Some(Reason::BootsDiffer { side: judged(side), what, one, other })
        };
        let between = || {
            let (what, baseline, candidate) = differing(self.facts(Side::Baseline)?, self.facts(Side::Candidate)?)?;
            Some(Reason::ConditionsDiffer { what, baseline, candidate })
        };
        within(Side::Baseline).or_else(|| within(Side::Candidate)).or_else(between)
    }

    /// What differed first between two boots of the same, if no two agreed.
    fn unsteady(&self) -> Option<Doubt> {
        self.booted.iter().find_map(|booted| match &booted.reading {
            Reading::Unsteady { difference, .. } => Some(Doubt::NotRepeatable { what: difference.to_string() }),
            _ => None,
        })
    }
}

/// A side of boots as the judgement has it.
pub(super) fn judged(side: Side) -> compare::Side {
    match side {
        Side::Baseline => compare::Side::Baseline,
        Side::Candidate => compare::Side::Candidate,
    }
}

/// The first condition in which two guests differ: its name, and what each says.
fn differing(one: &Facts, other: &Facts) -> Option<(String, String, String)> {
    let pairs = conditions(one).into_iter().zip(conditions(other));
    let unequal = |((name, one), (_, other)): ((&str, String), (_, String))| {
        (one != other).then(|| (name.to_owned(), one, other))
    };
    pairs.into_iter().find_map(unequal)
}

/// What must be equal on both sides, by name.
fn conditions(facts: &Facts) -> [(&'static str, String); 8] {
    let text = |number: Option<u64>| number.map_or("none".to_owned(), |number| number.to_string());
    [
        ("the machine", facts.machine.clone()),
        ("the number of CPUs", facts.cpus_online.to_string()),
        ("the page size", facts.page_size.to_string()),
        ("the clock source", facts.clocksource.clone().unwrap_or("none".to_owned())),
        ("the tick in ns", facts.tick_ns.to_string()),
        ("rcu_expedited", text(facts.rcu_expedited)),
        ("rcu_normal", text(facts.rcu_normal)),
        ("fs.mount-max", text(facts.mount_max)),
    ]
}

/// The benchmark's own parameters, without how often it is run.
pub(super) fn own_parameters(planned: &Planned) -> BTreeMap<String, i64> {
    let how_often = ["operations", "repeats", "warmups"];
    let own = planned.settings.iter().filter(|(name, _)| !how_often.contains(&name.as_str()));
    own.map(|(name, value)| (name.clone(), *value)).collect()
}

/// An image as reports have it.
pub(super) fn image(revision: &Revision, image: &crate::build::Image) -> Image {
    Image {
        variant: revision.variant,
        commit: revision.commit.clone(),
        content: revision.content.clone(),
        image_sha256: image.sha256.clone(),
        config_sha256: image.config_sha256.clone(),
        toolchain: image.toolchain.compiler_version.clone(),
    }
}
