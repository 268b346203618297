//! `nspatch test` from end to end on the fake kernel tree with the fake QEMU: real git, make and
//! gcc, and every way in which it can end.

mod again;
mod ends;
mod full;
mod lab;
mod mutations;
mod series;
mod shell;
mod status;
mod stops;
mod sweep;
mod wall;

use lab::Lab;
use serde_json::Value;

fn row<'a>(run: &'a Value, benchmark: &str) -> &'a Value {
    run["rows"].as_array().unwrap().iter().find(|row| row["benchmark"] == benchmark).unwrap()
}

#[test]
fn a_patch_that_makes_it_faster_is_told_with_all_that_is_needed_to_judge_again() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let ended = lab.test(&["--patch", &patch, "--format", "json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    let row = row(&run, "unshare-ipc");
    for key in ["patch", "tree", "arch", "clock", "benchmark", "baseline", "candidate", "ratio", "verdict"] {
        assert!(!row[key].is_null(), "{key}: {row}");
    }
    assert_eq!((&row["baseline"]["variant"], &row["candidate"]["variant"]), (&"base".into(), &"patched".into()));
    assert_eq!(row["verdict"], "improved");
    assert_eq!(row["baseline"]["samples"].as_array().unwrap().len(), 3);
    assert!((row["ratio"]["estimate"].as_f64().unwrap() - 0.01).abs() < 0.001, "{row}");
    assert_eq!(run["failures"].as_array().unwrap().len(), 0);

    for named in ["../run", "../run/run.json"] {
        assert_eq!(lab.nspatch(&["report", named, "--format", "json"]).stdout, ended.stdout, "{named}");
    }
    for kept in
        ["run.json", "states.json", "images.json", "configs", "patches/fix/original.patch", "boots", "boots.json"]
    {
        assert!(lab.root.join("run").join(kept).exists(), "the run folder lacks {kept}");
    }
}

#[test]
fn the_text_report_is_the_same_again_and_a_second_run_builds_nothing() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let first = lab.test(&["--patch", &patch]);
    assert_eq!(lab.nspatch(&["report", "../run"]).stdout, first.stdout);
    let again = lab.nspatch(&lab.args("../again", &["--patch", &patch, "--progress", "json", "--format", "json"]));
    let run: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(
        (run["stages"]["build"]["done"].as_u64(), run["stages"]["build"]["reused"].as_u64()),
        (Some(0), Some(2))
    );
    assert!(run["stages"]["checkout"].is_null(), "nothing was laid: {}", run["stages"]);
    let events: Vec<Value> = again.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(events.iter().any(|event| event.to_string().contains("finished")));
}

#[test]
fn memory_that_a_faster_kernel_does_not_give_back_is_told_beside_the_win() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    for seed in 1..=3 {
        let stream = lab::stream(seed, 150_000 + seed);
        let body = &stream[..stream.find("{\"end\"").unwrap()];
        lab.write_stream(
            &format!("fast.{seed}"),
            &lab::sealed(&body.replacen("before_kib\":1000", "before_kib\":10216", 1)),
        );
    }
    let ended = lab.test(&["--patch", &patch]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for said in [
        "memory available after it: as much as before in base, 9216 KiB less than before in patched",
        "doubt: after the benchmark 9 MiB less are available with the candidate",
    ] {
        assert!(ended.stdout.contains(said), "{}", ended.stdout);
    }
}

#[test]
fn a_patch_that_makes_it_slower_ends_with_1() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=slower");
    let ended = lab.test(&["--patch", &patch]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stdout.contains("regressed"), "{}", ended.stdout);
}

#[test]
fn a_patch_that_is_in_the_tree_is_taken_out_to_compare() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    lab.edit("speed=slow", "speed=fast");
    let ended = lab.test(&["--patch", &patch, "--format", "json"]);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    let row = row(&run, "unshare-ipc");
    assert_eq!((&row["baseline"]["variant"], &row["candidate"]["variant"]), (&"reversed".into(), &"base".into()));
    assert_eq!((ended.code, &row["verdict"]), (0, &"improved".into()));
}

