//! How a boot ended.

use std::fmt;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::HostLoad;
use crate::blame::{Blame, Class, Failure};

/// How a boot ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The guest ran to its end record; whether the record is right is for `measure` to say.
    Ended(Guest),
    /// The kernel did not come up, or died, or the guest did not get to its end.
    Broken(BootFailure),
}

/// A guest that wrote its end record and restarted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guest {
    /// The bytes of the results channel.
    pub results: Utf8PathBuf,
    /// The console.
    pub console: Utf8PathBuf,
    /// The command line of QEMU, started in the folder of these files.
    pub command: String,
    /// The first lines of the splats that were allowed.
    pub allowed_splats: Vec<String>,
    /// Wall time of the boot in seconds.
    pub seconds: f64,
    /// Wall time to the guest's first line in seconds, to a fiftieth of a second.
    pub seconds_to_init: Option<f64>,
    /// What the host did meanwhile; none where it does not tell.
    pub host: Option<HostLoad>,
}

/// The kinds of boot failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The kernel panicked.
    Panic,
    /// The kernel hit a bug of its own and does not go on: a bad access, a `BUG()`.
    Oops,
    /// The kernel complained of itself and went on: a `WARNING`, a sanitizer, lockdep, a stall, a hung task.
    Splat,
    /// There was output, and then none for too long.
    Hang,
    /// There was no output at all.
    Silence,
    /// The boot went on, but past its limit of time or of console output.
    Overrun,
    /// QEMU ended before the guest's first line, or with a bad status.
    EarlyExit,
    /// The guest ended without its end record.
    NoEnd,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Panic => "panic",
            Kind::Oops => "oops",
            Kind::Splat => "splat",
            Kind::Hang => "hang",
            Kind::Silence => "silence",
            Kind::Overrun => "overrun",
            Kind::EarlyExit => "early exit",
            Kind::NoEnd => "no end record",
        })
    }
}

/// A boot that is worth nothing, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootFailure {
    /// The kind.
    pub kind: Kind,
    /// One line: what happened.
    pub message: String,
    /// The lines that show it, of the console or of QEMU.
    pub excerpt: Vec<String>,
    /// The whole console.
    pub console: Utf8PathBuf,
    /// What QEMU itself printed, after its command line.
    pub log: Utf8PathBuf,
    /// Who owns it, as far as one boot can tell; who knows what was edited knows better.
    pub blame: Blame,
}

impl BootFailure {
    /// This, where nothing is left to do but to stop.
    pub fn failure(&self) -> Failure {
        Failure::new(Class::Boot, self.blame, format!("the boot failed: {}: {}", self.kind, self.message))
            .at(&self.console)
            .excerpt(self.excerpt.iter().cloned())
            .hint(format!("the command line and QEMU's own output: {}", self.log))
    }
}
