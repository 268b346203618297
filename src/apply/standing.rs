//! How a patch stands to a tree.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Arrival, FileConflict, Part, PartStanding, Revision};
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
    /// The changed lines are there, but not all of the lines around them. GNU patch counts the lines that
    /// differ and calls it fuzz. With one line alone no edit is made.
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
            Fit::ReducedContext { lines: 1 } => f.write_str("only with a context of 1 line (fuzz 2)"),
            Fit::ReducedContext { lines } => write!(f, "with reduced context of {lines} lines (fuzz 1)"),
            Fit::Port { file } => write!(f, "by the port {file}"),
        }
    }
}

/// How a patch stands to a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum State {
    /// It can be put in, and has something to change.
    Applies {
        /// How well it fits.
        fit: Fit,
    },
    /// It could be put in, but is known to change nothing that matters there.
    WithoutMeaning {
        /// How well it would fit.
        fit: Fit,
        /// Why it would mean nothing.
        why: String,
    },
    /// It is in the tree and can be taken out.
    Upstream {
        /// How well its reverse fits.
        fit: Fit,
    },
    /// By a look at the source, or by its history, it is in the tree, in a form that nothing here takes out.
    UpstreamChanged,
    /// Some of it is in the tree.
    PartlyUpstream {
        /// What is there.
        there: Vec<Part>,
        /// What is not.
        missing: Vec<Part>,
    },
    /// By a look at the source the tree has another cure.
    Superseded {
        /// What is known of that cure: the commits and the first release that has all of them.
        by: Vec<String>,
    },
    /// The tree does not have some file that it changes, and the rest fits.
    MissingFile,
    /// It says itself that it needs other patches, and does not fit.
    MissingPrerequisite {
        /// The patches, by their `git patch-id`.
        patches: Vec<String>,
    },
    /// It can neither be put in nor taken out.
    Conflicts,
}

impl State {
    /// The name by which the state goes in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            State::Applies { .. } => "applies",
            State::WithoutMeaning { .. } => "without-meaning",
            State::Upstream { .. } => "upstream",
            State::UpstreamChanged => "upstream-changed",
            State::PartlyUpstream { .. } => "partly-upstream",
            State::Superseded { .. } => "superseded",
            State::MissingFile => "missing-file",
            State::MissingPrerequisite { .. } => "missing-prerequisite",
            State::Conflicts => "conflicts",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Applies { fit } => write!(f, "applies {fit}"),
            State::WithoutMeaning { fit, why } => write!(f, "applies {fit}, but without meaning: {why}"),
            State::Upstream { fit } => write!(f, "already upstream (reverse applies {fit})"),
            State::UpstreamChanged => f.write_str("already upstream, in a form that cannot be taken out"),
            State::PartlyUpstream { there, missing } => {
                write!(f, "partly upstream ({} of {} hunks)", there.len(), there.len() + missing.len())
            }
            State::Superseded { by } if by.is_empty() => f.write_str("superseded: the tree has another cure"),
            State::Superseded { by } => write!(f, "superseded by {}", by.join(", ")),
            State::MissingFile => f.write_str("a file that it changes is missing"),
            State::MissingPrerequisite { patches } if patches.len() == 1 => {
                f.write_str("needs another patch before it")
            }
            State::MissingPrerequisite { patches } => write!(f, "needs {} other patches before it", patches.len()),
            State::Conflicts => f.write_str("conflicts"),
        }
    }
}

/// How a patch stands to a tree, and what to compare because of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The patch's name.
    pub patch: String,
    /// How it stands.
    #[serde(flatten)]
    pub state: State,
    /// Where the patch and the tree disagree: of the reverse if it is upstream, else of the way with fewer.
    pub conflicts: Vec<FileConflict>,
    /// Of a series that does not fit as a whole, each patch by itself.
    pub series: Vec<PartStanding>,
    /// The commit by which it came into the tree, where the history is there to tell.
    pub arrival: Option<Arrival>,
    /// The file of the control that makes one side of the comparison, if one does.
    pub control: Option<String>,
    /// The tree as it is.
    pub base: Revision,
    /// Baseline and candidate; `None` if there is nothing to compare.
    pub comparison: Option<(Revision, Revision)>,
}

impl Standing {
    /// The state in words, with the place or the commit that belongs to it.
    pub fn sentence(&self) -> String {
        let places = match (&self.state, self.conflicts.len()) {
            (State::MissingFile, _) => format!(": {}", self.files()),
            (State::Conflicts, 1) => format!(" at 1 place in {}", self.files()),
            (State::Conflicts, count) => format!(" at {count} places in {}", self.files()),
            _ => String::new(),
        };
        if !self.series.is_empty() {
            return self.of_series();
        }
        let commit = self.arrival.iter().map(|arrival| format!(", by {}", arrival.name)).collect::<String>();
        format!("{}{places}{commit}", self.state)
    }

    /// How many patches of the series stand how.
    fn of_series(&self) -> String {
        let count = |wanted: fn(&State) -> bool| self.series.iter().filter(|part| wanted(&part.state)).count();
        let upstream = count(|state| matches!(state, State::Upstream { .. } | State::UpstreamChanged));
        let applies = count(|state| matches!(state, State::Applies { .. }));
        let counts =
            [(upstream, "already upstream"), (applies, "apply"), (self.series.len() - upstream - applies, "do not")];
        let told = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        format!("of {} patches {}", self.series.len(), told.collect::<Vec<_>>().join(", "))
    }

    fn files(&self) -> String {
        let mut files: Vec<_> = self.conflicts.iter().map(|conflict| conflict.file.as_str()).collect();
        files.dedup();
        files.join(", ")
    }

    /// Baseline and candidate.
    ///
    /// # Errors
    ///
    /// There is nothing to compare; the failure says why, and where the patch and the tree disagree.
    pub fn demand_comparison(&self) -> Result<&(Revision, Revision), Failure> {
        self.comparison.as_ref().ok_or_else(|| {
            let failure = Failure::new(Class::Apply, Blame::Patch, format!("`{}`: {}", self.patch, self.sentence()));
            let shown = self.conflicts.iter().flat_map(|conflict| conflict.lines(6)).take(SHOWN);
            let failure = failure.excerpt(shown);
            match &self.state {
                State::Applies { .. } => failure.hint("git would have to guess the place: a port makes it sure"),
                State::Superseded { .. } | State::WithoutMeaning { .. } => failure
                    .hint("test it on a tree from before that, or write a control: see `controls` in docs/patches.md"),
                _ => failure.hint("a hand-made port makes it comparable: see `ports` in docs/patches.md"),
            }
        })
    }
}
