//! What an archive lists, checked before any of it becomes a commit: nothing outside, nothing
//! twice, nothing below a file or a link.

use std::collections::{BTreeMap, BTreeSet};

use crate::blame::Failure;

/// How many symbolic links are followed before a chain counts as endless, as Linux has it.
const MAX_LINKS: usize = 40;

/// A file or a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// The number under which its content was stored.
    pub(super) mark: u64,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File { executable: bool },
    Link { target: Vec<u8> },
}

/// The entries of an archive by their path.
#[derive(Debug, Default)]
pub(super) struct Listing {
    leaves: BTreeMap<Vec<u8>, Leaf>,
    folders: BTreeSet<Vec<u8>>,
}

/// The failure of an archive that must not be imported.
pub(super) fn refused(path: &[u8], why: &str) -> Failure {
    Failure::usage(format!("the archive is refused: `{}` {why}", String::from_utf8_lossy(path)))
        .hint("nothing of it was kept; get the archive from where the kernel is published")
}

impl Listing {
    pub(super) fn folder(&mut self, raw: &[u8]) -> Result<(), Failure> {
        let path = clean(raw)?;
        if self.leaves.contains_key(&path) {
            return Err(refused(raw, "is listed twice"));
        }
        self.folders.insert(path);
        Ok(())
    }

    pub(super) fn leaf(&mut self, raw: &[u8], leaf: Leaf) -> Result<(), Failure> {
        let path = clean(raw)?;
        if path.is_empty() || self.folders.contains(&path) || self.leaves.contains_key(&path) {
            return Err(refused(raw, "is listed twice"));
        }
        self.leaves.insert(path, leaf);
        Ok(())
    }

    /// A second name of an entry that stands before it.
    pub(super) fn hard_link(&mut self, raw: &[u8], target: &[u8]) -> Result<(), Failure> {
        let Some(leaf) = self.leaves.get(&clean(target)?).cloned() else {
            return Err(refused(raw, "is a link to a file that does not stand before it"));
        };
        self.leaf(raw, leaf)
    }

    pub(super) fn len(&self) -> usize {
        self.leaves.len() + self.folders.len()
    }

    /// The entries without the one folder that holds them all.
    pub(super) fn finish(mut self) -> Result<BTreeMap<Vec<u8>, Leaf>, Failure> {
        self.check_parents()?;
        self.strip_top();
        for (path, leaf) in &self.leaves {
            if let Kind::Link { target } = &leaf.kind
                && !self.stays_inside(path, target)
            {
                return Err(refused(path, "is a link that leads out of the archive"));
            }
        }
        Ok(self.leaves)
    }

    fn check_parents(&self) -> Result<(), Failure> {
        for path in self.leaves.keys().chain(&self.folders) {
            for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
                if self.leaves.contains_key(&path[..at]) {
                    return Err(refused(path, "lies below a file or a link"));
                }
            }
        }
        Ok(())
    }

    fn strip_top(&mut self) {
        let tops: BTreeSet<_> = self.leaves.keys().map(|path| path.split(|byte| *byte == b'/').next()).collect();
        let nested = self.leaves.keys().all(|path| path.contains(&b'/'));
        if let (true, 1, Some(Some(top))) = (nested, tops.len(), tops.first()) {
            let cut = top.len() + 1;
            self.leaves =
                std::mem::take(&mut self.leaves).into_iter().map(|(path, leaf)| (path[cut..].to_vec(), leaf)).collect();
        }
    }

    /// Walks a link's target as the system would, through the links of the archive.
    fn stays_inside(&self, link: &[u8], target: &[u8]) -> bool {
        let mut at: Vec<&[u8]> = link.split(|byte| *byte == b'/').collect();
        at.pop();
        let mut ahead: Vec<&[u8]> = steps(target).collect();
        let (mut absolute, mut links) = (target.starts_with(b"/"), 1);
        while let Some(step) = ahead.pop() {
            if absolute || links > MAX_LINKS {
                return false;
            }
            match step {
                b"" | b"." => {}
                b".." if at.pop().is_none() => return false,
                b".." => {}
                step => {
                    at.push(step);
                    if let Some(Leaf { kind: Kind::Link { target }, .. }) = self.leaves.get(&at.join(&b'/')) {
                        at.pop();
                        ahead.extend(steps(target));
                        absolute = target.starts_with(b"/");
                        links += 1;
                    }
                }
            }
        }
        !absolute && !target.is_empty()
    }
}

