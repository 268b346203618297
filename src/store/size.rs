//! How much room things take.

use std::os::unix::fs::MetadataExt;

use camino::Utf8Path;

/// The bytes on disk of a file, or of a folder with all that is below it. What vanishes meanwhile
/// does not count.
pub fn bytes_on_disk(path: &Utf8Path) -> u64 {
    let Ok(look) = path.symlink_metadata() else { return 0 };
    let own = look.blocks() * 512;
    if !look.is_dir() {
        return own;
    }
    let entries = path.read_dir_utf8().into_iter().flatten().flatten();
    own + entries.map(|entry| bytes_on_disk(entry.path())).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_takes_what_is_below_it_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        assert_eq!(bytes_on_disk(&root.join("none")), 0);
        let empty = bytes_on_disk(root);
        fs_err::create_dir(root.join("below")).unwrap();
        let mut file = fs_err::File::create(root.join("below/file")).unwrap();
        std::io::Write::write_all(&mut file, &[1; 65536]).unwrap();
        file.sync_all().unwrap();
        fs_err::os::unix::fs::symlink("/", root.join("link")).unwrap();
        let full = bytes_on_disk(root);
        assert!((65536..2 * 65536).contains(&(full - empty)), "{empty} {full}");
    }
}
