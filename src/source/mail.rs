//! What the text around a diff says of it: who wrote it, and what it is called.

use super::about::Author;
use crate::blame::{Blame, Class, Failure};

/// The telling parts of one mail.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mail {
    /// The subject without its `[PATCH ...]`, or the first line of a text without headers.
    pub title: String,
    /// The author of the last `From:` above the diff: a mail on behalf of somebody names him below
    /// its own headers.
    pub author: Option<Author>,
}

impl Mail {
    /// Reads a mail that is saved raw, or a text that begins with its subject.
    ///
    /// # Errors
    ///
    /// It holds several mails, or is encoded for transport.
    pub(super) fn of(text: &[u8]) -> Result<Mail, Failure> {
        let text = String::from_utf8_lossy(text);
        let lines: Vec<&str> = text.lines().take_while(|line| !starts_diff(line)).collect();
        refuse_several(&text)?;
        refuse_encoded(&lines)?;
        let header = |name: &str| lines.iter().rev().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let first = lines.iter().map(|line| line.trim()).find(|line| !line.is_empty());
        let title = header("Subject:").or(first).unwrap_or_default();
        Ok(Mail { title: plain_title(title), author: header("From:").and_then(author) })
    }
}

fn starts_diff(line: &str) -> bool {
    line.starts_with("diff --git ") || line.starts_with("--- a/")
}

fn refuse_several(text: &str) -> Result<(), Failure> {
    let lines: Vec<&str> = text.lines().collect();
    // Only a line with a header below it parts mails: `From ` may begin a line of prose
    let parts = |pair: &&[&str]| pair[0].starts_with("From ") && is_header(pair[1]);
    match lines.windows(2).filter(parts).count() {
        0 | 1 => Ok(()),
        count => Err(Failure::usage(format!("it holds {count} mails; a patch is one mail"))
            .hint("split it with `git mailsplit -o FOLDER FILE` and give one of the parts")),
    }
}

fn is_header(line: &str) -> bool {
    line.split_once(": ")
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
}

fn refuse_encoded(lines: &[&str]) -> Result<(), Failure> {
    let encoded = |line: &&&str| {
        let line = line.to_ascii_lowercase();
        line.starts_with("content-transfer-encoding:") && (line.contains("quoted-printable") || line.contains("base64"))
    };
    match lines.iter().find(encoded) {
        None => Ok(()),
        Some(line) => Err(Failure::new(
            Class::Apply,
            Blame::Patch,
            "the mail is encoded for transport, so its diff is not the patch's",
        )
        .excerpt([*line])
        .hint("`git mailinfo MESSAGE DIFF < MAIL` decodes it; give the file DIFF")),
    }
}

fn plain_title(subject: &str) -> String {
    let mut title = subject;
    while let Some(rest) = title.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        title = rest.1.trim_start();
    }
    title.to_owned()
}

fn author(text: &str) -> Option<Author> {
    let (name, rest) = text.split_once('<')?;
    let (email, _) = rest.split_once('>')?;
    Some(Author { name: name.trim().trim_matches('"').to_owned(), email: Some(email.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_author_and_title_nearest_to_the_diff_count() {
        let mail = "From: Relay <relay@example.org>\nSubject: + a.patch added\n\nFrom: \"A. Author\" <a@example.org>\nSubject: [PATCH v2 RFC] mm: do less\n\ntext\n--- a/x\n";
        let mail = Mail::of(mail.as_bytes()).unwrap();
        assert_eq!(mail.title, "mm: do less");
        assert_eq!(mail.author.unwrap().name, "A. Author");
    }

    #[test]
    fn a_text_without_headers_is_called_by_its_first_line() {
        let mail = Mail::of(b"\n[PATCH] mm: do less\n\nbody\nFrom here on it is quick\n--- a/x\n").unwrap();
        assert_eq!((mail.title.as_str(), mail.author), ("mm: do less", None));
    }

    #[test]
    fn several_mails_are_refused_but_prose_is_not_taken_for_one() {
        let one = "From 0123456789 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\n\nFrom then on\nit is quick\n";
        assert!(Mail::of(one.as_bytes()).is_ok());
        let failure = Mail::of(one.repeat(2).as_bytes()).unwrap_err();
        assert_eq!((failure.class, failure.what.as_str()), (Class::Usage, "it holds 2 mails; a patch is one mail"));
    }

    #[test]
    fn an_encoded_mail_is_refused_with_the_way_to_decode_it() {
        let failure = Mail::of(b"Subject: x\nContent-Transfer-Encoding: Quoted-Printable\n\n--- a/x\n").unwrap_err();
        assert_eq!(failure.blame, Blame::Patch);
        assert!(failure.hints[0].contains("git mailinfo"));
    }
}
