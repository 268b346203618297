use super::*;
use crate::tree::mini::{FILES, Surroundings, git, repository, unpack};
use crate::tree::{Tree, Workshop, resolve};

fn resolved(here: &Surroundings, spec: impl AsRef<str>) -> Result<Tree, Failure> {
    here.job(|job| resolve(spec.as_ref(), job))
}

/// Everything below a folder with its time, to see whether any of it was touched.
fn state(folder: &Utf8Path) -> Vec<String> {
    let listed = Call::new("find").args([folder.as_str(), "-printf", "%p %T@ %s\\n"]).demand().unwrap().text();
    let mut lines: Vec<_> = listed.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn work_on_a_user_s_repository_leaves_it_untouched() {
    let here = Surroundings::new();
    let folder = here.root.join("linux");
    repository(&folder);
    fs_err::write(folder.join("Makefile"), FILES[0].2.replace("12", "13")).unwrap();
    let before = state(&folder);
    let tree = resolved(&here, &folder).unwrap();
    assert_eq!(tree.version, "6.12.3", "an edit is not part of the tree");
    let made = tree
        .repository
        .git()
        .args(["commit-tree", "-p", &tree.commit, "-m", "ours"])
        .arg(format!("{}^{{tree}}", tree.commit));
    let commit = made.demand().unwrap().text();
    let workshop = here.job(|job| Workshop::lease(&tree, job)).unwrap();
    here.job(|job| workshop.lay(&commit, job)).unwrap();
    assert_eq!(state(&folder), before);
}

#[test]
fn every_kind_of_repository_is_read() {
    let here = Surroundings::new();
    let main = here.root.join("linux");
    let commit = repository(&main);
    git(&main, &["branch", "side"]);
    git(&main, &["worktree", "add", "--quiet", "../worktree", "side"]);
    git(&main, &["clone", "--quiet", "--bare", ".", "../bare.git"]);
    git(&main, &["commit", "--quiet", "--allow-empty", "-m", "newer"]);
    git(&main, &["clone", "--quiet", "--shared", ".", "../shared"]);
    let address = format!("file://{main}");
    git(&main, &["clone", "--quiet", "--depth=1", &address, "../shallow"]);
    let head = git(&main, &["rev-parse", "HEAD"]);
    for (name, expected) in
        [("linux", &head), ("worktree", &commit), ("bare.git", &commit), ("shared", &head), ("shallow", &head)]
    {
        let tree =
            resolved(&here, here.root.join(name)).unwrap_or_else(|failure| panic!("{name}: {}", failure.render()));
        assert_eq!((&tree.commit, tree.version.as_str()), (expected, "6.12.3"), "{name}");
        tree.repository.git().args(["log", "-2", &tree.commit]).demand().unwrap_or_else(|_| panic!("{name}"));
    }
    assert_eq!(here.notices(), "");
}

#[test]
fn what_cannot_be_tested_is_told_apart() {
    let here = Surroundings::new();
    let folder = here.root.join("linux");
    fs_err::create_dir_all(&folder).unwrap();
    git(&folder, &["init", "--quiet"]);
    assert!(resolved(&here, &folder).unwrap_err().hints[0].contains("no commit yet"));
    fs_err::write(folder.join("README"), "no kernel\n").unwrap();
    git(&folder, &["add", "README"]);
    git(&folder, &["commit", "--quiet", "-m", "no kernel"]);
    let failure = resolved(&here, &folder).unwrap_err();
    assert!(failure.what.contains("no Kconfig") && failure.place.as_deref() == Some(folder.as_str()), "{failure:?}");
}

#[test]
fn an_option_in_the_place_of_a_revision_is_only_a_wrong_name() {
    let here = Surroundings::new();
    let folder = here.root.join("linux");
    repository(&folder);
    assert!(resolved(&here, format!("{folder}@--help")).unwrap_err().what.contains("no commit is named `--help`"));
}

#[test]
fn plain_files_count_even_if_gitignore_names_them_but_an_in_tree_build_does_not() {
    let here = Surroundings::new();
    let folder = here.root.join("linux");
    fs_err::create_dir_all(&folder).unwrap();
    unpack(&folder);
    let clean = resolved(&here, &folder).unwrap();
    assert!(clean.repository.file(&clean.commit, "generated/table.o.h").unwrap().is_some());
    for (path, content) in [(".config", "CONFIG_X=y\n"), ("include/config/auto.conf", ""), ("kernel/fork.o", "\x7fELF")]
    {
        let path = folder.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }
    assert_eq!(resolved(&here, &folder).unwrap().commit, clean.commit);
    assert!(here.notices().contains("in-tree build"), "{}", here.notices());
}

#[test]
fn a_build_that_was_cleaned_up_later_leaves_no_trace() {
    let here = Surroundings::new();
    let folder = here.root.join("linux");
    fs_err::create_dir_all(&folder).unwrap();
    unpack(&folder);
    fs_err::write(folder.join("kernel/fork.o"), "not known to be built").unwrap();
    let with = resolved(&here, &folder).unwrap();
    fs_err::write(folder.join(".config"), "CONFIG_X=y\n").unwrap();
    let without = resolved(&here, &folder).unwrap();
    assert!(with.repository.file(&with.commit, "kernel/fork.o").unwrap().is_some());
    assert!(without.repository.file(&without.commit, "kernel/fork.o").unwrap().is_none());
}

#[test]
fn a_repository_within_plain_files_is_refused_as_its_files_would_be_lost() {
    let here = Surroundings::new();
    let folder = here.root.join("linux");
    fs_err::create_dir_all(&folder).unwrap();
    unpack(&folder);
    fs_err::create_dir_all(folder.join("drivers")).unwrap();
    repository(&folder.join("drivers"));
    for _ in 0..2 {
        let failure = resolved(&here, &folder).unwrap_err();
        assert!(failure.what.contains("other git repositories"), "{failure:?}");
    }
}

#[test]
fn folders_of_nspatch_within_plain_files_are_no_part_of_the_tree() {
    let here = Surroundings::new();
    // The cache and the logs lie in it
    unpack(&here.root);
    let write = |path: &str, text: &str| {
        let path = here.root.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    };
    write("results/run/early.txt", "before anything tells that it is a run\n");
    let early = resolved(&here, &here.root).unwrap();
    assert!(early.repository.file(&early.commit, "results/run/early.txt").unwrap().is_some());
    write("logs/build.log", "a log\n");
    write("nspatch-runs/20260102-030405/boots.json", "[]\n");
    write("results/run/run.json", "{ \"version\": 2, \"nspatch\": \"0.1.0\" }\n");
    crate::store::Cache::open(&here.root.join("tools/another-cache")).unwrap();
    let first = resolved(&here, &here.root).unwrap();
    let listed = first.repository.git().args(["ls-tree", "-r", "--name-only", &first.commit]).demand().unwrap().text();
    let mut expected: Vec<_> = FILES.iter().map(|(path, ..)| *path).chain(["scripts/link"]).collect();
    expected.sort_unstable();
    assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
    for name in ["cache", "logs", "nspatch-runs", "results/run", "tools/another-cache"] {
        assert!(here.notices().contains(name), "{name}: {}", here.notices());
    }
    write("nspatch-runs/20260102-030405/run.json", "{}\n");
    assert_eq!(resolved(&here, &here.root).unwrap().commit, first.commit);
    // A file of the kernel may well be called so
    write("tools/run.json", "{ \"tests\": [] }\n");
    assert_ne!(resolved(&here, &here.root).unwrap().commit, first.commit);
}

#[test]
fn run_folders_in_a_repository_are_no_change_of_it() {
    let here = Surroundings::new();
    let folder = here.root.join("linux");
    repository(&folder);
    fs_err::create_dir_all(folder.join("nspatch-runs/1")).unwrap();
    fs_err::write(folder.join("nspatch-runs/1/run.json"), "{}").unwrap();
    resolved(&here, &folder).unwrap();
    assert_eq!(here.notices(), "");
}
