//! The wall clock: boots one after another, each a sample of its own, on what runs guests here.

use serde_json::Value;

use super::lab::{self, Ended, Lab};
use super::row;

fn json(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.stderr))
}

fn boots(lab: &Lab) -> Vec<Value> {
    let text = fs_err::read_to_string(lab.root.join("run/boots.json")).unwrap();
    let all: Vec<Vec<Value>> = serde_json::from_str(&text).unwrap();
    all.into_iter().flatten().collect()
}

#[test]
fn boots_are_made_one_after_another_and_it_is_said_what_ran_them() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let ended = lab.test(&["--patch", &patch, "--clock", "wall", "--jobs", "4", "--format", "json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("KVM runs no guests of"), "{}", ended.stderr);
    let run = json(&ended);
    let compared = &run["comparisons"][0];
    assert_eq!((&compared["clock"], &compared["accelerator"]), (&"wall".into(), &"tcg".into()));
    assert!(compared["surroundings"]["most_load"].is_number(), "{compared}");
    let unshare = row(&run, "unshare-ipc");
    assert_eq!((&unshare["verdict"], &unshare["pairs"]), (&"improved".into(), &4.into()));
    assert_eq!(row(&run, "setns-net")["threshold"], 0.05);
    let time = |boot: &Value| {
        let guest = &boot["reading"]["read"]["guest"];
        let began = guest["host"]["began_ms"].as_f64().unwrap();
        (began, began + 1000.0 * guest["seconds"].as_f64().unwrap())
    };
    let mut times: Vec<_> = boots(&lab).iter().map(time).collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    assert_eq!(times.len(), 8, "four pairs, and none of them twice");
    assert!(times.windows(2).all(|two| two[0].1 <= two[1].0 + 2.0), "{times:?}");
    let again = lab.nspatch(&["replay", "../run", "--format", "json"]);
    assert_eq!(again.stdout, ended.stdout);
}

#[test]
fn an_image_with_itself_gets_boots_of_its_own_on_each_side() {
    let lab = Lab::new();
    let patch = lab.patch("/* what the fake QEMU makes of it */", "/* what it makes of it */");
    let ended = lab.test(&["--patch", &patch, "--clock", "wall", "--accel", "tcg", "--format", "json"]);
    assert_eq!(json(&ended)["stages"]["boot"]["done"], 8, "{}", ended.stderr);
    assert!(!ended.stderr.contains("KVM"), "none was asked for: {}", ended.stderr);
}

#[test]
fn a_kernel_that_dies_in_real_time_is_no_number_either() {
    let lab = Lab::new();
    let patch = lab.patch("behave=good", "behave=panic");
    let ended = lab.test(&["--patch", &patch, "--clock", "wall", "--accel", "tcg", "--format", "json"]);
    assert_eq!(ended.code, 6, "{}", ended.stderr);
    let run = json(&ended);
    assert!(run["rows"].as_array().unwrap().iter().all(|row| row["verdict"] == "not-comparable"), "{run}");
    assert_eq!(run["comparisons"][0]["accelerator"], "tcg");
}

#[test]
fn kvm_that_is_demanded_and_does_not_run_stops_the_work() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let ended = lab.test(&["--patch", &patch, "--clock", "wall", "--accel", "kvm"]);
    assert_eq!(ended.code, 8, "{}", ended.stderr);
    assert!(ended.stderr.contains("KVM runs no guests of"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: --accel tcg"), "{}", ended.stderr);
}

#[test]
fn a_guest_that_found_no_fine_clock_is_booted_again() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let fine = lab::stream(2, 150_002);
    let body = &fine[..fine.find("{\"end\"").unwrap()];
    let coarse = body.replace("\"clock_resolution_ns\":128", "\"clock_resolution_ns\":4000000");
    assert_ne!(coarse, body);
    lab.write_stream("fast.2", &lab::sealed(&coarse));
    lab.write_stream("fast.2.again", &fine);
    let ended = lab.test(&["--patch", &patch, "--clock", "wall", "--accel", "tcg", "--format", "json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("patched with seed 2 found no fine clock"), "{}", ended.stderr);
    assert_eq!(json(&ended)["stages"]["boot"]["done"], 9);
}

#[test]
fn what_a_rebuild_does_is_measured_and_stands_beside_the_verdicts() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let args = ["--patch", &patch, "--clock", "wall", "--accel", "tcg", "--layout", "4"];
    let ended = lab.test(&args);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains("what a rebuild alone may move, by measuring: unshare-ipc 0 %"), "{}", ended.stdout);
    let run = json(&lab.nspatch(&["report", "../run", "--format", "json"]));
    assert_eq!(run["layouts"].as_array().unwrap().len(), 2);
    assert_eq!(run["layouts"][0]["layout"]["builds"], 4);
    // Base, patched and four of base with other padding; four boots for each, and for each of the two sides
    assert_eq!((&run["stages"]["build"]["done"], &run["stages"]["boot"]["done"]), (&6.into(), &24.into()));
    let of_layout = fs_err::read_to_string(lab.root.join("run/layouts.json")).unwrap();
    let of_layout: Vec<Vec<Value>> = serde_json::from_str(&of_layout).unwrap();
    assert_eq!(of_layout.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 4, 4]);
    let [kept, again] = ["report", "replay"].map(|command| lab.nspatch(&[command, "../run"]).stdout);
    assert_eq!(kept, again);
    let with_itself = json(&lab.nspatch(&["compare", "../run", "../run", "--format", "json"]));
    assert_eq!(with_itself["layouts"].as_array().unwrap().len(), 2, "each once: {}", with_itself["layouts"]);
}

