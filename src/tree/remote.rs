//! Kernels in git repositories elsewhere, fetched without their history.

use std::time::{Duration, Instant};

use camino::Utf8Path;

use super::import::Imported;
use super::{Repository, space};
use crate::blame::Failure;
use crate::event::{Ending, Stage};
use crate::job::{Job, Task};
use crate::process::{Ended, Watch};
use crate::store::{Digest, Lock};

/// A kernel is some 250 MB: long enough for a slow line.
const LIMIT: Duration = Duration::from_secs(2 * 3600);

/// The commit of a revision of a repository elsewhere. A branch is asked for anew each time; a
/// commit that is there already is not.
pub(super) fn fetch(name: &str, address: &str, rev: &str, job: Job<'_>) -> Result<(Imported, String), Failure> {
    let id = Digest::of("remote").field("address", address).hex();
    let home = job.cache.folder(&format!("trees/remote-{}", &id[..24]))?;
    let _lock = Lock::take(&home.join("import.lock"), || {
        job.notice(Stage::Tree, format!("{name} is being fetched by another nspatch; waiting for it"), None);
    })?;
    let repository = Repository::create(&home.join("repo.git"))?;
    let task = job.begin(Stage::Tree, format!("fetch {name}"), None);
    let (commit, ending) = match already(&repository, rev) {
        Some(commit) => (commit, Ending::Reused),
        None => (fetch_now(&repository, address, rev, &task, job)?, Ending::Done),
    };
    task.end(ending);
    let origin = format!("{address} {rev} {}", &commit[..12]);
    Ok((Imported { repository, commit }, origin))
}

fn already(repository: &Repository, rev: &str) -> Option<String> {
    let full = rev.len() == 40 && rev.bytes().all(|byte| byte.is_ascii_hexdigit());
    full.then(|| repository.commit_of(rev).ok()).flatten()
}

fn fetch_now(
    repository: &Repository,
    address: &str,
    rev: &str,
    task: &Task<'_>,
    job: Job<'_>,
) -> Result<String, Failure> {
    if rev.is_empty() || rev.starts_with('-') || rev.contains([':', ' ', '*', '^', '~']) {
        return Err(Failure::usage(format!("`{rev}` is no name that can be fetched"))
            .at(address)
            .hint("give a branch, a tag or a commit"));
    }
    // A killed fetch leaves locks and half a pack; whoever holds our lock is alone here
    let _ = fs_err::remove_file(repository.git_dir().join("shallow.lock"));
    let kept = format!("refs/nspatch/{}", &Digest::of("rev").field("rev", rev).hex()[..24]);
    let log = job.log(&format!("fetch-{rev}"));
    let call = repository
        .git()
        .args(["fetch", "--depth=1", "--no-tags", "--no-write-fetch-head", "--progress", address])
        .arg(format!("+{rev}:{kept}"))
        .deadline(LIMIT)
        .log(&log);
    let mut told = Instant::now();
    let ended = call.run_watched(|| {
        if told.elapsed() > Duration::from_secs(1) {
            told = Instant::now();
            task.advance(0, last_progress(&log));
        }
        Watch::On
    })?;
    if !ended.succeeded() {
        return Err(explained(repository, &ended, address, rev));
    }
    repository.commit_of(&kept)
}

/// What git wrote last of its progress, which it separates by carriage returns.
fn last_progress(log: &Utf8Path) -> String {
    let text = fs_err::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.trim_end().rsplit(['\r', '\n']).next().unwrap_or_default().trim().to_owned()
}

fn explained(repository: &Repository, ended: &Ended, address: &str, rev: &str) -> Failure {
    let failure = space::explained(ended.failure(), repository.git_dir());
    let said = failure.excerpt.join("\n");
    if said.contains("couldn't find remote ref") || said.contains("not our ref") {
        return Failure::usage(format!("there is no branch, tag or commit `{rev}` at {address}"))
            .excerpt(ended.last_lines(2))
            .hint("a commit has to be given with all its 40 digits");
    }
    if space::is_full(&failure) {
        return failure;
    }
    failure.hint("is the network there? A folder or tarball works without it")
}

#[cfg(test)]
mod tests;
