//! Leased checkouts: numbered slots beside a repository, each with a work tree and the object
//! folders that belong to it, each used by one process at a time.

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Repository, Tree, health, space};
use crate::blame::{Blame, Class, Failure};
use crate::event::{Ending, Stage};
use crate::interrupt;
use crate::job::{Job, Task};
use crate::process::Call;
use crate::store::{Digest, Lock, write_atomically};

/// How long a lower slot is waited for: compilers of a run that was killed just now may hold theirs
/// for another moment, and in a higher one all has to be compiled again.
const PATIENCE: Duration = Duration::from_secs(2);

/// A leased slot. The lease ends when this is dropped, or with the process, however it ends.
#[derive(Debug)]
pub struct Workshop {
    repository: Repository,
    slot: Utf8PathBuf,
    source: Utf8PathBuf,
    lock: Lock,
}

impl Workshop {
    /// Leases the first free slot of a tree's repository, beside that repository in the cache.
    /// Slots are reused, so that what was checked out and built there is there again.
    ///
    /// # Errors
    ///
    /// The slot's folder cannot be made.
    pub fn lease(tree: &Tree, job: Job<'_>) -> Result<Self, Failure> {
        let git_dir = tree.repository.git_dir();
        let slots = git_dir.parent().unwrap_or(git_dir).join("slots");
        let since = Instant::now();
        loop {
            let (number, slot, lock) = first_free(&slots)?;
            if number > 0 && since.elapsed() < PATIENCE {
                drop(lock);
                interrupt::check()?;
                std::thread::sleep(PATIENCE / 20);
                continue;
            }
            if number > 0 {
                let message = format!("checkout {number} is used, as others are taken by another nspatch");
                job.notice(Stage::Checkout, message, None);
            }
            let source = slot.join("source");
            return Ok(Workshop { repository: tree.repository.clone(), slot, source, lock });
        }
    }

    /// The work tree; its path is the same for as long as the cache stays where it is. What it
    /// holds is what [`Workshop::lay`] last laid.
    pub fn source(&self) -> &Utf8Path {
        &self.source
    }

    /// The open file of the lease, for children that work in the slot: it is taken until the last
    /// of them has ended, even if nspatch is killed.
    pub fn lease_file(&self) -> Arc<File> {
        self.lock.file()
    }

    /// The folder for the build objects of a key (architecture, toolchain, configuration), made
    /// where it is missing. It belongs to this slot, as objects name the path of their source.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn objects(&self, key: &str) -> Result<Utf8PathBuf, Failure> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let safe = !key.is_empty() && key.len() <= 100 && !key.starts_with('.') && key.chars().all(plain);
        let name = if safe { key.to_owned() } else { Digest::of("objects").field("key", key).hex() };
        let folder = self.slot.join("objects").join(name);
        fs_err::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Brings the work tree to a commit of the tree's repository. Only files that differ are
    /// written, so the others keep their times and builds stay incremental. Edited files are set
    /// back and files that are not part of the commit are removed, whatever left them there.
    ///
    /// # Errors
    ///
    /// The commit is not there, the disk is full, or git failed. The next call starts from
    /// whatever is there then.
    pub fn lay(&self, commit: &str, job: Job<'_>) -> Result<(), Failure> {
        let last = fs_err::read_to_string(self.marker()).ok();
        let fresh = last.is_none() || !self.index().is_file();
        let task = job.begin(Stage::Checkout, format!("lay {}", commit.get(..12).unwrap_or(commit)), None);
        // Nobody else uses this index while we hold the slot: a lock on it is from one that died
        health::remove(&self.slot.join("index.lock"))?;
        if last.as_deref() != Some(commit) {
            health::remove(&self.marker())?;
        }
        if fresh {
            self.clear(commit)?;
        }
        self.read_tree(commit, &task, job).or_else(|failure| self.start_over(commit, failure, &task, job))?;
        self.sweep()?;
        write_atomically(&self.marker(), commit.as_bytes())?;
        task.end(if last.as_deref() == Some(commit) { Ending::Reused } else { Ending::Done });
        Ok(())
    }

    fn marker(&self) -> Utf8PathBuf {
        self.slot.join("laid")
    }

    fn index(&self) -> Utf8PathBuf {
        self.slot.join("index")
    }

    /// Makes room for a first checkout, or for one that cannot build on the last.
    fn clear(&self, commit: &str) -> Result<(), Failure> {
        for path in [&self.index(), &self.source] {
            health::remove(path)?;
        }
        fs_err::create_dir_all(&self.source)?;
        space::demand(&self.source, self.repository.checkout_bytes(commit)?)
    }

    fn git(&self) -> Call {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        self.repository
            .git()
            .env("GIT_INDEX_FILE", self.index())
            .arg(format!("--work-tree={}", self.source))
            .folder(&self.source)
            // Kernels ship .gitattributes and .gitmodules; neither may start anything here
            .args(["-c", "core.fsmonitor=false", "-c", "submodule.recurse=false", "-c", "core.symlinks=true"])
            .args(["-c".to_owned(), format!("checkout.workers={workers}")])
    }

    fn read_tree(&self, commit: &str, task: &Task<'_>, job: Job<'_>) -> Result<(), Failure> {
        if !self.source.is_dir() {
            health::remove(&self.source)?;
            fs_err::create_dir_all(&self.source)?;
        }
        task.advance(0, "checking out");
        // With one tree and --reset, git also compares every file with its index and sets back what differs
        let log = job.log("checkout");
        let ended = self.git().args(["read-tree", "--reset", "-u", commit]).log(log).run()?;
        if ended.succeeded() { Ok(()) } else { Err(space::explained(ended.failure(), &self.slot)) }
    }

    /// What an earlier crash left may be beyond git's mending; a checkout from nothing is not. If
    /// that fails too, the second failure is the one to report.
    fn start_over(&self, commit: &str, failure: Failure, task: &Task<'_>, job: Job<'_>) -> Result<(), Failure> {
        let hopeless = failure.class == Class::Interrupted
            || space::is_full(&failure)
            || failure.blame != Blame::Host
            || !self.index().exists();
        if hopeless || self.repository.commit_of(commit).is_err() {
            return Err(failure);
        }
        for left in [self.marker(), self.slot.join("index.lock")] {
            health::remove(&left)?;
        }
        self.clear(commit)?;
        self.read_tree(commit, task, job)
    }

    /// Removes what is not part of the commit: an in-tree `.config` or `include/config` makes
    /// Kbuild refuse to build out of tree.
    fn sweep(&self) -> Result<(), Failure> {
        self.git().args(["clean", "-ffdxq"]).demand().map(drop)
    }
}

fn first_free(slots: &Utf8Path) -> Result<(u32, Utf8PathBuf, Lock), Failure> {
    let mut number = 0;
    loop {
        let slot = slots.join(number.to_string());
        let lock = Lock::try_take(&slot.join("lock"));
        if let Some(lock) = lock.map_err(|failure| failure.hint(format!("make room for it: rm -r {slot}")))? {
            return Ok((number, slot, lock));
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests;
