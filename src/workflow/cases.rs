//! Which patches stand how to which trees: what there is to compare, before anything is built.

use camino::Utf8Path;

use super::Settings;
use crate::apply::{self, Revision, Standing};
use crate::blame::{Class, Failure};
use crate::catalogue::Catalogue;
use crate::event::Stage;
use crate::interrupt;
use crate::job::Job;
use crate::report::Trouble;
use crate::source::{self, Patch};
use crate::tree::{self, Tree};

/// One patch on one tree that can be compared.
#[derive(Clone, Debug)]
pub(super) struct Case {
    /// The tree's place in [`Cases::trees`].
    pub tree: usize,
    /// The patch's place in [`Cases::patches`].
    pub patch: usize,
    /// How the patch stands to the tree.
    pub standing: Standing,
    /// The two revisions.
    pub baseline: Revision,
    /// The other one.
    pub candidate: Revision,
}

/// All that the settings name, found.
pub(super) struct Cases {
    /// The trees, as named.
    pub trees: Vec<Tree>,
    /// The patches, as named.
    pub patches: Vec<Patch>,
    /// What can be compared.
    pub cases: Vec<Case>,
    /// Why the rest cannot.
    pub troubles: Vec<Trouble>,
}

/// The patches of these names: all of the catalogue's if none. What names a file, by its form or by
/// being one, is read as a file.
///
/// # Errors
///
/// There is no such patch, it is not whole, or two of them go by one name.
pub fn patches(catalogue: &Catalogue, names: &[String]) -> Result<Vec<Patch>, Failure> {
    if names.is_empty() {
        return source::load_all(catalogue);
    }
    let one = |name: &String| match source::find(catalogue, name) {
        Err(_) if name.contains('/') || Utf8Path::new(name).is_file() => source::from_file(Utf8Path::new(name)),
        found => found,
    };
    let patches: Vec<Patch> = names.iter().map(one).collect::<Result<_, _>>()?;
    let mut names = std::collections::BTreeSet::new();
    match patches.iter().find(|patch| !names.insert(&patch.name)) {
        None => Ok(patches),
        Some(twice) => Err(Failure::usage(format!("two patches are named `{}`", twice.name))
            .at("--patch")
            .hint("results are kept by name: rename one of the files")),
    }
}

/// Finds every tree and how every patch stands to it.
pub(super) fn find(settings: &Settings, patches: Vec<Patch>, job: Job<'_>) -> Result<Cases, Failure> {
    let trees = settings
        .trees
        .iter()
        .map(|spec| tree::resolve_in(spec, &settings.places, job))
        .collect::<Result<Vec<_>, _>>()?;
    let mut cases = Cases { trees, patches, cases: Vec::new(), troubles: Vec::new() };
    for tree in 0..cases.trees.len() {
        for patch in 0..cases.patches.len() {
            interrupt::check()?;
            cases.stand(tree, patch, job)?;
        }
    }
    Ok(cases)
}

impl Cases {
    fn stand(&mut self, tree: usize, patch: usize, job: Job<'_>) -> Result<(), Failure> {
        let stood = apply::stand(&self.patches[patch], &self.trees[tree], job);
        match stood.and_then(|standing| Ok((standing.demand_comparison()?.clone(), standing))) {
            Ok(((baseline, candidate), standing)) => {
                self.cases.push(Case { tree, patch, standing, baseline, candidate });
                Ok(())
            }
            // One patch that cannot be compared here does not keep the others from it
            Err(failure) if failure.class == Class::Apply => {
                self.troubles.push(Trouble {
                    patch: Some(self.patches[patch].name.clone()),
                    tree: Some(self.trees[tree].name.clone()),
                    arch: None,
                    variant: None,
                    stage: Some(Stage::Apply),
                    failure,
                });
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }
}
