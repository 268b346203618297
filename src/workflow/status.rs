//! How patches stand to trees, without building anything.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;

use crate::apply::{self, Arrival, FileConflict, PartStanding, Standing, State, Variant};
use crate::blame::{Class, Failure};
use crate::interrupt;
use crate::job::Job;
use crate::source::Patch;
use crate::tree::{self, CommitName, Places, Tree};

/// To list the commits of a long history that touch some files takes some 20 s.
const LIMIT: Duration = Duration::from_secs(600);

/// The version of the JSON of [`Row`]s and [`Turn`]s. Raised when a key is added, removed, or changes its meaning.
pub const STATUS_VERSION: u32 = 1;

/// How one patch stands to one tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The tree, as the user named it.
    pub tree: String,
    /// The kernel's version by its Makefile.
    pub version: String,
    /// The commit, 40 hexadecimal digits.
    pub commit: String,
    /// The patch's name.
    pub patch: String,
    /// The state in words.
    pub sentence: String,
    /// The state, with what belongs to it.
    #[serde(flatten)]
    pub state: State,
    /// Where the patch and the tree disagree.
    pub conflicts: Vec<FileConflict>,
    /// Of a series that does not fit as a whole, each patch by itself.
    pub series: Vec<PartStanding>,
    /// The commit by which the patch came into the tree, where the history is there to tell.
    pub arrival: Option<Arrival>,
    /// The file of the control that makes one side of the comparison, if one does.
    pub control: Option<String>,
    /// What `nspatch test` would compare.
    pub comparison: Option<Sides>,
}

/// The variants of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sides {
    /// What the other one is measured by.
    pub baseline: Variant,
    /// What is judged.
    pub candidate: Variant,
}

/// Where in a history a patch's state changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// The tree, as the user named it.
    pub tree: String,
    /// The patch's name.
    pub patch: String,
    /// The state at the older end, in words.
    pub from: String,
    /// The state at the tree, in words.
    pub to: String,
    /// The first commit that has the later state; `None` if the state is the same at both ends.
    pub changed_by: Option<CommitName>,
    /// How many commits touch the patch's files between the ends.
    pub candidates: usize,
    /// How many of them were looked at.
    pub looked_at: usize,
    /// Those that could not tell, as a file was not there.
    pub skipped: usize,
}

/// Finds how every patch stands to every tree.
///
/// # Errors
///
/// A tree or patch cannot be had, or the machine fails.
pub fn status(trees: &[String], places: &Places, patches: &[Patch], job: Job<'_>) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for spec in trees {
        let tree = tree::resolve_in(spec, places, job)?;
        for patch in patches {
            interrupt::check()?;
            rows.push(row(&tree, &apply::stand(patch, &tree, job)?));
        }
    }
    Ok(rows)
}

fn row(tree: &Tree, standing: &Standing) -> Row {
    Row {
        tree: tree.name.clone(),
        version: tree.version.clone(),
        commit: tree.commit.clone(),
        patch: standing.patch.clone(),
        sentence: standing.sentence(),
        state: standing.state.clone(),
        conflicts: standing.conflicts.clone(),
        series: standing.series.clone(),
        arrival: standing.arrival.clone(),
        control: standing.control.clone(),
        comparison: standing
            .comparison
            .as_ref()
            .map(|(baseline, candidate)| Sides { baseline: baseline.variant, candidate: candidate.variant }),
    }
}

/// Finds for every patch the commit since a revision by which its state on a tree changed.
///
/// Only the commits that touch one of its files, or one that its looks at the source read, can change it; among these, along
/// first parents, the search halves what is left at each step.
///
/// # Errors
///
/// The revision is not there, or is no ancestor of the tree; or as [`status`].
pub fn turns(
    trees: &[String],
    places: &Places,
    since: &str,
    patches: &[Patch],
    job: Job<'_>,
) -> Result<Vec<Turn>, Failure> {
    let mut found = Vec::new();
    for spec in trees {
        let tree = tree::resolve_in(spec, places, job)?;
        if tree.repository.commit_of(&format!("{}^", tree.commit)).is_err() {
            return Err(Failure::usage(format!("{spec} has no history to search"))
                .at("--since")
                .hint("give a git folder with its history; what is fetched or imported is one commit"));
        }
        // Named as the tree itself is: its tags and branches are those of the folder, not of the cache
        let folder = spec.split_once('@').map_or(spec.as_str(), |(folder, _)| folder);
        let start = tree::resolve_in(&format!("{folder}@{since}"), places, job)
            .map_err(|failure| failure.at("--since"))?
            .commit;
        if !tree.repository.is_ancestor(&start, &tree.commit)? {
            return Err(Failure::usage(format!("`{since}` is no ancestor of {spec}"))
                .at("--since")
                .hint("give an earlier commit of the same history"));
        }
        for patch in patches {
            found.push(Search { tree: &tree, patch, job, looked_at: 0 }.turn(&start)?);
        }
    }
    Ok(found)
}

