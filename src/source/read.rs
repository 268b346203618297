//! Reading what somebody names, with limits: it may be endless, huge, or no text at all.

use std::io::Read;

use camino::Utf8Path;
use flate2::read::MultiGzDecoder;

use crate::blame::Failure;

/// The most that one `--patch` may hold in bytes, unpacked.
pub(super) const LIMIT: u64 = 64 << 20;

/// The text of a file.
///
/// # Errors
///
/// It is no regular file, too large, or no text.
pub(super) fn file(path: &Utf8Path) -> Result<Vec<u8>, Failure> {
    let found = fs_err::metadata(path).map_err(|error| Failure::usage(error.to_string()).at("--patch"))?;
    if !found.is_file() {
        let what = if found.is_dir() { "a folder" } else { "a device or a pipe" };
        return Err(Failure::usage(format!("{path} is {what}, and no file"))
            .at("--patch")
            .hint("`--patch -` takes standard input"));
    }
    if found.len() > LIMIT {
        return Err(too_large(found.len()).at(path));
    }
    let file = fs_err::File::open(path).map_err(|error| Failure::usage(error.to_string()).at("--patch"))?;
    text(file).map_err(|failure| failure.at(path))
}

/// The text that something gives until its end.
///
/// # Errors
///
/// It gives too much, or what is no text.
pub(super) fn text(from: impl Read) -> Result<Vec<u8>, Failure> {
    let bytes = limited(from)?;
    let bytes = if bytes.starts_with(b"\x1f\x8b") { limited(MultiGzDecoder::new(&bytes[..]))? } else { bytes };
    let Some(at) = bytes.iter().position(|&byte| byte == 0) else { return Ok(bytes) };
    let line = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let failure = Failure::usage(format!("line {line} holds a NUL byte: this is no text"));
    Err(match &bytes[..] {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => failure.hint("it is UTF-16: save it as UTF-8"),
        [0xfd, b'7', b'z', ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] | [b'B', b'Z', b'h', ..] => {
            failure.hint("it is compressed: unpack it first")
        }
        _ => failure.hint("a patch is a mail, a mailbox or a diff"),
    })
}

fn limited(from: impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    from.take(LIMIT + 1).read_to_end(&mut bytes).map_err(|error| Failure::usage(format!("cannot be read: {error}")))?;
    match bytes.len() as u64 {
        size if size > LIMIT => Err(too_large(size)),
        _ => Ok(bytes),
    }
}

fn too_large(size: u64) -> Failure {
    let most = LIMIT >> 20;
    let size = if size > LIMIT + 1 { format!("{} MiB", size >> 20) } else { format!("more than {most} MiB") };
    Failure::usage(format!("it has {size}; a patch or a mailbox has at most {most} MiB"))
        .hint("take only the mails of the patch out of it")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn an_endless_source_is_read_to_the_limit_only() {
        let failure = text(std::io::repeat(b'x')).unwrap_err();
        assert_eq!(failure.what, "it has more than 64 MiB; a patch or a mailbox has at most 64 MiB");
    }

    #[test]
    fn what_is_packed_is_unpacked_to_the_limit_only() {
        let packed = |bytes: &[u8]| {
            let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packer.write_all(bytes).unwrap();
            packer.finish().unwrap()
        };
        assert_eq!(text(&packed(b"--- a/x\n")[..]).unwrap(), b"--- a/x\n");
        assert!(text(&packed(&vec![b'x'; LIMIT as usize + 1])[..]).unwrap_err().what.contains("more than 64 MiB"));
        assert!(text(&packed(b"--- a/x\n")[..15]).unwrap_err().what.contains("cannot be read"));
    }

    #[test]
    fn what_is_no_text_is_told_with_the_line() {
        let failure = text(&b"one\ntw\0o\n"[..]).unwrap_err();
        assert_eq!(failure.what, "line 2 holds a NUL byte: this is no text");
        assert_eq!(text(&b"\xff\xfed\0i\0"[..]).unwrap_err().hints, ["it is UTF-16: save it as UTF-8"]);
    }

    #[test]
    fn devices_folders_and_huge_files_are_refused_before_they_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let huge = root.join("huge");
        fs_err::File::create(&huge).unwrap().set_len(300 << 20).unwrap();
        let cases = [
            (Utf8Path::new("/dev/zero"), "is a device or a pipe"),
            (root, "is a folder"),
            (huge.as_path(), "it has 300 MiB"),
            (Utf8Path::new("/no/such/file"), "No such file"),
        ];
        for (path, said) in cases {
            let failure = file(path).unwrap_err();
            assert!(failure.what.contains(said) && failure.class == crate::blame::Class::Usage, "{failure:?}");
        }
    }
}
