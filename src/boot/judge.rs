//! From what is left of a boot to what happened: no input, no output, no clock.

use super::signs::{self, Sign};
use super::watch::{Stop, kvm_complaint};
use super::{Kind, Limits};
use crate::blame::{Blame, Failure};
use crate::process::Exit;

/// What is left of a boot.
pub(super) struct Evidence<'a> {
    /// How QEMU ended.
    pub exit: Exit,
    /// Why it was stopped, if it was.
    pub stop: Option<Stop>,
    /// The console.
    pub console: &'a str,
    /// Whether the results channel ends with an end record.
    pub has_end: bool,
    /// What QEMU printed.
    pub printed: &'a str,
    /// The texts that allow a splat.
    pub allowed: &'a [String],
    /// The limits that held.
    pub limits: &'a Limits,
}

/// What happened.
#[derive(Debug, PartialEq)]
pub(super) enum Finding {
    /// The guest ran to its end record. Holds the first lines of the splats that were allowed.
    Good(Vec<String>),
    /// The boot is worth nothing.
    Bad(Bad),
}

/// Why a boot is worth nothing.
#[derive(Debug, PartialEq)]
pub(super) struct Bad {
    pub kind: Kind,
    pub message: String,
    pub excerpt: Vec<String>,
    pub blame: Blame,
}

/// What QEMU prints when the machine it runs on lacks something.
const HOST_TROUBLE: &[&str] = &[
    "Cannot allocate memory",
    "cannot set up guest memory",
    "No space left on device",
    "Could not open",
    "could not open",
    "Failed to open",
    "failed to open",
    "Permission denied",
    "Read-only file system",
    "Too many open files",
    "Resource temporarily unavailable",
    "Disk quota exceeded",
    "error while loading shared libraries",
];

/// Says what happened.
///
/// # Errors
///
/// The machine that QEMU runs on lacks something, so that nothing can be said about the kernel.
pub(super) fn judge(evidence: &Evidence) -> Result<Finding, Failure> {
    let signs = signs::scan(evidence.console);
    if let Some(sign) = signs.iter().find(|sign| sign.kind != Kind::Splat) {
        return Ok(Finding::Bad(told(evidence, sign)));
    }
    if let Exit::Status(_) | Exit::Signal(_) = evidence.exit {
        return early_exit(evidence).map(Finding::Bad);
    }
    if let Some(bad) = stopped(evidence).or_else(|| incomplete(evidence)) {
        return Ok(Finding::Bad(with_splat(bad, evidence, &signs)));
    }
    let is_allowed = |sign: &&Sign| evidence.allowed.iter().any(|text| sign.message.contains(text));
    match signs.iter().find(|sign| !is_allowed(sign)) {
        Some(sign) => Ok(Finding::Bad(told(evidence, sign))),
        None => Ok(Finding::Good(signs.into_iter().map(|sign| sign.message).collect())),
    }
}

/// A failure that the console tells of.
fn told(evidence: &Evidence, sign: &Sign) -> Bad {
    let late = if evidence.has_end && sign.kind != Kind::Splat { ", after the end record" } else { "" };
    Bad {
        kind: sign.kind,
        message: format!("{}{late}", sign.message),
        excerpt: signs::around(evidence.console, sign.line),
        blame: Blame::Kernel,
    }
}

/// QEMU ended with a bad status: it could not start, could not load the kernel, or crashed.
fn early_exit(evidence: &Evidence) -> Result<Bad, Failure> {
    let how = match evidence.exit {
        Exit::Status(status) => format!("QEMU ended with status {status}"),
        Exit::Signal(signal) => format!("QEMU was ended by signal {signal}"),
        _ => "QEMU ended".to_owned(),
    };
    let excerpt = signs::last_lines(evidence.printed, 12);
    let host = HOST_TROUBLE.iter().any(|text| evidence.printed.contains(text));
    if host || evidence.exit == Exit::Signal(9) {
        let hint = if host { "QEMU says what this machine lacks" } else { "was there enough memory?" };
        return Err(Failure::host(how).excerpt(excerpt).hint(hint));
    }
    let loading = ["load kernel", "loading", "kernel", "PVH"].iter().any(|text| evidence.printed.contains(text));
    let blame = if loading { Blame::Kernel } else { Blame::Host };
    let message = excerpt.last().map_or(how.clone(), |line| format!("{how}: {line}"));
    Ok(Bad { kind: Kind::EarlyExit, message, excerpt, blame })
}

