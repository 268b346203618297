//! Watching a boot: its growing files, and the patience with them.

use std::io::{Read, Seek, SeekFrom};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

use super::{Limits, signs};
use crate::process::Watch;

/// Why a boot was stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The kernel has died.
    Fatal,
    /// There was no output for too long from the start.
    Silence,
    /// There was no more output for too long.
    Hang,
    /// The end record is there, but the guest goes on.
    Restart,
    /// The console printed too much.
    Flood,
    /// KVM gave up, and QEMU waits for somebody to look at it.
    Kvm,
    /// A file of the boot cannot be read.
    Blind,
}

/// What can be seen of a boot at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Sight {
    console_bytes: u64,
    results_bytes: u64,
    fatal: bool,
    ended: bool,
}

/// Since when what has been so. A machine without a clock of its own: the time is handed in.
#[derive(Debug, Default)]
struct Patience {
    last: Sight,
    grown: Duration,
    console_grown: Duration,
    fatal: Option<Duration>,
    ended: Option<Duration>,
}

impl Patience {
    fn look(&mut self, now: Duration, sight: Sight, limits: &Limits) -> Option<Stop> {
        if sight.console_bytes > self.last.console_bytes {
            (self.console_grown, self.grown) = (now, now);
        }
        if sight.results_bytes > self.last.results_bytes {
            self.grown = now;
        }
        if sight.fatal {
            self.fatal.get_or_insert(now);
        }
        if sight.ended {
            self.ended.get_or_insert(now);
        }
        self.last = sight;
        self.lost(now, limits)
    }

    fn lost(&self, now: Duration, limits: &Limits) -> Option<Stop> {
        let over = |since: Duration, limit: Duration| now.saturating_sub(since) > limit;
        let silent = self.last.console_bytes == 0 && self.last.results_bytes == 0;
        if let Some(since) = self.fatal {
            // The trace is the only evidence: let the kernel finish it
            let done = over(self.console_grown, limits.quiet) || over(since, limits.trace);
            return done.then_some(Stop::Fatal);
        }
        if self.last.console_bytes > limits.console_bytes {
            return Some(Stop::Flood);
        }
        if let Some(since) = self.ended {
            return over(since, limits.restart).then_some(Stop::Restart);
        }
        let (limit, stop) = if silent { (limits.silence, Stop::Silence) } else { (limits.hang, Stop::Hang) };
        over(self.grown, limit).then_some(stop)
    }
}

/// A file that another process writes, read as it grows.
#[derive(Debug)]
pub(super) struct Tail {
    path: Utf8PathBuf,
    /// All that was read so far.
    pub bytes: Vec<u8>,
}

impl Tail {
    pub(super) fn of(path: &Utf8Path) -> Self {
        Tail { path: path.to_owned(), bytes: Vec::new() }
    }

    /// All of a file that has been written.
    pub(super) fn whole(path: &Utf8Path) -> std::io::Result<Self> {
        let mut tail = Tail::of(path);
        tail.poll()?;
        Ok(tail)
    }

    /// Reads what has come since the last time; says whether there was any. A file that is not
    /// there yet is empty.
    pub(super) fn poll(&mut self) -> std::io::Result<bool> {
        let read = self.bytes.len() as u64;
        match fs_err::metadata(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
            Ok(data) if data.len() <= read => return Ok(false),
            Ok(_) => {}
        }
        let mut file = fs_err::File::open(&self.path)?;
        file.seek(SeekFrom::Start(read))?;
        Ok(file.read_to_end(&mut self.bytes)? > 0)
    }

    /// What was read, as text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The watcher of one boot.
pub(super) struct Watcher<'a> {
    limits: &'a Limits,
    since: Instant,
    patience: Patience,
    scanned: usize,
    fatal: bool,
    /// The console.
    pub console: Tail,
    /// The results channel.
    pub results: Tail,
    /// What QEMU prints.
    log: Tail,
    /// Wall time to the guest's first line in seconds.
    pub seconds_to_init: Option<f64>,
    /// Why the boot was stopped.
    pub stop: Option<Stop>,
    /// Why a file could not be read.
    pub error: Option<std::io::Error>,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(limits: &'a Limits, console: Tail, results: Tail, log: Tail) -> Self {
        Watcher {
            limits,
            since: Instant::now(),
            patience: Patience::default(),
            scanned: 0,
            fatal: false,
            console,
            results,
            log,
            seconds_to_init: None,
            stop: None,
            error: None,
        }
    }

    /// Looks at the boot; `progress` is told of every growth of the results.
    pub(super) fn look(&mut self, progress: impl FnOnce(&[u8])) -> Watch {
        match self.read() {
            Ok(true) => progress(&self.results.bytes),
            Ok(false) => {}
            Err(error) => (self.stop, self.error) = (Some(Stop::Blind), Some(error)),
        }
        let sight = Sight {
            console_bytes: self.console.bytes.len() as u64,
            results_bytes: self.results.bytes.len() as u64,
            fatal: self.fatal,
            ended: has_end(&self.results.bytes),
        };
        self.stop = self.stop.or(self.patience.look(self.since.elapsed(), sight, self.limits));
        if self.stop.is_some() { Watch::Stop } else { Watch::On }
    }

