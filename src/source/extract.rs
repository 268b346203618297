//! Cutting a diff out of a text.
//!
//! Mails differ: git's format and quilt's (`a/x~name`), with and without headers, with signatures
//! and list footers. So the hunks' own line counts say where a diff ends, and nothing else does.

use camino::Utf8PathBuf;

use super::diff::{ChangeKind, Diff, FileChange, Hunk, Sign};
use super::names::{self, DEV_NULL};
use crate::blame::{Blame, Class, Failure};

/// More lines than any patch of a kernel has, and few enough to hold in memory.
const MOST_LINES: usize = 1_000_000;

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
    /// As [`Diff::of_lines`].
    pub fn of(text: &[u8]) -> Result<Diff, Failure> {
        Self::of_lines(text, 1)
    }

    /// Cuts the diff out of a text whose first line has this number where people see it.
    ///
    /// # Errors
    ///
    /// There is none; a hunk is cut, wrapped or wrongly counted; it changes a binary file, a link or
    /// a submodule; its names disagree, or it reaches out of the tree. The failure names the line or
    /// the file.
    pub fn of_lines(text: &[u8], first: usize) -> Result<Diff, Failure> {
        let text = unix_lines(text);
        let mut reader = Reader { text: &text, at: 0, number: first, cut: Vec::new(), kept: 0 };
        let mut files = Vec::new();
        while reader.at < text.len() {
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

    /// Whether a text seems to hold a diff, whole or not.
    pub(super) fn begins_in(text: &[u8]) -> bool {
        let mut before: &[u8] = b"";
        text.split(|&byte| byte == b'\n').any(|line| {
            let begins = line.starts_with(b"diff --git ") || (before.starts_with(b"--- ") && line.starts_with(b"+++ "));
            before = line;
            begins
        })
    }
}

/// The text with `\n` at line ends. Mail travels with `\r\n`, and some programs save it so: the names of
/// files tell, for the lines of a file may end so by themselves.
fn unix_lines(text: &[u8]) -> Vec<u8> {
    let mut names = text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.starts_with(b"+++ ")).peekable();
    if names.peek().is_none() || !names.all(|line| line.ends_with(b"\r\n")) {
        return text.to_vec();
    }
    let keep = |(at, byte): &(usize, &u8)| **byte != b'\r' || text.get(at + 1).is_some_and(|&next| next != b'\n');
    text.iter().enumerate().filter(keep).map(|(_, &byte)| byte).collect()
}

struct Reader<'a> {
    text: &'a [u8],
    /// Where the current line begins.
    at: usize,
    /// The current line's number.
    number: usize,
    cut: Vec<u8>,
    kept: usize,
}

/// What the lines between `diff --git` and the first hunk say.
#[derive(Default)]
struct Head {
    /// The line of `diff --git`, and the file it names.
    git: Option<(usize, Utf8PathBuf)>,
    kind: Option<ChangeKind>,
    from: Option<Utf8PathBuf>,
    to: Option<Utf8PathBuf>,
}

impl<'a> Reader<'a> {
    /// Reads one file's part of the diff, or passes over one line that belongs to none.
    fn section(&mut self) -> Result<Option<FileChange>, Failure> {
        if let Some(files) = self.line(0).strip_prefix(b"diff --git ") {
            let head = self.head(files)?;
            if self.stands_at_header()? {
                return self.change(head).map(Some);
            }
            let Some(path) = head.to.or(head.git.map(|(_, path)| path)) else { return Ok(None) };
            let kind = head.kind.unwrap_or(ChangeKind::Modified);
            return Ok(Some(FileChange { path, from: head.from, kind, hunks: Vec::new() }));
        }
        if self.stands_at_header()? {
            return self.change(Head::default()).map(Some);
        }
        self.refuse_binary()?;
        self.pass();
        Ok(None)
    }

    fn head(&mut self, files: &[u8]) -> Result<Head, Failure> {
        let line = self.number;
        let mut head = Head::default();
        if names::are_bare(files) {
            return Err(no_prefixes(line));
        }
        self.keep()?;
        while let Some(&header) = EXTENDED.iter().find(|header| self.line(0).starts_with(header.as_bytes())) {
            let value = self.line(0)[header.len()..].trim_ascii_end();
            match header {
                "new file mode " => head.kind = Some(ChangeKind::Created),
                "deleted file mode " => head.kind = Some(ChangeKind::Deleted),
                "rename from " | "copy from " => head.from = Some(names::path(value, false)?),
                "rename to " | "copy to " => head.to = Some(names::path(value, false)?),
                _ => {}
            }
            if header.contains("mode ") || header == "index " {
                self.refuse_mode(value, files)?;
            }
            self.keep()?;
        }
        self.refuse_binary()?;
        if head.to.is_none() {
            let path = names::of_git(files).ok_or_else(|| two_names(line, &String::from_utf8_lossy(files)))??;
            head.git = Some((line, path));
        }
        Ok(head)
    }

