//! Importing an archive, once.

use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::archive::{Counted, Packing};
use super::pour::pour;
use super::{Repository, space};
use crate::blame::{Blame, Failure};
use crate::event::{Ending, Stage};
use crate::job::Job;
use crate::store::{Digest, Lock, digest_file, read_json, write_json};

/// What fast-import makes its commit on.
const BRANCH: &str = "refs/heads/main";
/// How the folders of imports under way begin.
const UNFINISHED: &str = "unfinished-";
/// A kernel takes half a minute; a slow disk may take much longer.
const LIMIT: Duration = Duration::from_secs(3600);

/// An imported tree: where, and which commit.
pub(super) struct Imported {
    pub(super) repository: Repository,
    pub(super) commit: String,
}

/// The commit of an archive's content, imported where that was not done before.
pub(super) fn archive(path: &Utf8Path, job: Job<'_>) -> Result<Imported, Failure> {
    let path = path.canonicalize_utf8().map_err(|error| Failure::io(&error).at(path))?;
    let digest = digest_of(&path, job)?;
    let home = job.cache.folder("trees")?.join(format!("tar-{}", &digest[..24]));
    let git_dir = home.join("repo.git");
    if !git_dir.is_dir() {
        import(&path, &home, job).map_err(
            |failure| {
                if failure.place.is_none() { failure.at(&path) } else { failure }
            },
        )?;
    }
    let repository = Repository::at(git_dir);
    Ok(Imported { commit: repository.commit_of(BRANCH)?, repository })
}

/// A file's digest as it was when it looked like this.
#[derive(Serialize, Deserialize)]
struct Seen {
    path: Utf8PathBuf,
    digest: String,
}

/// The SHA-256 of a file, remembered for as long as the file is not touched.
fn digest_of(path: &Utf8Path, job: Job<'_>) -> Result<String, Failure> {
    let look = fs_err::metadata(path)?;
    let key = Digest::of("seen")
        .field("path", path.as_str())
        .field("size", look.size().to_le_bytes())
        .field("inode", look.ino().to_le_bytes())
        .field("mtime", [look.mtime().to_le_bytes(), look.mtime_nsec().to_le_bytes()].concat())
        .field("ctime", [look.ctime().to_le_bytes(), look.ctime_nsec().to_le_bytes()].concat())
        .hex();
    let note = job.cache.folder("trees/seen")?.join(format!("{}.json", &key[..32]));
    match read_json::<Seen>(&note) {
        Ok(seen) => Ok(seen.digest),
        Err(_) => {
            Packing::of(path)?;
            let digest = digest_file(path)?;
            write_json(&note, &Seen { path: path.to_owned(), digest: digest.clone() })?;
            Ok(digest)
        }
    }
}

fn import(path: &Utf8Path, home: &Utf8Path, job: Job<'_>) -> Result<(), Failure> {
    let name = path.file_name().unwrap_or(path.as_str());
    let _lock = Lock::take(&home.join("import.lock"), || {
        job.notice(Stage::Tree, format!("{name} is being imported by another nspatch; waiting for it"), None);
    })?;
    let git_dir = home.join("repo.git");
    if git_dir.is_dir() {
        return Ok(());
    }
    remove_leftovers(home)?;
    let scratch =
        tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(home).map_err(|error| Failure::io(&error).at(home))?;
    let fresh = Utf8Path::from_path(scratch.path()).unwrap_or(home).join("repo.git");
    let repository = Repository::create(&fresh)?;
    feed(path, name, &repository, job)?;
    repository.version(&repository.commit_of(BRANCH)?).map_err(|failure| failure.at(path))?;
    fs_err::rename(&fresh, &git_dir)?;
    Ok(())
}

/// Removes what imports that were killed have left. Only called by who holds the lock.
fn remove_leftovers(home: &Utf8Path) -> Result<(), Failure> {
    for entry in home.read_dir_utf8().map_err(|error| Failure::io(&error).at(home))? {
        let entry = entry?;
        if entry.file_name().starts_with(UNFINISHED) {
            fs_err::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

fn feed(path: &Utf8Path, name: &str, repository: &Repository, job: Job<'_>) -> Result<(), Failure> {
    let packing = Packing::of(path)?;
    let file = fs_err::File::open(path)?;
    let total = file.metadata()?.len();
    // A kernel's pack is some 2.3 times its tar.xz and less than its plain tar
    let factor = if packing == Packing::Plain { 1 } else { 3 };
    space::demand(job.cache.root(), total.saturating_mul(factor))?;
    let task = job.begin(Stage::Tree, format!("import {name}"), Some(total));
    let (counted, read) = Counted::new(file);
    let unpacked = packing.unpacked(counted)?;
    let log = job.log(&format!("import-{name}"));
    // Level 1 and no deltas: three times faster than the defaults, for a pack a fifth larger
    let call = repository
        .git()
        .args(["-c", "core.compression=1", "-c", "fastimport.unpackLimit=1"])
        .args(["fast-import", "--quiet", "--done", "--depth=0"])
        .deadline(LIMIT)
        .log(log);
    let mut told = 0;
    let ended = call.run_fed(|pipe| {
        pour(unpacked, pipe, |entry| {
            let done = read.load(Ordering::Relaxed);
            if done >= told + total / 200 {
                told = done;
                task.advance(done, String::from_utf8_lossy(entry));
            }
        })
    })?;
    if !ended.succeeded() {
        return Err(space::explained(ended.failure(), repository.git_dir()));
    }
    task.end(Ending::Done);
    Ok(())
}

/// Whether a failure lies in what the user gave, so that a download of it is not worth keeping.
pub(super) fn is_bad_input(failure: &Failure) -> bool {
    failure.blame == Blame::User && failure.class == crate::blame::Class::Usage
}

#[cfg(test)]
mod tests;
