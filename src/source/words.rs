//! Words of strangers, fit to be shown.

/// The most characters that are kept of one text.
const MOST: usize = 1000;

/// A text in one line that is not endless, without anything that a terminal would obey.
pub(super) fn clean(text: &str) -> String {
    let shown: String = text.chars().take(MOST).map(|c| if is_command(c) { ' ' } else { c }).collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a terminal, or the order of what it shows, obeys a character.
pub(super) fn is_command(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// A text as a name: small letters, digits, and dashes between words.
pub fn slug(text: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let words: String = text.chars().map(word).collect();
    let mut slug = String::new();
    for word in words.split_whitespace() {
        if slug.len() + word.len() > 60 {
            break;
        }
        slug += if slug.is_empty() { "" } else { "-" };
        slug += word;
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        assert_eq!(clean(&"[x] ".repeat(1_000_000)).len(), MOST - 1);
        assert_eq!(clean("a\x1b[31m red\r\n\tb\u{202e}c"), "a [31m red b c");
    }

    #[test]
    fn a_title_becomes_a_name() {
        assert_eq!(slug("ipc/namespace.c: use a work_queue (v2)"), "ipc-namespace-c-use-a-work-queue-v2");
        assert_eq!(slug("ä \x1b"), "");
        assert!(slug(&"word ".repeat(100)).len() <= 60);
    }
}
