use std::os::unix::fs::MetadataExt;

use super::*;
use crate::tree::mini::{Surroundings, git, repository};
use crate::tree::resolve;

/// A user's repository with two commits that differ in one file, and the tree of the first.
fn two_commits(here: &Surroundings) -> (Tree, String, String) {
    let folder = here.root.join("linux");
    let first = repository(&folder);
    fs_err::write(folder.join("kernel/fork.c"), "int fork = 2;\n").unwrap();
    git(&folder, &["commit", "--quiet", "-am", "second"]);
    let second = git(&folder, &["rev-parse", "HEAD"]);
    (here.job(|job| resolve(folder.as_str(), job)).unwrap(), first, second)
}

/// What tells that a file was written anew: its inode and its time.
fn look(path: &Utf8Path) -> (u64, i64, i64) {
    let look = fs_err::metadata(path).unwrap();
    (look.ino(), look.mtime(), look.mtime_nsec())
}

fn is_clean(workshop: &Workshop, commit: &str) -> bool {
    let status = workshop.git().args(["diff", "--name-only", commit]).demand().unwrap().text();
    let untracked = workshop.git().args(["ls-files", "--others"]).demand().unwrap().text();
    status.is_empty() && untracked.is_empty()
}

#[test]
fn only_files_that_differ_are_written() {
    let here = Surroundings::new();
    let (tree, first, second) = two_commits(&here);
    let workshop = here.job(|job| Workshop::lease(&tree, job)).unwrap();
    here.job(|job| workshop.lay(&first, job)).unwrap();
    let (fork, makefile) = (workshop.source().join("kernel/fork.c"), workshop.source().join("Makefile"));
    let before = (look(&fork), look(&makefile));
    here.job(|job| workshop.lay(&first, job)).unwrap();
    assert_eq!(before, (look(&fork), look(&makefile)), "the same commit again writes nothing");
    here.job(|job| workshop.lay(&second, job)).unwrap();
    assert_eq!(fs_err::read_to_string(&fork).unwrap(), "int fork = 2;\n");
    let after = (look(&fork), look(&makefile));
    assert_eq!(before.1, after.1, "an equal file keeps its time");
    here.job(|job| workshop.lay(&first, job)).unwrap();
    assert!(
        look(&fork) > after.0 || look(&fork).1 >= after.0.1,
        "a file that goes back to older content gets a new time"
    );
    assert!(is_clean(&workshop, &first));
}

#[test]
fn the_next_lease_mends_whatever_an_earlier_one_left() {
    type Damage = fn(&Workshop);
    let damages: [(&str, Damage); 13] = [
        ("an edited file", |it| fs_err::write(it.source().join("Makefile"), "edited\n").unwrap()),
        ("a deleted file", |it| fs_err::remove_file(it.source().join("Makefile")).unwrap()),
        ("a lost executable bit", |it| {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
            fs_err::set_permissions(it.source().join("scripts/run.sh"), mode).unwrap();
        }),
        ("an in-tree build", |it| {
            fs_err::create_dir_all(it.source().join("include/config")).unwrap();
            fs_err::write(it.source().join(".config"), "CONFIG_X=y\n").unwrap();
            fs_err::write(it.source().join("kernel/fork.o"), "ignored by .gitignore\n").unwrap();
        }),
        ("a folder in the place of a file", |it| {
            fs_err::remove_file(it.source().join("Kconfig")).unwrap();
            fs_err::create_dir_all(it.source().join("Kconfig/deep")).unwrap();
        }),
        ("a killed checkout", |it| {
            fs_err::remove_file(it.marker()).unwrap();
            fs_err::write(it.slot.join("index.lock"), "half").unwrap();
            fs_err::write(it.source().join("Makefile"), "VERS").unwrap();
        }),
        ("a killed first checkout", |it| {
            fs_err::remove_file(it.marker()).unwrap();
            fs_err::remove_file(it.index()).unwrap();
            fs_err::write(it.source().join("Makefile"), "VERS").unwrap();
        }),
        ("a broken index", |it| fs_err::write(it.index(), "DIRC").unwrap()),
        ("a file in the place of the work tree", |it| {
            fs_err::remove_dir_all(it.source()).unwrap();
            fs_err::write(it.source(), "").unwrap();
        }),
        ("a folder in the place of the index", |it| {
            fs_err::remove_file(it.index()).unwrap();
            fs_err::create_dir(it.index()).unwrap();
        }),
        ("a folder in the place of the marker", |it| {
            fs_err::remove_file(it.marker()).unwrap();
            fs_err::create_dir(it.marker()).unwrap();
        }),
        ("the lock of a git that was killed", |it| fs_err::write(it.slot.join("index.lock"), "").unwrap()),
        ("a lost work tree", |it| fs_err::remove_dir_all(it.source()).unwrap()),
    ];
    let here = Surroundings::new();
    let (tree, first, second) = two_commits(&here);
    for (name, damage) in damages {
        for next in [&first, &second] {
            let workshop = here.job(|job| Workshop::lease(&tree, job)).unwrap();
            here.job(|job| workshop.lay(&first, job)).unwrap();
            damage(&workshop);
            drop(workshop);
            let workshop = here.job(|job| Workshop::lease(&tree, job)).unwrap();
            here.job(|job| workshop.lay(next, job)).unwrap_or_else(|failure| panic!("{name}: {}", failure.render()));
            assert!(is_clean(&workshop, next), "{name}");
        }
    }
}

