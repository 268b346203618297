//! Starting, watching and ending a child.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use duct::Handle;
use rustix::process::{Pid, Signal, kill_process_group};

use super::seat::Seat;
use super::sink::Sink;
use super::{Call, Explain};
use crate::blame::Failure;
use crate::interrupt;

/// How often a running child is looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long a child has to end after it was asked to.
const GRACE: Duration = Duration::from_secs(3);

/// What a child reads.
pub(super) enum Input {
    Pipe(PipeReader),
    File(File),
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with 0.
    Success,
    /// It exited with another status.
    Status(i32),
    /// A signal that nspatch did not send ended it.
    Signal(i32),
    /// It was ended at its deadline.
    Deadline,
    /// Its watcher ended it.
    Stopped,
}

/// What a watcher says of a running child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// Let it run.
    On,
    /// End it.
    Stop,
}

/// A child that has ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How it ended.
    pub exit: Exit,
    /// What it printed on standard output; empty if it had a log.
    pub stdout: Vec<u8>,
    /// What it printed on standard error; empty if it had a log.
    pub stderr: Vec<u8>,
    /// The log, if it had one.
    pub log: Option<Utf8PathBuf>,
    /// Wall time in seconds.
    pub seconds: f64,
    pub(super) line: String,
    pub(super) explain: Option<(Utf8PathBuf, Explain)>,
}

impl Ended {
    /// Standard output as text, without the line ends at its end.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end().to_owned()
    }

    /// Standard error as text, without the line ends at its end.
    pub fn complaint(&self) -> String {
        String::from_utf8_lossy(&self.stderr).trim_end().to_owned()
    }

    /// Whether it exited with 0.
    pub fn succeeded(&self) -> bool {
        self.exit == Exit::Success
    }

    /// The failure to report if this ending was not expected: the command, how it ended, and the
    /// end of what it printed. The machine gets the blame; change that where it is known better.
    pub fn failure(&self) -> Failure {
        let program = self.line.split(' ').find(|word| !word.contains('=')).unwrap_or("a program").to_owned();
        let how = match self.exit {
            Exit::Success => "ended well, which was not expected".to_owned(),
            Exit::Status(status) => format!("ended with status {status}"),
            Exit::Signal(signal) => format!("was ended by signal {signal}"),
            Exit::Deadline => format!("did not end within its limit and was stopped after {:.0} s", self.seconds),
            Exit::Stopped => "was stopped".to_owned(),
        };
        let mut failure =
            Failure::host(format!("`{program}` {how}")).at(&self.line).excerpt(self.last_lines(12)).explain_full_disk();
        if let Some(log) = &self.log {
            failure = failure.hint(format!("all of its output: {log}"));
        }
        match &self.explain {
            Some((subject, explain)) => explain(failure, subject),
            None => failure,
        }
    }

    /// The last lines of what it printed.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        let printed = match &self.log {
            Some(log) => fs_err::read(log).unwrap_or_default(),
            None => [&self.stdout[..], &self.stderr[..]].concat(),
        };
        let text = String::from_utf8_lossy(&printed);
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(count)..].iter().map(|&line| line.to_owned()).collect()
    }
}

impl Call {
    /// Runs the program to its end.
    ///
    /// # Errors
    ///
    /// It cannot be started, or the work was interrupted. A bad exit status is no error here: see
    /// [`Call::demand`].
    pub fn run(&self) -> Result<Ended, Failure> {
        self.run_watched(|| Watch::On)
    }

    /// Runs the program and takes any ending but success as a failure.
    ///
    /// # Errors
    ///
    /// As [`Call::run`], and any other ending than success.
    pub fn demand(&self) -> Result<Ended, Failure> {
        let ended = self.run()?;
        if ended.succeeded() { Ok(ended) } else { Err(ended.failure()) }
    }

    /// Runs the program; `watch` is asked some fifty times a second whether it may go on.
    ///
    /// # Errors
    ///
    /// As [`Call::run`].
    pub fn run_watched(&self, watch: impl FnMut() -> Watch) -> Result<Ended, Failure> {
        let sink = Sink::open(self)?;
        let since = Instant::now();
        let seat = if self.on_one_cpu { Seat::take() } else { None };
        let handle = match &seat {
            Some(seat) => seat.start(|| self.start(None, &sink))?,
            None => self.start(None, &sink)?,
        };
        let exit = self.wait(&handle, since, watch)?;
        sink.ended(self, exit, since)
    }

    /// Runs the program while `feed` writes its standard input, in a thread of its own. If `feed`
    /// fails, the program sees its input end early, and the failure of `feed` is given back.
    ///
    /// # Errors
    ///
    /// As [`Call::run`], and whatever `feed` fails with.
    pub fn run_fed(&self, feed: impl FnOnce(&mut PipeWriter) -> Result<(), Failure> + Send) -> Result<Ended, Failure> {
        let sink = Sink::open(self)?;
        let since = Instant::now();
        let (reader, mut writer) = io::pipe()?;
        let handle = self.start(Some(Input::Pipe(reader)), &sink)?;
        let (fed, exit) = std::thread::scope(|scope| {
            let feeder = scope.spawn(move || feed(&mut writer));
            let exit = self.wait(&handle, since, || Watch::On);
            let fed = feeder.join().unwrap_or_else(|_| Err(Failure::internal("a feeder thread panicked")));
            (fed, exit)
        });
        let ended = sink.ended(self, exit?, since)?;
        // A child that died makes its feeder fail with a broken pipe: then the child's end is the cause
        if ended.succeeded() { fed.map(|()| ended) } else { fed_or_child(fed, ended) }
    }

