//! Whether KVM runs guests here. That its device can be opened, and even that a CPU can be made, says nothing of
//! that: only a guest that came to its end does.

use std::time::Duration;

use camino::Utf8Path;

use super::{Accelerator, Clock, Kind, Limits, Outcome, Start, boot};
use crate::blame::Failure;
use crate::job::Job;

/// Where the kernel offers KVM.
pub const KVM: &str = "/dev/kvm";
/// A guest that runs at all has long ended by then: with KVM it takes about a second.
const LIMIT: Duration = Duration::from_secs(20);

/// What a look at KVM found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kvm {
    /// A guest ran to its end, or died as it does without KVM.
    Runs,
    /// None did.
    Fails {
        /// Why, in a few words.
        why: String,
        /// What could be done about it, if anything.
        hint: Option<String>,
    },
}

/// Boots with KVM what is to be booted, with no benchmark in it, to see whether that works; `device` is [`KVM`].
///
/// # Errors
///
/// As [`boot`]. That KVM does not work is no error.
pub fn probe_kvm(start: &Start, device: &Utf8Path, job: &Job) -> Result<Kvm, Failure> {
    let arch = start.qemu.arch;
    if !arch.is_native() {
        let why = format!("the CPUs of this machine are not {arch}");
        return Ok(Kvm::Fails { why, hint: None });
    }
    // As QEMU opens it
    if let Err(error) = fs_err::OpenOptions::new().read(true).write(true).open(device) {
        let why = format!("{device} cannot be opened: {}", error.kind());
        let hint = match error.kind() {
            std::io::ErrorKind::PermissionDenied => format!("who may use {device} is in the group that owns it"),
            _ => "a virtual machine has it only where its host allows nested virtualization".to_owned(),
        };
        return Ok(Kvm::Fails { why, hint: Some(hint) });
    }
    let limits = Limits { silence: LIMIT, hang: LIMIT, restart: LIMIT, total: LIMIT, ..start.limits.clone() };
    let start = Start {
        run: String::new(),
        clock: Clock::Wall,
        accelerator: Accelerator::Kvm,
        limits,
        subject: format!("{arch} probe of KVM"),
        ..start.clone()
    };
    Ok(match boot(&start, job) {
        Ok(Outcome::Ended(_)) => Kvm::Runs,
        Ok(Outcome::Broken(broken)) if says_how_it_dies(broken.kind) && dies_without(&start, job)? => Kvm::Runs,
        Ok(Outcome::Broken(broken)) => {
            let hint = format!("what QEMU said: {}", broken.log);
            Kvm::Fails { why: format!("a guest did not come to its end: {}", broken.message), hint: Some(hint) }
        }
        Err(failure) if failure.class == crate::blame::Class::Interrupted => return Err(failure),
        Err(failure) => Kvm::Fails { why: failure.what, hint: failure.excerpt.last().cloned() },
    })
}

fn says_how_it_dies(kind: Kind) -> bool {
    matches!(kind, Kind::Panic | Kind::Oops | Kind::Splat)
}

/// Whether the kernel dies of itself: then its death says nothing of KVM.
fn dies_without(start: &Start, job: &Job) -> Result<bool, Failure> {
    let arch = start.qemu.arch;
    let without = Start {
        accelerator: Accelerator::Tcg,
        folder: start.folder.join("without"),
        subject: format!("{arch} probe without KVM"),
        ..start.clone()
    };
    Ok(matches!(boot(&without, job)?, Outcome::Broken(broken) if says_how_it_dies(broken.kind)))
}
