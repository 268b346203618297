//! Sweeps: one benchmark at several values of a parameter, all in one boot.

use serde_json::Value;

use super::lab::{self, Lab};

const SWEEP: [&str; 12] = [
    "test",
    "--tree",
    "../linux",
    "--out",
    "../run",
    "--bench",
    "umount-propagated",
    "--sweep",
    "umount-propagated.n=6,2,4",
    "--param",
    "umount-propagated.operations=100",
    "--arch",
];

/// Streams in which each step of `n` makes the baseline four times slower, and the candidate twice.
fn with_streams() -> (Lab, String) {
    let lab = Lab::new();
    for seed in 1..=12 {
        for (speed, steps) in [("slow", 2), ("fast", 1)] {
            let values = [2, 4, 6].map(|n: u64| (n, 1000u64 << (steps * n)));
            lab.write_stream(&format!("{speed}.{seed}"), &lab::swept("umount-propagated", seed, &values));
        }
    }
    let patch = lab.patch("speed=slow", "speed=fast");
    (lab, patch)
}

#[test]
fn each_value_gets_its_verdict_and_each_variant_its_law() {
    let (lab, patch) = with_streams();
    let arch = lab::native().name;
    let ended = lab.nspatch(&[&SWEEP[..], &[arch, "--patch", &patch]].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for said in ["umount-propagated over n = 2, 4, 6: base grows as 4^n (", ", patched grows as 2^n ("] {
        assert!(ended.stdout.contains(said), "{}", ended.stdout);
    }
    let run: Value = serde_json::from_str(&lab.nspatch(&["report", "../run", "--format", "json"]).stdout).unwrap();
    let rows: Vec<_> =
        run["rows"].as_array().unwrap().iter().map(|row| (&row["parameters"]["n"], &row["verdict"])).collect();
    let improved = Value::from("improved");
    assert_eq!(rows, [(&2.into(), &improved), (&4.into(), &improved), (&6.into(), &improved)]);
    assert_eq!(run["growths"][0]["candidate"]["laws"], serde_json::json!(["two-to-the"]));
    let [kept, again] = ["report", "replay"].map(|command| lab.nspatch(&[command, "../run"]).stdout);
    assert_eq!(kept, again);
}

#[test]
fn a_value_at_which_the_benchmark_fails_spoils_no_other_and_no_law_is_made_of_what_is_left() {
    let (lab, patch) = with_streams();
    for seed in 1..=12 {
        let stream = lab::swept("umount-propagated", seed, &[(2, 2000), (4, 4000), (6, 8000)]);
        let lines: Vec<&str> = stream.lines().collect();
        // Four repeats and the end of the second value give way to a failure
        let failed = r#"{"failed":{"benchmark":"umount-propagated","class":"enospc","call":"mount","errno":28,"error":"No space left on device","detail":"/mnt"}}"#;
        let body = [&lines[..9], &[failed], &lines[14..lines.len() - 1]].concat().join("\n") + "\n";
        lab.write_stream(&format!("fast.{seed}"), &lab::sealed(&body));
    }
    let arch = lab::native().name;
    let ended = lab.nspatch(&[&SWEEP[..], &[arch, "--patch", &patch]].concat());
    assert_eq!(ended.code, 7, "{}{}", ended.stdout, ended.stderr);
    let run: Value = serde_json::from_str(&lab.nspatch(&["report", "../run", "--format", "json"]).stdout).unwrap();
    let verdicts: Vec<_> = run["rows"].as_array().unwrap().iter().map(|row| row["verdict"].clone()).collect();
    assert_eq!(verdicts, ["improved", "not-comparable", "improved"]);
    assert_eq!(run["growths"][0]["candidate"], Value::Null);
    assert_eq!(run["growths"][0]["baseline"]["laws"], serde_json::json!(["four-to-the"]));
}

#[test]
fn a_sweep_that_makes_no_sense_is_refused_before_anything_is_built() {
    let (lab, patch) = with_streams();
    let refused = |sweep: &[&str], said: &str| {
        let ended = lab.nspatch(&[&["test", "--tree", "../linux", "--patch", &patch], sweep].concat());
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    };
    refused(&["--sweep", "umount-propagated.n=8,9"], "at least three different values");
    refused(&["--sweep", "umount-propagated.n=8,9,99"], "it goes from 1 to 15");
    refused(&["--sweep", "umount-propagated.operations=1,2,3"], "has no parameter `operations`");
    refused(&["--sweep", "setns-net.n=1,2,3"], "it has none at all");
    refused(&["--sweep", "umount.n=1,2,3"], "there is no benchmark `umount`");
    refused(&["--sweep", "umount-propagated.n=1,2,3", "--param", "umount-propagated.n=4"], "is set and swept");
    refused(&["--sweep", "umount-propagated.n=1,2,3", "--bench", "setns-net"], "not among the benchmarks");
    let many = format!("unshare-user-ipc-mnt.mounts={}", (0..40).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    refused(&["--sweep", &many], "benchmarks are asked for in one boot, and 32 have room");
    let twice = ["--sweep", "umount-propagated.n=1,2,3", "--sweep", "umount-propagated.n=4,5,6"];
    refused(&twice, "is swept twice");
    assert!(!lab.root.join("run").exists());
}
