//! Content addresses: SHA-256 over labelled fields.

use std::io::Read;

use camino::Utf8Path;
use sha2::{Digest as _, Sha256};

use crate::blame::Failure;

/// Builds the address of something from all that went into it.
pub struct Digest(Sha256);

impl Digest {
    /// Starts an address of a kind; equal fields of different kinds differ.
    pub fn of(kind: &str) -> Self {
        Digest(Sha256::new()).field("kind", kind)
    }

    /// Adds a field. Lengths are hashed too, so that no two lists of fields run together.
    pub fn field(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.0.update((name.len() as u64).to_le_bytes());
        self.0.update(name);
        self.0.update((value.len() as u64).to_le_bytes());
        self.0.update(value);
        self
    }

    /// The address: 64 hexadecimal digits.
    pub fn hex(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The SHA-256 of a file's bytes in hexadecimal.
///
/// # Errors
///
/// The file cannot be read.
pub fn digest_file(path: &Utf8Path) -> Result<String, Failure> {
    let mut file = fs_err::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            n => hasher.update(&buffer[..n]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_together() {
        assert_ne!(Digest::of("x").field("a", "bc").hex(), Digest::of("x").field("ab", "c").hex());
        assert_ne!(Digest::of("x").field("a", "b").hex(), Digest::of("y").field("a", "b").hex());
        assert_eq!(Digest::of("x").field("a", "b").hex(), Digest::of("x").field("a", "b").hex());
    }
}
