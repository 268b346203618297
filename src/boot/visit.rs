//! A boot that somebody looks at: no plan and no results, but the guest's prompt on the terminal.

use std::io::{IsTerminal, Write};

use camino::Utf8PathBuf;

use super::arguments::{self, CONSOLE};
use super::judge::{self, Bad, Evidence, Finding};
use super::run::{LOG, absolute, check_space, clear, printed};
use super::watch::Stop;
use super::{BootFailure, Kind, Limits, Qemu, signs};
use crate::blame::Failure;
use crate::process::{Call, Exit, Patience, Prompt};

/// How the guest asks for a command, and which one ends it: `images/shell.c`.
const PROMPT: Prompt = Prompt { text: "nspatch> ", farewell: "exit" };
/// What the guest says when its shell has ended.
const OVER: &str = "nspatch: shell over";

/// What is to be looked at.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The emulator, which also says for which architecture.
    pub qemu: Qemu,
    /// The kernel image.
    pub image: Utf8PathBuf,
    /// The initramfs.
    pub initramfs: Utf8PathBuf,
    /// The guest's CPUs.
    pub cpus: u32,
    /// The guest's memory in MiB.
    pub memory_mib: u32,
    /// Takes `console.log` and `qemu.log`, which starts with the command line.
    pub folder: Utf8PathBuf,
}

/// How a look around ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Visited {
    /// The guest was there, and whoever looked at it left.
    Over,
    /// The kernel did not come up, died, or stopped listening.
    Broken(BootFailure),
}

/// Boots an image with the guest's prompt on standard input and output, until whoever is there leaves. Commands of a
/// file or pipe have nobody to see that the guest hangs: for them `silence` and `hang` of the limits hold.
///
/// # Errors
///
/// The machine lacks something, standard output cannot be written, or the work was interrupted. What a kernel
/// does is an outcome, never an error.
pub fn visit(visit: &Visit, limits: &Limits) -> Result<Visited, Failure> {
    let visit = Visit { image: absolute(&visit.image)?, initramfs: absolute(&visit.initramfs)?, ..visit.clone() };
    clear(&visit.folder)?;
    let (console, log) = (visit.folder.join(CONSOLE), visit.folder.join(LOG));
    let mut record = fs_err::File::create(&console)?;
    let terminal = std::io::stdin().is_terminal();
    let call = Call::new(&visit.qemu.program).args(arguments::visit(&visit, terminal)).folder(&visit.folder).log(&log);
    let patience = Patience { first: limits.silence, next: limits.hang };
    let ended = call.without_deadline().run_attached(PROMPT, patience, |bytes| Ok(record.write_all(bytes)?))?;
    let said = String::from_utf8_lossy(&fs_err::read(&console)?).into_owned();
    if said.contains(OVER) {
        return Ok(Visited::Over);
    }
    let finding = judge::judge(&Evidence {
        exit: ended.exit,
        stop: (ended.exit == Exit::Stopped).then_some(if said.is_empty() { Stop::Silence } else { Stop::Hang }),
        console: &said,
        // Who leaves by QEMU's own key leaves a guest that was there; one that died was not left, and a pipe has no key
        has_end: terminal && said.contains(PROMPT.text) && !signs::is_fatal(&said),
        printed: &printed(&log)?,
        // A person looks: what a kernel complains of and survives is there to be seen
        allowed: &[String::new()],
        limits,
    });
    match finding.map_err(|failure| failure.at(&log))? {
        Finding::Good(_) => Ok(Visited::Over),
        Finding::Bad(Bad { kind, message, excerpt, blame }) => {
            check_space(&visit.folder)?;
            let message = match kind {
                Kind::NoEnd => "the machine was reset before its shell was left".to_owned(),
                _ => message,
            };
            Ok(Visited::Broken(BootFailure { kind, message, excerpt, console, log, blame }))
        }
    }
}
