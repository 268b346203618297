//! Failures: what happened, where, who owns it, and what to do next.
//!
//! A [`Failure`] is what stops the work. A kernel that does not build or boot is not one: stages
//! return that as an outcome, so that a comparison or a bisect can go on without it. Such an
//! outcome becomes a failure only where nothing else is left to do.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Who has to act on a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Blame {
    /// Whoever gave the command: a wrong name, a wrong file.
    User,
    /// The patch under test: it does not apply, or it breaks the kernel.
    Patch,
    /// The kernel tree as it is.
    Kernel,
    /// The machine that nspatch runs on: no space, a missing program.
    Host,
    /// nspatch itself.
    Nspatch,
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Blame::User => "the command",
            Blame::Patch => "the patch",
            Blame::Kernel => "the kernel tree",
            Blame::Host => "this machine",
            Blame::Nspatch => "nspatch",
        })
    }
}

/// The kind of a failure; each has one exit code, documented in `docs/exit-codes.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The command line, a configuration file or a folder of the user is wrong.
    Usage,
    /// A patch cannot be read, or does not stand to the tree in a way that can be tested.
    Apply,
    /// The kernel configuration that was asked for cannot be had on this tree.
    Config,
    /// The kernel or the guest does not compile.
    Build,
    /// The kernel does not come up, or dies.
    Boot,
    /// The kernel came up, but a benchmark failed, or its results did not arrive whole.
    Guest,
    /// The machine lacks something: space, a program, a permission, the network.
    Host,
    /// Stopped by a signal.
    Interrupted,
    /// A fault of nspatch itself.
    Internal,
}

impl Class {
    /// The exit code of the process for this kind of failure.
    pub fn exit_code(self) -> u8 {
        match self {
            Class::Usage => exit::USAGE,
            Class::Apply => exit::APPLY,
            Class::Config => exit::CONFIG,
            Class::Build => exit::BUILD,
            Class::Boot => exit::BOOT,
            Class::Guest => exit::GUEST,
            Class::Host => exit::HOST,
            Class::Interrupted => exit::INTERRUPTED,
            Class::Internal => exit::INTERNAL,
        }
    }
}

/// The exit codes, one table for the whole program.
pub mod exit {
    /// Everything ran, and nothing got slower.
    pub const FINE: u8 = 0;
    /// Everything ran, and at least one benchmark regressed.
    pub const REGRESSED: u8 = 1;
    /// [`Class::Usage`](super::Class::Usage); clap uses the same number.
    pub const USAGE: u8 = 2;
    /// [`Class::Apply`](super::Class::Apply).
    pub const APPLY: u8 = 3;
    /// [`Class::Config`](super::Class::Config).
    pub const CONFIG: u8 = 4;
    /// [`Class::Build`](super::Class::Build).
    pub const BUILD: u8 = 5;
    /// [`Class::Boot`](super::Class::Boot).
    pub const BOOT: u8 = 6;
    /// [`Class::Guest`](super::Class::Guest).
    pub const GUEST: u8 = 7;
    /// [`Class::Host`](super::Class::Host).
    pub const HOST: u8 = 8;
    /// Everything ran, but some comparison stayed undecided.
    pub const INCONCLUSIVE: u8 = 9;
    /// Everything ran, but some comparison was refused.
    pub const NOT_COMPARABLE: u8 = 10;
    /// [`Class::Internal`](super::Class::Internal).
    pub const INTERNAL: u8 = 70;
    /// [`Class::Interrupted`](super::Class::Interrupted): 128 + SIGINT, as shells have it.
    pub const INTERRUPTED: u8 = 130;
}

/// What to do about a full disk.
const NO_SPACE: &str =
    "no space is left: `nspatch trees` shows what takes it, `nspatch clean` frees it; NSPATCH_CACHE moves the cache";
/// What programs print that meet a full disk; the last one is git's.
const FULL: [&str; 3] = ["No space left on device", "Disk quota exceeded", "Out of diskspace"];

/// Something that stops the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{what}")]
pub struct Failure {
    /// The kind, which gives the exit code.
    pub class: Class,
    /// Who has to act.
    pub blame: Blame,
    /// One line, lower case, no full stop.
    pub what: String,
    /// The file, command or tree concerned.
    pub place: Option<String>,
    /// Lines that show it: the first error of a log, the end of a program's output.
    pub excerpt: Vec<String>,
    /// What to do next, one line each.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure of a class, owned by `blame`.
    pub fn new(class: Class, blame: Blame, what: impl Into<String>) -> Self {
        Failure { class, blame, what: what.into(), place: None, excerpt: Vec::new(), hints: Vec::new() }
    }

