//! Folders of nspatch itself within a kernel's folder: the cache, run folders. What a run writes
//! there must not become a part of the tree, which would be another one each time.

use camino::{Utf8Path, Utf8PathBuf};

use crate::job::Job;
use crate::store::Cache;

/// The folder that takes the run folders unless another is asked for.
const RUNS: &str = "nspatch-runs";

/// The folders of nspatch below a folder, relative to it.
pub(super) fn within(folder: &Utf8Path, job: Job<'_>) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    search(folder, folder, job, &mut found);
    found.sort();
    found
}

fn search(root: &Utf8Path, at: &Utf8Path, job: Job<'_>, found: &mut Vec<Utf8PathBuf>) {
    // What cannot be read is told by git, which reads it next
    for entry in at.read_dir_utf8().into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if is_own(path, job) {
            found.push(path.strip_prefix(root).unwrap_or(path).to_owned());
        } else {
            search(root, path, job, found);
        }
    }
}

/// Whether a folder is one that nspatch writes.
pub(super) fn is_own(path: &Utf8Path, job: Job<'_>) -> bool {
    let logs = || job.logs.canonicalize_utf8().is_ok_and(|logs| logs == path);
    path.file_name() == Some(RUNS) || path == job.cache.root() || Cache::is_at(path) || is_run(path) || logs()
}

/// Whether a folder holds the record of a run.
fn is_run(folder: &Utf8Path) -> bool {
    let Ok(text) = fs_err::read(folder.join("run.json")) else { return false };
    serde_json::from_slice::<serde_json::Value>(&text).is_ok_and(|run| run["nspatch"].is_string())
}
