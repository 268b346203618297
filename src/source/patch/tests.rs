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
    let mail = Mail::of(&patch.original).unwrap();
    assert_eq!((&mail.title, mail.author), (&patch.title, patch.author.clone()));
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

#[test]
fn a_file_is_a_patch_of_which_only_its_own_words_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let file = Utf8Path::from_path(folder.path()).unwrap().join("fix.patch");
    fs_err::write(
        &file,
        format!("From: A. Cook <cook@example.org>\nSubject: [PATCH 1/1] stir less\n\nwhy\n---\n{DIFF}"),
    )
    .unwrap();
    let patch = from_file(&file).unwrap();
    assert_eq!((patch.name.as_str(), patch.title.as_str(), patch.benchmarks()), ("fix", "stir less", None));
    assert_eq!(patch.author.unwrap().name, "A. Cook");
    fs_err::write(&file, "no diff\n").unwrap();
    assert_eq!(from_file(&file).unwrap_err().place, Some(file.to_string()));
    assert_eq!(from_file(&file.with_extension("gone")).unwrap_err().class, Class::Usage);
}

#[test]
fn a_patch_is_named_after_its_file_if_that_can_name_a_folder() {
    assert_eq!(name_of(Utf8Path::new("mails/0001-fix.patch")).unwrap(), "0001-fix");
    for wrong in ["./...patch", "..", "a\nb.patch", "/"] {
        assert!(name_of(Utf8Path::new(wrong)).is_err(), "{wrong:?}");
    }
}
