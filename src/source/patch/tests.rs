use camino::Utf8Path;

use super::*;
use crate::blame::Class;
use crate::source::Outcome;
use crate::store::digest_file;

const YAML: &str = "\
title: stir
author: { name: A. Cook }
origin: { mail: made up }
licence: MIT
base: \"1.0\"
fate:
  outcome: not-merged
benchmarks: [stir]
";
const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

/// What comes of a project whose patch `stir-less` has this `patch.yaml`; folder names are cut.
fn load_with(yaml: &str) -> Result<Patch, String> {
    let folder = tempfile::tempdir().unwrap();
    let project = Utf8Path::from_path(folder.path()).unwrap();
    fs_err::create_dir_all(project.join("patches/stir-less/ports")).unwrap();
    fs_err::write(project.join("patches/stir-less/patch.yaml"), yaml).unwrap();
    fs_err::write(project.join("patches/stir-less/original.patch"), DIFF).unwrap();
    find(&Catalogue::of_project(project), "stir-less").map_err(|failure| {
        assert_eq!(failure.class, Class::Usage);
        failure.render().replace(&format!("{project}/"), "")
    })
}

#[test]
fn the_shipped_patches_are_whole() {
    let all = load_all(&Catalogue::shipped()).unwrap();
    let patch = all.iter().find(|patch| patch.name == "ipc-free-work-queue").unwrap();
    assert_eq!(patch.about.as_ref().unwrap().fate.outcome, Outcome::Merged);
    assert_eq!(patch.benchmarks().unwrap()[0], "unshare-ipc");
    assert_eq!(patch.ports(Direction::Reverse).count(), 1);
    assert_eq!(patch.parts.len(), 1);
    assert_eq!((&patch.parts[0].title, &patch.parts[0].author), (&patch.title, &patch.author));
    assert_eq!(patch.parts[0].diff, patch.diff);
}

