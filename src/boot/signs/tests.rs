//! Lines of real consoles, and what they tell.

use super::*;

fn kind(line: &str) -> Option<Kind> {
    scan(line).first().map(|sign| sign.kind)
}

/// The consoles of sound boots with every message shown (`loglevel=8`).
const SOUND: [&str; 2] = [
    include_str!("../../../tests/logs/sound-6.12-x86_64.log"),
    include_str!("../../../tests/logs/sound-6.12-arm64.log"),
];

const PANICS: &[&str] = &[
    "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)",
    "[    1.2] ---[ end Kernel panic - not syncing: Fatal exception ]---",
    "Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: do_umount+0x2f8/0x300",
    "Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b",
];

const DEATHS: &[&str] = &[
    // 3.x
    "BUG: unable to handle kernel NULL pointer dereference at   (null)",
    "BUG: unable to handle kernel paging request at ffffc90000a64000",
    "general protection fault: 0000 [#1] SMP",
    "invalid opcode: 0000 [#1] PREEMPT SMP",
    "stack segment: 0000 [#1] SMP",
    "divide_error: 0000 [#1] SMP",
    "divide error: 0000 [#1] SMP",
    "int3: 0000 [#1] SMP KASAN PTI",
    "kernel BUG at fs/namespace.c:1719!",
    "PANIC: double fault, error_code: 0x0",
    "Fixing recursive fault but reboot is needed!",
    "Unable to handle kernel paging request at virtual address dead000000000100",
    "Internal error: Oops: 96000004 [#1] PREEMPT SMP",
    "Bad mode in Error handler detected, code 0xbf000002 -- SError",
    "Unhandled fault: synchronous external abort (0x96000210) at 0xffffff8000090000",
    // 5.x to 7.x
    "BUG: kernel NULL pointer dereference, address: 0000000000000000",
    "[   12.345678][    T1] BUG: unable to handle page fault for address: ffff",
    "Unable to handle kernel NULL pointer dereference at virtual address 0000000000000008",
    "Internal error: Oops: 0000000096000004 [#1] PREEMPT SMP",
    "Internal error: Oops - BUG: 00000000f2000800 [#1] SMP",
    "Internal error: synchronous external abort: 96000210 [#1] SMP",
    "Oops: general protection fault, probably for non-canonical address 0xdead",
    "Oops: 0002 [#1] SMP PTI",
    "traps: PANIC: double fault, error_code: 0x0",
    "BUG: TASK stack guard page was hit at ffffc90000007ff8 (stack is ffffc90000008000..ffffc9000000c000)",
    "BUG: invalid or fatal FRED event; event type 3 vector 13 error 0x0 aux 0x0 at 0010:ffffffff81000000",
    "Insufficient stack space to handle exception!",
    "Kernel BUG at free_ipc+0x2c/0x30 [verbose debug info unavailable]",
];