#[test]
fn a_git_that_was_killed_costs_no_second_checkout() {
    let here = Surroundings::new();
    let (tree, first, second) = two_commits(&here);
    for next in [&first, &second] {
        let workshop = here.job(|job| Workshop::lease(&tree, job)).unwrap();
        here.job(|job| workshop.lay(&first, job)).unwrap();
        let makefile = look(&workshop.source().join("Makefile"));
        fs_err::write(workshop.slot.join("index.lock"), "half").unwrap();
        here.job(|job| workshop.lay(next, job)).unwrap();
        assert_eq!(look(&workshop.source().join("Makefile")), makefile);
    }
}

#[test]
fn what_cannot_become_a_slot_is_told_with_what_to_remove() {
    let here = Surroundings::new();
    let (tree, _, _) = two_commits(&here);
    let slots = tree.repository.git_dir().parent().unwrap().join("slots");
    fs_err::create_dir(&slots).unwrap();
    fs_err::write(slots.join("0"), "").unwrap();
    let failure = here.job(|job| Workshop::lease(&tree, job)).unwrap_err();
    assert_eq!(failure.hints, [format!("make room for it: rm -r {slots}/0")]);
}

#[test]
fn an_unknown_commit_leaves_the_work_tree_as_it_was() {
    let here = Surroundings::new();
    let (tree, first, _) = two_commits(&here);
    let workshop = here.job(|job| Workshop::lease(&tree, job)).unwrap();
    here.job(|job| workshop.lay(&first, job)).unwrap();
    assert!(here.job(|job| workshop.lay(&"1".repeat(40), job)).is_err());
    assert!(is_clean(&workshop, &first));
    here.job(|job| workshop.lay(&first, job)).unwrap();
}

#[test]
fn two_leases_at_once_never_share_a_slot_and_a_freed_one_is_taken_again() {
    let here = Surroundings::new();
    let (tree, _, _) = two_commits(&here);
    let lease = || here.job(|job| Workshop::lease(&tree, job)).unwrap();
    let (first, second) = (lease(), lease());
    assert_ne!(first.source(), second.source());
    let source = first.source().to_owned();
    drop(first);
    assert_eq!(lease().source(), source);
}

#[test]
fn object_folders_are_kept_apart_by_their_key_whatever_is_in_it() {
    let here = Surroundings::new();
    let (tree, _, _) = two_commits(&here);
    let workshop = here.job(|job| Workshop::lease(&tree, job)).unwrap();
    let folders: std::collections::BTreeSet<_> =
        ["x86_64-gcc", "arm64-gcc", "a/b", "a-b", "..", "", "../../x"].map(|key| workshop.objects(key).unwrap()).into();
    assert_eq!(folders.len(), 7);
    for folder in folders {
        assert!(folder.is_dir() && folder.parent() == Some(&workshop.slot.join("objects")), "{folder}");
    }
}
