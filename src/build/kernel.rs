//! The front door of the stage.

use std::time::{Duration, Instant};

use camino::Utf8Path;

use super::bench::Workbench;
use super::broken::BuildFailure;
use super::image::{Image, Shelf};
use super::kconfig::Kconfig;
use super::leftover::Marker;
use super::toolchain::Toolchain;
use super::{compile, make, resolve};
use crate::apply::Revision;
use crate::blame::{Blame, Class, Failure};
use crate::event::{Ending, Stage};
use crate::job::Job;
use crate::store::{Digest, Lock};

/// Changes when the same content would be built in another way.
const SCHEMA: &str = "1";

/// What is to be built.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The source.
    pub revision: &'a Revision,
    /// The configuration that is asked for.
    pub kconfig: &'a Kconfig,
    /// The compiler, and with it the architecture.
    pub toolchain: &'a Toolchain,
    /// How long make may take.
    pub limit: Duration,
    /// How many compilers run side by side. No part of the image's key.
    pub jobs: usize,
}

/// What came of a build.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// An image.
    Built(Image),
    /// The kernel cannot be configured or compiled.
    Broken(BuildFailure),
}

impl<'a> Request<'a> {
    /// A request with the usual limit of one hour.
    pub fn new(revision: &'a Revision, kconfig: &'a Kconfig, toolchain: &'a Toolchain) -> Self {
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        Request { revision, kconfig, toolchain, limit: compile::LIMIT, jobs }
    }

    /// What names the image: all content that goes into it.
    pub fn image_key(&self) -> String {
        self.key(Digest::of("image").field("content", &self.revision.content))
    }

    /// What names the object folder: what every object depends on beside its source. The
    /// compiler's command is part of it, as Kbuild compiles all anew when that changes.
    pub fn objects_key(&self) -> String {
        self.key(Digest::of("objects").field("cc", self.toolchain.cc()))
    }

    fn key(&self, digest: Digest) -> String {
        make::key(digest)
            .field("schema", SCHEMA)
            .field("arch", self.toolchain.arch.name)
            .field("target", self.toolchain.arch.image_target)
            .field("kconfig", self.kconfig.key())
            .field("toolchain", self.toolchain.key())
            .hex()
    }

    /// The name of this build in events and logs, such as `x86_64 reversed`.
    pub(super) fn subject(&self) -> String {
        format!("{} {}", self.toolchain.arch, self.revision.variant)
    }
}

/// Gives the image of a revision: from the cache, or built on a bench that is asked for only then.
///
/// # Errors
///
/// The machine is to blame, or the work was interrupted. A kernel that does not build is
/// [`Outcome::Broken`].
pub fn build(request: &Request<'_>, workbench: &mut dyn Workbench, job: Job<'_>) -> Result<Outcome, Failure> {
    let shelf = Shelf::of(request, job)?;
    let waiting = || job.notice(Stage::Build, "another nspatch builds the same image: waiting for it", None);
    // Without the lock another one might just be taking a damaged entry away
    let _lock = Lock::take(&shelf.lock_file(), waiting)?;
    if let Some(image) = shelf.kept() {
        job.begin(Stage::Build, request.subject(), None).end(Ending::Reused);
        return Ok(Outcome::Built(image));
    }
    if shelf.clear()? {
        job.notice(Stage::Build, "a damaged image was found in the cache: it is built again", None);
    }
    build_anew(request, workbench, &shelf, job)
}

fn build_anew(
    request: &Request<'_>,
    workbench: &mut dyn Workbench,
    shelf: &Shelf,
    job: Job<'_>,
) -> Result<Outcome, Failure> {
    let bench = workbench.prepare(request.revision, &request.objects_key(), job)?;
    demand_plain_path(&bench.source)?;
    demand_plain_path(&bench.objects)?;
    let since = Instant::now();
    let marker = Marker::set(&bench.objects)?;
    let config = match resolve::resolve(request, &bench, job)? {
        Ok(config) => config,
        Err(broken) => return marker.lift().map(|()| Outcome::Broken(broken)),
    };
    if let Err(broken) = compile::compile(request, &bench, job)? {
        return marker.lift().map(|()| Outcome::Broken(broken));
    }
    marker.lift()?;
    demand_same_config(&config, &fs_err::read_to_string(bench.objects.join(".config"))?)?;
    let seconds = since.elapsed().as_secs_f64();
    Ok(Outcome::Built(shelf.keep(request, &bench, &config, seconds, job)?))
}

/// make cannot name such a file in a rule, and the kernel's Makefile refuses the folder.
fn demand_plain_path(folder: &Utf8Path) -> Result<(), Failure> {
    if !folder.as_str().contains([' ', ':', '#', '$', '%']) {
        return Ok(());
    }
    Err(Failure::host("kernels cannot be built in a folder with a space, `:`, `#`, `$` or `%` in its path")
        .at(folder)
        .hint("NSPATCH_CACHE moves the cache to another folder"))
}

/// The build resolves the configuration once more; if that changed it, what was checked is not
/// what was built.
fn demand_same_config(checked: &str, built: &str) -> Result<(), Failure> {
    if checked == built {
        return Ok(());
    }
    let lines: std::collections::BTreeSet<_> = checked.lines().collect();
    Err(Failure::new(Class::Config, Blame::Kernel, "the build changed its own configuration")
        .excerpt(built.lines().filter(|line| !lines.contains(line)).take(8)))
}
