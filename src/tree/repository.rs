//! A git repository and the way git is called on it.

use std::fmt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::{health, kernel};
use crate::blame::Failure;
use crate::process::{Call, Exit};

/// Variables by which a surrounding git (a hook, a rebase) would turn our calls to its own files.
pub(super) const GIT_VARIABLES: [&str; 13] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    // The cache's repositories have git's usual form, whatever the user has for new ones
    "GIT_DEFAULT_HASH",
    "GIT_DEFAULT_REF_FORMAT",
    "GIT_QUARANTINE_PATH",
    "GIT_SHALLOW_FILE",
];

/// What every call has: no configuration of the user, no questions, and commits without when and by whom.
const ENVIRONMENT: [(&str, &str); 10] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_AUTHOR_NAME", "nspatch"),
    ("GIT_AUTHOR_EMAIL", "nspatch@localhost"),
    ("GIT_AUTHOR_DATE", "2000-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "nspatch"),
    ("GIT_COMMITTER_EMAIL", "nspatch@localhost"),
    ("GIT_COMMITTER_DATE", "2000-01-01T00:00:00Z"),
];

/// Laid over the `.gitattributes` of any tree: what is checked out is what was committed, byte for byte.
const ATTRIBUTES: &str = "* -text -eol -ident -filter -working-tree-encoding\n";

/// A git repository, by its git directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    git_dir: Utf8PathBuf,
}

/// A commit, named for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitName {
    /// 40 hexadecimal digits.
    pub commit: String,
    /// Its title.
    pub title: String,
}

impl fmt::Display for CommitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (\"{}\")", &self.commit[..self.commit.len().min(12)], self.title)
    }
}

impl Repository {
    /// The repository whose git directory this is.
    pub fn at(git_dir: impl Into<Utf8PathBuf>) -> Self {
        Repository { git_dir: git_dir.into() }
    }

    /// Makes an empty bare repository, or takes the one that is there.
    ///
    /// # Errors
    ///
    /// The folder cannot be written, or git is missing.
    pub fn create(git_dir: &Utf8Path) -> Result<Self, Failure> {
        let repository = Repository::at(git_dir);
        let attributes = git_dir.join("info/attributes");
        if !attributes.is_file() {
            fs_err::create_dir_all(git_dir)?;
            repository.git().args(["init", "--quiet", "--bare", "--template=", "--initial-branch=main"]).demand()?;
            crate::store::write_atomically(&attributes, ATTRIBUTES.as_bytes())?;
        }
        Ok(repository)
    }

    /// The git directory.
    pub fn git_dir(&self) -> &Utf8Path {
        &self.git_dir
    }

    /// A call of git on this repository, deaf to the user's own configuration: what nspatch does
    /// to a tree must not depend on whose machine it is.
    pub fn git(&self) -> Call {
        Call::new("git")
            .without(GIT_VARIABLES)
            .fixed_env(ENVIRONMENT)
            .arg(format!("--git-dir={}", self.git_dir))
            // Set here and not in the environment, so that hooks and filters of the user stay out
            .args(["-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", "-c", "gc.auto=0"])
            .explained(&self.git_dir, health::explained)
    }

    /// The commit that a revision names (a branch, a tag, a commit), 40 hexadecimal digits.
    ///
    /// # Errors
    ///
    /// There is no such commit in the repository.
    pub fn commit_of(&self, rev: &str) -> Result<String, Failure> {
        let repository = self.open()?;
        let found = repository.revparse_single(rev).and_then(|object| object.peel_to_commit());
        match found {
            Ok(commit) => Ok(commit.id().to_string()),
            Err(_) => Err(Failure::usage(format!("no commit is named `{rev}`")).at(&self.git_dir)),
        }
    }

    /// Whether it is a repository that names no commit at all.
    pub(super) fn is_empty(&self) -> bool {
        let opened = self.open();
        opened.is_ok_and(|it| it.references().is_ok_and(|mut names| names.next().is_none()))
    }

