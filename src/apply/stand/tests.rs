mod history;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::*;
use crate::blame::Class;
use crate::catalogue::Catalogue;
use crate::event::Event;
use crate::source;
use crate::store::Cache;
use crate::tree::Repository;

/// A diff that takes a slow step out of `kitchen/soup.c` and puts a quick one in.
const SWAP: &str = "\
--- a/kitchen/soup.c~quick-stir
+++ a/kitchen/soup.c
@@ -3,7 +3,7 @@ void cook(void)
 fill the pot
 light the stove
 wait for steam
-stir for an hour
+stir in passing
 add the salt
 taste it once
 close the lid
_
";
/// A diff that only adds lines.
const ADD: &str = "\
--- a/kitchen/soup.c
+++ b/kitchen/soup.c
@@ -4,4 +4,5 @@
 light the stove
 wait for steam
+open the window
 stir for an hour
 add the salt
";
/// A diff that only removes a line.
const REMOVE: &str = "\
--- a/kitchen/soup.c
+++ b/kitchen/soup.c
@@ -3,7 +3,6 @@
 fill the pot
 light the stove
 wait for steam
-stir for an hour
 add the salt
 taste it once
 close the lid
";
/// A change that makes the cook wait, wherever there is steam.
const CONTROL: &str = "\
--- a/kitchen/soup.c
+++ b/kitchen/soup.c
@@ -4,2 +4,3 @@
 light the stove
+wait once more
 wait for steam
";
/// What `patch.yaml` says of it, and that the whisk has made the patch needless.
const CONTROLLED: &str = "controls: [{ file: control.patch, since: \"1.0\", puts_back: a wait }]
cured_when: [{ file: kitchen/soup.c, contains: whisk }]
fate: { outcome: superseded }
";
const BEFORE: &str = "recipe\nstart\nfill the pot\nlight the stove\nwait for steam\nstir for an hour\nadd the salt\ntaste it once\nclose the lid\nend\n";

fn after() -> String {
    BEFORE.replace("stir for an hour", "stir in passing")
}

/// A kernel's repository, a cache, and a project with one patch.
struct Bench {
    folder: tempfile::TempDir,
    cache: Cache,
    tree: Tree,
}

