//! SIGINT, SIGTERM and SIGHUP: the first asks the work to stop and clean up, the second ends the process.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::blame::{Blame, Class, Failure, exit};

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

fn flag() -> &'static Arc<AtomicBool> {
    REQUESTED.get_or_init(|| Arc::new(AtomicBool::new(false)))
}

/// Starts listening. Called once, by the command line.
///
/// # Errors
///
/// Fails if the system refuses to register a handler.
pub fn listen() -> std::io::Result<()> {
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Order matters: the second signal finds the flag set and ends the process at once
        signal_hook::flag::register_conditional_shutdown(signal, exit::INTERRUPTED.into(), Arc::clone(flag()))?;
        signal_hook::flag::register(signal, Arc::clone(flag()))?;
    }
    Ok(())
}

/// Whether the work was asked to stop.
pub fn requested() -> bool {
    flag().load(Ordering::SeqCst)
}

/// `Err` once the work was asked to stop; long loops call this.
///
/// # Errors
///
/// The failure that says that the work was interrupted.
pub fn check() -> Result<(), Failure> {
    if requested() { Err(interrupted()) } else { Ok(()) }
}

/// The failure of an interrupted piece of work.
pub fn interrupted() -> Failure {
    Failure::new(Class::Interrupted, Blame::User, "interrupted")
        .hint("finished builds are kept: the same command goes on from there")
}
