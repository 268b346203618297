use super::*;

const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

/// The only mail in a text.
fn mail(text: &str) -> Mail {
    let mails = Mail::all(text.as_bytes(), "").unwrap();
    assert_eq!(mails.len(), 1, "{mails:?}");
    mails.into_iter().next().unwrap()
}

fn diff(text: &str) -> String {
    String::from_utf8(mail(text).diff().unwrap().text).unwrap()
}

#[test]
fn the_author_and_title_nearest_to_the_diff_count() {
    let text = format!(
        "From: Relay <relay@example.org>\nSubject: + a.patch added\n\ntext\n\n------\nFrom: \"A. Author\" <a@example.org>\nSubject: [PATCH v2 RFC] mm: do less\n\ntext\n{DIFF}"
    );
    let mail = mail(&text);
    assert_eq!(mail.title(), "mm: do less");
    assert_eq!(mail.author.unwrap().name, "A. Author");
}

#[test]
fn the_author_named_above_the_text_leaves_the_mail_its_own_headers() {
    let sent = "From: B. Sender <b@example.org>\nSubject: [PATCH 2/3] mm: do less\nMessage-ID: <2@example.org>\n\n";
    let mail = mail(&format!("{sent}From: A. Author <a@example.org>\n\nIt is slow.\n---\n{DIFF}"));
    assert_eq!((mail.subject.as_str(), mail.message_id.as_deref()), ("[PATCH 2/3] mm: do less", Some("2@example.org")));
    assert_eq!(mail.author.as_ref().unwrap().name, "A. Author");
    assert_eq!(mail.diff().unwrap().text, DIFF.as_bytes());
}

#[test]
fn a_text_without_headers_is_called_by_its_first_line() {
    let mail = mail("\n[PATCH] mm: do less\n\nbody\nFrom here on: it is quick\n--- a/x\n");
    assert_eq!((mail.title(), &mail.author), ("mm: do less", &None));
    let named =
        |line: &str| self::mail(&format!("[PATCH] x\n\n{line}\n\ntext\n{DIFF}")).author.map(|author| author.name);
    assert_eq!(named("[A. Author <a@example.org>]").as_deref(), Some("A. Author"));
    assert_eq!((named("[a@example.org: fix it]"), named("[A. Author]")), (None, None));
}

#[test]
fn where_no_author_is_named_the_first_who_signed_it_off_is_taken() {
    let text = format!(
        "[PATCH] x\n\ntext\n\nSigned-off-by: B. First <b@example.org>\nSigned-off-by: C <c@example.org>\n---\n{DIFF}"
    );
    assert_eq!(mail(&text).author.unwrap().name, "B. First");
    let named = mail(&format!("From: A. Author <a@example.org>\nSubject: x\n\n{text}"));
    assert_eq!(named.author.unwrap().name, "A. Author");
}

#[test]
fn a_commit_as_git_shows_it_has_title_and_author() {
    let mail = mail(&format!(
        "commit 0123456789\nAuthor: A. Author <a@example.org>\nDate:   Thu Feb 6\n\n    mm: do less\n\n    why\n\n{DIFF}"
    ));
    assert_eq!((mail.title(), self::mail(DIFF).title()), ("mm: do less", ""));
    assert_eq!(mail.author.unwrap().name, "A. Author");
}

#[test]
fn headers_are_read_as_mail_has_them() {
    let text = format!(
        "From: =?utf-8?q?A=2E_=C3=84uthor?= <a@example.org>\nSubject: =?utf-8?q?=5BPATCH_v2_1/2=5D?=\n do\tless\x1b[31m\nMessage-ID: <one@example.org>\nIn-Reply-To: <zero@example.org>\nReferences: <old@example.org> <zero@example.org>\nDate: Thu, 6 Feb 2020 10:00:00 +0100\nList-Id: <list.example.org>\n\nbody\n\n{DIFF}"
    );
    let mail = mail(&text);
    assert_eq!(mail.subject, "[PATCH v2 1/2] do less [31m");
    assert_eq!(mail.author, Some(Author { name: "A. Äuthor".into(), email: Some("a@example.org".into()) }));
    assert_eq!(mail.message_id.as_deref(), Some("one@example.org"));
    assert_eq!(mail.parents, ["zero@example.org", "zero@example.org", "old@example.org"]);
    assert_eq!(mail.date, Some(1_580_979_600));
    assert_eq!(mail.list.as_deref(), Some("list.example.org"));
}

/// A mail with these headers and this body.
fn encoded(headers: &str, body: &str) -> String {
    format!("From: A. Author <a@example.org>\nSubject: [PATCH] x\nMIME-Version: 1.0\n{headers}\n\n{body}")
}

