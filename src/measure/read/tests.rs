//! The reader against a real stream, and against every way to spoil one.

use proptest::prelude::*;

use super::*;
use crate::measure::{Drain, FailureClass};

/// A boot of 6.12 on x86_64.
const REAL: &[u8] = include_bytes!("../../../tests/fakes/qemu-results.jsonl");

const HELLO: &str = r#"{"hello":{"protocol":1}}"#;
const FACTS: &str = r#"{"facts":{"kernel":"6.12.0","machine":"x86_64","cpus_online":2,"page_size":4096,"mem_total_kib":245000,"clocksource":"tsc","tick_ns":4000000,"clock_resolution_ns":3,"clock_overhead_ns":120,"rcu_expedited":0,"rcu_normal":null,"mount_max":100000,"drain":"ucount","seed":7}}"#;
const BEGUN: &str =
    r#"{"benchmark":{"name":"a","parameters":{"n":-3},"operations":32,"repeats":1,"warmups":1,"seed":7}}"#;
const WARMUP: &str = r#"{"repeat":{"benchmark":"a","index":0,"warmup":true,"operations":32,"elapsed_ns":900,"dither_ns":1,"drain_ns":2}}"#;
const TIMED: &str = r#"{"repeat":{"benchmark":"a","index":1,"warmup":false,"operations":32,"elapsed_ns":320,"dither_ns":3,"drain_ns":4}}"#;
const DONE: &str = r#"{"done":{"benchmark":"a","repeats":2,"drain":"ucount","mem_available_before_kib":10,"mem_available_after_kib":null}}"#;
const FAILED: &str = r#"{"failed":{"benchmark":"a","class":"enospc","call":"unshare","errno":28,"error":"No space left on device","detail":"operation 4 of 32"}}"#;

/// A stream with a right end record.
fn stream(lines: &[&str]) -> Vec<u8> {
    let mut text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let sum = crc32fast::hash(text.as_bytes());
    text += &format!("{{\"end\":{{\"records\":{},\"crc32\":\"{sum:08x}\"}}}}\n", lines.len());
    text.into_bytes()
}

fn lost(lines: &[&str]) -> String {
    read(&stream(lines)).unwrap_err().to_string()
}

#[test]
fn a_real_stream_gives_all_benchmarks_with_all_repeats() {
    let results = read(REAL).unwrap();
    assert_eq!((results.facts.cpus_online, results.facts.clocksource.as_deref()), (2, Some("tsc")));
    let names: Vec<_> = results.benchmarks.iter().map(|benchmark| benchmark.name.as_str()).collect();
    assert_eq!(names, ["unshare-ipc", "setns-net", "umount-propagated", "exit-ipc", "unshare-user-ipc-mnt"]);
    for benchmark in &results.benchmarks {
        let (Measurement::Measured(measured), Some(settings)) = (&benchmark.outcome, &benchmark.settings) else {
            panic!("{benchmark:?}")
        };
        assert_eq!(measured.sample.repeats.len() as u32, settings.repeats + settings.warmups);
        assert!(measured.sample.ns_per_operation().unwrap() > 0.0);
    }
    assert_eq!(results.answer("unshare-ipc,setns-net,umount-propagated,exit-ipc,unshare-user-ipc-mnt", 1), Ok(()));
}

#[test]
fn a_whole_stream_keeps_every_number() {
    let results = read(&stream(&[HELLO, FACTS, BEGUN, WARMUP, TIMED, DONE])).unwrap();
    let benchmark = &results.benchmarks[0];
    assert_eq!(benchmark.settings.as_ref().unwrap().parameters["n"], -3);
    let Measurement::Measured(measured) = &benchmark.outcome else { panic!() };
    assert_eq!((measured.drain, measured.mem_available_after_kib), (Drain::Ucount, None));
    assert_eq!(measured.sample.ns_per_operation(), Some(10.0));
    assert_eq!(results.facts.rcu_normal, None);
}

