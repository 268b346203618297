//! The names of files in a diff.

use camino::{Utf8Path, Utf8PathBuf};

use super::extract::broken;
use crate::blame::Failure;

/// The name of what is not there.
pub(super) const DEV_NULL: &[u8] = b"/dev/null";

/// The name in a `---` or `+++` line, without the time that may follow a tab.
pub(super) fn bare(line: &[u8]) -> &[u8] {
    let name = line.get(4..).unwrap_or_default();
    name.split(|&byte| byte == b'\t').next().unwrap_or_default().trim_ascii_end()
}

/// Whether the time in a `---` line says that there was no file.
pub(super) fn is_epoch(line: &[u8]) -> bool {
    let time = line.split(|&byte| byte == b'\t').nth(1).unwrap_or_default();
    time.starts_with(b"1970-01-01 ") || time.starts_with(b"Thu Jan  1 ")
}

/// The path within the tree: without the `a/` or `b/` if names have one, and never one that leads
/// out of the tree.
pub(super) fn path(name: &[u8], prefixed: bool) -> Result<Utf8PathBuf, Failure> {
    let text = String::from_utf8_lossy(name);
    let text = text.trim_end();
    let path = match text.split_once('/') {
        Some((_, rest)) if prefixed => rest,
        _ => text,
    };
    let path = match path.split_once('~') {
        Some((plain, _)) => plain,
        None => path,
    };
    let outside = |part: &str| matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git");
    let odd = |c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER;
    // Git quotes a name that holds unusual bytes; no file of a kernel does
    if text.starts_with(['/', '"']) || path.split('/').any(outside) || path.contains(odd) {
        return Err(broken(format!("it touches `{text}`, which is not a file of a kernel tree"))
            .hint("the names in a diff are relative to the tree's root, behind `a/` and `b/`"));
    }
    Ok(path.into())
}

/// The file that the names behind `diff --git` agree on; `None` if they do not.
pub(super) fn of_git(names: &[u8]) -> Option<Result<Utf8PathBuf, Failure>> {
    let names = names.trim_ascii_end();
    let (old, new) = (names.get(..names.len() / 2)?, names.get(names.len() / 2 + 1..)?);
    let tail = |name: &[u8]| name.iter().position(|&byte| byte == b'/').map(|at| at + 1);
    (names.get(names.len() / 2) == Some(&b' ') && old.get(tail(old)?..) == new.get(tail(new)?..))
        .then(|| path(new, true))
}

/// Whether the names behind `diff --git` are the same text: git was told to put no `a/` and `b/` before them.
pub(super) fn are_bare(names: &[u8]) -> bool {
    let names = names.trim_ascii_end();
    let half = names.len() / 2;
    names.get(half) == Some(&b' ') && names.get(..half) == names.get(half + 1..)
}

/// Whether a name begins with a folder of the kernel's root that holds most of its sources, so that nothing
/// can be cut off before it.
pub(super) fn is_from_the_root(name: &[u8]) -> bool {
    const FOLDERS: [&str; 14] = [
        "arch", "block", "crypto", "drivers", "fs", "include", "init", "ipc", "kernel", "lib", "mm", "net", "security",
        "sound",
    ];
    let first = name.split(|&byte| byte == b'/').next().unwrap_or_default();
    FOLDERS.iter().any(|folder| folder.as_bytes() == first)
}

/// Whether the old and the new name are of one file: some programs keep the old one as `FILE.orig`.
pub(super) fn are_one(old: &Utf8Path, new: &Utf8Path) -> bool {
    let plain = |path: &Utf8Path| path.as_str().trim_end_matches(".orig").trim_end_matches(".old").to_owned();
    old == new || plain(old) == new.as_str()
}
