//! Parting a file into its mails.
//!
//! mail-parser parts at every line that begins with `From `, and prose may begin so: only a line
//! with a time in it, behind a blank line and before a header, parts mails here.

/// One mail of a file, still as it stands there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// Its bytes, with the separator if it has one.
    pub bytes: &'a [u8],
    /// The number of its first line in the file.
    pub line: usize,
    /// Whether it begins with a separator.
    pub parted: bool,
}

impl Piece<'_> {
    /// Whether git's format-patch wrote the separator.
    pub(super) fn is_from_git(&self) -> bool {
        let (hash, rest) = self.bytes.get(5..).and_then(|line| line.split_at_checked(40)).unwrap_or_default();
        self.parted && hash.iter().all(u8::is_ascii_hexdigit) && rest.starts_with(b" Mon Sep 17 00:00:00 2001")
    }

    /// The mail without its separator, and without the `>` by which a mailbox keeps lines from
    /// being taken for one.
    pub(super) fn mail(&self) -> Vec<u8> {
        if !self.parted {
            return self.bytes.to_vec();
        }
        let mut mail = Vec::with_capacity(self.bytes.len());
        for line in lines(self.bytes).skip(1) {
            let quotes = line.iter().take_while(|&&byte| byte == b'>').count();
            mail.extend(if quotes > 0 && line[quotes..].starts_with(b"From ") { &line[1..] } else { line });
        }
        mail
    }
}

/// The mails of a file in its order. A file without separators is one piece.
pub(super) fn split(text: &[u8]) -> Vec<Piece<'_>> {
    let mut starts = Vec::new();
    let (mut at, mut blank) = (0, true);
    for (number, line) in lines(text).enumerate() {
        let next = &text[at + line.len()..];
        if blank && is_separator(line) && is_header(lines(next).next().unwrap_or_default()) {
            starts.push((at, number + 1));
        }
        blank = line.trim_ascii().is_empty();
        at += line.len();
    }
    let first = starts.first().map_or(text.len(), |(at, _)| *at);
    let mut pieces = Vec::new();
    if starts.is_empty() || !text[..first].trim_ascii().is_empty() {
        pieces.push(Piece { bytes: &text[..first], line: 1, parted: false });
    }
    for (index, &(at, line)) in starts.iter().enumerate() {
        let end = starts.get(index + 1).map_or(text.len(), |(next, _)| *next);
        pieces.push(Piece { bytes: &text[at..end], line, parted: true });
    }
    pieces
}

/// The lines of a text with their ends.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|&byte| byte == b'\n')
}

/// Whether a line is `From WHO WHEN`.
fn is_separator(line: &[u8]) -> bool {
    let digit = |at: usize, window: &[u8]| window[at].is_ascii_digit();
    line.starts_with(b"From ")
        && line.len() < 1000
        && line.windows(5).any(|w| w[2] == b':' && [0, 1, 3, 4].iter().all(|&at| digit(at, w)))
}

/// Whether a line is `Name: value`, as the lines above a mail's text are.
pub(super) fn is_header(line: &[u8]) -> bool {
    let line = line.strip_prefix(b">From ").map_or(line, |_| b"Quoted-From: x");
    let name = line.iter().take_while(|byte| byte.is_ascii_graphic() && **byte != b':').count();
    name > 0 && line.get(name) == Some(&b':') && line[0].is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "From a@example.org Thu Jan  1 00:00:00 1970\nSubject: one\n\nFrom then on\nit: is quick\n\n";
    const SECOND: &str = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: A\n\n>From x\n";

    #[test]
    fn only_a_separator_before_a_header_parts_mails() {
        let text = format!("{FIRST}{SECOND}");
        let pieces = split(text.as_bytes());
        assert_eq!(
            pieces.iter().map(|piece| (piece.line, piece.is_from_git())).collect::<Vec<_>>(),
            [(1, false), (7, true)]
        );
        assert_eq!(pieces[0].bytes, FIRST.as_bytes());
        assert_eq!(pieces[1].mail(), b"From: A\n\nFrom x\n");
    }

    #[test]
    fn a_text_without_separators_is_one_piece_as_it_is() {
        for text in ["", "Subject: x\n\n>From a\n", "From here on it is 12:30\nprose\n"] {
            let pieces = split(text.as_bytes());
            assert_eq!((pieces.len(), pieces[0].mail()), (1, text.as_bytes().to_vec()), "{text}");
        }
    }

    #[test]
    fn a_mail_before_the_first_separator_is_kept() {
        let text = format!("Subject: zero\n\ntext\n\n{FIRST}");
        assert_eq!(split(text.as_bytes()).iter().map(|piece| piece.line).collect::<Vec<_>>(), [1, 5]);
    }
}
