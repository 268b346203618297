//! How patches stand to a tree with history: `nspatch status`, and a control where the stall was cured.

use std::process::Command;

use serde_json::Value;

use super::lab::Lab;

/// The fake kernel as a git repository, and what happens to it.
struct History {
    lab: Lab,
}

impl History {
    fn new() -> Self {
        let history = History { lab: Lab::new() };
        history.git(&["init", "--quiet", "--initial-branch=main"]);
        history.commit("import");
        history
    }

    fn git(&self, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.lab.root.join("linux")).env("HOME", self.lab.root.join("home")).args(args);
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@example.org");
        }
        let output = git.output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, title: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", title]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// A commit that changes a file of no concern.
    fn other(&self, number: usize) {
        fs_err::write(self.lab.root.join("linux/NEWS"), number.to_string()).unwrap();
        self.commit(&format!("news {number}"));
    }

    /// A commit that changes a file of the patch, but not where the patch does.
    fn near(&self, number: usize) {
        let file = self.lab.root.join("linux/ipc/namespace.c");
        let text = fs_err::read_to_string(&file).unwrap();
        fs_err::write(&file, format!("/* {number} */\n{text}")).unwrap();
        self.commit(&format!("comment {number}"));
    }

    fn status(&self, more: &[&str]) -> Value {
        let ended = self.lab.nspatch(&[&["status", "--tree", "../linux", "--format", "json"], more].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    }
}

#[test]
fn the_commit_by_which_a_patch_came_is_found_in_a_few_looks() {
    let history = History::new();
    let patch = history.lab.patch("speed=slow", "speed=fast");
    let start = history.git(&["rev-parse", "HEAD"]);
    (0..20).for_each(|number| history.near(number));
    history.lab.edit("speed=slow", "speed=fast");
    let merged = history.commit("ipc: be fast");
    (20..40).for_each(|number| history.near(number));
    (0..5).for_each(|number| history.other(number));

    let rows = history.status(&["--patch", &patch]);
    let row = &rows["rows"][0];
    assert_eq!((&row["state"], &row["arrival"]["commit"]), (&"upstream".into(), &merged.as_str().into()));
    assert_eq!(row["arrival"]["by"], "patch-id");
    assert_eq!(row["comparison"], serde_json::json!({ "baseline": "reversed", "candidate": "base" }));

    let turns = history.status(&["--patch", &patch, "--since", &start]);
    let turn = &turns["turns"][0];
    assert_eq!((&turn["changed_by"]["commit"], &turn["candidates"]), (&merged.into(), &41.into()));
    assert!(turn["looked_at"].as_u64().unwrap() <= 6, "{turn}");
    let same = history.status(&["--patch", &patch, "--since", "HEAD~3"]);
    assert_eq!(same["turns"][0]["changed_by"], Value::Null);
}

#[test]
fn a_commit_without_the_file_is_passed_over() {
    let history = History::new();
    let patch = history.lab.patch("speed=slow", "speed=fast");
    let start = history.git(&["rev-parse", "HEAD"]);
    let file = history.lab.root.join("linux/ipc/namespace.c");
    let text = fs_err::read_to_string(&file).unwrap();
    history.near(1);
    for number in 0..3 {
        fs_err::remove_file(&file).unwrap();
        history.commit(&format!("lost {number}"));
        fs_err::write(&file, format!("/* {number} */\n{text}")).unwrap();
        history.commit(&format!("found {number}"));
    }
    history.lab.edit("speed=slow", "speed=fast");
    let merged = history.commit("ipc: be fast");
    let turns = history.status(&["--patch", &patch, "--since", &start]);
    assert_eq!(turns["turns"][0]["changed_by"]["commit"], merged);
}

#[test]
fn the_commit_that_moved_the_context_of_a_conflict_is_named() {
    let history = History::new();
    let patch = history.lab.patch("speed=slow", "speed=fast");
    history.lab.edit("speed=slow", "speed=slower");
    let moved = history.commit("ipc: be slower");
    history.other(1);
    let ended = history.lab.nspatch(&["status", "--tree", "../linux", "--patch", &patch]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("conflicts at 1 place in ipc/namespace.c"), "{}", ended.stdout);
    assert!(ended.stdout.contains(&format!("changed by {} (\"ipc: be slower\")", &moved[..12])), "{}", ended.stdout);
}

#[test]
fn a_revision_that_is_not_before_the_tree_is_refused() {
    let history = History::new();
    let patch = history.lab.patch("speed=slow", "speed=fast");
    let single = history.lab.nspatch(&["status", "--tree", "../linux", "--patch", &patch, "--since", "HEAD"]);
    assert_eq!(single.code, 2, "{}", single.stderr);
    assert!(single.stderr.contains("../linux has no history to search"), "{}", single.stderr);
    history.other(1);
    history.git(&["checkout", "--quiet", "--orphan", "side"]);
    history.commit("elsewhere");
    history.git(&["checkout", "--quiet", "main"]);
    for (since, what) in [("no-such", "no commit is named `no-such`"), ("side", "`side` is no ancestor of ../linux")] {
        let ended = history.lab.nspatch(&["status", "--tree", "../linux", "--patch", &patch, "--since", since]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(what), "{}", ended.stderr);
    }
}

#[test]
fn a_control_that_puts_the_stall_back_shows_that_the_benchmark_would_notice() {
    let lab = Lab::new();
    lab.edit("speed=slow", "speed=fast");
    let control = fs_err::read_to_string(lab.patch("speed=fast", "speed=slow")).unwrap();
    let original = fs_err::read_to_string(lab.patch("copy_ipcs", "copy_all_ipcs")).unwrap();
    let folder = lab.root.join("project/patches/stir");
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::write(folder.join("control.patch"), control).unwrap();
    fs_err::write(folder.join("original.patch"), original.replace("depth", "length")).unwrap();
    let yaml = "title: stir\nauthor: { name: A. Cook }\norigin: { mail: made up }\nlicence: MIT\nbase: \"1.0\"\n\
                fate: { outcome: superseded, commits: [{ commit: 0123456789ab, title: whisk, release: v1.1 }] }\n\
                benchmarks: [unshare-ipc]\ncured_when: [{ file: ipc/namespace.c, contains: speed=fast }]\n\
                controls: [{ file: control.patch, since: \"1.1\", puts_back: the wait }]\n";
    fs_err::write(folder.join("patch.yaml"), yaml).unwrap();
    let ended = lab.test(&["--patch", "stir"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    for told in
        ["superseded by 0123456789ab (v1.1)", "the stall would be noticed: base is 100 times faster than control"]
    {
        assert!(ended.stdout.contains(told), "{told}: {}", ended.stdout);
    }
    assert!(lab.root.join("run/patches/stir/control.patch").is_file());
}
