//! Kernels in git repositories elsewhere, fetched without their history.

use std::io::{Read, Seek, SeekFrom};
use std::time::{Duration, Instant, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};

use super::answer;
use super::import::Imported;
use super::{Repository, health, space};
use crate::blame::Failure;
use crate::event::{Ending, Stage};
use crate::job::{Job, Task};
use crate::process::{Ended, Exit, Watch};
use crate::store::{Digest, Lock};

/// A kernel is some 250 MB: long enough for a slow line.
const LIMIT: Duration = Duration::from_secs(2 * 3600);
/// How often a connection that was lost is made anew.
const ATTEMPTS: u32 = 3;
/// So many bytes at the end of a log hold the last of git's progress.
const PROGRESS: u64 = 1 << 10;
/// Half a pack that nobody has written to for this long is from a fetch that was killed.
const ABANDONED: Duration = Duration::from_secs(600);

/// A revision of a repository elsewhere.
pub(super) struct Remote<'a> {
    /// The tree as the user named it.
    pub(super) name: &'a str,
    pub(super) address: &'a str,
    pub(super) rev: &'a str,
    /// How long the other side may say nothing.
    pub(super) silence: Duration,
}

/// The commit of a revision of a repository elsewhere. A branch is asked for anew each time; a
/// commit that is there already is not.
pub(super) fn fetch(remote: &Remote<'_>, job: Job<'_>) -> Result<(Imported, String), Failure> {
    let Remote { name, address, rev, .. } = remote;
    remote.check()?;
    let id = Digest::of("remote").field("address", address).hex();
    let home = job.cache.folder("trees")?.join(format!("remote-{}", &id[..24]));
    let lock = Lock::take(&home.join("import.lock"), || {
        job.notice(Stage::Tree, format!("{name} is being fetched by another nspatch; waiting for it"), None);
    })?;
    let fetched = health::kept(&home, name, job, |repository| remote.commit(repository, job));
    if fetched.is_err() {
        forget_empty(&home, lock);
    }
    let imported = fetched?;
    let origin = format!("{address} {rev} {}", &imported.commit[..12]);
    Ok((imported, origin))
}

/// Removes a folder in which nothing was ever fetched.
fn forget_empty(home: &Utf8Path, lock: Lock) {
    let repository = Repository::at(home.join("repo.git"));
    if repository.is_empty() && health::remove(repository.git_dir()).is_ok() {
        lock.remove();
        // Others may have put something there, such as the next lock
        let _ = fs_err::remove_dir(home);
    }
}

