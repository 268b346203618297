//! Where a diff and a file disagree.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::source::{ChangeKind, Direction, FileChange, Hunk};
use crate::tree::CommitName;

/// Lines of an excerpt.
const SHOWN: usize = 6;

/// A place at which a diff does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileConflict {
    /// The file.
    pub file: Utf8PathBuf,
    /// Whether the diff was to be put in or taken out.
    pub direction: Direction,
    /// What is wrong there.
    #[serde(flatten)]
    pub clash: Clash,
    /// The last commit that changed what is wanted there, where the history is there to tell.
    pub changed_by: Option<CommitName>,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "clash")]
pub enum Clash {
    /// The tree has no such file.
    Missing,
    /// The diff makes a file that is there.
    Exists,
    /// A hunk finds nothing like it.
    Hunk {
        /// Its number within the file, from 1.
        hunk: usize,
        /// The line of the tree's file that is most like the first one that differs, from 1.
        line: usize,
        /// The lines that the hunk wants there.
        wanted: Vec<String>,
        /// The lines that are there.
        found: Vec<String>,
    },
    /// Every hunk is somewhere in the file, but not in this order, or not at the end where it has to be.
    Order,
}

impl FileConflict {
    /// The conflict in a few lines for people: where, what is wanted, what is there; at most so many
    /// lines of both.
    pub fn lines(&self, most: usize) -> Vec<String> {
        let file = &self.file;
        let of = if self.direction == Direction::Reverse { "the reverse of " } else { "" };
        let changed = self.changed_by.iter().map(|name| format!("  changed by {name}"));
        let lines = match &self.clash {
            Clash::Missing => vec![format!("{file}: no such file")],
            Clash::Exists => vec![format!("{file}: is there already")],
            Clash::Order => vec![format!("{file}: the hunks are there, but in another order or at another place")],
            Clash::Hunk { hunk, line, wanted, found } => {
                let side = |mark: &'static str, lines: &[String]| {
                    lines.iter().take(most).map(move |text| format!("  {mark} {text}")).collect::<Vec<_>>()
                };
                [
                    vec![format!("{file}:{line}: {of}hunk {hunk} does not fit")],
                    side("wanted:", wanted),
                    side("found: ", found),
                ]
                .concat()
            }
        };
        lines.into_iter().chain(changed).collect()
    }
}

/// The places at which one file's part of a diff does not fit, by the content of the tree's file.
/// Empty if all of it fits.
pub(super) fn locate(change: &FileChange, direction: Direction, content: Option<&[u8]>) -> Vec<FileConflict> {
    let of = |clash| vec![FileConflict { file: change.path.clone(), direction, clash, changed_by: None }];
    match (content, change.kind.taken(direction)) {
        (None, ChangeKind::Created) => Vec::new(),
        (None, _) => of(Clash::Missing),
        (Some(_), ChangeKind::Created) => of(Clash::Exists),
        (Some(content), _) => {
            let lines: Vec<&[u8]> = content.split(|&byte| byte == b'\n').collect();
            let hunks = change.hunks.iter().enumerate();
            hunks.filter_map(|(at, hunk)| clash(at + 1, hunk, direction, &lines)).flat_map(of).collect()
        }
    }
}

fn clash(number: usize, hunk: &Hunk, direction: Direction, lines: &[&[u8]]) -> Option<Clash> {
    let (start, wanted) = hunk.before(direction);
    if wanted.is_empty() || lines.windows(wanted.len()).any(|window| window == wanted) {
        return None;
    }
    let at = most_alike(&wanted, lines, start.saturating_sub(1));
    let here = &lines[at.min(lines.len())..];
    let same = wanted.iter().zip(here).take_while(|(want, there)| want == there).count();
    let show =
        |lines: &[&[u8]]| lines.iter().take(SHOWN).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    let (missing, found) = (&wanted[same..], &here[same..]);
    Some(Clash::Hunk {
        hunk: number,
        line: at + same + 1,
        wanted: show(missing),
        found: show(&found[..found.len().min(missing.len())]),
    })
}

/// The index of the line at which a file is most like the wanted lines; of equals, the one nearest
/// to where it is expected. Blank lines and lone braces are like anything, so they do not count.
fn most_alike(wanted: &[&[u8]], lines: &[&[u8]], expected: usize) -> usize {
    let telling = |line: &[u8]| line.trim_ascii().len() > 1;
    let alike =
        |at: usize| wanted.iter().zip(&lines[at..]).filter(|(want, there)| want == there && telling(want)).count();
    let rank = |&at: &usize| (alike(at), std::cmp::Reverse(at.abs_diff(expected)));
    (0..lines.len()).max_by_key(rank).unwrap_or_default()
}
