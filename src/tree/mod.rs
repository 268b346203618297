//! Kernel trees: resolved, imported, leased. Every tree becomes a commit in a git repository.

mod answer;
mod archive;
mod debian;
mod download;
mod folder;
mod health;
mod import;
mod kernel;
mod lease;
mod listing;
#[cfg(test)]
mod mini;
mod own;
mod packers;
mod places;
mod pour;
mod remote;
mod repository;
mod resolve;
mod shelf;
mod space;

pub use lease::Workshop;
pub use places::{Address, Places};
pub use repository::{CommitName, Repository};
pub use resolve::{resolve, resolve_in};
pub use shelf::{Shelf, Use, shelves};

/// A kernel source at a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// As the user named it, such as `debian:6.12`.
    pub name: String,
    /// The repository that holds it.
    pub repository: Repository,
    /// The commit, 40 hexadecimal digits.
    pub commit: String,
    /// The kernel's version by its Makefile, such as `6.12.117`.
    pub version: String,
    /// Where it came from: a package with its version, an address, a folder.
    pub origin: String,
}