impl Remote<'_> {
    fn check(&self) -> Result<(), Failure> {
        let rev = self.rev;
        if rev.is_empty() || rev.starts_with('-') || rev.contains([':', ' ', '*', '^', '~']) {
            return Err(Failure::usage(format!("`{rev}` is no name that can be fetched"))
                .at(self.address)
                .hint("give a branch, a tag or a commit"));
        }
        Ok(())
    }

    fn commit(&self, repository: &Repository, job: Job<'_>) -> Result<Imported, Failure> {
        let task = job.begin(Stage::Tree, format!("fetch {}", self.name), None);
        let (imported, ending) = match self.already(repository) {
            Some(imported) => (imported, Ending::Reused),
            None => (self.fetch_now(repository, &task, job)?, Ending::Done),
        };
        task.end(ending);
        Ok(imported)
    }

    fn already(&self, repository: &Repository) -> Option<Imported> {
        let full = self.rev.len() == 40 && self.rev.bytes().all(|byte| byte.is_ascii_hexdigit());
        let commit = full.then(|| repository.commit_of(self.rev).ok()).flatten()?;
        Imported::checked(repository, commit).ok()
    }

    fn fetch_now(&self, repository: &Repository, task: &Task<'_>, job: Job<'_>) -> Result<Imported, Failure> {
        let kept = format!("refs/nspatch/{}", &Digest::of("rev").field("rev", self.rev).hex()[..24]);
        let mut attempt = 1;
        loop {
            clear_up(repository, &kept);
            let log = job.log(&format!("fetch-{}", self.rev));
            let start = fs_err::metadata(&log).map_or(0, |look| look.len());
            let ended = self.attempt(repository, &kept, &log, task)?;
            if ended.succeeded() {
                return Imported::checked(repository, repository.commit_of(&kept)?);
            }
            let printed = printed(&log, start);
            if attempt >= ATTEMPTS || !answer::was_cut(&printed) {
                return Err(self.explained(repository, &kept, &ended, &printed));
            }
            task.advance(0, format!("the connection was lost, attempt {}", attempt + 1));
            std::thread::sleep(Duration::from_millis(200) * 2_u32.pow(attempt));
            attempt += 1;
        }
    }

    fn attempt(&self, repository: &Repository, kept: &str, log: &Utf8Path, task: &Task<'_>) -> Result<Ended, Failure> {
        let call = repository
            .git()
            .args(["fetch", "--depth=1", "--no-tags", "--no-write-fetch-head", "--progress", self.address])
            .arg(format!("+{}:{kept}", self.rev))
            .deadline(LIMIT)
            .log(log)
            .unexplained();
        let (mut size, mut grown, mut told) = (0, Instant::now(), Instant::now());
        call.run_watched(|| {
            let now = fs_err::metadata(log).map_or(0, |look| look.len());
            if now != size {
                (size, grown) = (now, Instant::now());
            }
            if told.elapsed() > Duration::from_secs(1) {
                told = Instant::now();
                task.advance(0, printed(log, size.saturating_sub(PROGRESS)).pop().unwrap_or_default());
            }
            // git writes its progress once a second for as long as anything comes
            if grown.elapsed() > self.silence { Watch::Stop } else { Watch::On }
        })
    }

    fn explained(&self, repository: &Repository, kept: &str, ended: &Ended, printed: &[String]) -> Failure {
        let failure = space::explained(ended.failure(), repository.git_dir());
        if space::is_full(&failure) {
            return failure;
        }
        let failure = match ended.exit {
            Exit::Stopped => Failure::host(format!("the server said nothing for {} s", self.silence.as_secs()))
                .at(self.address)
                .excerpt(printed.last()),
            Exit::Deadline => failure.hint("the line is very slow: a tarball can be resumed, a fetch cannot"),
            _ => answer::explained(printed, self.address, self.rev)
                // Else it may be the cache's own repository that git complains about
                .unwrap_or_else(|| health::explained(failure, repository.git_dir())),
        };
        match repository.commit_of(kept) {
            Ok(commit) => failure.hint(format!(
                "what was fetched last is still there: --tree {}@{commit} goes without the network",
                self.name.split('@').next().unwrap_or(self.name)
            )),
            Err(_) => failure,
        }
    }
}

/// Removes what a killed fetch leaves: locks and half a pack. Whoever holds our lock is alone with
/// these; others may only be making edits, in packs that are small and soon done.
fn clear_up(repository: &Repository, kept: &str) {
    let git_dir = repository.git_dir();
    let locks = [git_dir.join("shallow.lock"), git_dir.join(format!("{kept}.lock"))];
    let packs = git_dir.join("objects/pack").read_dir_utf8().into_iter().flatten().flatten();
    let halves = packs.filter(|entry| entry.file_name().starts_with("tmp_")).map(|entry| entry.into_path());
    for left in locks.into_iter().chain(halves.filter(is_abandoned)) {
        // If it cannot be removed, git says what it means to it
        let _ = health::remove(&left);
    }
}

fn is_abandoned(path: &Utf8PathBuf) -> bool {
    let touched = fs_err::metadata(path).and_then(|look| look.modified());
    touched.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > ABANDONED))
}

/// The lines that git wrote into a log from some byte on. Progress, which git writes over and over
/// in one line, counts as it stands last.
fn printed(log: &Utf8Path, start: u64) -> Vec<String> {
    let mut bytes = Vec::new();
    let read = fs_err::File::open(log).and_then(|mut file| {
        file.seek(SeekFrom::Start(start))?;
        file.read_to_end(&mut bytes)
    });
    // A log that cannot be read tells nothing
    drop(read);
    let text = String::from_utf8_lossy(&bytes);
    let last = |line: &str| line.trim_end().rsplit('\r').next().unwrap_or_default().trim().to_owned();
    text.lines().map(last).filter(|line| !line.is_empty() && !line.starts_with("$ ")).collect()
}

#[cfg(test)]
mod tests;
