//! From an archive's stream to git's fast-import, in one pass and without files in between.
//!
//! The contents come first, each under a number; the commit comes last, when the whole archive was
//! read and found good. A bad archive therefore never gives a commit.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};

use tar::{Archive, Entry, EntryType};

use super::listing::{Kind, Leaf, Listing, refused};
use crate::blame::Failure;
use crate::interrupt;

/// More than any kernel has, and little enough not to fill a disk by mistake or malice.
const MAX_ENTRIES: usize = 2_000_000;
const MAX_BYTES: u64 = 32 << 30;
const BLOCK: u64 = 512;

/// The files of an archive by their path.
pub(super) type Leaves = BTreeMap<Vec<u8>, Leaf>;

/// Writes the contents of an archive's files in fast-import's language, to the one of several readers that
/// got least so far; `step` is called with the name of each entry.
pub(super) fn pour<W: Write>(
    archive: impl Read,
    into: impl IntoIterator<Item = W>,
    mut step: impl FnMut(&[u8]),
) -> Result<Leaves, Failure> {
    let mut archive = Archive::new(Tally { inner: archive, read: 0 });
    let outs = into.into_iter().map(|out| Out { pipe: io::BufWriter::with_capacity(1 << 18, out), bytes: 0 });
    let mut stream = Stream { outs: outs.collect(), marks: 0 };
    let mut listing = Listing::default();
    let mut end = 0;
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        interrupt::check()?;
        end = entry.raw_file_position() + stored_size(&entry)?.next_multiple_of(BLOCK);
        let path = entry.path_bytes().into_owned();
        step(&path);
        take(&mut entry, &path, &mut listing, &mut stream)?;
        if listing.len() > MAX_ENTRIES {
            return Err(refused(&path, "is one entry too many for a kernel"));
        }
    }
    finish_reading(archive.into_inner(), end)?;
    let leaves = listing.finish()?;
    stream.outs.iter_mut().try_for_each(|out| out.pipe.flush())?;
    Ok(leaves)
}

/// Writes the end of a stream without a commit.
pub(super) fn done(mut into: impl Write) -> Result<(), Failure> {
    Ok(into.write_all(b"done\n")?)
}

/// Writes an archive's files as one commit on `refs/heads/main`, and the end of the stream. Contents that another
/// reader got go by their object's name.
pub(super) fn commit(into: impl Write, leaves: &Leaves, elsewhere: &HashMap<u64, String>) -> Result<(), Failure> {
    let mut out = io::BufWriter::with_capacity(1 << 18, into);
    // Nothing of when or where: the same archive gives the same commit everywhere
    out.write_all(b"commit refs/heads/main\ncommitter nspatch <nspatch@localhost> 946684800 +0000\n")?;
    out.write_all(b"data 7\nimport\n\n")?;
    for (path, leaf) in leaves {
        let mode = match leaf.kind {
            Kind::File { executable: false } => "100644",
            Kind::File { executable: true } => "100755",
            Kind::Link { .. } => "120000",
        };
        let content = elsewhere.get(&leaf.mark).cloned().unwrap_or_else(|| format!(":{}", leaf.mark));
        writeln!(out, "M {mode} {content} {}", quoted(path))?;
    }
    out.write_all(b"\n")?;
    out.flush()?;
    done(out.get_mut())
}

fn take(
    entry: &mut Entry<impl Read>,
    path: &[u8],
    listing: &mut Listing,
    stream: &mut Stream<impl Write>,
) -> Result<(), Failure> {
    match entry.header().entry_type() {
        EntryType::XGlobalHeader => Ok(()),
        EntryType::Directory => listing.folder(path),
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
            refuse_sparse_pax(entry, path)?;
            let executable = entry.header().mode().map_err(damaged)? & 0o100 != 0;
            let mark = stream.blob(entry.size(), entry, path)?;
            listing.leaf(path, Leaf { mark, kind: Kind::File { executable } })
        }
        EntryType::Symlink => {
            let target = target(entry, path)?;
            let mark = stream.blob(target.len() as u64, &mut &target[..], path)?;
            listing.leaf(path, Leaf { mark, kind: Kind::Link { target } })
        }
        EntryType::Link => listing.hard_link(path, &target(entry, path)?),
        _ => Err(refused(path, "is neither a file, a folder nor a link")),
    }
}

