//! Object folders whose last build was cut.
//!
//! make deletes what it was making when it is asked to end, but a killed one deletes nothing. A
//! half-written object is newer than its source, so the next build would take it for good. While
//! make runs, a marker lies in the folder; a build that finds one removes what may be half-written.

use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};

use crate::blame::Failure;

/// The folder of nspatch's own files in an object folder.
pub(super) fn own_folder(objects: &Utf8Path) -> Utf8PathBuf {
    objects.join(".nspatch")
}

/// A build under way; [`Marker::lift`] says that make has ended by itself.
pub(super) struct Marker(Utf8PathBuf);

impl Marker {
    /// Clears up after a cut build, if there was one, and marks the folder.
    ///
    /// # Errors
    ///
    /// A file cannot be looked at, removed or written.
    pub(super) fn set(objects: &Utf8Path) -> Result<Self, Failure> {
        let marker = own_folder(objects).join("building");
        if let Ok(metadata) = fs_err::metadata(&marker) {
            // Looked at as a whole first: one file tells of another
            for file in half_written(objects, metadata.modified()?)? {
                fs_err::remove_file(file)?;
            }
            fs_err::remove_file(&marker)?;
        }
        fs_err::create_dir_all(own_folder(objects))?;
        fs_err::write(&marker, "")?;
        Ok(Marker(marker))
    }

    /// Takes the marker away: nothing in the folder is half-written.
    ///
    /// # Errors
    ///
    /// The file cannot be removed.
    pub(super) fn lift(self) -> Result<(), Failure> {
        Ok(fs_err::remove_file(self.0)?)
    }
}

/// How long before a build was cut its last steps may have begun to write.
const LAST_STEPS: Duration = Duration::from_secs(60);

/// A file that a cut build wrote.
struct Written {
    path: Utf8PathBuf,
    at: SystemTime,
    bytes: u64,
}

/// The files of a cut build that may be half-written.
fn half_written(objects: &Utf8Path, since: SystemTime) -> Result<Vec<Utf8PathBuf>, Failure> {
    let mut written = Vec::new();
    gather(objects, since, &mut written)?;
    let last = written.iter().map(|file| file.at).max().unwrap_or(since);
    let suspect = |file: &Written| may_be_half(objects, file, last - LAST_STEPS);
    Ok(written.into_iter().filter(suspect).map(|file| file.path).collect())
}

fn gather(folder: &Utf8Path, since: SystemTime, written: &mut Vec<Written>) -> Result<(), Failure> {
    for entry in folder.read_dir_utf8().map_err(|error| Failure::io(&error).at(folder))? {
        let entry = entry?;
        let (metadata, path) = (entry.metadata()?, entry.path());
        if metadata.is_dir() && entry.file_name() != ".nspatch" {
            gather(path, since, written)?;
        } else if metadata.is_file() && metadata.modified()? >= since {
            written.push(Written { path: path.to_owned(), at: metadata.modified()?, bytes: metadata.len() });
        }
    }
    Ok(())
}

/// Kbuild writes a target first, then its `.target.cmd`, and then removes the compiler's list of
/// headers, `.target.d`: a target with a newer `.cmd` and without that list is whole. Of what has no
/// `.cmd`, headers are made aside and renamed, and the rest counts only if it was among the last
/// that was written: to make host tools such as objtool again would compile the whole kernel again.
fn may_be_half(objects: &Utf8Path, file: &Written, last_steps: SystemTime) -> bool {
    let name = file.path.file_name().unwrap_or_default();
    let beside = |name: String| file.path.with_file_name(name);
    if file.bytes == 0 {
        return true;
    }
    if let Some(target) = name.strip_prefix('.').and_then(|rest| rest.strip_suffix(".cmd")) {
        return beside(format!(".{target}.d")).exists() || !beside(target.to_owned()).exists();
    }
    let command = fs_err::metadata(beside(format!(".{name}.cmd"))).and_then(|command| command.modified());
    match command {
        Ok(at) => at < file.at || beside(format!(".{name}.d")).exists(),
        Err(_) => file.at >= last_steps && !is_made_aside(file.path.strip_prefix(objects).unwrap_or(&file.path)),
    }
}

/// Whether Kbuild and Kconfig write such a file under another name and rename it.
fn is_made_aside(path: &Utf8Path) -> bool {
    path.components().any(|part| part.as_str() == "include") || path == ".config"
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn path(&self, name: &str) -> Utf8PathBuf {
            Utf8Path::from_path(self.0.path()).unwrap().join(name)
        }

        /// Writes a file as old as `age` seconds.
        fn file(&self, name: &str, text: &str, age: u64) {
            let path = self.path(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(&path, text).unwrap();
            let file = fs_err::OpenOptions::new().write(true).open(&path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
    }

    #[test]
    fn what_a_killed_build_may_have_half_written_is_removed_and_the_rest_is_kept() {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.file(".nspatch/building", "", 400);
        for (name, text, age) in [
            // From an earlier build
            ("old.o", "o", 500),
            (".old.o.cmd", "c", 500),
            // Whole
            ("whole.o", "o", 20),
            (".whole.o.cmd", "c", 20),
            ("include/generated/bounds.h", "h", 20),
            // Half an object beside the command of an earlier build
            ("half.o", "o", 10),
            (".half.o.cmd", "c", 500),
            // An object whose command was being written
            ("late.o", "o", 10),
            (".late.o.cmd", "c", 10),
            (".late.o.d", "d", 10),
            // Empty, and without a command
            ("empty.o", "", 10),
            (".empty.o.cmd", "c", 10),
            ("System.map", "m", 10),
            // Without a command, but written long before the cut
            ("tools/objtool", "t", 300),
            ("include/generated/cut.h", "", 10),
        ] {
            folder.file(name, text, age);
        }
        let marker = Marker::set(&folder.path("")).unwrap();
        let mut left: Vec<_> = std::iter::once("")
            .chain(["include/generated/", "tools/"])
            .flat_map(|at| {
                let entries = folder.path(at).read_dir_utf8().unwrap();
                entries.map(move |entry| format!("{at}{}", entry.unwrap().file_name())).collect::<Vec<_>>()
            })
            .collect();
        left.sort();
        assert_eq!(
            left,
            // A command without its object makes Kbuild compile it
            [
                ".empty.o.cmd",
                ".half.o.cmd",
                ".nspatch",
                ".old.o.cmd",
                ".whole.o.cmd",
                "include",
                "include/generated/bounds.h",
                "old.o",
                "tools",
                "tools/objtool",
                "whole.o"
            ]
        );
        marker.lift().unwrap();
        assert!(!folder.path(".nspatch/building").exists());
    }

    #[test]
    fn a_folder_whose_build_ended_is_left_alone() {
        let folder = Folder(tempfile::tempdir().unwrap());
        Marker::set(&folder.path("")).unwrap().lift().unwrap();
        folder.file("half.o", "", 0);
        Marker::set(&folder.path("")).unwrap();
        assert!(folder.path("half.o").exists());
    }
}
