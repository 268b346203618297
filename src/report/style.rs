//! Colours, which repeat what the words say and are never needed to understand.

use crate::compare::Verdict;

/// How a text is dressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether to colour, for a terminal.
    pub colour: bool,
}

impl Style {
    /// A headline.
    pub(super) fn bold(self, text: &str) -> String {
        self.dress("1", text)
    }

    /// What went wrong.
    pub(super) fn bad(self, text: &str) -> String {
        self.dress("31", text)
    }

    /// A verdict's words in its colour.
    pub(super) fn verdict(self, verdict: Verdict, words: &str) -> String {
        match verdict {
            Verdict::Regressed => self.bad(words),
            Verdict::Improved => self.dress("32", words),
            Verdict::Inconclusive | Verdict::NotComparable => self.dress("33", words),
            Verdict::NoDifference | Verdict::ChangedButSmaller => words.to_owned(),
        }
    }

    fn dress(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
