//! What the cache holds of trees, and what it remembers of each.

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::Tree;
use crate::blame::Failure;
use crate::store::{bytes_on_disk, read_json, write_json};

/// The file beside a tree's repository that remembers how the tree was used.
const USES: &str = "uses.json";
/// A use that is younger than this, in seconds, is not written down again.
const SOON: i64 = 3600;

/// A tree as it was last used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// Its name, as asked for.
    pub name: String,
    /// The kernel's version.
    pub version: String,
    /// The commit, 40 hexadecimal digits.
    pub commit: String,
    /// Where it came from.
    pub origin: String,
    /// When it was last used, in RFC 3339, to the hour.
    pub used: jiff::Timestamp,
}

/// One folder of trees in the cache: a repository, with the checkouts and objects that belong to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shelf {
    /// The folder, relative to the cache.
    pub folder: Utf8PathBuf,
    /// The bytes on disk.
    pub bytes: u64,
    /// The trees that were taken from it, the last used first; empty if nothing is remembered.
    pub trees: Vec<Use>,
}

impl Use {
    fn of(tree: &Tree) -> Self {
        Use {
            name: tree.name.clone(),
            version: tree.version.clone(),
            commit: tree.commit.clone(),
            origin: tree.origin.clone(),
            used: jiff::Timestamp::now().round(jiff::Unit::Second).unwrap_or_default(),
        }
    }

    fn says_the_same(&self, earlier: &Self) -> bool {
        let soon = self.used.as_second() - earlier.used.as_second() < SOON;
        soon && Use { used: self.used, ..earlier.clone() } == *self
    }
}

/// Remembers that a tree was used. Two that do so at once may lose one of the two uses.
pub(super) fn remember(tree: &Tree) -> Result<(), Failure> {
    let git_dir = tree.repository.git_dir();
    let file = git_dir.parent().unwrap_or(git_dir).join(USES);
    let mut uses: Vec<Use> = read_json(&file).unwrap_or_default();
    let now = Use::of(tree);
    if uses.first().is_some_and(|earlier| now.says_the_same(earlier)) {
        return Ok(());
    }
    uses.retain(|earlier| earlier.name != now.name);
    uses.insert(0, now);
    write_json(&file, &uses)
}

/// What the cache at `root` holds of trees, the last used first. The cache need not be there.
///
/// # Errors
///
/// Its folder cannot be read.
pub fn shelves(root: &Utf8Path) -> Result<Vec<Shelf>, Failure> {
    let trees = root.join("trees");
    if !trees.is_dir() {
        return Ok(Vec::new());
    }
    let mut shelves = Vec::new();
    for entry in trees.read_dir_utf8().map_err(|error| Failure::io(&error).at(&trees))? {
        let entry = entry?;
        // The digests of files are no tree
        if entry.file_name() != "seen" && entry.file_type()?.is_dir() {
            shelves.push(Shelf {
                folder: Utf8Path::new("trees").join(entry.file_name()),
                bytes: bytes_on_disk(entry.path()),
                trees: read_json(&entry.path().join(USES)).unwrap_or_default(),
            });
        }
    }
    shelves.sort_by_key(|shelf| (std::cmp::Reverse(shelf.trees.first().map(|it| it.used)), shelf.folder.clone()));
    Ok(shelves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::mini::{Surroundings, git, repository};
    use crate::tree::resolve;

    #[test]
    fn what_was_resolved_is_remembered_by_every_name_it_had() {
        let here = Surroundings::new();
        let folder = here.root.join("linux");
        repository(&folder);
        git(&folder, &["tag", "v1"]);
        let cache = here.root.join("cache");
        assert_eq!(shelves(&cache).unwrap(), []);
        let names = [folder.to_string(), format!("{folder}@v1")];
        for _ in 0..2 {
            names.iter().for_each(|name| drop(here.job(|job| resolve(name, job)).unwrap()));
        }
        let found = shelves(&cache).unwrap();
        let [shelf] = &found[..] else { panic!("{found:?}") };
        assert!(shelf.bytes > 0 && cache.join(&shelf.folder).is_dir(), "{shelf:?}");
        let told: Vec<_> = shelf.trees.iter().map(|it| (it.name.as_str(), it.version.as_str())).collect();
        assert_eq!(told, [(names[1].as_str(), "6.12.3"), (names[0].as_str(), "6.12.3")]);
    }

    #[test]
    fn a_folder_of_which_nothing_is_remembered_is_listed_all_the_same() {
        let root = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(root.path()).unwrap();
        for folder in ["trees/seen", "trees/tar-1"] {
            fs_err::create_dir_all(root.join(folder)).unwrap();
        }
        fs_err::write(root.join("trees/tar-1/uses.json"), "half a fi").unwrap();
        let found = shelves(root).unwrap();
        assert_eq!((found.len(), found[0].folder.as_str(), found[0].trees.len()), (1, "trees/tar-1", 0));
    }
}
