//! One mail, or a text that is as good as one: what it says of itself, and its diff.

use super::about::Author;
use super::diff::Diff;
use super::mbox::{self, Piece, lines};
use super::mime::{Envelope, Text, has_headers};
use super::{plain, words};
use crate::blame::Failure;

/// How deep mails may lie in mails.
const DEPTH: usize = 3;

/// More mails than any thread has.
const MOST_MAILS: usize = 5000;

/// One mail, or a text without headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Its subject, in one line; the first line of a text without headers.
    pub subject: String,
    /// Who wrote the patch, which need not be who sent it.
    pub author: Option<Author>,
    /// Its Message-ID without angle brackets.
    pub message_id: Option<String>,
    /// The Message-IDs of the mails that it answers, the nearest first.
    pub parents: Vec<String>,
    /// When it was sent, in seconds since 1970.
    pub date: Option<i64>,
    /// The mailing list that it came by.
    pub list: Option<String>,
    /// Its bytes in the file, with the separator if it has one.
    pub raw: Vec<u8>,
    /// Whether `git format-patch` wrote it; the mails of one file are in their order then.
    pub from_git: bool,
    /// Where it was found: the file.
    pub place: String,
    /// Whether it is a mail with headers, or a text without.
    pub has_headers: bool,
    /// The text that holds the diff, if one does.
    text: Vec<u8>,
    /// The number of the text's first line, in the file or, if it came encoded, in itself.
    first_line: usize,
    /// Whether it seems to hold a diff.
    has_diff: bool,
}

impl Mail {
    /// The mails of a file's bytes, in their order there. Mails in mails follow those that hold them.
    ///
    /// # Errors
    ///
    /// There are too many, or one of them is not whole in itself: an encoding is broken, or it has too
    /// many parts.
    pub fn all(bytes: &[u8], place: &str) -> Result<Vec<Mail>, Failure> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let pieces = mbox::split(bytes);
        if pieces.len() > MOST_MAILS {
            return Err(Failure::usage(format!("it holds {} mails; a thread has at most {MOST_MAILS}", pieces.len()))
                .at(place)
                .hint("take only the thread of the patch out of it, or give its MESSAGE-ID"));
        }
        let mut mails = Vec::new();
        for piece in pieces {
            of_piece(&piece, place, DEPTH, &mut mails).map_err(|failure| {
                let line = if piece.line > 1 { format!(":{}", piece.line) } else { String::new() };
                failure.at(format!("{place}{line}"))
            })?;
        }
        Ok(mails)
    }

    /// The subject without what stands in brackets before it.
    pub fn title(&self) -> &str {
        let mut title = self.subject.as_str();
        while let Some(rest) = title.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            title = rest.1.trim_start();
        }
        title
    }

    /// Whether there seems to be a diff in it, whole or not.
    pub fn has_diff(&self) -> bool {
        self.has_diff
    }

    /// Its diff.
    ///
    /// # Errors
    ///
    /// As [`Diff::of_lines`].
    pub fn diff(&self) -> Result<Diff, Failure> {
        Diff::of_lines(&self.text, self.first_line)
            .map_err(|failure| if self.place.is_empty() { failure } else { failure.at(&self.place) })
    }
}

fn of_piece(piece: &Piece<'_>, place: &str, depth: usize, found: &mut Vec<Mail>) -> Result<(), Failure> {
    let mail = piece.mail();
    let blank: usize = lines(&mail).take_while(|line| line.trim_ascii().is_empty()).map(<[u8]>::len).sum();
    let is_mail = has_headers(&mail[blank..]);
    let envelope = if is_mail {
        Envelope::of(&mail[blank..])?
    } else {
        let text = Text { bytes: mail[blank..].to_vec(), line: Some(0), flowed: None, attached: false };
        Envelope { texts: vec![text], ..Envelope::default() }
    };
    let above = piece.line + usize::from(piece.parted) + lines(&mail[..blank]).count();
    let (embedded, texts): (Vec<Text>, Vec<Text>) =
        envelope.texts.into_iter().partition(|text| depth > 0 && text.attached && has_headers(&text.bytes));
    let envelope = Envelope { texts: Vec::new(), ..envelope };
    let raw = piece.bytes.to_vec();
    found.push(Mail { from_git: piece.is_from_git(), has_headers: is_mail, ..one(envelope, texts, above, raw, place) });
    for text in embedded {
        let line = text.line.map_or(1, |line| above + line);
        for inner in mbox::split(&text.bytes) {
            of_piece(&Piece { line: line + inner.line - 1, ..inner }, place, depth - 1, found)?;
        }
    }
    Ok(())
}

