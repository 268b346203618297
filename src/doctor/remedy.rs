//! What to do about what is missing: the command, and running it.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::apt::{self, Step, Wanted};
use super::diagnosis::{Finding, State};
use super::system::{Family, System};
use crate::blame::Failure;
use crate::event::{Ending, Stage};
use crate::job::Job;
use crate::process::Call;

/// Downloading and unpacking half a gigabyte of packages over a slow line.
const LIMIT: Duration = Duration::from_secs(3600);

/// The way to what is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Commands of apt, which nspatch can run itself.
    Apt(Steps),
    /// A command for a person.
    Command(String),
    /// No command brings it; what is known instead.
    Unknown(String),
}

/// The commands of an installation, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps(Vec<Step>);

impl Serialize for Remedy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.command())
    }
}

impl Remedy {
    pub(super) fn of(system: &System, findings: &[Finding]) -> Result<Option<Self>, Failure> {
        let missing: Vec<&Finding> =
            findings.iter().filter(|it| matches!(it.state, State::Missing { .. } | State::TooOld { .. })).collect();
        let wanted: Vec<Wanted> = missing
            .iter()
            .filter_map(|finding| finding.packages.of(system.family).map(|package| (package, finding.oldest)))
            .collect();
        if system.family == Family::Debian {
            return Self::by_apt(system, &wanted, &missing);
        }
        let command = match system.family {
            Family::Fedora => "dnf install",
            Family::Arch => "pacman -S --needed",
            Family::Suse => "zypper install",
            Family::Debian | Family::Other => "",
        };
        let unknown = missing.iter().find(|finding| finding.required && finding.packages.of(system.family).is_none());
        Ok(match unknown {
            Some(finding) if wanted.is_empty() => {
                Some(Remedy::Unknown(format!("no package is known for {}", finding.name)))
            }
            _ if wanted.is_empty() => None,
            _ => Some(Remedy::Command(format!("sudo {command} {}", names(&wanted).join(" ")))),
        })
    }

    fn by_apt(system: &System, wanted: &[Wanted], missing: &[&Finding]) -> Result<Option<Self>, Failure> {
        let mut steps = apt::steps(system, wanted)?;
        // A machine that never asked for the lists of packages does not know the kernel's source either
        if steps.is_empty() && missing.iter().any(|it| it.name.starts_with("linux-source")) && !apt_has_lists() {
            steps.push(apt::update());
        }
        Ok((!steps.is_empty()).then_some(Remedy::Apt(Steps(steps))))
    }

    /// The command as typed into a shell, or what is known instead.
    pub fn command(&self) -> String {
        match self {
            Remedy::Apt(Steps(steps)) => {
                let sudo = !is_root();
                steps.iter().map(|step| step.line(sudo)).collect::<Vec<_>>().join(" && ")
            }
            Remedy::Command(text) | Remedy::Unknown(text) => text.clone(),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Remedy::Apt(_) => format!("to install: nspatch doctor --install, which runs\n\n  {}", self.command()),
            Remedy::Command(command) => format!("to install:\n\n  {command}"),
            Remedy::Unknown(text) => text.clone(),
        }
    }

    pub(super) fn hints(&self) -> Vec<String> {
        match self {
            Remedy::Apt(_) => vec![
                "`nspatch doctor --install`, or `nspatch test --setup`, installs it".to_owned(),
                format!("by hand: {}", self.command()),
            ],
            Remedy::Command(command) => vec![format!("install it with: {command}")],
            Remedy::Unknown(text) => vec![text.clone()],
        }
    }
}

fn names(wanted: &[Wanted]) -> Vec<&'static str> {
    let mut names: Vec<_> = wanted.iter().map(|(package, _)| *package).collect();
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

fn apt_has_lists() -> bool {
    let Ok(folder) = fs_err::read_dir("/var/lib/apt/lists") else {
        return false;
    };
    folder.flatten().any(|entry| entry.file_name().to_string_lossy().contains("_Packages"))
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs a remedy. The commands and all they print go into the job's log.
///
/// # Errors
///
/// A command failed, root's rights are not to be had without a password, or nspatch cannot install
/// on this system. The failure says what to type instead.
pub fn install(remedy: &Remedy, job: Job<'_>) -> Result<(), Failure> {
    let Remedy::Apt(Steps(steps)) = remedy else {
        return Err(Failure::host("nspatch installs packages only with apt").hint(remedy.command()));
    };
    let sudo = !is_root();
    if sudo && !Call::new("sudo").args(["-n", "true"]).run().is_ok_and(|ended| ended.succeeded()) {
        return Err(Failure::host("installing packages needs root, and `sudo` does not give it without a password")
            .hint(format!("run it yourself: {}", remedy.command()))
            .hint("or run `sudo -v` first"));
    }
    let log = job.log("setup");
    for step in steps {
        let line = step.line(sudo);
        job.notice(Stage::Setup, format!("running: {line}"), None);
        let task = job.begin(Stage::Setup, subject(step), None);
        let ended = call(step, sudo).deadline(LIMIT).log(&log).run()?;
        if ended.succeeded() {
            task.end(Ending::Done);
        } else if step.decisive {
            return Err(ended.failure().hint(format!("by hand: {}", remedy.command())));
        } else {
            drop(task);
            job.notice(Stage::Setup, format!("`{line}` failed; going on with the lists there are"), None);
        }
    }
    Ok(())
}

/// What a step is called while it runs: the command without its options.
fn subject(step: &Step) -> String {
    let telling = |word: &&String| *word != "env" && !word.contains('=') && !word.starts_with('-');
    step.words.iter().filter(telling).take(2).cloned().collect::<Vec<_>>().join(" ")
}

fn call(step: &Step, sudo: bool) -> Call {
    let words = step.words.iter().cloned();
    let call = match sudo {
        true => Call::new("sudo").arg("-n").args(words),
        false => Call::new(&step.words[0]).args(words.skip(1)),
    };
    match &step.input {
        Some(input) => call.input(input.as_bytes()),
        None => call,
    }
}
