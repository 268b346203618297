//! The shipped folders (`patches`, `kconfigs`, `images`, `workflows`), and those of the same names
//! in the current project, which come first.
//!
//! The program carries its folders inside, so that it works from anywhere.

use std::collections::BTreeMap;
use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use include_dir::{Dir, include_dir};

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

    /// All files of a folder by their path relative to it, sorted. A file of the project takes the
    /// place of a shipped one of the same path.
    ///
    /// # Errors
    ///
    /// A file of the project cannot be read, or its name is not UTF-8.
    pub fn files(&self, folder: Folder) -> Result<BTreeMap<Utf8PathBuf, Entry>, Failure> {
        let mut found = BTreeMap::new();
        collect_shipped(folder.shipped(), &mut found);
        if let Some(own) = self.project.as_ref().map(|project| project.join(folder.name()))
            && own.is_dir()
        {
            collect_project(&own, &own, &mut found)?;
        }
        Ok(found)
    }
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

fn collect_project(root: &Utf8Path, at: &Utf8Path, found: &mut BTreeMap<Utf8PathBuf, Entry>) -> Result<(), Failure> {
    for entry in at.read_dir_utf8().map_err(|error| Failure::io(&error).at(at))? {
        let path = entry?.into_path();
        if path.is_dir() {
            collect_project(root, &path, found)?;
        } else if path.is_file() {
            let relative = path.strip_prefix(root).unwrap_or(&path).to_owned();
            found.insert(relative, Entry { bytes: fs_err::read(&path)?, origin: Origin::Project(path) });
        }
    }
    Ok(())
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
    fn the_nearest_names_come_best_first() {
        assert_eq!(nearest("ipc-free-workqueue", ["setns-net", "ipc-free-work-queue"]), ["ipc-free-work-queue"]);
        assert!(nearest("zzz", ["setns-net"]).is_empty());
    }
}
