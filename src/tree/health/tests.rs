use camino::Utf8PathBuf;

use super::*;
use crate::store::Cache;
use crate::tree::mini::{self, Surroundings};
use crate::tree::{Address, Places, Tree, Workshop, resolve_in};

/// One thing that may happen to a repository.
type Damage = fn(&Utf8Path);

fn packs(git_dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let entries = git_dir.join("objects/pack").read_dir_utf8().unwrap();
    entries.map(|entry| entry.unwrap().into_path()).filter(|path| path.extension() == Some("pack")).collect()
}

fn loose(git_dir: &Utf8Path) -> Vec<Utf8PathBuf> {
    let folders = git_dir.join("objects").read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path());
    let folders = folders.filter(|folder| folder.file_name().is_some_and(|name| name.len() == 2));
    folders.flat_map(|folder| folder.read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path())).collect()
}

/// Writes a file that git made read-only.
fn overwrite(path: &Utf8Path, bytes: &[u8]) {
    fs_err::remove_file(path).unwrap();
    fs_err::write(path, bytes).unwrap();
}

fn each(files: Vec<Utf8PathBuf>, change: impl Fn(&mut Vec<u8>)) {
    for file in files {
        let mut bytes = fs_err::read(&file).unwrap();
        change(&mut bytes);
        overwrite(&file, &bytes);
    }
}

const DAMAGES: [(&str, Damage); 12] = [
    ("the packs are gone", |it| packs(it).iter().for_each(|pack| fs_err::remove_file(pack).unwrap())),
    ("the packs were cut", |it| each(packs(it), |bytes| bytes.truncate(bytes.len() / 2))),
    ("the packs are empty", |it| each(packs(it), Vec::clear)),
    ("the indices are gone", |it| {
        packs(it).iter().for_each(|pack| fs_err::remove_file(pack.with_extension("idx")).unwrap());
    }),
    ("all objects are gone", |it| fs_err::remove_dir_all(it.join("objects")).unwrap()),
    ("loose objects are empty", |it| each(loose(it), Vec::clear)),
    ("HEAD is gone", |it| fs_err::remove_file(it.join("HEAD")).unwrap()),
    ("HEAD is garbage", |it| fs_err::write(it.join("HEAD"), "\0\0\0").unwrap()),
    ("a reference names nothing", |it| {
        fs_err::create_dir_all(it.join("refs/heads")).unwrap();
        fs_err::write(it.join("refs/heads/main"), format!("{}\n", "1".repeat(40))).unwrap();
    }),
    ("the references are gone", |it| fs_err::remove_dir_all(it.join("refs")).unwrap()),
    ("only an empty folder is left", |it| {
        fs_err::remove_dir_all(it).unwrap();
        fs_err::create_dir(it).unwrap();
    }),
    ("a file is in its place", |it| {
        fs_err::remove_dir_all(it).unwrap();
        fs_err::write(it, "").unwrap();
    }),
];

/// A tree of each kind, all of the same content.
struct Kinds {
    here: Surroundings,
    places: Places,
}

impl Kinds {
    fn new() -> Self {
        let here = Surroundings::new();
        fs_err::create_dir(here.root.join("plain")).unwrap();
        mini::unpack(&here.root.join("plain"));
        mini::repository(&here.root.join("git"));
        fs_err::write(here.root.join("linux.tar"), mini::tar(&mini::items("linux"))).unwrap();
        let table =
            format!("- {{ name: far, address: 'file://{}', revision: refs/heads/main }}", here.root.join("git"));
        let places = Places { addresses: Address::table(table.as_bytes(), "here", &[]).unwrap(), ..Places::default() };
        Kinds { here, places }
    }

    fn specs(&self) -> [(String, bool); 4] {
        let path = |name: &str| self.here.root.join(name).into_string();
        // The last is for what the cache holds itself, and does not borrow
        [(path("plain"), true), (path("git"), false), (path("linux.tar"), true), ("far".to_owned(), true)]
    }

