//! Importing an archive, once.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::archive::Packing;
use super::packers::Packers;
use super::{Repository, health, space};
use crate::blame::{Blame, Failure};
use crate::event::{Ending, Stage};
use crate::job::{Job, Task};
use crate::process::Ended;
use crate::store::{Digest, Lock, digest_file, read_json, write_json};

/// What fast-import makes its commit on.
const BRANCH: &str = "refs/heads/main";
/// A kernel takes half a minute; a slow disk may take much longer.
const LIMIT: Duration = Duration::from_secs(3600);

/// An imported tree: where, and which commit.
pub(super) struct Imported {
    pub(super) repository: Repository,
    pub(super) commit: String,
}

impl Imported {
    /// A commit that was just imported, if it is a kernel whose objects can be read.
    pub(super) fn checked(repository: &Repository, commit: String) -> Result<Self, Failure> {
        repository.version(&commit)?;
        Ok(Imported { repository: repository.clone(), commit })
    }
}

/// The commit of an archive's content, imported where that was not done before.
pub(super) fn archive(path: &Utf8Path, job: Job<'_>) -> Result<Imported, Failure> {
    let path = path.canonicalize_utf8().map_err(|error| Failure::io(&error).at(path))?;
    let seen = Seen::of(&path, job)?;
    let home = job.cache.folder("trees")?.join(format!("tar-{}", &seen.digest[..24]));
    let imported = match kept(&home) {
        Some(imported) => imported,
        None => import(&path, &home, job).map_err(|failure| match failure.place {
            None => failure.at(&path),
            Some(_) => failure,
        })?,
    };
    seen.remember()?;
    Ok(imported)
}

/// What was imported before, if it is whole.
fn kept(home: &Utf8Path) -> Option<Imported> {
    let repository = Repository::at(home.join("repo.git"));
    if health::damage(repository.git_dir()).is_some() {
        return None;
    }
    let commit = repository.commit_of(BRANCH).ok()?;
    Imported::checked(&repository, commit).ok()
}

/// A file's digest as it was when it looked like this.
#[derive(Serialize, Deserialize)]
struct Seen {
    path: Utf8PathBuf,
    digest: String,
    #[serde(skip)]
    note: Utf8PathBuf,
}

impl Seen {
    /// The SHA-256 of a file, as remembered for as long as the file is not touched.
    fn of(path: &Utf8Path, job: Job<'_>) -> Result<Self, Failure> {
        let look = fs_err::metadata(path)?;
        let key = Digest::of("seen")
            .field("path", path.as_str())
            .field("size", look.size().to_le_bytes())
            .field("inode", look.ino().to_le_bytes())
            .field("mtime", [look.mtime().to_le_bytes(), look.mtime_nsec().to_le_bytes()].concat())
            .field("ctime", [look.ctime().to_le_bytes(), look.ctime_nsec().to_le_bytes()].concat())
            .hex();
        let note = job.cache.folder("trees/seen")?.join(format!("{}.json", &key[..32]));
        if let Ok(seen) = read_json::<Seen>(&note) {
            return Ok(Seen { note, ..seen });
        }
        Packing::of(path)?;
        Ok(Seen { path: path.to_owned(), digest: digest_file(path)?, note })
    }

    /// Keeps it, once the file was found good.
    fn remember(&self) -> Result<(), Failure> {
        if self.note.exists() { Ok(()) } else { write_json(&self.note, self) }
    }
}

/// Imports an archive into a tree's folder, which only exists if something comes of it.
fn import(path: &Utf8Path, home: &Utf8Path, job: Job<'_>) -> Result<Imported, Failure> {
    let name = path.file_name().unwrap_or(path.as_str());
    let lock = Lock::take(&home.join("import.lock"), || {
        job.notice(Stage::Tree, format!("{name} is being imported by another nspatch; waiting for it"), None);
    })?;
    let imported = import_alone(path, name, home, job);
    if imported.is_err() && !home.join("repo.git").exists() {
        lock.remove();
        // Others may have put something there, such as the next lock
        let _ = fs_err::remove_dir(home);
    }
    imported
}

fn import_alone(path: &Utf8Path, name: &str, home: &Utf8Path, job: Job<'_>) -> Result<Imported, Failure> {
    // Another may have made it while this one waited
    if let Some(imported) = kept(home) {
        return Ok(imported);
    }
    let git_dir = home.join("repo.git");
    let scratch = job.cache.scratch()?;
    let fresh = Utf8Path::from_path(scratch.path()).unwrap_or(home).join("repo.git");
    let repository = Repository::create(&fresh)?;
    health::mend(&git_dir, name, job)?;
    feed(path, name, &repository, job)?;
    repository.version(&repository.commit_of(BRANCH)?).map_err(|failure| failure.at(path))?;
    health::remove(&git_dir)?;
    fs_err::rename(&fresh, &git_dir)?;
    kept(home).ok_or_else(|| Failure::internal("what was just imported cannot be read").at(git_dir))
}

fn feed(path: &Utf8Path, name: &str, repository: &Repository, job: Job<'_>) -> Result<(), Failure> {
    let packing = Packing::of(path)?;
    let file = fs_err::File::open(path)?;
    let total = file.metadata()?.len();
    // A kernel's pack is some 2.3 times its tar.xz and less than its plain tar
    let factor = if packing == Packing::Plain { 1 } else { 3 };
    space::demand(job.cache.root(), total.saturating_mul(factor))?;
    let task = job.begin(Stage::Tree, format!("import {name}"), Some(total));
    let packers = Packers::new(repository, name, LIMIT, job);
    let progress = Progress { file: file.file().try_clone()?, step: total / 200, told: 0, task: &task };
    let ended = match packing.filter(LIMIT) {
        Some(filter) => {
            let packed = file.into_parts().0;
            let (taken, filtered) = filter.run_filter(packed, |unpacked| poured(unpacked, &packers, progress))?;
            Packing::judge(&filtered)?;
            taken?
        }
        None => poured(packing.unpacked(file)?, &packers, progress)?,
    };
    if !ended.succeeded() {
        return Err(space::explained(ended.failure(), repository.git_dir()));
    }
    task.end(Ending::Done);
    Ok(())
}

/// Pours an archive into git.
fn poured(archive: impl Read + Send, git: &Packers, mut progress: Progress<'_>) -> Result<Ended, Failure> {
    git.take(BufReader::with_capacity(1 << 18, archive), |entry| progress.tell(entry))
}

/// How far the archive was read, whoever reads it: all its readers share one place in the file.
struct Progress<'a> {
    file: File,
    step: u64,
    told: u64,
    task: &'a Task<'a>,
}

impl Progress<'_> {
    fn tell(&mut self, entry: &[u8]) {
        // A place that cannot be had costs only the progress
        let done = self.file.stream_position().unwrap_or(0);
        if done >= self.told + self.step {
            self.told = done;
            self.task.advance(done, String::from_utf8_lossy(entry));
        }
    }
}

/// Whether a failure lies in what the user gave, so that a download of it is not worth keeping.
pub(super) fn is_bad_input(failure: &Failure) -> bool {
    failure.blame == Blame::User && failure.class == crate::blame::Class::Usage
}

#[cfg(test)]
mod tests;
