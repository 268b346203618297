//! Boots through `tests/fakes/qemu-system`: every way in which one can end, told apart.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use nspatch::arch::Arch;
use nspatch::blame::{Blame, Class, Failure};
use nspatch::boot::{Accelerator, BootFailure, Clock, Kind, Kvm, Limits, Outcome, Qemu, Start, boot, probe_kvm};
use nspatch::event::{Ending, Event};
use nspatch::job::Job;
use nspatch::store::Cache;

/// A stream whose end record looks right; whether it is right is not the boot's business.
const STREAM: &str = "{\"hello\":{\"protocol\":1}}\n{\"end\":{\"records\":1,\"crc32\":\"00000000\"}}\n";

fn fake(name: &str) -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes").join(name)
}

struct Bench {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Bench {
    fn new(behave: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        fs_err::write(root.join("image"), format!("behave={behave}\n")).unwrap();
        fs_err::write(root.join("image.results"), STREAM).unwrap();
        fs_err::write(root.join("initramfs"), "").unwrap();
        Bench { _folder: folder, root }
    }

    fn start(&self, arch: &str) -> Start {
        let arch = Arch::named(arch).unwrap();
        Start {
            qemu: Qemu::at(arch, fake("qemu-system").as_str()).unwrap(),
            image: self.root.join("image"),
            initramfs: self.root.join("initramfs"),
            seed: 7,
            run: "unshare-ipc:operations=32,setns-net".into(),
            clock: Clock::Virtual,
            accelerator: Accelerator::Tcg,
            cpus: 2,
            memory_mib: 256,
            folder: self.root.join("run/boot"),
            limits: short(),
            allowed_splats: Vec::new(),
            subject: "x86_64 base seed 7".into(),
        }
    }

