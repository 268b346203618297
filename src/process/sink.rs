//! Where a child's output goes.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::time::Instant;

use super::Call;
use super::run::{Ended, Exit};
use crate::blame::Failure;

/// Where a child's output goes: files in any case, as a pipe stays open for as long as any
/// grandchild holds it, and waiting for its end could take for ever.
pub(super) struct Sink {
    pub(super) stdout: File,
    pub(super) stderr: File,
    captured: bool,
}

impl Sink {
    pub(super) fn open(call: &Call) -> Result<Self, Failure> {
        let Some(path) = &call.log else {
            return Self::memory();
        };
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let mut log = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(log, "$ {}", call.line())?;
        let log = log.into_parts().0;
        Ok(Sink { stderr: log.try_clone()?, stdout: log, captured: false })
    }

    /// Files without a name, to be read back.
    pub(super) fn memory() -> Result<Self, Failure> {
        Ok(Sink { stdout: temporary()?, stderr: temporary()?, captured: true })
    }

    pub(super) fn ended(mut self, call: &Call, exit: Exit, since: Instant) -> Result<Ended, Failure> {
        let (stdout, stderr) = if self.captured {
            (read_back(&mut self.stdout)?, read_back(&mut self.stderr)?)
        } else {
            (Vec::new(), Vec::new())
        };
        let seconds = since.elapsed().as_secs_f64();
        Ok(Ended {
            exit,
            stdout,
            stderr,
            log: call.log.clone(),
            seconds,
            line: call.short_line(),
            explain: call.explain.clone(),
        })
    }
}

/// Fails unless temporary files can be made, which every program's output needs.
///
/// # Errors
///
/// They cannot.
pub fn check_temporary_files() -> Result<(), Failure> {
    temporary().map(drop)
}

fn temporary() -> Result<File, Failure> {
    tempfile::tempfile().map_err(|error| {
        let folder = std::env::temp_dir();
        let failure = Failure::host(format!("no temporary file can be made: {error}")).at(folder.display());
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                failure.hint("TMPDIR names a folder that is not there: make it, or unset TMPDIR")
            }
            _ => failure.hint("TMPDIR moves temporary files to another folder"),
        }
    })
}

fn read_back(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}
