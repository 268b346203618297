use std::fmt::Write;
use std::sync::Mutex;

use camino::Utf8PathBuf;

use super::*;
use crate::blame::Class;
use crate::event::Event;
use crate::store::Cache;

/// A made-up mail; its diff changes a file named after the subject's last word.
struct Letter<'a> {
    subject: &'a str,
    id: &'a str,
    parent: &'a str,
    /// The day of May 2021.
    day: u32,
    diff: bool,
}

/// A patch sent on a day, hanging on nothing.
fn patch<'a>(subject: &'a str, id: &'a str, day: u32) -> Letter<'a> {
    Letter { subject, id, parent: "", day, diff: true }
}

impl<'a> Letter<'a> {
    fn answers(self, parent: &'a str) -> Self {
        Letter { parent, ..self }
    }

    fn without_diff(self) -> Self {
        Letter { diff: false, ..self }
    }

    fn text(&self) -> String {
        let Letter { subject, id, parent, day, .. } = self;
        let mut text = format!(
            "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: A. Author <author@example.org>\nDate: {day} May 2021 10:00:00 +0000\nSubject: {subject}\n"
        );
        for (name, value) in [("Message-ID", id), ("In-Reply-To", parent)].iter().filter(|(_, value)| !value.is_empty())
        {
            writeln!(text, "{name}: <{value}@example.org>").unwrap();
        }
        let file = subject.split(' ').next_back().unwrap();
        let diff = format!("---\n--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-old\n+{id}\n-- \n2.30\n\n");
        text + "\nWhat it is.\n" + if self.diff { &diff } else { "\n" }
    }
}