const SPLATS: &[&str] = &[
    // 3.x and 4.x
    "WARNING: at fs/namespace.c:249 handle_write_count_underflow()",
    "WARNING: CPU: 0 PID: 1 at lib/list_debug.c:33 __list_add+0xbe/0xd0()",
    "[ INFO: possible recursive locking detected ]",
    "[ INFO: possible circular locking dependency detected ]",
    "[ INFO: possible irq lock inversion dependency detected ]",
    "[ INFO: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected ]",
    "[   61.875716] [ INFO: inconsistent lock state ]",
    "[ INFO: suspicious RCU usage. ]",
    "[ INFO: suspicious rcu_dereference_check() usage. ]",
    "[ BUG: bad unlock balance detected! ]",
    "[  257.139909] [ BUG: lock held when returning to user space! ]",
    "[ BUG: held lock freed! ]",
    "[ BUG: init/1 still has locks held! ]",
    "INFO: trying to register non-static key.",
    "INFO: rcu_sched_state detected stall on CPU 0 (t=60000 jiffies)",
    "INFO: rcu_sched_state detected stalls on CPUs/tasks: { 4 5 6} (detected by 1, t=2504 jiffies)",
    "INFO: rcu_sched self-detected stall on CPU { 0}  (t=6000 jiffies g=15 c=14 q=12)",
    "INFO: task fsnotify_mark:53 blocked for more than 120 seconds.",
    "BUG: soft lockup - CPU#13 stuck for 22s! [kswapd1:149]",
    "NMI watchdog: BUG: soft lockup - CPU#1 stuck for 23s! [init:1]",
    "NMI watchdog: Watchdog detected hard LOCKUP on cpu 0",
    "BUG: scheduling while atomic: swapper/0/1/0x10000002",
    "BUG: sleeping function called from invalid context at mm/slub.c:926",
    "BUG: using smp_processor_id() in preemptible [00000000] code: init/1",
    "BUG: spinlock bad magic on CPU#0, swapper/0/1",
    "BUG: Dentry ffff88007b8f0000{i=0,n=/} still in use (1) [unmount of mqueue mqueue]",
    "BUG: Bad rss-counter state mm:ffff88003d0b4000 idx:1 val:1",
    "BUG kmalloc-64 (Not tainted): Padding overwritten. 0xffff880051018f50-0xffff880051018fff",
    "BUG discard_cmd (Tainted: G    B      OE  ): Objects remaining in discard_cmd on __kmem_cache_shutdown()",
    "slab error in check_poison_obj(): cache `size-64': object was modified after freeing",
    "VFS: Busy inodes after unmount of mqueue. Self-destruct in 5 seconds.  Have a nice day...",
    "VFS: Close: file count is 0",
    "idr_remove called for id=3 which is not allocated.",
    "kobject (ffff88003d0b4000): tried to init an initialized object, something is seriously wrong.",
    "mm/pgtable-generic.c:33: bad pmd ffff88007b8f0000(80000000000001e3)",
    "UBSAN: Undefined behaviour in fs/pnode.c:12:3",
    "irq 4: nobody cared (try booting with the \"irqpoll\" option)",
    "------------[ ftrace bug ]------------",
    "swapper/0: page allocation failure: order:1, mode:0x20",
    "unregister_netdevice: waiting for lo to become free. Usage count = 2",
    // 5.x and 6.x
    "WARNING: CPU: 1 PID: 1 at ipc/namespace.c:150 free_ipc_ns+0x1c/0x30",
    "<4>[    0.5] WARNING: possible circular locking dependency detected",
    "WARNING: suspicious RCU usage",
    "WARNING: inconsistent lock state",
    "WARNING: Nested lock was not taken",
    "WARNING: kernel stack frame pointer at ffffc90000013e48 in init:1 has bad value 0000000000000000",
    "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-...D } 26 jiffies s: 9 root: 0x2/.",
    "rcu: rcu_sched kthread starved for 5250 jiffies! g1253 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402 ->cpu=0",
    "rcu: rcu_preempt kthread timer wakeup didn't happen for 2099 jiffies! g1 f0x0 RCU_GP_WAIT_FQS(5) ->state=0x402",
    "rcu_tasks: INFO: rcu_tasks detected stalls on tasks:",
    "INFO: task init:1 blocked for more than 122 seconds.",
    "INFO: task init:1 blocked in I/O wait for more than 122 seconds.",
    "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [init:1]",
    "watchdog: CPU3: Watchdog detected hard LOCKUP on cpu 3",
    "BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!",
    "BUG: workqueue leaked atomic, lock or RCU: kworker/0:1[9]",
    "smp: csd: Detected non-responsive CSD lock (#1) on CPU#4, waiting 5000000050 ns for CPU#03 do_nothing+0x0/0x8(0x0).",
    "[ BUG: Invalid wait context ]",
    "BUG: KASAN: slab-use-after-free in put_mnt_ns+0x1c/0x30",
    "BUG: KASAN: use-after-free in free_ipc+0x1c/0x30 at addr ffff88003d0b4000",
    "BUG: KCSAN: data-race in kick_pool / wq_worker_running",
    "BUG: KMSAN: uninit-value in mntput_no_expire+0x1c/0x30",
    "BUG: KFENCE: use-after-free read in put_ipc_ns+0x1c/0x30",
    "UBSAN: array-index-out-of-bounds in fs/pnode.c:12:3",
    "BUG: Bad page state in process init  pfn:01234",
    "BUG: Bad page map in process init  pte:8000000000000000 pmd:00000000",
    "BUG: non-zero pgtables_bytes on freeing mm: 4096",
    "[ BUG: circular locking deadlock detected! ]",
    "WARNING: bad contention detected!",
    "mm/memory.c:1: bad pte 8000000000000000.",
    "mm/memory.c:1: bad pud ffff88007b8f0000(80000000000001e3)",
    "mm/memory.c:1: bad p4d ffff88007b8f0000(80000000000001e3)",
    "mm/memory.c:1: bad pgd ffff88007b8f0000(80000000000001e3)",
    "Slab corruption (Not tainted): size-64 start=ffff88003d0b4000, len=64",
    "BUG: MAX_LOCKDEP_CHAINS too low!",
    "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "VFS: Busy inodes after unmount of mqueue (mqueue)",
    "ref_tracker: net notrefcnt@000000009b3d1faf has 1/1 users at",
    "unix: Attempt to release alive unix socket: 00000000a1b2c3d4",
    "init invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=1, oom_score_adj=0",
    "CFI failure at free_ipc+0x1c/0x30 (target: put_mnt_ns+0x0/0x30; expected type: 0xa1b2c3d4)",
    "refcount_t: underflow; use-after-free.",
    "list_add double add: new=ffff888003d0b400, prev=ffff888003d0b400, next=ffff888003d0b408.",
    "rcuref - imbalanced put()",
    "list_add corruption. prev->next should be next (ffff888003d0b400), but was 0000000000000000. (prev=ffff888003d0b408).",
    "list_del corruption, ffff888003d0b400->next is LIST_POISON1 (dead000000000100)",
    "ODEBUG: free active (active state 0) object: 00000000a1b2c3d4 object type: timer_list hint: 0x0",
    // 7.x
    "WARNING: kernel/sched/core.c:6348 at sched_core_cpu_starting+0x510/0x540, CPU#1: swapper/1/0",
    "WARNING: at free_ipc_ns+0x1c/0x30, CPU#0: init/1",
    "INFO: task init:1 blocked on a mutex likely owned by task free_ipc:9 blocked for more than 120 seconds.",
    // The guest had not ended its line when the kernel spoke
    "nspatch: enWARNING: CPU: 0 PID: 9 at ipc/namespace.c:150 free_ipc_ns+0x1c/0x30",
    "nspatch: initWARNING: ipc/namespace.c:150 at free_ipc_ns+0x1c/0x30, CPU#0: init/1",
    "nspatch: endBUG: KASAN: slab-use-after-free in put_mnt_ns+0x1c/0x30",
];

