//! A child that is talked to: what is typed goes to it, and what it says is shown.
//!
//! It gets pipes and not the terminal itself, so that it stays in a process group of its own like every other: the
//! terminal is made raw here, and every key, Ctrl-C too, is passed on as a byte. A person sees what hangs and ends it;
//! where nobody types there are limits.

use std::io::{self, ErrorKind, IsTerminal, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::Call;
use super::run::{Ended, Input, Watch};
use super::sink::Sink;
use crate::blame::Failure;

/// How often whoever waits for a key looks whether the child is still there.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// How to talk to a program where nobody types: it gets a line each time that it asks for one.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// What it says when it waits for a line.
    pub text: &'static str,
    /// What it is told after the last line, so that it ends.
    pub farewell: &'static str,
}

/// How long a program whose turn it is may say nothing where nobody types, before it is ended.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// From its start to its first byte.
    pub first: Duration,
    /// From a line that it was told, or from its last byte, to the next byte.
    pub next: Duration,
}

impl Call {
    /// Runs the program in a conversation with whoever is at standard input and output: a person at a terminal, or
    /// commands in a file or pipe. `heard` gets all that it says. For commands `patience` holds: a program that outlasts it
    /// ends as [`Exit::Stopped`](super::Exit::Stopped).
    ///
    /// # Errors
    ///
    /// As [`Call::run`]; standard output cannot be written, or `heard` fails.
    pub fn run_attached(
        &self,
        prompt: Prompt,
        patience: Patience,
        heard: impl FnMut(&[u8]) -> Result<(), Failure> + Send,
    ) -> Result<Ended, Failure> {
        let (input, output) = (io::stdin(), io::stdout());
        let plain = !output.is_terminal();
        self.attach((prompt, patience), input.as_fd(), Screen { output, plain }, heard)
    }

    fn attach(
        &self,
        (prompt, patience): (Prompt, Patience),
        input: BorrowedFd<'_>,
        mut screen: Screen<impl Write + Send>,
        mut heard: impl FnMut(&[u8]) -> Result<(), Failure> + Send,
    ) -> Result<Ended, Failure> {
        let talk = Talk::begin();
        let (their_input, to_child) = io::pipe()?;
        let (from_child, their_output) = io::pipe()?;
        let mut sink = Sink::open(self)?;
        let ours = std::mem::replace(&mut sink.stdout, OwnedFd::from(their_output).into());
        let handle = self.start(Some(Input::Pipe(their_input)), &sink)?;
        // While any end for writing but the child's is open, the pipe does not end
        sink.stdout = ours;
        let raw = Raw::of(input);
        let (exit, shown) = std::thread::scope(|scope| {
            let listener = scope.spawn(|| {
                let listened = listen(from_child, prompt.text, &talk, |bytes| {
                    screen.show(bytes)?;
                    heard(bytes)
                });
                talk.deaf.store(listened.is_err(), Ordering::SeqCst);
                listened
            });
            let (mouth, typed) = (Mouth { input, to_child, talk: &talk }, raw.is_some());
            scope.spawn(move || if typed { mouth.pass_on() } else { mouth.read_out(prompt) });
            let lost = || talk.deaf.load(Ordering::SeqCst) || (!typed && talk.outlasts(patience));
            let exit = self.wait(&handle, talk.since, || if lost() { Watch::Stop } else { Watch::On });
            talk.over.store(true, Ordering::SeqCst);
            let shown = listener.join().unwrap_or_else(|_| Err(Failure::internal("a listening thread panicked")));
            (exit, shown)
        });
        drop(raw);
        let exit = exit?;
        shown?;
        sink.ended(self, exit, talk.since)
    }
}

/// How a conversation stands, for all who take part in it.
struct Talk {
    since: Instant,
    /// How often the child has asked for a line.
    asked: AtomicUsize,
    /// How many lines it was told.
    said: AtomicUsize,
    /// When either of the two last said something, in milliseconds from the start.
    stirred: AtomicU64,
    /// Whether the child has said anything.
    begun: AtomicBool,
    /// The child has ended.
    over: AtomicBool,
    /// What the child says can no longer be shown.
    deaf: AtomicBool,
}

