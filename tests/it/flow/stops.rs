//! Runs that are stopped, and runs beside each other.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::lab::Lab;

/// A limit against hangs only.
const LIMIT: Duration = Duration::from_secs(120);

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < LIMIT, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn start(lab: &Lab, args: &[&str]) -> Child {
    lab.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The processes that have the lab's folder in their command line, but for nspatch itself.
fn children(lab: &Lab) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let is_nspatch = line.split(' ').next().is_some_and(|program| program.ends_with("/nspatch"));
        if line.contains(lab.root.as_str()) && !is_nspatch {
            found.push(line);
        }
    }
    found
}

/// Starts a run that gets stuck, waits until it is, and sends a signal; gives its exit code.
fn stop(lab: &Lab, patch: &str, stuck: &str, signal: Signal) -> Option<i32> {
    let mut run = start(lab, &lab.args("../stopped", &["--patch", patch]));
    wait_until("the stuck child", || children(lab).iter().any(|line| line.contains(stuck)));
    kill_process(Pid::from_child(&run), signal).unwrap();
    let code = run.wait().unwrap().code();
    wait_until("the end of all children", || children(lab).is_empty());
    code
}

fn goes_on_as_if_nothing_had_been(lab: &Lab, patch: &str) {
    let ended = lab.test(&["--patch", patch, "--format", "json"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("\"improved\""), "{}", ended.stdout);
}

#[test]
fn an_interrupted_build_leaves_no_child_and_no_half_built_kernel() {
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::TERM, Some(130)), (Signal::KILL, None)] {
        let lab = Lab::new();
        let patch = lab.patch("speed=slow", "speed=fast");
        fs_err::write(lab.root.join("linux/FAIL"), "slow\n").unwrap();
        assert_eq!(stop(&lab, &patch, "sleep", signal), code, "{signal:?}");
        let told = lab.nspatch(&["report", "../stopped"]);
        assert_eq!(told.code, 130, "{}{}", told.stdout, told.stderr);
        fs_err::remove_file(lab.root.join("linux/FAIL")).unwrap();
        goes_on_as_if_nothing_had_been(&lab, &patch);
    }
}

#[test]
fn an_interrupted_boot_leaves_no_qemu() {
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let lab = Lab::new();
        let hangs = lab.patch_named("hangs", "behave=good", "behave=hang");
        let patch = lab.patch("speed=slow", "speed=fast");
        assert_eq!(stop(&lab, &hangs, "-kernel", signal), code, "{signal:?}");
        goes_on_as_if_nothing_had_been(&lab, &patch);
    }
}

#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    let lab = Lab::new();
    let one = lab.patch_named("one", "speed=slow", "speed=fast");
    let two = lab.patch_named("two", "speed=slow", "speed=slower");
    let first = start(&lab, &lab.args("../one", &["--patch", &one]));
    let second = start(&lab, &lab.args("../two", &["--patch", &two]));
    let (first, second) = (first.wait_with_output().unwrap(), second.wait_with_output().unwrap());
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    assert_eq!(second.status.code(), Some(1), "{}", String::from_utf8_lossy(&second.stderr));
}

#[test]
fn a_run_folder_is_written_by_one_run_only() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    assert_eq!(lab.test(&["--patch", &patch]).code, 0);
    let again = lab.test(&["--patch", &patch]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(again.stderr.contains("holds a run already"), "{}", again.stderr);
}