const HARMLESS_LINES: &[&str] = &[
    "Warning: unable to open an initial console.",
    "Warning! ehci_hcd should always be loaded before uhci_hcd and ohci_hcd, not after",
    "Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on, data leaks possible via Spectre v2 BHB attacks!",
    "RETBleed: WARNING: Spectre v2 mitigation leaves CPU vulnerable to RETBleed attacks, data leaks possible!",
    "WARNING: Persistent clock returned invalid value!",
    "WARNING: polling idle and HT enabled, performance may degrade",
    "MDS CPU bug present and SMT on, data leak possible.",
    "[Firmware Bug]: TSC_DEADLINE disabled due to Errata; please update microcode to version: 0x52 (or later)",
    "ACPI BIOS Bug: Warning: Optional FADT field Pm2ControlBlock has valid Length but zero Address: 0x0/0x1",
    "PCI: BIOS BUG #81[49435000] found",
    "DEBUG: nothing",
    "KERNEL_DEBUG: on",
    "ODEBUG_STATE",
    "ODEBUG: selftest passed",
    "calling  fixup_ht_bug+0x0/0x140 @ 1",
    "Could not switch to high resolution mode on CPU 0",
    "traps: init[17] general protection fault ip:4012b3 sp:7ffc error:0 in init[401000+1000]",
    "traps: init[17] trap invalid opcode ip:4012b3 sp:7ffc error:0 in init[401000+1000]",
    "traps: init[17] trap divide error ip:4012b3 sp:7ffc error:0 in init[401000+1000]",
    "init[17]: segfault at 0 ip 0000000000401234 sp 00007ffc1234 error 4 in init[401000+1000]",
    "init[17]: unhandled level 1 translation fault (11) at 0x00000000, esr 0x92000005",
    "Kernel command line: console=ttyS0 nspatch.run=BUG:x oops=panic",
    "Unknown kernel command line parameters \"nspatch.seed=1 nspatch.run=BUG:x\", will be passed to user space.",
    "rcu: RCU event tracing is enabled.",
    "rcu: RCU lockdep checking is enabled.",
    "rcu: INFO: Stall ended before state dump start",
    "rcu: RCU CPU stall warnings timeout set to 120 (rcu_cpu_stall_timeout).",
    "INFO: lockdep is turned off.",
    "INFO: NMI handler (perf_event_nmi_handler) took too long to run: 1.624 msecs",
    "\"echo 0 > /proc/sys/kernel/hung_task_timeout_secs\" disables this message.",
    "Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar",
    "Good, all 261 testcases passed! |",
    "kasan: KernelAddressSanitizer initialized (generic)",
    "kfence: initialized - using 2097152 bytes for 255 objects at 0x(____ptrval____)-0x(____ptrval____)",
    "kmemleak: Kernel memory leak detector initialized (mem pool available: 15679)",
    "kcsan: enabled early",
    "watchdog: Delayed init of the lockup detector failed: -19",
    "NMI watchdog: Enabled. Permanently consumes one hw-PMU counter.",
    "workqueue: free_ipc hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND",
    "perf: interrupt took too long (2501 > 2500), lowering kernel.perf_event_max_sample_rate to 79750",
    "hrtimer: interrupt took 12345678 ns",
    "spurious 8259A interrupt: IRQ7.",
    "tsc: Marking TSC unstable due to TSCs unsynchronized",
    "random: get_random_bytes called from start_kernel+0x98/0x4b9 with crng_init=0",
    "Kernel/User page tables isolation: disabled",
    "process 1 (init) attempted a POSIX timer syscall while CONFIG_POSIX_TIMERS is not set",
    "[#1] is no number of an oops, and neither is [# ]",
    "#1 SMP PREEMPT_DYNAMIC Debian 6.12.9-1",
    "nspatch: init",
    "",
];

