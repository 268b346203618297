//! Patches and mails from somewhere: the catalogue's `patches/`, a file, a folder, a list's archive.

mod about;
mod archive;
mod bundle;
mod check;
mod diff;
mod draft;
mod extract;
mod mail;
mod mbox;
mod mime;
mod names;
mod patch;
mod plain;
mod read;
mod words;

pub use about::{About, Author, Commit, ControlEntry, Fate, Figure, Mailing, Outcome, PortEntry, Probe, Span};
pub use archive::{ARCHIVE, Letter, from_archive};
pub use bundle::{Bundle, Order, from_path, from_stdin};
pub use diff::{ChangeKind, Diff, Direction, FileChange, Hunk, Sign};
pub use draft::add;
pub use mail::Mail;
pub use patch::{Control, Listed, Part, Patch, Port, find, line_of, load_all, names, overview, passed_over};
pub use words::slug;