/// The boot was stopped at one of its limits.
fn stopped(evidence: &Evidence) -> Option<Bad> {
    let limits = evidence.limits;
    let place = if signs::reached_init(evidence.console) { "in the guest" } else { "before the guest's first line" };
    if evidence.stop == Some(Stop::Kvm) {
        let line = kvm_complaint(evidence.printed).unwrap_or("KVM gave up");
        let (message, excerpt) = (format!("{place}: {line}"), signs::first_lines(evidence.printed, 12));
        return Some(Bad { kind: Kind::EarlyExit, message, excerpt, blame: Blame::Host });
    }
    let (kind, message) = match (evidence.stop, evidence.exit) {
        (Some(Stop::Silence), _) => (Kind::Silence, format!("nothing on the console for {:?}", limits.silence)),
        (Some(Stop::Hang), _) => (Kind::Hang, format!("{place}: no more output for {:?}", limits.hang)),
        (Some(Stop::Restart), _) => {
            (Kind::Hang, format!("after the end record: the kernel did not restart within {:?}", limits.restart))
        }
        (Some(Stop::Flood), _) => (Kind::Overrun, format!("more than {} bytes on the console", limits.console_bytes)),
        (_, Exit::Deadline) => (Kind::Overrun, format!("{place}: not over after {:?}", limits.total)),
        _ => return None,
    };
    Some(Bad { kind, message, excerpt: signs::last_lines(evidence.console, 12), blame: Blame::Kernel })
}

/// QEMU ended by itself and well, but the guest had not got to its end: a panic that printed
/// nothing, a triple fault, a guest that gave up.
fn incomplete(evidence: &Evidence) -> Option<Bad> {
    if evidence.has_end {
        return None;
    }
    let (kind, message) = if signs::reached_init(evidence.console) {
        (Kind::NoEnd, "the guest started and the machine was reset before the end record was written")
    } else {
        (Kind::EarlyExit, "the machine was reset before the guest's first line")
    };
    let excerpt = signs::last_lines(&format!("{}\n{}", evidence.console, evidence.printed), 12);
    Some(Bad { kind, message: message.to_owned(), excerpt, blame: Blame::Kernel })
}

