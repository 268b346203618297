//! What gets built: a tree, and at most one edit of it.

use std::fmt;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// The kinds of what gets built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// The tree as it is.
    Base,
    /// The tree with the patch.
    Patched,
    /// The tree with an already merged patch taken out again.
    Reversed,
    /// The tree with the stall that the patch once cured put back.
    Control,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Variant::Base => "base",
            Variant::Patched => "patched",
            Variant::Reversed => "reversed",
            Variant::Control => "control",
        })
    }
}

/// A variant of a tree as a commit: edits are made in git's index, never in somebody's files, so
/// an interrupted run leaves nothing edited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// The kind.
    pub variant: Variant,
    /// The commit, 40 hexadecimal digits. The same edit of the same tree is the same commit.
    pub commit: String,
    /// The commit's git tree, which names the content alone.
    pub content: String,
    /// The files that the edit touches; none for `base`.
    pub files: Vec<Utf8PathBuf>,
}