    /// The kernel's version by the Makefile of a commit, such as `6.12.117`.
    ///
    /// # Errors
    ///
    /// The commit is not there, or holds no kernel.
    pub fn version(&self, commit: &str) -> Result<String, Failure> {
        let makefile = self.file(commit, "Makefile")?;
        if self.file(commit, "Kconfig")?.is_none() {
            return Err(kernel::none("it has no Kconfig at its top"));
        }
        kernel::version(&makefile.ok_or_else(|| kernel::none("it has no Makefile at its top"))?)
    }

    /// The bytes of a file of a commit, `None` where it has no such file.
    ///
    /// # Errors
    ///
    /// The commit is not there, or its objects cannot be read.
    pub fn file(&self, commit: &str, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        let unreadable = |error: git2::Error| self.unreadable(commit, &error);
        let repository = self.open()?;
        let tree = repository.revparse_single(commit).and_then(|it| it.peel_to_tree()).map_err(unreadable)?;
        match tree.get_path(path.as_ref()) {
            Err(_) => Ok(None),
            Ok(entry) => match entry.to_object(&repository).map_err(unreadable)?.into_blob() {
                Ok(blob) => Ok(Some(blob.content().to_vec())),
                Err(_) => Ok(None),
            },
        }
    }

    /// The commits that `git log` finds with these arguments, newest first; `None` if it takes longer than the limit.
    ///
    /// # Errors
    ///
    /// A commit named in the arguments is not there, or its objects cannot be read.
    pub fn log(&self, args: &[&str], limit: Duration) -> Result<Option<Vec<CommitName>>, Failure> {
        let ended = self.git().args(["log", "--format=%H %s"]).args(args).deadline(limit).run()?;
        let named = |line: &str| {
            let (commit, title) = line.split_once(' ')?;
            Some(CommitName { commit: commit.to_owned(), title: title.to_owned() })
        };
        match ended.exit {
            Exit::Success => Ok(Some(ended.text().lines().filter_map(named).collect())),
            Exit::Deadline => Ok(None),
            _ => Err(ended.failure()),
        }
    }

    /// Whether a commit is another one or among those before it.
    ///
    /// # Errors
    ///
    /// One of them is not there, or its objects cannot be read.
    pub fn is_ancestor(&self, earlier: &str, later: &str) -> Result<bool, Failure> {
        let ended = self.git().args(["merge-base", "--is-ancestor", earlier, later]).run()?;
        match ended.exit {
            Exit::Success => Ok(true),
            Exit::Status(1) => Ok(false),
            _ => Err(ended.failure()),
        }
    }

    fn unreadable(&self, commit: &str, error: &git2::Error) -> Failure {
        let what = format!("an object of commit {commit} cannot be read: {}", error.message());
        if self.borrows() {
            return Failure::usage(what)
                .at(&self.git_dir)
                .hint("a clone with missing objects (--filter) cannot be used: `git fetch --refetch` completes it");
        }
        health::noted(Failure::host(what).at(&self.git_dir), &self.git_dir)
    }

    /// Whether its objects are those of a repository of the user.
    fn borrows(&self) -> bool {
        self.git_dir.join("objects/info/alternates").exists()
    }

    /// The bytes that a checkout of a commit takes on disk, each file rounded up to whole blocks.
    ///
    /// # Errors
    ///
    /// The commit is not there, or its objects cannot be read.
    pub fn checkout_bytes(&self, commit: &str) -> Result<u64, Failure> {
        const BLOCK: u64 = 4096;
        let listed = self.git().args(["ls-tree", "-r", "--format=%(objectsize)", commit]).demand()?;
        // A submodule's size is `-`
        let sizes = listed
            .text()
            .lines()
            .filter_map(|line| line.parse::<u64>().ok())
            .map(|size| size.div_ceil(BLOCK))
            .sum::<u64>();
        Ok(sizes * BLOCK)
    }

    fn open(&self) -> Result<git2::Repository, Failure> {
        // open_bare and not open: whose files these are was settled when the tree was resolved
        git2::Repository::open_bare(&self.git_dir)
            .map_err(|error| Failure::host(format!("cannot be opened by git: {}", error.message())).at(&self.git_dir))
    }
}
