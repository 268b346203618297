//! Compiling: make, its progress, its first error.

use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::bench::Bench;
use super::broken::BuildFailure;
use super::kernel::Request;
use super::log::progress;
use super::make::make;
use super::resolve::printed;
use crate::blame::{Class, Failure};
use crate::event::{Ending, Stage};
use crate::job::{Job, Task};
use crate::process::{Exit, Watch};
use crate::store::{read_json, write_json};

/// The limit of a build, unless the request says otherwise.
pub(super) const LIMIT: Duration = Duration::from_secs(3600);

/// Builds the image in a configured object folder; gives the wall time in seconds.
///
/// # Errors
///
/// The machine is to blame, the limit was reached, or the work was interrupted.
pub(super) fn compile(
    request: &Request<'_>,
    bench: &Bench,
    job: Job<'_>,
) -> Result<Result<f64, BuildFailure>, Failure> {
    let memory = Memory::of(request, bench, job)?;
    let task = job.begin(Stage::Build, request.subject(), memory.total());
    let log = job.log(&format!("build-{}", request.subject()));
    let mut tail = Tail::behind(&log);
    let start = tail.at;
    let call = make(request.toolchain, bench)?
        .arg(format!("-j{}", request.jobs))
        .arg(request.toolchain.arch.image_target)
        .deadline(request.limit)
        .log(&log);
    let ended = call.run_watched(|| {
        tail.report(&task);
        Watch::On
    })?;
    match ended.exit {
        Exit::Success => {
            tail.read();
            memory.keep(tail.steps)?;
            Ok(Ok(task.end(Ending::Done)))
        }
        Exit::Status(_) => {
            BuildFailure::of_make(request, Class::Build, &ended, &printed(&ended, start)?, bench).map(Err)
        }
        Exit::Signal(_) | Exit::Deadline | Exit::Stopped => Err(ended.failure()),
    }
}

/// Reads a log as it grows, counting the steps that make announces.
struct Tail {
    log: Utf8PathBuf,
    at: u64,
    rest: String,
    steps: u64,
    detail: String,
    looks: u32,
}

impl Tail {
    /// A log is looked at with every tenth look at the child, five times a second.
    const EVERY: u32 = 10;

    /// Starts behind what is in the log already.
    fn behind(log: &Utf8Path) -> Self {
        let at = fs_err::metadata(log).map_or(0, |metadata| metadata.len());
        Tail { log: log.to_owned(), at, rest: String::new(), steps: 0, detail: String::new(), looks: 0 }
    }

    fn report(&mut self, task: &Task<'_>) {
        self.looks += 1;
        if self.looks.is_multiple_of(Self::EVERY) {
            let before = self.steps;
            self.read();
            if self.steps > before {
                task.advance(self.steps, self.detail.clone());
            }
        }
    }

    /// Counts what was added. A log that cannot be read only costs the progress.
    fn read(&mut self) {
        let mut added = Vec::new();
        let opened = fs_err::File::open(&self.log).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.at))?;
            file.read_to_end(&mut added)
        });
        if opened.is_err() {
            return;
        }
        self.at += added.len() as u64;
        self.rest += &String::from_utf8_lossy(&added);
        while let Some(end) = self.rest.find('\n') {
            if let Some(target) = progress(&self.rest[..end]) {
                self.steps += 1;
                self.detail = target.to_owned();
            }
            self.rest.drain(..=end);
        }
    }
}

/// How many steps builds of an object folder took, for the total of the next one: a first build and
/// a later one differ by much.
#[derive(Default, Serialize, Deserialize)]
struct Steps {
    full: Option<u64>,
    again: Option<u64>,
}

struct Memory {
    file: Utf8PathBuf,
    steps: Steps,
    first: bool,
}

impl Memory {
    fn of(request: &Request<'_>, bench: &Bench, job: Job<'_>) -> Result<Self, Failure> {
        let file = job.cache.folder("steps")?.join(request.objects_key() + ".json");
        let steps = read_json(&file).unwrap_or_default();
        let first = !bench.objects.join(request.toolchain.arch.image).exists();
        Ok(Memory { file, steps, first })
    }

    fn total(&self) -> Option<u64> {
        if self.first { self.steps.full } else { self.steps.again }
    }

    fn keep(mut self, steps: u64) -> Result<(), Failure> {
        let known = if self.first { &mut self.steps.full } else { &mut self.steps.again };
        *known = Some(steps);
        write_json(&self.file, &self.steps)
    }
}
