//! Runs that are judged again, and judged by each other.

use serde_json::Value;

use super::lab::{Ended, Lab};
use super::row;

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.stderr))
}

/// A lab with a run of a patch that helps.
fn with_run() -> (Lab, String) {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let ended = lab.test(&["--patch", &patch]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    (lab, patch)
}

#[test]
fn a_run_that_is_judged_again_is_the_same_to_the_last_byte() {
    let (lab, _) = with_run();
    for format in ["text", "json"] {
        let [kept, again] = ["report", "replay"].map(|command| lab.nspatch(&[command, "../run", "--format", format]));
        assert_eq!((again.code, &again.stdout), (kept.code, &kept.stdout));
        assert_eq!(again.stderr, "");
    }
    assert_eq!(lab.nspatch(&["replay", "../run/run.json"]).code, 0);
}

#[test]
fn failures_of_boots_come_again_as_well() {
    let lab = Lab::new();
    let patch = lab.patch("behave=good", "behave=panic");
    assert_eq!(lab.test(&["--patch", &patch]).code, 6);
    let [kept, again] = ["report", "replay"].map(|command| lab.nspatch(&[command, "../run", "--format", "json"]));
    assert_eq!((again.code, &again.stdout), (6, &kept.stdout));
}

#[test]
fn another_threshold_can_change_a_verdict_and_that_is_told() {
    let (lab, _) = with_run();
    let ended = lab.nspatch(&["replay", "../run", "--threshold", "0.001", "--format", "json"]);
    let setns = row(&json(&ended), "setns-net").clone();
    assert_eq!((&setns["threshold"], &setns["verdict"]), (&0.000_01.into(), &"no-difference".into()), "{setns}");
    let wide = lab.nspatch(&["replay", "../run", "--threshold", "99.5", "--format", "json"]);
    assert_eq!(row(&json(&wide), "unshare-ipc")["verdict"], "improved", "{}", wide.stdout);
}

#[test]
fn what_is_no_finished_run_is_not_judged() {
    let (lab, _) = with_run();
    let refused = |said: &str| {
        let ended = lab.nspatch(&["replay", "../run"]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    };
    let boots = lab.root.join("run/boots.json");
    let text = fs_err::read_to_string(&boots).unwrap();
    fs_err::write(&boots, "[]").unwrap();
    refused("are not those of its comparisons");
    fs_err::write(&boots, &text[..text.len() / 2]).unwrap();
    refused("boots.json");
    fs_err::remove_file(&boots).unwrap();
    refused("it was not finished");
    fs_err::remove_file(lab.root.join("run/run.json")).unwrap();
    refused("is no run folder");
}

#[test]
fn runs_are_compared_where_they_measured_the_same() {
    let (lab, patch) = with_run();
    lab.edit("speed=slow", "speed=slower");
    let other = lab.patch("speed=slower", "speed=fast");
    assert_eq!(lab.nspatch(&lab.args("../later", &["--patch", &other])).code, 0);
    assert_eq!(patch, other, "the patch has the same name in both");
    let ended = lab.nspatch(&["compare", "../run", "../later", "--format", "json"]);
    let run = json(&ended);
    let sides = |row: &Value| (row["patch"].clone(), row["benchmark"].clone(), row["verdict"].clone());
    let found: Vec<_> = run["rows"].as_array().unwrap().iter().map(sides).collect();
    let expected = [
        ("base", "unshare-ipc", "inconclusive"),
        ("base", "setns-net", "no-difference"),
        ("fix patched", "unshare-ipc", "no-difference"),
        ("fix patched", "setns-net", "no-difference"),
    ];
    assert_eq!(found, expected.map(|(what, benchmark, verdict)| (what.into(), benchmark.into(), verdict.into())));
    assert_eq!(ended.code, 9, "three pairs do not tell 15 ms from 20 ms for sure");
    let text = lab.nspatch(&["compare", "../run", "../later"]).stdout;
    assert!(text.contains("base on ../linux -> ../linux"), "{text}");
}

#[test]
fn runs_under_other_conditions_are_refused_with_what_differs_unless_that_is_named() {
    let (lab, patch) = with_run();
    let args = lab.args("../later", &["--patch", &patch]);
    let output = lab.command(&args).env("FAKE_QEMU_VERSION", "9.2.0").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let refused = lab.nspatch(&["compare", "../run", "../later"]);
    assert_eq!(refused.code, 10, "{}", refused.stdout);
    assert!(refused.stdout.contains("QEMU's version differs: 10.0.2"), "{}", refused.stdout);
    assert!(refused.stderr.contains("hint: --despite qemu compares it all the same"), "{}", refused.stderr);
    let told = lab.nspatch(&["compare", "../run", "../later", "--despite", "qemu"]);
    assert_eq!(told.code, 0, "{}", told.stdout);
    let config = lab.root.join("later/run.json");
    let text = fs_err::read_to_string(&config).unwrap();
    let compiler =
        json(&lab.nspatch(&["report", "../run", "--format", "json"]))["comparisons"][0]["baseline"]["toolchain"]
            .clone();
    fs_err::write(&config, text.replace(compiler.as_str().unwrap(), "gcc 1")).unwrap();
    let refused = lab.nspatch(&["compare", "../run", "../later", "--despite", "qemu"]);
    assert!(refused.code == 10 && refused.stdout.contains("the compiler differs"), "{}", refused.stdout);
}

#[test]
fn runs_that_have_nothing_in_common_are_told_what_each_has() {
    let (lab, _) = with_run();
    let other = if super::lab::native().name == "arm64" { "x86_64" } else { "arm64" };
    let file = lab.root.join("run/run.json");
    fs_err::create_dir(lab.root.join("other")).unwrap();
    let text = fs_err::read_to_string(&file).unwrap();
    let arch = format!("\"{}\"", super::lab::native().name);
    fs_err::write(lab.root.join("other/run.json"), text.replace(&arch, &format!("\"{other}\""))).unwrap();
    fs_err::copy(lab.root.join("run/boots.json"), lab.root.join("other/boots.json")).unwrap();
    let ended = lab.nspatch(&["compare", "../run", "../other"]);
    assert_eq!(ended.code, 2, "{}", ended.stdout);
    assert!(
        ended.stderr.contains(&format!("the second has base on {other}, fix patched on {other}")),
        "{}",
        ended.stderr
    );
}
