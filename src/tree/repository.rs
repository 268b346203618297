//! A git repository and the way git is called on it.

use camino::{Utf8Path, Utf8PathBuf};

use crate::process::Call;

/// A git repository, by its git directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    git_dir: Utf8PathBuf,
}

impl Repository {
    /// The repository whose git directory this is.
    pub fn at(git_dir: impl Into<Utf8PathBuf>) -> Self {
        Repository { git_dir: git_dir.into() }
    }

    /// The git directory.
    pub fn git_dir(&self) -> &Utf8Path {
        &self.git_dir
    }

    /// A call of git on this repository, deaf to the user's own configuration: what nspatch does
    /// to a tree must not depend on whose machine it is.
    pub fn git(&self) -> Call {
        Call::new("git")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_AUTHOR_NAME", "nspatch")
            .env("GIT_AUTHOR_EMAIL", "nspatch@localhost")
            .env("GIT_AUTHOR_DATE", "2000-01-01T00:00:00Z")
            .env("GIT_COMMITTER_NAME", "nspatch")
            .env("GIT_COMMITTER_EMAIL", "nspatch@localhost")
            .env("GIT_COMMITTER_DATE", "2000-01-01T00:00:00Z")
            .arg(format!("--git-dir={}", self.git_dir))
            // Set here and not in the environment, so that hooks and filters of the user stay out
            .args(["-c", "core.hooksPath=/dev/null", "-c", "core.autocrlf=false", "-c", "gc.auto=0"])
    }
}
