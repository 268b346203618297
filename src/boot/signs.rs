//! What a console tells: panics, oopses, splats, and the guest's markers.
//!
//! All signs are literal texts. A pattern language could hold a pattern that does not compile or
//! never matches, and a check that cannot run would pass every kernel.

use super::Kind;

/// The guest's first line.
const INIT: &str = "nspatch: init";

/// Reports of a kernel that goes on: texts anywhere in a line. Some start with `BUG:` and so come
/// before the oopses.
const SPLATS: &[&str] = &[
    "BUG: soft lockup",
    "BUG: workqueue lockup",
    "BUG: sleeping function called",
    "BUG: scheduling while atomic",
    "BUG: using ",
    "BUG: KCSAN:",
    "BUG: memory leak",
    "BUG: Invalid wait context",
    "BUG: spinlock ",
    "BUG: rwlock ",
    "still has locks held",
    "lock held when returning to user space",
    "bad unlock balance detected",
    "held lock freed",
    "detected stall",
    "self-detected stall",
    "detected expedited stall",
    "possible circular locking dependency",
    "possible recursive locking",
    "possible irq lock inversion",
    "unsafe lock order detected",
    "inconsistent lock state",
    "suspicious RCU usage",
    "suspicious rcu_dereference",
    "trying to register non-static key",
    "blocked for more than",
    "blocked in I/O wait for more than",
    "rcu_preempt kthread starved",
    "rcu_sched kthread starved",
    "unregister_netdevice: waiting for",
    "new suspected memory leaks",
];

/// Splats that count at the start of a message only: elsewhere the text is part of a notice, as in
/// `Spectre V2 : WARNING: Unprivileged eBPF is enabled`.
const SPLATS_AT_START: &[&str] = &["WARNING:", "UBSAN:", "ODEBUG:", "list_add corruption", "list_del corruption"];

/// Reports of a kernel that has broken: texts anywhere in a line.
const OOPSES: &[&str] = &[
    "Unable to handle kernel",
    "unable to handle kernel",
    "unable to handle page fault",
    "NULL pointer dereference",
    "kernel BUG at",
    "Kernel BUG",
    "Internal error: ",
    "Oops: ",
    "Oops - ",
    "general protection fault",
    "stack segment: ",
    "divide error: ",
    "divide_error: ",
    "invalid opcode: ",
    "double fault",
    "stack guard page was hit",
    "Unhandled fault:",
    "BUG kmalloc-",
    "VFS: Busy inodes after unmount",
    "VFS: Close: file count is",
];

/// A line of a console that tells of trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sign {
    /// [`Kind::Panic`], [`Kind::Oops`] or [`Kind::Splat`].
    pub kind: Kind,
    /// Its place in the console, in lines from 0.
    pub line: usize,
    /// The message without its time stamp.
    pub message: String,
}

/// All signs of trouble on a console, in order.
pub(super) fn scan(console: &str) -> Vec<Sign> {
    let found = console.lines().enumerate().filter_map(|(line, text)| {
        let message = message(text);
        classify(message).map(|kind| Sign { kind, line, message: message.to_owned() })
    });
    found.collect()
}

/// Whether a part of a console tells of the kernel's end.
pub(super) fn is_fatal(part: &str) -> bool {
    scan(part).iter().any(|sign| sign.kind != Kind::Splat)
}

/// Whether the guest's program was started.
pub(super) fn reached_init(console: &str) -> bool {
    console.lines().any(|line| line.contains(INIT))
}

/// The lines around a sign: what led to it, the trace, at most to the trace's end.
pub(super) fn around(console: &str, line: usize) -> Vec<String> {
    let lines = console.lines().skip(line.saturating_sub(2)).take(18);
    let mut shown: Vec<String> = Vec::new();
    for text in lines.map(str::trim_end).filter(|text| !text.is_empty()) {
        shown.push(text.to_owned());
        if text.contains("---[ end ") {
            break;
        }
    }
    shown
}

/// The last lines that are not empty.
pub(super) fn last_lines(text: &str, count: usize) -> Vec<String> {
    let lines: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].iter().map(|&line| line.to_owned()).collect()
}

fn classify(message: &str) -> Option<Kind> {
    let has = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
    if message.contains("Kernel panic - not syncing") {
        Some(Kind::Panic)
    } else if is_parameter_echo(message) || is_user_trap(message) {
        None
    } else if has(SPLATS) || SPLATS_AT_START.iter().any(|text| message.starts_with(text)) {
        Some(Kind::Splat)
    } else if has(OOPSES) || has_word(message, "BUG:") {
        Some(Kind::Oops)
    } else {
        None
    }
}

/// The kernel prints its command line, whose words are the user's.
fn is_parameter_echo(message: &str) -> bool {
    message.starts_with("Command line:") || message.starts_with("Kernel command line:")
}

/// A fault of a program, as in `traps: init[1] general protection fault ip:4012b3 ... error:0 in init`.
fn is_user_trap(message: &str) -> bool {
    message.contains("] general protection fault ip:") || message.contains("] trap invalid opcode ip:")
}

