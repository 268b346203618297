//! Finding out how a patch stands to a tree.
//!
//! A change that is in the tree must never be put in a second time, and git would do that where the
//! lines around it allow. So for each degree of strictness the reverse is tried before the forward
//! direction, and whatever needs leniency comes after all that needs none.

use super::conflict::{FileConflict, locate};
use super::history::History;
use super::index::{Attempt, Context, Index, base};
use super::presence::Presence;
use super::standing::{Fit, Standing, State};
use super::{Clash, Revision, Variant, series};
use crate::blame::Failure;
use crate::event::{Ending, Stage};
use crate::job::Job;
use crate::source::{Diff, Direction, Outcome, Patch, Probe};
use crate::tree::Tree;

/// Lines of context that must at least be the same. With fewer, a hunk that only adds lines would
/// be put beside anything.
const REDUCED: u8 = 2;
/// With this few lines of context a fit is told, but never used.
const GUESSED: u8 = 1;

/// Finds out how a patch stands to a tree, and makes the revision that follows from it. Nothing but
/// the repository of the tree is written to, and there only objects and a ref below `refs/nspatch`.
///
/// # Errors
///
/// Git cannot take the diff at all, the diff changes nothing, or the machine fails. A patch that
/// does not fit is a [`State`], not a failure.
pub fn stand(patch: &Patch, tree: &Tree, job: Job<'_>) -> Result<Standing, Failure> {
    let task = job.begin(Stage::Apply, &patch.name, None);
    let mut standing = stand_alone(patch, tree, job)?;
    let settled = matches!(
        standing.state,
        State::Applies { .. } | State::Upstream { .. } | State::WithoutMeaning { .. } | State::Superseded { .. }
    );
    if patch.parts.len() > 1 && !settled {
        let (series, rest) = series::walk(patch, tree, job)?;
        standing.series = series;
        if let (None, Some(rest)) = (&standing.comparison, rest) {
            standing.comparison = Some((standing.base.clone(), rest));
        }
    }
    task.end(Ending::Done);
    warn_of_reduced_context(&standing, job);
    Ok(standing)
}

/// As [`stand`], of the whole diff at once.
pub(super) fn stand_alone(patch: &Patch, tree: &Tree, job: Job<'_>) -> Result<Standing, Failure> {
    let index = Index::of(tree, patch, job)?;
    let base = base(tree)?;
    let look = Look { patch, index: &index };
    let (state, way) = look.state()?;
    let conflicts = look.conflicts_of(&state)?;
    let mut standing = Standing {
        patch: patch.name.clone(),
        state,
        conflicts,
        series: Vec::new(),
        arrival: None,
        control: None,
        base: base.clone(),
        comparison: None,
    };
    explain(&mut standing, patch, tree)?;
    let control = look.control(&standing.state)?;
    if let Some(way) = way {
        standing.comparison = Some(follow(patch, &index, base, &way)?);
    } else if let Some((file, way)) = control {
        standing.control = Some(file);
        standing.comparison = Some(follow(patch, &index, base, &way)?);
    }
    Ok(standing)
}

/// How a patch stands to a tree, without a look at the history and without making an edit.
///
/// # Errors
///
/// As [`stand`].
pub fn state_of(patch: &Patch, tree: &Tree, job: Job<'_>) -> Result<State, Failure> {
    let index = Index::of(tree, patch, job)?;
    Ok(Look { patch, index: &index }.state()?.0)
}

fn warn_of_reduced_context(standing: &Standing, job: Job<'_>) {
    let (State::Applies { fit: Fit::ReducedContext { .. } } | State::Upstream { fit: Fit::ReducedContext { .. } }) =
        standing.state
    else {
        return;
    };
    let hint = match standing.comparison {
        Some(_) => "the lines around it changed: read the edit before you trust the verdict",
        None => "the lines around it changed too much to put it in unseen: write a port",
    };
    job.notice(Stage::Apply, format!("{}: {}", standing.patch, standing.sentence()), Some(hint));
}

/// One way to make an edit.
struct Way<'a> {
    diff: &'a Diff,
    direction: Direction,
    context: Context,
    variant: Variant,
    fit: Fit,
}

impl Way<'_> {
    fn is_exact(&self) -> bool {
        self.fit == Fit::Exact
    }
}

/// A patch beside a tree.
#[derive(Clone, Copy)]
struct Look<'a> {
    patch: &'a Patch,
    index: &'a Index<'a>,
}

impl<'a> Look<'a> {
    /// The state, and the edit to make if it is one that can be tested by an edit with the patch itself.
    fn state(self) -> Result<(State, Option<Way<'a>>), Failure> {
        let cured = self.cured()?;
        let merged = self.patch.about.as_ref().is_some_and(|about| about.fate.outcome == Outcome::Merged);
        match self.way(cured && merged)? {
            Some(way) if way.variant == Variant::Reversed => Ok((State::Upstream { fit: way.fit.clone() }, Some(way))),
            Some(way) => Ok(match self.meaningless(cured)? {
                Some(why) => (State::WithoutMeaning { fit: way.fit, why }, None),
                None => (State::Applies { fit: way.fit.clone() }, Some(way)),
            }),
            None => Ok((self.unfit(cured, merged)?, None)),
        }
    }

