//! Runs that are stopped, and runs beside each other.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::lab::Lab;

/// A limit against hangs only.
const LIMIT: Duration = Duration::from_secs(120);

pub(super) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < LIMIT, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A run under way.
struct Running(Child);

impl Running {
    fn start(mut command: Command) -> Self {
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Starts a run and waits until it has a child that only sleeps.
    fn stuck(lab: &Lab, command: Command) -> Self {
        let before = sleepers(lab);
        let run = Running::start(command);
        wait_until("the stuck child", || sleepers(lab) > before);
        run
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    /// Exit code, if it ended by itself, and what it said.
    fn end(self) -> (Option<i32>, String) {
        let output = self.0.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    }

    fn stop(self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.end().0
    }
}

/// The names of the processes that a lab's runs have started, found by the environment that all
/// of them inherit.
pub(super) fn children(lab: &Lab) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        // What has just ended has no files any more
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let home = format!("HOME={}/home\0", lab.root);
        if read("environ").windows(home.len()).any(|window| window == home.as_bytes()) {
            found.push(String::from_utf8(read("comm")).unwrap().trim().to_owned());
        }
    }
    found.retain(|name| name != "nspatch");
    found
}

fn sleepers(lab: &Lab) -> usize {
    children(lab).iter().filter(|name| *name == "sleep").count()
}

/// The rows of a finished run, and the digests of its images.
type Findings = (Value, Vec<Value>);

fn findings(json: &str) -> Findings {
    let run: Value = serde_json::from_str(json).unwrap();
    let images = run["comparisons"].as_array().unwrap().iter();
    let images =
        images.flat_map(|one| [one["baseline"]["image_sha256"].clone(), one["candidate"]["image_sha256"].clone()]);
    (run["rows"].clone(), images.collect())
}

/// A patch that changes two files, one of them the one that a slow build gets stuck in.
fn wide(lab: &Lab) -> String {
    lab.patch_of("wide", &[("fs/namespace.c", "+ where[0]", "+ where[1]"), super::lab::SPEEDS_UP])
}

fn json(lab: &Lab, out: &str, patch: &str) -> super::lab::Ended {
    lab.nspatch(&lab.args(out, &["--patch", patch, "--format", "json"]))
}

fn narrow(lab: &Lab) -> String {
    lab.patch("speed=slow", "speed=slower")
}

/// What a wide and a narrow patch give where nothing comes in between.
static UNDISTURBED: LazyLock<[Findings; 2]> = LazyLock::new(|| {
    [wide, narrow].map(|patch| {
        let lab = Lab::new();
        findings(&json(&lab, "../run", &patch(&lab)).stdout)
    })
});

/// Cuts a build; `built` says whether the tree itself was built before, so that the patched one is cut.
fn cut_a_build(signal: Signal, code: Option<i32>, built: bool) {
    let [whole_wide, whole_narrow] = &*UNDISTURBED;
    let lab = Lab::new();
    let (wide, narrow) = (wide(&lab), narrow(&lab));
    if built {
        assert_eq!(json(&lab, "../earlier", &narrow).code, 1);
    }
    let mut slow = lab.command(&lab.args("../run", &["--patch", &wide]));
    slow.env("FAIL", "slow");
    assert_eq!(Running::stuck(&lab, slow).stop(signal), code);
    wait_until("the end of all children", || children(&lab).is_empty());
    let told = lab.nspatch(&["report", "../run"]);
    assert_eq!(told.code, 130, "{}", told.stdout);
    let how = if code.is_some() { "interrupted" } else { "the run was not finished" };
    assert!(told.stdout.contains(how), "{}", told.stdout);
    // What lies in the checkout now must not get into another kernel
    assert_eq!(findings(&json(&lab, "../other", &narrow).stdout), *whole_narrow);
    let again = json(&lab, "../run", &wide);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(findings(&again.stdout), *whole_wide);
}

#[test]
fn an_interrupted_build_of_the_tree_leaves_no_child_and_is_made_up_for() {
    cut_a_build(Signal::INT, Some(130), false);
}

#[test]
fn an_ended_build_of_a_patched_tree_leaves_no_child_and_is_made_up_for() {
    cut_a_build(Signal::TERM, Some(130), true);
}

