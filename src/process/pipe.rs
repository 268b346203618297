//! Pipes that much goes through.

use std::io::{self, ErrorKind, PipeReader, PipeWriter, Write};
use std::time::Duration;

/// What a pipe is to hold; unless the system allows that, it holds less.
const SIZE: usize = 1 << 20;
/// A child is taken to read no faster than this, in bytes a microsecond.
const FASTEST: usize = 500;

/// A pipe that holds much.
pub(super) fn large() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    // The system may allow less, and then it stays as it is
    let _ = rustix::pipe::fcntl_setpipe_size(&writer, SIZE);
    Ok((reader, writer))
}

/// A pipe that holds much, for a child that is slower than whoever feeds it.
pub(super) fn for_feeding() -> io::Result<(PipeReader, Feeder)> {
    let (reader, writer) = large()?;
    let size = rustix::pipe::fcntl_getpipe_size(&writer)?;
    rustix::io::ioctl_fionbio(&writer, true)?;
    let wait = Duration::from_micros((size / FASTEST).max(1) as u64);
    Ok((reader, Feeder { writer, wait }))
}

/// The end of a pipe that feeds a child. Where the pipe is full, it sleeps for about as long as the child
/// has to read: in a write that waits, it would be woken for every page that becomes free.
#[derive(Debug)]
pub struct Feeder {
    writer: PipeWriter,
    wait: Duration,
}

impl Write for Feeder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.writer.write(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(self.wait),
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn all_that_is_fed_arrives_however_slowly_it_is_read() {
        let (mut reader, mut feeder) = for_feeding().unwrap();
        let fed: Vec<u8> = (0..3 * SIZE).map(|n| (n % 251) as u8).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                feeder.write_all(&fed).unwrap();
                drop(feeder);
            });
            std::thread::sleep(Duration::from_millis(20));
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            assert!(read == fed);
        });
    }

    #[test]
    fn a_reader_that_is_gone_ends_the_feeding() {
        let (reader, mut feeder) = for_feeding().unwrap();
        std::thread::scope(|scope| {
            let fed = scope.spawn(move || feeder.write_all(&vec![0; 4 * SIZE]));
            std::thread::sleep(Duration::from_millis(20));
            drop(reader);
            assert_eq!(fed.join().unwrap().unwrap_err().kind(), ErrorKind::BrokenPipe);
        });
    }
}