    /// The first way that fits. A tree that has the patch in any form is never given it again.
    fn way(self, in_tree: bool) -> Result<Option<Way<'a>>, Failure> {
        let forward = |context| if in_tree { Ok(None) } else { self.mailed(Direction::Forward, context) };
        match (self.mailed(Direction::Reverse, None)?, forward(None)?) {
            // Where both fit, lines repeat; the one that fits without being moved is meant
            (Some(way), Some(other)) if other.is_exact() && !way.is_exact() => return Ok(Some(other)),
            (Some(way), _) => return Ok(Some(way)),
            (None, put_in) => {
                if let Some(way) = self.port(Direction::Reverse)?.or(put_in) {
                    return Ok(Some(way));
                }
            }
        }
        if let Some(way) = self.mailed(Direction::Reverse, Some(REDUCED))? {
            return Ok(Some(way));
        }
        match forward(Some(REDUCED))? {
            Some(way) => Ok(Some(way)),
            None if in_tree => Ok(None),
            None => self.port(Direction::Forward),
        }
    }

    fn mailed(self, direction: Direction, context: Context) -> Result<Option<Way<'a>>, Failure> {
        let diff = &self.patch.diff;
        Ok(match self.index.attempt(&diff.text, direction, context)? {
            Attempt::Fits(fit) => Some(Way { diff, direction, context, variant: made_by(direction), fit }),
            Attempt::Refused(_) => None,
        })
    }

    /// The first port of a direction that fits. Ports are made for a tree, so they get no leniency.
    fn port(self, direction: Direction) -> Result<Option<Way<'a>>, Failure> {
        for port in self.patch.ports(direction) {
            let fit = Fit::Port { file: port.entry.file.clone() };
            if let Some(way) = self.as_written(&port.diff, made_by(direction), fit)? {
                return Ok(Some(way));
            }
        }
        Ok(None)
    }

    fn as_written(self, diff: &'a Diff, variant: Variant, fit: Fit) -> Result<Option<Way<'a>>, Failure> {
        Ok(match self.index.attempt(&diff.text, Direction::Forward, None)? {
            Attempt::Fits(_) => Some(Way { diff, direction: Direction::Forward, context: None, variant, fit }),
            Attempt::Refused(_) => None,
        })
    }

    /// Where the stall is known to be cured, or never to have been: the first control that fits.
    fn control(self, state: &State) -> Result<Option<(String, Way<'a>)>, Failure> {
        let without_stall =
            matches!(state, State::Superseded { .. } | State::WithoutMeaning { .. } | State::UpstreamChanged);
        if !without_stall {
            return Ok(None);
        }
        for control in &self.patch.controls {
            if let Some(way) = self.as_written(&control.diff, Variant::Control, Fit::Exact)? {
                return Ok(Some((control.entry.file.clone(), way)));
            }
        }
        Ok(None)
    }

    /// Whether the tree has the cure, in whatever form, by a look at its source.
    fn cured(self) -> Result<bool, Failure> {
        for probe in self.patch.about.iter().flat_map(|about| &about.cured_when) {
            if self.holds(probe)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Why a patch that fits would change nothing that matters.
    fn meaningless(self, cured: bool) -> Result<Option<String>, Failure> {
        if cured {
            let by = self.cures();
            return Ok(Some(match by.is_empty() {
                true => "the tree has another cure".to_owned(),
                false => format!("the tree has another cure, {}", by.join(", ")),
            }));
        }
        for probe in self.patch.about.iter().flat_map(|about| &about.stalls_when) {
            if !self.holds(probe)? {
                return Ok(Some(format!("the tree does not have the stall, as not {probe}")));
            }
        }
        Ok(None)
    }

    fn holds(self, probe: &Probe) -> Result<bool, Failure> {
        let path = probe.file.as_str().into();
        let content = self.index.file(path)?;
        if content.is_none() && self.index.is_folder(path)? {
            let what = format!("`{path}` is a folder in this tree; a look at the source needs a file");
            return Err(Failure::usage(what).at(format!("patches/{}/patch.yaml", self.patch.name)));
        }
        Ok(probe.holds(content.as_deref()))
    }

    /// The commits that made the patch needless, as far as they are known.
    fn cures(self) -> Vec<String> {
        let commits = self.patch.about.iter().flat_map(|about| &about.fate.commits);
        commits
            .map(|commit| match &commit.release {
                Some(release) => format!("{} ({release})", commit.commit),
                None => commit.commit.clone(),
            })
            .collect()
    }

    /// The state of a patch that fits in no way.
    fn unfit(self, cured: bool, merged: bool) -> Result<State, Failure> {
        if cured {
            return Ok(if merged { State::UpstreamChanged } else { State::Superseded { by: self.cures() } });
        }
        let Presence { there, missing } = self.presence()?;
        if !there.is_empty() {
            return Ok(State::PartlyUpstream { there, missing });
        }
        let conflicts = self.conflicts(Direction::Forward)?;
        if !conflicts.is_empty() && conflicts.iter().all(|conflict| conflict.clash == Clash::Missing) {
            return Ok(State::MissingFile);
        }
        if let Some(way) = self.mailed(Direction::Forward, Some(GUESSED))? {
            return Ok(State::Applies { fit: way.fit });
        }
        let patches = prerequisites(&self.patch.original);
        Ok(if patches.is_empty() { State::Conflicts } else { State::MissingPrerequisite { patches } })
    }

    /// Where the patch and the tree disagree.
    fn conflicts_of(self, state: &State) -> Result<Vec<FileConflict>, Failure> {
        match state {
            State::Applies { .. }
            | State::WithoutMeaning { .. }
            | State::Upstream { .. }
            | State::Superseded { .. } => Ok(Vec::new()),
            State::UpstreamChanged => self.conflicts(Direction::Reverse),
            State::PartlyUpstream { .. } | State::MissingFile | State::MissingPrerequisite { .. } => {
                self.conflicts(Direction::Forward)
            }
            State::Conflicts => {
                let (forward, reverse) = (self.conflicts(Direction::Forward)?, self.conflicts(Direction::Reverse)?);
                Ok(if reverse.len() < forward.len() { reverse } else { forward })
            }
        }
    }

    fn presence(self) -> Result<Presence, Failure> {
        let mut presence = Presence::default();
        for change in &self.patch.diff.files {
            presence.look(change, self.index.file(&change.path)?.as_deref());
        }
        Ok(presence)
    }

    fn conflicts(self, direction: Direction) -> Result<Vec<FileConflict>, Failure> {
        let mut found = Vec::new();
        for change in &self.patch.diff.files {
            found.extend(locate(change, direction, self.index.file(change.path_before(direction))?.as_deref()));
        }
        if found.is_empty() {
            // Git refused it all the same, and says which file
            let Attempt::Refused(words) = self.index.attempt(&self.patch.diff.text, direction, None)? else {
                return Ok(found);
            };
            let refused =
                |line: &String| Some(line.strip_prefix("error: ")?.strip_suffix(": patch does not apply")?.into());
            found.extend(words.iter().filter_map(refused).map(|file| FileConflict {
                file,
                direction,
                clash: Clash::Order,
                changed_by: None,
            }));
        }
        Ok(found)
    }
}

fn made_by(direction: Direction) -> Variant {
    match direction {
        Direction::Forward => Variant::Patched,
        Direction::Reverse => Variant::Reversed,
    }
}

/// The patches that a mail says it needs, as `git format-patch --base` writes them.
fn prerequisites(mail: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(mail);
    text.lines()
        .filter_map(|line| line.strip_prefix("prerequisite-patch-id: "))
        .map(|id| id.trim().to_owned())
        .collect()
}

/// Adds what the history tells, where there is one: the commit that brought the patch, or those that
/// changed what it wants to find.
fn explain(standing: &mut Standing, patch: &Patch, tree: &Tree) -> Result<(), Failure> {
    let Some(history) = History::of(tree)? else { return Ok(()) };
    for conflict in &mut standing.conflicts {
        conflict.changed_by = history.mover(conflict)?;
    }
    match standing.state {
        State::Conflicts => {
            standing.arrival = history.merged_as_mailed(&patch.diff)?;
            if standing.arrival.is_some() {
                standing.state = State::UpstreamChanged;
            }
        }
        State::Upstream { .. } | State::UpstreamChanged | State::PartlyUpstream { .. } => {
            standing.arrival = history.arrival(&patch.diff)?;
        }
        State::Applies { .. }
        | State::WithoutMeaning { .. }
        | State::Superseded { .. }
        | State::MissingFile
        | State::MissingPrerequisite { .. } => {}
    }
    Ok(())
}

/// Makes the edit, and puts it on its side of the comparison.
fn follow(patch: &Patch, index: &Index<'_>, base: Revision, way: &Way<'_>) -> Result<(Revision, Revision), Failure> {
    let message = format!("{}: {}", way.variant, patch.title);
    let edited = index.edit(way.variant, &way.diff.text, (way.direction, way.context), &message)?;
    Ok(match way.variant {
        Variant::Reversed | Variant::Control => (edited, base),
        Variant::Base | Variant::Patched => (base, edited),
    })
}

#[cfg(test)]
mod tests;