    /// Refuses what is no plain file: git's mode tells.
    fn refuse_mode(&self, value: &[u8], files: &[u8]) -> Result<(), Failure> {
        let what = match value.rsplit(|&byte| byte == b' ').next() {
            Some(mode) if mode.starts_with(b"120") && mode.len() == 6 => "a symbolic link",
            Some(mode) if mode.starts_with(b"160") && mode.len() == 6 => "a submodule",
            _ => return Ok(()),
        };
        let file =
            names::of_git(files).transpose()?.unwrap_or_else(|| String::from_utf8_lossy(files).trim_end().into());
        Err(broken(format!("line {}: `{file}` is {what}", self.number)).hint("nspatch takes diffs of text files only"))
    }

    fn refuse_binary(&self) -> Result<(), Failure> {
        let line = String::from_utf8_lossy(&self.line(0)[..self.line(0).len().min(1000)]);
        let line = line.trim_end();
        let names = line.strip_prefix("Binary files ").and_then(|rest| rest.strip_suffix(" differ"));
        let what = match names.and_then(|names| names.split_once(" and ")) {
            Some((old, new)) => format!("line {} changes a binary file: {old}, {new}", self.number),
            None if line == "GIT binary patch" => format!("line {} changes a binary file", self.number),
            None => return Ok(()),
        };
        Err(broken(what).hint("nspatch takes diffs of text files only"))
    }

    /// Whether the two name lines and a hunk follow: prose may begin a line with `---` as well.
    fn stands_at_header(&self) -> Result<bool, Failure> {
        let (old, new) = (self.line(0), self.line(1));
        if !old.starts_with(b"--- ") || !new.starts_with(b"+++ ") {
            return Ok(false);
        }
        if self.line(2).starts_with(b"@@ -") {
            return Ok(true);
        }
        let is_name = |line: &[u8]| [&b"a/"[..], b"b/", b"/dev/null"].iter().any(|name| line[4..].starts_with(name));
        if is_name(old) && is_name(new) {
            let what = format!("line {}: no hunk follows the names of a file", self.number + 2);
            return Err(broken(what).excerpt([shown(new), shown(self.line(2))]).hint(WRAPPED));
        }
        Ok(false)
    }

    fn change(&mut self, head: Head) -> Result<FileChange, Failure> {
        let line = self.number;
        let (old, new) = (names::bare(self.line(0)), names::bare(self.line(1)));
        if old == new && names::is_from_the_root(new) {
            return Err(no_prefixes(line));
        }
        let from_nothing = old == DEV_NULL || names::is_epoch(self.line(0));
        let kind = head.kind.unwrap_or(match (from_nothing, new == DEV_NULL) {
            (true, _) => ChangeKind::Created,
            (_, true) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        });
        let named = |name: &[u8]| (name != DEV_NULL).then(|| names::path(name, true)).transpose();
        let (old, new) = (named(old)?, named(new)?);
        let path = new.clone().or(old.clone()).ok_or_else(|| two_names(line, "/dev/null"))?;
        if let (Some(old), Some(new)) = (&old, &new) {
            let renamed = (head.from.as_ref(), head.to.as_ref());
            if renamed != (Some(old), Some(new)) && !names::are_one(old, new) {
                return Err(two_names(line, &format!("{old} {new}")));
            }
        }
        if let Some((line, named)) = head.git.filter(|(_, named)| *named != path) {
            return Err(two_names(line, &format!("{named} {path}")));
        }
        self.keep_old_name(&path)?;
        self.keep()?;
        let mut hunks = Vec::new();
        while self.line(0).starts_with(b"@@ -") {
            hunks.push(self.hunk(&path, hunks.len() + 1)?);
        }
        Ok(FileChange { path, from: head.from, kind, hunks })
    }

    /// Keeps the line of the old name, without the `~NAME` that quilt puts behind it.
    fn keep_old_name(&mut self, path: &Utf8PathBuf) -> Result<(), Failure> {
        let quilt = format!("--- a/{path}~");
        if self.line(0).starts_with(quilt.as_bytes()) {
            self.cut.extend(format!("--- a/{path}\n").bytes());
            self.pass();
            return Ok(());
        }
        self.keep()
    }