#[test]
fn the_transport_s_encodings_are_undone() {
    let quoted = encoded(
        "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable",
        "b=C3=B6dy\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b=\n\n",
    );
    let base64 = encoded(
        "Content-Type: text/plain\nContent-Transfer-Encoding: base64",
        "LS0tIGEveAorKysgYi94CkBAIC0xICsxIEBACi1hCiti\nCg==\n\n_____\nfooter of a list\n",
    );
    for text in [quoted, base64] {
        assert_eq!(diff(&text), DIFF, "{text}");
        assert_eq!(diff(&text.replace('\n', "\r\n")), DIFF, "{text}");
    }
}

#[test]
fn other_charsets_become_utf_8_and_unnamed_ones_stay_as_they_are() {
    let named = |charset: &str, byte: &[u8]| {
        let head =
            encoded(&format!("Content-Type: text/plain; charset={charset}"), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+");
        let text = [head.as_bytes(), byte, b"\n"].concat();
        let mail = Mail::all(&text, "").unwrap().remove(0);
        mail.diff().unwrap().files[0].hunks[0].lines[1].1.clone()
    };
    assert_eq!(named("iso-8859-1", b"\xe4"), "ä".as_bytes());
    assert_eq!(named("koi8-r", b"\xc1"), "а".as_bytes());
    assert_eq!(named("us-ascii", "ä".as_bytes()), "ä".as_bytes());
    assert_eq!(named("utf-8", b"\xe4"), b"\xe4");
    assert_eq!(named("unknown-8bit", b"\xe4"), b"\xe4");
}

#[test]
fn flowed_text_is_put_together_unless_it_only_says_that_it_is_flowed() {
    let flowed = encoded(
        "Content-Type: text/plain; format=flowed",
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n  same\n-a\n+b and \nmore\n",
    );
    assert_eq!(diff(&flowed), "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-a\n+b and more\n");
    let not = encoded("Content-Type: text/plain; format=flowed", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \n-a \n+b\n");
    assert_eq!(diff(&not), "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \n-a \n+b\n");
}

#[test]
fn of_several_parts_those_with_the_diff_count() {
    let parts = |first: &str, second: &str| {
        encoded(
            "Content-Type: multipart/signed; boundary=\"=-b\"",
            &format!("--=-b\nContent-Type: text/plain\n\n{first}\n--=-b\n{second}\n--=-b--\n"),
        )
    };
    let signature = "Content-Type: application/pgp-signature; name=signature.asc\n\n-----BEGIN PGP SIGNATURE-----\n";
    let attached = format!("Content-Type: text/x-patch; name=x.patch\nContent-Disposition: attachment\n\n{DIFF}");
    let footer = "Content-Type: text/plain\nContent-Disposition: inline\n\n_____\nfooter";
    assert_eq!(diff(&parts(DIFF, signature)), DIFF);
    assert_eq!(diff(&parts(DIFF, footer)), DIFF);
    assert_eq!(diff(&parts("see below", &attached)), DIFF);
    assert_eq!(diff(&parts(DIFF, &attached)), DIFF, "once, not twice");
    let html = encoded("Content-Type: text/html", &format!("<pre>{DIFF}</pre>"));
    assert_eq!(Mail::all(html.as_bytes(), "").unwrap_err().what, "the mail holds its text as HTML only");
}

#[test]
fn mails_that_are_attached_are_mails() {
    let inner = |n: u32| format!("From: A <a@example.org>\nSubject: [PATCH {n}/2] part {n}\n\n{DIFF}");
    let text = encoded(
        "Content-Type: multipart/mixed; boundary=b",
        &format!(
            "--b\n\nhello\n--b\nContent-Type: message/rfc822\n\n{}\n--b\nContent-Type: text/x-patch; name=2.patch\n\n{}\n--b--\n",
            inner(1),
            inner(2)
        ),
    );
    let mails = Mail::all(text.as_bytes(), "").unwrap();
    assert_eq!(
        mails.iter().map(|mail| (mail.title(), mail.has_diff())).collect::<Vec<_>>(),
        [("x", false), ("part 1", true), ("part 2", true)]
    );
}

#[test]
fn a_text_that_is_signed_within_loses_what_the_signing_added() {
    let signed = format!(
        "Subject: x\n\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nwhy\n{}-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n",
        DIFF.replace("\n-", "\n- -").replace("--- a", "- --- a")
    );
    assert_eq!(diff(&signed), DIFF);
}

#[test]
fn scissors_and_separators_do_not_hide_a_patch() {
    let body = format!(
        "Hello,\nFrom the start it is slow.\n\nFrom now on it is not.\n\n--- 8< ---\nFrom: A. Author <a@example.org>\nSubject: [PATCH] do less\n\nFrom then on\n---\n{DIFF}-- \n2.20.1\n"
    );
    let saved = format!("From: B <b@example.org>\nSubject: Re: slow\nDate: Thu, 6 Feb 2020 10:00:00 +0100\n\n{body}");
    for separator in ["", "From patchwork Thu Feb  6 10:00:00 2020\n"] {
        let mail = mail(&format!("{separator}{saved}"));
        assert_eq!((mail.title(), mail.author.clone().unwrap().name.as_str()), ("do less", "A. Author"));
        assert_eq!(mail.diff().unwrap().text, DIFF.as_bytes());
    }
}

#[test]
fn a_fault_is_told_with_its_line_in_the_file() {
    let fault = "Subject: x\n\nbody\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\nwrapped\n";
    let what = |text: &str| {
        let mails = Mail::all(text.as_bytes(), "file").unwrap();
        mails.last().unwrap().diff().unwrap_err().what
    };
    assert!(what(fault).starts_with("line 9 does not fit into hunk 1 of x"), "{}", what(fault));
    let second =
        format!("From a Thu Feb  6 10:00:00 2020\nSubject: y\n\n{DIFF}\nFrom a Thu Feb  6 10:00:00 2020\n{fault}");
    assert!(what(&second).starts_with("line 19 does not fit"), "{}", what(&second));
}

#[test]
fn a_deep_or_wide_mail_is_refused_in_no_time() {
    let nested: String =
        (0..1000).map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n")).collect();
    let failure = Mail::all(format!("Subject: x\n{nested}").as_bytes(), "deep.eml").unwrap_err();
    assert_eq!(
        (failure.what.as_str(), failure.place.as_deref()),
        ("the mail has 1000 parts; a patch has at most 100", Some("deep.eml"))
    );
    let mails = "Content-Type: message/rfc822\n\n".repeat(90);
    assert!(Mail::all(format!("Subject: x\n{mails}").as_bytes(), "").unwrap().len() <= DEPTH + 1);
}

#[test]
fn a_huge_mail_or_mailbox_is_refused_in_no_time() {
    let huge = format!("From: A <a@example.org>\nSubject: x\n\n{}{DIFF}", "prose\n".repeat(9 << 20));
    let failure = Mail::all(huge.as_bytes(), "x.eml").unwrap_err();
    assert_eq!(failure.what, "the mail has 54 MiB; a patch's mail has at most 16 MiB");
    assert_eq!(failure.place.as_deref(), Some("x.eml"));
    let many = "From a Thu Jan  1 00:00:00 1970\nSubject: x\n\n".repeat(10_000);
    let failure = Mail::all(many.as_bytes(), "x.mbox").unwrap_err();
    assert_eq!(failure.what, "it holds 10000 mails; a thread has at most 5000");
}

#[test]
fn a_wrong_encoding_is_told() {
    for encoding in ["base64", "quoted-printable"] {
        let text = encoded(&format!("Content-Transfer-Encoding: {encoding}"), "===\0=\n");
        let said = Mail::all(text.as_bytes(), "").map(|mails| mails[0].has_diff());
        assert!(said.is_err_and(|failure| failure.what.contains(encoding)), "{encoding}");
    }
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..500)) {
        if let Ok(mails) = Mail::all(&bytes, "") {
            mails.iter().for_each(|mail| drop(mail.diff()));
        }
    }

    #[test]
    fn no_mixture_of_a_mail_s_lines_makes_the_reader_panic(picked in proptest::collection::vec(0..LINES.len(), 0..40)) {
        let text: String = picked.into_iter().map(|line| LINES[line]).collect();
        if let Ok(mails) = Mail::all(text.as_bytes(), "") {
            mails.iter().for_each(|mail| drop((mail.diff(), mail.title().len())));
        }
    }
}

