//! Edits of a tree in an index of their own: no checkout is touched, however the work ends.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::{Fit, Revision, Variant};
use crate::blame::{Blame, Class, Failure};
use crate::job::Job;
use crate::process::{Call, Exit};
use crate::source::{Direction, Patch};
use crate::tree::Tree;

/// How much context must be the same: all of it, or at least this many lines before and after.
pub(super) type Context = Option<u8>;

/// Mode and blob of each file, as git writes them.
type Entries = BTreeMap<Utf8PathBuf, String>;

/// Those files of a tree that a patch may touch, in a temporary index. Reading all 80,000 files of
/// a kernel into it would take most of the time.
pub(super) struct Index<'a> {
    tree: &'a Tree,
    /// Removed with all that is in it when dropped.
    scratch: TempDir,
    before: Entries,
}

/// What git says to a diff.
pub(super) enum Attempt {
    /// It can be applied.
    Fits(Fit),
    /// It cannot, and these are git's words.
    Refused(Vec<String>),
}

/// The tree as it is, as a revision.
///
/// # Errors
///
/// The repository is damaged, or the machine fails.
pub fn base(tree: &Tree) -> Result<Revision, Failure> {
    let commit = tree.commit.clone();
    let content = tree.repository.git().args(["rev-parse", "--verify", &format!("{commit}^{{tree}}")]).demand()?.text();
    Ok(Revision { variant: Variant::Base, content, commit, files: Vec::new() })
}

impl<'a> Index<'a> {
    /// Reads the files that a patch or one of its ports touches into a new index.
    pub(super) fn of(tree: &'a Tree, patch: &Patch, job: Job<'_>) -> Result<Self, Failure> {
        let own = patch.ports.iter().map(|port| &port.diff).chain(patch.controls.iter().map(|control| &control.diff));
        let diffs = std::iter::once(&patch.diff).chain(own);
        let paths: BTreeSet<&str> =
            diffs.flat_map(|diff| &diff.files).flat_map(|change| change.paths()).map(Utf8Path::as_str).collect();
        Self::of_paths(tree, paths, job)
    }