    fn hunk(&mut self, path: &Utf8PathBuf, number: usize) -> Result<Hunk, Failure> {
        let Some((old, new)) = ranges(self.line(0)) else {
            return Err(broken(format!("line {}: the head of hunk {number} of {path} cannot be read", self.number)));
        };
        let place = Place { path, number, head: self.number };
        self.keep()?;
        let mut left = (old.1, new.1);
        let mut lines = Vec::new();
        while left != (0, 0) {
            if self.at >= self.text.len() {
                return Err(place.cut_short());
            }
            let line = self.line(0).strip_suffix(b"\n").unwrap_or(self.line(0));
            if line.contains(&0) {
                return Err(broken(format!("line {} of {path} holds a NUL byte", self.number))
                    .hint("nspatch takes diffs of text files only"));
            }
            if !line.starts_with(b"\\") {
                let (sign, rest) = step(line, left).ok_or_else(|| place.misfit(self.number, line))?;
                lines.push((sign, line.get(1..).unwrap_or_default().to_vec()));
                left = rest;
            }
            self.keep()?;
        }
        if self.line(0).starts_with(b"\\ ") {
            self.keep()?;
        }
        if self.goes_on() {
            return Err(place.uncounted(self.number, self.line(0)));
        }
        Ok(Hunk { old_start: old.0, new_start: new.0, lines })
    }

    /// Whether the line after a hunk would be one of its lines, if only its head counted it.
    fn goes_on(&self) -> bool {
        let line = self.line(0).trim_ascii_end();
        match line.first() {
            Some(b'+') => !line.starts_with(b"+++ "),
            // What begins with two is the next file's name, or a signature's mark, or a rule. A list
            // puts one above its footer
            Some(b'-') if line.starts_with(b"--") => false,
            Some(b'-') => line != b"-" || !self.line(1).starts_with(b"To unsubscribe"),
            first => first == Some(&b' '),
        }
    }

    /// A line from here on; empty past the end.
    fn line(&self, ahead: usize) -> &'a [u8] {
        self.text[self.at..].split_inclusive(|&byte| byte == b'\n').nth(ahead).unwrap_or_default()
    }

    fn keep(&mut self) -> Result<(), Failure> {
        let line = self.line(0);
        self.cut.extend(line);
        if !line.ends_with(b"\n") {
            self.cut.push(b'\n');
        }
        self.kept += 1;
        if self.kept > MOST_LINES {
            return Err(broken(format!("the diff has more than {MOST_LINES} lines")));
        }
        self.pass();
        Ok(())
    }

    fn pass(&mut self) {
        self.at += self.line(0).len();
        self.number += 1;
    }
}

const WRAPPED: &str = "a mail program wrapped or cut the diff: save the mail's raw source";

/// Where a hunk stands.
struct Place<'a> {
    path: &'a Utf8PathBuf,
    number: usize,
    head: usize,
}

impl Place<'_> {
    fn cut_short(&self) -> Failure {
        let Place { path, number, head } = self;
        broken(format!("hunk {number} of {path} is cut short: the text ends before the lines that line {head} counts"))
            .hint("save the whole mail; its last lines are missing")
    }

    fn misfit(&self, line: usize, text: &[u8]) -> Failure {
        let Place { path, number, head } = self;
        broken(format!("line {line} does not fit into hunk {number} of {path}, whose lines line {head} counts"))
            .excerpt([shown(text)])
            .hint(WRAPPED)
    }

    fn uncounted(&self, line: usize, text: &[u8]) -> Failure {
        let Place { path, number, head } = self;
        broken(format!("line {head} counts the lines of hunk {number} of {path} wrongly: line {line} goes on with it"))
            .excerpt([shown(text)])
            .hint("a diff that was edited by hand needs its counts mended: `recountdiff` does it")
    }
}

/// A line as an excerpt shows it.
fn shown(line: &[u8]) -> String {
    let end = line.len().min(200);
    String::from_utf8_lossy(&line[..end]).trim_end().to_owned()
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

pub(super) fn broken(what: impl Into<String>) -> Failure {
    Failure::new(Class::Apply, Blame::Patch, what)
}

fn no_prefixes(line: usize) -> Failure {
    broken(format!("line {line}: the names of the files have no `a/` and `b/` before them"))
        .hint("make it with `git diff --default-prefix`, `git format-patch --default-prefix`, or `diff -u` from the folder above the tree")
}

fn two_names(line: usize, files: &str) -> Failure {
    broken(format!("line {line}: the two names of one file differ: {}", files.trim_end()))
        .hint("a file that is renamed needs the lines `rename from` and `rename to`")
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
