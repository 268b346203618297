//! Kernels in folders of the user: git repositories and plain files. Nothing is written there.

use camino::{Utf8Path, Utf8PathBuf};

use super::import::Imported;
use super::repository::GIT_VARIABLES;
use super::{Repository, health, kernel, own, space};
use crate::blame::Failure;
use crate::event::{Ending, Stage};
use crate::job::Job;
use crate::process::{Call, Ended};
use crate::store::{Digest, Lock, write_atomically};

/// What an in-tree build leaves; none of it is source.
const BUILT: [&str; 9] = [
    ".config",
    ".config.old",
    "vmlinux*",
    "include/config",
    "include/generated",
    "arch/*/include/generated",
    "**/*.o",
    "**/*.a",
    "**/.*.cmd",
];

/// A commit of the user's own repository, seen through a repository in the cache: that one borrows
/// the user's objects and takes all that nspatch writes.
pub(super) fn of_git(folder: &Utf8Path, rev: Option<&str>, job: Job<'_>) -> Result<(Imported, String), Failure> {
    let folder = folder.canonicalize_utf8().map_err(|error| Failure::io(&error).at(folder))?;
    let theirs = Theirs { folder };
    let (objects, shallow) = theirs.paths()?;
    let commit = theirs.commit(rev.unwrap_or("HEAD"))?;
    if rev.is_none() {
        theirs.tell_edits(job)?;
    }
    let id = Digest::of("git").field("objects", objects.as_str()).hex();
    let home = job.cache.folder(&format!("trees/git-{}", &id[..24]))?;
    let _lock = Lock::take(&home.join("import.lock"), || ())?;
    let repository = health::kept(&home, theirs.folder.as_str(), job, |repository| {
        let git_dir = repository.git_dir();
        write_atomically(&git_dir.join("objects/info/alternates"), format!("{objects}\n").as_bytes())?;
        if shallow.is_file() {
            write_atomically(&git_dir.join("shallow"), &fs_err::read(&shallow)?)?;
        }
        Ok(repository.clone())
    })?;
    let origin = format!("git {} {}", theirs.folder, &commit[..12]);
    Ok((Imported { repository, commit }, origin))
}

/// A repository of the user.
struct Theirs {
    folder: Utf8PathBuf,
}

impl Theirs {
    /// Git as the user has it, but without taking locks and without running what a foreign
    /// repository configures.
    fn git(&self) -> Call {
        Call::new("git")
            .without(GIT_VARIABLES)
            .fixed_env([("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")])
            .args(["-C", self.folder.as_str(), "-c", "core.fsmonitor=false"])
    }

    /// The folder of the objects and the file that lists where history is cut.
    fn paths(&self) -> Result<(Utf8PathBuf, Utf8PathBuf), Failure> {
        let args = ["rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path", "shallow"];
        let ended = self.git().args(args).run()?;
        if !ended.succeeded() {
            return Err(self.refusal(&ended));
        }
        let text = ended.text();
        match text.lines().collect::<Vec<_>>()[..] {
            [objects, shallow] => Ok((objects.into(), shallow.into())),
            _ => Err(ended.failure()),
        }
    }

    fn refusal(&self, ended: &Ended) -> Failure {
        if ended.complaint().contains("dubious ownership") {
            return Failure::usage("git does not trust this folder, as it belongs to another user")
                .at(&self.folder)
                .hint(format!("if you trust it: git config --global --add safe.directory {}", self.folder));
        }
        Failure::usage("git cannot read this repository").at(&self.folder).excerpt(ended.last_lines(5))
    }

    fn commit(&self, rev: &str) -> Result<String, Failure> {
        let commit = format!("{rev}^{{commit}}");
        let ended = self.git().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]).run()?;
        match ended.text() {
            id if ended.succeeded() && id.len() == 40 => Ok(id),
            id if ended.succeeded() && id.len() == 64 => {
                Err(Failure::usage("repositories with SHA-256 object names are not supported").at(&self.folder))
            }
            _ => Err(Failure::usage(format!("no commit is named `{rev}`")).at(&self.folder).hint(match rev {
                "HEAD" => "the repository has no commit yet",
                _ => "`git branch -a` and `git tag` in that folder list the names there are",
            })),
        }
    }

    fn tell_edits(&self, job: Job<'_>) -> Result<(), Failure> {
        let ended = self.git().args(["status", "--porcelain", "--ignore-submodules"]).run()?;
        let text = ended.text();
        let is_own = |path: &str| own::is_own(&self.folder.join(path.trim_end_matches('/')), job);
        let changes: Vec<_> = text.lines().filter(|line| !line.strip_prefix("?? ").is_some_and(is_own)).collect();
        if let Some(first) = changes.first() {
            let count = changes.len();
            let files = if count == 1 { "1 change".to_owned() } else { format!("{count} changes") };
            job.notice(
                Stage::Tree,
                format!("{} has {files} not committed, and so not part of the test ({})", self.folder, first.trim()),
                Some("the commit at HEAD is taken: commit the changes, or give them as a patch"),
            );
        }
        Ok(())
    }
}

