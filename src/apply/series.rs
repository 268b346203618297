//! A series that fits a tree neither way as a whole: each of its patches by itself.
//!
//! Series are merged patch by patch, so a tree may have the first ones already. The rest is then
//! still worth testing.

use serde::{Deserialize, Serialize};

use super::stand::stand_alone;
use super::{Arrival, FileConflict, Revision, State, Variant};
use crate::blame::Failure;
use crate::job::Job;
use crate::source::{self, Patch};
use crate::tree::Tree;

/// How one patch of a series stands to a tree, with those before it that the tree lacks put in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartStanding {
    /// Its place in the series, from 1.
    pub number: usize,
    /// Its title.
    pub title: String,
    /// How it stands.
    #[serde(flatten)]
    pub state: State,
    /// Where it and the tree disagree.
    pub conflicts: Vec<FileConflict>,
    /// The commit by which it came into the tree, where the history is there to tell.
    pub arrival: Option<Arrival>,
}

/// Looks at each patch of a series; gives how they stand, and the tree with all that it lacked, if there
/// is such a rest and all of it fits.
///
/// The reverse is looked for from the last patch to the first, as a later one may have changed what
/// an earlier one left.
pub(super) fn walk(patch: &Patch, tree: &Tree, job: Job<'_>) -> Result<(Vec<PartStanding>, Option<Revision>), Failure> {
    let mut found: Vec<Option<PartStanding>> = vec![None; patch.parts.len()];
    let mut without = tree.clone();
    for (place, part) in patch.parts.iter().enumerate().rev() {
        let standing = stand_alone(&alone(patch, part), &without, job)?;
        if let (State::Upstream { .. }, Some((reversed, _))) = (&standing.state, &standing.comparison) {
            without.commit.clone_from(&reversed.commit);
            found[place] = Some(of(part, standing));
        }
    }
    let mut with = tree.clone();
    let mut rest: Option<Revision> = None;
    let mut all = true;
    for (place, part) in patch.parts.iter().enumerate() {
        if found[place].is_some() {
            continue;
        }
        let standing = stand_alone(&alone(patch, part), &with, job)?;
        match &standing.comparison {
            Some((_, patched)) if patched.variant == Variant::Patched => {
                with.commit.clone_from(&patched.commit);
                rest = Some(joined(rest, patched));
            }
            _ => all = false,
        }
        found[place] = Some(of(part, standing));
    }
    Ok((found.into_iter().flatten().collect(), rest.filter(|_| all)))
}

/// A part as a patch of its own.
fn alone(patch: &Patch, part: &source::Part) -> Patch {
    Patch {
        name: format!("{} {}/{}", patch.name, part.number, patch.parts.len()),
        title: part.title.clone(),
        author: part.author.clone(),
        found: patch.found.clone(),
        original: Vec::new(),
        diff: part.diff.clone(),
        parts: vec![part.clone()],
        about: None,
        ports: Vec::new(),
        controls: Vec::new(),
    }
}

fn of(part: &source::Part, standing: super::Standing) -> PartStanding {
    PartStanding {
        number: part.number,
        title: part.title.clone(),
        state: standing.state,
        conflicts: standing.conflicts,
        arrival: standing.arrival,
    }
}

/// The later edit, with the files of both.
fn joined(earlier: Option<Revision>, later: &Revision) -> Revision {
    let mut files: Vec<_> = earlier.into_iter().flat_map(|one| one.files).chain(later.files.clone()).collect();
    files.sort();
    files.dedup();
    Revision { files, ..later.clone() }
}
