//! The shipped folders (`patches`, `kconfigs`, `images`, `workflows`), and those of the same names
//! in the current project, which come first.
//!
//! The program carries its folders inside, so that it works from anywhere.

use std::collections::BTreeMap;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use include_dir::{Dir, include_dir};
use serde::de::DeserializeOwned;

use crate::blame::Failure;

static PATCHES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/patches");
static KCONFIGS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/kconfigs");
static IMAGES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/images");
static WORKFLOWS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/workflows");

/// One of the folders that nspatch ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// One folder a patch.
    Patches,
    /// Fragments of kernel configuration.
    Kconfigs,
    /// The guest.
    Images,
    /// What to run.
    Workflows,
}

impl Folder {
    const ALL: [Folder; 4] = [Folder::Patches, Folder::Kconfigs, Folder::Images, Folder::Workflows];

    /// The folder's name, in the program as in a project.
    pub fn name(self) -> &'static str {
        match self {
            Folder::Patches => "patches",
            Folder::Kconfigs => "kconfigs",
            Folder::Images => "images",
            Folder::Workflows => "workflows",
        }
    }

    fn shipped(self) -> &'static Dir<'static> {
        match self {
            Folder::Patches => &PATCHES,
            Folder::Kconfigs => &KCONFIGS,
            Folder::Images => &IMAGES,
            Folder::Workflows => &WORKFLOWS,
        }
    }
}

/// Where a file of the catalogue comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The program itself.
    Shipped,
    /// A file of the current project.
    Project(Utf8PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Shipped => f.write_str("shipped"),
            Origin::Project(path) => write!(f, "{path}"),
        }
    }
}

/// One file of the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Where it comes from.
    pub origin: Origin,
}

/// The shipped folders overlaid with those of a project.
#[derive(Clone, Debug)]
pub struct Catalogue {
    project: Option<Utf8PathBuf>,
}

impl Catalogue {
    /// The catalogue as seen from a project folder.
    pub fn of_project(project: &Utf8Path) -> Self {
        Catalogue { project: Some(project.to_owned()) }
    }

    /// Only what is shipped.
    pub fn shipped() -> Self {
        Catalogue { project: None }
    }

    /// The project's folder, if there is one.
    pub fn project(&self) -> Option<&Utf8Path> {
        self.project.as_deref()
    }

    /// All files of a folder by their path relative to it, sorted. A file of the project takes the
    /// place of a shipped one of the same path. What cannot be meant is passed over:
    /// [`Catalogue::passed_over`] names it.
    ///
    /// # Errors
    ///
    /// The project's folder cannot be read.
    pub fn files(&self, folder: Folder) -> Result<BTreeMap<Utf8PathBuf, Entry>, Failure> {
        let mut found = BTreeMap::new();
        collect_shipped(folder.shipped(), &mut found);
        let Some(own) = self.own(folder) else { return Ok(found) };
        for (path, look) in walk(&own)? {
            if let Look::File(bytes) = look {
                let relative = path.strip_prefix(&own).unwrap_or(&path).to_owned();
                found.insert(relative, Entry { bytes, origin: Origin::Project(path) });
            }
        }
        Ok(found)
    }

    /// What lies in the project's folders and cannot be meant, each with the reason, in one line.
    ///
    /// # Errors
    ///
    /// A folder of the project cannot be read.
    pub fn passed_over(&self) -> Result<Vec<String>, Failure> {
        let mut told = Vec::new();
        for own in Folder::ALL.into_iter().filter_map(|folder| self.own(folder)) {
            for (path, look) in walk(&own)? {
                if let Look::Odd(why) = look {
                    told.push(format!("{path} is passed over: {why}"));
                }
            }
        }
        Ok(told)
    }

    /// The project's own folder, if it has one.
    fn own(&self, folder: Folder) -> Option<Utf8PathBuf> {
        self.project.as_ref().map(|project| project.join(folder.name())).filter(|own| own.is_dir())
    }
}

/// What a thing in a project's folder is.
enum Look {
    /// A file.
    File(Vec<u8>),
    /// Something that cannot be meant, and why.
    Odd(String),
}

/// All that lies below a folder, but what is hidden.
fn walk(root: &Utf8Path) -> Result<Vec<(Utf8PathBuf, Look)>, Failure> {
    let (mut found, mut open) = (Vec::new(), vec![(root.to_owned(), 0)]);
    while let Some((folder, depth)) = open.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if depth > 0 => {
                found.push((folder, Look::Odd(error.to_string())));
                continue;
            }
            Err(error) => return Err(Failure::io(&error).at(folder)),
        };
        for entry in entries {
            let name = entry?.file_name();
            let shown: String = name.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect();
            let path = folder.join(&shown);
            match name.to_str() {
                None => found.push((path, Look::Odd("its name is not UTF-8".to_owned()))),
                Some(name) if name.starts_with('.') => {}
                Some(name) if name != shown => {
                    found.push((path, Look::Odd("its name holds a control character".to_owned())));
                }
                // Links may lead in circles
                Some(_) if path.is_dir() && depth == DEEPEST => {
                    found.push((path, Look::Odd("it lies too deep".to_owned())));
                }
                Some(_) if path.is_dir() => open.push((path, depth + 1)),
                Some(_) => found.push((path.clone(), look(&path))),
            }
        }
    }
    Ok(found)
}

