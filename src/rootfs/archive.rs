//! The initramfs: a cpio archive that depends on its content alone.

use std::io;

use cpio::newc::{Builder, ModeFileType, trailer};

use super::description::Description;

/// Packs the directories, the nodes and the guest's program. All times are 0, and inode numbers
/// count up, so equal content gives equal bytes.
///
/// # Errors
///
/// Writing into memory does not fail; the program is larger than a cpio archive can hold.
pub(super) fn archive(description: &Description, init: &[u8]) -> io::Result<Vec<u8>> {
    let mut inode = 0;
    let mut entry = |path: &str, kind: ModeFileType, permissions: u32| {
        inode += 1;
        Builder::new(path.trim_start_matches('/')).ino(inode).mode(permissions).set_mode_file_type(kind)
    };
    let mut bytes = Vec::new();
    for path in &description.directories {
        bytes = entry(path, ModeFileType::Directory, 0o755).nlink(2).write(bytes, 0).finish()?;
    }
    for node in &description.nodes {
        let permissions = node.permissions().ok_or(io::ErrorKind::InvalidInput)?;
        let device = entry(&node.path, ModeFileType::Char, permissions);
        bytes = device.rdev_major(node.major).rdev_minor(node.minor).write(bytes, 0).finish()?;
    }
    let size = u32::try_from(init.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut file = entry("/init", ModeFileType::Regular, 0o755).write(bytes, size);
    io::Write::write_all(&mut file, init)?;
    trailer(file.finish()?)
}

/// Packs programs by their names, for the root of the guest. The kernel unpacks one archive over the other.
///
/// # Errors
///
/// As [`archive`].
pub(super) fn programs(files: &[(String, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (name, content) in files {
        let size = u32::try_from(content.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let entry = Builder::new(name).mode(0o755).set_mode_file_type(ModeFileType::Regular);
        let mut file = entry.write(bytes, size);
        io::Write::write_all(&mut file, content)?;
        bytes = file.finish()?;
    }
    trailer(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use crate::catalogue::Catalogue;

    #[test]
    fn the_archive_holds_directories_then_nodes_then_the_program() {
        let description = Description::load(&Catalogue::shipped()).unwrap();
        let bytes = archive(&description, b"program").unwrap();
        assert_eq!(bytes.len() % 4, 0);
        let mut rest = &bytes[..];
        let mut seen = Vec::new();
        loop {
            let mut reader = cpio::newc::Reader::new(rest).unwrap();
            if reader.entry().is_trailer() {
                break;
            }
            let entry = reader.entry();
            assert_eq!((entry.mtime(), entry.uid(), entry.gid()), (0, 0, 0));
            seen.push((entry.name().to_owned(), entry.mode(), entry.rdev_major(), entry.rdev_minor()));
            let mut content = Vec::new();
            reader.read_to_end(&mut content).unwrap();
            assert_eq!(content, if seen.last().unwrap().0 == "init" { &b"program"[..] } else { b"" });
            rest = reader.finish().unwrap();
        }
        assert_eq!(seen.first().unwrap(), &("dev".to_owned(), 0o040_755, 0, 0));
        assert!(seen.contains(&("dev/console".to_owned(), 0o020_600, 5, 1)), "{seen:?}");
        assert_eq!(seen.last().unwrap(), &("init".to_owned(), 0o100_755, 0, 0));
    }
}