    /// Runs the program as a filter: it reads a file from where that stands, and `read` takes what
    /// it prints, in a thread of its own. Its standard error is kept, whatever the log. If `read` stops
    /// early, the program is ended by a broken pipe.
    ///
    /// # Errors
    ///
    /// As [`Call::run`]. What `read` gives comes beside how the program ended: which of the two
    /// explains the other, the caller knows.
    pub fn run_filter<T: Send>(
        &self,
        file: File,
        read: impl FnOnce(PipeReader) -> Result<T, Failure> + Send,
    ) -> Result<(Result<T, Failure>, Ended), Failure> {
        let since = Instant::now();
        let (reader, writer) = io::pipe()?;
        let mut sink = Sink::memory()?;
        let ours = std::mem::replace(&mut sink.stdout, OwnedFd::from(writer).into());
        let handle = self.start(Some(Input::File(file)), &sink)?;
        // While any end for writing but the child's is open, the pipe does not end
        sink.stdout = ours;
        let (taken, exit) = std::thread::scope(|scope| {
            let taker = scope.spawn(move || read(reader));
            let exit = self.wait(&handle, since, || Watch::On);
            let taken = taker.join().unwrap_or_else(|_| Err(Failure::internal("a reading thread panicked")));
            (taken, exit)
        });
        Ok((taken, sink.ended(self, exit?, since)?))
    }

    pub(super) fn start(&self, input: Option<Input>, sink: &Sink) -> Result<Handle, Failure> {
        let held = self.held.clone();
        let mut expression = duct::cmd(&self.program, &self.args)
            .unchecked()
            .env("LC_ALL", "C")
            .before_spawn(move |command| prepare(command, held.as_ref()))
            .stdout_file(sink.stdout.try_clone()?)
            .stderr_file(sink.stderr.try_clone()?);
        expression = match (input, &self.input) {
            (Some(Input::Pipe(pipe)), _) => expression.stdin_file(pipe),
            (Some(Input::File(file)), _) => expression.stdin_file(file),
            (None, Some(bytes)) => expression.stdin_bytes(bytes.clone()),
            (None, None) => expression.stdin_null(),
        };
        // In duct the earlier call wins, so a variable that is set must not be withheld before
        let set = || self.env.iter().chain(&self.fixed);
        for name in self.without.iter().filter(|name| set().all(|(set, _)| set != *name)) {
            expression = expression.env_remove(name);
        }
        for (name, value) in set() {
            expression = expression.env(name, value);
        }
        if let Some(folder) = &self.folder {
            expression = expression.dir(folder);
        }
        expression.start().map_err(|error| self.cannot_start(&error))
    }

    fn cannot_start(&self, error: &io::Error) -> Failure {
        if error.kind() == io::ErrorKind::NotFound {
            return Failure::host(format!("`{}` is not installed", self.program))
                .at(self.short_line())
                .hint("`nspatch doctor` lists what is missing and how to install it");
        }
        Failure::host(format!("`{}` cannot be started: {error}", self.program)).at(self.short_line())
    }

    pub(super) fn wait(
        &self,
        handle: &Handle,
        since: Instant,
        mut watch: impl FnMut() -> Watch,
    ) -> Result<Exit, Failure> {
        loop {
            if let Some(output) = handle.wait_timeout(TICK)? {
                return Ok(exit_of(output.status));
            }
            if interrupt::requested() {
                end(handle)?;
                return Err(interrupt::interrupted());
            }
            if since.elapsed() > self.deadline {
                end(handle)?;
                return Ok(Exit::Deadline);
            }
            if watch() == Watch::Stop {
                end(handle)?;
                return Ok(Exit::Stopped);
            }
        }
    }
}

fn fed_or_child(fed: Result<(), Failure>, ended: Ended) -> Result<Ended, Failure> {
    match fed {
        Err(failure) if !failure.what.contains("Broken pipe") => Err(failure),
        _ => Ok(ended),
    }
}

/// Puts the child into a process group of its own, ties its life to nspatch's, and leaves it the
/// file that it is to hold.
fn prepare(command: &mut std::process::Command, held: Option<&Arc<File>>) -> io::Result<()> {
    command.process_group(0);
    let parent = rustix::process::getpid();
    let held = held.map(Arc::clone);
    // SAFETY: between fork and exec only async-signal-safe work is allowed; these are plain system calls
    unsafe {
        command.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
            if rustix::process::getppid() != Some(parent) {
                // nspatch ended before it could be told to end with it
                return Err(io::ErrorKind::Interrupted.into());
            }
            if let Some(file) = &held {
                rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?;
            }
            Ok(())
        });
    }
    Ok(())
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(0), _) => Exit::Success,
        (Some(code), _) => Exit::Status(code),
        (None, signal) => Exit::Signal(signal.unwrap_or_default()),
    }
}

/// Asks the child's whole group to end, then kills what is left of it.
fn end(handle: &Handle) -> Result<(), Failure> {
    signal_groups(handle, Signal::TERM);
    let asked = Instant::now();
    while asked.elapsed() < GRACE {
        if handle.wait_timeout(TICK)?.is_some() {
            break;
        }
    }
    signal_groups(handle, Signal::KILL);
    handle.wait()?;
    Ok(())
}

fn signal_groups(handle: &Handle, signal: Signal) {
    for pid in handle.pids() {
        if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
            // The group may be gone already, which is what is wanted
            let _ = kill_process_group(pid, signal);
        }
    }
}

#[cfg(test)]
mod tests;