/// How deep folders are looked into.
const DEEPEST: u32 = 6;
/// The largest file that can be meant, in bytes.
const LARGEST: u64 = 64 << 20;

fn look(path: &Utf8Path) -> Look {
    let read = || -> std::io::Result<Look> {
        let about = std::fs::metadata(path)?;
        Ok(match about.len() {
            _ if !about.is_file() => Look::Odd("it is no file".to_owned()),
            size if size > LARGEST => Look::Odd(format!("it has more than {} MiB", LARGEST >> 20)),
            _ => Look::File(std::fs::read(path)?),
        })
    };
    read().unwrap_or_else(|error| Look::Odd(error.to_string()))
}

fn collect_shipped(dir: &Dir<'static>, found: &mut BTreeMap<Utf8PathBuf, Entry>) {
    for file in dir.files() {
        // The names in the repository are ASCII
        if let Some(path) = Utf8Path::from_path(file.path()) {
            found.insert(path.to_owned(), Entry { bytes: file.contents().to_vec(), origin: Origin::Shipped });
        }
    }
    dir.dirs().for_each(|dir| collect_shipped(dir, found));
}

/// The names nearest to a mistyped one, best first, three at most.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<_> = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(score, _)| *score > 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Reads YAML that a person wrote; `manual` explains every key of it.
///
/// # Errors
///
/// It is not understood: the failure names the line, and for an unknown key the nearest known one.
pub fn read_yaml<T: DeserializeOwned>(text: &[u8], place: &str, manual: &str) -> Result<T, Failure> {
    serde_yaml::from_slice(text).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or(&message);
        // The known keys are a long list; the hint names those that matter
        let what = what
            .split_once("`, expected one of")
            .filter(|_| what.contains("unknown field"))
            .map_or(what.to_owned(), |(head, _)| format!("{head}`"));
        let failure = Failure::usage(what).at(format!("{place}:{line}"));
        let names: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        match names.split_first() {
            Some((wrong, known)) if message.contains("unknown field") => known_keys(failure, wrong, known),
            _ => failure.hint(format!("{manual} explains every key")),
        }
    })
}

fn known_keys(failure: Failure, wrong: &str, known: &[&str]) -> Failure {
    match nearest(wrong, known.iter().copied()).first() {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint(format!("the keys here are {}", known.join(", "))),
    }
}

/// The place with the number of the first line that holds a text.
pub fn located(text: &[u8], place: &str, needle: &str) -> String {
    let text = String::from_utf8_lossy(text);
    match text.lines().position(|line| line.contains(needle)) {
        Some(at) => format!("{place}:{}", at + 1),
        None => place.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_s_file_takes_the_place_of_a_shipped_one() {
        let folder = tempfile::tempdir().unwrap();
        let project = Utf8Path::from_path(folder.path()).unwrap();
        fs_err::create_dir_all(project.join("kconfigs")).unwrap();
        fs_err::write(project.join("kconfigs/base.config"), "CONFIG_MINE=y\n").unwrap();
        let files = Catalogue::of_project(project).files(Folder::Kconfigs).unwrap();
        assert_eq!(files[Utf8Path::new("base.config")].bytes, b"CONFIG_MINE=y\n");
        assert_eq!(files[Utf8Path::new("x86_64.config")].origin, Origin::Shipped);
    }

    #[test]
    fn what_cannot_be_meant_is_passed_over_and_named() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let project = Utf8Path::from_path(folder.path()).unwrap();
        let images = project.join("images");
        fs_err::create_dir_all(images.join("sub")).unwrap();
        for name in ["fine.c", "sub/fine.c", ".hidden", "esc\x1b[31m.c"] {
            fs_err::write(images.join(name), "").unwrap();
        }
        fs_err::write(images.as_std_path().join(std::ffi::OsStr::from_bytes(b"b\xe4ckup~")), "").unwrap();
        fs_err::File::create(images.join("huge")).unwrap().set_len(LARGEST + 1).unwrap();
        fs_err::os::unix::fs::symlink("/dev/zero", images.join("zero")).unwrap();
        fs_err::os::unix::fs::symlink("/nowhere", images.join("lost")).unwrap();
        fs_err::os::unix::fs::symlink(".", images.join("circle")).unwrap();
        let catalogue = Catalogue::of_project(project);
        let files = catalogue.files(Folder::Images).unwrap();
        let own = files.iter().filter(|(path, entry)| entry.origin != Origin::Shipped && !path.starts_with("circle"));
        assert_eq!(own.map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["fine.c", "sub/fine.c"]);
        let told = catalogue.passed_over().unwrap().join("\n");
        for said in [
            "b\u{fffd}ckup~ is passed over: its name is not UTF-8",
            "esc?[31m.c is passed over: its name holds a control character",
            "huge is passed over: it has more than 64 MiB",
            "zero is passed over: it is no file",
            "lost is passed over: No such file",
            "circle is passed over: it lies too deep",
        ] {
            assert!(told.contains(&format!("/{said}")), "{said}\n{told}");
        }
        assert!(!told.contains("hidden"));
    }

    #[test]
    fn the_nearest_names_come_best_first() {
        assert_eq!(nearest("ipc-free-workqueue", ["setns-net", "ipc-free-work-queue"]), ["ipc-free-work-queue"]);
        assert!(nearest("zzz", ["setns-net"]).is_empty());
    }
}
