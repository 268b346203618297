//! Where a kernel is built: a checkout and an object folder, asked for only when they are needed.

use std::fs::File;
use std::sync::Arc;

use camino::Utf8PathBuf;

use crate::apply::Revision;
use crate::blame::Failure;
use crate::job::Job;

/// A checkout that holds a revision's files, and a folder for objects.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The checkout's root.
    pub source: Utf8PathBuf,
    /// The folder for objects, outside the checkout. It may hold those of an earlier build.
    pub objects: Utf8PathBuf,
    /// A file whose lock makes the bench ours: compilers keep it open, so that nobody else gets the
    /// bench before the last of them has ended.
    pub lease: Option<Arc<File>>,
}

/// Somebody who can lend a bench. `build` asks only if the image is not in the cache, so a
/// checkout may be leased as late as this.
pub trait Workbench {
    /// Lays the revision's files into a checkout that nobody else uses, giving a new time to those
    /// files, and only those, whose content changed; `objects` names the object folder, whose
    /// content has to be kept with the checkout.
    ///
    /// # Errors
    ///
    /// There is no checkout to be had, or the files cannot be laid.
    fn prepare(&mut self, revision: &Revision, objects: &str, job: Job<'_>) -> Result<Bench, Failure>;
}
