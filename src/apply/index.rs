//! Edits of a tree in an index of their own: no checkout is touched, however the work ends.

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::{Fit, Revision, Variant};
use crate::blame::{Blame, Class, Failure};
use crate::job::Job;
use crate::process::{Call, Exit};
use crate::source::Direction;
use crate::tree::Tree;

/// How much context must be the same: all of it, or at least this many lines before and after.
pub(super) type Context = Option<u8>;

/// A tree's files in a temporary index.
pub(super) struct Index<'a> {
    tree: &'a Tree,
    /// Removed with all that is in it when dropped.
    scratch: TempDir,
}

/// What git says to a diff.
pub(super) enum Attempt {
    /// It can be applied.
    Fits(Fit),
    /// It cannot, and these are git's words.
    Refused(Vec<String>),
}

impl<'a> Index<'a> {
    /// Reads a tree into a new index.
    pub(super) fn of(tree: &'a Tree, job: Job<'_>) -> Result<Self, Failure> {
        let index = Index { tree, scratch: job.cache.scratch()? };
        index
            .git(&["read-tree", &tree.commit])?
            .demand()
            .map_err(|failure| failure.hint("is the tree's repository whole?"))?;
        Ok(index)
    }

    /// Finds out whether a diff can be applied, and changes nothing.
    pub(super) fn attempt(&self, diff: &[u8], direction: Direction, context: Context) -> Result<Attempt, Failure> {
        let ended = self.apply(direction, context)?.args(["--check", "--verbose", "-"]).input(diff).run()?;
        let words = ended.complaint();
        match ended.exit {
            Exit::Success => Ok(Attempt::Fits(fit(&words))),
            Exit::Status(1) => Ok(Attempt::Refused(words.lines().map(str::to_owned).collect())),
            Exit::Status(128) => Err(unreadable(&words)),
            _ => Err(ended.failure()),
        }
    }

    /// The tree as it is, as a revision.
    pub(super) fn base(&self) -> Result<Revision, Failure> {
        let content = self.say(&["rev-parse", "--verify", &format!("{}^{{tree}}", self.tree.commit)])?;
        Ok(Revision { variant: Variant::Base, commit: self.tree.commit.clone(), content, files: Vec::new() })
    }

    /// Applies a diff and makes the result a commit on top of the tree. A diff that changes nothing
    /// is refused: a comparison with itself would always say that there is no difference.
    pub(super) fn edit(
        self,
        base: &Revision,
        variant: Variant,
        diff: &[u8],
        way: (Direction, Context),
        message: &str,
    ) -> Result<Revision, Failure> {
        self.apply(way.0, way.1)?.arg("-").input(diff).demand()?;
        let content = self.say(&["write-tree"])?;
        if content == base.content {
            return Err(Failure::new(Class::Apply, Blame::Patch, "the patch changes nothing in this tree"));
        }
        let commit = self.say(&["commit-tree", "-p", &base.commit, "-m", message, &content])?;
        self.keep(&commit)?;
        let names = self.git(&["diff-tree", "-r", "-z", "--name-only", &base.content, &content])?.demand()?;
        let files = names.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        let files = files.map(|name| Utf8PathBuf::from(String::from_utf8_lossy(name).into_owned())).collect();
        Ok(Revision { variant, commit, content, files })
    }

    /// Names the commit, so that `git gc` leaves it. Another nspatch may do the same just now.
    fn keep(&self, commit: &str) -> Result<(), Failure> {
        let name = format!("refs/nspatch/{commit}");
        let there = || Ok::<_, Failure>(self.git(&["rev-parse", "--verify", "--quiet", &name])?.run()?.succeeded());
        if there()? {
            return Ok(());
        }
        let ended = self.git(&["update-ref", &name, commit])?.run()?;
        if ended.succeeded() || there()? { Ok(()) } else { Err(ended.failure()) }
    }

    /// The content of a file of the tree; `None` if there is no such file.
    pub(super) fn file(&self, path: &Utf8Path) -> Result<Option<Vec<u8>>, Failure> {
        let listed = self.git(&["ls-files", "-z", "--", &format!(":(literal,top){path}")])?.demand()?;
        if listed.stdout.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.git(&["cat-file", "blob", &format!("{}:{path}", self.tree.commit)])?.demand()?.stdout))
    }

    fn apply(&self, direction: Direction, context: Context) -> Result<Call, Failure> {
        let mut call = self.git(&["apply", "--cached", "--whitespace=nowarn"])?;
        if direction == Direction::Reverse {
            call = call.arg("--reverse");
        }
        Ok(match context {
            Some(lines) => call.arg(format!("-C{lines}")),
            None => call,
        })
    }

    fn say(&self, args: &[&str]) -> Result<String, Failure> {
        Ok(self.git(args)?.demand()?.text())
    }

    fn git(&self, args: &[&str]) -> Result<Call, Failure> {
        let folder = Utf8Path::from_path(self.scratch.path())
            .ok_or_else(|| Failure::host("the cache's path is not UTF-8").at(self.scratch.path().display()))?;
        // Only the index is in this folder, so git finds no files or attributes that belong to somebody
        Ok(self.tree.repository.git().args(args).env("GIT_INDEX_FILE", folder.join("index").as_str()).folder(folder))
    }
}

/// How well a diff fits, from what `git apply --verbose` says.
fn fit(words: &str) -> Fit {
    let number =
        |text: &str| text.trim_start_matches('-').split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok();
    let behind = |mark: &str| words.lines().filter_map(|line| number(line.split_once(mark)?.1)).collect::<Vec<_>>();
    match (behind("Context reduced to (").into_iter().min(), behind(" (offset ").into_iter().max()) {
        (Some(lines), _) => Fit::ReducedContext { lines },
        (None, Some(max_lines)) => Fit::Offset { max_lines },
        (None, None) => Fit::Exact,
    }
}

fn unreadable(words: &str) -> Failure {
    Failure::new(Class::Apply, Blame::Patch, "git cannot take the diff")
        .excerpt(words.lines().filter(|line| line.starts_with("error:") || line.starts_with("fatal:")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_hunk_says_how_well_a_diff_fits() {
        let exact = "Checking patch a.c...";
        let offset = "Hunk #1 succeeded at 132 (offset -15 lines).\nHunk #2 succeeded at 9 (offset 1 line).";
        let reduced = format!("{offset}\nContext reduced to (2/2) to apply fragment at 167");
        assert_eq!(fit(exact), Fit::Exact);
        assert_eq!(fit(offset), Fit::Offset { max_lines: 15 });
        assert_eq!(fit(&reduced), Fit::ReducedContext { lines: 2 });
        assert_eq!(fit("Context reduced to (1/2) to apply fragment at 3"), Fit::ReducedContext { lines: 1 });
    }
}
