//! A run that would give a good verdict, and one thing of it broken at a time: on one side, on both, in one boot of
//! several. Whatever it is, no row of what is broken may look good, and the run must not end with 0.

use serde_json::Value;

use super::lab::{Ended, Lab, sealed, stream};

/// The boots in which a thing is broken. `fast` is the kernel with the patch.
const PLACES: [(&str, &[(&str, u64)]); 4] = [
    ("candidate", &[("fast", 1), ("fast", 2)]),
    ("baseline", &[("slow", 1), ("slow", 2)]),
    ("both", &[("fast", 1), ("fast", 2), ("slow", 1), ("slow", 2)]),
    ("one-boot", &[("fast", 2)]),
];
const ONE_SIDE: [usize; 2] = [1, 3];
const BOTH_AND_ONE: [usize; 2] = [2, 3];
const EVERYWHERE: [usize; 4] = [0, 1, 2, 3];

/// The rows that must not look good.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spoils {
    All,
    UnshareIpc,
}

/// A run on the fake kernel, built once.
struct Subject {
    lab: Lab,
    patch: String,
    runs: u32,
}

impl Subject {
    fn new() -> Self {
        let lab = Lab::new();
        let patch = lab.patch("speed=slow", "speed=fast");
        let mut subject = Subject { lab, patch, runs: 0 };
        let (ended, run) = subject.run(&[]);
        assert_eq!((ended.code, &run["rows"][0]["verdict"]), (0, &"improved".into()), "unbroken: {}", ended.stderr);
        subject
    }

    fn run(&mut self, more: &[&str]) -> (Ended, Value) {
        self.runs += 1;
        let out = format!("../run-{}", self.runs);
        let own = ["--patch", &self.patch, "--seeds", "2", "--format", "json"];
        let ended = self.lab.nspatch(&self.lab.args(&out, &[&own[..], more].concat()));
        let run = serde_json::from_str(&ended.stdout).unwrap_or_default();
        if ended.code != 8 {
            assert_eq!(self.lab.nspatch(&["replay", &out]).code, ended.code, "judged again: {}", ended.stdout);
        }
        (ended, run)
    }

    fn file(&self, (speed, seed): (&str, u64), end: &str) -> camino::Utf8PathBuf {
        self.lab.root.join(format!("results/{speed}.{seed}{end}"))
    }

    /// Lets boots do something else than give their results.
    fn behaves(&mut self, name: &str, does: &str, places: &[usize], code: i32, more: &[&str]) {
        for (place, boots) in places.iter().map(|place| PLACES[*place]) {
            boots.iter().for_each(|boot| fs_err::write(self.file(*boot, ".behave"), does).unwrap());
            let (ended, run) = self.run(more);
            check(&format!("{name}, {place}"), &ended, &run, code, Spoils::All);
            boots.iter().for_each(|boot| fs_err::remove_file(self.file(*boot, ".behave")).unwrap());
        }
    }

    /// Changes the results of boots.
    fn gives(&mut self, name: &str, change: &dyn Fn(&str) -> String, places: &[usize], code: i32, spoils: Spoils) {
        for (place, boots) in places.iter().map(|place| PLACES[*place]) {
            for boot in boots {
                let (good, path) = (good(*boot), self.file(*boot, ""));
                assert_eq!(fs_err::read_to_string(&path).unwrap(), good);
                let bad = change(&good);
                assert_ne!(bad, good, "{name} breaks nothing");
                fs_err::write(&path, bad).unwrap();
            }
            let (ended, run) = self.run(&[]);
            check(&format!("{name}, {place}"), &ended, &run, code, spoils);
            boots.iter().for_each(|boot| fs_err::write(self.file(*boot, ""), good(*boot)).unwrap());
        }
    }
}

fn check(what: &str, ended: &Ended, run: &Value, code: i32, spoils: Spoils) {
    assert_eq!(ended.code, code, "{what}: {}{}", ended.stdout, ended.stderr);
    let rows = run["rows"].as_array().cloned().unwrap_or_default();
    assert!(code == 8 || rows.len() == 2, "{what}: {run}");
    for row in rows.iter().filter(|row| spoils == Spoils::All || row["benchmark"] == "unshare-ipc") {
        assert_eq!(row["verdict"], "not-comparable", "{what}: {row}");
        assert_eq!(row["ratio"], Value::Null, "{what}: {row}");
    }
}

