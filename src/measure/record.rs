//! The records of the results channel, as `docs/protocol.md` has them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Facts, GuestFailure, Repeat, Settings};

/// One line of the channel. A key that is not known is refused: it would be one whose meaning is
/// not known either.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Record {
    Hello(Hello),
    Facts(Facts),
    Benchmark(Begun),
    Repeat(Repeated),
    Done(Done),
    Failed(Failed),
    End(End),
}

impl Record {
    /// The record's kind.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Record::Hello(_) => "hello",
            Record::Facts(_) => "facts",
            Record::Benchmark(_) => "benchmark",
            Record::Repeat(_) => "repeat",
            Record::Done(_) => "done",
            Record::Failed(_) => "failed",
            Record::End(_) => "end",
        }
    }
}

/// Not strict, so that a newer protocol is told by its number.
#[derive(Debug, Deserialize)]
pub(super) struct Hello {
    pub protocol: u64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Begun {
    pub name: String,
    pub parameters: BTreeMap<String, i64>,
    pub operations: u64,
    pub repeats: u32,
    pub warmups: u32,
    pub seed: u64,
}

impl Begun {
    pub(super) fn settings(&self) -> Settings {
        Settings {
            parameters: self.parameters.clone(),
            operations: self.operations,
            repeats: self.repeats,
            warmups: self.warmups,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repeated {
    pub benchmark: String,
    pub index: u32,
    pub warmup: bool,
    pub operations: u64,
    pub elapsed_ns: u64,
    pub dither_ns: u64,
    pub drain_ns: u64,
}

impl Repeated {
    pub(super) fn repeat(&self) -> Repeat {
        Repeat {
            index: self.index,
            warmup: self.warmup,
            operations: self.operations,
            elapsed_ns: self.elapsed_ns,
            dither_ns: self.dither_ns,
            drain_ns: self.drain_ns,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Done {
    pub benchmark: String,
    pub repeats: u32,
    pub drain: Drain,
    #[serde(deserialize_with = "Option::deserialize")]
    pub mem_available_before_kib: Option<u64>,
    #[serde(deserialize_with = "Option::deserialize")]
    pub mem_available_after_kib: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failed {
    #[serde(deserialize_with = "Option::deserialize")]
    pub benchmark: Option<String>,
    pub class: FailureClass,
    #[serde(deserialize_with = "Option::deserialize")]
    pub call: Option<String>,
    pub errno: i32,
    pub error: String,
    pub detail: String,
}

impl Failed {
    pub(super) fn failure(self) -> GuestFailure {
        let Failed { benchmark: _, class, call, errno, error, detail } = self;
        GuestFailure { class, call, errno, error, detail }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct End {
    pub records: u64,
    pub crc32: String,
}

/// How the end of background freeing is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// A limit on namespaces has room again.
    Ucount,
    /// Memory is available again.
    Memory,
    /// Nothing is freed late.
    None,
}

/// The kinds of failures in the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// The plan asks for what the guest does not have.
    Usage,
    /// A system call failed.
    Call,
    /// A system call failed with ENOSPC: a limit was hit.
    Enospc,
    /// Something did not happen as often as it should.
    Count,
    /// The clock's steps are too long for what was measured.
    Clock,
    /// What a repeat left behind was not gone in time.
    Drain,
}