#[test]
fn the_shipped_diff_is_as_mailed() {
    let patch = find(&Catalogue::shipped(), "ipc-free-work-queue").unwrap();
    let text = String::from_utf8(patch.original).unwrap();
    let (start, end) = (text.find("--- a/include").unwrap(), text.find("\n_\n").unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    fs_err::write(file.path(), &text[start..=end]).unwrap();
    let digest = digest_file(Utf8Path::from_path(file.path()).unwrap()).unwrap();
    assert_eq!(digest, "08bb0a7d27f2b7beac4e68f81beb19f77f98a5ea94afd117cfcb78fd6aa8dfb5");
}

#[test]
fn an_unknown_patch_names_the_nearest() {
    let failure = find(&Catalogue::shipped(), "ipc-free-workqueue").unwrap_err();
    assert_eq!(failure.hints, ["did you mean `ipc-free-work-queue`?"]);
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
    insta::assert_snapshot!(load_with(&format!("{YAML}benchmark: [stir]\n")).unwrap_err(), @"
    error: unknown field `benchmark`
      where: patches/stir-less/patch.yaml:9
      owner: the command
    hint: did you mean `benchmarks`?
    ");
    insta::assert_snapshot!(load_with(&YAML.replace("  outcome", "  outcom")).unwrap_err(), @"
    error: fate: unknown field `outcom`
      where: patches/stir-less/patch.yaml:7
      owner: the command
    hint: did you mean `outcome`?
    ");
    insta::assert_snapshot!(load_with(&YAML.replace("mail:", "post:")).unwrap_err(), @"
    error: origin: unknown field `post`
      where: patches/stir-less/patch.yaml:3
      owner: the command
    hint: did you mean `posted`?
    ");
}

#[test]
fn a_missing_key_is_named_with_its_line() {
    insta::assert_snapshot!(load_with(&YAML.replace("licence: MIT\n", "")).unwrap_err(), @"
    error: missing field `licence`
      where: patches/stir-less/patch.yaml:1
      owner: the command
    hint: docs/patches.md explains every key
    ");
    insta::assert_snapshot!(load_with(&YAML.replace("outcome: not-merged", "commits: []")).unwrap_err(), @"
    error: fate: missing field `outcome`
      where: patches/stir-less/patch.yaml:7
      owner: the command
    hint: docs/patches.md explains every key
    ");
}

#[test]
fn a_value_of_the_wrong_shape_is_named_with_its_line() {
    insta::assert_snapshot!(load_with(&YAML.replace("title: stir", "title: [stir]")).unwrap_err(), @"
    error: title: invalid type: sequence, expected a string
      where: patches/stir-less/patch.yaml:1
      owner: the command
    hint: docs/patches.md explains every key
    ");
    insta::assert_snapshot!(load_with(&YAML.replace("not-merged", "lost")).unwrap_err(), @"
    error: fate.outcome: unknown variant `lost`, expected one of `merged`, `superseded`, `not-merged`
      where: patches/stir-less/patch.yaml:7
      owner: the command
    hint: docs/patches.md explains every key
    ");
    insta::assert_snapshot!(load_with(&YAML.replace("[stir]", "[]")).unwrap_err(), @"
    error: `benchmarks` is empty: name at least one that shows the patch's effect
      where: patches/stir-less/patch.yaml:8
      owner: the command
    ");
    insta::assert_snapshot!(load_with(&format!("{YAML}kconfig: [CONFIG_SMP]\n")).unwrap_err(), @"
    error: `CONFIG_SMP` is no kconfig symbol: write `POSIX_MQUEUE`, without `CONFIG_`
      where: patches/stir-less/patch.yaml:9
      owner: the command
    ");
    insta::assert_snapshot!(load_with(&format!("{YAML}cured_when: [{{ file: x }}]\n")).unwrap_err(), @"
    error: each look of `cured_when` needs either `contains` or `lacks`
      where: patches/stir-less/patch.yaml:9
      owner: the command
    ");
    insta::assert_snapshot!(load_with(&format!("{YAML}figures: [\n")).unwrap_err(), @"
    error: did not find expected node content
      where: patches/stir-less/patch.yaml:10
      owner: the command
    hint: docs/patches.md explains every key
    ");
    insta::assert_snapshot!(load_with(&YAML.replace("mail: made up", "zzz: 1")).unwrap_err(), @"
    error: origin: unknown field `zzz`
      where: patches/stir-less/patch.yaml:3
      owner: the command
    hint: the keys here are mail, list, message_id, link, posted
    ");
}

/// What is said of a `patch.yaml` with another or a further line, and where.
fn said(from: &str, to: &str) -> String {
    let yaml = if from.is_empty() { format!("{YAML}{to}\n") } else { YAML.replace(from, to) };
    assert_ne!(yaml, YAML);
    let text = load_with(&yaml).unwrap_err();
    let lines: Vec<&str> = text.lines().map(|line| line.trim_start_matches("error: ")).collect();
    format!("{}: {}", lines[1].trim_start().trim_start_matches("where: patches/stir-less/patch.yaml:"), lines[0])
}

#[test]
fn a_value_that_cannot_be_is_named_with_its_line() {
    let version = |text: &str| format!("`{text}` is no kernel version: write one such as \"6.12\"");
    let figure = |values: &str| format!("figures:\n  - {{ benchmark: stir, {values}, unit: s }}");
    let path = |file: &str| {
        let what = "is no file: write its path from the tree's root, such as fs/pnode.c";
        (format!("cured_when: [{{ file: \"{file}\", contains: x }}]"), format!("9: `{file}` in `cured_when` {what}"))
    };
    let cases = [
        ("title: stir".to_owned(), "title: ' '".to_owned(), "1: `title` is empty".to_owned()),
        (
            "title: stir".into(),
            r#"title: "a\e[31m""#.into(),
            "1: `title` holds a control character or several lines".into(),
        ),
        ("A. Cook".into(), r#""A\nCook""#.into(), "2: `author.name` holds a control character or several lines".into()),
        ("\"1.0\"".into(), "newest".into(), format!("5: {}", version("newest"))),
        ("\"1.0\"".into(), "\"5\"".into(), format!("5: {}", version("5"))),
        (
            String::new(),
            "meaningful: { since: \"5.6\", until: \"5.4\" }".into(),
            "9: `meaningful` goes from 5.6 back to 5.4".into(),
        ),
        (String::new(), "meaningful: { until: \"5.x\" }".into(), format!("9: {}", version("5.x"))),
        (
            String::new(),
            figure("operations: 0, before: 1, after: 1"),
            "10: a figure of `stir` has no `operations`: write how many were timed together".into(),
        ),
        (
            String::new(),
            figure("operations: 1, before: -1, after: 1"),
            "10: a figure of `stir` cannot be -1 before".into(),
        ),
        (
            String::new(),
            figure("operations: 1, before: 1, after: .nan"),
            "10: a figure of `stir` cannot be NaN after".into(),
        ),
        (
            String::new(),
            figure("operations: 1, before: 1, after: .inf"),
            "10: a figure of `stir` cannot be inf after".into(),
        ),
        (
            "mail: made up".into(),
            "mail: x, posted: 1.5.2020".into(),
            "3: `1.5.2020` cannot be `origin.posted`: write a day as YYYY-MM-DD".into(),
        ),
        (
            "mail: made up".into(),
            "mail: x, message_id: \"<a@b>\"".into(),
            "3: `<a@b>` cannot be `origin.message_id`: write it without angle brackets".into(),
        ),
        (
            "mail: made up".into(),
            "mail: x, link: lore".into(),
            "3: `lore` cannot be `origin.link`: write an address that begins with https://".into(),
        ),
        (
            "  outcome: not-merged".into(),
            "  outcome: merged\n  commits: [{ commit: abc, title: t }]".into(),
            "8: `abc` is no commit: write at least 12 hexadecimal digits".into(),
        ),
        (
            "[stir]".into(),
            "[FILL-IN]\nmeaningful: { since: FILL-IN }".into(),
            "8: `benchmarks`, `meaningful.since` are still to be filled in".into(),
        ),
        ("not-merged".into(), "FILL-IN".into(), "7: `fate.outcome` is still to be filled in".into()),
    ];
    let paths = ["/etc/passwd", "../x", "fs/../x", "", "fs/", "./x", "fs//x"].map(path);
    let paths = paths.map(|(to, expected)| (String::new(), to, expected));
    for (from, to, expected) in cases.into_iter().chain(paths) {
        assert_eq!(said(&from, &to), expected, "{to}");
    }
}

#[test]
fn a_port_that_is_listed_but_not_there_is_named() {
    let ports = "ports:\n  - { file: 2.0.patch, direction: forward, since: \"2.0\", why: moved }\n";
    insta::assert_snapshot!(load_with(&format!("{YAML}{ports}")).unwrap_err(), @"
    error: ports/2.0.patch is listed but not there
      where: patches/stir-less/patch.yaml:10
      owner: the command
    ");
}

#[test]
fn a_folder_without_its_files_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let project = Utf8Path::from_path(folder.path()).unwrap();
    fs_err::create_dir_all(project.join("patches/empty")).unwrap();
    fs_err::write(project.join("patches/empty/notes.txt"), "").unwrap();
    let failure = find(&Catalogue::of_project(project), "empty").unwrap_err();
    assert_eq!(failure.what, "the patch `empty` has no patch.yaml");
}