#[test]
fn one_image_on_both_sides_is_booted_once_and_differs_in_nothing() {
    let lab = Lab::new();
    let patch = lab.patch("/* what the fake QEMU makes of it */", "/* what the fake QEMU makes of this */");
    let ended = lab.test(&["--patch", &patch, "--format", "json"]);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for row in run["rows"].as_array().unwrap() {
        assert_eq!(row["verdict"], "no-difference");
        assert_eq!(row["ratio"], serde_json::json!({ "estimate": 1.0, "low": 1.0, "high": 1.0 }));
    }
    // Three seeds, each of them twice, as only what repeats counts
    assert_eq!(run["stages"]["boot"]["done"], 6);
}

#[test]
fn a_boot_that_differs_once_is_told_and_made_until_two_agree() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    lab.stream_again("fast", 1, 150_100);
    let ended = lab.test(&["--patch", &patch]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    assert!(ended.stderr.contains("patched with seed 1 differ (unshare-ipc"), "{}", ended.stderr);
}

#[test]
fn a_clock_that_never_repeats_is_told_and_its_numbers_are_judged_as_noise() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    for turn in 1..9 {
        lab.write_stream(&format!("fast.2.again.{turn}"), &lab::stream(2, 150_000 + 10 * turn));
    }
    let ended = lab.test(&["--patch", &patch]);
    assert_eq!(ended.code, 0, "{}", ended.stdout);
    let line = |name: &str| ended.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_owned();
    assert!(line("unshare-ipc").contains("improved"), "{}", ended.stdout);
    assert!(ended.stdout.contains("the same boot made again gave other numbers (unshare-ipc"), "{}", ended.stdout);
}

#[test]
fn both_architectures_are_built_booted_and_judged_in_one_run() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let args = ["test", "--tree", "../linux", "--patch", &patch, "--bench", "unshare-ipc,setns-net"];
    let more = ["--arch", "arm64,x86_64", "--out", "../run", "--format", "json"];
    let ended = lab.nspatch(&[&args[..], &lab::AS_STREAMED, &more].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    let rows: Vec<_> = run["rows"].as_array().unwrap().iter().map(|row| [&row["arch"], &row["benchmark"]]).collect();
    let expected =
        [["x86_64", "unshare-ipc"], ["x86_64", "setns-net"], ["arm64", "unshare-ipc"], ["arm64", "setns-net"]];
    assert_eq!(rows, expected.map(|row| row.map(Value::from)).each_ref().map(|row| row.each_ref()));
    let image = |at: usize| run["comparisons"][at]["candidate"]["image_sha256"].clone();
    assert_ne!(image(0), image(1));
    // Two variants with three seeds, each twice, for both
    assert_eq!((&run["stages"]["build"]["done"], &run["stages"]["boot"]["done"]), (&4.into(), &24.into()));
    for arch in nspatch::arch::Arch::all() {
        let boots = fs_err::read_dir(lab.root.join("run/boots")).unwrap().map(|entry| entry.unwrap());
        let of_arch = boots.filter(|boot| boot.file_name().to_str().unwrap().starts_with(arch.name));
        let commands = of_arch.map(|boot| fs_err::read_to_string(boot.path().join("qemu.log")).unwrap());
        assert!(commands.filter(|log| log.contains(arch.qemu) && log.contains(arch.results_device)).count() == 12);
    }
}

