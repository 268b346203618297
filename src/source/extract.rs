//! Cutting a diff out of a mail.
//!
//! Mails differ: git's format and quilt's (`a/x~name`), with and without headers, with signatures
//! and list footers. So the hunks' own line counts say where a diff ends, and nothing else does.

use camino::Utf8PathBuf;

use super::diff::{ChangeKind, Diff, FileChange, Hunk, Sign};
use crate::blame::{Blame, Class, Failure};

/// The lines that may stand between `diff --git` and the first hunk.
const EXTENDED: &[&str] = &[
    "index ",
    "old mode ",
    "new mode ",
    "new file mode ",
    "deleted file mode ",
    "similarity index ",
    "dissimilarity index ",
    "rename from ",
    "rename to ",
    "copy from ",
    "copy to ",
];

impl Diff {
    /// Cuts the diff out of a text.
    ///
    /// # Errors
    ///
    /// There is none, a hunk is cut or wrapped, it changes a binary file, or it reaches out of the
    /// tree.
    pub fn of(text: &[u8]) -> Result<Diff, Failure> {
        let text = unix_lines(text);
        let mut reader =
            Reader { lines: text.split_inclusive(|&byte| byte == b'\n').collect(), at: 0, cut: Vec::new() };
        let mut files = Vec::new();
        while reader.at < reader.lines.len() {
            if let Some(change) = reader.section()? {
                files.push(change);
            }
        }
        if files.is_empty() {
            return Err(broken("there is no diff in it")
                .hint("a diff has lines `--- a/FILE`, `+++ b/FILE` and `@@ -1,2 +3,4 @@`"));
        }
        Ok(Diff { text: reader.cut, files })
    }
}

/// The text with `\n` at line ends. Mail travels with `\r\n`, and some programs save it so.
fn unix_lines(text: &[u8]) -> Vec<u8> {
    let all_crlf = text.contains(&b'\n')
        && text.split_inclusive(|&byte| byte == b'\n').all(|line| line.ends_with(b"\r\n") || !line.ends_with(b"\n"));
    let keep = |(at, byte): &(usize, &u8)| {
        !(all_crlf && **byte == b'\r' && text.get(at + 1).is_none_or(|&next| next == b'\n'))
    };
    text.iter().enumerate().filter(keep).map(|(_, &byte)| byte).collect()
}

struct Reader<'a> {
    lines: Vec<&'a [u8]>,
    at: usize,
    cut: Vec<u8>,
}

/// What the lines between `diff --git` and the first hunk say.
#[derive(Default)]
struct Head {
    kind: Option<ChangeKind>,
    from: Option<Utf8PathBuf>,
}

impl<'a> Reader<'a> {
    /// Reads one file's part of the diff, or passes over one line that belongs to none.
    fn section(&mut self) -> Result<Option<FileChange>, Failure> {
        let Some(names) = self.line(0).strip_prefix(b"diff --git ") else {
            if self.stands_at_header() {
                return self.change(Head::default()).map(Some);
            }
            self.at += 1;
            return Ok(None);
        };
        let head = self.head()?;
        if self.stands_at_header() {
            return self.change(head).map(Some);
        }
        let path = path_of(after(names, b" b/").unwrap_or(names), false)?;
        let kind = head.kind.unwrap_or(ChangeKind::Modified);
        Ok(Some(FileChange { path, from: head.from, kind, hunks: Vec::new() }))
    }

    fn head(&mut self) -> Result<Head, Failure> {
        let mut head = Head::default();
        self.keep();
        while let Some(&header) = EXTENDED.iter().find(|header| self.line(0).starts_with(header.as_bytes())) {
            let value = &self.line(0)[header.len()..];
            match header {
                "new file mode " => head.kind = Some(ChangeKind::Created),
                "deleted file mode " => head.kind = Some(ChangeKind::Deleted),
                "rename from " | "copy from " => head.from = Some(path_of(value, false)?),
                _ => {}
            }
            self.keep();
        }
        if self.line(0).starts_with(b"GIT binary patch") || self.line(0).starts_with(b"Binary files ") {
            let what = format!("line {} changes a binary file", self.at + 1);
            return Err(broken(what).hint("nspatch takes diffs of text only"));
        }
        Ok(head)
    }

    /// Whether the two name lines and a hunk follow: prose may begin a line with `---` as well.
    fn stands_at_header(&self) -> bool {
        self.line(0).starts_with(b"--- ") && self.line(1).starts_with(b"+++ ") && self.line(2).starts_with(b"@@ -")
    }

    fn change(&mut self, head: Head) -> Result<FileChange, Failure> {
        let (old, new) = (name(self.line(0)), name(self.line(1)));
        let from_nothing = old == b"/dev/null" || after(self.line(0), b"\t1970-01-01 ").is_some();
        let kind = head.kind.unwrap_or(match (from_nothing, new == b"/dev/null") {
            (true, _) => ChangeKind::Created,
            (_, true) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        });
        let path = path_of(if new == b"/dev/null" { old } else { new }, true)?;
        self.keep_old_name(&path);
        self.keep();
        let mut hunks = Vec::new();
        while self.line(0).starts_with(b"@@ -") {
            hunks.push(self.hunk(&path, hunks.len() + 1)?);
        }
        Ok(FileChange { path, from: head.from, kind, hunks })
    }

