//! Locks on files, which end with the process that holds them.

use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::blame::Failure;
use crate::interrupt;

/// How often a lock that another holds is asked for.
const TICK: Duration = Duration::from_millis(100);

/// A lock on a file. The system frees it when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    file: Arc<File>,
    path: Utf8PathBuf,
}

impl Lock {
    /// Takes the lock for this process alone, or gives `None` if another holds it.
    ///
    /// # Errors
    ///
    /// The lock file cannot be made.
    pub fn try_take(path: &Utf8Path) -> Result<Option<Self>, Failure> {
        Self::attempt(path, File::try_lock)
    }

    /// Waits for the lock; `waiting` is called once if another holds it. An interrupt ends the wait.
    ///
    /// # Errors
    ///
    /// The lock file cannot be made, or the work was interrupted.
    pub fn take(path: &Utf8Path, waiting: impl FnOnce()) -> Result<Self, Failure> {
        Self::wait(path, File::try_lock, waiting)
    }

    /// As [`Lock::take`], but together with others who take it so.
    ///
    /// # Errors
    ///
    /// As [`Lock::take`].
    pub fn take_shared(path: &Utf8Path, waiting: impl FnOnce()) -> Result<Self, Failure> {
        Self::wait(path, File::try_lock_shared, waiting)
    }

    /// The open file, for children that keep the lock: see [`crate::process::Call::holding`].
    pub fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// Removes the lock file and ends the lock. Whoever waits for it makes a new one.
    pub fn remove(self) {
        // A lock file that stays does no harm
        let _ = fs_err::remove_file(&self.path);
    }

    fn wait(
        path: &Utf8Path,
        lock: fn(&File) -> Result<(), TryLockError>,
        waiting: impl FnOnce(),
    ) -> Result<Self, Failure> {
        if let Some(lock) = Self::attempt(path, lock)? {
            return Ok(lock);
        }
        waiting();
        loop {
            interrupt::check()?;
            std::thread::sleep(TICK);
            if let Some(lock) = Self::attempt(path, lock)? {
                return Ok(lock);
            }
        }
    }

    fn attempt(path: &Utf8Path, lock: fn(&File) -> Result<(), TryLockError>) -> Result<Option<Self>, Failure> {
        loop {
            let file = open(path)?;
            match lock(&file) {
                Ok(()) if is_at(&file, path) => {
                    return Ok(Some(Lock { file: Arc::new(file), path: path.to_owned() }));
                }
                // Its last holder removed the file between our opening and locking it
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(Failure::io(&error).at(path)),
            }
        }
    }
}

/// Opens a lock file, making it and its folder. Whoever held it before may remove both meanwhile.
fn open(path: &Utf8Path) -> Result<File, Failure> {
    let mut options = fs_err::OpenOptions::new();
    options.create(true).truncate(false).write(true);
    for _ in 0..100 {
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        match options.open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            opened => return Ok(opened?.into_parts().0),
        }
    }
    Err(Failure::host("the lock file vanishes as soon as it is made").at(path))
}

/// Whether an open file is the one that a path names.
fn is_at(file: &File, path: &Utf8Path) -> bool {
    let number = |look: std::fs::Metadata| (look.dev(), look.ino());
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(theirs)) => number(ours) == number(theirs),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("lock");
        (folder, path)
    }

    #[test]
    fn a_lock_is_held_once_and_freed_on_drop() {
        let (_folder, path) = place();
        let first = Lock::try_take(&path).unwrap();
        assert!(first.is_some());
        assert!(Lock::try_take(&path).unwrap().is_none());
        drop(first);
        assert!(Lock::try_take(&path).unwrap().is_some());
    }

    #[test]
    fn a_shared_lock_is_shared_with_its_like_only() {
        let (_folder, path) = place();
        let shared = [(); 2].map(|()| Lock::take_shared(&path, || panic!("it waits")).unwrap());
        assert!(Lock::try_take(&path).unwrap().is_none());
        drop(shared);
        assert!(Lock::try_take(&path).unwrap().is_some());
    }

    #[test]
    fn a_lock_whose_file_is_removed_meanwhile_is_never_held_twice() {
        let (_folder, path) = place();
        let held = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let Some(lock) = Lock::try_take(&path).unwrap() else { continue };
                        assert_eq!(held.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        held.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        lock.remove();
                    }
                });
            }
        });
    }
}
