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
    assert_eq!(of(&format!("a\n{}\n", MAIL.replace('\n', "\r\n"))).unwrap(), of(MAIL).unwrap());
    let of_crlf_file = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+b\r\n";
    assert_eq!(of(of_crlf_file).unwrap().text, of_crlf_file.as_bytes());
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
    assert_eq!(what("--- some prose\n+++ and more\nof it\n"), "there is no diff in it");
    assert_eq!(what("--- a/x.c\n+++ b/x.c\nprose\n"), "line 3: no hunk follows the names of a file");
    assert_eq!(
        what(&format!("{head}@@ -1,2 +1,3 @@\n a\n+b\n")),
        "hunk 1 of x.c is cut short: the text ends before the lines that line 3 counts"
    );
    let misfit = "line 5 does not fit into hunk 1 of x.c, whose lines line 3 counts";
    assert_eq!(what(&format!("{head}@@ -1,2 +1,2 @@\n a very\nlong line\n")), misfit);
    assert_eq!(what(&format!("{head}@@ -1 +1 @@\n-a\n-b\n+c\n")), misfit);
    assert_eq!(what(&format!("{head}@@ -a +b @@\n")), "line 3: the head of hunk 1 of x.c cannot be read");
    assert_eq!(
        what("diff --git a/x b/x\nindex 1..2 100644\nGIT binary patch\nliteral 1\n"),
        "line 3 changes a binary file"
    );
}

#[test]
fn lines_that_a_hunk_s_head_does_not_count_are_told_and_not_lost() {
    let hunk = "--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n";
    for more in ["+c\n", "-c\n", " c\n"] {
        let said = what(&format!("{hunk}{more}"));
        assert_eq!(said, "line 3 counts the lines of hunk 1 of x.c wrongly: line 6 goes on with it");
    }
    for end in
        ["", "\n", " \n", "-- \n2.20.1\n", "--\n", "-\nTo unsubscribe from this list\n", "_\n", "-----BEGIN PGP\n"]
    {
        assert!(of(&format!("{hunk}{end}")).is_ok(), "{end:?}");
    }
}

#[test]
fn names_that_differ_are_refused_unless_they_are_known_to_mean_one_file() {
    let of_names = |old: &str, new: &str| of(&format!("{old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n"));
    let good = [
        ("--- a/fs/x.c", "b/fs/x.c"),
        ("--- a/fs/x.c~tidy", "a/fs/x.c"),
        ("--- linux.orig/fs/x.c", "linux/fs/x.c"),
        ("--- linux/fs/x.c.orig\t2020-02-02", "linux/fs/x.c\t2020-02-02"),
        ("diff --git a/fs/y.c b/fs/x.c\nrename from fs/y.c\nrename to fs/x.c\n--- a/fs/y.c", "b/fs/x.c"),
    ];
    for (old, new) in good {
        assert_eq!(of_names(old, new).unwrap().files[0].path, "fs/x.c", "{old} {new}");
    }
    let bad = [
        ("--- a/fs/x.c", "b/fs/y.c", "line 1: the two names of one file differ: fs/x.c fs/y.c"),
        ("diff --git a/x b/x\n--- a/y", "b/y", "line 1: the two names of one file differ: x y"),
        ("diff --git a/x b/y\n--- a/x", "b/y", "line 1: the two names of one file differ: a/x b/y"),
        (
            "diff --git a/x b/y\nrename from x\nrename to y\n--- a/z",
            "b/y",
            "line 4: the two names of one file differ: z y",
        ),
        ("--- /dev/null", "/dev/null", "line 1: the two names of one file differ: /dev/null"),
    ];
    for (old, new, said) in bad {
        assert_eq!(of_names(old, new).unwrap_err().what, said, "{old} {new}");
    }
}

#[test]
fn names_without_a_prefix_are_told_and_not_cut() {
    let said = what("diff --git fs/x.c fs/x.c\n--- fs/x.c\n+++ fs/x.c\n@@ -1 +1 @@\n-a\n+b\n");
    assert_eq!(said, "line 1: the names of the files have no `a/` and `b/` before them");
    assert_eq!(what("--- fs/x.c\n+++ fs/x.c\n@@ -1 +1 @@\n-a\n+b\n"), said);
    assert_eq!(of("--- linux/fs/x.c\n+++ linux/fs/x.c\n@@ -1 +1 @@\n-a\n+b\n").unwrap().files[0].path, "fs/x.c");
}

#[test]
fn what_is_no_text_file_is_refused_by_name() {
    let git = |lines: &str| {
        what(&format!("diff --git a/lib/x b/lib/x\n{lines}\n--- a/lib/x\n+++ b/lib/x\n@@ -1 +1 @@\n-a\n+b\n"))
    };
    assert_eq!(git("new file mode 120000"), "line 2: `lib/x` is a symbolic link");
    assert_eq!(git("old mode 100644\nnew mode 120000"), "line 3: `lib/x` is a symbolic link");
    assert_eq!(git("index 0123456..1234567 120000"), "line 2: `lib/x` is a symbolic link");
    assert_eq!(git("deleted file mode 160000"), "line 2: `lib/x` is a submodule");
    assert_eq!(git("index 0123456..1234567 160000"), "line 2: `lib/x` is a submodule");
    let plain = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";
    let binary = format!("{plain}Binary files a/logo.png and b/logo.png differ\n");
    assert_eq!(what(&binary), "line 6 changes a binary file: a/logo.png, b/logo.png");
    assert_eq!(what("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\0\n+b\n"), "line 4 of x holds a NUL byte");
}

#[test]
fn a_path_out_of_the_tree_is_refused() {
    for path in [
        "a/../x.c",
        "a//etc/x",
        "/etc/x",
        "a/.git/config",
        "a/.GIT/config",
        "a/x\x1b[31m.c",
        "\"a/x\\ty\"",
        "a/x/../../y",
    ] {
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
    fn text_around_a_diff_does_not_change_it(before in "([ a-z+@-]{0,20}\n){0,5}", after in "(\n\n[ a-z@-]{0,20}){0,5}") {
        let plain = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
        prop_assert_eq!(of(&format!("{before}{plain}{after}")).unwrap(), of(plain).unwrap());
    }
}
