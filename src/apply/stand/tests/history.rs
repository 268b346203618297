//! What the history of a tree tells of a patch.

use super::*;
use crate::apply::Likeness;

/// A history of soups, oldest first, each with a title.
fn history(soups: &[(&str, &str)]) -> Bench {
    let mut bench = Bench::soup(soups[0].1);
    for (title, soup) in &soups[1..] {
        let git = |args: &[&str]| bench.tree.repository.git().args(args);
        let stream = format!(
            "commit refs/heads/main\ncommitter a <a@example.org> 0 +0000\ndata {}\n{title}\nfrom {}\nM 100644 inline kitchen/soup.c\ndata {}\n{soup}\n\n",
            title.len(),
            bench.tree.commit,
            soup.len()
        );
        git(&["fast-import", "--quiet"]).input(stream).demand().unwrap();
        let commit = git(&["rev-parse", "refs/heads/main"]).demand().unwrap().text();
        bench.tree.commit = commit;
    }
    bench
}

#[test]
fn the_commit_that_brought_a_patch_is_found() {
    let later = after().replace("end", "serve\nend");
    let bench = history(&[("import", BEFORE), ("stir faster", &after()), ("serve", &later)]);
    let standing = bench.stand(&bench.patch(SWAP, &[], "")).unwrap();
    assert_eq!(standing.arrival.as_ref().unwrap().by, Likeness::PatchId);
    assert!(standing.sentence().contains("(\"stir faster\")"), "{}", standing.sentence());
    // Squashed with something else, it is no longer the same change, but the same content
    let bench = history(&[("import", BEFORE), ("clean the kitchen", &later)]);
    let arrival = bench.stand(&bench.patch(SWAP, &[], "")).unwrap().arrival.unwrap();
    assert_eq!((arrival.by, arrival.name.title.as_str()), (Likeness::Content, "clean the kitchen"));
}

#[test]
fn a_merged_patch_that_was_built_upon_is_known_by_its_commit() {
    let later = after().replace("light the stove", "light the fire").replace("taste it once", "taste it");
    let rewritten = later.replace("stir in passing\nadd the salt", "stir in passing, twice\nadd no salt");
    let bench = history(&[("import", BEFORE), ("stir faster", &after()), ("less salt", &rewritten)]);
    let standing = bench.stand(&bench.patch(SWAP, &[], "")).unwrap();
    assert!(matches!(standing.state, State::UpstreamChanged), "{standing:?}");
    assert!(standing.sentence().ends_with("(\"stir faster\")"), "{}", standing.sentence());
    // Reverted, it is not there any more
    let other = BEFORE.replace("stir for an hour", "stir for two hours");
    let bench = history(&[("import", BEFORE), ("stir faster", &after()), ("revert", BEFORE), ("slower", &other)]);
    let standing = bench.stand(&bench.patch(SWAP, &[], "")).unwrap();
    assert!(matches!(standing.state, State::Conflicts), "{standing:?}");
}

#[test]
fn the_commit_that_changed_what_a_patch_wants_is_named() {
    let bench = history(&[
        ("import", BEFORE),
        ("stir by machine", &BEFORE.replace("stir for an hour", "stir by machine")),
        ("serve", &BEFORE.replace("stir for an hour", "stir by machine").replace("end", "serve\nend")),
    ]);
    let standing = bench.stand(&bench.patch(SWAP, &[], "")).unwrap();
    assert_eq!(standing.conflicts[0].changed_by.as_ref().unwrap().title, "stir by machine");
}
