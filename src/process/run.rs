//! Starting, watching and ending a child.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use duct::Handle;
use rustix::process::{Pid, Signal, kill_process_group};

use super::Call;
use super::seat::Seat;
use crate::blame::Failure;
use crate::interrupt;

/// How often a running child is looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long a child has to end after it was asked to.
const GRACE: Duration = Duration::from_secs(3);

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
    line: String,
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
        failure
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
        let handle = self.start(Some(reader), &sink)?;
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

    fn start(&self, input: Option<PipeReader>, sink: &Sink) -> Result<Handle, Failure> {
        let mut expression = duct::cmd(&self.program, &self.args)
            .unchecked()
            .env("LC_ALL", "C")
            .before_spawn(own_group)
            .stdout_file(sink.stdout.try_clone()?)
            .stderr_file(sink.stderr.try_clone()?);
        expression = match (input, &self.input) {
            (Some(pipe), _) => expression.stdin_file(pipe),
            (None, Some(bytes)) => expression.stdin_bytes(bytes.clone()),
            (None, None) => expression.stdin_null(),
        };
        // In duct the earlier call wins, so a variable that is set must not be withheld before
        for name in self.without.iter().filter(|name| self.env.iter().all(|(set, _)| set != *name)) {
            expression = expression.env_remove(name);
        }
        for (name, value) in &self.env {
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
                .at(self.line())
                .hint("`nspatch doctor` lists what is missing and how to install it");
        }
        Failure::host(format!("`{}` cannot be started: {error}", self.program)).at(self.line())
    }

    fn wait(&self, handle: &Handle, since: Instant, mut watch: impl FnMut() -> Watch) -> Result<Exit, Failure> {
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

/// Puts the child into a process group of its own and ties its life to nspatch's.
fn own_group(command: &mut std::process::Command) -> io::Result<()> {
    command.process_group(0);
    // SAFETY: between fork and exec only async-signal-safe work is allowed; prctl is one system call
    unsafe {
        command.pre_exec(|| {
            rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
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

/// Where a child's output goes: files in any case, as a pipe stays open for as long as any
/// grandchild holds it, and waiting for its end could take for ever.
struct Sink {
    stdout: File,
    stderr: File,
    captured: bool,
}

impl Sink {
    fn open(call: &Call) -> Result<Self, Failure> {
        let Some(path) = &call.log else {
            return Ok(Sink { stdout: tempfile::tempfile()?, stderr: tempfile::tempfile()?, captured: true });
        };
        if let Some(folder) = path.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let mut log = fs_err::OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(log, "$ {}", call.line())?;
        let log = log.into_parts().0;
        Ok(Sink { stderr: log.try_clone()?, stdout: log, captured: false })
    }

    fn ended(mut self, call: &Call, exit: Exit, since: Instant) -> Result<Ended, Failure> {
        let (stdout, stderr) = if self.captured {
            (read_back(&mut self.stdout)?, read_back(&mut self.stderr)?)
        } else {
            (Vec::new(), Vec::new())
        };
        let seconds = since.elapsed().as_secs_f64();
        Ok(Ended { exit, stdout, stderr, log: call.log.clone(), seconds, line: call.line() })
    }
}

fn read_back(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::Class;

    fn sh(script: &str) -> Call {
        Call::new("sh").args(["-c", script])
    }

    #[test]
    fn a_withheld_variable_is_gone_unless_it_is_set() {
        let show = sh("echo ${PATH+inherited} ${HOME-none}").without(["HOME"]);
        assert_eq!(show.run().unwrap().text(), "inherited none");
        assert_eq!(show.env("HOME", "set").run().unwrap().text(), "inherited set");
    }

    #[test]
    fn output_and_status_are_kept_apart() {
        let ended = sh("echo out; echo err >&2; exit 3").run().unwrap();
        assert_eq!((ended.text().as_str(), ended.complaint().as_str(), ended.exit), ("out", "err", Exit::Status(3)));
    }

    #[test]
    fn a_child_past_its_deadline_is_ended_with_its_grandchildren() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let call = sh(&format!("sleep 600 & echo $! > {}; wait", file.display())).deadline(Duration::from_millis(300));
        assert_eq!(call.run().unwrap().exit, Exit::Deadline);
        let pid = std::fs::read_to_string(file).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let gone = || state().is_empty() || state().contains(") Z ");
        // A killed process dies when it gets a CPU, which takes a while on a busy machine
        let asked = Instant::now();
        while !gone() && asked.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(TICK);
        }
        assert!(gone(), "the grandchild lives on: {}", state());
    }

    #[test]
    fn a_child_that_ignores_the_request_is_killed() {
        let ended = sh("trap '' TERM; while :; do sleep 0.1; done").deadline(Duration::from_millis(200)).run().unwrap();
        assert_eq!(ended.exit, Exit::Deadline);
    }

    #[test]
    fn a_grandchild_that_holds_the_output_open_does_not_hold_up_the_call() {
        let since = Instant::now();
        assert_eq!(sh("sleep 30 & echo done").run().unwrap().text(), "done");
        assert!(since.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_missing_program_is_the_machine_s_fault_and_points_to_the_doctor() {
        let failure = Call::new("nspatch-no-such-program").run().unwrap_err();
        assert_eq!(failure.class, Class::Host);
        assert!(failure.hints[0].contains("doctor"), "{failure:?}");
    }

    #[test]
    fn a_log_holds_the_command_and_all_output() {
        let folder = tempfile::tempdir().unwrap();
        let log = Utf8PathBuf::from_path_buf(folder.path().join("a.log")).unwrap();
        let ended = sh("echo out; echo err >&2").log(&log).run().unwrap();
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "$ sh -c 'echo out; echo err >&2'\nout\nerr\n");
        assert_eq!(ended.last_lines(1), ["err"]);
    }

    #[test]
    fn fed_input_arrives_and_a_feeder_s_failure_is_given_back() {
        let ended = Call::new("cat").run_fed(|pipe| Ok(pipe.write_all(b"fed")?)).unwrap();
        assert_eq!(ended.text(), "fed");
        let failure = Call::new("cat").run_fed(|_| Err(Failure::usage("cut"))).unwrap_err();
        assert_eq!(failure.what, "cut");
    }

    #[test]
    fn a_child_that_dies_while_fed_tells_its_own_end() {
        let ended = sh("exit 4").run_fed(|pipe| Ok(pipe.write_all(&vec![0; 1 << 20])?)).unwrap();
        assert_eq!(ended.exit, Exit::Status(4));
    }

    #[test]
    fn a_watcher_ends_its_child() {
        assert_eq!(sh("sleep 600").run_watched(|| Watch::Stop).unwrap().exit, Exit::Stopped);
    }
}