#[test]
fn a_rebuilt_kernel_that_dies_is_told_and_told_again() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    // The boots of base die in one seed, those of the rebuilt trees among them
    fs_err::write(lab.root.join("results/slow.2.behave"), "panic\n").unwrap();
    let args = ["--patch", &patch, "--clock", "wall", "--accel", "tcg", "--layout", "4", "--format", "json"];
    let ended = lab.test(&args);
    assert_eq!(ended.code, 6, "{}", ended.stderr);
    let of_layout = |run: &Value| {
        let failures = run["failures"].as_array().unwrap();
        failures.iter().filter(|failure| failure["patch"].is_null() && failure["stage"] == "boot").count()
    };
    let run = json(&ended);
    assert_eq!((of_layout(&run), run["layouts"].as_array().unwrap().len()), (4, 0), "{}", run["failures"]);
    let [kept, again] =
        ["report", "replay"].map(|command| json(&lab.nspatch(&[command, "../run", "--format", "json"])));
    assert_eq!((of_layout(&again), of_layout(&kept)), (4, 4));
}

#[test]
fn what_belongs_to_one_clock_is_refused_on_the_other() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    for (more, said) in [(["--accel", "kvm"], "KVM cannot count"), (["--layout", "6"], "costs nothing on the virtual")]
    {
        let ended = lab.test(&["--patch", &patch, more[0], more[1]]);
        assert_eq!(ended.code, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    assert_eq!(lab.test(&["--patch", &patch]).code, 0);
    let later = lab.args("../later", &["--patch", &patch, "--clock", "wall", "--accel", "tcg"]);
    assert_eq!(lab.nspatch(&later).code, 0);
    let refused = lab.nspatch(&["compare", "../run", "../later"]);
    assert_eq!(refused.code, 10, "{}", refused.stdout);
    assert!(refused.stdout.contains("the clock differs: virtual for the baseline, wall"), "{}", refused.stdout);

    // As if it had been measured by something else
    let file = lab.root.join("later/run.json");
    let text = fs_err::read_to_string(&file).unwrap();
    fs_err::create_dir(lab.root.join("other")).unwrap();
    fs_err::copy(lab.root.join("later/boots.json"), lab.root.join("other/boots.json")).unwrap();
    let cpu = json(&lab.nspatch(&["report", "../later", "--format", "json"]))["host"]["cpu"].to_string();
    for (from, to, said) in [
        ("\"accelerator\": \"tcg\"", "\"accelerator\": \"kvm\"", "the accelerator differs: TCG for the baseline, KVM"),
        ("cpus=2", "cpus=4", "QEMU's machine differs"),
        (&cpu, "\"another CPU\"", "the host differs"),
    ] {
        assert!(text.contains(from), "{from}");
        fs_err::write(lab.root.join("other/run.json"), text.replace(from, to)).unwrap();
        let refused = lab.nspatch(&["compare", "../later", "../other", "--despite", "qemu,compiler,guest,config"]);
        assert!(refused.code == 10 && refused.stdout.contains(said), "{said}: {}", refused.stdout);
    }
}