    fn read(&mut self) -> std::io::Result<bool> {
        if self.console.poll()? {
            self.scan_new_lines();
        }
        if self.log.poll()? && kvm_complaint(&self.log.text()).is_some() {
            self.stop = Some(Stop::Kvm);
        }
        self.results.poll()
    }

    /// Scans whole lines only, each once, so that a flood costs no more than its size.
    fn scan_new_lines(&mut self) {
        let fresh = &self.console.bytes[self.scanned..];
        let Some(whole) = fresh.iter().rposition(|&byte| byte == b'\n') else {
            return;
        };
        let part = String::from_utf8_lossy(&fresh[..=whole]);
        self.fatal |= signs::is_fatal(&part);
        if self.seconds_to_init.is_none() && signs::reached_init(&part) {
            self.seconds_to_init = Some(self.since.elapsed().as_secs_f64());
        }
        self.scanned += whole + 1;
    }
}

/// The line in which QEMU says that KVM cannot go on with a guest. QEMU then does not end: it stops the guest, and shows its
/// registers to whoever comes to look.
pub(super) fn kvm_complaint(printed: &str) -> Option<&str> {
    printed.lines().find(|line| line.starts_with("KVM internal error") || line.starts_with("KVM: entry failed"))
}

/// Whether the last line of a results channel looks like an end record. Whether it is right is for
/// `measure` to say.
pub(super) fn has_end(results: &[u8]) -> bool {
    let Some(body) = results.strip_suffix(b"\n") else {
        return false;
    };
    let start = body.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    body[start..].starts_with(b"{\"end\":")
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn limits() -> Limits {
        Limits { silence: ms(60), hang: ms(120), restart: ms(50), quiet: ms(3), trace: ms(20), ..Limits::default() }
    }

    /// Looks every millisecond at a boot and gives the moment and the reason of its stop.
    fn watched(see: impl Fn(u64) -> Sight) -> Option<(u64, Stop)> {
        let mut patience = Patience::default();
        (0..1000).find_map(|now| patience.look(ms(now), see(now), &limits()).map(|stop| (now, stop)))
    }

    #[test]
    fn silence_and_hang_have_limits_of_their_own() {
        assert_eq!(watched(|_| Sight::default()), Some((61, Stop::Silence)));
        let alive_to_30 = |now: u64| Sight { console_bytes: now.min(30), ..Sight::default() };
        assert_eq!(watched(alive_to_30), Some((151, Stop::Hang)));
        let results_alone = |now: u64| Sight { results_bytes: now.min(30), ..Sight::default() };
        assert_eq!(watched(results_alone), Some((151, Stop::Hang)));
    }

    #[test]
    fn growth_of_either_file_is_a_sign_of_life() {
        assert_eq!(watched(|now| Sight { console_bytes: 9, results_bytes: now / 100, ..Sight::default() }), None);
        assert_eq!(watched(|now| Sight { console_bytes: now / 100, results_bytes: 9, ..Sight::default() }), None);
    }

    #[test]
    fn a_dying_kernel_gets_time_for_its_trace_but_not_for_ever() {
        let trace_to =
            |end: u64| move |now: u64| Sight { console_bytes: now.min(end), fatal: now >= 10, ..Sight::default() };
        assert_eq!(watched(trace_to(15)), Some((19, Stop::Fatal)));
        assert_eq!(watched(trace_to(900)), Some((31, Stop::Fatal)));
    }

    #[test]
    fn a_guest_that_does_not_restart_is_stopped() {
        let ended_at_9 = |now: u64| Sight { console_bytes: now, results_bytes: 5, ended: now >= 9, fatal: false };
        assert_eq!(watched(ended_at_9), Some((60, Stop::Restart)));
    }

    #[test]
    fn a_flood_is_stopped() {
        let flood = |now: u64| Sight { console_bytes: now << 20, ..Sight::default() };
        assert_eq!(watched(flood), Some((17, Stop::Flood)));
    }

    #[test]
    fn an_end_record_is_the_last_whole_line() {
        assert!(has_end(b"{\"hello\":{}}\n{\"end\":{\"records\":1}}\n"));
        assert!(has_end(b"{\"end\":{}}\n"));
        for wrong in [&b""[..], b"\n", b"{\"end\":{}}", b"{\"end\":{}}\n\n", b"{\"end\":{}}\n{\"hello\":{}}\n"] {
            assert!(!has_end(wrong), "{}", String::from_utf8_lossy(wrong));
        }
    }

    #[test]
    fn a_tail_reads_each_byte_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("console.log");
        let mut tail = Tail::of(&path);
        assert!(!tail.poll().unwrap());
        fs_err::write(&path, "one\n").unwrap();
        assert!(tail.poll().unwrap());
        assert!(!tail.poll().unwrap());
        fs_err::write(&path, "one\ntwo\n").unwrap();
        assert!(tail.poll().unwrap());
        assert_eq!(tail.text(), "one\ntwo\n");
    }
}
