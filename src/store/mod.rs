//! Files that outlive a process: the cache, run folders, locks, and writing in one piece.

mod cache;
mod digest;
mod file;

pub use cache::{Cache, Lock};
pub use digest::{Digest, digest_file};
pub use file::{read_json, write_atomically, write_json};
