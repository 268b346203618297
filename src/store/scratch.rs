//! Work in progress: one folder for each process that has any, known by its lock to belong to a
//! process that lives.

use std::sync::{Mutex, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::{Builder, TempDir};

use super::lock::Lock;
use crate::blame::Failure;

/// How the folders of processes begin, and how the names of their locks end.
const PREFIX: &str = "work-";
const LOCK: &str = ".lock";

/// The work in progress of this process.
#[derive(Debug)]
pub(super) struct Scratch {
    shelf: Utf8PathBuf,
    own: Mutex<Option<Own>>,
}

impl Scratch {
    pub(super) fn new(shelf: Utf8PathBuf) -> Self {
        Scratch { shelf, own: Mutex::default() }
    }

    /// A new folder, removed when dropped.
    pub(super) fn folder(&self) -> Result<TempDir, Failure> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let own = match &mut *own {
            Some(own) => own,
            none => none.insert(Own::new(&self.shelf)?),
        };
        Builder::new().prefix(PREFIX).tempdir_in(&own.folder).map_err(|error| Failure::io(&error).at(&own.folder))
    }
}

/// The folder of one process, removed with all that is in it when dropped.
#[derive(Debug)]
struct Own {
    folder: Utf8PathBuf,
    lock: Option<Lock>,
}

impl Own {
    fn new(shelf: &Utf8Path) -> Result<Self, Failure> {
        fs_err::create_dir_all(shelf)?;
        for number in 0_u32.. {
            let folder = shelf.join(format!("{PREFIX}{}-{number}", std::process::id()));
            // The number of a process is not all of it: another machine or container may share the cache
            if let Some(lock) = Lock::try_take(&lock_of(&folder))? {
                remove(&folder)?;
                fs_err::create_dir(&folder)?;
                return Ok(Own { folder, lock: Some(lock) });
            }
        }
        Err(Failure::internal("there is no number left for a scratch folder"))
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // What stays is removed by the next nspatch
        let _ = remove(&self.folder);
        if let Some(lock) = self.lock.take() {
            lock.remove();
        }
    }
}

fn lock_of(folder: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{folder}{LOCK}"))
}

fn remove(folder: &Utf8Path) -> Result<(), Failure> {
    match fs_err::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Removes what belongs to no living process.
pub(super) fn sweep(shelf: &Utf8Path) -> Result<(), Failure> {
    let Ok(entries) = shelf.read_dir_utf8() else {
        // There is none yet
        return Ok(());
    };
    for entry in entries.flatten() {
        let folder = shelf.join(entry.file_name().trim_end_matches(LOCK));
        if entry.file_name().starts_with(PREFIX)
            && let Some(lock) = Lock::try_take(&lock_of(&folder))?
        {
            remove(&folder)?;
            lock.remove();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_living_process_stays_and_the_rest_is_swept_away() {
        let root = tempfile::tempdir().unwrap();
        let shelf = Utf8Path::from_path(root.path()).unwrap();
        let living = Scratch::new(shelf.to_owned());
        let folder = living.folder().unwrap();
        for left in ["work-1-0/work-x/half.deb", "work-old/half"] {
            let file = shelf.join(left);
            fs_err::create_dir_all(file.parent().unwrap()).unwrap();
            fs_err::write(file, "").unwrap();
        }
        fs_err::write(shelf.join("work-2-0.lock"), "").unwrap();
        fs_err::create_dir(shelf.join("somebody-else-s")).unwrap();
        sweep(shelf).unwrap();
        assert!(folder.path().is_dir());
        let mut left: Vec<_> =
            shelf.read_dir_utf8().unwrap().map(|entry| entry.unwrap().file_name().to_owned()).collect();
        left.sort();
        let own = format!("work-{}-0", std::process::id());
        assert_eq!(left, ["somebody-else-s".to_owned(), own.clone(), format!("{own}.lock")]);
        drop((folder, living));
        assert_eq!(shelf.read_dir_utf8().unwrap().count(), 1);
    }
}
