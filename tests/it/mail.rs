//! The mails of `tests/mail`: each is read as what it is, and as git reads it.

use std::process::{Command, Stdio};

use camino::Utf8PathBuf;
use nspatch::source::{Mail, from_path};

fn folder() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mail")
}

/// The only patch in a file of the folder.
fn patch(name: &str) -> Mail {
    let mut with_diff = from_path(&folder().join(name)).unwrap().mails;
    with_diff.retain(Mail::has_diff);
    assert_eq!(with_diff.len(), 1, "{name}");
    with_diff.remove(0)
}

#[test]
fn every_mail_is_one_patch_that_changes_one_line() {
    let mut seen = 0;
    for entry in folder().read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name();
        if name == "README.md" {
            continue;
        }
        seen += 1;
        let mail = patch(name);
        let diff = mail.diff().unwrap_or_else(|failure| panic!("{name}: {}", failure.render()));
        assert_eq!(diff.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["kitchen/soup.c"], "{name}");
        let lines: Vec<String> =
            diff.files[0].hunks[0].lines.iter().map(|(_, line)| String::from_utf8(line.clone()).unwrap()).collect();
        let less = if ["quoted-printable.eml", "latin1.eml"].contains(&name) { "läss" } else { "less" };
        assert_eq!(
            lines[1..3],
            ["int soup(int hours)".to_owned(), format!("int soup(int spoons) /* = {less} */")],
            "{name}"
        );
        if name != "plain.diff" {
            assert_eq!(mail.title(), format!("soup: stir {less}"), "{name}");
            let author = if name == "scissors.eml" { "B. Author" } else { "A. Author" };
            assert_eq!(mail.author.as_ref().unwrap().name, author, "{name}");
        }
    }
    assert_eq!(seen, 13);
}

/// What git's own reader of mails takes out of one.
fn as_git_reads(name: &str) -> Vec<u8> {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("patch");
    let mail = std::fs::File::open(folder().join(name)).unwrap();
    let ended = Command::new("git")
        .args(["mailinfo", "--scissors", "--quoted-cr=strip"])
        .arg(scratch.path().join("message"))
        .arg(&out)
        .stdin(mail)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(ended.success(), "{name}");
    std::fs::read(out).unwrap()
}

#[test]
fn a_diff_is_the_one_that_git_finds() {
    // What git cannot read so: it keeps the dashes of a signed text, the charset, and empty lines that flow
    let names =
        ["plain.eml", "crlf.eml", "footer.eml", "quoted-printable.eml", "base64.eml", "signed.eml", "scissors.eml"];
    for name in names {
        let found = nspatch::source::Diff::of(&as_git_reads(name)).unwrap();
        assert_eq!(patch(name).diff().unwrap().text, found.text, "{name}");
    }
}
