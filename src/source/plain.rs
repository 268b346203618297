//! A mail's text as it was written: without what programs did to it to get it here.

use super::mbox::lines;

/// Undoes `format=flowed` (RFC 3676): lines that end with a space go on in the next one, and a space
/// stands before lines that begin with one. With `delete_space`, the space at the end was added.
pub(super) fn unflow(text: &[u8], delete_space: bool) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    for line in lines(text) {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        let (line, end) = line.split_at(bare.strip_suffix(b"\r").unwrap_or(bare).len());
        // The mark of a signature ends with a space and ends there all the same
        if line == b"-- " {
            plain.extend(line);
            plain.extend(end);
            continue;
        }
        let line = line.strip_prefix(b" ").unwrap_or(line);
        match line.strip_suffix(b" ") {
            Some(kept) => plain.extend(if delete_space { kept } else { line }),
            None => {
                plain.extend(line);
                plain.extend(end);
            }
        }
    }
    plain
}

/// Takes away the `- ` that signing inside the text (RFC 4880, 7.1) puts before lines that begin
/// with a dash. No line vanishes.
pub(super) fn unsign(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut signed = false;
    for line in lines(text) {
        if line.starts_with(b"-----BEGIN PGP ") {
            signed = line.starts_with(b"-----BEGIN PGP SIGNED MESSAGE-----");
        }
        plain.extend(if signed { line.strip_prefix(b"- ").unwrap_or(line) } else { line });
    }
    plain
}

/// Where the text begins that is to be taken: after the last scissors line above the diff, if there
/// is one. Gives the text, and how many lines stand above it.
pub(super) fn below_scissors(text: &[u8]) -> (&[u8], usize) {
    let (mut at, mut below) = (0, (text, 0));
    for (number, line) in lines(text).enumerate() {
        if line.starts_with(b"diff --git ") || line.starts_with(b"+++ ") {
            break;
        }
        at += line.len();
        if is_scissors(line) {
            below = (&text[at..], number + 1);
        }
    }
    below
}

/// Whether a line is scissors as git knows them: `-- >8 --`, perhaps with words in it.
fn is_scissors(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let (mut at, mut perforated, mut gaps, mut blades, mut within) = (0, 0, 0, 0, false);
    while at < line.len() {
        let mark = matches!(line.get(at..at + 2), Some(b">8" | b"8<" | b">%" | b"%<"));
        if mark {
            (within, perforated, blades, at) = (true, perforated + 2, blades + 2, at + 1);
        } else if line[at] == b'-' {
            (within, perforated) = (true, perforated + 1);
        } else if line[at].is_ascii_whitespace() && within {
            (perforated, gaps) = (perforated + 1, gaps + 1);
        } else if !line[at].is_ascii_whitespace() {
            within = false;
        }
        at += 1;
    }
    blades > 0 && line.len() >= 8 && line.len() < perforated * 3 && gaps * 2 < perforated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flowed_text_gets_its_lines_back() {
        let cases = [
            ("one \ntwo\n", false, "one two\n"),
            ("one \r\ntwo\r\n", true, "onetwo\r\n"),
            ("  context\n+ad \nded\n", false, " context\n+ad ded\n"),
            ("end\n-- \n2.20.1\n", false, "end\n-- \n2.20.1\n"),
            (" From here\n", false, "From here\n"),
        ];
        for (flowed, delete_space, plain) in cases {
            let found = unflow(flowed.as_bytes(), delete_space);
            assert_eq!(String::from_utf8(found).unwrap(), plain, "{flowed:?}");
        }
    }

    #[test]
    fn only_signed_text_loses_the_dashes_that_signing_added() {
        let signed = "- kept\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n- --- a/x\n-----BEGIN PGP SIGNATURE-----\n- kept\n";
        let plain = String::from_utf8(unsign(signed.as_bytes())).unwrap();
        assert!(plain.contains("\n--- a/x\n"), "{plain}");
        assert_eq!(plain.matches("- kept").count(), 2);
    }

    #[test]
    fn scissors_are_those_that_git_knows() {
        for line in ["-- >8 --", "--- 8< ---", "--------8<-------", "- - - >8 - - -", "-- >% -- cut here"] {
            assert!(is_scissors(line.as_bytes()), "{line}");
        }
        for line in ["---", "8<", "- 8< and >8 are marks of a pair of scissors in prose", ""] {
            assert!(!is_scissors(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn what_stands_above_scissors_is_cut_unless_they_are_part_of_the_diff() {
        let text = b"hello\n--- 8< ---\nFrom: A\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- 8< ---\n";
        let (below, lines) = below_scissors(text);
        assert_eq!((&below[..7], lines), (&b"From: A"[..], 2));
    }
}