/// Plain files, imported by their content. An unchanged folder gives the commit it gave before.
pub(super) fn of_files(folder: &Utf8Path, job: Job<'_>) -> Result<(Imported, String), Failure> {
    let folder = folder.canonicalize_utf8().map_err(|error| Failure::io(&error).at(folder))?;
    check_kernel(&folder)?;
    let id = Digest::of("folder").field("path", folder.as_str()).hex();
    let home = job.cache.folder(&format!("trees/folder-{}", &id[..24]))?;
    let _lock = Lock::take(&home.join("import.lock"), || {
        job.notice(Stage::Tree, format!("{folder} is being imported by another nspatch; waiting for it"), None);
    })?;
    health::kept(&home, folder.as_str(), job, |repository| import(&folder, repository, job))
}

fn import(folder: &Utf8Path, repository: &Repository, job: Job<'_>) -> Result<(Imported, String), Failure> {
    let task = job.begin(Stage::Tree, format!("import {folder}"), None);
    let files = Files { folder, index: repository.git_dir().join("nspatch-index"), repository };
    let tree = files.write_tree(job)?;
    let commit = repository.git().args(["commit-tree", "-m", "import", &tree]).demand()?.text();
    let known = repository.git().args(["rev-parse", "--verify", "--quiet", "refs/heads/main"]).run()?.text() == commit;
    repository.git().args(["update-ref", "refs/heads/main", &commit]).demand()?;
    let imported = Imported::checked(repository, commit)?;
    task.end(if known { Ending::Reused } else { Ending::Done });
    Ok((imported, format!("folder {folder}")))
}

/// Before some gigabyte of something else is imported.
fn check_kernel(folder: &Utf8Path) -> Result<(), Failure> {
    let missing = ["Makefile", "Kconfig"].into_iter().find(|name| !folder.join(name).is_file());
    match missing {
        Some(name) => Err(kernel::none(&format!("it has no {name} at its top")).at(folder)),
        None => {
            kernel::version(&fs_err::read(folder.join("Makefile"))?).map(drop).map_err(|failure| failure.at(folder))
        }
    }
}

struct Files<'a> {
    folder: &'a Utf8Path,
    index: Utf8PathBuf,
    repository: &'a Repository,
}

impl Files<'_> {
    fn git(&self) -> Call {
        self.repository
            .git()
            .env("GIT_INDEX_FILE", &self.index)
            .arg(format!("--work-tree={}", self.folder))
            .folder(self.folder)
            // Every file streams into one pack, which is faster than 80,000 files of objects
            .args(["-c", "core.bigFileThreshold=1", "-c", "core.compression=1", "-c", "core.fsmonitor=false"])
    }

    fn write_tree(&self, job: Job<'_>) -> Result<String, Failure> {
        // Whoever holds the lock of this import is alone: a lock of git's is from one that died
        let _ = fs_err::remove_file(self.index.with_extension("lock"));
        let built = self.folder.join("include/config").is_dir() || self.folder.join(".config").is_file();
        if built {
            let hint = "only source files are taken; `make mrproper` removes the rest";
            job.notice(Stage::Tree, format!("{} holds an in-tree build, which is left out", self.folder), Some(hint));
        }
        let own = own::within(self.folder, job);
        if !own.is_empty() {
            let names = own.iter().map(|path| path.as_str()).collect::<Vec<_>>().join(", ");
            let message = format!("{} holds folders of nspatch, which are left out: {names}", self.folder);
            job.notice(Stage::Tree, message, Some("--out and --cache move them elsewhere"));
        }
        let mut left_out: Vec<String> = own.iter().map(|path| format!("literal){path}")).collect();
        left_out.extend(BUILT.iter().filter(|_| built).map(|path| format!("glob){path}")));
        self.add(&left_out)?;
        self.refuse_repositories()?;
        Ok(self.git().args(["write-tree"]).demand()?.text())
    }

    /// Brings the index to what the folder holds, but for some pathspecs.
    fn add(&self, left_out: &[String]) -> Result<(), Failure> {
        // --force: what .gitignore names counts as well, as in a tarball
        let add = self.git().args(["add", "--all", "--force", "--", "."]);
        let add = add.args(left_out.iter().map(|pathspec| format!(":(exclude,{pathspec}")));
        let ended = add.deadline(std::time::Duration::from_secs(3600)).run()?;
        if !ended.succeeded() {
            return Err(space::explained(ended.failure(), self.repository.git_dir()));
        }
        if !left_out.is_empty() {
            // An earlier import may have taken them, before they were known
            let forget = self.git().args(["rm", "-r", "--cached", "--quiet", "--ignore-unmatch", "--"]);
            forget.args(left_out.iter().map(|pathspec| format!(":({pathspec}"))).demand()?;
        }
        Ok(())
    }

    /// Git notes another repository as a bare commit number, so its files would be missing.
    fn refuse_repositories(&self) -> Result<(), Failure> {
        let listed = self.git().args(["ls-files", "--stage"]).demand()?.text();
        let inner: Vec<_> = listed.lines().filter(|line| line.starts_with("160000 ")).collect();
        if inner.is_empty() {
            return Ok(());
        }
        Err(Failure::usage("the folder holds other git repositories, whose files would be lost")
            .at(self.folder)
            .excerpt(inner.iter().filter_map(|line| line.split('\t').nth(1)))
            .hint("move them out of the kernel's folder"))
    }
}

#[cfg(test)]
mod tests;
