//! Finding out how a patch stands to a tree.
//!
//! A change that is in the tree must never be put in a second time, and git would do that where the
//! lines around it allow. So for each degree of strictness the reverse is tried before the forward
//! direction, and whatever needs leniency comes after all that needs none.

use super::conflict::{FileConflict, locate};
use super::index::{Attempt, Context, Index};
use super::standing::{Fit, Standing, State};
use super::{Clash, Revision, Variant};
use crate::blame::Failure;
use crate::event::{Ending, Stage};
use crate::job::Job;
use crate::source::{Diff, Direction, Outcome, Patch};
use crate::tree::Tree;

/// Lines of context that must at least be the same. With fewer, a hunk that only adds lines would
/// be put beside anything.
const REDUCED: u8 = 2;

/// Finds out how a patch stands to a tree, and makes the revision that follows from it. Nothing but
/// the repository of the tree is written to, and there only objects and a ref below `refs/nspatch`.
///
/// # Errors
///
/// Git cannot take the diff at all, the diff changes nothing, or the machine fails. A patch that
/// does not fit is a [`State`], not a failure.
pub fn stand(patch: &Patch, tree: &Tree, job: Job<'_>) -> Result<Standing, Failure> {
    let task = job.begin(Stage::Apply, &patch.name, None);
    let index = Index::of(tree, patch, job)?;
    let base = index.base()?;
    let cured = is_cured(patch, &index)?;
    let standing = match way(patch, &index, cured)? {
        Some(way) => follow(patch, index, base, way)?,
        None => Standing { patch: patch.name.clone(), state: unfit(patch, &index, cured)?, base, comparison: None },
    };
    task.end(Ending::Done);
    if let State::Applies(Fit::ReducedContext { .. }) | State::Upstream(Fit::ReducedContext { .. }) = standing.state {
        job.notice(
            Stage::Apply,
            format!("{}: {}", patch.name, standing.sentence()),
            Some("the lines around it changed: read the edit before you trust the verdict"),
        );
    }
    Ok(standing)
}

/// One way to make an edit.
struct Way<'a> {
    diff: &'a Diff,
    direction: Direction,
    context: Context,
    state: State,
}

fn is_cured(patch: &Patch, index: &Index<'_>) -> Result<bool, Failure> {
    let Some(probe) = patch.about.as_ref().and_then(|about| about.cured_when.as_ref()) else {
        return Ok(false);
    };
    Ok(probe.holds(index.file(probe.file.as_str().into())?.as_deref()))
}

/// The first way that fits. A tree that has the cure is never given it again.
fn way<'a>(patch: &'a Patch, index: &Index<'_>, cured: bool) -> Result<Option<Way<'a>>, Failure> {
    let taken_out = strict(patch, index, Direction::Reverse)?;
    let put_in = if cured { None } else { strict(patch, index, Direction::Forward)? };
    match (taken_out, put_in) {
        // Where both fit, lines repeat; the one that fits without being moved is meant
        (Some(way), Some(other)) if is_exact(&other) && !is_exact(&way) => return Ok(Some(other)),
        (Some(way), _) => return Ok(Some(way)),
        (None, put_in) => {
            if let Some(way) = port(patch, index, Direction::Reverse)? {
                return Ok(Some(way));
            }
            if put_in.is_some() {
                return Ok(put_in);
            }
        }
    }
    if let Some(way) = mailed(patch, index, Direction::Reverse, Some(REDUCED))? {
        return Ok(Some(way));
    }
    if cured {
        return Ok(None);
    }
    match mailed(patch, index, Direction::Forward, Some(REDUCED))? {
        Some(way) => Ok(Some(way)),
        None => port(patch, index, Direction::Forward),
    }
}

fn is_exact(way: &Way<'_>) -> bool {
    matches!(way.state, State::Applies(Fit::Exact) | State::Upstream(Fit::Exact))
}

fn strict<'a>(patch: &'a Patch, index: &Index<'_>, direction: Direction) -> Result<Option<Way<'a>>, Failure> {
    mailed(patch, index, direction, None)
}

fn mailed<'a>(
    patch: &'a Patch,
    index: &Index<'_>,
    direction: Direction,
    context: Context,
) -> Result<Option<Way<'a>>, Failure> {
    Ok(match index.attempt(&patch.diff.text, direction, context)? {
        Attempt::Fits(fit) => Some(Way { diff: &patch.diff, direction, context, state: state(direction, fit) }),
        Attempt::Refused(_) => None,
    })
}

/// The first port of a direction that fits. Ports are made for a tree, so they get no leniency.
fn port<'a>(patch: &'a Patch, index: &Index<'_>, direction: Direction) -> Result<Option<Way<'a>>, Failure> {
    for port in patch.ports(direction) {
        if let Attempt::Fits(_) = index.attempt(&port.diff.text, Direction::Forward, None)? {
            let state = state(direction, Fit::Port { file: port.entry.file.clone() });
            return Ok(Some(Way { diff: &port.diff, direction: Direction::Forward, context: None, state }));
        }
    }
    Ok(None)
}

fn state(direction: Direction, fit: Fit) -> State {
    match direction {
        Direction::Forward => State::Applies(fit),
        Direction::Reverse => State::Upstream(fit),
    }
}

fn follow(patch: &Patch, index: Index<'_>, base: Revision, way: Way<'_>) -> Result<Standing, Failure> {
    let variant = if matches!(way.state, State::Upstream(_)) { Variant::Reversed } else { Variant::Patched };
    let message = format!("{variant}: {}", patch.title);
    let edited = index.edit(variant, &way.diff.text, (way.direction, way.context), &message)?;
    let comparison = match variant {
        Variant::Reversed => (edited, base.clone()),
        _ => (base.clone(), edited),
    };
    Ok(Standing { patch: patch.name.clone(), state: way.state, base, comparison: Some(comparison) })
}

/// The state of a patch that fits in no way.
fn unfit(patch: &Patch, index: &Index<'_>, cured: bool) -> Result<State, Failure> {
    let reverse = conflicts(patch, index, Direction::Reverse)?;
    if cured {
        let merged = patch.about.as_ref().is_some_and(|about| about.fate.outcome == Outcome::Merged);
        return Ok(if merged { State::UpstreamChanged(reverse) } else { State::Superseded });
    }
    let forward = conflicts(patch, index, Direction::Forward)?;
    Ok(State::Conflicts(if reverse.len() < forward.len() { reverse } else { forward }))
}

fn conflicts(patch: &Patch, index: &Index<'_>, direction: Direction) -> Result<Vec<FileConflict>, Failure> {
    let mut found = Vec::new();
    for change in &patch.diff.files {
        found.extend(locate(change, direction, index.file(change.path_before(direction))?.as_deref()));
    }
    if found.is_empty() {
        // Git refused it all the same, and says which file
        let Attempt::Refused(words) = index.attempt(&patch.diff.text, direction, None)? else {
            return Ok(found);
        };
        let refused =
            |line: &String| Some(line.strip_prefix("error: ")?.strip_suffix(": patch does not apply")?.into());
        found.extend(words.iter().filter_map(refused).map(|file| FileConflict {
            file,
            direction,
            clash: Clash::Order,
        }));
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