    /// The command or a file of the user is wrong.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(Class::Usage, Blame::User, what)
    }

    /// The machine lacks something.
    pub fn host(what: impl Into<String>) -> Self {
        Self::new(Class::Host, Blame::Host, what)
    }

    /// nspatch did something that it should not have done.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::new(Class::Internal, Blame::Nspatch, what)
            .hint("this is a fault of nspatch: please report it with the run folder")
    }

    /// An input or output operation failed; fs-err has already put the path into the message.
    pub fn io(error: &std::io::Error) -> Self {
        let failure = Self::host(error.to_string());
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => failure.hint(NO_SPACE),
            std::io::ErrorKind::PermissionDenied => failure.hint("check who owns the file and its folder"),
            _ => failure,
        }
    }

    /// Adds where it happened.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.place = Some(place.to_string());
        self
    }

    /// Adds a line that says what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds lines that show what happened.
    pub fn excerpt(mut self, lines: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.excerpt.extend(lines.into_iter().map(Into::into));
        self
    }

    /// Adds the way out where the lines that show what happened tell of a full disk.
    pub fn explain_full_disk(self) -> Self {
        let full = self.excerpt.iter().any(|line| FULL.iter().any(|sign| line.contains(sign)));
        if full && !self.hints.iter().any(|hint| hint.contains("NSPATCH_CACHE")) { self.hint(NO_SPACE) } else { self }
    }

    /// The failure as people read it: what, where, who, the lines that show it, the hints.
    pub fn render(&self) -> String {
        let mut text = format!("error: {}\n", self.what);
        if let Some(place) = &self.place {
            text += &format!("  where: {place}\n");
        }
        if self.class != Class::Interrupted {
            text += &format!("  owner: {}\n", self.blame);
        }
        for line in &self.excerpt {
            text += &format!("  | {line}\n");
        }
        for hint in &self.hints {
            text += &format!("hint: {hint}\n");
        }
        // Much of it are words of strangers: none of them is to be obeyed by a terminal
        text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c }).collect()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::io(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_what_where_who_and_what_next() {
        let failure = Failure::usage("no such tree: `debain:6.12`").at("--tree").hint("did you mean `debian:6.12`?");
        insta::assert_snapshot!(failure.render(), @r"
        error: no such tree: `debain:6.12`
          where: --tree
          owner: the command
        hint: did you mean `debian:6.12`?
        ");
    }

    #[test]
    fn nothing_that_is_shown_is_obeyed_by_a_terminal() {
        let text = Failure::usage("a\x1b[2J").at("b\x07").excerpt(["+\tc\x1b]0;d"]).hint("e\r").render();
        assert!(
            text.contains("+\tc") && !text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'),
            "{text:?}"
        );
    }

    #[test]
    fn no_class_of_failure_exits_with_a_good_or_a_verdict_code() {
        let classes = [
            Class::Usage,
            Class::Apply,
            Class::Config,
            Class::Build,
            Class::Boot,
            Class::Guest,
            Class::Host,
            Class::Interrupted,
            Class::Internal,
        ];
        let verdicts = [exit::FINE, exit::REGRESSED, exit::INCONCLUSIVE, exit::NOT_COMPARABLE];
        for class in classes {
            assert!(!verdicts.contains(&class.exit_code()), "{class:?}");
        }
    }

    #[test]
    fn a_full_disk_is_the_machine_s_and_names_the_way_out() {
        let failure = Failure::from(std::io::Error::from(std::io::ErrorKind::StorageFull));
        assert_eq!(failure.class, Class::Host);
        assert!(failure.hints[0].contains("NSPATCH_CACHE"));
        let told = Failure::host("`git` ended with status 128").excerpt(["fatal: write error. Out of diskspace"]);
        let told = told.explain_full_disk().explain_full_disk();
        assert_eq!(told.hints, failure.hints, "once");
        assert!(Failure::host("x").excerpt(["out of luck"]).explain_full_disk().hints.is_empty());
    }
}
