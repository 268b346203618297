//! Commits of a tree's history that explain how a patch stands to it.
//!
//! Only a git repository with its history knows them: of a tarball or a shallow fetch there is one commit.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Clash, FileConflict};
use crate::blame::Failure;
use crate::source::{ChangeKind, Diff, Sign};
use crate::tree::{CommitName, Tree};

/// A search through all of the kernel's history takes some 20 s; one that takes longer is given up.
const LIMIT: Duration = Duration::from_secs(60);
/// How many commits that touch a line are looked at for the patch itself.
const MOST_CANDIDATES: &str = "--max-count=20";
/// A shorter line, such as a brace, is in every file.
const TELLING: usize = 8;

/// The commit that brought a patch into a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// The commit.
    #[serde(flatten)]
    pub name: CommitName,
    /// How it was recognised.
    pub by: Likeness,
}

/// How a commit is like a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Likeness {
    /// It changes the same lines of the same files, but for blanks (`git patch-id` of the changed lines).
    PatchId,
    /// It brought the patch's most telling line, among others.
    Content,
}

/// The history below a tree's commit.
pub(super) struct History<'a> {
    tree: &'a Tree,
}

impl<'a> History<'a> {
    /// The history; `None` if there is but one commit.
    pub(super) fn of(tree: &'a Tree) -> Result<Option<Self>, Failure> {
        let parents = tree.repository.git().args(["rev-parse", "--verify", "--quiet"]);
        let has = parents.arg(format!("{}^", tree.commit)).run()?.succeeded();
        Ok(has.then_some(History { tree }))
    }

    /// The commit by which a diff came into the tree.
    pub(super) fn arrival(&self, diff: &Diff) -> Result<Option<Arrival>, Failure> {
        let Some((file, line)) = telling_line(diff) else { return Ok(None) };
        let candidates = self.log(&[MOST_CANDIDATES, &format!("-S{line}")], &file)?;
        let wanted = self.patch_id(changes_alone(diff))?;
        for name in &candidates {
            let git = self.tree.repository.git().args(["diff-tree", "-p", "-U0", "--no-ext-diff", "--no-renames"]);
            let shown = git.arg(&name.commit).demand()?;
            if wanted.is_some() && self.patch_id(shown.stdout)? == wanted {
                return Ok(Some(Arrival { name: name.clone(), by: Likeness::PatchId }));
            }
        }
        Ok(candidates.into_iter().next().map(|name| Arrival { name, by: Likeness::Content }))
    }

    /// The commit that brought the patch itself, if what it brought is still there in some form: one that was
    /// reverted since is not in the tree.
    pub(super) fn merged_as_mailed(&self, diff: &Diff) -> Result<Option<Arrival>, Failure> {
        let Some((file, line)) = telling_line(diff) else { return Ok(None) };
        let content = self.tree.repository.file(&self.tree.commit, &file)?.unwrap_or_default();
        if !String::from_utf8_lossy(&content).contains(&line) {
            return Ok(None);
        }
        Ok(self.arrival(diff)?.filter(|arrival| arrival.by == Likeness::PatchId))
    }

    /// The last commit that changed what a conflict is about.
    pub(super) fn mover(&self, conflict: &FileConflict) -> Result<Option<CommitName>, Failure> {
        let file = conflict.file.as_str();
        let line = match &conflict.clash {
            Clash::Hunk { wanted, .. } => wanted.iter().find(|line| line.trim().len() >= TELLING),
            Clash::Missing => return Ok(self.log(&["--max-count=1", "--diff-filter=D", "--no-renames"], file)?.pop()),
            Clash::Exists | Clash::Order => None,
        };
        match line {
            Some(line) => self.changed(line, file),
            None => Ok(None),
        }
    }

    /// The last commit that changed how often a line stands in a file. Not the one that made the file, such as
    /// the import of a whole tree: that explains nothing.
    fn changed(&self, line: &str, file: &str) -> Result<Option<CommitName>, Failure> {
        Ok(self.log(&["--max-count=1", "--diff-filter=M", &format!("-S{line}")], file)?.pop())
    }

    fn log(&self, args: &[&str], file: &str) -> Result<Vec<CommitName>, Failure> {
        let args = [&["--no-merges"], args, &[&self.tree.commit, "--", file]].concat();
        Ok(self.tree.repository.log(&args, LIMIT)?.unwrap_or_default())
    }

    fn patch_id(&self, diff: Vec<u8>) -> Result<Option<String>, Failure> {
        let ended = self.tree.repository.git().args(["patch-id", "--stable"]).input(diff).demand()?;
        Ok(ended.text().split_whitespace().next().map(str::to_owned))
    }
}

/// A diff without its context, which is not the same in every history, and with the names that git gives.
fn changes_alone(diff: &Diff) -> Vec<u8> {
    let mut text = Vec::new();
    for change in &diff.files {
        let name = |side: &str, none: ChangeKind| match change.kind == none {
            true => "/dev/null".to_owned(),
            false => format!("{side}/{}", change.path),
        };
        let (old, new) = (name("a", ChangeKind::Created), name("b", ChangeKind::Deleted));
        text.extend(format!("diff --git a/{0} b/{0}\n--- {old}\n+++ {new}\n", change.path).into_bytes());
        for hunk in &change.hunks {
            let count = |sign: Sign| hunk.lines.iter().filter(|(found, _)| *found == sign).count();
            text.extend(format!("@@ -1,{} +1,{} @@\n", count(Sign::Removed), count(Sign::Added)).into_bytes());
            for (sign, line) in &hunk.lines {
                let mark = match sign {
                    Sign::Context => continue,
                    Sign::Removed => b'-',
                    Sign::Added => b'+',
                };
                text.extend([&[mark], &line[..], b"\n"].concat());
            }
        }
    }
    text
}

/// The longest line that a diff adds, or else removes, and its file: the longest is the least likely
/// to stand anywhere else.
fn telling_line(diff: &Diff) -> Option<(String, String)> {
    let of = |wanted: Sign| {
        let lines = diff.files.iter().flat_map(|change| {
            change.hunks.iter().flat_map(|hunk| &hunk.lines).map(move |line| (change.path.as_str(), line))
        });
        let lines = lines.filter(move |(_, (sign, _))| *sign == wanted);
        let text = lines.filter_map(|(file, (_, line))| Some((file, std::str::from_utf8(line).ok()?.trim())));
        text.filter(|(_, line)| line.len() >= TELLING).max_by_key(|(_, line)| line.len())
    };
    of(Sign::Added).or_else(|| of(Sign::Removed)).map(|(file, line)| (file.to_owned(), line.to_owned()))
}