/// Whether a text stands there without a letter before it, so that `DEBUG:` is no `BUG:`.
fn has_word(message: &str, word: &str) -> bool {
    message.match_indices(word).any(|(at, _)| !message[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// A line without its level, time stamp and caller: `<4>[    0.123456][    T1] `.
fn message(line: &str) -> &str {
    let mut rest = line.trim();
    if let Some((level, after)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        && level.bytes().all(|byte| byte.is_ascii_digit())
    {
        rest = after.trim_start();
    }
    while let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let mark = inside.trim().trim_start_matches(['T', 'C']);
        if mark.is_empty() || !mark.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> Option<Kind> {
        scan(line).first().map(|sign| sign.kind)
    }

    #[test]
    fn what_kernels_print_when_they_break_is_told_apart() {
        for (line, expected) in [
            ("Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)", Kind::Panic),
            ("[    1.2] ---[ end Kernel panic - not syncing: Fatal exception ]---", Kind::Panic),
            ("BUG: kernel NULL pointer dereference, address: 0000000000000000", Kind::Oops),
            ("[   12.345678][    T1] BUG: unable to handle page fault for address: ffff", Kind::Oops),
            ("BUG: unable to handle kernel NULL pointer dereference at   (null)", Kind::Oops),
            ("Unable to handle kernel paging request at virtual address dead000000000100", Kind::Oops),
            ("Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP", Kind::Oops),
            ("Internal error: Oops - BUG: 00000000f2000800 [#1] SMP", Kind::Oops),
            ("kernel BUG at fs/namespace.c:1719!", Kind::Oops),
            ("Oops: general protection fault, probably for non-canonical address 0xdead", Kind::Oops),
            ("general protection fault: 0000 [#1] SMP PTI", Kind::Oops),
            ("traps: PANIC: double fault, error_code: 0x0", Kind::Oops),
            ("BUG: KASAN: slab-use-after-free in put_mnt_ns+0x1c/0x30", Kind::Oops),
            ("BUG: Bad page state in process init  pfn:01234", Kind::Oops),
            ("BUG: Dentry ffff8880 still in use (1) [unmount of tmpfs tmpfs]", Kind::Oops),
            ("WARNING: CPU: 1 PID: 1 at ipc/namespace.c:150 free_ipc_ns+0x1c/0x30", Kind::Splat),
            ("<4>[    0.5] WARNING: possible circular locking dependency detected", Kind::Splat),
            ("[ INFO: possible recursive locking detected ]", Kind::Splat),
            ("WARNING: suspicious RCU usage", Kind::Splat),
            ("rcu: INFO: rcu_sched detected stalls on CPUs/tasks:", Kind::Splat),
            ("rcu: INFO: rcu_preempt self-detected stall on CPU", Kind::Splat),
            ("INFO: rcu_preempt detected expedited stalls on CPUs/tasks: {", Kind::Splat),
            ("INFO: task init:1 blocked for more than 122 seconds.", Kind::Splat),
            ("watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [init:1]", Kind::Splat),
            ("BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!", Kind::Splat),
            ("BUG: sleeping function called from invalid context at mm/slab.h:494", Kind::Splat),
            ("UBSAN: array-index-out-of-bounds in fs/pnode.c:12:3", Kind::Splat),
            ("unregister_netdevice: waiting for lo to become free. Usage count = 2", Kind::Splat),
        ] {
            assert_eq!(kind(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_a_sound_kernel_prints_is_no_sign() {
        for line in [
            "Warning: unable to open an initial console.",
            "Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on",
            "DEBUG: nothing",
            "ODEBUG_STATE",
            "calling  fixup_ht_bug+0x0/0x140 @ 1",
            "Could not switch to high resolution mode on CPU 0",
            "traps: init[17] general protection fault ip:4012b3 sp:7ffc error:0 in init[401000+1000]",
            "Kernel command line: console=ttyS0 nspatch.run=BUG:x oops=panic",
            "rcu: RCU event tracing is enabled.",
            "INFO: lockdep is turned off.",
            "nspatch: init",
            "",
        ] {
            assert_eq!(kind(line), None, "{line}");
        }
    }

    #[test]
    fn an_excerpt_starts_before_the_sign_and_ends_with_the_trace() {
        let console = "one\ntwo\nVFS: cannot open root\n\nKernel panic - not syncing: no root\nCPU: 0\n\
                       ---[ end Kernel panic - not syncing: no root ]---\nafter\n";
        let sign = &scan(console)[0];
        insta::assert_snapshot!(around(console, sign.line).join("\n"), @r"
        VFS: cannot open root
        Kernel panic - not syncing: no root
        CPU: 0
        ---[ end Kernel panic - not syncing: no root ]---
        ");
    }

    proptest::proptest! {
        #[test]
        fn no_console_makes_the_scan_fail(console in "(\\PC|\n|\\[|\\]|<|>){0,80}") {
            for sign in scan(&console) {
                proptest::prop_assert!(!around(&console, sign.line).is_empty());
            }
        }
    }
}