#[test]
fn a_failed_benchmark_gives_no_sample_and_spoils_no_other() {
    let other = BEGUN.replace("\"a\"", "\"b\"");
    let [warmup, timed, done] = [WARMUP, TIMED, DONE].map(|line| line.replace("\"a\"", "\"b\""));
    let results = read(&stream(&[HELLO, FACTS, BEGUN, WARMUP, FAILED, &other, &warmup, &timed, &done])).unwrap();
    let Measurement::Failed(failure) = &results.benchmarks[0].outcome else { panic!() };
    assert_eq!((failure.class, failure.errno), (FailureClass::Enospc, 28));
    assert!(matches!(results.benchmarks[1].outcome, Measurement::Measured(_)));
}

#[test]
fn a_failure_may_come_before_its_benchmark_or_without_one() {
    let unknown = r#"{"failed":{"benchmark":"x","class":"usage","call":null,"errno":0,"error":"","detail":"no such"}}"#;
    let general = unknown.replace("\"x\"", "null");
    let results = read(&stream(&[HELLO, FACTS, unknown, &general])).unwrap();
    assert_eq!(results.benchmarks[0].settings, None);
    assert_eq!(results.failures.len(), 1);
    assert_eq!(results.answer("x", 7), Ok(()));
    assert!(matches!(results.answer("x", 8), Err(Lost::Seed { .. })));
}

#[test]
fn a_benchmark_may_come_again_with_other_parameters_and_each_is_found_by_its_own() {
    let other = BEGUN.replace("\"n\":-3", "\"n\":4");
    assert_ne!(other, BEGUN);
    let slower = TIMED.replace(":320,", ":640,");
    let results = read(&stream(&[HELLO, FACTS, BEGUN, WARMUP, TIMED, DONE, &other, WARMUP, &slower, DONE])).unwrap();
    assert_eq!(results.answer("a:n=-3,a:n=4", 7), Ok(()));
    let ns = |n: i64| results.benchmark("a", &[("n".to_owned(), n)].into())?.measured()?.sample.ns_per_operation();
    assert_eq!([ns(-3), ns(4), ns(5)], [Some(10.0), Some(20.0), None]);
    let failed = read(&stream(&[HELLO, FACTS, FAILED, FAILED])).unwrap();
    assert!(matches!(failed.answer("a:n=1", 7), Err(Lost::Unanswered { .. })));
}

#[test]
fn a_benchmark_that_was_skipped_in_silence_is_noticed() {
    let results = read(&stream(&[HELLO, FACTS, BEGUN, WARMUP, TIMED, DONE])).unwrap();
    assert_eq!(results.answer("a:operations=32", 7), Ok(()));
    for run in ["a,b", "b,a", "", "b"] {
        assert!(matches!(results.answer(run, 7), Err(Lost::Unanswered { .. })), "{run}");
    }
}

#[test]
fn what_is_not_whole_is_lost() {
    let whole = stream(&[HELLO, FACTS]);
    assert_eq!(read(b""), Err(Lost::Empty));
    assert_eq!(read(&whole[..whole.len() - 1]), Err(Lost::Cut { line: 3 }));
    assert_eq!(read(format!("{HELLO}\n{FACTS}\n").as_bytes()), Err(Lost::NoEnd));
    assert_eq!(read(&[&whole[..], b"\n"].concat()), Err(Lost::AfterEnd { lines: 1 }));
    assert_eq!(read(&[&whole[..], b"x"].concat()), Err(Lost::Cut { line: 4 }));
    let text = String::from_utf8(whole).unwrap();
    let panicked = text.replace("6.12.0", "6.12[    9.1] Kernel panic - not syncing\n.0");
    assert!(matches!(read(panicked.as_bytes()), Err(Lost::Checksum { .. })));
    let counted = text.replace("\"records\":2", "\"records\":3");
    assert_eq!(read(counted.as_bytes()), Err(Lost::Count { said: 3, found: 2 }));
}