/// The parts of a link's target, last one first.
fn steps(target: &[u8]) -> impl Iterator<Item = &[u8]> {
    target.rsplit(|byte| *byte == b'/')
}

/// A path as it is listed, relative and without `.` parts.
fn clean(raw: &[u8]) -> Result<Vec<u8>, Failure> {
    if raw.starts_with(b"/") {
        return Err(refused(raw, "is an absolute path"));
    }
    let mut parts = Vec::new();
    for part in raw.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => return Err(refused(raw, "points out of the archive")),
            part if part.eq_ignore_ascii_case(b".git") => {
                return Err(refused(raw, "belongs to a git repository; give the unpacked folder instead"));
            }
            part if part.contains(&0) => return Err(refused(raw, "holds a zero byte")),
            part => parts.push(part),
        }
    }
    Ok(parts.join(&b'/'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(mark: u64) -> Leaf {
        Leaf { mark, kind: Kind::File { executable: false } }
    }

    fn link(target: &str) -> Leaf {
        Leaf { mark: 0, kind: Kind::Link { target: target.into() } }
    }

    fn links(links: &[(&str, &str)]) -> Result<BTreeMap<Vec<u8>, Leaf>, Failure> {
        let mut listing = Listing::default();
        listing.leaf(b"linux/Makefile", file(1))?;
        listing.leaf(b"linux/a/b/file", file(2))?;
        for (path, target) in links {
            listing.leaf(path.as_bytes(), link(target))?;
        }
        listing.finish()
    }

    #[test]
    fn links_inside_stay_and_links_outside_are_refused() {
        let inside: &[&[(&str, &str)]] = &[
            &[("linux/l", "a/b/file")],
            &[("linux/a/b/l", "../../Makefile")],
            &[("linux/l", "dangling/but/inside")],
            &[("linux/a/up", ".."), ("linux/l", "a/up/a")],
        ];
        for case in inside {
            assert!(links(case).is_ok(), "{case:?}");
        }
        let outside: &[&[(&str, &str)]] = &[
            &[("linux/l", "/etc/passwd")],
            &[("linux/l", "..")],
            &[("linux/l", "../linux/Makefile")],
            &[("linux/a/b/l", "../../../x")],
            // By its letters the second stays inside; by the first link it does not
            &[("linux/a/here", "."), ("linux/l", "a/here/../../x")],
            &[("linux/l", "m"), ("linux/m", "l")],
            &[("linux/l", "")],
        ];
        for case in outside {
            assert!(links(case).is_err(), "{case:?}");
        }
    }

    #[test]
    fn an_archive_without_a_top_folder_is_kept_as_it_is() {
        let mut listing = Listing::default();
        listing.leaf(b"./Makefile", file(1)).unwrap();
        listing.leaf(b"./kernel/fork.c", file(2)).unwrap();
        let paths: Vec<_> = listing.finish().unwrap().into_keys().collect();
        assert_eq!(paths, [b"Makefile".to_vec(), b"kernel/fork.c".to_vec()]);
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_lies_inside_and_below_folders_only(
            paths in prop::collection::vec("(/|\\./|\\.\\./)?[ab.]{1,2}(/[ab.]{1,2}){0,3}", 1..8),
        ) {
            let mut listing = Listing::default();
            let added = paths.iter().all(|path| listing.leaf(path.as_bytes(), file(1)).is_ok());
            if let (true, Ok(kept)) = (added, listing.finish()) {
                for path in kept.keys() {
                    let text = String::from_utf8(path.clone()).unwrap();
                    prop_assert!(!text.starts_with('/') && !text.split('/').any(|part| matches!(part, "" | "." | "..")));
                    let below = [&path[..], b"/"].concat();
                    prop_assert!(kept.keys().all(|other| !other.starts_with(&below)));
                }
            }
        }
    }
}
