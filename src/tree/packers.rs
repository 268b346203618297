//! Two git processes that pack an archive's contents side by side: hashing and compressing takes longer than
//! reading the archive, and one process does it on one CPU.

use std::collections::HashMap;
use std::io::{PipeWriter, Read, Write};
use std::time::Duration;

use camino::Utf8PathBuf;

use super::{Repository, pour, space};
use crate::blame::Failure;
use crate::job::Job;
use crate::process::{Call, Ended};

/// So much is written ahead to a process that is slower for a while, in bytes. It is what Linux lets everybody have.
const AHEAD: usize = 1 << 20;

/// A pair of `git fast-import`.
pub(super) struct Packers {
    /// Makes the commit.
    first: Call,
    /// Packs the half of the contents, and notes which object each became.
    second: Call,
    marks: Utf8PathBuf,
    git_dir: Utf8PathBuf,
}

impl Packers {
    /// A pair that packs an archive of this name into a new repository.
    pub(super) fn new(repository: &Repository, name: &str, limit: Duration, job: Job<'_>) -> Self {
        let git_dir = repository.git_dir().to_owned();
        let marks = git_dir.join("nspatch-marks");
        // Level 1 and no deltas: three times faster than the defaults, for a pack a fifth larger
        let call = || {
            repository
                .git()
                .args(["-c", "core.compression=1", "-c", "fastimport.unpackLimit=1"])
                .args(["fast-import", "--quiet", "--done", "--depth=0"])
                .deadline(limit)
        };
        let second = call().arg(format!("--export-marks={marks}")).log(job.log(&format!("import-{name}-second")));
        Packers { first: call().log(job.log(&format!("import-{name}"))), second, marks, git_dir }
    }

    /// Takes an archive's content, and makes one commit of it; `step` is called with the name of each entry. Gives
    /// how the first process ended.
    ///
    /// # Errors
    ///
    /// The archive is bad, the second process ended badly, or the work was interrupted.
    pub(super) fn take(&self, archive: impl Read + Send, step: impl FnMut(&[u8]) + Send) -> Result<Ended, Failure> {
        self.first.run_fed(|first| {
            widen(first);
            let leaves = self.contents(archive, first, step)?;
            pour::commit(first, &leaves, &self.packed_by_second()?)
        })
    }

    fn contents(
        &self,
        archive: impl Read + Send,
        first: &mut PipeWriter,
        step: impl FnMut(&[u8]) + Send,
    ) -> Result<pour::Leaves, Failure> {
        let mut leaves = pour::Leaves::new();
        let (into, taken) = (&mut *first, &mut leaves);
        let ended = self.second.run_fed(|second| {
            widen(second);
            *taken = pour::pour(archive, [into, &mut *second], step)?;
            pour::done(second)
        })?;
        if ended.succeeded() {
            return Ok(leaves);
        }
        // If the first one died, the second one only saw its input end early
        first.write_all(b"\n")?;
        Err(space::explained(ended.failure(), &self.git_dir))
    }

    /// The objects that the second process made of contents, by the contents' numbers.
    fn packed_by_second(&self) -> Result<HashMap<u64, String>, Failure> {
        let text = fs_err::read_to_string(&self.marks)?;
        fs_err::remove_file(&self.marks)?;
        let pair = |line: &str| {
            let (mark, object) = line.strip_prefix(':')?.split_once(' ')?;
            Some((mark.parse().ok()?, object.to_owned()))
        };
        let odd = |line: &str| Failure::internal(format!("git noted an object as `{line}`")).at(&self.marks);
        text.lines().map(|line| pair(line).ok_or_else(|| odd(line))).collect()
    }
}

/// Makes a pipe hold more, where the system allows it: that costs nothing but waiting.
fn widen(pipe: &PipeWriter) {
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, AHEAD);
}
