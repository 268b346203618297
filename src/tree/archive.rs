//! Opening an archive by what it holds, not by what it is called.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use camino::Utf8Path;

use crate::blame::Failure;

/// How a tar archive is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Xz,
    Gzip,
    Zstd,
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Packing::Plain => "plain",
            Packing::Xz => "xz",
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        })
    }
}

impl Packing {
    /// Tells the packing by the first bytes of a file.
    pub(super) fn of(path: &Utf8Path) -> Result<Self, Failure> {
        let mut start = Vec::new();
        fs_err::File::open(path)?.take(512).read_to_end(&mut start)?;
        Self::of_bytes(&start).ok_or_else(|| unknown(&start).at(path))
    }

    fn of_bytes(start: &[u8]) -> Option<Self> {
        match start {
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Packing::Xz),
            [0x1f, 0x8b, ..] => Some(Packing::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Packing::Zstd),
            _ if start.get(257..262) == Some(b"ustar") => Some(Packing::Plain),
            _ => None,
        }
    }

    /// The archive's bytes without their compression. A cut stream gives an error, not an early end.
    pub(super) fn unpacked<R: Read + Send + 'static>(self, packed: R) -> io::Result<Box<dyn Read + Send>> {
        let packed = BufReader::with_capacity(1 << 18, packed);
        Ok(match self {
            Packing::Plain => Box::new(packed),
            Packing::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(packed)),
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(packed)),
            Packing::Zstd => Box::new(zstd::Decoder::with_buffer(packed)?),
        })
    }
}

fn unknown(start: &[u8]) -> Failure {
    let failure = Failure::usage("not an archive that can be read: neither tar nor tar in xz, gzip or zstd");
    match start {
        [] => failure.hint("the file is empty"),
        [b'B', b'Z', b'h', ..] => {
            failure.hint("bzip2 is not read: `bunzip2` it, or take the .tar.xz of the same release")
        }
        _ if start.trim_ascii_start().starts_with(b"<") => {
            failure.hint("it is a web page: the address may want a login, or names no file")
        }
        _ => failure.hint("`file` may tell what it is"),
    }
}

/// Counts the bytes that went through, to be read from elsewhere.
pub(super) struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R> Counted<R> {
    pub(super) fn new(inner: R) -> (Self, Arc<AtomicU64>) {
        let count = Arc::new(AtomicU64::new(0));
        (Counted { inner, count: Arc::clone(&count) }, count)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_archive_is_refused_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("linux.tar.xz");
        let cases: [(&[u8], &str); 4] =
            [(b"", "empty"), (b"BZh91AY", "bzip2"), (b"\n<!DOCTYPE html>", "web page"), (b"int main(void)", "file")];
        for (bytes, reason) in cases {
            fs_err::write(&path, bytes).unwrap();
            let failure = Packing::of(&path).unwrap_err();
            assert!(failure.hints[0].contains(reason), "{failure:?}");
        }
    }
}
