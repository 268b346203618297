//! Boots of both sides through `tests/fakes/qemu-system`, from the schedule to the samples.

use camino::{Utf8Path, Utf8PathBuf};
use nspatch::arch::Arch;
use nspatch::blame::Class;
use nspatch::blame::Failure;
use nspatch::boot::{Kind, Limits, Qemu};
use nspatch::job::Job;
use nspatch::measure::{
    Accelerator, Clock, Confirmed, Difference, Lab, Lost, Machine, Order, Pair, QemuLab, Reading, Side, run,
};
use nspatch::store::{Cache, digest_file};

struct Place {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    cache: Cache,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        fs_err::write(root.join("initramfs"), "guest").unwrap();
        let cache = Cache::open(&root.join("cache")).unwrap();
        Place { _folder: folder, root, cache }
    }

    /// An image that behaves so and measures so many ns in its one timed repeat.
    fn machine(&self, name: &str, behave: &str, elapsed_ns: u64) -> Machine {
        let image = self.root.join(name);
        fs_err::write(&image, format!("behave={behave}\n# {name}\n")).unwrap();
        for seed in 1..=3 {
            fs_err::write(self.root.join(format!("{name}.results.{seed}")), stream(seed, elapsed_ns + seed)).unwrap();
        }
        fs_err::write(self.root.join(format!("{name}.results")), stream(99, elapsed_ns)).unwrap();
        Machine {
            name: format!("x86_64 {name}"),
            arch: Arch::named("x86_64").unwrap(),
            clock: Clock::Virtual,
            accelerator: Accelerator::Tcg,
            image_digest: digest_file(&image).unwrap(),
            image,
            initramfs: self.root.join("initramfs"),
            initramfs_digest: digest_file(&self.root.join("initramfs")).unwrap(),
            run: "unshare-ipc:operations=32:repeats=1:warmups=0".into(),
        }
    }

    fn lab(&self) -> QemuLab<'_> {
        let program = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fakes/qemu-system");
        QemuLab {
            job: Job { cache: &self.cache, logs: &self.root, emit: &|_| {} },
            qemus: vec![Qemu::at(Arch::named("x86_64").unwrap(), program.as_str()).unwrap()],
            folder: self.root.join("boots"),
            cpus: 2,
            memory_mib: 256,
            limits: Limits::default(),
            allowed_splats: Vec::new(),
        }
    }
}

fn stream(seed: u64, elapsed_ns: u64) -> String {
    let facts = format!(
        r#"{{"facts":{{"kernel":"6.12.0","machine":"x86_64","cpus_online":2,"page_size":4096,"mem_total_kib":245000,"clocksource":"tsc","tick_ns":4000000,"clock_resolution_ns":8,"clock_overhead_ns":120,"rcu_expedited":0,"rcu_normal":0,"mount_max":100000,"drain":"ucount","seed":{seed}}}}}"#
    );
    let begun = format!(
        r#"{{"benchmark":{{"name":"unshare-ipc","parameters":{{}},"operations":32,"repeats":1,"warmups":0,"seed":{seed}}}}}"#
    );
    let repeat = format!(
        r#"{{"repeat":{{"benchmark":"unshare-ipc","index":0,"warmup":false,"operations":32,"elapsed_ns":{elapsed_ns},"dither_ns":1,"drain_ns":2}}}}"#
    );
    let done = r#"{"done":{"benchmark":"unshare-ipc","repeats":1,"drain":"ucount","mem_available_before_kib":1,"mem_available_after_kib":1}}"#;
    let hello = r#"{"hello":{"protocol":1}}"#;
    let body = [hello, &facts, &begun, &repeat, done].map(|line| format!("{line}\n")).concat();
    let sum = crc32fast::hash(body.as_bytes());
    format!("{body}{{\"end\":{{\"records\":5,\"crc32\":\"{sum:08x}\"}}}}\n")
}

fn ns(reading: &Reading) -> u64 {
    let nspatch::measure::Measurement::Measured(measured) = &reading.results().unwrap().benchmarks[0].outcome else {
        panic!("{reading:?}")
    };
    measured.sample.repeats[0].elapsed_ns
}

#[test]
fn both_sides_are_booted_with_the_same_seeds_and_read() {
    let place = Place::new();
    let pair = Pair {
        baseline: Some(place.machine("reversed", "good", 50_000)),
        candidate: place.machine("base", "good", 1_000),
    };
    let made = run(&[pair], &[1, 2, 3], 2, &place.lab()).unwrap();
    let shown: Vec<_> = made[0].iter().map(|boot| (boot.side, boot.seed, ns(&boot.reading))).collect();
    let (a, b) = (Side::Baseline, Side::Candidate);
    assert_eq!(shown, [(a, 1, 50_001), (b, 1, 1_001), (b, 2, 1_002), (a, 2, 50_002), (a, 3, 50_003), (b, 3, 1_003)]);
    assert_eq!(fs_err::read_dir(place.root.join("boots")).unwrap().count(), 6, "a folder for each boot");
}

