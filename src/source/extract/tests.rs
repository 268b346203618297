use proptest::prelude::*;

use super::*;
use crate::blame::Class;
use crate::source::Direction;

const MAIL: &str = "\
[PATCH] soup: stir less

--- is how a mail parts things, and so is
+++ this
---
 soup.c | 2 +-

--- a/kitchen/soup.c~stir-less
+++ a/kitchen/soup.c
@@ -3,3 +3,3 @@ void cook(void)
 wait

-stir for an hour
+stir in passing
--- a/kitchen/pot.c\t2020-02-02 10:00:00
+++ a/kitchen/pot.c\t2020-02-02 10:00:01
@@ -1 +1,2 @@
 pot
+--- lid
_

Patches currently in the queue are
--
2.20.1";

fn of(text: &str) -> Result<Diff, Failure> {
    Diff::of(text.as_bytes())
}

fn what(text: &str) -> String {
    let failure = of(text).unwrap_err();
    assert_eq!((failure.class, failure.blame), (Class::Apply, Blame::Patch));
    failure.what
}

#[test]
fn a_diff_is_cut_out_of_its_mail_by_the_counts_of_its_hunks() {
    let diff = of(MAIL).unwrap();
    assert_eq!(
        diff.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
        ["kitchen/soup.c", "kitchen/pot.c"]
    );
    insta::assert_snapshot!(String::from_utf8(diff.text).unwrap(), @"
    --- a/kitchen/soup.c
    +++ a/kitchen/soup.c
    @@ -3,3 +3,3 @@ void cook(void)
     wait

    -stir for an hour
    +stir in passing
    --- a/kitchen/pot.c	2020-02-02 10:00:00
    +++ a/kitchen/pot.c	2020-02-02 10:00:01
    @@ -1 +1,2 @@
     pot
    +--- lid
    ");
}

#[test]
fn a_hunk_tells_what_has_to_be_there_in_either_direction() {
    let hunk = of(MAIL).unwrap().files[0].hunks[0].clone();
    let text = |direction| {
        hunk.before(direction).1.iter().map(|line| String::from_utf8_lossy(line).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(text(Direction::Forward), ["wait", "", "stir for an hour"]);
    assert_eq!(text(Direction::Reverse), ["wait", "", "stir in passing"]);
}

#[test]
fn a_mail_saved_with_crlf_is_the_same_diff() {
    assert_eq!(of(&MAIL.replace('\n', "\r\n")).unwrap(), of(MAIL).unwrap());
}

#[test]
fn files_that_come_and_go_are_known_by_either_format() {
    let kinds = |text: &str| of(text).unwrap().files.iter().map(|f| (f.path.to_string(), f.kind)).collect::<Vec<_>>();
    let made = ("new.c".to_owned(), ChangeKind::Created);
    let gone = ("old.c".to_owned(), ChangeKind::Deleted);
    let quilt = "--- /dev/null\n+++ a/new.c\n@@ -0,0 +1 @@\n+x\n--- a/old.c~tidy\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    assert_eq!(kinds(quilt), [made.clone(), gone.clone()]);
    assert!(String::from_utf8(of(quilt).unwrap().text).unwrap().contains("--- a/old.c\n"));
    let git = "diff --git a/new.c b/new.c\nnew file mode 100644\nindex 0000000..e69de29\ndiff --git a/old.c b/old.c\ndeleted file mode 100644\n--- a/old.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
    assert_eq!(kinds(git), [made, gone]);
}

#[test]
fn a_renamed_file_is_known_by_both_names() {
    let diff = of("diff --git a/old.c b/new.c\nsimilarity index 90%\nrename from old.c\nrename to new.c\n").unwrap();
    assert_eq!(diff.files[0].paths().collect::<Vec<_>>(), ["old.c", "new.c"]);
}

#[test]
fn a_text_that_is_no_whole_diff_is_refused_with_the_place() {
    let head = "--- a/x.c\n+++ b/x.c\n";
    assert_eq!(what(""), "there is no diff in it");
    assert_eq!(what("--- a/x.c\n+++ b/x.c\nprose\n"), "there is no diff in it");
    assert_eq!(
        what(&format!("{head}@@ -1,2 +1,3 @@\n a\n+b\n")),
        "hunk 1 of x.c is cut short: the text ends before it does"
    );
    assert_eq!(what(&format!("{head}@@ -1,2 +1,2 @@\n a very\nlong line\n")), "line 5 does not fit into hunk 1 of x.c");
    assert_eq!(what(&format!("{head}@@ -1 +1 @@\n-a\n-b\n+c\n")), "line 5 does not fit into hunk 1 of x.c");
    assert_eq!(what(&format!("{head}@@ -a +b @@\n")), "line 3: the head of hunk 1 of x.c cannot be read");
    assert_eq!(
        what("diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\n"),
        "line 3 changes a binary file"
    );
}

#[test]
fn a_path_out_of_the_tree_is_refused() {
    for path in ["a/../x.c", "a//etc/x", "/etc/x", "a/.git/config", "\"a/x\\ty\"", "a/x/../../y"] {
        let text = format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(what(&text), format!("it touches `{path}`, which is not a file of a kernel tree"));
    }
}

#[test]
fn the_end_of_a_file_without_a_newline_is_kept() {
    let text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
    assert_eq!(of(text).unwrap().text, text.as_bytes());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Diff::of(&text);
    }

    #[test]
    fn no_cut_mail_makes_a_hunk_of_fewer_lines(at in 0..MAIL.len()) {
        let whole = of(MAIL).unwrap();
        if let Ok(diff) = of(&MAIL[..at]) {
            for (cut, file) in diff.files.iter().zip(&whole.files) {
                let counts = |file: &FileChange| file.hunks.iter().map(|hunk| hunk.lines.len()).collect::<Vec<_>>();
                prop_assert_eq!(counts(cut), counts(file));
            }
        }
    }

    #[test]
    fn text_around_a_diff_does_not_change_it(before in "([ a-z+@-]{0,20}\n){0,5}", after in "(\n[ a-z@-]{0,20}){0,5}") {
        let plain = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
        prop_assert_eq!(of(&format!("{before}{plain}{after}")).unwrap(), of(plain).unwrap());
    }
}