#[test]
fn a_killed_build_of_the_tree_leaves_no_child_and_is_made_up_for() {
    cut_a_build(Signal::KILL, None, false);
}

#[test]
fn a_killed_build_of_a_patched_tree_leaves_no_child_and_is_made_up_for() {
    cut_a_build(Signal::KILL, None, true);
}

#[test]
fn a_boot_that_was_cut_leaves_no_qemu_and_the_same_command_gives_a_verdict() {
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::HUP, Some(130)), (Signal::KILL, None)] {
        let lab = Lab::new();
        let patch = lab.patch("speed=slow", "speed=fast");
        let args = lab.args("../run", &["--patch", &patch]);
        let mut hanging = lab.command(&args);
        hanging.env("FAKE_QEMU_BEHAVE", "hang");
        assert_eq!(Running::stuck(&lab, hanging).stop(signal), code, "{signal:?}");
        wait_until("the end of all children", || children(&lab).is_empty());
        assert_eq!(lab.nspatch(&["report", "../run"]).code, 130, "{signal:?}");
        let again = lab.nspatch(&args);
        assert_eq!(again.code, 0, "{signal:?}: {}", again.stderr);
        assert!(again.stdout.contains("improved"), "{signal:?}: {}", again.stdout);
        assert_eq!(lab.nspatch(&["report", "../run"]).stdout, again.stdout);
    }
}

#[test]
fn a_run_beside_another_takes_a_checkout_of_its_own_and_a_run_folder_is_never_shared() {
    let lab = Lab::new();
    let (wide, narrow) = (wide(&lab), narrow(&lab));
    assert_eq!(lab.nspatch(&lab.args("../earlier", &["--patch", &narrow])).code, 1);
    let args = lab.args("../run", &["--patch", &wide]);
    let mut slow = lab.command(&args);
    slow.env("FAIL", "slow");
    let first = Running::stuck(&lab, slow);

    let refused = lab.nspatch(&args);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("another nspatch is writing this run folder"), "{}", refused.stderr);
    let third = lab.patch_named("third", "speed=slow", "speed=fast");
    let beside = lab.nspatch(&lab.args("../beside", &["--patch", &third]));
    assert_eq!(beside.code, 0, "{}", beside.stderr);
    assert!(beside.stderr.contains("checkout 1 is used"), "{}", beside.stderr);
    assert_eq!(first.stop(Signal::INT), Some(130));
}

#[test]
fn a_run_that_waits_for_a_kernel_of_another_makes_it_when_that_one_is_stopped() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let mut slow = lab.command(&lab.args("../slow", &["--patch", &patch]));
    slow.env("FAIL", "slow");
    let first = Running::stuck(&lab, slow);
    let mut second = Running::start(lab.command(&lab.args("../run", &["--patch", &patch])));
    let (mut said, mut errors) = (Vec::new(), second.0.stderr.take().unwrap());
    wait_until("the wait", || {
        let mut some = [0; 4096];
        let count = errors.read(&mut some).unwrap();
        assert!(count > 0, "it did not wait: {}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&some[..count]);
        String::from_utf8_lossy(&said).contains("another nspatch builds the same image: waiting for it")
    });
    assert_eq!(first.stop(Signal::KILL), None);
    errors.read_to_end(&mut said).unwrap();
    assert_eq!(second.end().0, Some(0), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn runs_that_start_at_once_from_nothing_do_not_disturb_each_other() {
    let lab = Lab::new();
    let patches = [("one", "fast", 0), ("two", "slower", 1), ("three", "fast", 0)];
    let runs = patches.map(|(name, speed, code)| {
        let patch = lab.patch_named(name, "speed=slow", &format!("speed={speed}"));
        (Running::start(lab.command(&lab.args(&format!("../{name}"), &["--patch", &patch]))), code)
    });
    for (run, code) in runs {
        let (ended, said) = run.end();
        assert_eq!(ended, Some(code), "{said}");
    }
}

#[test]
fn a_whole_run_is_not_overwritten() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    assert_eq!(lab.test(&["--patch", &patch]).code, 0);
    let kept = fs_err::read(lab.root.join("run/run.json")).unwrap();
    let again = lab.test(&["--patch", &patch]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(again.stderr.contains("holds a run already"), "{}", again.stderr);
    assert_eq!(fs_err::read(lab.root.join("run/run.json")).unwrap(), kept);
}
