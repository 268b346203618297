//! Opening an archive by what it holds, not by what it is called.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::time::Duration;

use camino::Utf8Path;

use super::pour::damaged;
use crate::blame::Failure;
use crate::process::{Call, Ended, Exit};

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

    /// The program that takes the compression off what it reads, where one is needed and
    /// installed: a child works beside nspatch, which has enough to do with what comes out.
    pub(super) fn filter(self, limit: Duration) -> Option<Call> {
        let (program, flags) = match self {
            Packing::Plain => return None,
            Packing::Xz => ("xz", "-dcq"),
            Packing::Gzip => ("gzip", "-dcq"),
            Packing::Zstd => ("zstd", "-dcq"),
        };
        // Each of them reads options from the environment
        let options = ["XZ_OPT", "XZ_DEFAULTS", "GZIP", "ZSTD_NBTHREADS"];
        let call = Call::new(program).arg(flags).without(options).deadline(limit);
        call.is_installed().then_some(call)
    }

    /// Fails if a filter met something bad in the archive. One that was ended by a broken pipe met
    /// nothing: its reader stopped before it.
    pub(super) fn judge(ended: &Ended) -> Result<(), Failure> {
        const BROKEN_PIPE: i32 = 13;
        let said = ended.complaint();
        match ended.exit {
            Exit::Success | Exit::Signal(BROKEN_PIPE) => Ok(()),
            Exit::Status(_) if ["nexpected end", "remature end"].iter().any(|text| said.contains(text)) => {
                Err(damaged(io::ErrorKind::UnexpectedEof.into()))
            }
            Exit::Status(_) if !said.contains("memory") => Err(damaged(io::Error::other(said))),
            _ => Err(ended.failure()),
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

    #[test]
    fn nspatch_itself_unpacks_as_the_programs_do_and_both_notice_a_cut() {
        let tar = crate::tree::mini::tar(&crate::tree::mini::items("linux"));
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("linux");
        for (ending, whole) in crate::tree::mini::packed(&tar).into_iter().skip(1) {
            for (bytes, good) in [(&whole[..], true), (&whole[..whole.len() - 1], false)] {
                fs_err::write(&path, bytes).unwrap();
                let packing = Packing::of(&path).unwrap();
                let mut own = Vec::new();
                let read = packing.unpacked(io::Cursor::new(bytes.to_vec())).unwrap().read_to_end(&mut own);
                assert_eq!((read.is_ok(), own == tar), (good, good || own == tar), "{ending}");
                let Some(filter) = packing.filter(Duration::from_secs(60)) else {
                    assert_eq!(packing, Packing::Zstd, "the doctor asks for the other programs");
                    continue;
                };
                let take = |mut pipe: std::io::PipeReader| {
                    let mut taken = Vec::new();
                    Ok(pipe.read_to_end(&mut taken).map(|_| taken)?)
                };
                let (taken, ended) = filter.run_filter(std::fs::File::open(&path).unwrap(), take).unwrap();
                assert_eq!(Packing::judge(&ended).is_ok(), good, "{ending}: {}", ended.complaint());
                assert!(!good || taken.unwrap() == tar, "{ending}");
            }
        }
    }
}