/// Lines that mean something in mails, in and out of place.
const LINES: [&str; 34] = [
    "From a@example.org Thu Jan  1 00:00:00 1970\n",
    "From: A <a@example.org>\n",
    "From: <a@example.org\n",
    "Subject: [PATCH v2 1/2] x\n",
    "Subject: =?utf-8?q?=\n",
    "Content-Type: multipart/mixed; boundary=b\n",
    "Content-Type: multipart/digest; boundary=b\n",
    "Content-Type: message/rfc822\n",
    "Content-Type: text/plain; format=flowed; delsp=yes\n",
    "Content-Type: text/html; charset=utf-16\n",
    "Content-Transfer-Encoding: base64\n",
    "Content-Transfer-Encoding: quoted-printable\n",
    "Message-ID: <one@example.org>\n",
    "References: <one@example.org>\n",
    " folded\n",
    "\n",
    "\r\n",
    "--b\n",
    "--b--\n",
    "-----BEGIN PGP SIGNED MESSAGE-----\n",
    "-----BEGIN PGP SIGNATURE-----\n",
    "-- >8 --\n",
    "diff --git a/x b/x\n",
    "index 1..2 120000\n",
    "rename from x\n",
    "--- a/x\n",
    "+++ b/x\n",
    "@@ -1 +1 @@\n",
    "@@ -1,3 +1,99999999999999999999 @@\n",
    "-a\n",
    "+b \n",
    "\\ No newline at end of file\n",
    "LS0tIGEveAo=\n",
    "=C3=\n",
];