#[test]
fn a_tree_of_the_project_s_catalogue_is_fetched_and_remembered() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    for args in
        [&["init", "--quiet", "--initial-branch=topic"][..], &["add", "--all"], &["commit", "--quiet", "-m", "x"]]
    {
        let mut git = std::process::Command::new("git");
        git.args(["-C", lab.root.join("linux").as_str(), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
        assert!(git.env("GIT_CONFIG_GLOBAL", "/dev/null").args(args).status().unwrap().success(), "{args:?}");
    }
    fs_err::write(lab.root.join("project/trees.yaml"), "- { name: mine, address: ../linux }\n").unwrap();
    let args = [
        "test",
        "--patch",
        &patch,
        "--bench",
        "unshare-ipc,setns-net",
        "--arch",
        lab::native().name,
        "--format",
        "json",
    ];
    for (tree, out) in [("mine", "../run"), ("mine@topic", "../again")] {
        let ended = lab.nspatch(&[&args[..], &lab::AS_STREAMED, &["--tree", tree, "--out", out]].concat());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let run: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(run["trees"][0]["name"], tree);
    }
    let shown = lab.nspatch(&["trees"]).stdout;
    assert!(shown.contains("mine@topic  ") && shown.contains("with it"), "{shown}");
}

#[test]
fn a_patch_of_the_project_is_told_beside_what_its_mail_says() {
    let lab = Lab::new();
    let folder = lab.root.join("project/patches/mine");
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::copy(lab.patch("speed=slow", "speed=fast"), folder.join("original.patch")).unwrap();
    fs_err::write(folder.join("patch.yaml"), PATCH_YAML).unwrap();
    let ended = lab.test(&["--patch", "mine"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("mine on ../linux"), "{}", ended.stdout);
    assert!(ended.stdout.contains("the mail says: before 8.05 s for 1000, after 0.03 s for 1000"), "{}", ended.stdout);
}

#[test]
fn what_three_pairs_do_not_decide_gets_more_boots_until_it_is_decided() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=slower");
    let ended = lab.test(&["--patch", &patch, "--format", "json"]);
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("1 comparison is undecided after 3 pairs of boots"), "{}", ended.stderr);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    for (benchmark, verdict) in [("unshare-ipc", "regressed"), ("setns-net", "no-difference")] {
        let row = row(&run, benchmark);
        assert_eq!((&row["verdict"], &row["pairs"]), (&verdict.into(), &6.into()), "{row}");
    }
    let fixed = lab.nspatch(&lab.args("../fixed", &["--patch", &patch, "--seeds", "3"]));
    assert_eq!(fixed.code, 9, "{}", fixed.stdout);
    assert!(fixed.stdout.contains("6 are needed to tell it from boots that fall into two groups"), "{}", fixed.stdout);
}

#[test]
fn where_a_patch_fits_in_no_way_its_benchmarks_are_measured_on_the_tree_as_it_is() {
    let lab = Lab::new();
    let folder = lab.root.join("project/patches/mine");
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::copy(lab.patch("speed=slow", "speed=fast"), folder.join("original.patch")).unwrap();
    fs_err::write(folder.join("patch.yaml"), PATCH_YAML).unwrap();
    lab.edit("speed=slow", "speed=slower");
    let ended = lab.test(&["--patch", "mine", "--format", "json"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("what base costs today is measured"), "{}", ended.stderr);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    let rows = run["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "only what shows the patch: {rows:?}");
    assert_eq!((&rows[0]["baseline"], &rows[0]["verdict"]), (&Value::Null, &"not-comparable".into()));
    assert_eq!(rows[0]["candidate"]["ns_per_operation"], 20_000_002.02);
    assert_eq!(run["stages"]["build"]["done"], 1);
    assert_eq!(run["failures"][0]["failure"]["class"], "apply");
}

const PATCH_YAML: &str = "\
title: make it faster
author: { name: Ada Example, email: ada@example.org }
origin: { mail: made up }
licence: MIT OR Apache-2.0
base: \"6.12\"
fate: { outcome: not-merged }
benchmarks: [unshare-ipc]
figures:
  - { benchmark: unshare-ipc, operations: 1000, before: 8.05, after: 0.03, unit: s }
kconfig: [IPC_NS]
";

#[test]
fn a_series_is_tested_as_one_change_whichever_way_it_comes() {
    let lab = Lab::new();
    // The second patch starts from what the first one made of the same file
    let first = fs_err::read_to_string(lab.patch("speed=slow", "speed=slower")).unwrap();
    let second = first.replace("slower", "fast").replace("=slow", "=slower");
    let mail = |number: u32, diff: &str| {
        format!(
            "From a Thu Jan  1 00:00:00 1970\nFrom: A. Author <author@example.org>\nSubject: [PATCH {number}/2] part {number}\n\nwhy\n---\n{diff}\n"
        )
    };
    fs_err::write(lab.root.join("project/series.mbox"), mail(2, &second) + &mail(1, &first)).unwrap();
    let quilt = lab.root.join("project/quilt");
    fs_err::create_dir(&quilt).unwrap();
    fs_err::write(quilt.join("b.patch"), first).unwrap();
    fs_err::write(quilt.join("a.patch"), second).unwrap();
    fs_err::write(quilt.join("series"), "b.patch\na.patch\n").unwrap();
    let ended = lab.test(&["--patch", "series.mbox", "--patch", "./quilt", "--format", "json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    let improved = run["rows"].as_array().unwrap().iter().filter(|row| row["verdict"] == "improved");
    assert_eq!(improved.map(|row| row["patch"].as_str().unwrap()).collect::<Vec<_>>(), ["series", "quilt"]);
    // The same edit twice
    assert_eq!(run["stages"]["build"]["done"], 2);
}

#[test]
fn a_patch_comes_by_standard_input_and_a_thread_from_the_archive() {
    let lab = Lab::new();
    let diff = fs_err::read_to_string(lab.patch("speed=slow", "speed=fast")).unwrap();
    let mail = format!(
        "From: A. Author <author@example.org>\nSubject: [PATCH] ns: less\nMessage-ID: <one@example.org>\n\n{diff}"
    );
    let archive = serve(format!("From mboxrd@z Thu Jan  1 00:00:00 1970\n{mail}"));
    let args =
        lab.args("../run", &["--patch", "-", "--patch", "one@example.org", "--lore", &archive, "--format", "json"]);
    let mut command = lab.command(&args);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), mail.replace("less", "lesser").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let run: Value = serde_json::from_slice(&output.stdout).unwrap();
    let improved = run["rows"].as_array().unwrap().iter().filter(|row| row["verdict"] == "improved");
    assert_eq!(improved.map(|row| row["patch"].as_str().unwrap()).collect::<Vec<_>>(), ["ns-lesser", "ns-less"]);
}

/// A server that answers every request with this; gives its address.
fn serve(body: String) -> String {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let head = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
            assert!(head.count() > 0);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // A client that hangs up early is no concern of the server
            let _ = (&stream).write_all((head + &body).as_bytes());
        }
    });
    address
}