impl Bench {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let repository = Repository::at(root.join("kernel.git"));
        let git = |args: &[&str]| repository.git().args(args);
        git(&["init", "--quiet", "--bare"]).demand().unwrap();
        let mut listed = String::new();
        for (path, text) in files {
            let blob = git(&["hash-object", "-w", "--stdin"]).input(*text).demand().unwrap().text();
            listed += &format!("100644 {blob}\t{path}\n");
        }
        let index = root.join("index");
        git(&["update-index", "--index-info"]).env("GIT_INDEX_FILE", index.as_str()).input(listed).demand().unwrap();
        let content = git(&["write-tree"]).env("GIT_INDEX_FILE", index.as_str()).demand().unwrap().text();
        let commit = git(&["commit-tree", "-m", "tree", &content]).demand().unwrap().text();
        git(&["update-ref", "refs/heads/main", &commit]).demand().unwrap();
        let cache = Cache::open(&root.join("cache")).unwrap();
        let tree = Tree { name: "mini".into(), repository, commit, version: "1.0".into(), origin: "test".into() };
        Bench { folder, cache, tree }
    }

    fn soup(text: &str) -> Self {
        Self::with(&[("kitchen/soup.c", text), ("Makefile", "VERSION = 1\n")])
    }

    fn patch(&self, original: &str, ports: &[(&str, &str)], more: &str) -> Patch {
        let project = Utf8Path::from_path(self.folder.path()).unwrap();
        let folder = project.join("patches/quick-stir");
        fs_err::create_dir_all(folder.join("ports")).unwrap();
        fs_err::write(folder.join("original.patch"), original).unwrap();
        let mut yaml = format!(
            "title: stir\nauthor: {{ name: A. Cook }}\norigin: {{ mail: none }}\nlicence: MIT\nbase: \"1.0\"\nbenchmarks: [stir]\n{more}\n"
        );
        if !more.contains("fate:") {
            yaml += "fate: { outcome: merged }\n";
        }
        for (at, (direction, diff)) in ports.iter().enumerate() {
            yaml += if at == 0 { "ports:\n" } else { "" };
            yaml += &format!("  - {{ file: {at}.patch, direction: {direction}, since: \"1.0\", why: test }}\n");
            fs_err::write(folder.join(format!("ports/{at}.patch")), diff).unwrap();
        }
        if more.contains("controls:") {
            fs_err::write(folder.join("control.patch"), CONTROL).unwrap();
        }
        fs_err::write(folder.join("patch.yaml"), yaml).unwrap();
        source::find(&Catalogue::of_project(project), "quick-stir").unwrap()
    }

    fn stand(&self, patch: &Patch) -> Result<Standing, Failure> {
        let logs = Utf8PathBuf::from("unused");
        stand(patch, &self.tree, Job { cache: &self.cache, logs: &logs, emit: &|_: Event| {} })
    }

    fn state(&self, original: &str) -> State {
        self.stand(&self.patch(original, &[], "")).unwrap().state
    }

    fn soup_of(&self, revision: &Revision) -> String {
        let name = format!("{}:kitchen/soup.c", revision.commit);
        String::from_utf8(self.tree.repository.git().args(["cat-file", "blob", &name]).demand().unwrap().stdout)
            .unwrap()
    }

    fn refs(&self) -> Vec<String> {
        let listed = self.tree.repository.git().args(["for-each-ref", "--format=%(refname)"]).demand().unwrap();
        listed.text().lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_patch_stands_to_a_tree_as_the_tree_s_text_says() {
    let moved = |text: &str| format!("new\nlines\nabove\n{text}");
    let around = |text: &str| text.replace("fill the pot", "fill the kettle");
    let again = "light the stove\nwait for steam\nadd the salt\ntaste it once\n";
    let add_after = BEFORE.replace("stir for", "open the window\nstir for");
    let cases: Vec<(&str, &str, String, State)> = vec![
        ("exact", SWAP, BEFORE.into(), State::Applies { fit: Fit::Exact }),
        ("moved", SWAP, moved(BEFORE), State::Applies { fit: Fit::Offset { max_lines: 3 } }),
        ("other surroundings", SWAP, around(BEFORE), State::Applies { fit: Fit::ReducedContext { lines: 2 } }),
        ("in the tree", SWAP, after(), State::Upstream { fit: Fit::Exact }),
        ("in the tree, moved", SWAP, moved(&after()), State::Upstream { fit: Fit::Offset { max_lines: 3 } }),
        (
            "in the tree, other surroundings",
            SWAP,
            around(&after()),
            State::Upstream { fit: Fit::ReducedContext { lines: 2 } },
        ),
        ("an addition", ADD, BEFORE.into(), State::Applies { fit: Fit::Exact }),
        // The lines that the addition wants stand in the tree a second time
        (
            "an addition that would go in twice",
            ADD,
            format!("{add_after}{BEFORE}"),
            State::Upstream { fit: Fit::Exact },
        ),
        ("a removal", REMOVE, BEFORE.into(), State::Applies { fit: Fit::Exact }),
        // Its reverse would fit at the other place, with reduced context only
        ("a removal and a place like it", REMOVE, format!("{BEFORE}{again}"), State::Applies { fit: Fit::Exact }),
        // Its reverse fits fully, but elsewhere
        (
            "a removal and a place just like it",
            REMOVE,
            format!("{BEFORE}{}", BEFORE.replace("stir for an hour\n", "")),
            State::Applies { fit: Fit::Exact },
        ),
    ];
    for (what, diff, text, expected) in cases {
        assert_eq!(Bench::soup(&text).state(diff), expected, "{what}");
    }
}

#[test]
fn what_fits_with_leniency_both_ways_is_in_the_tree_already() {
    // Both ways need reduced context: the change is in at one place, and could go in at another
    let text = format!("{}{}", after(), BEFORE).replace("fill the pot", "fill the kettle");
    assert_eq!(Bench::soup(&text).state(SWAP), State::Upstream { fit: Fit::ReducedContext { lines: 2 } });
}

#[test]
fn a_patch_that_applies_is_compared_with_the_tree_as_it_is() {
    let bench = Bench::soup(BEFORE);
    let standing = bench.stand(&bench.patch(SWAP, &[], "")).unwrap();
    let (base, patched) = standing.demand_comparison().unwrap();
    assert_eq!((base.variant, patched.variant), (Variant::Base, Variant::Patched));
    assert_eq!((bench.soup_of(base), bench.soup_of(patched)), (BEFORE.to_owned(), after()));
    assert_eq!(patched.files, ["kitchen/soup.c"]);
    assert_eq!(standing.sentence(), "applies exactly");
}

#[test]
fn a_merged_patch_is_taken_out_and_the_tree_is_the_candidate() {
    let bench = Bench::soup(&after());
    let standing = bench.stand(&bench.patch(SWAP, &[], "")).unwrap();
    let (reversed, base) = standing.demand_comparison().unwrap();
    assert_eq!((reversed.variant, base.variant), (Variant::Reversed, Variant::Base));
    assert_eq!((bench.soup_of(reversed), bench.soup_of(base)), (BEFORE.to_owned(), after()));
    assert_eq!(standing.sentence(), "already upstream (reverse applies exactly)");
}

#[test]
fn ports_are_tried_in_order_where_the_mailed_diff_does_not_fit() {
    let later = BEFORE.replace("stir for an hour", "stir by machine");
    let port = |from: &str, to: &str| SWAP.replace("stir for an hour", from).replace("stir in passing", to);
    let useless = port("stir by hand", "stir for an hour");
    let reverse = port("stir by machine", "stir for an hour");
    let bench = Bench::soup(&later);
    let standing = bench.stand(&bench.patch(SWAP, &[("reverse", &useless), ("reverse", &reverse)], "")).unwrap();
    assert_eq!(standing.state, State::Upstream { fit: Fit::Port { file: "1.patch".into() } });
    assert_eq!(bench.soup_of(&standing.demand_comparison().unwrap().0), BEFORE);

    let forward = port("stir by machine", "stir in passing");
    let standing = bench.stand(&bench.patch(SWAP, &[("forward", &forward)], "")).unwrap();
    assert_eq!(standing.state, State::Applies { fit: Fit::Port { file: "0.patch".into() } });
    assert_eq!(bench.soup_of(&standing.demand_comparison().unwrap().1), after());
}

#[test]
fn a_reverse_port_that_fits_forbids_putting_the_mailed_diff_in() {
    let both = BEFORE.replace("recipe", "stir by machine");
    let reverse = "--- a/kitchen/soup.c\n+++ b/kitchen/soup.c\n@@ -1,3 +1,3 @@\n-stir by machine\n+recipe\n start\n fill the pot\n";
    let bench = Bench::soup(&both);
    let standing = bench.stand(&bench.patch(SWAP, &[("reverse", reverse)], "")).unwrap();
    assert_eq!(standing.state, State::Upstream { fit: Fit::Port { file: "0.patch".into() } });
}

#[test]
fn a_conflict_is_located_and_shown() {
    let bench = Bench::soup(&format!("new\n{}", BEFORE.replace("stir for an hour", "stir by machine")));
    let failure = bench.stand(&bench.patch(SWAP, &[], "")).unwrap().demand_comparison().unwrap_err().render();
    insta::assert_snapshot!(failure, @r"
    error: `quick-stir`: conflicts at 1 place in kitchen/soup.c
      owner: the patch
      | kitchen/soup.c:7: hunk 1 does not fit
      |   wanted: stir for an hour
      |   wanted: add the salt
      |   wanted: taste it once
      |   wanted: close the lid
      |   found:  stir by machine
      |   found:  add the salt
      |   found:  taste it once
      |   found:  close the lid
    hint: a hand-made port makes it comparable: see `ports` in docs/patches.md
    ");
}

#[test]
fn files_that_are_missing_or_in_the_way_are_conflicts() {
    let bench = Bench::with(&[("Makefile", "VERSION = 1\n"), ("new.c", "other\n")]);
    let conflict = |file: &str, clash| {
        vec![FileConflict { file: file.into(), direction: Direction::Forward, clash, changed_by: None }]
    };
    let standing = bench.stand(&bench.patch(SWAP, &[], "")).unwrap();
    assert_eq!(
        (&standing.state, &standing.conflicts),
        (&State::MissingFile, &conflict("kitchen/soup.c", Clash::Missing))
    );
    assert_eq!(standing.sentence(), "a file that it changes is missing: kitchen/soup.c");
    let made = "--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+mine\n";
    let standing = bench.stand(&bench.patch(made, &[], "")).unwrap();
    assert_eq!((standing.state, standing.conflicts), (State::Conflicts, conflict("new.c", Clash::Exists)));
}

#[test]
fn files_come_and_go_and_move() {
    let bench = Bench::soup(BEFORE);
    let diff = "\
diff --git a/kitchen/soup.c b/broth of beef.c
similarity index 90%
rename from kitchen/soup.c
rename to broth of beef.c
--- a/kitchen/soup.c
+++ b/broth of beef.c
@@ -1,2 +1,2 @@
-recipe
+broth
 start
diff --git a/Makefile b/Makefile
deleted file mode 100644
--- a/Makefile
+++ /dev/null
@@ -1 +0,0 @@
-VERSION = 1
diff --git a/run.sh b/run.sh
new file mode 100755
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+true
";
    let standing = bench.stand(&bench.patch(diff, &[], "")).unwrap();
    let patched = &standing.demand_comparison().unwrap().1;
    assert_eq!(patched.files, ["Makefile", "broth of beef.c", "kitchen/soup.c", "run.sh"]);
    let listed = bench.tree.repository.git().args(["ls-tree", "-r", &patched.commit]).demand().unwrap().text();
    let modes: Vec<_> = listed.lines().map(|line| (&line[..6], line.split('\t').next_back().unwrap())).collect();
    assert_eq!(modes, [("100644", "broth of beef.c"), ("100755", "run.sh")]);
    // On the result the same patch is upstream, and the way back is the tree
    let after = Bench { tree: Tree { commit: patched.commit.clone(), ..bench.tree.clone() }, ..bench };
    let back = after.stand(&after.patch(diff, &[], "")).unwrap();
    assert_eq!(back.demand_comparison().unwrap().0.content, standing.base.content);
}

#[test]
fn a_file_in_place_of_a_folder_is_refused() {
    let bench = Bench::soup(BEFORE);
    for path in ["kitchen", "Makefile/x"] {
        let diff = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
        let failure = bench.stand(&bench.patch(&diff, &[], "")).unwrap_err();
        assert_eq!((failure.class, failure.excerpt), (Class::Apply, vec![path.to_owned()]));
    }
}

#[test]
fn a_look_at_the_source_keeps_a_cure_from_going_in_twice() {
    let probe = "cured_when: [{ file: kitchen/soup.c, contains: recipe }]\n";
    let bench = Bench::soup(BEFORE);
    let merged = bench.stand(&bench.patch(SWAP, &[], probe)).unwrap();
    assert!(matches!(merged.state, State::UpstreamChanged), "{merged:?}");
    let failure = merged.demand_comparison().unwrap_err();
    assert_eq!((failure.class, failure.blame), (Class::Apply, crate::blame::Blame::Patch));
    assert!(failure.hints[0].contains("port"), "{failure:?}");

    // Another cure: put in as well, it would change nothing that matters
    let superseded = format!(
        "{probe}fate: {{ outcome: superseded, commits: [{{ commit: abcdefabcdef, title: whisk, release: v0.9 }}] }}"
    );
    let meaningless = bench.stand(&bench.patch(SWAP, &[], &superseded)).unwrap();
    let why = "the tree has another cure, abcdefabcdef (v0.9)".to_owned();
    assert_eq!(meaningless.state, State::WithoutMeaning { fit: Fit::Exact, why });
    assert_eq!(meaningless.comparison, None);
    let elsewhere = Bench::soup(&BEFORE.replace("stir for an hour", "whisk"));
    let superseded = elsewhere.stand(&elsewhere.patch(SWAP, &[], &superseded)).unwrap();
    assert_eq!(superseded.sentence(), "superseded by abcdefabcdef (v0.9)");
    assert_eq!(superseded.comparison, None);
    // The text is not there: the look says nothing, and the diff decides
    let lacks = "cured_when: [{ file: kitchen/soup.c, lacks: recipe }]\n";
    assert_eq!(bench.stand(&bench.patch(SWAP, &[], lacks)).unwrap().state, State::Applies { fit: Fit::Exact });
}

#[test]
fn the_same_edit_is_the_same_commit_and_is_kept_from_the_garbage_collector() {
    let bench = Bench::soup(BEFORE);
    let patch = bench.patch(SWAP, &[], "");
    let (first, second) = (bench.stand(&patch).unwrap(), bench.stand(&patch).unwrap());
    assert_eq!(first, second);
    let commit = &first.comparison.unwrap().1.commit;
    assert_eq!(bench.refs(), ["refs/heads/main".to_owned(), format!("refs/nspatch/{commit}")]);
    bench.tree.repository.git().args(["gc", "--quiet", "--prune=now"]).demand().unwrap();
    assert!(bench.tree.repository.git().args(["cat-file", "-e", commit]).run().unwrap().succeeded());
}

#[test]
fn nothing_is_left_in_the_scratch_folder_and_a_misfit_leaves_no_ref() {
    let bench = Bench::soup("something else\n");
    assert!(bench.state(SWAP) == State::Conflicts);
    assert_eq!(bench.refs(), ["refs/heads/main"]);
    let entries = |folder: &std::path::Path| fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let own = entries(bench.cache.folder("scratch").unwrap().as_std_path()).find(|path| path.is_dir()).unwrap();
    assert_eq!(entries(&own).count(), 0);
}

#[test]
fn a_diff_that_changes_nothing_is_refused() {
    let back = SWAP.replace("-stir for an hour\n+stir in passing", "-stir in passing\n+stir for an hour");
    let failure = Bench::soup(BEFORE).stand(&Bench::soup(BEFORE).patch(&format!("{SWAP}{back}"), &[], "")).unwrap_err();
    assert_eq!((failure.class, failure.what.as_str()), (Class::Apply, "the patch changes nothing in this tree"));
}

#[test]
fn the_repository_s_own_settings_do_not_change_an_edit() {
    let bench = Bench::soup(BEFORE);
    let patch = bench.patch(SWAP, &[], "");
    let plain = bench.stand(&patch).unwrap();
    for (key, value) in [("apply.whitespace", "fix"), ("apply.ignoreWhitespace", "change"), ("commit.gpgSign", "true")]
    {
        bench.tree.repository.git().args(["config", key, value]).demand().unwrap();
    }
    assert_eq!(bench.stand(&patch).unwrap(), plain);
}

#[test]
fn standings_read_back_as_they_were_written() {
    let bench = Bench::soup("something else\n");
    let standing = bench.stand(&bench.patch(SWAP, &[], "")).unwrap();
    let text = serde_json::to_string(&standing).unwrap();
    assert_eq!(serde_json::from_str::<Standing>(&text).unwrap(), standing);
    assert_eq!(serde_json::to_value(&standing).unwrap()["state"], standing.state.name());
    let keys: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(
        keys.keys().collect::<Vec<_>>(),
        ["arrival", "base", "comparison", "conflicts", "control", "patch", "series", "state"]
    );
}

#[test]
fn where_the_stall_was_cured_a_control_puts_it_back() {
    let bench = Bench::soup(&BEFORE.replace("stir for an hour", "whisk"));
    let standing = bench.stand(&bench.patch(SWAP, &[], CONTROLLED)).unwrap();
    assert_eq!(standing.state, State::Superseded { by: vec![] });
    let (control, base) = standing.demand_comparison().unwrap();
    assert_eq!((control.variant, base.variant), (Variant::Control, Variant::Base));
    assert!(bench.soup_of(control).contains("light the stove\nwait once more\nwait for steam\nwhisk"));
    assert_eq!(standing.control.as_deref(), Some("control.patch"));
    // Where the patch itself has something to change, it is what is compared
    let bench = Bench::soup(BEFORE);
    let standing = bench.stand(&bench.patch(SWAP, &[], CONTROLLED)).unwrap();
    assert_eq!((standing.comparison.unwrap().1.variant, standing.control), (Variant::Patched, None));
    // A control that does not fit is not bent until it does
    let bench = Bench::soup("whisk\nwait for nothing\n");
    assert_eq!(bench.stand(&bench.patch(SWAP, &[], CONTROLLED)).unwrap().comparison, None);
}

#[test]
fn a_patch_for_a_stall_that_the_tree_does_not_have_is_without_meaning() {
    let bench = Bench::soup(BEFORE);
    let stalls = |text: &str| format!("stalls_when: [{{ file: kitchen/soup.c, contains: {text} }}]\n");
    let state = |text: &str| bench.stand(&bench.patch(SWAP, &[], &stalls(text))).unwrap().state;
    assert_eq!(state("stove"), State::Applies { fit: Fit::Exact });
    insta::assert_snapshot!(state("microwave"), @"applies exactly, but without meaning: the tree does not have the stall, as not kitchen/soup.c has `microwave`");
}

#[test]
fn what_would_need_a_guess_is_told_and_not_done() {
    let bench = Bench::soup(&BEFORE.replace("light the stove", "light the fire").replace("taste it once", "taste it"));
    let standing = bench.stand(&bench.patch(SWAP, &[], "")).unwrap();
    assert_eq!(
        (&standing.state, &standing.comparison),
        (&State::Applies { fit: Fit::ReducedContext { lines: 1 } }, &None)
    );
    assert_eq!(standing.sentence(), "applies only with a context of 1 line (fuzz 2)");
}

#[test]
fn a_patch_that_is_there_in_part_says_which_part() {
    let text = BEFORE.replace("stir for an hour", "open the window\nstir for an hour");
    let both = format!("{ADD}--- a/Makefile\n+++ b/Makefile\n@@ -1 +1 @@\n-VERSION = 1\n+VERSION = 2\n");
    let bench = Bench::soup(&text);
    let State::PartlyUpstream { there, missing } = bench.state(&both) else { panic!("{:?}", bench.state(&both)) };
    let names = |parts: &[crate::apply::Part]| parts.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        (names(&there), names(&missing)),
        (vec!["kitchen/soup.c hunk 1".into()], vec!["Makefile hunk 1".into()])
    );
}

#[test]
fn a_patch_that_names_others_before_it_says_so_where_it_does_not_fit() {
    let mail = format!("title\n\n{SWAP}-- \n2.40\n\nbase-commit: abc\nprerequisite-patch-id: 0123456789\n");
    assert_eq!(Bench::soup(BEFORE).state(&mail), State::Applies { fit: Fit::Exact });
    let State::MissingPrerequisite { patches } = Bench::soup("other\n").state(&mail) else { panic!() };
    assert_eq!(patches, ["0123456789"]);
}

#[test]
fn a_look_at_a_folder_is_the_fault_of_whoever_wrote_it() {
    let bench = Bench::soup(BEFORE);
    let patch = bench.patch(SWAP, &[], "cured_when: [{ file: kitchen, contains: x }]");
    let failure = bench.stand(&patch).unwrap_err();
    assert_eq!(failure.class, crate::blame::Class::Usage);
    assert!(failure.what.starts_with("`kitchen` is a folder in this tree"), "{failure:?}");
}
