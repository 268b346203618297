//! Which patches stand how to which trees: what there is to compare, before anything is built.

use super::Settings;
use crate::apply::{self, Revision, Standing};
use crate::blame::{Class, Failure};
use crate::catalogue::Catalogue;
use crate::event::Stage;
use crate::interrupt;
use crate::job::Job;
use crate::report::Trouble;
use crate::rootfs;
use crate::series;
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
    /// What is compared with; none where the patch fits in no way, and only today's cost is asked for.
    pub baseline: Option<Revision>,
    /// What is judged.
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

/// The patches of these names: all of the catalogue's if none. What is no name of the catalogue, but
/// looks like or is something else that may hold a patch, is read as that; `archive` is the address of
/// the list's archive that threads are fetched from.
///
/// # Errors
///
/// There is no such patch, it is not whole, or two of them go by one name; or what is said of one cannot
/// be.
pub fn patches(catalogue: &Catalogue, names: &[String], archive: &str, job: Job<'_>) -> Result<Vec<Patch>, Failure> {
    let strangers = if names.is_empty() { source::passed_over(catalogue)? } else { Vec::new() };
    for message in catalogue.passed_over()?.into_iter().chain(strangers) {
        job.notice(Stage::Source, message, None);
    }
    let one = |name: &String| match source::find(catalogue, name) {
        Err(_) if !source::names(catalogue)?.contains(name) && series::is_input(name) => {
            series::load(name, archive, job)
        }
        found => found,
    };
    refuse_twice(names.iter(), "`{}` is given twice", "--patch takes each patch once")?;
    let patches = match names.is_empty() {
        true => source::load_all(catalogue)?,
        false => names.iter().map(one).collect::<Result<Vec<_>, _>>()?,
    };
    let names = patches.iter().map(|patch| &patch.name);
    refuse_twice(names, "two patches are named `{}`", "results are kept by name: rename one of the files")?;
    check_names(&patches, catalogue, job)?;
    Ok(patches)
}

fn refuse_twice<'a>(names: impl Iterator<Item = &'a String>, what: &str, hint: &str) -> Result<(), Failure> {
    let mut seen = std::collections::BTreeSet::new();
    match names.into_iter().find(|name| !seen.insert(*name)) {
        None => Ok(()),
        Some(twice) => Err(Failure::usage(what.replace("{}", twice)).at("--patch").hint(hint)),
    }
}

/// Makes sure that what patches say of benchmarks is said of such as there are, and tells which of
/// their competitors there are not.
fn check_names(patches: &[Patch], catalogue: &Catalogue, job: Job<'_>) -> Result<(), Failure> {
    let benchmarks = rootfs::benchmarks(catalogue)?;
    let known = source::names(catalogue)?;
    for (patch, about) in patches.iter().filter_map(|patch| Some((patch, patch.about.as_ref()?))) {
        let place = |path: &[&str]| source::line_of(catalogue, &patch.name, path);
        for name in &about.benchmarks {
            rootfs::find(&benchmarks, name).map_err(|failure| failure.at(place(&["benchmarks:", name])))?;
        }
        for figure in &about.figures {
            let path = ["figures:", &figure.benchmark];
            let found = rootfs::find(&benchmarks, &figure.benchmark).map_err(|failure| failure.at(place(&path)))?;
            let is_known = |name: &&String| found.parameters.iter().any(|parameter| parameter.name == **name);
            if let Some(odd) = figure.parameters.keys().find(|name| !is_known(name)) {
                let what = format!("`{}` has no parameter `{odd}`", found.name);
                return Err(Failure::usage(what).at(place(&["figures:", &format!("{odd}:")])));
            }
        }
        for rival in about.competitors.iter().filter(|rival| !known.contains(rival)) {
            let message = format!("{}: its competitor `{rival}` is not among the patches", patch.name);
            job.notice(Stage::Source, message, None);
        }
    }
    Ok(())
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
        let standing = match apply::stand(&self.patches[patch], &self.trees[tree], job) {
            Ok(standing) => standing,
            Err(failure) => return self.trouble(tree, patch, failure),
        };
        let (baseline, candidate) = match standing.demand_comparison().cloned() {
            Ok((baseline, candidate)) => (Some(baseline), candidate),
            Err(failure) => {
                let what = failure.what.clone();
                self.trouble(tree, patch, failure)?;
                // Where no benchmark is known to show the patch, nobody could say what to time
                if self.patches[patch].benchmarks().is_none_or(<[String]>::is_empty) {
                    return Ok(());
                }
                job.notice(Stage::Apply, what, Some("what base costs today is measured all the same"));
                (None, standing.base.clone())
            }
        };
        self.cases.push(Case { tree, patch, standing, baseline, candidate });
        Ok(())
    }

    /// Notes why a patch cannot be compared on a tree, which does not keep the others from it.
    fn trouble(&mut self, tree: usize, patch: usize, failure: Failure) -> Result<(), Failure> {
        if failure.class != Class::Apply {
            return Err(failure);
        }
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
}
