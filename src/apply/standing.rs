//! How a patch stands to a tree.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{FileConflict, Revision};
use crate::blame::{Blame, Class, Failure};

/// How many lines of conflicts a failure shows.
const SHOWN: usize = 24;

/// How well a diff fits a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// Every line is where the diff says.
    Exact,
    /// Every line is there, but not where the diff says.
    Offset {
        /// By how many lines the worst hunk is off.
        max_lines: u32,
    },
    /// The changed lines are there, but not all of the lines around them.
    ReducedContext {
        /// How many lines before and after each change are the same.
        lines: u32,
    },
    /// The mailed diff does not fit; a hand-made port does.
    Port {
        /// Its file below `ports/`.
        file: String,
    },
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fit::Exact => f.write_str("exactly"),
            Fit::Offset { max_lines: 1 } => f.write_str("1 line off"),
            Fit::Offset { max_lines } => write!(f, "up to {max_lines} lines off"),
            Fit::ReducedContext { lines } => write!(f, "with reduced context of {lines} lines"),
            Fit::Port { file } => write!(f, "by the port {file}"),
        }
    }
}

/// How a patch stands to a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It can be put in.
    Applies(Fit),
    /// It is in the tree and can be taken out.
    Upstream(Fit),
    /// By a look at the source it is in the tree, in a form that nothing here takes out. The
    /// conflicts are those of the reverse.
    UpstreamChanged(Vec<FileConflict>),
    /// By a look at the source the tree has another cure.
    Superseded,
    /// It can neither be put in nor taken out. The conflicts are those of the way with fewer.
    Conflicts(Vec<FileConflict>),
}

/// How a patch stands to a tree, and what to compare because of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The patch's name.
    pub patch: String,
    /// How it stands.
    pub state: State,
    /// The tree as it is.
    pub base: Revision,
    /// Baseline and candidate; `None` if there is nothing to compare.
    pub comparison: Option<(Revision, Revision)>,
}

impl Standing {
    /// The state in words.
    pub fn sentence(&self) -> String {
        match &self.state {
            State::Applies(fit) => format!("applies {fit}"),
            State::Upstream(fit) => format!("already upstream (reverse applies {fit})"),
            State::UpstreamChanged(_) => "already upstream, in a form that cannot be taken out".to_owned(),
            State::Superseded => "superseded: the tree has another cure".to_owned(),
            State::Conflicts(conflicts) => {
                let mut files: Vec<_> = conflicts.iter().map(|conflict| conflict.file.as_str()).collect();
                files.dedup();
                let places =
                    if conflicts.len() == 1 { "1 place".to_owned() } else { format!("{} places", conflicts.len()) };
                format!("conflicts at {places} in {}", files.join(", "))
            }
        }
    }

    /// Baseline and candidate.
    ///
    /// # Errors
    ///
    /// There is nothing to compare; the failure says why, and where the patch and the tree disagree.
    pub fn demand_comparison(&self) -> Result<&(Revision, Revision), Failure> {
        self.comparison.as_ref().ok_or_else(|| {
            let failure = Failure::new(Class::Apply, Blame::Patch, format!("`{}`: {}", self.patch, self.sentence()));
            let port = "a hand-made port makes it comparable: see `ports` in docs/patches.md";
            match &self.state {
                State::UpstreamChanged(conflicts) | State::Conflicts(conflicts) => {
                    failure.excerpt(conflicts.iter().flat_map(FileConflict::lines).take(SHOWN)).hint(port)
                }
                _ => failure.hint("test it on a tree from before that cure"),
            }
        })
    }
}