fn target(entry: &Entry<impl Read>, path: &[u8]) -> Result<Vec<u8>, Failure> {
    entry.link_name_bytes().map(Vec::from).ok_or_else(|| refused(path, "is a link to nothing"))
}

/// The tar crate knows GNU's own sparse format, but not the one in pax headers: there it would
/// take the map of the holes for the content.
fn refuse_sparse_pax(entry: &mut Entry<impl Read>, path: &[u8]) -> Result<(), Failure> {
    let Some(extensions) = entry.pax_extensions().map_err(damaged)? else {
        return Ok(());
    };
    for extension in extensions {
        if extension.map_err(damaged)?.key_bytes().starts_with(b"GNU.sparse.") {
            return Err(refused(path, "is a sparse file"));
        }
    }
    Ok(())
}

fn stored_size(entry: &Entry<impl Read>) -> Result<u64, Failure> {
    if entry.header().entry_type() == EntryType::GNUSparse {
        entry.header().entry_size().map_err(damaged)
    } else {
        Ok(entry.size())
    }
}

/// An archive ends with zero blocks: without one after the last entry it was cut. The rest is read
/// so that a compressed stream gets to its own checksum.
fn finish_reading(mut rest: Tally<impl Read>, end: u64) -> Result<(), Failure> {
    if rest.read < end + BLOCK {
        return Err(damaged(io::ErrorKind::UnexpectedEof.into()));
    }
    io::copy(&mut rest, &mut io::sink()).map_err(damaged)?;
    Ok(())
}

/// The failure of an archive that cannot be read to its end.
pub(super) fn damaged(error: io::Error) -> Failure {
    let failure = match error.kind() {
        io::ErrorKind::UnexpectedEof => Failure::usage("the archive is cut short"),
        _ => Failure::usage(format!("the archive is damaged: {error}")),
    };
    failure.hint("nothing of it was kept; get the archive again and compare its checksum")
}

/// Counts what was read.
struct Tally<R> {
    inner: R,
    read: u64,
}

impl<R: Read> Read for Tally<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}

/// A reader of a stream, and how many bytes of contents it got.
struct Out<W: Write> {
    pipe: io::BufWriter<W>,
    bytes: u64,
}

/// Fast-import streams being written.
struct Stream<W: Write> {
    outs: Vec<Out<W>>,
    marks: u64,
}

impl<W: Write> Stream<W> {
    fn blob(&mut self, size: u64, content: &mut impl Read, path: &[u8]) -> Result<u64, Failure> {
        let poured = self.outs.iter().map(|out| out.bytes).fold(size, u64::saturating_add);
        if poured > MAX_BYTES {
            return Err(refused(path, "makes it larger than any kernel"));
        }
        self.marks += 1;
        let out = self.outs.iter_mut().min_by_key(|out| out.bytes);
        let out = out.ok_or_else(|| Failure::internal("an archive is poured into nothing"))?;
        out.bytes += size;
        write!(out.pipe, "blob\nmark :{}\ndata {size}\n", self.marks)?;
        copy(size, content, &mut out.pipe)?;
        out.pipe.write_all(b"\n")?;
        Ok(self.marks)
    }
}

/// As `io::copy`, but a failure to read is the archive's and a failure to write is not.
fn copy(size: u64, content: &mut impl Read, out: &mut impl Write) -> Result<(), Failure> {
    let mut buffer = [0; 1 << 15];
    let mut left = size;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        match content.read(&mut buffer[..most]).map_err(damaged)? {
            0 => return Err(damaged(io::ErrorKind::UnexpectedEof.into())),
            read => {
                out.write_all(&buffer[..read])?;
                left -= read as u64;
            }
        }
    }
    Ok(())
}

/// A path in C's quotes, which fast-import reads for any byte.
fn quoted(path: &[u8]) -> String {
    let inner: String = path
        .iter()
        .map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", char::from(*byte)),
            b' '..=b'~' => char::from(*byte).to_string(),
            byte => format!("\\{byte:03o}"),
        })
        .collect();
    format!("\"{inner}\"")
}
