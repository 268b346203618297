//! Files that outlive a process: the cache, run folders, locks, and writing in one piece.

mod cache;
mod digest;
mod file;
mod lock;
mod scratch;
mod size;

pub use cache::Cache;
pub use digest::{Digest, digest_file};
pub use file::{file_in_the_way, read_json, write_atomically, write_json};
pub use lock::Lock;
pub use size::bytes_on_disk;
