//! A series of which the tree has a part.

use serde_json::Value;

use super::lab::{Lab, SPEEDS_UP};

/// A mailbox of three patches: a comment, the change that is measured, and another comment.
fn series(lab: &Lab) -> String {
    let parts = [
        ("comment one", ("fs/namespace.c", "#include", "/* one */\n#include")),
        ("be fast", SPEEDS_UP),
        ("comment two", ("fs/namespace.c", "#include", "/* two */\n#include")),
    ];
    let file = lab.root.join("linux/fs/namespace.c");
    let before = fs_err::read_to_string(&file).unwrap();
    let mut mbox = String::new();
    for (place, (title, change)) in parts.into_iter().enumerate() {
        let diff = fs_err::read_to_string(lab.patch_of("part", &[change])).unwrap();
        if change.0 == "fs/namespace.c" {
            lab.edit_in(change.0, change.1, change.2);
        }
        let number = place + 1;
        mbox += &format!(
            "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\n\
             From: A. Cook <a@example.org>\nSubject: [PATCH {number}/3] {title}\n\
             Message-ID: <{number}@example.org>\n\n{title}\n---\n{diff}-- \n2.40\n\n"
        );
    }
    fs_err::write(&file, before).unwrap();
    let path = lab.root.join("project/series.mbox");
    fs_err::write(&path, mbox).unwrap();
    path.into_string()
}

fn row(lab: &Lab, series: &str) -> Value {
    let ended = lab.nspatch(&["status", "--tree", "../linux", "--patch", series, "--format", "json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    serde_json::from_str::<Value>(&ended.stdout).unwrap()["rows"][0].clone()
}

fn states(row: &Value) -> Vec<&str> {
    row["series"].as_array().unwrap().iter().map(|part| part["state"].as_str().unwrap()).collect()
}

#[test]
fn a_series_that_fits_is_one_patch() {
    let lab = Lab::new();
    let series = series(&lab);
    let row = row(&lab, &series);
    assert_eq!((&row["state"], states(&row).len()), (&"applies".into(), 0), "{row}");
}

#[test]
fn of_a_series_whose_first_patch_was_merged_the_rest_is_tested() {
    let lab = Lab::new();
    let series = series(&lab);
    lab.edit_in("fs/namespace.c", "#include", "/* one */\n#include");
    let row = row(&lab, &series);
    assert_eq!(states(&row), ["upstream", "applies", "applies"], "{row}");
    assert_eq!(row["sentence"], "of 3 patches 1 already upstream, 2 apply");

    let ended = lab.test(&["--patch", &series, "--format", "json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    let unshare = super::row(&run, "unshare-ipc");
    assert_eq!((&unshare["candidate"]["variant"], &unshare["verdict"]), (&"patched".into(), &"improved".into()));
}

#[test]
fn a_patch_that_a_later_one_of_the_series_changed_is_found_upstream_all_the_same() {
    let lab = Lab::new();
    let series = series(&lab);
    lab.edit_in("fs/namespace.c", "#include", "/* one */\n/* two */\n#include");
    assert_eq!(states(&row(&lab, &series)), ["upstream", "applies", "upstream"]);
}

#[test]
fn a_conflict_in_the_middle_names_its_patch_and_the_others_are_told() {
    let lab = Lab::new();
    let series = series(&lab);
    lab.edit_in("ipc/namespace.c", "speed=slow", "speed=slower");
    let row = row(&lab, &series);
    assert_eq!(states(&row), ["applies", "conflicts", "applies"], "{row}");
    assert_eq!(row["comparison"], Value::Null);
    let ended = lab.nspatch(&["status", "--tree", "../linux", "--patch", &series]);
    assert!(ended.stdout.contains("2/3 be fast: conflicts"), "{}", ended.stdout);
}
