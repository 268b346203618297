//! Writing in one piece: a reader sees the old file or the new one, never half of one.

use std::io::Write;

use camino::Utf8Path;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::blame::Failure;

/// Writes a file so that a crash or a full disk leaves the old one in place.
///
/// # Errors
///
/// Any failure of the file system, with the path in its message.
pub fn write_atomically(path: &Utf8Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(Utf8Path::new("."));
    fs_err::create_dir_all(folder)?;
    let name = |error| Failure::io(&error).at(path);
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(name)?;
    file.write_all(bytes).map_err(name)?;
    file.as_file().sync_data().map_err(name)?;
    file.persist(path).map_err(|error| name(error.error))?;
    Ok(())
}

/// Writes a value as indented JSON, in one piece.
///
/// # Errors
///
/// As [`write_atomically`].
pub fn write_json(path: &Utf8Path, value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_vec_pretty(value)
        .map_err(|error| Failure::internal(format!("a value does not become JSON: {error}")).at(path))?;
    text.push(b'\n');
    write_atomically(path, &text)
}

/// Reads a value that [`write_json`] wrote.
///
/// # Errors
///
/// The file is not there, or does not hold such a value.
pub fn read_json<T: DeserializeOwned>(path: &Utf8Path) -> Result<T, Failure> {
    let text = fs_err::read(path)?;
    serde_json::from_slice(&text).map_err(|error| {
        Failure::usage(format!("cannot be read: {error}"))
            .at(path)
            .hint("the file was cut, edited, or written by another version of nspatch")
    })
}

/// The part of a path that is there but no folder, so that the path cannot become one.
pub fn file_in_the_way(folder: &Utf8Path) -> Option<&Utf8Path> {
    folder.ancestors().filter(|part| !part.as_str().is_empty()).find(|part| part.exists()).filter(|part| !part.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("kept.json");
        write_json(&path, &1).unwrap();
        // A map with keys that are no strings does not become JSON
        let unwritable = std::collections::HashMap::from([((1, 2), 3)]);
        assert!(write_json(&path, &unwritable).is_err());
        assert_eq!(read_json::<i32>(&path).unwrap(), 1);
    }
}