    fn resolve(&self, spec: &str) -> Result<Tree, Failure> {
        self.here.job(|job| resolve_in(spec, &self.places, job))
    }

    /// Checks the whole tree out, as a build would.
    fn lay(&self, tree: &Tree) -> Result<(), Failure> {
        self.here.job(|job| Workshop::lease(tree, job)?.lay(&tree.commit, job))
    }
}

#[test]
fn a_damaged_repository_is_made_anew_by_the_next_run_and_that_is_told() {
    for (name, damage) in DAMAGES {
        let it = Kinds::new();
        for (spec, _) in it.specs() {
            let tree = it.resolve(&spec).unwrap();
            damage(tree.repository.git_dir());
            let again = it.resolve(&spec).unwrap_or_else(|failure| panic!("{name}, {spec}: {}", failure.render()));
            assert_eq!(again.commit, tree.commit, "{name}, {spec}");
            it.lay(&again).unwrap_or_else(|failure| panic!("{name}, {spec}: {}", failure.render()));
            let before = it.here.notices();
            assert_eq!(it.resolve(&spec).unwrap(), again, "{name}, {spec}");
            assert_eq!(it.here.notices(), before, "{name}, {spec}: once is enough");
        }
    }
}

#[test]
fn damage_that_a_glance_does_not_find_is_told_where_it_is_met_and_mended_by_the_next_run() {
    let it = Kinds::new();
    for (spec, _) in it.specs().into_iter().filter(|(_, holds)| *holds) {
        let tree = it.resolve(&spec).unwrap();
        let git_dir = tree.repository.git_dir();
        let blob = tree.repository.git().args(["rev-parse", &format!("{}:kernel/fork.c", tree.commit)]);
        let blob = blob.demand().unwrap().text();
        let object = git_dir.join("objects").join(&blob[..2]).join(&blob[2..]);
        if object.is_file() {
            overwrite(&object, b"");
        } else {
            // The one byte that makes the name of the object another
            each(packs(git_dir), |bytes| {
                let at = bytes.len() - 24;
                let end = bytes.len() - 20;
                bytes[12..end].iter_mut().skip(at / 3).step_by(7).for_each(|byte| *byte ^= 0x55);
            });
        }
        let met = it.resolve(&spec).and_then(|tree| it.lay(&tree));
        if let Err(failure) = met {
            assert!(failure.hints.iter().any(|hint| hint.contains("made anew")), "{spec}: {}", failure.render());
            let again = it.resolve(&spec).unwrap_or_else(|failure| panic!("{spec}: {}", failure.render()));
            assert_eq!(again.commit, tree.commit, "{spec}");
            it.lay(&again).unwrap_or_else(|failure| panic!("{spec}: {}", failure.render()));
        }
        assert!(it.here.notices().contains("is damaged and made anew"), "{spec}");
    }
}

#[test]
fn a_repository_that_is_whole_is_left_alone() {
    let it = Kinds::new();
    for (spec, _) in it.specs() {
        let tree = it.resolve(&spec).unwrap();
        assert_eq!(damage(tree.repository.git_dir()), None, "{spec}");
        tree.repository.git().args(["gc", "--quiet"]).demand().unwrap();
        assert_eq!(damage(tree.repository.git_dir()), None, "{spec}");
    }
    assert_eq!(it.here.notices(), "");
    assert!(Cache::is_at(&it.here.root.join("cache")));
}

#[test]
fn what_git_says_of_patches_and_names_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    let git_dir = Utf8Path::from_path(folder.path()).unwrap();
    for line in [
        "error: corrupt patch at line 5",
        "error: corrupt binary patch at line 7: x",
        "fatal: Not a valid object name HEAD:x",
        "error: unrecognized input",
    ] {
        assert_eq!(explained(Failure::host("x").excerpt([line]), git_dir).hints, Vec::<String>::new(), "{line}");
    }
    assert!(!git_dir.join(MARK).exists());
}
