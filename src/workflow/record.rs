//! The run folder: everything needed to judge again without building, written as it comes.
//!
//! `run.json` is there from the start and says that the run was not finished until it is, so that
//! a run that was cut is never taken for a good one.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::cases::Cases;
use super::kernels::Kernels;
use crate::blame::{Blame, Class, Failure};
use crate::measure::Booted;
use crate::report::{self, Run, Trouble};
use crate::source::Patch;
use crate::store::{Lock, write_atomically, write_json};

/// All that the boots gave, from which everything can be judged again.
pub(super) const BOOTS: &str = "boots.json";
/// All that the boots gave which show what a new layout does.
const LAYOUTS: &str = "layouts.json";
/// What a run folder holds beside `run.json`, its lock and the logs, which go on.
const PARTS: [&str; 7] = ["patches", "configs", "boots", "states.json", "images.json", LAYOUTS, BOOTS];

/// A run folder that this process writes.
pub(super) struct Record {
    folder: Utf8PathBuf,
    _lock: Lock,
}

impl Record {
    /// Begins a run folder. What a run left there that did not come to its end is taken away, so that the
    /// same command can be given again.
    ///
    /// # Errors
    ///
    /// The folder holds a whole run already, or another nspatch is writing it.
    pub(super) fn begin(folder: &Utf8Path) -> Result<Self, Failure> {
        let taken = |what: &str| Failure::usage(what).at(folder).hint("give another folder with --out");
        let lock =
            Lock::try_take(&folder.join("lock"))?.ok_or_else(|| taken("another nspatch is writing this run folder"))?;
        let earlier = folder.join("run.json");
        if !earlier.exists() && holds_other_files(folder)? {
            return Err(taken("this folder holds files that are no run's"));
        }
        if earlier.exists() {
            let cut = report::read(&fs_err::read_to_string(&earlier)?).is_ok_and(|run| run.is_cut());
            if !cut {
                return Err(taken("this folder holds a run already"));
            }
            clear(folder)?;
        }
        Ok(Record { folder: folder.to_owned(), _lock: lock })
    }

    /// Writes how far the run is.
    pub(super) fn unfinished(&self, run: &Run) -> Result<(), Failure> {
        let failure = Failure::new(Class::Interrupted, Blame::Host, "the run was not finished")
            .at(&self.folder)
            .hint("run the command again: finished builds are kept");
        self.stopped(run, failure)
    }

    /// Writes what stopped the run.
    pub(super) fn stopped(&self, run: &Run, failure: Failure) -> Result<(), Failure> {
        let mut run = run.clone();
        run.failures.push(Trouble { patch: None, tree: None, arch: None, variant: None, stage: None, failure });
        self.finished(&run)
    }

    /// Writes the finished run.
    pub(super) fn finished(&self, run: &Run) -> Result<(), Failure> {
        write_json(&self.folder.join("run.json"), run)
    }

    /// Keeps the patches as they were used.
    pub(super) fn patches(&self, patches: &[Patch]) -> Result<(), Failure> {
        for patch in patches {
            let folder = self.folder.join("patches").join(&patch.name);
            write_atomically(&folder.join("original.patch"), &patch.original)?;
            for port in &patch.ports {
                write_atomically(&folder.join("ports").join(&port.entry.file), &port.diff.text)?;
            }
            for control in &patch.controls {
                write_atomically(&folder.join(&control.entry.file), &control.diff.text)?;
            }
        }
        Ok(())
    }

    /// Keeps how each patch stands to each tree, down to the commits that were compared.
    pub(super) fn states(&self, cases: &Cases) -> Result<(), Failure> {
        let standings: Vec<_> = cases.cases.iter().map(|case| (&cases.trees[case.tree].name, &case.standing)).collect();
        write_json(&self.folder.join("states.json"), &standings)
    }

    /// Keeps the configurations, each once, and what was built with which compiler.
    pub(super) fn kernels(&self, kernels: &Kernels) -> Result<(), Failure> {
        write_json(&self.folder.join("images.json"), &kernels.values().collect::<Vec<_>>())?;
        let mut seen = BTreeSet::new();
        for image in kernels.values().filter(|image| seen.insert(&image.config_sha256)) {
            let config = fs_err::read(image.path.with_file_name("config"))?;
            write_atomically(&self.folder.join("configs").join(&image.config_sha256), &config)?;
        }
        Ok(())
    }

    /// Keeps all that each boot gave from which the layout floors come.
    pub(super) fn layouts(&self, booted: &[Vec<Booted>]) -> Result<(), Failure> {
        write_json(&self.folder.join(LAYOUTS), &booted)
    }

    /// Keeps all that each boot of each comparison gave, in the order of the comparisons.
    pub(super) fn boots<'a>(&self, booted: impl Iterator<Item = &'a [Booted]>) -> Result<(), Failure> {
        write_json(&self.folder.join(BOOTS), &booted.collect::<Vec<_>>())
    }
}

/// Whether a folder without a run holds anything but what is there before one begins: what lies beside a run could
/// be overwritten, or taken away with it.
fn holds_other_files(folder: &Utf8Path) -> Result<bool, Failure> {
    for entry in fs_err::read_dir(folder)? {
        if !["lock", "logs"].map(Some).contains(&entry?.file_name().to_str()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn clear(folder: &Utf8Path) -> Result<(), Failure> {
    for path in PARTS.map(|name| folder.join(name)) {
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() => fs_err::remove_dir_all(path)?,
            Ok(_) => fs_err::remove_file(path)?,
            Err(_) => {}
        }
    }
    Ok(())
}
