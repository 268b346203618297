//! `images/rootfs.yaml`, read and checked.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use super::benchmark::Benchmark;
use crate::blame::{Blame, Class, Failure};
use crate::catalogue::{Catalogue, Entry, Folder, Origin};

/// The file's name in `images/`.
const FILE: &str = "rootfs.yaml";

/// What goes into the root file system.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Description {
    version: u32,
    pub(super) guest: Guest,
    pub(super) directories: Vec<String>,
    pub(super) nodes: Vec<Node>,
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
    /// Reads and checks the file.
    ///
    /// # Errors
    ///
    /// The file is not there, is not understood, or contradicts itself.
    pub(super) fn load(catalogue: &Catalogue) -> Result<Self, Failure> {
        let files = catalogue.files(Folder::Images)?;
        let entry = files.get(Utf8Path::new(FILE)).ok_or_else(|| Failure::internal("images/rootfs.yaml is missing"))?;
        let description: Description = serde_yaml::from_slice(&entry.bytes).map_err(|error| {
            let line = error.location().map_or(String::new(), |location| format!(":{}", location.line()));
            wrong(entry, error.to_string(), &line)
        })?;
        let known = |file: &Utf8Path| files.contains_key(file);
        match description.fault(&known) {
            Some(fault) => Err(wrong(entry, fault, "")),
            None => Ok(description),
        }
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
        let mut names = BTreeSet::new();
        if let Some(one) = self.benchmarks.iter().find(|one| !names.insert(&one.name)) {
            return Some(format!("`{}` stands there twice", one.name));
        }
        self.benchmarks.iter().find_map(Benchmark::fault).or_else(|| self.path_fault())
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

fn wrong(entry: &Entry, what: String, line: &str) -> Failure {
    let (blame, place) = match &entry.origin {
        Origin::Shipped => (Blame::Nspatch, format!("images/{FILE}")),
        Origin::Project(path) => (Blame::User, path.to_string()),
    };
    Failure::new(Class::Usage, blame, what)
        .at(format!("{place}{line}"))
        .hint("the comment at the start of the shipped images/rootfs.yaml explains every key")
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let failure = change("    warmups: 1", "    warm-ups: 1");
        assert!(failure.what.contains("warm-ups"), "{failure:?}");
        let place = failure.place.unwrap();
        let line: u32 = place.rsplit_once(':').unwrap().1.parse().unwrap();
        assert!(place.contains("images/rootfs.yaml:") && line > 20, "{place}");
    }

    #[test]
    fn contradictions_are_refused() {
        for (from, to, what) in [
            ("\nversion: 1", "\nversion: 2", "version 2 is not known"),
            ("init.c, ", "gone.c, ", "there is no file gone.c in images/"),
            ("- name: setns-net", "- name: exit-ipc", "`exit-ipc` stands there twice"),
            ("- name: setns-net", "- name: Setns_Net", "`Setns_Net` is no name"),
            ("name: n,", "name: repeats,", "cannot have a parameter `repeats`"),
            ("default: 10,", "default: 0,", "n of `umount-propagated` is 0, which is not from 1 to"),
            ("repeats: 5", "repeats: 0", "repeats of `exit-ipc` is 0, which is not from 1 to 100"),
            ("[/dev, ", "[", "the folder of `/dev/console` is not among the directories"),
            ("/mnt,", "/a/../b,", "`/a/../b` is no absolute path"),
            ("\"0666\"", "\"rw\"", "`rw` is no mode of /dev/null"),
        ] {
            let failure = change(from, to);
            assert!(failure.what.contains(what), "{}", failure.what);
        }
    }
}
