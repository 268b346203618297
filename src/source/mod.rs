//! Patches from somewhere: the catalogue's `patches/`, or a file.

mod about;
mod diff;
mod extract;
mod mail;
mod patch;

pub use about::{About, Author, Commit, ControlEntry, Fate, Figure, Mailing, Outcome, PortEntry, Probe, Span};
pub use diff::{ChangeKind, Diff, Direction, FileChange, Hunk, Sign};
pub use patch::{Control, Patch, Port, find, from_file, load_all};