fn good((speed, seed): (&str, u64)) -> String {
    stream(seed, if speed == "fast" { 150_000 } else { 15_000_000 } + seed)
}

/// The records before the end record.
fn body(stream: &str) -> String {
    let end = stream.trim_end().rfind('\n').unwrap() + 1;
    stream[..end].to_owned()
}

/// The same with a change of all records, and the right end record for that: what a checksum cannot tell.
fn forged(from: &'static str, to: &'static str) -> impl Fn(&str) -> String {
    move |stream| sealed(&body(stream).replace(from, to))
}

/// The same with other times of the timed repeats, and the right end record for that.
fn timed(value: &'static str) -> impl Fn(&str) -> String {
    let key = "\"warmup\":false,\"operations\":100,\"elapsed_ns\":";
    move |stream| {
        let body = body(stream);
        let parts = body.split(key).enumerate().map(|(place, part)| match part.find(',') {
            Some(comma) if place > 0 => format!("{key}{value}{}", &part[comma..]),
            _ => part.to_owned(),
        });
        sealed(&parts.collect::<String>())
    }
}

#[test]
fn a_kernel_that_dies_gives_no_verdict_wherever_it_does() {
    let mut subject = Subject::new();
    for does in ["panic", "oops", "no-end"] {
        subject.behaves(does, does, &EVERYWHERE, 6, &[]);
    }
    for does in ["panic-late", "oops-arm64", "reset", "nothing", "bad-image", "crash", "gave-up"] {
        subject.behaves(does, does, &BOTH_AND_ONE, 6, &[]);
    }
    subject.behaves("no memory for QEMU", "no-memory", &EVERYWHERE, 8, &[]);
    for death in ["Kernel panic - not syncing: late", "BUG: kernel NULL pointer dereference, address: 8"] {
        subject.behaves(&format!("{death} after the end"), &format!("says-late\n{death}\n"), &EVERYWHERE, 6, &[]);
    }
}

#[test]
fn a_kernel_that_falls_silent_gives_no_verdict() {
    let mut subject = Subject::new();
    // Of the 60 s, 300 s, 30 s and 15 min that a boot usually gets
    for does in ["silence", "hang", "hang-in-guest", "hang-after-end", "endless"] {
        subject.behaves(does, does, &[0], 6, &["--patience", "0.01"]);
    }
    subject.behaves("silence", "silence", &[1, 2, 3], 6, &["--patience", "0.01"]);
}