    /// Keeps the line of the old name, without the `~NAME` that quilt puts behind it.
    fn keep_old_name(&mut self, path: &Utf8PathBuf) {
        let quilt = format!("--- a/{path}~");
        if self.line(0).starts_with(quilt.as_bytes()) {
            self.cut.extend(format!("--- a/{path}\n").bytes());
            self.at += 1;
        } else {
            self.keep();
        }
    }

    fn hunk(&mut self, path: &Utf8PathBuf, number: usize) -> Result<Hunk, Failure> {
        let Some((old, new)) = ranges(self.line(0)) else {
            return Err(broken(format!("line {}: the head of hunk {number} of {path} cannot be read", self.at + 1)));
        };
        self.keep();
        let mut left = (old.1, new.1);
        let mut lines = Vec::new();
        while left != (0, 0) {
            if self.at >= self.lines.len() {
                return Err(broken(format!("hunk {number} of {path} is cut short: the text ends before it does"))
                    .hint("save the whole mail; its last lines are missing"));
            }
            let line = self.line(0).strip_suffix(b"\n").unwrap_or(self.line(0));
            if !line.starts_with(b"\\") {
                let (sign, rest) = step(line, left).ok_or_else(|| self.wrapped(path, number))?;
                lines.push((sign, line.get(1..).unwrap_or_default().to_vec()));
                left = rest;
            }
            self.keep();
        }
        if self.line(0).starts_with(b"\\ ") {
            self.keep();
        }
        Ok(Hunk { old_start: old.0, new_start: new.0, lines })
    }

    fn wrapped(&self, path: &Utf8PathBuf, number: usize) -> Failure {
        broken(format!("line {} does not fit into hunk {number} of {path}", self.at + 1))
            .excerpt([String::from_utf8_lossy(self.line(0)).trim_end()])
            .hint("a mail program wrapped or cut the diff: save the mail's raw source")
    }

    /// A line from here on; empty past the end.
    fn line(&self, ahead: usize) -> &'a [u8] {
        self.lines.get(self.at + ahead).copied().unwrap_or_default()
    }

    fn keep(&mut self) {
        let line = self.line(0);
        self.cut.extend(line);
        if !line.ends_with(b"\n") {
            self.cut.push(b'\n');
        }
        self.at += 1;
    }
}

/// What a line of a hunk does, and how many old and new lines are left after it; `None` if it is no
/// line of this hunk.
fn step(line: &[u8], (old, new): (usize, usize)) -> Option<(Sign, (usize, usize))> {
    Some(match line.first() {
        // Mail programs strip the space of an empty context line
        Some(b' ') | None => (Sign::Context, (old.checked_sub(1)?, new.checked_sub(1)?)),
        Some(b'-') => (Sign::Removed, (old.checked_sub(1)?, new)),
        Some(b'+') => (Sign::Added, (old, new.checked_sub(1)?)),
        Some(_) => return None,
    })
}

fn broken(what: impl Into<String>) -> Failure {
    Failure::new(Class::Apply, Blame::Patch, what)
}

fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    text.windows(mark.len()).position(|window| window == mark).map(|at| &text[at + mark.len()..])
}

/// The name in a `---` or `+++` line, without the time that may follow a tab.
fn name(line: &[u8]) -> &[u8] {
    let name = line.get(4..).unwrap_or_default();
    name.split(|&byte| byte == b'\t').next().unwrap_or_default().trim_ascii_end()
}

/// The path within the tree: without the `a/` or `b/`, and never one that leads out of it.
fn path_of(name: &[u8], prefixed: bool) -> Result<Utf8PathBuf, Failure> {
    let text = String::from_utf8_lossy(name).trim_end().to_owned();
    let path = match text.split_once('/') {
        Some((_, rest)) if prefixed => rest,
        _ => &text,
    };
    let path = match path.split_once('~') {
        Some((plain, _)) => plain,
        None => path,
    };
    let outside = |part: &str| matches!(part, "" | "." | ".." | ".git");
    // Git quotes a name that holds unusual bytes; no file of a kernel does
    if text.starts_with(['/', '"']) || path.split('/').any(outside) {
        return Err(broken(format!("it touches `{text}`, which is not a file of a kernel tree"))
            .hint("the names in a diff are relative to the tree's root, behind `a/` and `b/`"));
    }
    Ok(path.into())
}

/// The start and the count of both ranges of a hunk's head.
fn ranges(line: &[u8]) -> Option<((usize, usize), (usize, usize))> {
    let text = str::from_utf8(line.get(..line.len().min(80))?).unwrap_or_else(|error| {
        // The function's name behind the ranges may hold anything
        str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default()
    });
    let (old, rest) = text.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    Some((range(old)?, range(new)?))
}

#[cfg(test)]
mod tests;