#[test]
fn what_kernels_of_every_age_print_when_they_break_is_told_apart() {
    for (lines, expected) in [(PANICS, Kind::Panic), (DEATHS, Kind::Oops), (SPLATS, Kind::Splat)] {
        for line in lines {
            assert_eq!(kind(line), Some(expected), "{line}");
            // As a kernel with time stamps and callers has it, in the middle of a console
            let console = format!("nspatch: init\r\n<4>[    9.876543][    T1] {line}\r\n---[ end trace 0 ]---\r\n");
            assert_eq!(kind(&console), Some(expected), "{console}");
        }
    }
}

#[test]
fn what_a_sound_kernel_prints_is_no_sign() {
    for line in HARMLESS_LINES {
        assert_eq!(kind(line), None, "{line}");
        assert_eq!(kind(&format!("[    9.876543] {line}")), None, "{line}");
    }
    for console in SOUND {
        assert_eq!(scan(console), []);
    }
}

#[test]
fn every_text_that_is_looked_for_is_seen_in_a_line_that_a_kernel_prints() {
    let all: Vec<&str> = [DEATHS, self::SPLATS].concat();
    let unseen = |texts: &[&'static str]| -> Vec<&str> {
        texts.iter().filter(|text| !all.iter().any(|line| line.contains(**text))).copied().collect()
    };
    assert_eq!(unseen(texts::OOPSES), [""; 0]);
    assert_eq!(unseen(texts::SPLATS), [""; 0]);
    assert_eq!(unseen(CAUSES), [""; 0]);
}

#[test]
fn a_warning_and_the_line_that_names_its_cause_are_one_sign() {
    let before = "------------[ cut here ]------------\nrefcount_t: underflow; use-after-free.\n\
                  WARNING: CPU: 0 PID: 1 at lib/refcount.c:28 refcount_warn_saturate+0x9a/0x100\nCall Trace:\n";
    let after = "WARNING: lib/refcount.c:28 at refcount_warn_saturate+0x9a/0x100, CPU#0: init/1\n\
                 refcount_t: underflow; use-after-free.\nCall Trace:\n";
    for console in [before, after] {
        let signs = scan(console);
        assert_eq!(signs.len(), 1, "{signs:?}");
        for text in ["refcount_t: underflow", "lib/refcount.c:28"] {
            assert!(signs[0].message.contains(text), "{signs:?}");
        }
    }
    let apart = "WARNING: CPU: 0 PID: 1 at a.c:1 f\n1\n2\n3\nrefcount_t: underflow; use-after-free.\n";
    assert_eq!(scan(apart).len(), 2);
}

#[test]
fn a_trace_that_nothing_explains_is_a_splat_and_one_that_follows_a_sign_is_not() {
    let alone =
        "nspatch: init\nsomething odd\nCPU: 0 UID: 0 PID: 1 Comm: init Not tainted 6.12.0 #1\nCall Trace:\n <TASK>\n";
    assert_eq!(scan(alone)[0].message, "Call Trace:");
    assert_eq!(scan(&alone.replace("Trace", "trace"))[0].kind, Kind::Splat);
    let explained = format!("BUG: KASAN: slab-use-after-free in f+0x1/0x2\n{alone}{alone}");
    assert_eq!(scan(&explained).len(), 1);
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
    fn no_console_makes_the_scan_fail(console in "(\\PC|\n|\\[|\\]|<|>|WARNING: | \\[#|refcount_t: ){0,80}") {
        for sign in scan(&console) {
            proptest::prop_assert!(!around(&console, sign.line).is_empty());
        }
    }
}