struct Place {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    told: Mutex<Vec<String>>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        Place { _folder: folder, root, told: Mutex::default() }
    }

    fn write(&self, name: &str, letters: &[Letter<'_>]) {
        let text: String = letters.iter().map(Letter::text).collect();
        let path = self.root.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn load(&self, name: &str) -> Result<Patch, Failure> {
        let cache = Cache::open(&self.root.join("cache")).unwrap();
        let emit = |event| {
            if let Event::Noticed { message, .. } = event {
                self.told.lock().unwrap().push(message.replace(&format!("{}/", self.root), ""));
            }
        };
        let job = Job { cache: &cache, logs: &self.root.join("logs"), emit: &emit };
        load(self.root.join(name).as_str(), "http://archive.invalid", job)
    }

    fn told(&self) -> String {
        self.told.lock().unwrap().join("\n")
    }
}

/// The last words of the titles of the parts of the series in a mailbox, in their order.
fn parts(letters: &[Letter<'_>]) -> Result<Vec<String>, Failure> {
    let place = Place::new();
    place.write("series.mbox", letters);
    place.load("series.mbox").map(|patch| ids(&patch))
}

/// What each part adds, which is the mail that it is of.
fn ids(patch: &Patch) -> Vec<String> {
    let added = |part: &Part| String::from_utf8(part.diff.files[0].hunks[0].lines[1].1.clone()).unwrap();
    patch.parts.iter().map(added).collect()
}

fn told(failure: &Failure) -> String {
    failure.render().lines().filter(|line| !line.contains("where:")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_series_has_its_order_by_number_however_its_mails_arrived() {
    let letters = [
        patch("[PATCH 2/3] mm: two", "2", 1).answers("0"),
        patch("Re: [PATCH 2/3] mm: two", "r", 2).answers("2").without_diff(),
        patch("[PATCH 3/3] mm: three", "3", 1).answers("0"),
        patch("[PATCH 0/3] mm: all", "0", 1).without_diff(),
        patch("[PATCH 1/3] mm: one", "1", 1).answers("0"),
    ];
    let place = Place::new();
    place.write("series.mbox", &letters);
    let patch = place.load("series.mbox").unwrap();
    assert_eq!(ids(&patch), ["1", "2", "3"]);
    assert_eq!((patch.name.as_str(), patch.title.as_str()), ("series", "mm: all"));
    assert_eq!(patch.parts.iter().map(|part| part.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(patch.diff, Diff::joined(patch.parts.iter().map(|part| &part.diff)));
    assert_eq!(place.told(), "");
}

#[test]
fn a_series_is_ordered_whether_its_mails_answer_the_cover_the_first_or_nothing() {
    let shapes: [[&str; 3]; 5] =
        [["0", "0", "0"], ["", "1", "1"], ["", "1", "2"], ["", "", ""], ["gone", "gone", "gone"]];
    for parents in shapes {
        let one = |at: usize, subject, id| patch(subject, id, 1).answers(parents[at]);
        let letters =
            [one(2, "[PATCH v2 3/3] three", "3"), one(1, "[PATCH v2 2/3] two", "2"), one(0, "[PATCH v2 1/3] one", "1")];
        assert_eq!(parts(&letters).unwrap(), ["1", "2", "3"], "{parents:?}");
    }
}

#[test]
fn missing_patches_are_named() {
    let letters = [patch("[PATCH v2 3/3] three", "3", 1).answers("1"), patch("[PATCH v2 1/3] one", "1", 1)];
    insta::assert_snapshot!(told(&parts(&letters).unwrap_err()), @"
    error: the series is not whole: 2/3 is missing
      owner: the command
      | one: 1/3, 3/3
    hint: give all its mails in one file or folder, or the MESSAGE-ID of one of them
    ");
    let failure = parts(&[patch("[PATCH 5/9000] five", "5", 1)]).unwrap_err();
    assert!(failure.what.ends_with("and 8991 more are missing"), "{}", failure.what);
}

#[test]
fn the_newest_version_is_taken_and_told() {
    let letters = [
        patch("[PATCH v10] mm: less", "10", 9),
        patch("[PATCH] mm: less", "1", 1),
        patch("[PATCH v2] mm: less", "2", 2).answers("1"),
    ];
    let place = Place::new();
    place.write("thread.mbox", &letters);
    assert_eq!(ids(&place.load("thread.mbox").unwrap()), ["10"]);
    assert_eq!(place.told(), "thread.mbox: v10 is taken, the newest of `mm: less`; v1, v2 are older");
    assert_eq!(ids(&place.load("thread.mbox@v2").unwrap()), ["2"]);
    assert!(place.told().ends_with("v2 is taken, as asked for"));
    let failure = place.load("thread.mbox@v3").unwrap_err();
    assert_eq!((failure.class, failure.what.as_str()), (Class::Usage, "there is no v3 of `mm: less` in it"));
}

#[test]
fn an_unversioned_mail_after_a_versioned_one_is_ambiguous() {
    let letters = [patch("[PATCH v2] mm: less", "2", 1), patch("[PATCH] mm: less", "1", 5)];
    insta::assert_snapshot!(told(&parts(&letters).unwrap_err()), @"
    error: v1 was sent after v2: it is not clear which is meant
      owner: the command
      | v1 2021-05-05: mm: less, 1/1
      | v2 2021-05-01: mm: less, 1/1
    hint: put @ and the version behind the name, such as `--patch FILE@v2`
    ");
}

#[test]
fn a_partial_reroll_is_ambiguous_and_either_choice_can_be_had() {
    let letters = [
        patch("[PATCH v2 1/2] one", "1", 1),
        patch("[PATCH v2 2/2] two", "2", 1).answers("1"),
        patch("[PATCH v3 2/2] two", "2again", 3).answers("2"),
    ];
    let place = Place::new();
    place.write("thread.mbox", &letters);
    insta::assert_snapshot!(told(&place.load("thread.mbox").unwrap_err()), @"
    error: of v3 there is only 2/2, and an older version is whole
      owner: the command
      | v2 2021-05-01: one, 1/2, 2/2
      | v3 2021-05-03: two, 2/2
    hint: put @ and the version behind the name, such as `--patch FILE@v2`
    ");
    assert_eq!(ids(&place.load("thread.mbox@v2").unwrap()), ["1", "2"]);
    assert_eq!(ids(&place.load("thread.mbox@v3").unwrap()), ["1", "2again"]);
    assert!(place.told().ends_with("2/2 of v3 is taken, and the rest of v2"), "{}", place.told());
}

#[test]
fn different_patches_are_listed() {
    let letters = [patch("[PATCH] one", "1", 1), patch("[PATCH v2] two", "2", 2)];
    insta::assert_snapshot!(told(&parts(&letters).unwrap_err()), @"
    error: there are 2 different patches in it: it is not clear which is meant
      owner: the command
      | v1 2021-05-01: one, 1/1
      | v2 2021-05-02: two, 1/1
    hint: give a file with the mails of one of them, or its MESSAGE-ID
    ");
}

#[test]
fn a_title_that_changes_between_versions_is_followed_by_the_thread() {
    let letters = [patch("[PATCH] mm: less", "1", 1), patch("[PATCH v2] mm: much less", "2", 2).answers("1")];
    assert_eq!(parts(&letters).unwrap(), ["2"]);
}

#[test]
fn a_series_sent_again_is_newer_and_a_mail_that_came_twice_counts_once() {
    let letters = [patch("[PATCH v2] x", "1", 1), patch("[PATCH v2] x", "1", 1), patch("[PATCH RESEND v2] x", "2", 9)];
    assert_eq!(parts(&letters).unwrap(), ["2"]);
    assert_eq!(parts(&letters[..2]).unwrap(), ["1"]);
}

#[test]
fn two_mails_of_one_number_are_told() {
    let letters = [patch("[PATCH 1/1] x", "1", 1).answers("0"), patch("[PATCH 1/1] x", "2", 1).answers("0")];
    assert!(parts(&letters).unwrap_err().what.starts_with("more than one mail is 1/1"));
}

#[test]
fn mails_that_git_wrote_without_numbers_are_in_their_order() {
    let place = Place::new();
    let text = |subject: &str, id: &str| {
        patch(subject, id, 1).text().replace(
            "From mboxrd@z Thu Jan  1 00:00:00 1970",
            &format!("From {} Mon Sep 17 00:00:00 2001", "a".repeat(40)),
        )
    };
    fs_err::write(place.root.join("some.mbox"), text("[PATCH] z", "1") + &text("[PATCH] a", "2")).unwrap();
    let patch = place.load("some.mbox").unwrap();
    assert_eq!((ids(&patch), patch.title.as_str()), (vec!["1".to_owned(), "2".to_owned()], "z and 1 more"));
}

#[test]
fn folders_are_read_as_what_they_are() {
    let place = Place::new();
    place.write("git/0002-b.patch", &[patch("[PATCH 2/2] b", "2", 1)]);
    place.write("git/0001-a.patch", &[patch("[PATCH 1/2] a", "1", 1)]);
    place.write("git/0000-cover-letter.patch", &[patch("[PATCH 0/2] both", "0", 1).without_diff()]);
    place.write("git/0001-a.patch~", &[patch("[PATCH 1/2] a", "old", 1)]);
    place.write("plain/0002-b.patch", &[patch("b", "2", 1)]);
    place.write("plain/0001-a.patch", &[patch("a", "1", 1)]);
    place.write("mail/cur/1.host:2,S", &[patch("[PATCH 2/2] b", "2", 1)]);
    place.write("mail/new/2.host", &[patch("[PATCH 1/2] a", "1", 1)]);
    place.write("quilt/z.patch", &[patch("[PATCH 2/2] z", "1", 1)]);
    place.write("quilt/a.diff", &[patch("[PATCH 1/2] a", "2", 1)]);
    place.write("quilt/unused.patch", &[patch("u", "3", 1)]);
    fs_err::write(place.root.join("quilt/series"), "# first\nz.patch -p1\n\na.diff # then\n").unwrap();
    for folder in ["git", "plain", "mail", "quilt"] {
        let patch = place.load(folder).unwrap_or_else(|failure| panic!("{folder}: {}", failure.render()));
        assert_eq!((patch.name.as_str(), ids(&patch)), (folder, vec!["1".to_owned(), "2".to_owned()]));
    }
}

#[test]
fn the_mails_of_a_series_can_be_had_again_from_what_is_kept() {
    let place = Place::new();
    let diff = "\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b";
    let mail =
        "From: A <a@example.org>\nSubject: [PATCH] m\n\nwhy\n---\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n-- \n2\n";
    fs_err::create_dir(place.root.join("some")).unwrap();
    for (name, text) in
        [("1.patch", diff), ("2.patch", mail), ("3.patch", &mail.replace('\n', "\r\n")), ("4.patch", diff)]
    {
        fs_err::write(place.root.join("some").join(name), text).unwrap();
    }
    let patch = place.load("some").unwrap();
    let again = Mail::all(&patch.original, "").unwrap();
    let parts: Vec<Part> = again.iter().enumerate().map(|(at, mail)| Part::of(at + 1, mail).unwrap()).collect();
    assert_eq!(parts, patch.parts);
    assert_eq!(patch.parts.iter().map(|part| part.title.as_str()).collect::<Vec<_>>(), ["1", "m", "m", "4"]);
}

#[test]
fn a_folder_s_faults_are_told_with_their_place() {
    let place = Place::new();
    place.write("quilt/a.patch", &[patch("a", "1", 1)]);
    place.write("quilt/empty.patch", &[patch("e", "1", 1).without_diff()]);
    fs_err::create_dir(place.root.join("bare")).unwrap();
    let cases = [
        ("a.patch -p0\n", "`-p0` is not understood", "series:1"),
        ("a.patch -R\n", "`-R` is not understood", "series:1"),
        ("a.patch\nb.patch\n", "there is no file `b.patch`", "series:2"),
        ("../a.patch\n", "is not in the folder of the series", "series:1"),
        ("empty.patch\n", "empty.patch holds no diff", "series"),
        ("# nothing\n", "it lists no patch", "series"),
    ];
    for (series, said, at) in cases {
        fs_err::write(place.root.join("quilt/series"), series).unwrap();
        let failure = place.load("quilt").unwrap_err();
        assert!(failure.what.contains(said) && failure.place.as_ref().unwrap().ends_with(at), "{failure:?}");
    }
    assert!(place.load("bare").unwrap_err().what.contains("there is no patch in the folder"));
    let nowhere = load_nowhere("no-such-file.patch");
    assert!(nowhere.what.contains("there is no file or folder no-such-file.patch") && !nowhere.hints.is_empty());
}

fn load_nowhere(name: &str) -> Failure {
    let place = Place::new();
    let cache = Cache::open(&place.root).unwrap();
    let emit = |_| {};
    load(name, "", Job { cache: &cache, logs: &place.root, emit: &emit }).unwrap_err()
}

#[test]
fn a_patch_alone_is_taken_whatever_it_is_called_and_of_it_only_its_own_words_are_known() {
    let place = Place::new();
    for (name, subject) in [("a.patch", "[PATCH v7] mm: less"), ("b.patch", "Re: mm: less"), ("c.patch", "mm: less")] {
        place.write(name, &[patch(subject, "1", 1)]);
        let patch = place.load(name).unwrap();
        let title = if name == "b.patch" { subject } else { "mm: less" };
        assert_eq!((patch.title.as_str(), patch.parts.len(), patch.benchmarks()), (title, 1, None), "{name}");
        assert_eq!(patch.author.unwrap().name, "A. Author");
    }
    place.write("talk.mbox", &[patch("hello", "1", 1).without_diff()]);
    assert_eq!(place.load("talk.mbox").unwrap_err().what, "there is no diff in it");
}

#[test]
fn thousands_of_mails_take_no_time_and_list_some_choices() {
    let subjects: Vec<String> =
        (0..2500).flat_map(|n| [format!("[PATCH] t{n}"), format!("[PATCH 1/2] s{n}")]).collect();
    let letters: Vec<Letter<'_>> = subjects.iter().map(|subject| patch(subject, "", 1)).collect();
    let begun = std::time::Instant::now();
    let failure = parts(&letters).unwrap_err();
    assert!(failure.excerpt.len() < 10 && failure.excerpt.last().unwrap().ends_with("more"), "{failure:?}");
    assert!(begun.elapsed().as_secs() < 60);
}

#[test]
fn a_patch_is_named_after_its_file_if_that_can_name_a_folder() {
    let bundle = |name: Option<&str>| Bundle {
        name: name.map(str::to_owned),
        place: String::new(),
        found: crate::catalogue::Origin::Shipped,
        mails: Vec::new(),
        order: Order::Arrival,
        asked: None,
    };
    assert_eq!(name_of(&bundle(Some("0001-fix")), "x").unwrap(), "0001-fix");
    assert_eq!(name_of(&bundle(None), "mm: do less").unwrap(), "mm-do-less");
    assert_eq!(name_of(&bundle(None), "\u{1f600}").unwrap(), "patch");
    for wrong in ["..", "a\nb", "a/b"] {
        assert!(name_of(&bundle(Some(wrong)), "x").is_err(), "{wrong:?}");
    }
}
