//! A diff: the files it touches and their hunks.

use camino::{Utf8Path, Utf8PathBuf};

/// The diff of one patch, cut out of the text around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// What git is fed: the diff's lines alone, without the mail around them.
    pub text: Vec<u8>,
    /// The files, in the diff's order.
    pub files: Vec<FileChange>,
}

/// What a diff does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file, relative to the tree's root.
    pub path: Utf8PathBuf,
    /// The file whose content it starts from, if the diff renames or copies one.
    pub from: Option<Utf8PathBuf>,
    /// Whether the file is made, changed or removed.
    pub kind: ChangeKind,
    /// The hunks; none if only a mode or a name changes.
    pub hunks: Vec<Hunk>,
}

/// What becomes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is there before and after.
    Modified,
    /// It is there only after.
    Created,
    /// It is there only before.
    Deleted,
}

/// One hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The first line before the change, from 1.
    pub old_start: usize,
    /// The first line after the change, from 1.
    pub new_start: usize,
    /// The lines, in order, without their line ends.
    pub lines: Vec<(Sign, Vec<u8>)>,
}

/// What a hunk does with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It stays.
    Context,
    /// It goes.
    Removed,
    /// It comes.
    Added,
}

/// The direction in which a diff is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// As written.
    Forward,
    /// Taken back.
    Reverse,
}

impl Diff {
    /// Diffs one after the other, each of which starts from what those before it made.
    pub fn joined<'a>(diffs: impl IntoIterator<Item = &'a Diff>) -> Diff {
        let mut joined = Diff { text: Vec::new(), files: Vec::new() };
        for diff in diffs {
            joined.text.extend(&diff.text);
            joined.files.extend(diff.files.iter().cloned());
        }
        joined
    }
}

impl FileChange {
    /// All files that it reads or writes.
    pub fn paths(&self) -> impl Iterator<Item = &Utf8Path> {
        self.from.iter().chain([&self.path]).map(Utf8PathBuf::as_path)
    }

    /// The file to which the hunks are applied when the diff is taken in a direction.
    pub fn path_before(&self, direction: Direction) -> &Utf8Path {
        match (direction, &self.from) {
            (Direction::Forward, Some(from)) => from,
            _ => &self.path,
        }
    }
}

impl Hunk {
    /// The lines that have to be there for the hunk to fit, and the number of the first, from 1.
    pub fn before(&self, direction: Direction) -> (usize, Vec<&[u8]>) {
        let (start, gone) = match direction {
            Direction::Forward => (self.old_start, Sign::Added),
            Direction::Reverse => (self.new_start, Sign::Removed),
        };
        (start, self.lines.iter().filter(|(sign, _)| *sign != gone).map(|(_, line)| &line[..]).collect())
    }
}

impl ChangeKind {
    /// What becomes of the file when the diff is taken in a direction.
    pub fn taken(self, direction: Direction) -> Self {
        match (self, direction) {
            (ChangeKind::Created, Direction::Reverse) => ChangeKind::Deleted,
            (ChangeKind::Deleted, Direction::Reverse) => ChangeKind::Created,
            (kind, _) => kind,
        }
    }
}