    fn boot(&self, start: &Start) -> Result<Outcome, Failure> {
        let cache = Cache::open(&self.root.join("cache")).unwrap();
        boot(start, &Job { cache: &cache, logs: &self.root, emit: &|_| {} })
    }
}

/// The limit under test is short, the others are long: what is told must come from the right one.
fn short() -> Limits {
    let long = Duration::from_secs(60);
    Limits { silence: long, hang: long, restart: long, total: long, ..Limits::default() }
}

fn broken_with(behave: &str, change: impl FnOnce(&mut Start)) -> BootFailure {
    let bench = Bench::new(behave);
    let mut start = bench.start("x86_64");
    change(&mut start);
    let outcome = bench.boot(&start).unwrap();
    assert!(start.folder.join("console.log").exists(), "the console is kept");
    assert!(fs_err::read_to_string(start.folder.join("qemu.log")).unwrap().starts_with("$ "), "so is the command");
    match outcome {
        Outcome::Broken(failure) => failure,
        Outcome::Ended(guest) => panic!("taken as good: {guest:?}"),
    }
}

fn broken(behave: &str) -> BootFailure {
    broken_with(behave, |_| {})
}

#[test]
fn a_good_boot_leaves_its_results_and_console() {
    let bench = Bench::new("echo");
    for arch in ["x86_64", "arm64"] {
        let Outcome::Ended(guest) = bench.boot(&bench.start(arch)).unwrap() else { panic!("{arch}") };
        assert_eq!(fs_err::read_to_string(&guest.results).unwrap(), STREAM, "{arch}");
        let console = fs_err::read_to_string(&guest.console).unwrap();
        assert!(console.contains("nspatch.seed=7 nspatch.run=unshare-ipc:operations=32,setns-net"), "{console}");
        assert!(guest.seconds < 60.0);
    }
}

#[test]
fn a_slow_guest_that_shows_signs_of_life_may_go_on() {
    let bench = Bench::new("slow");
    let mut start = bench.start("x86_64");
    start.limits.hang = Duration::from_millis(900);
    let Outcome::Ended(guest) = bench.boot(&start).unwrap() else { panic!("was stopped") };
    assert!(guest.seconds > 1.0);
    assert!(guest.seconds_to_init.unwrap() < guest.seconds - 0.5, "{guest:?}");
}

#[test]
fn panics_and_oopses_are_told_apart_and_shown() {
    let panic = broken("panic");
    assert_eq!((panic.kind, panic.blame), (Kind::Panic, Blame::Kernel));
    assert_eq!(panic.message, "Kernel panic - not syncing: No working init found.");
    assert!(panic.excerpt.iter().any(|line| line.contains("panic+0x10")), "{panic:?}");
    let oops = broken("oops");
    assert_eq!(oops.kind, Kind::Oops);
    assert!(oops.excerpt.iter().any(|line| line.contains("put_ipc_ns")), "{oops:?}");
    assert_eq!(broken("oops-arm64").kind, Kind::Oops);
}

#[test]
fn a_panic_after_the_results_still_breaks_the_boot() {
    assert_eq!(broken("panic-late").kind, Kind::Panic);
}

#[test]
fn a_dead_kernel_is_not_waited_for() {
    let since = std::time::Instant::now();
    let panic = broken("panic-and-spin");
    assert_eq!(panic.kind, Kind::Panic);
    assert!(panic.excerpt.iter().any(|line| line.contains("end trace")), "{panic:?}");
    assert!(since.elapsed() < Duration::from_secs(30));
}

#[test]
fn silence_hang_and_overrun_each_have_their_limit() {
    let limit = Duration::from_millis(500);
    let silence = broken_with("silence", |start| start.limits.silence = limit);
    assert_eq!((silence.kind, silence.message.as_str()), (Kind::Silence, "nothing on the console for 500ms"));
    let hang = broken_with("hang", |start| start.limits.hang = limit);
    assert_eq!((hang.kind, &hang.excerpt[..]), (Kind::Hang, &["Linux version 6.12".to_owned()][..]));
    assert!(hang.message.starts_with("before the guest's first line"), "{hang:?}");
    let in_guest = broken_with("hang-in-guest", |start| start.limits.hang = limit);
    assert!(in_guest.message.starts_with("in the guest"), "{in_guest:?}");
    let restart = broken_with("hang-after-end", |start| start.limits.restart = limit);
    assert_eq!(restart.kind, Kind::Hang);
    assert!(restart.message.contains("after the end record"), "{restart:?}");
    assert_eq!(broken_with("endless", |start| start.limits.total = limit).kind, Kind::Overrun);
    assert_eq!(broken_with("flood", |start| start.limits.console_bytes = 1 << 20).kind, Kind::Overrun);
}

#[test]
fn a_good_exit_status_without_an_end_record_is_never_good() {
    assert_eq!(broken("reset").kind, Kind::EarlyExit);
    assert_eq!(broken("nothing").kind, Kind::EarlyExit);
    assert_eq!(broken("no-end").kind, Kind::NoEnd);
    let gave_up = broken("gave-up");
    assert_eq!(gave_up.kind, Kind::NoEnd);
    assert!(gave_up.excerpt.contains(&"nspatch: open results: No such device".to_owned()), "{gave_up:?}");
}

#[test]
fn what_qemu_says_when_it_ends_early_is_shown() {
    let image = broken("bad-image");
    assert_eq!((image.kind, image.blame), (Kind::EarlyExit, Blame::Kernel));
    assert!(image.message.contains("without PVH ELF Note"), "{image:?}");
    let crash = broken("crash");
    assert_eq!((crash.kind, crash.blame), (Kind::EarlyExit, Blame::Host));
    assert!(crash.message.contains("signal 6"), "{crash:?}");
}

#[test]
fn what_the_machine_lacks_stops_the_work_and_blames_no_kernel() {
    let bench = Bench::new("no-memory");
    let failure = bench.boot(&bench.start("x86_64")).unwrap_err();
    assert_eq!((failure.class, failure.blame), (Class::Host, Blame::Host));
    assert!(failure.excerpt[0].contains("Cannot allocate memory"), "{failure:?}");
    let mut start = bench.start("x86_64");
    start.image = bench.root.join("no-such-image");
    assert_eq!(bench.boot(&start).unwrap_err().class, Class::Host);
}

#[test]
fn a_splat_breaks_a_boot_unless_it_is_allowed() {
    let splat = broken("splat");
    assert_eq!(splat.kind, Kind::Splat);
    assert!(splat.message.starts_with("WARNING: CPU: 0 PID: 1 at ipc/namespace.c:150"), "{splat:?}");
    let bench = Bench::new("splat");
    let mut start = bench.start("x86_64");
    start.allowed_splats = vec!["at ipc/namespace.c:150".into()];
    let Outcome::Ended(guest) = bench.boot(&start).unwrap() else { panic!("was not allowed") };
    assert_eq!(guest.allowed_splats.len(), 1);
    start.allowed_splats = vec![" ".into()];
    assert_eq!(bench.boot(&start).unwrap_err().class, Class::Usage);
}

#[test]
fn the_results_of_an_earlier_boot_are_not_taken_for_this_one_s() {
    let bench = Bench::new("bad-image");
    let start = bench.start("x86_64");
    fs_err::create_dir_all(&start.folder).unwrap();
    fs_err::write(start.folder.join("results.jsonl"), STREAM).unwrap();
    fs_err::write(start.folder.join("console.log"), "nspatch: init\nnspatch: end\n").unwrap();
    let Outcome::Broken(failure) = bench.boot(&start).unwrap() else { panic!("taken as good") };
    assert_eq!(failure.kind, Kind::EarlyExit);
    assert_eq!(fs_err::read(start.folder.join("results.jsonl")).unwrap_or_default(), b"");
}

#[test]
fn a_boot_tells_that_it_began_and_how_it_ended() {
    for (behave, expected) in [("good", Ending::Done), ("panic", Ending::Broken)] {
        let bench = Bench::new(behave);
        let events = std::sync::Mutex::new(Vec::new());
        let emit = |event| events.lock().unwrap().push(event);
        let cache = Cache::open(&bench.root.join("cache")).unwrap();
        boot(&bench.start("x86_64"), &Job { cache: &cache, logs: &bench.root, emit: &emit }).unwrap();
        let events = events.into_inner().unwrap();
        assert!(
            matches!(&events[0], Event::Started { subject, total: Some(2), .. } if subject == "x86_64 base seed 7")
        );
        assert!(matches!(events.last(), Some(Event::Finished { ending, .. }) if *ending == expected), "{events:?}");
    }
}

/// What a look at KVM finds at a kernel that behaves so, where the fake QEMU's KVM is of this kind.
fn probed(behave: &str, arch: &str, device: &str, kvm: &str) -> Kvm {
    let bench = Bench::new(behave);
    fs_err::write(bench.root.join("kvm"), "").unwrap();
    let mut start = bench.start(arch);
    let program = bench.root.join("qemu");
    fs_err::write(&program, format!("#!/bin/sh\nFAKE_QEMU_KVM={kvm} exec {} \"$@\"\n", start.qemu.program)).unwrap();
    fs_err::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    start.qemu.program = program.into_string();
    let cache = Cache::open(&bench.root.join("cache")).unwrap();
    let job = Job { cache: &cache, logs: &bench.root, emit: &|_| {} };
    probe_kvm(&start, &bench.root.join(device), &job).unwrap()
}

#[test]
fn kvm_is_believed_only_when_a_guest_has_run_on_it() {
    let native = Arch::all().find(|arch| arch.is_native()).unwrap().name;
    let other = Arch::all().find(|arch| !arch.is_native()).unwrap().name;
    let why = |kvm| match kvm {
        Kvm::Fails { why, .. } => why,
        Kvm::Runs => panic!("taken as working"),
    };
    assert_eq!(probed("good", native, "kvm", "works"), Kvm::Runs);
    let since = std::time::Instant::now();
    let stuck = why(probed("good", native, "kvm", ""));
    assert!(stuck.ends_with("before the guest's first line: KVM internal error. Suberror: 1"), "{stuck}");
    assert!(since.elapsed() < Duration::from_secs(15), "nobody waits for a guest that QEMU has stopped");
    assert!(why(probed("good", native, "no-such-device", "works")).contains("cannot be opened: entity not found"));
    assert!(why(probed("good", other, "kvm", "works")).contains(&format!("are not {other}")));
}

#[test]
fn a_kernel_that_dies_on_kvm_speaks_against_it_only_if_it_lives_without() {
    let native = Arch::all().find(|arch| arch.is_native()).unwrap().name;
    assert_eq!(probed("panic", native, "kvm", "works"), Kvm::Runs, "it dies of itself");
    let Kvm::Fails { why, .. } = probed("good", native, "kvm", "panics") else { panic!("taken as working") };
    assert!(why.contains("unchecked MSR access"), "{why}");
}

#[test]
fn a_qemu_that_is_too_old_is_refused_with_what_to_install() {
    let old = fake("qemu-system-old");
    let failure = Qemu::at(Arch::named("x86_64").unwrap(), old.as_str()).unwrap_err();
    assert_eq!(failure.class, Class::Host);
    assert!(failure.what.contains("7.2.22") && failure.what.contains("8.1"), "{}", failure.what);
    assert!(failure.hints.iter().any(|hint| hint.contains("bookworm-backports")), "{:?}", failure.hints);
}