/// A splat before a hang or a lost end is likely its cause, so it is shown in front.
fn with_splat(mut bad: Bad, evidence: &Evidence, signs: &[Sign]) -> Bad {
    if let Some(sign) = signs.first() {
        let mut shown = signs::around(evidence.console, sign.line);
        shown.append(&mut bad.excerpt);
        bad.excerpt = shown;
    }
    bad
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Case {
        exit: Exit,
        stop: Option<Stop>,
        console: &'static str,
        has_end: bool,
        printed: &'static str,
    }

    const GOOD: Case =
        Case { exit: Exit::Success, stop: None, console: "nspatch: init\nnspatch: end\n", has_end: true, printed: "" };

    fn judged(case: &Case, allowed: &[&str]) -> Result<Finding, Failure> {
        judge(&Evidence {
            exit: case.exit,
            stop: case.stop,
            console: case.console,
            has_end: case.has_end,
            printed: case.printed,
            allowed: &allowed.iter().map(|&text| text.to_owned()).collect::<Vec<_>>(),
            limits: &Limits::default(),
        })
    }

    fn bad(case: &Case) -> (Kind, String, Blame) {
        match judged(case, &[]).unwrap() {
            Finding::Bad(bad) => (bad.kind, bad.message, bad.blame),
            Finding::Good(_) => panic!("taken as good"),
        }
    }

    #[test]
    fn a_boot_with_its_end_record_is_good() {
        assert_eq!(judged(&GOOD, &[]).unwrap(), Finding::Good(Vec::new()));
    }

    #[test]
    fn a_good_exit_status_alone_is_never_good() {
        let no_end = Case { has_end: false, ..GOOD };
        assert_eq!(bad(&no_end).0, Kind::NoEnd);
        assert_eq!(bad(&Case { console: "Linux version 6.12\n", ..no_end }).0, Kind::EarlyExit);
    }

    #[test]
    fn a_panic_after_the_end_record_still_breaks_the_boot() {
        let late = Case { console: "nspatch: init\nnspatch: end\nKernel panic - not syncing: late\n", ..GOOD };
        let (kind, message, _) = bad(&late);
        assert_eq!(kind, Kind::Panic);
        assert_eq!(message, "Kernel panic - not syncing: late, after the end record");
    }

    #[test]
    fn the_oops_that_led_to_a_panic_names_the_failure() {
        let console = "BUG: kernel NULL pointer dereference, address: 8\nKernel panic - not syncing: Fatal exception\n";
        let (kind, message, blame) = bad(&Case { console, has_end: false, ..GOOD });
        assert_eq!((kind, blame), (Kind::Oops, Blame::Kernel));
        assert_eq!(message, "BUG: kernel NULL pointer dereference, address: 8");
    }

    #[test]
    fn a_splat_breaks_a_boot_that_was_good_otherwise_unless_it_is_allowed() {
        let splat = Case { console: "nspatch: init\nWARNING: CPU: 0 PID: 1 at ipc/mq.c:9 f\nnspatch: end\n", ..GOOD };
        assert_eq!(bad(&splat).0, Kind::Splat);
        let allowed = judged(&splat, &["at ipc/mq.c:"]).unwrap();
        assert_eq!(allowed, Finding::Good(vec!["WARNING: CPU: 0 PID: 1 at ipc/mq.c:9 f".to_owned()]));
        assert!(matches!(judged(&splat, &["at ipc/msg.c:"]).unwrap(), Finding::Bad(_)));
    }

    #[test]
    fn an_allowed_text_does_not_allow_a_panic() {
        let panic = Case { console: "Kernel panic - not syncing: x\n", ..GOOD };
        assert!(matches!(judged(&panic, &["Kernel panic"]).unwrap(), Finding::Bad(Bad { kind: Kind::Panic, .. })));
    }

    #[test]
    fn every_limit_has_a_name() {
        let stopped = |stop, exit| bad(&Case { stop, exit, has_end: stop == Some(Stop::Restart), ..GOOD });
        for (stop, exit, kind, message) in [
            (Some(Stop::Silence), Exit::Stopped, Kind::Silence, "nothing on the console for 60s"),
            (Some(Stop::Hang), Exit::Stopped, Kind::Hang, "in the guest: no more output for 300s"),
            (
                Some(Stop::Restart),
                Exit::Stopped,
                Kind::Hang,
                "after the end record: the kernel did not restart within 30s",
            ),
            (Some(Stop::Flood), Exit::Stopped, Kind::Overrun, "more than 16777216 bytes on the console"),
            (None, Exit::Deadline, Kind::Overrun, "in the guest: not over after 900s"),
        ] {
            assert_eq!(stopped(stop, exit), (kind, message.to_owned(), Blame::Kernel));
        }
    }

    #[test]
    fn a_stall_before_a_hang_is_shown_in_front() {
        let console = "nspatch: init\nrcu: INFO: rcu_sched detected stalls on CPUs/tasks:\nlast\n";
        let hang = Case { stop: Some(Stop::Hang), exit: Exit::Stopped, has_end: false, console, ..GOOD };
        let Finding::Bad(bad) = judged(&hang, &[]).unwrap() else { panic!() };
        assert_eq!(bad.kind, Kind::Hang);
        assert!(bad.excerpt.iter().any(|line| line.contains("detected stalls")), "{:?}", bad.excerpt);
    }

    #[test]
    fn what_the_machine_lacks_is_not_the_kernel_s_fault() {
        let lost = |printed, exit| judged(&Case { exit, printed, console: "", has_end: false, ..GOOD }, &[]);
        for printed in [
            "qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate memory",
            "qemu-system-x86_64: -serial file:console.log: Could not open 'console.log': No such file or directory",
        ] {
            assert_eq!(lost(printed, Exit::Status(1)).unwrap_err().blame, Blame::Host, "{printed}");
        }
        assert_eq!(lost("", Exit::Signal(9)).unwrap_err().blame, Blame::Host);
    }

    #[test]
    fn a_kernel_that_qemu_cannot_load_is_an_early_exit_of_the_kernel() {
        let printed = "qemu-system-x86_64: Error loading uncompressed kernel without PVH ELF Note";
        let (kind, message, blame) = bad(&Case { exit: Exit::Status(1), printed, console: "", has_end: false, ..GOOD });
        assert_eq!((kind, blame), (Kind::EarlyExit, Blame::Kernel));
        assert_eq!(message, format!("QEMU ended with status 1: {printed}"));
    }
}
