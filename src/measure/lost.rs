//! Why the results of a boot count for nothing.

use serde::{Deserialize, Serialize};

use crate::blame::{Blame, Class, Failure};

/// Why the results of a boot count for nothing. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Lost {
    /// There is nothing.
    #[error("the results channel is empty")]
    Empty,
    /// The last line has no end.
    #[error("the results were cut in line {line}")]
    Cut {
        /// The line.
        line: usize,
    },
    /// The last line is no end record.
    #[error("the results have no end record")]
    NoEnd,
    /// Something follows the end record.
    #[error("{lines} lines follow the end record")]
    AfterEnd {
        /// How many.
        lines: usize,
    },
    /// The end record counts other lines than there are.
    #[error("the end record counts {said} lines, but there are {found}")]
    Count {
        /// As the end record has it.
        said: u64,
        /// As there are.
        found: u64,
    },
    /// The bytes are not those that the guest sent.
    #[error("the results have the checksum {found}, but the guest sent {said}")]
    Checksum {
        /// As the end record has it.
        said: String,
        /// As computed from the bytes.
        found: String,
    },
    /// The guest speaks another protocol.
    #[error("the guest speaks protocol {found}, and nspatch speaks {known}")]
    Protocol {
        /// The guest's.
        found: u64,
        /// Ours.
        known: u64,
    },
    /// A line is no record.
    #[error("line {line} of the results is no record: {error}")]
    Syntax {
        /// The line.
        line: usize,
        /// What is wrong with it.
        error: String,
    },
    /// A record stands where it must not.
    #[error("line {line} of the results is a record `{found}`, but {wanted} should stand there")]
    Unexpected {
        /// The line.
        line: usize,
        /// The record's kind, and the benchmark's name where it has one.
        found: String,
        /// What should be there.
        wanted: String,
    },
    /// A benchmark comes twice.
    #[error("line {line} of the results begins benchmark {benchmark} a second time")]
    Duplicate {
        /// The line.
        line: usize,
        /// Its name.
        benchmark: String,
    },
    /// A number contradicts another one.
    #[error("line {line} of the results says {what} {found} where {wanted} was announced")]
    Contradiction {
        /// The line.
        line: usize,
        /// Which number.
        what: String,
        /// As it is.
        found: String,
        /// As it should be.
        wanted: String,
    },
    /// A benchmark has no time to show.
    #[error("line {line} of the results: benchmark {benchmark} measured nothing")]
    Nothing {
        /// The line.
        line: usize,
        /// Its name.
        benchmark: String,
    },
    /// A number is too large to be one.
    #[error("line {line} of the results says {what} {found} ns, which is longer than a day")]
    Absurd {
        /// The line.
        line: usize,
        /// Which number.
        what: String,
        /// As it is.
        found: u64,
    },
    /// The steps of the clock are too long for what was measured.
    #[error("line {line} of the results: {elapsed_ns} ns were measured with a clock that steps by {step_ns} ns")]
    Coarse {
        /// The line.
        line: usize,
        /// What was measured.
        elapsed_ns: u64,
        /// A step.
        step_ns: u64,
    },
    /// A benchmark was not set as asked.
    #[error("the guest ran {benchmark} with {name} {found}, but {asked} was asked for")]
    Setting {
        /// The benchmark.
        benchmark: String,
        /// The setting.
        name: String,
        /// As asked.
        asked: String,
        /// As used.
        found: String,
    },
    /// The guest did not have the CPUs that it was given.
    #[error("the guest had {found} of {asked} CPUs")]
    Cpus {
        /// As given.
        asked: u32,
        /// As seen by the guest.
        found: u32,
    },
    /// The results come from a boot with another seed.
    #[error("the guest used seed {found}, but {asked} was asked for")]
    Seed {
        /// As asked.
        asked: u64,
        /// As used.
        found: u64,
    },
    /// The benchmarks are not those that were asked for.
    #[error("the guest ran `{found}`, but `{asked}` was asked for")]
    Unanswered {
        /// The names, as asked.
        asked: String,
        /// The names, as found.
        found: String,
    },
}

impl Lost {
    /// This, where nothing is left to do but to stop.
    pub fn failure(&self) -> Failure {
        let blame = match self {
            Lost::Protocol { .. } | Lost::Seed { .. } | Lost::Unanswered { .. } | Lost::Setting { .. } => {
                Blame::Nspatch
            }
            _ => Blame::Kernel,
        };
        Failure::new(Class::Guest, blame, self.to_string())
            .hint("nothing of such a boot counts; its console may tell what disturbed the results channel")
    }
}