    /// Reads these files into a new index; those that are not there are left out.
    pub(super) fn of_paths<'p>(
        tree: &'a Tree,
        paths: impl IntoIterator<Item = &'p str>,
        job: Job<'_>,
    ) -> Result<Self, Failure> {
        let mut index = Index { tree, scratch: job.cache.scratch()?, before: Entries::new() };
        let listed = index.git(&["ls-tree", "-z", &tree.commit, "--"])?.args(paths).demand()?;
        let files = listed.stdout.split_inclusive(|&byte| byte == 0).filter(|entry| !entry.starts_with(b"040000 "));
        index.git(&["update-index", "-z", "--index-info"])?.input(files.collect::<Vec<_>>().concat()).demand()?;
        index.before = index.entries()?;
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

    /// Applies a diff and makes the result a commit on top of the tree. A diff that changes nothing
    /// is refused: a comparison with itself would always say that there is no difference.
    pub(super) fn edit(
        &self,
        variant: Variant,
        diff: &[u8],
        way: (Direction, Context),
        message: &str,
    ) -> Result<Revision, Failure> {
        self.apply(way.0, way.1)?.arg("-").input(diff).demand()?;
        let after = self.entries()?;
        let all: BTreeSet<&Utf8PathBuf> = self.before.keys().chain(after.keys()).collect();
        let changed: Vec<_> = all.into_iter().filter(|&path| self.before.get(path) != after.get(path)).collect();
        if changed.is_empty() {
            return Err(Failure::new(Class::Apply, Blame::Patch, "the patch changes nothing in this tree"));
        }
        let lines = changed.iter().map(|&path| match after.get(path) {
            Some(entry) => format!("M {entry} {path}\n"),
            None => format!("D {path}\n"),
        });
        let commit = self.commit(message, &lines.collect::<String>())?;
        let files: Vec<Utf8PathBuf> = changed.into_iter().cloned().collect();
        self.compare_with(&commit, &files)?;
        Ok(Revision { variant, content: self.content(&commit)?, commit, files })
    }

    /// Makes a commit on top of the tree in which a file that is there has this content.
    pub(super) fn replace(
        &self,
        variant: Variant,
        path: &Utf8Path,
        content: &[u8],
        message: &str,
    ) -> Result<Revision, Failure> {
        let blob = self.git(&["hash-object", "-w", "--stdin"])?.input(content).demand()?.text();
        let mode = self.before.get(path).and_then(|entry| entry.split_once(' ')).map_or("100644", |(mode, _)| mode);
        let commit = self.commit(message, &format!("M {mode} {blob} {path}\n"))?;
        Ok(Revision { variant, content: self.content(&commit)?, commit, files: vec![path.to_owned()] })
    }

    /// Makes sure that a commit differs from the tree in these files alone: the index does not know
    /// the others, so it cannot tell that a new file is in the way of a folder.
    fn compare_with(&self, commit: &str, files: &[Utf8PathBuf]) -> Result<(), Failure> {
        let listed = self.git(&["diff-tree", "-r", "-z", "--name-only", &self.tree.commit, commit])?.demand()?.stdout;
        let names: BTreeSet<&[u8]> = listed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).collect();
        if names == files.iter().map(|file| file.as_str().as_bytes()).collect() {
            return Ok(());
        }
        let what = "the patch makes a file where this tree has a folder, or the other way round";
        Err(Failure::new(Class::Apply, Blame::Patch, what).excerpt(files.iter().map(|file| file.as_str())))
    }

    /// Makes a commit on top of the tree, without reading all of the tree, and names it so that
    /// `git gc` leaves it. All of it is fixed but the content, so the same edit is the same commit.
    fn commit(&self, message: &str, changes: &str) -> Result<String, Failure> {
        let place = self.folder()?.file_name().unwrap_or_default();
        let temporary = format!("refs/nspatch/{place}");
        let stream = format!(
            "commit {temporary}\nmark :1\ncommitter nspatch <nspatch@localhost> 946684800 +0000\ndata {}\n{message}\nfrom {}\n{changes}\nget-mark :1\n",
            message.len(),
            self.tree.commit,
        );
        let commit = self.git(&["fast-import", "--quiet"])?.input(stream).demand()?.text();
        self.keep(&commit)?;
        self.git(&["update-ref", "-d", &temporary])?.demand()?;
        Ok(commit)
    }

    /// Names the commit. Another nspatch may do the same just now.
    fn keep(&self, commit: &str) -> Result<(), Failure> {
        let name = format!("refs/nspatch/{commit}");
        let there = || Ok::<_, Failure>(self.git(&["rev-parse", "--verify", "--quiet", &name])?.run()?.succeeded());
        if there()? {
            return Ok(());
        }
        let ended = self.git(&["update-ref", &name, commit])?.run()?;
        if ended.succeeded() || there()? { Ok(()) } else { Err(ended.failure()) }
    }

    /// The content of a file of the tree; `None` if there is no such file, but a folder perhaps.
    pub(super) fn file(&self, path: &Utf8Path) -> Result<Option<Vec<u8>>, Failure> {
        let listed = self.listed(path)?;
        if listed.is_empty() || [&b"040000 "[..], b"160000 "].iter().any(|mode| listed.starts_with(mode)) {
            return Ok(None);
        }
        Ok(Some(self.git(&["cat-file", "blob", &format!("{}:{path}", self.tree.commit)])?.demand()?.stdout))
    }

    /// Whether there is a folder of this name.
    pub(super) fn is_folder(&self, path: &Utf8Path) -> Result<bool, Failure> {
        Ok(self.listed(path)?.starts_with(b"040000 "))
    }

    fn listed(&self, path: &Utf8Path) -> Result<Vec<u8>, Failure> {
        Ok(self.git(&["ls-tree", "-z", &self.tree.commit, "--", path.as_str()])?.demand()?.stdout)
    }

    fn entries(&self) -> Result<Entries, Failure> {
        let listed = self.git(&["ls-files", "--stage", "-z"])?.demand()?.stdout;
        let text = String::from_utf8_lossy(&listed);
        let entry = |line: &str| {
            let (entry, path) = line.split_once('\t')?;
            Some((path.into(), entry.rsplit_once(' ')?.0.to_owned()))
        };
        Ok(text.split('\0').filter_map(entry).collect())
    }

    fn content(&self, commit: &str) -> Result<String, Failure> {
        Ok(self.git(&["rev-parse", "--verify", &format!("{commit}^{{tree}}")])?.demand()?.text())
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

    fn folder(&self) -> Result<&Utf8Path, Failure> {
        let path = self.scratch.path();
        Utf8Path::from_path(path).ok_or_else(|| Failure::host("the cache's path is not UTF-8").at(path.display()))
    }

    /// Only the index is in the folder, so git finds no files or attributes that belong to somebody.
    fn git(&self, args: &[&str]) -> Result<Call, Failure> {
        let folder = self.folder()?;
        let git =
            self.tree.repository.git().args(["-c", "fastimport.unpackLimit=100", "-c", "apply.ignoreWhitespace=no"]);
        Ok(git.args(args).env("GIT_INDEX_FILE", folder.join("index").as_str()).folder(folder))
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