/// A search through a tree's history.
struct Search<'a> {
    tree: &'a Tree,
    patch: &'a Patch,
    job: Job<'a>,
    looked_at: usize,
}

impl Search<'_> {
    fn turn(mut self, start: &str) -> Result<Turn, Failure> {
        let commits = self.commits(start)?;
        let (from, to) = (self.at(start)?, self.at(&self.tree.commit)?);
        let mut skipped = BTreeSet::new();
        let changed_by = match kind(&from) == kind(&to) {
            true => None,
            false => self.first_with([&from, &to], &commits, &mut skipped)?,
        };
        Ok(Turn {
            tree: self.tree.name.clone(),
            patch: self.patch.name.clone(),
            from: words(&from),
            to: words(&to),
            changed_by,
            candidates: commits.len(),
            looked_at: self.looked_at,
            skipped: skipped.len(),
        })
    }

    /// The commits after the start that can change the state, oldest first.
    fn commits(&self, start: &str) -> Result<Vec<CommitName>, Failure> {
        let (range, paths) = (format!("{start}..{}", self.tree.commit), paths(self.patch));
        let args: Vec<&str> =
            ["--first-parent", &range, "--"].into_iter().chain(paths.iter().map(String::as_str)).collect();
        let found = self.tree.repository.log(&args, LIMIT)?;
        let mut commits = found.ok_or_else(|| {
            Failure::host(format!("listing the commits of {range} took longer than {} s", LIMIT.as_secs()))
                .hint("`git commit-graph write --changed-paths` in that repository makes it fast")
        })?;
        commits.reverse();
        Ok(commits)
    }

    /// The first of the commits, oldest first, from which on the state is that of the later end, which the last one
    /// has. Where a file is not there, a commit says nothing, and its neighbours are asked.
    fn first_with(
        &mut self,
        [from, to]: [&Option<State>; 2],
        commits: &[CommitName],
        skipped: &mut BTreeSet<usize>,
    ) -> Result<Option<CommitName>, Failure> {
        let is_missing = |state: &Option<State>| matches!(state, Some(State::MissingFile));
        let skips = !is_missing(from) && !is_missing(to);
        let (mut before, mut since) = (0_usize, commits.len());
        loop {
            let middle = before.midpoint(since);
            let open = (before + 1..since).filter(|place| !skipped.contains(place));
            let Some(place) = open.min_by_key(|place| place.abs_diff(middle)) else { break };
            interrupt::check()?;
            self.looked_at += 1;
            let state = self.at(&commits[place - 1].commit)?;
            match () {
                () if skips && is_missing(&state) => drop(skipped.insert(place)),
                () if kind(&state) == kind(to) => since = place,
                () => before = place,
            }
        }
        Ok(commits.get(since.wrapping_sub(1)).cloned())
    }

    /// The state at a commit; `None` where git cannot take the diff.
    fn at(&self, commit: &str) -> Result<Option<State>, Failure> {
        let tree = Tree { commit: commit.to_owned(), ..self.tree.clone() };
        match apply::state_of(self.patch, &tree, self.job) {
            Ok(state) => Ok(Some(state)),
            Err(failure) if failure.class == Class::Apply => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}

fn words(state: &Option<State>) -> String {
    state.as_ref().map_or("cannot be taken by git".to_owned(), State::to_string)
}

fn kind(state: &Option<State>) -> Option<&'static str> {
    state.as_ref().map(State::name)
}

fn paths(patch: &Patch) -> Vec<String> {
    let of_diff = patch.diff.files.iter().flat_map(|change| change.paths()).map(|path| path.to_string());
    let probes = patch.about.iter().flat_map(|about| about.cured_when.iter().chain(&about.stalls_when));
    let mut paths: Vec<String> = of_diff.chain(probes.map(|probe| probe.file.clone())).collect();
    paths.sort();
    paths.dedup();
    paths
}