#[test]
fn what_a_patch_says_of_benchmarks_is_looked_at_before_anything_is_built() {
    let lab = Lab::new();
    let folder = lab.root.join("project/patches/mine");
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::copy(lab.patch("speed=slow", "speed=fast"), folder.join("original.patch")).unwrap();
    let cases = [
        ("[unshare-ipc]", "[unshare-ip]", "there is no benchmark `unshare-ip`", 7),
        ("benchmark: unshare-ipc", "benchmark: unshare", "there is no benchmark `unshare`", 9),
        ("operations:", "parameters: { n: 1 }, operations:", "`unshare-ipc` has no parameter `n`", 9),
        ("base: \"6.12\"", "base: FILL-IN", "`base` is still to be filled in", 5),
    ];
    for (from, to, said, line) in cases {
        fs_err::write(folder.join("patch.yaml"), PATCH_YAML.replace(from, to)).unwrap();
        let ended = lab.test(&["--patch", "mine"]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{said}\n{}", ended.stderr);
        assert!(ended.stderr.contains(&format!("/patches/mine/patch.yaml:{line}\n")), "{line}\n{}", ended.stderr);
    }
    let rival = format!("{PATCH_YAML}competitors: [nobody]\n");
    fs_err::write(folder.join("patch.yaml"), rival).unwrap();
    let ended = lab.test(&["--patch", "mine"]);
    assert!(ended.stderr.contains("mine: its competitor `nobody` is not among the patches"), "{}", ended.stderr);
}

#[test]
fn one_broken_patch_does_not_keep_the_other_from_its_verdict() {
    let lab = Lab::new();
    let good = lab.patch("speed=slow", "speed=fast");
    let bad = lab.patch_named("broken", "depth * NS_COST", "depht * NS_COST");
    let ended = lab.test(&["--patch", &good, "--patch", &bad, "--format", "json"]);
    assert_eq!(ended.code, 5, "{}", ended.stderr);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(row(&run, "unshare-ipc")["verdict"], "improved");
    let failure = &run["failures"][0];
    assert_eq!((&failure["patch"], &failure["failure"]["blame"]), (&"broken".into(), &"patch".into()));
    assert!(failure["failure"]["place"].as_str().unwrap().starts_with("ipc/namespace.c:"), "{failure}");
}

#[test]
fn what_make_gcc_and_git_read_from_the_environment_stays_out() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let bad = lab.root.join("bad.mk");
    fs_err::write(&bad, "no makefile at all\n").unwrap();
    let mut command = lab.command(&lab.args("../run", &["--patch", &patch]));
    command.env("MAKEFILES", bad).env("GNUMAKEFLAGS", "-n").env("KCPPFLAGS", "-DX").env("CPATH", "/nowhere");
    let output = command.env("GIT_DEFAULT_HASH", "sha256").env("GIT_DEFAULT_REF_FORMAT", "reftable").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