/// One mail of its headers and texts, the first of which begins the mail.
fn one(envelope: Envelope, texts: Vec<Text>, above: usize, raw: Vec<u8>, place: &str) -> Mail {
    let written: Vec<(Vec<u8>, usize)> = texts.into_iter().map(|text| as_written(text, above)).collect();
    let own = written.first().map_or(Own::default(), |(text, _)| Own::of(text));
    let with_diff: Vec<&(Vec<u8>, usize)> = written.iter().filter(|(text, _)| Diff::begins_in(text)).collect();
    let (text, first_line) = match with_diff[..] {
        [] => (Vec::new(), 1),
        [one] => one.clone(),
        // The same patch may be in the text and attached to it
        [one, two] if Diff::of(&one.0).ok().is_some_and(|diff| Diff::of(&two.0).is_ok_and(|other| diff == other)) => {
            one.clone()
        }
        ref all => (all.iter().map(|(text, _)| &text[..]).collect::<Vec<_>>().join(&b"\n"[..]), 1),
    };
    let first = || written.first().map(|(text, _)| first_words(text)).unwrap_or_default();
    let subject = if envelope.subject.is_empty() { first() } else { envelope.subject };
    Mail {
        subject: own.subject.unwrap_or(subject),
        author: own.author.or(envelope.author).or(own.signer),
        message_id: envelope.message_id,
        parents: envelope.parents,
        date: envelope.date,
        list: envelope.list,
        raw,
        from_git: false,
        has_headers: true,
        place: place.to_owned(),
        has_diff: !with_diff.is_empty(),
        text,
        first_line,
    }
}

/// A text as its author wrote it, from below the scissors on, and its first line's number.
fn as_written(text: Text, above: usize) -> (Vec<u8>, usize) {
    let flat = match text.flowed {
        Some(delete_space) => {
            let flat = plain::unflow(&text.bytes, delete_space);
            // Some programs say that a text is flowed and do not treat it so
            if Diff::of(&flat).is_err() && Diff::of(&text.bytes).is_ok() { text.bytes } else { flat }
        }
        None => text.bytes,
    };
    let plain = plain::unsign(&flat);
    let (below, cut) = plain::below_scissors(&plain);
    (below.to_vec(), cut + text.line.map_or(1, |line| above + line))
}

/// The first line that is not empty, unless a diff begins with it. Of a commit as `git show` shows it,
/// its title.
fn first_words(text: &[u8]) -> String {
    let mut full = lines(text).filter(|line| !line.trim_ascii().is_empty());
    let first = full.next().unwrap_or_default();
    let line = match first {
        _ if [&b"diff "[..], b"--- ", b"Index: "].iter().any(|start| first.starts_with(start)) => b"",
        _ if first.starts_with(b"commit ") => full.find(|line| line.starts_with(b"    ")).unwrap_or(first),
        _ => first,
    };
    words::clean(&String::from_utf8_lossy(&line[..line.len().min(1000)]))
}

/// What a text says of the patch in headers of its own: who sends somebody else's work names him so.
#[derive(Default)]
struct Own {
    author: Option<Author>,
    subject: Option<String>,
    /// Who signed it off first, which is its author if nothing else is said.
    signer: Option<Author>,
}

impl Own {
    /// The last such headers above the diff. They begin a paragraph, and `From:` is among them.
    fn of(text: &[u8]) -> Own {
        let mut own = Own::default();
        let (mut begins, mut block) = (true, Vec::new());
        for line in lines(text) {
            if line.starts_with(b"diff --git ") || line.starts_with(b"--- a/") || line.starts_with(b"+++ ") {
                break;
            }
            let bare = line.trim_ascii();
            if let (Some(signer), None) = (bare.strip_prefix(b"Signed-off-by: "), &own.signer) {
                own.signer = author(&words::clean(&String::from_utf8_lossy(signer)));
            }
            // Archives that show a mail as text name its author so
            let bracketed = bare.strip_prefix(b"[").and_then(|line| line.strip_suffix(b"]")).filter(|_| begins);
            if let Some(named) = bracketed.filter(|line| line.ends_with(b">") && own.author.is_none()) {
                own.author = author(&words::clean(&String::from_utf8_lossy(named)));
            }
            let rule = bare.len() > 2 && bare.iter().all(|&byte| byte == b'-');
            if bare.is_empty() || rule {
                own.take(&std::mem::take(&mut block));
                begins = true;
            } else if begins && block.is_empty() && line.starts_with(b"commit ") {
                // `git show` has its headers below this line
            } else if begins && line.len() < 1000 && (mbox::is_header(line) || !block.is_empty() && line[0] == b' ') {
                block.push(String::from_utf8_lossy(bare).into_owned());
            } else {
                begins = false;
                block.clear();
            }
        }
        own.take(&block);
        own
    }

    fn take(&mut self, block: &[String]) {
        let header = |name: &str| block.iter().find_map(|line| line.strip_prefix(name)).map(words::clean);
        let Some(author) = header("From:").or(header("Author:")).as_deref().and_then(author) else { return };
        *self = Own { author: Some(author), subject: header("Subject:"), signer: self.signer.take() };
    }
}

fn author(text: &str) -> Option<Author> {
    let (name, rest) = text.split_once('<')?;
    let (email, _) = rest.split_once('>')?;
    let name = name.trim().trim_matches('"');
    let name = if name.is_empty() { email } else { name };
    Some(Author { name: name.to_owned(), email: Some(email.to_owned()) })
}

#[cfg(test)]
mod tests;