#[test]
fn an_image_against_itself_is_booted_once_per_seed() {
    let place = Place::new();
    let base = place.machine("base", "good", 1_000);
    let pair = Pair { baseline: Some(base.clone()), candidate: base };
    let made = run(&[pair], &[1, 2], 2, &place.lab()).unwrap();
    assert_eq!(made[0].len(), 4);
    assert_eq!(fs_err::read_dir(place.root.join("boots")).unwrap().count(), 2);
}

#[test]
fn broken_boots_stand_at_their_side_and_seed() {
    let place = Place::new();
    let pair = Pair {
        baseline: Some(place.machine("base", "good", 1_000)),
        candidate: place.machine("patched", "panic", 1_000),
    };
    let made = run(&[pair], &[1, 2], 2, &place.lab()).unwrap();
    for boot in &made[0] {
        match (boot.side, &boot.reading) {
            (Side::Baseline, Reading::Read { .. }) => {}
            (Side::Candidate, Reading::Broken(failure)) => assert_eq!(failure.kind, Kind::Panic),
            other => panic!("{other:?}"),
        }
    }
    let failure = made[0][1].reading.failure().unwrap();
    assert_eq!(failure.class, Class::Boot);
}

#[test]
fn results_that_are_not_the_answer_or_not_whole_are_lost() {
    let place = Place::new();
    let machine = place.machine("base", "good", 1_000);
    let lost = |machine: &Machine, seed| {
        let pair = Pair { baseline: None, candidate: machine.clone() };
        match &run(&[pair], &[seed], 1, &place.lab()).unwrap()[0][0].reading {
            Reading::Lost { lost, .. } => lost.clone(),
            other => panic!("{other:?}"),
        }
    };
    // The fake has no stream for seed 4 and gives the one of seed 99
    assert_eq!(lost(&machine, 4), Lost::Seed { asked: 4, found: 99 });
    let other_plan = Machine { run: "setns-net".into(), ..machine.clone() };
    assert!(matches!(lost(&other_plan, 1), Lost::Unanswered { .. }));
    let damaged = stream(2, 1_000).replace("1000", "1001");
    fs_err::write(place.root.join("base.results.2"), damaged).unwrap();
    assert!(matches!(lost(&machine, 2), Lost::Checksum { .. }));
}

#[test]
fn a_boot_counts_when_a_second_one_gives_the_same_numbers() {
    let place = Place::new();
    let machine = place.machine("base", "good", 1_000);
    let lab = place.lab();
    let told = std::sync::Mutex::new(Vec::new());
    let differed = |_: &Order<'_>, difference: &Difference| told.lock().unwrap().push(difference.to_string());
    let order = Order { machine: &machine, seed: 1, turn: 0 };
    let reading = Confirmed { lab: &lab, differed: &differed }.boot(&order).unwrap();
    assert!(reading.results().is_some());
    assert!(told.lock().unwrap().is_empty());

    /// Gives other numbers in the turns that are named, and in each of them others.
    struct Shaky<'a>(QemuLab<'a>, &'a Utf8Path, &'a [u32]);
    impl Lab for Shaky<'_> {
        fn boot(&self, order: &Order) -> Result<Reading, Failure> {
            let ns = if self.2.contains(&order.turn) { 2_000 + u64::from(order.turn) } else { 1_001 };
            fs_err::write(self.1, stream(1, ns)).unwrap();
            self.0.boot(order)
        }
    }
    let results = place.root.join("base.results.1");
    let once = Shaky(place.lab(), &results, &[0]);
    let settled = Confirmed { lab: &once, differed: &differed }.boot(&order).unwrap();
    assert_eq!(settled.results(), reading.results());
    assert_eq!(told.lock().unwrap().len(), 1, "told once");
    let always = Shaky(place.lab(), &results, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let unsteady = Confirmed { lab: &always, differed: &differed }.boot(&order).unwrap();
    assert!(unsteady.results().is_some(), "the numbers of the last time are kept");
    let Reading::Unsteady { difference, .. } = unsteady else { panic!("not noticed") };
    assert_eq!(difference.to_string(), "unshare-ipc, repeat 0: elapsed_ns 2000 in one boot and 2001 in another");
}
