//! What a subject says of a mail's place in a series.

use std::fmt;

/// What the words in brackets before a title say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tags {
    /// `2/3`: the patch's number, 0 for the cover letter, and how many there are.
    pub number: Option<(u32, u32)>,
    /// `v2`.
    pub version: Option<Version>,
    /// `RESEND`: the same once more.
    pub resend: bool,
    /// Whether it answers a mail, or passes one on.
    pub reply: bool,
}

/// The version of a series, such as `v2` or `v2.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub u32, pub u32);

impl Version {
    /// The version of a series that names none.
    pub(super) const FIRST: Version = Version(1, 0);

    /// Reads `v2`.
    pub(super) fn of(word: &str) -> Option<Self> {
        let digits = word.strip_prefix(['v', 'V'])?;
        let (major, minor) = digits.split_once('.').unwrap_or((digits, "0"));
        Some(Version(number(major)?, number(minor)?))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Version(major, 0) => write!(f, "v{major}"),
            Version(major, minor) => write!(f, "v{major}.{minor}"),
        }
    }
}

impl Tags {
    /// Reads a subject.
    pub(super) fn of(subject: &str) -> Self {
        let mut tags = Tags::default();
        let mut rest = subject.trim_start();
        loop {
            if let Some(after) = reply(rest) {
                (tags.reply, rest) = (true, after.trim_start());
            } else if let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
                inside.split([' ', ',', '\t']).for_each(|word| tags.take(word));
                rest = after.trim_start();
            } else {
                return tags;
            }
        }
    }

    fn take(&mut self, word: &str) {
        // Some write `[PATCHv2]`
        let bare = word.get(..5).filter(|start| start.eq_ignore_ascii_case("patch")).map_or(word, |_| &word[5..]);
        if let Some((n, m)) = bare.split_once('/').and_then(|(n, m)| Some((number(n)?, number(m)?))) {
            self.number = Some((n, m));
        }
        self.version = Version::of(bare).or(self.version);
        self.resend |= word.eq_ignore_ascii_case("resend") || word.eq_ignore_ascii_case("repost");
    }
}

/// What follows the mark of a reply or of a mail passed on.
fn reply(subject: &str) -> Option<&str> {
    let (mark, rest) = subject.split_once(':')?;
    ["re", "fwd", "fw", "aw", "sv", "antw"].iter().any(|known| mark.eq_ignore_ascii_case(known)).then_some(rest)
}

/// A number as it stands in subjects; no sign, and not too long to be one.
fn number(text: &str) -> Option<u32> {
    (!text.is_empty() && text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_say_number_version_and_whether_they_answer() {
        let v = |major| Some(Version(major, 0));
        let cases = [
            ("[PATCH] x", None, None, false, false),
            ("[PATCH v2 03/11] x", Some((3, 11)), v(2), false, false),
            ("[RFC PATCH linux-next v2] ns: x", None, v(2), false, false),
            ("[PATCH v2 RFC] x", None, v(2), false, false),
            ("[PATCHv3 1/2] x", Some((1, 2)), v(3), false, false),
            ("[patch V4 00/38] x", Some((0, 38)), v(4), false, false),
            ("[v2,1/3] x", Some((1, 3)), v(2), false, false),
            ("[PATCH 1/3 v5] x", Some((1, 3)), v(5), false, false),
            ("[PATCH RESEND 2/3] x", Some((2, 3)), None, true, false),
            ("[PATCH net-next 6.1.y v2.1] x", None, Some(Version(2, 1)), false, false),
            ("Re: [PATCH v2 2/3] x", Some((2, 3)), v(2), false, true),
            ("Fwd: RE: x", None, None, false, true),
            ("mm: use 1/2 of it [v2]", None, None, false, false),
            ("[PATCH -1/3] x", None, None, false, false),
            ("", None, None, false, false),
        ];
        for (subject, number, version, resend, reply) in cases {
            assert_eq!(Tags::of(subject), Tags { number, version, resend, reply }, "{subject}");
        }
    }

    #[test]
    fn versions_are_shown_as_they_are_written_and_stand_in_their_order() {
        assert_eq!(Version(2, 1).to_string() + &Version(3, 0).to_string(), "v2.1v3");
        assert!(Version(2, 0) < Version(2, 1) && Version(9, 0) < Version(10, 0));
    }
}
