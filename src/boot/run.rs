//! One boot, from the command line to what happened.

use camino::Utf8Path;

use super::Clock;
use super::arguments::{self, CONSOLE, RESULTS};
use super::host::Witness;
use super::judge::{self, Evidence, Finding};
use super::watch::{Tail, Watcher, has_end};
use super::{BootFailure, Guest, Outcome, Start};
use crate::blame::Failure;
use crate::event::{Ending, Stage};
use crate::job::{Job, Task};
use crate::process::{Call, Ended};

/// The file of QEMU's own output in a boot's folder.
pub(super) const LOG: &str = "qemu.log";
/// A boot leaves some 10 KiB; with less than this the file system is what failed.
const LEAST_SPACE: u64 = 256 * 1024;

/// Boots an image and waits for its end.
///
/// # Errors
///
/// The plan cannot be handed to the guest, the machine lacks something, or the work was
/// interrupted. What a kernel does is an outcome, never an error.
pub fn boot(start: &Start, job: &Job) -> Result<Outcome, Failure> {
    let call = prepare(start)?;
    let asked = start.run.split(',').filter(|word| !word.is_empty()).count();
    let task = job.begin(Stage::Boot, &start.subject, Some(asked as u64));
    let (console, results) = (start.folder.join(CONSOLE), start.folder.join(RESULTS));
    let log = Tail::of(&start.folder.join(LOG));
    let mut watcher = Watcher::new(&start.limits, Tail::of(&console), Tail::of(&results), log);
    let witness = Witness::begin();
    let ended = call.run_watched(|| watcher.look(|results| tell(&task, results)))?;
    let outcome = match conclude(start, &call, &ended, watcher)? {
        Outcome::Ended(guest) => Outcome::Ended(Guest { host: witness.end(), ..guest }),
        broken @ Outcome::Broken(_) => broken,
    };
    task.end(if matches!(outcome, Outcome::Ended(_)) { Ending::Done } else { Ending::Broken });
    Ok(outcome)
}

/// Makes the folder ready and builds the call. Files of an earlier boot go first: if QEMU did not
/// start, they would be taken for this one's.
fn prepare(start: &Start) -> Result<Call, Failure> {
    if start.allowed_splats.iter().any(|text| text.trim().is_empty()) {
        return Err(Failure::usage("an empty text would allow every splat").at(&start.subject));
    }
    let start = Start { image: absolute(&start.image)?, initramfs: absolute(&start.initramfs)?, ..start.clone() };
    let arguments = arguments::qemu(&start)?;
    clear(&start.folder)?;
    let mut call = Call::new(&start.qemu.program).args(arguments).folder(&start.folder);
    if start.clock == Clock::Virtual {
        // Two threads of QEMU at once can serve a timer at another instruction; turns on one CPU hardly ever
        call = call.on_one_cpu();
    }
    Ok(call.deadline(start.limits.total).log(start.folder.join(LOG)))
}

/// Makes a boot's folder, without the files of another boot.
pub(super) fn clear(folder: &Utf8Path) -> Result<(), Failure> {
    fs_err::create_dir_all(folder)?;
    for name in [CONSOLE, RESULTS, LOG] {
        match fs_err::remove_file(folder.join(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// QEMU is started in the boot's folder, so what it reads is named from the root.
pub(super) fn absolute(path: &Utf8Path) -> Result<camino::Utf8PathBuf, Failure> {
    path.canonicalize_utf8().map_err(|error| Failure::io(&error).at(path))
}

/// Tells how many benchmarks are over.
fn tell(task: &Task, results: &[u8]) {
    let over = |line: &&[u8]| line.starts_with(b"{\"done\":") || line.starts_with(b"{\"failed\":");
    let lines = results.split(|&byte| byte == b'\n');
    task.advance(lines.filter(over).count() as u64, "measuring");
}

fn conclude(start: &Start, call: &Call, ended: &Ended, watcher: Watcher) -> Result<Outcome, Failure> {
    if let Some(error) = watcher.error {
        return Err(error.into());
    }
    // Read anew and whole: what is judged is what stays in the folder, up to the last byte
    let (console, results) = (start.folder.join(CONSOLE), start.folder.join(RESULTS));
    let (console_text, results_bytes) = (Tail::whole(&console)?.text(), Tail::whole(&results)?.bytes);
    let log = start.folder.join(LOG);
    let printed = printed(&log)?;
    let finding = judge::judge(&Evidence {
        exit: ended.exit,
        stop: watcher.stop,
        console: &console_text,
        has_end: has_end(&results_bytes),
        printed: &printed,
        allowed: &start.allowed_splats,
        limits: &start.limits,
    });
    match finding.map_err(|failure| failure.at(&log))? {
        Finding::Good(allowed_splats) => Ok(Outcome::Ended(Guest {
            results,
            console,
            command: call.line(),
            allowed_splats,
            seconds: ended.seconds,
            seconds_to_init: watcher.seconds_to_init,
            host: None,
        })),
        Finding::Bad(bad) => {
            check_space(&start.folder)?;
            let judge::Bad { kind, message, excerpt, blame } = bad;
            Ok(Outcome::Broken(BootFailure { kind, message, excerpt, console, log, blame }))
        }
    }
}

/// What QEMU printed: its log without the command line.
pub(super) fn printed(log: &Utf8Path) -> Result<String, Failure> {
    let bytes = fs_err::read(log)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.split_once('\n').map_or(String::new(), |(_, printed)| printed.to_owned()))
}

/// QEMU drops what it cannot write, so a full disk looks like a guest that fell silent.
pub(super) fn check_space(folder: &Utf8Path) -> Result<(), Failure> {
    let space = rustix::fs::statvfs(folder.as_std_path()).map_err(std::io::Error::from)?;
    if space.f_bavail.saturating_mul(space.f_frsize) >= LEAST_SPACE {
        return Ok(());
    }
    Err(Failure::io(&std::io::ErrorKind::StorageFull.into()).at(folder))
}
