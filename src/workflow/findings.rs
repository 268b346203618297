//! What the boots of one comparison say: rows with verdicts, and the troubles that kept others
//! from having one.

use std::collections::BTreeMap;

use super::boots::{Heard, Match};
use crate::apply::{Revision, Variant};
use crate::blame::{Blame, Failure};
use crate::compare::{self, Judgement, Reason, Settings};
use crate::event::Stage;
use crate::measure::{Booted, Difference, Facts, Measurement, Reading, Sample, Side};
use crate::report::{Comparison, Figures, Image, Place, Row, Trouble};
use crate::rootfs::Planned;
use crate::source::Patch;

/// One comparison with what was heard of it.
pub(super) struct Findings<'a> {
    pub patch: &'a Patch,
    pub tree: &'a str,
    pub matched: &'a Match<'a>,
    pub heard: &'a Heard,
}

impl Findings<'_> {
    /// The comparison as reports have it.
    pub(super) fn comparison(&self, clock: crate::measure::Clock) -> Comparison {
        let Match { case, arch, baseline, candidate } = self.matched;
        Comparison {
            patch: self.patch.name.clone(),
            tree: self.tree.to_owned(),
            state: case.standing.sentence(),
            arch: *arch,
            clock,
            baseline: baseline.zip(case.baseline.as_ref()).map(|(built, revision)| image(revision, built)),
            candidate: image(&case.candidate, candidate),
        }
    }

    /// A row for each benchmark; without a baseline only for those that show what the patch is about.
    pub(super) fn rows(&self, comparison: &Comparison, planned: &[Planned], settings: &Settings) -> Vec<Row> {
        let one = |planned: &Planned| {
            let (baseline, candidate) = (self.samples(Side::Baseline, planned), self.samples(Side::Candidate, planned));
            let judgement = match self.obstacle() {
                Some(reason) => Judgement::not_comparable(reason, settings),
                None if self.matched.baseline.is_none() => compare::alone(&candidate, settings),
                None => compare::judge(&baseline, &candidate, &self.with_tick(settings)),
            };
            let place = Place {
                comparison,
                benchmark: &planned.benchmark,
                parameters: own_parameters(planned),
                shows: self.shows(planned),
                mail: self.figures(planned),
            };
            Row::new(place, judgement, baseline, candidate)
        };
        planned.iter().filter(|planned| self.matched.baseline.is_some() || self.shows(planned)).map(one).collect()
    }

    fn shows(&self, planned: &Planned) -> bool {
        self.patch.benchmarks().is_some_and(|names| names.contains(&planned.benchmark))
    }

    /// What went wrong in the boots, each thing once, however many seeds showed it.
    pub(super) fn troubles(&self) -> Vec<Trouble> {
        let mut found: Vec<Trouble> = Vec::new();
        for booted in &self.heard.booted {
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
        let patched = self.revision(side).is_some_and(|revision| revision.variant == Variant::Patched);
        let lives_without = self.side(other).any(|reading| reading.results().is_some());
        if failure.blame == Blame::Kernel && patched && lives_without {
            failure.blame = Blame::Patch;
        }
        failure
    }

    fn trouble(&self, side: Side, failure: Failure) -> Trouble {
        Trouble {
            patch: Some(self.patch.name.clone()),
            tree: Some(self.tree.to_owned()),
            arch: Some(self.matched.arch),
            variant: self.revision(side).map(|revision| revision.variant),
            stage: Some(Stage::Boot),
            failure,
        }
    }

    fn revision(&self, side: Side) -> Option<&Revision> {
        match side {
            Side::Baseline => self.matched.case.baseline.as_ref(),
            Side::Candidate => Some(&self.matched.case.candidate),
        }
    }

    fn side(&self, side: Side) -> impl Iterator<Item = &Reading> {
        self.heard.booted.iter().filter(move |booted| booted.side == side).map(|booted| &booted.reading)
    }

    fn samples(&self, side: Side, planned: &Planned) -> Vec<Sample> {
        let of_boot = |reading: &Reading| match &reading.results()?.benchmark(&planned.benchmark)?.outcome {
            Measurement::Measured(measured) => Some(measured.sample.clone()),
            Measurement::Failed(_) => None,
        };
        self.side(side).filter_map(of_boot).collect()
    }

    fn facts(&self, side: Side) -> Option<&Facts> {
        self.side(side).find_map(|reading| reading.results().map(|results| &results.facts))
    }

    fn with_tick(&self, settings: &Settings) -> Settings {
        let tick_ns = self.facts(Side::Candidate).map_or(settings.tick_ns, |facts| facts.tick_ns);
        Settings { tick_ns, ..settings.clone() }
    }

    /// Why no number of this comparison may be judged: the two guests did not run under the same
    /// conditions, or the clock did not keep its promise.
    fn obstacle(&self) -> Option<Reason> {
        if let Some(difference) = self.unsteady() {
            return Some(not_deterministic(difference));
        }
        let (baseline, candidate) = (self.facts(Side::Baseline)?, self.facts(Side::Candidate)?);
        let differing = conditions(baseline).into_iter().zip(conditions(candidate)).find(|(one, other)| one != other);
        differing.map(|((what, baseline), (_, candidate))| Reason::ConditionsDiffer {
            what: what.to_owned(),
            baseline,
            candidate,
        })
    }

    fn unsteady(&self) -> Option<&Difference> {
        self.heard.booted.iter().find_map(|booted| match &booted.reading {
            Reading::Unsteady(difference) => Some(difference),
            _ => None,
        })
    }

    fn figures(&self, planned: &Planned) -> Option<Figures> {
        let figures = &self.patch.about.as_ref()?.figures;
        let figure = figures.iter().find(|figure| figure.benchmark == planned.benchmark)?;
        let settings = figure.parameters.iter().map(|(name, value)| format!(", {name}={value}")).collect::<String>();
        let per = format!("{} for {}{settings}", figure.unit, figure.operations);
        Some(Figures { before: format!("{} {per}", figure.before), after: format!("{} {per}", figure.after) })
    }
}

fn not_deterministic(difference: &Difference) -> Reason {
    let place = difference.benchmark.as_deref().unwrap_or("the guest");
    Reason::ConditionsDiffer {
        what: format!("the same boot made again ({place}: {})", difference.what),
        baseline: difference.first.clone(),
        candidate: difference.second.clone(),
    }
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
fn own_parameters(planned: &Planned) -> BTreeMap<String, i64> {
    let how_often = ["operations", "repeats", "warmups"];
    let own = planned.settings.iter().filter(|(name, _)| !how_often.contains(&name.as_str()));
    own.map(|(name, value)| (name.clone(), *value)).collect()
}

fn image(revision: &Revision, image: &crate::build::Image) -> Image {
    Image {
        variant: revision.variant,
        commit: revision.commit.clone(),
        content: revision.content.clone(),
        image_sha256: image.sha256.clone(),
        config_sha256: image.config_sha256.clone(),
        toolchain: image.toolchain.compiler_version.clone(),
    }
}
