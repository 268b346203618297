//! The words of kernels from 3.x to 7.x that tell of trouble, and those that only sound like it.

/// Reports of a kernel that has broken and does not go on: texts anywhere in a line.
pub(super) const OOPSES: &[&str] = &[
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
    "Bad mode in ",
    "Insufficient stack space to handle exception",
    "fatal FRED event",
    "Fixing recursive fault but reboot is needed",
];

/// Reports of a kernel that goes on: texts anywhere in a line. What begins with `BUG:` is told without them.
pub(super) const SPLATS: &[&str] = &[
    // Locks: `[ INFO: ... ]` and `[ BUG: ... ]` up to 4.11, `WARNING: ...` since
    "possible circular locking dependency",
    "possible recursive locking",
    "possible irq lock inversion",
    "unsafe lock order detected",
    "inconsistent lock state",
    "bad unlock balance detected",
    "bad contention detected",
    "held lock freed",
    "lock held when returning to user space",
    "still has locks held",
    "Nested lock was not taken",
    "trying to register non-static key",
    "circular locking deadlock detected",
    "Invalid wait context",
    "suspicious RCU usage",
    "suspicious rcu_dereference",
    // Stalls, lockups, hung tasks
    "detected stall",
    "detected expedited stall",
    "kthread starved for",
    "kthread timer wakeup didn't happen",
    "blocked for more than",
    "blocked in I/O wait for more than",
    "soft lockup - CPU",
    "workqueue lockup - pool",
    "hard LOCKUP",
    "non-responsive CSD lock",
    "nobody cared",
    // Contexts
    "scheduling while atomic",
    "sleeping function called from invalid context",
    // Memory
    "slab error in ",
    "Slab corruption",
    ": bad pte ",
    ": bad pmd ",
    ": bad pud ",
    ": bad p4d ",
    ": bad pgd ",
    "new suspected memory leaks",
    "page allocation failure",
    "invoked oom-killer",
    "UBSAN: ",
    "CFI failure at",
    // Things that are still in use, or are not
    "VFS: Busy inodes after unmount",
    "VFS: Close: file count is",
    "unregister_netdevice: waiting for",
    "ref_tracker: ",
    "Attempt to release alive",
    "which is not allocated.",
    "tried to init an initialized object",
    "[ ftrace bug ]",
];

/// What a warning says of its cause, in a line of its own before or after it. By itself it is a splat as well.
pub(super) const CAUSES: &[&str] = &[
    "refcount_t: ",
    "list_add corruption",
    "list_add double add",
    "list_del corruption",
    "ODEBUG: ",
    "rcuref - imbalanced put",
];

/// The trace that every report ends with, on x86_64 and on arm64.
pub(super) const TRACES: &[&str] = &["Call Trace:", "Call trace:"];

/// Lines of sound kernels that begin like a report, or hold the words of one.
pub(super) const HARMLESS: &[&str] = &[
    // The kernel prints its command line, whose words are the user's
    "Command line:",
    "Kernel command line:",
    "Unknown kernel command line parameters",
    // Of firmware, mitigations and settings, not of a fault
    "WARNING: BIOS bug:",
    "WARNING: Persistent clock returned invalid value",
    "WARNING: polling idle and HT enabled",
    "WARNING: The mand mount option",
    "WARNING: 'bootconfig' found on the kernel command line",
    "WARNING: Your 'console=",
    "ODEBUG: selftest passed",
    "ODEBUG: Out of memory. ODEBUG disabled",
];
