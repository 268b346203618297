//! The cache: a folder that may be deleted at any time and only costs time to fill again.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::lock::Lock;
use super::scratch::{self, Scratch};
use crate::blame::Failure;

/// The file that marks a folder as a cache, see <https://bford.info/cachedir/>.
const TAG: &str = "CACHEDIR.TAG";
const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# This is the cache of nspatch.\n";
/// The file that everybody who uses the cache locks, together with others.
const IN_USE: &str = "in-use.lock";

/// The root of everything that is kept between runs.
#[derive(Clone, Debug)]
pub struct Cache {
    root: Utf8PathBuf,
    scratch: Arc<Scratch>,
    _in_use: Arc<Lock>,
}

impl Cache {
    /// Opens a cache, making its folder where it is missing. A folder that was empty gets the tag
    /// by which backups know caches, and [`Cache::discard`] knows its own. What killed processes
    /// left of their work in progress is removed.
    ///
    /// # Errors
    ///
    /// The folder cannot be made, or the work was interrupted while another nspatch empties it.
    pub fn open(root: &Utf8Path) -> Result<Self, Failure> {
        Self::open_with(root, |in_use| Lock::take_shared(in_use, || ()))
    }

    /// Opens a cache that nobody else uses, and keeps others waiting until it is dropped.
    ///
    /// # Errors
    ///
    /// Another nspatch uses it, or as for [`Cache::open`].
    pub fn open_alone(root: &Utf8Path) -> Result<Self, Failure> {
        Self::open_with(root, |in_use| {
            Lock::try_take(in_use)?.ok_or_else(|| {
                Failure::host("another nspatch uses the cache")
                    .at(root)
                    .hint("wait for it, or end it: what it has finished is kept")
            })
        })
    }

    fn open_with(root: &Utf8Path, lock: impl FnOnce(&Utf8Path) -> Result<Lock, Failure>) -> Result<Self, Failure> {
        make(root)?;
        if fs_err::read_dir(root)?.next().is_none() {
            fs_err::write(root.join(TAG), TAG_TEXT)?;
        }
        let root = root.canonicalize_utf8().map_err(|error| Failure::io(&error).at(root))?;
        let in_use = lock(&root.join(IN_USE))?;
        let shelf = root.join("scratch");
        if Self::is_at(&root) {
            scratch::sweep(&shelf)?;
        }
        Ok(Cache { root, scratch: Arc::new(Scratch::new(shelf)), _in_use: Arc::new(in_use) })
    }

    /// Whether a folder is a cache that nspatch made, by its tag.
    pub fn is_at(folder: &Utf8Path) -> bool {
        fs_err::read_to_string(folder.join(TAG)).is_ok_and(|text| text == TAG_TEXT)
    }

    /// The folder of the cache, absolute.
    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// A folder of the cache, made where it is missing.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn folder(&self, relative: &str) -> Result<Utf8PathBuf, Failure> {
        let folder = self.root.join(relative);
        fs_err::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// A new folder for work in progress on the cache's file system, removed when dropped, or by
    /// the next nspatch if this one is killed. What becomes good in it is renamed to its place, so
    /// that the cache holds no half of anything.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn scratch(&self) -> Result<tempfile::TempDir, Failure> {
        self.scratch.folder()
    }

    /// Removes a file or folder of the cache. It vanishes in one piece, so that nobody sees half of it.
    ///
    /// # Errors
    ///
    /// The cache is a folder that nspatch did not make, or the folder cannot be removed.
    pub fn discard(&self, relative: &str) -> Result<(), Failure> {
        if !Self::is_at(&self.root) {
            return Err(Failure::usage(format!("`{}` was not made by nspatch: nothing was removed", self.root))
                .at("--cache")
                .hint("remove by hand what you do not need"));
        }
        let doomed = self.scratch()?;
        fs_err::rename(self.root.join(relative), doomed.path().join("doomed"))?;
        doomed.close().map_err(|error| Failure::io(&error).at(self.root.join(relative)))
    }
}

/// Makes the root, which the user names: what is in its way is the user's.
fn make(root: &Utf8Path) -> Result<(), Failure> {
    if let Some(file) = super::file_in_the_way(root) {
        return Err(Failure::usage(format!("the cache has to be a folder, and `{file}` is none"))
            .at("--cache")
            .hint("give another folder with --cache DIR or NSPATCH_CACHE"));
    }
    fs_err::create_dir_all(root)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::Class;

    fn names(folder: &Utf8Path) -> Vec<String> {
        let mut names: Vec<_> =
            folder.read_dir_utf8().unwrap().map(|entry| entry.unwrap().file_name().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_a_cache_of_its_own_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        fs_err::create_dir_all(root.join("home/precious")).unwrap();
        let (home, own) = (Cache::open(&root.join("home")).unwrap(), Cache::open(&root.join("own")).unwrap());
        assert!(home.discard("precious").is_err());
        assert!(root.join("home/precious").is_dir());
        own.folder("images/1").unwrap();
        own.discard("images").unwrap();
        drop(own.scratch().unwrap());
        assert_eq!(names(&root.join("own")), [TAG, IN_USE, "scratch"]);
    }

    #[test]
    fn scratch_is_gone_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(Utf8Path::from_path(folder.path()).unwrap()).unwrap();
        let scratch = cache.scratch().unwrap();
        let path = scratch.path().to_owned();
        assert!(path.is_dir());
        drop(scratch);
        assert!(!path.exists());
    }

    #[test]
    fn a_cache_in_use_is_not_had_alone_and_one_had_alone_keeps_others_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let (one, two) = (Cache::open(root).unwrap(), Cache::open(root).unwrap());
        drop(one);
        let failure = Cache::open_alone(root).unwrap_err();
        assert!(failure.class == Class::Host && failure.what.contains("another nspatch"), "{failure:?}");
        drop(two);
        let alone = Cache::open_alone(root).unwrap();
        assert!(Cache::open_alone(root).is_err());
        drop(alone);
        Cache::open(root).unwrap();
    }

    #[test]
    fn a_file_in_the_place_of_the_cache_is_the_user_s() {
        let folder = tempfile::tempdir().unwrap();
        let file = Utf8Path::from_path(folder.path()).unwrap().join("file");
        fs_err::write(&file, "").unwrap();
        for root in [file.clone(), file.join("below/it")] {
            let failure = Cache::open(&root).unwrap_err();
            assert_eq!((failure.class, failure.place.as_deref()), (Class::Usage, Some("--cache")), "{root}");
        }
    }
}
