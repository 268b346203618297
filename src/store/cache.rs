//! The cache: a folder that may be deleted at any time and only costs time to fill again.

use camino::{Utf8Path, Utf8PathBuf};

use crate::blame::Failure;

/// The file that marks a folder as a cache, see <https://bford.info/cachedir/>.
const TAG: &str = "CACHEDIR.TAG";
const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# This is the cache of nspatch.\n";

/// The root of everything that is kept between runs.
#[derive(Clone, Debug)]
pub struct Cache {
    root: Utf8PathBuf,
}

impl Cache {
    /// Opens a cache, making its folder where it is missing. A folder that was empty gets the tag
    /// by which backups know caches, and [`Cache::discard`] knows its own.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn open(root: &Utf8Path) -> Result<Self, Failure> {
        fs_err::create_dir_all(root)?;
        if fs_err::read_dir(root)?.next().is_none() {
            fs_err::write(root.join(TAG), TAG_TEXT)?;
        }
        let root = root.canonicalize_utf8().map_err(|error| Failure::io(&error).at(root))?;
        Ok(Cache { root })
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

    /// A new folder for work in progress on the cache's file system, removed when dropped. What
    /// becomes good in it is renamed to its place, so that the cache holds no half of anything.
    ///
    /// # Errors
    ///
    /// The folder cannot be made.
    pub fn scratch(&self) -> Result<tempfile::TempDir, Failure> {
        let folder = self.folder("scratch")?;
        tempfile::Builder::new().prefix("work-").tempdir_in(&folder).map_err(|error| Failure::io(&error).at(folder))
    }
}

impl Cache {
    /// Removes a folder of the cache. It vanishes in one piece, so that nobody sees half of it.
    ///
    /// # Errors
    ///
    /// The cache is a folder that nspatch did not make, or the folder cannot be removed.
    pub fn discard(&self, relative: &str) -> Result<(), Failure> {
        if !fs_err::read_to_string(self.root.join(TAG)).is_ok_and(|text| text == TAG_TEXT) {
            return Err(Failure::usage(format!("`{}` was not made by nspatch: nothing was removed", self.root))
                .at("--cache")
                .hint("remove by hand what you do not need"));
        }
        let folder = self.root.join(relative);
        let doomed = tempfile::Builder::new()
            .prefix("doomed-")
            .tempdir_in(&self.root)
            .map_err(|error| Failure::io(&error).at(&self.root))?;
        fs_err::rename(&folder, doomed.path().join("folder"))?;
        doomed.close().map_err(|error| Failure::io(&error).at(folder))
    }
}

/// An exclusive lock on a file. The system frees it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: std::fs::File,
}

impl Lock {
    /// Takes the lock, or gives `None` if another holds it.
    ///
    /// # Errors
    ///
    /// The lock file cannot be made.
    pub fn try_take(path: &Utf8Path) -> Result<Option<Self>, Failure> {
        let file = Self::open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(error)) => Err(Failure::io(&error).at(path)),
        }
    }

    /// Waits for the lock; `waiting` is called once if another holds it. An interrupt ends the wait.
    ///
    /// # Errors
    ///
    /// The lock file cannot be made, or the work was interrupted.
    pub fn take(path: &Utf8Path, waiting: impl FnOnce()) -> Result<Self, Failure> {
        if let Some(lock) = Self::try_take(path)? {
            return Ok(lock);
        }
        waiting();
        loop {
            crate::interrupt::check()?;
            std::thread::sleep(std::time::Duration::from_millis(100));
            if let Some(lock) = Self::try_take(path)? {
                return Ok(lock);
            }
        }
    }

    fn open(path: &Utf8Path) -> Result<std::fs::File, Failure> {
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let file = fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        Ok(file.into_parts().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_freed_on_drop() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("lock");
        let first = Lock::try_take(&path).unwrap();
        assert!(first.is_some());
        assert!(Lock::try_take(&path).unwrap().is_none());
        drop(first);
        assert!(Lock::try_take(&path).unwrap().is_some());
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
        let left: Vec<_> = own.root().read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path()).collect();
        assert_eq!(left, [own.root().join(TAG)]);
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
}
