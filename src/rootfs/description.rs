//! `images/`: what `rootfs.yaml` and the entries of the benchmarks say, read and checked.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::bench;
use super::benchmark::Benchmark;
use crate::blame::{Blame, Failure};
use crate::catalogue::{Catalogue, Entry, Folder, Origin, read_yaml};

/// The file's name in `images/`.
const FILE: &str = "rootfs.yaml";
/// What explains it.
const MANUAL: &str = "the comment at the start of the shipped images/rootfs.yaml";

/// What goes into the root file system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    version: u32,
    pub(super) guest: Guest,
    pub(super) directories: Vec<String>,
    pub(super) nodes: Vec<Node>,
    /// Each has a file of its own.
    #[serde(skip)]
    pub(super) benchmarks: Vec<Benchmark>,
}

/// How the guest's program is built.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Guest {
    sources: Vec<Utf8PathBuf>,
    pub(super) cflags: Vec<String>,
}

/// A character device.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Node {
    pub(super) path: String,
    pub(super) major: u32,
    pub(super) minor: u32,
    mode: String,
}

impl Node {
    /// The permissions; `None` if the text is no octal number.
    pub(super) fn permissions(&self) -> Option<u32> {
        u32::from_str_radix(&self.mode, 8).ok().filter(|mode| *mode <= 0o7777)
    }
}

impl Description {
    /// Reads and checks the files.
    ///
    /// # Errors
    ///
    /// A file is not there, is not understood, or contradicts itself.
    pub(super) fn load(catalogue: &Catalogue) -> Result<Self, Failure> {
        let files = catalogue.files(Folder::Images)?;
        let path = Utf8Path::new(FILE);
        let entry = files.get(path).ok_or_else(|| Failure::internal("images/rootfs.yaml is missing"))?;
        let shown = place(path, entry);
        let mut description: Description =
            read_yaml(&entry.bytes, &shown, MANUAL).map_err(|failure| wrong(entry, failure))?;
        if let Some(fault) = description.fault(&|file| files.contains_key(file)) {
            return Err(wrong(entry, Failure::usage(fault).at(shown).hint(format!("{MANUAL} explains every key"))));
        }
        description.benchmarks = bench::read_all(&files)?;
        Ok(description)
    }

    /// All C files of the program, in the order of the compiler's command line.
    pub(super) fn sources(&self) -> Vec<&Utf8Path> {
        let own = self.guest.sources.iter().map(Utf8PathBuf::as_path);
        let mut all: Vec<_> = own.chain(self.benchmarks.iter().map(|one| one.source.as_path())).collect();
        let mut seen = BTreeSet::new();
        all.retain(|file| seen.insert(*file));
        all
    }

    fn fault(&self, known: &dyn Fn(&Utf8Path) -> bool) -> Option<String> {
        if self.version != 1 {
            return Some(format!("version {} is not known; this nspatch reads version 1", self.version));
        }
        if let Some(file) = self.sources().into_iter().find(|file| !known(file)) {
            return Some(format!("there is no file {file} in images/"));
        }
        self.path_fault()
    }

    fn path_fault(&self) -> Option<String> {
        let mut paths: BTreeSet<&str> = BTreeSet::from(["/init"]);
        let nodes = self.nodes.iter().map(|node| node.path.as_str());
        for path in self.directories.iter().map(String::as_str).chain(nodes) {
            let plain = path.starts_with('/') && !path.split('/').skip(1).any(|part| matches!(part, "" | "." | ".."));
            if !plain || !paths.insert(path) {
                return Some(format!("`{path}` is no absolute path, or stands there twice"));
            }
            // The kernel unpacks in order and does not make what is missing
            if let Some((parent, _)) = path.rsplit_once('/')
                && !parent.is_empty()
                && !paths.contains(parent)
            {
                return Some(format!("the folder of `{path}` is not among the directories before it"));
            }
        }
        let node = self.nodes.iter().find(|node| node.permissions().is_none())?;
        Some(format!("`{}` is no mode of {}: octal, such as \"0600\"", node.mode, node.path))
    }
}

/// What a file of `images/` is called in messages.
pub(super) fn place(path: &Utf8Path, entry: &Entry) -> String {
    match &entry.origin {
        Origin::Shipped => format!("images/{path}"),
        Origin::Project(path) => path.to_string(),
    }
}

/// A failure of a file of `images/`, which is the user's only if the file is.
pub(super) fn wrong(entry: &Entry, failure: Failure) -> Failure {
    let blame = match &entry.origin {
        Origin::Shipped => Blame::Nspatch,
        Origin::Project(_) => Blame::User,
    };
    Failure { blame, ..failure }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::Class;

    /// What reading a changed copy of the shipped file says.
    fn change(from: &str, to: &str) -> Failure {
        let folder = tempfile::tempdir().unwrap();
        let project = Utf8Path::from_path(folder.path()).unwrap();
        let files = Catalogue::shipped().files(Folder::Images).unwrap();
        let text = String::from_utf8(files[Utf8Path::new(FILE)].bytes.clone()).unwrap();
        assert!(text.contains(from), "{from}");
        fs_err::create_dir_all(project.join("images")).unwrap();
        fs_err::write(project.join("images").join(FILE), text.replacen(from, to, 1)).unwrap();
        let failure = Description::load(&Catalogue::of_project(project)).unwrap_err();
        assert_eq!((failure.class, failure.blame), (Class::Usage, Blame::User));
        failure
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let failure = change("  cflags:", "  flags:");
        assert_eq!(failure.hints, ["did you mean `cflags`?"], "{failure:?}");
        let place = failure.place.unwrap();
        let line: u32 = place.rsplit_once(':').unwrap().1.parse().unwrap();
        assert!(place.contains("images/rootfs.yaml:") && line > 10, "{place}");
    }

    #[test]
    fn contradictions_are_refused() {
        for (from, to, what) in [
            ("\nversion: 1", "\nversion: 2", "version 2 is not known"),
            ("init.c, ", "gone.c, ", "there is no file gone.c in images/"),
            ("[/dev, ", "[", "the folder of `/dev/console` is not among the directories"),
            ("/mnt,", "/a/../b,", "`/a/../b` is no absolute path"),
            ("\"0666\"", "\"rw\"", "`rw` is no mode of /dev/null"),
        ] {
            let failure = change(from, to);
            assert!(failure.what.contains(what), "{}", failure.what);
        }
    }
}