#[test]
fn a_kernel_that_complains_of_itself_gives_no_verdict_unless_that_is_allowed_by_name() {
    let mut subject = Subject::new();
    let complaints = [
        "WARNING: CPU: 0 PID: 1 at ipc/namespace.c:150 free_ipc_ns+0x1c/0x30",
        "WARNING: possible circular locking dependency detected",
        "BUG: KASAN: slab-use-after-free in put_mnt_ns+0x1c/0x30",
        "rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
        "INFO: task init:1 blocked for more than 122 seconds.",
        "refcount_t: underflow; use-after-free.",
    ];
    for complaint in complaints {
        subject.behaves(complaint, &format!("says\n{complaint}\n"), &EVERYWHERE, 6, &[]);
        subject.behaves(complaint, &format!("says-late\n{complaint}\n"), &[3], 6, &["--allow-splat", "another"]);
    }
    let does = format!("says\n{}\n{}\n", complaints[0], complaints[2]);
    subject.behaves("one of two allowed", &does, &[0], 6, &["--allow-splat", "free_ipc_ns"]);

    let all = PLACES[0].1;
    all.iter().for_each(|boot| fs_err::write(subject.file(*boot, ".behave"), &does).unwrap());
    let (ended, run) = subject.run(&["--allow-splat", "free_ipc_ns", "--allow-splat", "KASAN"]);
    assert_eq!((ended.code, &run["rows"][0]["verdict"]), (0, &"improved".into()), "{}", ended.stderr);
    assert_eq!(run["settings"]["allowed_splats"], serde_json::json!(["free_ipc_ns", "KASAN"]));
    let noted: Vec<_> = run["splats"].as_array().unwrap().iter().map(|one| [&one["variant"], &one["boots"]]).collect();
    assert_eq!(noted, [[&Value::from("patched"), &Value::from(2)]; 2]);
    let text = subject.lab.nspatch(&["report", run["folder"].as_str().unwrap()]).stdout;
    for line in ["splats that were allowed: `free_ipc_ns`, `KASAN`", "  allowed in 2 boots of patched: BUG: KASAN:"] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn a_crash_of_one_side_is_told_in_words_as_a_result_of_its_own() {
    let mut subject = Subject::new();
    let mut told = Vec::new();
    for (place, boots) in PLACES {
        boots.iter().for_each(|boot| fs_err::write(subject.file(*boot, ".behave"), "panic").unwrap());
        let (_, run) = subject.run(&[]);
        let reason = &run["rows"][0]["reason"];
        assert_eq!((&reason["kind"], &reason["deaths"][0]["kind"]), (&"died".into(), &"panic".into()), "{place}");
        let text = subject.lab.nspatch(&["report", run["folder"].as_str().unwrap()]).stdout;
        let lines = text.lines().filter(|line| line.contains(" live: "));
        told.extend(lines.map(|line| format!("{place}:{}", &line[1..])));
        boots.iter().for_each(|boot| fs_err::remove_file(subject.file(*boot, ".behave")).unwrap());
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    candidate: the kernel with the patch does not live: panic: Kernel panic - not syncing: No working init found. (2 of 2 boots); the tree's own kernel lives
    baseline: the tree's own kernel does not live: panic: Kernel panic - not syncing: No working init found. (2 of 2 boots); the kernel with the patch lives
    both: the tree's own kernel does not live: panic: Kernel panic - not syncing: No working init found. (2 of 2 boots)
    both: the kernel with the patch does not live: panic: Kernel panic - not syncing: No working init found. (2 of 2 boots)
    one-boot: the kernel with the patch does not always live: panic: Kernel panic - not syncing: No working init found. (1 of 2 boots); the tree's own kernel lives
    ");
}

#[test]
fn results_that_are_cut_give_no_verdict() {
    // At every single byte: `measure::read::tests::no_stream_that_ends_too_early_counts`
    let mut subject = Subject::new();
    let good = good(("fast", 2));
    let line_ends: Vec<usize> = good.match_indices('\n').map(|(at, _)| at).collect();
    let end_record = line_ends[line_ends.len() - 2];
    for end in [0, line_ends[1], line_ends[4] + 1, end_record - 20, end_record + 1, end_record + 9, good.len() - 1] {
        subject.gives(&format!("cut at {end}"), &|good| good[..end].to_owned(), &[3], 6, Spoils::All);
    }
    subject.gives("cut in the middle", &|good| good[..good.len() / 2].to_owned(), &[0, 1, 2], 6, Spoils::All);
}

#[test]
fn records_that_are_lost_doubled_or_swapped_give_no_verdict_even_with_a_right_checksum() {
    // Each of them: `measure::read::tests::no_record_can_be_lost_doubled_or_swapped_under_a_right_checksum`
    let mut subject = Subject::new();
    let edit = |stream: &str, change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = body(stream).lines().map(|line| format!("{line}\n")).collect();
        change(&mut lines);
        sealed(&lines.concat())
    };
    for at in [0, 1, 2, 4, 7] {
        let lost = |stream: &str| edit(stream, &|lines| drop(lines.remove(at)));
        let doubled = |stream: &str| edit(stream, &|lines| lines.insert(at, lines[at].clone()));
        let swapped = |stream: &str| edit(stream, &|lines| lines.swap(at, at + 1));
        subject.gives(&format!("record {at} lost"), &lost, &BOTH_AND_ONE, 7, Spoils::All);
        subject.gives(&format!("record {at} doubled"), &doubled, &[3], 7, Spoils::All);
        subject.gives(&format!("record {at} swapped with the next"), &swapped, &[3], 7, Spoils::All);
    }
}

#[test]
fn results_that_are_not_the_guest_s_give_no_verdict() {
    let mut subject = Subject::new();
    let other = |stream: &str| {
        let of_other = good(("fast", 3));
        body(stream) + of_other.strip_prefix(&body(&of_other)).unwrap()
    };
    subject.gives("the checksum of another", &other, &EVERYWHERE, 7, Spoils::All);
    subject.gives("another seed's", &|_| good(("fast", 3)), &EVERYWHERE, 7, Spoils::All);
    subject.gives("all of it twice", &|good| good.repeat(2), &EVERYWHERE, 7, Spoils::All);
    subject.gives(
        "a changed digit",
        &|good| good.replacen("elapsed_ns\":1", "elapsed_ns\":2", 1),
        &EVERYWHERE,
        7,
        Spoils::All,
    );
}

#[test]
fn forged_results_give_no_verdict_even_with_a_right_checksum() {
    let mut subject = Subject::new();
    for time in ["0", "1", "-1", "0.5", "1e6", "NaN", "null", "18446744073709551616", "86400000000001"] {
        subject.gives(&format!("the time {time}"), &timed(time), &BOTH_AND_ONE, 7, Spoils::All);
    }
    for (name, from, to) in [
        ("another protocol", r#""protocol":1"#, r#""protocol":2"#),
        ("another seed in the facts", r#""drain":"ucount","seed":"#, r#""drain":"ucount","seed":1"#),
        ("another seed in a benchmark", r#""warmups":1,"seed":"#, r#""warmups":1,"seed":1"#),
        ("fewer operations than announced", r#""warmup":false,"operations":100"#, r#""warmup":false,"operations":99"#),
        ("more operations than asked for", r#""operations":100"#, r#""operations":101"#),
        ("another number of repeats", r#""repeats":3"#, r#""repeats":2"#),
        ("a drain of years", r#""drain_ns":2000"#, r#""drain_ns":9000000000000000000"#),
        ("a dither beyond the tick", r#""dither_ns":1000"#, r#""dither_ns":4000000"#),
        ("a coarse clock", r#""clock_resolution_ns":128"#, r#""clock_resolution_ns":4000000"#),
        ("one CPU", r#""cpus_online":2"#, r#""cpus_online":1"#),
        ("another benchmark", "setns-net", "exit-ipc"),
    ] {
        subject.gives(name, &forged(from, to), &BOTH_AND_ONE, 7, Spoils::All);
    }
    let missing = |stream: &str| {
        let body = body(stream);
        let left = body.lines().filter(|line| !line.contains("setns-net"));
        sealed(&left.map(|line| format!("{line}\n")).collect::<String>())
    };
    subject.gives("a missing benchmark", &missing, &EVERYWHERE, 7, Spoils::All);
    // The same on both sides is not refused: then the guests ran under equal conditions
    for (name, from, to) in [
        ("another tick", r#""tick_ns":4000000"#, r#""tick_ns":1000000"#),
        ("another clock source", r#""clocksource":"tsc""#, r#""clocksource":"refined-jiffies""#),
        ("expedited RCU", r#""rcu_expedited":0"#, r#""rcu_expedited":1"#),
        ("another limit of mounts", r#""mount_max":100000"#, r#""mount_max":null"#),
        ("another machine", r#""machine":"x86_64""#, r#""machine":"riscv64""#),
        ("another dither", r#""dither_ns":1000"#, r#""dither_ns":2000"#),
    ] {
        subject.gives(name, &forged(from, to), &ONE_SIDE, 10, Spoils::All);
    }
}

#[test]
fn a_benchmark_that_failed_in_the_guest_gives_no_verdict() {
    let mut subject = Subject::new();
    for class in ["usage", "call", "enospc", "count", "clock", "drain"] {
        let failed = |stream: &str| {
            let failed = format!(
                r#"{{"failed":{{"benchmark":"unshare-ipc","class":"{class}","call":null,"errno":0,"error":"","detail":"made up"}}}}"#
            );
            let own = |line: &&str| line.contains("unshare-ipc") && !line.contains("{\"benchmark\":{");
            let body = body(stream);
            let mut lines: Vec<&str> = body.lines().filter(|line| !own(line)).collect();
            lines.insert(3, &failed);
            sealed(&lines.iter().map(|line| format!("{line}\n")).collect::<String>())
        };
        subject.gives(class, &failed, &EVERYWHERE, 7, Spoils::UnshareIpc);
    }
    let whole = r#"{"failed":{"benchmark":null,"class":"usage","call":null,"errno":0,"error":"","detail":"made up"}}"#;
    let nothing = |stream: &str| {
        let body = body(stream);
        sealed(&body.lines().take(2).chain([whole]).map(|line| format!("{line}\n")).collect::<String>())
    };
    subject.gives("the whole plan", &nothing, &EVERYWHERE, 7, Spoils::All);
}
