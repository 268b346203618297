//! The examination and what it found.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::need::{Need, Packages, Version, needs};
use super::probe;
use super::remedy::Remedy;
use super::system::System;
use crate::arch::Arch;
use crate::blame::Failure;
use crate::process::check_temporary_files;

/// What the machine is to be examined for.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The architectures to build and boot.
    pub architectures: Vec<Arch>,
    /// The folder that will hold the cache; it need not be there yet.
    pub cache: Utf8PathBuf,
    /// The versions of the `debian:` trees.
    pub debian: Vec<String>,
}

/// Whether something is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum State {
    /// It is there.
    Present {
        /// Its version or amount; empty where it has none.
        version: String,
    },
    /// It is there, and too old.
    TooOld {
        /// Its version.
        version: String,
        /// The oldest that will do.
        oldest: String,
    },
    /// It is not there.
    Missing {
        /// What was seen in its place; empty if nothing.
        detail: String,
    },
    /// It cannot be tried, as something else does not work.
    Untried {
        /// What went wrong.
        detail: String,
    },
}

impl State {
    pub(super) fn missing(detail: impl Into<String>) -> Self {
        State::Missing { detail: detail.into() }
    }
}

/// One thing that was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is: a program's name, or a few words.
    pub name: String,
    /// What it is needed for.
    pub why: String,
    /// Why no older version will do; empty where that is not worth a word.
    pub limit: String,
    /// Whether nothing works without it.
    pub required: bool,
    /// Whether it is there.
    #[serde(flatten)]
    pub state: State,
    #[serde(skip)]
    pub(super) packages: Packages,
    #[serde(skip)]
    pub(super) oldest: Option<Version>,
}

impl Finding {
    /// Whether it is there, and new enough.
    pub fn is_good(&self) -> bool {
        matches!(self.state, State::Present { .. })
    }

    fn of(need: Need) -> Result<Self, Failure> {
        let state = probe::look(&need)?;
        let oldest = need.oldest();
        let Need { name, why, limit, required, packages, .. } = need;
        Ok(Finding { name, why, limit: limit.to_owned(), required, state, packages, oldest })
    }

    /// The finding as one line of the report, and a second one where there is more to say.
    fn lines(&self) -> Vec<String> {
        let (mark, seen, more) = match (&self.state, self.required) {
            (State::Present { version }, _) => ("ok", version.clone(), ""),
            (State::TooOld { version, oldest }, _) => ("TOO OLD", format!("{version}, needs {oldest}"), &*self.limit),
            (State::Missing { detail }, true) => ("MISSING", String::new(), &**detail),
            (State::Missing { detail }, false) => ("not there", String::new(), &**detail),
            (State::Untried { detail }, _) => ("UNTRIED", String::new(), &**detail),
        };
        let line = format!("{mark:<9}  {:<22}  {seen:<18}  {}", self.name, self.why);
        let more = Some(more).filter(|text| !text.is_empty()).map(|text| format!("{:11}{text}", ""));
        [line.trim_end().to_owned()].into_iter().chain(more).collect()
    }
}

/// What an examination found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// The system.
    pub system: System,
    /// All that was looked for, in the order of the report.
    pub findings: Vec<Finding>,
    /// What to do about what is missing; `None` where nothing can or need be done.
    pub remedy: Option<Remedy>,
}

impl Diagnosis {
    /// Whether all is there that nothing works without.
    pub fn is_fit(&self) -> bool {
        self.lacking().next().is_none()
    }

    /// What is missing or too old and needed.
    pub fn lacking(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.required && !finding.is_good())
    }

    /// The report for people.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("this machine: {}", self.system.name), String::new()];
        lines.extend(self.findings.iter().flat_map(Finding::lines));
        lines.push(String::new());
        let lacking = self.lacking().count();
        lines.push(match lacking {
            0 => "all that is needed is there".to_owned(),
            1 => "1 thing that is needed is missing".to_owned(),
            n => format!("{n} things that are needed are missing"),
        });
        if let Some(remedy) = &self.remedy {
            lines.push(remedy.text());
        }
        lines.join("\n") + "\n"
    }

    /// The failure of a machine that lacks something, or nothing.
    ///
    /// # Errors
    ///
    /// Something that is needed is missing: the failure names it and says how to install it.
    pub fn demand(&self) -> Result<(), Failure> {
        if self.is_fit() {
            return Ok(());
        }
        let untried = |finding: &&Finding| matches!(finding.state, State::Untried { .. });
        let (untried, missing): (Vec<_>, Vec<_>) = self.lacking().partition(untried);
        let names = |findings: &[&Finding]| findings.iter().map(|it| &*it.name).collect::<Vec<_>>().join(", ");
        let what = match &missing[..] {
            [] => format!("the compiler does not work, so these cannot be tried: {}", names(&untried)),
            missing => format!("this machine lacks {}", names(missing)),
        };
        let failure = Failure::host(what).excerpt(self.lacking().flat_map(Finding::lines));
        match &self.remedy {
            Some(remedy) => Err(remedy.hints().into_iter().fold(failure, Failure::hint)),
            None => Err(failure.hint("`nspatch doctor` shows all that a run needs")),
        }
    }
}

/// Looks for all that a run of this scope needs. Takes about a second.
///
/// # Errors
///
/// The work was interrupted, or there is no room for a temporary file. What is missing is no error.
pub fn examine(scope: &Scope) -> Result<Diagnosis, Failure> {
    // Without them no program can be tried, and all would look missing
    check_temporary_files()?;
    let system = System::here();
    let findings = needs(scope).into_iter().map(Finding::of).collect::<Result<Vec<_>, _>>()?;
    let remedy = Remedy::of(&system, &findings)?;
    Ok(Diagnosis { system, findings, remedy })
}
