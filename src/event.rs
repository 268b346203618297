//! Facts that stages emit while they work, in the past tense. Stages never print: `console` turns
//! these into progress bars, plain lines or JSON lines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The stages that take time, as named in reports and in the breakdown of where the time went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Installing what the machine lacks.
    Setup,
    /// Finding, fetching and reading a patch.
    Source,
    /// Finding, downloading and importing a kernel source.
    Tree,
    /// Finding out how a patch stands to a tree.
    Apply,
    /// Laying a variant's files into a leased checkout.
    Checkout,
    /// Resolving the kernel configuration.
    Config,
    /// Compiling a kernel.
    Build,
    /// Compiling and packing the guest.
    Rootfs,
    /// Starting QEMU and waiting for the results.
    Boot,
}

impl Stage {
    /// The stage's name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Setup => "setup",
            Stage::Source => "source",
            Stage::Tree => "tree",
            Stage::Apply => "apply",
            Stage::Checkout => "checkout",
            Stage::Config => "config",
            Stage::Build => "build",
            Stage::Rootfs => "rootfs",
            Stage::Boot => "boot",
        }
    }
}

/// How a piece of work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// It was done now.
    Done,
    /// An earlier result was taken.
    Reused,
    /// It failed; the stage's outcome tells how.
    Broken,
}

/// One fact. `subject` names the piece of work within its stage and is the same in all its events,
/// such as `x86_64 reversed` for a build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Event {
    /// A piece of work began. `total` is the number of steps, where it is known.
    Started {
        /// The stage.
        stage: Stage,
        /// The piece of work.
        subject: String,
        /// The number of steps, where known.
        total: Option<u64>,
    },
    /// A piece of work came further.
    Advanced {
        /// The stage.
        stage: Stage,
        /// The piece of work.
        subject: String,
        /// Steps done so far.
        done: u64,
        /// What is being done just now, such as the file being compiled.
        detail: String,
    },
    /// A piece of work ended.
    Finished {
        /// The stage.
        stage: Stage,
        /// The piece of work.
        subject: String,
        /// How it ended.
        ending: Ending,
        /// Wall time in seconds.
        seconds: f64,
    },
    /// Something the user should know, though it stops nothing.
    Noticed {
        /// The stage.
        stage: Stage,
        /// One line, lower case, no full stop.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

/// What one stage took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTime {
    /// Wall time of its pieces of work in seconds, added up; pieces that ran side by side count each.
    pub seconds: f64,
    /// How many pieces of work were done or failed.
    pub done: u32,
    /// How many were taken from an earlier run.
    pub reused: u32,
}

/// Where the time went, by stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StageTimes(pub BTreeMap<Stage, StageTime>);

impl StageTimes {
    /// Adds what an event tells; only [`Event::Finished`] tells anything.
    pub fn add(&mut self, event: &Event) {
        let Event::Finished { stage, ending, seconds, .. } = event else {
            return;
        };
        let time = self.0.entry(*stage).or_default();
        time.seconds += seconds;
        match ending {
            Ending::Reused => time.reused += 1,
            Ending::Done | Ending::Broken => time.done += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_add_up_by_stage_and_keep_reused_work_apart() {
        let mut times = StageTimes::default();
        for (stage, ending, seconds) in [
            (Stage::Build, Ending::Done, 60.0),
            (Stage::Build, Ending::Reused, 0.5),
            (Stage::Boot, Ending::Broken, 3.0),
        ] {
            times.add(&Event::Finished { stage, subject: "x".to_owned(), ending, seconds });
        }
        times.add(&Event::Started { stage: Stage::Tree, subject: "x".to_owned(), total: None });
        assert_eq!(times.0[&Stage::Build], StageTime { seconds: 60.5, done: 1, reused: 1 });
        assert_eq!(times.0.len(), 2);
        assert_eq!(serde_json::to_value(&times).unwrap()["boot"]["done"], 1);
    }
}