impl Talk {
    fn begin() -> Self {
        Talk {
            since: Instant::now(),
            asked: AtomicUsize::new(0),
            said: AtomicUsize::new(0),
            stirred: AtomicU64::new(0),
            begun: AtomicBool::new(false),
            over: AtomicBool::new(false),
            deaf: AtomicBool::new(false),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn stir(&self) {
        self.stirred.store(self.now(), Ordering::SeqCst);
    }

    /// Whether the child waits for a line that it was not told.
    fn is_asked(&self) -> bool {
        self.asked.load(Ordering::SeqCst) > self.said.load(Ordering::SeqCst)
    }

    /// Whether the child has said nothing for too long. One that has asked for a line waits for us, however long.
    fn outlasts(&self, patience: Patience) -> bool {
        if self.is_asked() {
            return false;
        }
        let limit = if self.begun.load(Ordering::SeqCst) { patience.next } else { patience.first };
        let quiet = self.now().saturating_sub(self.stirred.load(Ordering::SeqCst));
        Duration::from_millis(quiet) > limit
    }
}

/// Hands on what the child says, and counts how often it has asked for a line.
fn listen(
    mut from_child: PipeReader,
    prompt: &str,
    talk: &Talk,
    mut take: impl FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut bytes = [0; 4096];
    let mut last: Vec<u8> = Vec::new();
    loop {
        let count = match from_child.read(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        };
        if count == 0 {
            return Ok(());
        }
        take(&bytes[..count])?;
        talk.stir();
        talk.begun.store(true, Ordering::SeqCst);
        // A prompt may come in two pieces: what could be its beginning is kept, and never a whole one
        last.extend_from_slice(&bytes[..count]);
        let found = last.windows(prompt.len()).filter(|window| *window == prompt.as_bytes()).count();
        talk.asked.fetch_add(found, Ordering::SeqCst);
        last.drain(..last.len().saturating_sub(prompt.len() - 1));
    }
}

/// Where a child's words are shown.
struct Screen<W> {
    output: W,
    /// Whether it is no terminal, where the return before each line's end has no use.
    plain: bool,
}

impl<W: Write> Screen<W> {
    fn show(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let shown = if self.plain {
            let plain: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != b'\r').collect();
            self.output.write_all(&plain)
        } else {
            self.output.write_all(bytes)
        };
        Ok(shown.and_then(|()| self.output.flush())?)
    }
}

/// What is said to a child. It falls silent when the child has ended, which also makes its pipe useless: a failure to
/// write tells nothing that the child's end does not tell better.
struct Mouth<'a> {
    input: BorrowedFd<'a>,
    to_child: PipeWriter,
    talk: &'a Talk,
}

impl Mouth<'_> {
    /// Passes on every key as it is typed.
    fn pass_on(mut self) {
        while let Some(bytes) = self.read() {
            if bytes.is_empty() || self.to_child.write_all(&bytes).is_err() {
                return;
            }
        }
    }

    /// Says a line at each prompt, and the farewell after the last.
    fn read_out(mut self, prompt: Prompt) {
        let (mut rest, mut more) = (Vec::new(), true);
        while more || !rest.is_empty() {
            while more && !rest.contains(&b'\n') {
                match self.read() {
                    Some(bytes) if !bytes.is_empty() => rest.extend(bytes),
                    Some(_) => more = false,
                    None => return,
                }
            }
            let end = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
            let line: Vec<u8> = rest.drain(..end).collect();
            if !line.is_empty() && !self.say(&line) {
                return;
            }
        }
        self.say(prompt.farewell.as_bytes());
    }

    /// Says a line once it is asked for; tells whether the child is still there.
    fn say(&mut self, line: &[u8]) -> bool {
        while !self.talk.is_asked() {
            if self.talk.over.load(Ordering::SeqCst) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        // First the time: whoever sees that it is the child's turn must not take an old one for it
        self.talk.stir();
        self.talk.said.fetch_add(1, Ordering::SeqCst);
        let end: &[u8] = if line.ends_with(b"\n") { b"" } else { b"\n" };
        self.to_child.write_all(line).and_then(|()| self.to_child.write_all(end)).is_ok()
    }

    /// What comes next; nothing at its end, and `None` once the child has ended.
    fn read(&self) -> Option<Vec<u8>> {
        loop {
            if self.talk.over.load(Ordering::SeqCst) {
                return None;
            }
            let mut looked = [PollFd::new(&self.input, PollFlags::IN)];
            match poll(&mut looked, Some(&TICK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                _ => {}
            }
            let mut bytes = vec![0; 4096];
            let count = match rustix::io::read(self.input, &mut bytes) {
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                // What cannot be read has ended
                other => other.unwrap_or(0),
            };
            bytes.truncate(count);
            return Some(bytes);
        }
    }
}

/// A terminal that passes every key on, and becomes what it was when this is dropped.
struct Raw<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
}

impl<'a> Raw<'a> {
    /// `None` if it is no terminal.
    fn of(terminal: BorrowedFd<'a>) -> Option<Self> {
        let before = tcgetattr(terminal).ok()?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(terminal, OptionalActions::Now, &raw).ok()?;
        Some(Raw { terminal, before })
    }
}

impl Drop for Raw<'_> {
    fn drop(&mut self) {
        // A terminal that has gone needs no care
        let _ = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

#[cfg(test)]
mod tests;
