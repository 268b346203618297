//! Which hunks of a diff a tree has already.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::source::{ChangeKind, Direction, FileChange, Hunk};

/// A hunk of a diff by its place; the whole change of a file where that has no hunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The file.
    pub file: Utf8PathBuf,
    /// The hunk's number within the file, from 1.
    pub hunk: Option<usize>,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.hunk {
            Some(hunk) => write!(f, "{} hunk {hunk}", self.file),
            None => write!(f, "{}", self.file),
        }
    }
}

/// The parts of a diff that a tree has, and those that it has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Presence {
    pub there: Vec<Part>,
    pub missing: Vec<Part>,
}

impl Presence {
    /// Adds what one file's part of a diff shows, by the content of the tree's file.
    pub(super) fn look(&mut self, change: &FileChange, content: Option<&[u8]>) {
        let mut note = |hunk: Option<usize>, there: bool| {
            let part = Part { file: change.path.clone(), hunk };
            if there { self.there.push(part) } else { self.missing.push(part) }
        };
        match (content, change.kind) {
            (None, ChangeKind::Deleted) => note(None, true),
            (None, _) => note(None, false),
            (Some(_), ChangeKind::Deleted) => note(None, false),
            (Some(content), _) => {
                let lines: Vec<&[u8]> = content.split(|&byte| byte == b'\n').collect();
                change.hunks.iter().enumerate().for_each(|(at, hunk)| note(Some(at + 1), is_there(hunk, &lines)));
            }
        }
    }
}

/// Whether a file has what a hunk leaves behind, and no longer what it starts from: a hunk that only
/// removes lines leaves nothing but its context, which may stand elsewhere as well.
fn is_there(hunk: &Hunk, lines: &[&[u8]]) -> bool {
    let has = |direction| {
        let wanted = hunk.before(direction).1;
        !wanted.is_empty() && lines.windows(wanted.len()).any(|window| window == wanted)
    };
    has(Direction::Reverse) && !has(Direction::Forward)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Diff;

    const DIFF: &str = "\
--- a/soup.c
+++ b/soup.c
@@ -1,3 +1,4 @@
 start
+open the window
 stir
 salt
@@ -8,3 +9,2 @@
 taste
-shout
 serve
";

    fn look(content: Option<&str>) -> (Vec<String>, Vec<String>) {
        let mut presence = Presence::default();
        presence.look(&Diff::of(DIFF.as_bytes()).unwrap().files[0], content.map(str::as_bytes));
        let names = |parts: &[Part]| parts.iter().map(Part::to_string).collect();
        (names(&presence.there), names(&presence.missing))
    }

    #[test]
    fn each_hunk_is_looked_for_by_itself() {
        let (one, two) = ("soup.c hunk 1".to_owned(), "soup.c hunk 2".to_owned());
        let cases = [
            ("start\nopen the window\nstir\nsalt\ntaste\nserve\n", vec![one.clone(), two.clone()], vec![]),
            ("start\nopen the window\nstir\nsalt\ntaste\nshout\nserve\n", vec![one.clone()], vec![two.clone()]),
            ("start\nstir\nsalt\ntaste\nserve\ntaste\nshout\nserve\n", vec![], vec![one, two]),
        ];
        for (content, there, missing) in cases {
            assert_eq!(look(Some(content)), (there, missing), "{content}");
        }
        assert_eq!(look(None), (vec![], vec!["soup.c".to_owned()]));
    }
}