#[test]
fn another_protocol_is_told_before_anything_else() {
    let lines = [r#"{"hello":{"protocol":2,"dialect":"x"}}"#, r#"{"news":{}}"#];
    assert_eq!(read(&stream(&lines)), Err(Lost::Protocol { found: 2, known: 1 }));
}

#[test]
fn records_that_contradict_each_other_are_lost() {
    let changed = |line: &str, from: &str, to: &str| {
        assert!(line.contains(from), "{from}");
        line.replace(from, to)
    };
    let all = [HELLO, FACTS, BEGUN, WARMUP, TIMED, DONE];
    let with = |place: usize, line: &str| {
        let mut lines = all;
        lines[place] = line;
        lost(&lines)
    };
    let shown = [
        lost(&[FACTS]),
        lost(&[HELLO, HELLO]),
        lost(&[HELLO, BEGUN]),
        lost(&[HELLO]),
        lost(&[HELLO, FACTS, TIMED]),
        lost(&[HELLO, FACTS, BEGUN, WARMUP, TIMED]),
        lost(&[HELLO, FACTS, BEGUN, WARMUP, DONE]),
        lost(&[HELLO, FACTS, BEGUN, DONE]),
        lost(&[HELLO, FACTS, BEGUN, BEGUN]),
        lost(&[HELLO, FACTS, BEGUN, WARMUP, TIMED, DONE, BEGUN]),
        with(2, &changed(BEGUN, "\"repeats\":1", "\"repeats\":2")),
        with(2, &changed(BEGUN, "\"seed\":7", "\"seed\":8")),
        with(3, &changed(WARMUP, "\"warmup\":true", "\"warmup\":false")),
        with(4, &changed(TIMED, "\"a\"", "\"b\"")),
        with(4, &changed(TIMED, "\"index\":1", "\"index\":2")),
        with(4, &changed(TIMED, "\"operations\":32", "\"operations\":31")),
        with(4, &changed(TIMED, "\"elapsed_ns\":320", "\"elapsed_ns\":0")),
        with(5, &changed(DONE, "\"repeats\":2", "\"repeats\":3")),
    ];
    insta::assert_snapshot!(shown.join("\n"), @r"
    line 1 of the results is a record `facts`, but `hello` should stand there
    line 2 of the results is a record `hello`, but `facts` should stand there
    line 2 of the results is a record `benchmark`, but `facts` should stand there
    line 2 of the results is a record `end`, but `facts` should stand there
    line 3 of the results is a record `repeat`, but a `benchmark`, `failed` or `end` should stand there
    line 6 of the results is a record `end`, but a `repeat`, `done` or `failed` of a should stand there
    line 5 of the results says the repeats 2 where 1 was announced
    line 4 of the results says the repeats 2 where 0 was announced
    line 4 of the results is a record `benchmark`, but a `repeat`, `done` or `failed` of a should stand there
    line 7 of the results begins benchmark a a second time
    line 6 of the results says the repeats 2 where 3 was announced
    line 3 of the results says the seed 8 where 7 was announced
    line 4 of the results says the warm-up false where true was announced
    line 5 of the results is a record `repeat`, but a `repeat`, `done` or `failed` of a should stand there
    line 5 of the results says the index 2 where 1 was announced
    line 5 of the results says the operations 31 where 32 was announced
    line 5 of the results: benchmark a measured nothing
    line 6 of the results says the repeats 3 where 2 was announced
    ");
}

#[test]
fn numbers_that_no_repeat_can_have_are_lost() {
    let with = |from: &str, to: &str| {
        let timed = TIMED.replace(from, to);
        assert_ne!(timed, TIMED);
        lost(&[HELLO, FACTS, BEGUN, WARMUP, &timed, DONE])
    };
    let shown = [
        with(":320,", ":86400000000001,"),
        with(":320,", ":9223372036854775807,"),
        with(":4}", ":18446744073709551615}"),
        with(":320,", ":299,"),
        with("\"dither_ns\":3", "\"dither_ns\":4000000"),
    ];
    insta::assert_snapshot!(shown.join("\n"), @r"
    line 5 of the results says the time 86400000000001 ns, which is longer than a day
    line 5 of the results says the time 9223372036854775807 ns, which is longer than a day
    line 5 of the results says the drain 18446744073709551615 ns, which is longer than a day
    line 5 of the results: 299 ns were measured with a clock that steps by 3 ns
    line 5 of the results says the dither 4000000 where less than 4000000 was announced
    ");
}

#[test]
fn a_benchmark_that_was_set_otherwise_or_had_other_cpus_is_no_answer() {
    let results = read(&stream(&[HELLO, FACTS, BEGUN, WARMUP, TIMED, DONE])).unwrap();
    for run in ["a", "a:n=-3:operations=32:repeats=1:warmups=1", "a:operations=6000"] {
        assert_eq!(results.answer(run, 7), Ok(()), "{run}");
    }
    for setting in ["n=3", "m=1", "operations=31", "repeats=2", "warmups=0"] {
        let lost = results.answer(&format!("a:{setting}"), 7).unwrap_err();
        assert!(matches!(lost, Lost::Setting { .. }), "{setting}: {lost}");
    }
    assert_eq!(results.with_cpus(2), Ok(()));
    assert_eq!(results.with_cpus(1), Err(Lost::Cpus { asked: 1, found: 2 }));
}

#[test]
fn no_record_can_be_lost_doubled_or_swapped_under_a_right_checksum() {
    let text = std::str::from_utf8(REAL).unwrap();
    let records: Vec<&str> = text.lines().filter(|line| !line.starts_with("{\"end\"")).collect();
    let plan = "unshare-ipc:repeats=3,setns-net,umount-propagated:n=10,exit-ipc,unshare-user-ipc-mnt";
    let counts = |lines: &[&str]| read(&stream(lines)).and_then(|results| results.answer(plan, 1)).is_ok();
    assert!(counts(&records));
    for at in 0..records.len() {
        let (mut lost, mut doubled) = (records.clone(), records.clone());
        lost.remove(at);
        doubled.insert(at, records[at]);
        assert!(!counts(&lost) && !counts(&doubled), "record {at}");
        for with in (0..records.len()).filter(|with| *with != at) {
            let mut swapped = records.clone();
            swapped.swap(at, with);
            assert!(!counts(&swapped), "records {at} and {with}");
        }
    }
}

#[test]
fn no_stream_that_ends_too_early_counts() {
    for end in 0..REAL.len() {
        assert!(read(&REAL[..end]).is_err(), "cut at byte {end}");
    }
}

#[test]
fn keys_that_are_missing_or_unknown_are_no_records() {
    let without = FACTS.replace("\"rcu_normal\":null,", "");
    let unknown = DONE.replace("\"repeats\":2", "\"repeats\":2,\"mood\":1");
    let float = WARMUP.replace("900", "9e2");
    let sign = WARMUP.replace("900", "-900");
    let huge = WARMUP.replace("900", "18446744073709551616");
    let nan = WARMUP.replace("900", "NaN");
    let wrong = [&without, &unknown, &float, &sign, &huge, &nan];
    let placed = [1, 5, 3, 3, 3, 3].into_iter().zip(wrong.map(String::as_str));
    for (place, line) in placed.chain([(2, "{}"), (2, "")]) {
        let mut lines = [HELLO, FACTS, BEGUN, WARMUP, TIMED, DONE];
        lines[place] = line;
        assert!(matches!(read(&stream(&lines)), Err(Lost::Syntax { .. })), "{line}");
    }
}

/// Refused, or the very same data: nothing in between.
fn sound(damaged: &[u8]) -> bool {
    read(damaged).is_err() || read(damaged) == read(REAL)
}

proptest! {
    #[test]
    fn no_changed_byte_gives_other_numbers(at in 0..REAL.len(), byte: u8) {
        let mut damaged = REAL.to_vec();
        damaged[at] = byte;
        prop_assert!(sound(&damaged));
    }

    #[test]
    fn no_cut_gives_other_numbers(from in 0..REAL.len(), length in 1..REAL.len()) {
        let to = (from + length).min(REAL.len());
        prop_assert!(read(&[&REAL[..from], &REAL[to..]].concat()).is_err());
    }

    #[test]
    fn no_line_can_be_lost_or_swapped(lines in proptest::sample::subsequence(
        (0..33).collect::<Vec<usize>>(), 0..33)) {
        let all: Vec<_> = REAL.split_inclusive(|&byte| byte == b'\n').collect();
        prop_assert_eq!(all.len(), 33);
        let some: Vec<u8> = lines.iter().flat_map(|&line| all[line].to_vec()).collect();
        prop_assert!(read(&some).is_err());
    }

    #[test]
    fn no_insertion_gives_other_numbers(at in 0..REAL.len(), text in "\\PC{1,20}\n?") {
        prop_assert!(sound(&[&REAL[..at], text.as_bytes(), &REAL[at..]].concat()));
    }

    #[test]
    fn no_bytes_make_the_reader_fail(bytes: Vec<u8>) {
        prop_assert!(read(&bytes).is_err());
    }
}
