use std::io::{Read, Write};

use super::*;
use crate::blame::Class;

fn sh(script: &str) -> Call {
    Call::new("sh").args(["-c", script])
}

#[test]
fn a_withheld_variable_is_gone_unless_it_is_set() {
    let show = sh("echo ${PATH+inherited} ${HOME-none}").without(["HOME"]);
    assert_eq!(show.run().unwrap().text(), "inherited none");
    assert_eq!(show.env("HOME", "set").run().unwrap().text(), "inherited set");
}

#[test]
fn output_and_status_are_kept_apart() {
    let ended = sh("echo out; echo err >&2; exit 3").run().unwrap();
    assert_eq!((ended.text().as_str(), ended.complaint().as_str(), ended.exit), ("out", "err", Exit::Status(3)));
}

#[test]
fn a_child_past_its_deadline_is_ended_with_its_grandchildren() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let call = sh(&format!("sleep 600 & echo $! > {}; wait", file.display())).deadline(Duration::from_millis(300));
    assert_eq!(call.run().unwrap().exit, Exit::Deadline);
    let pid = std::fs::read_to_string(file).unwrap();
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let gone = || state().is_empty() || state().contains(") Z ");
    // A killed process dies when it gets a CPU, which takes a while on a busy machine
    let asked = Instant::now();
    while !gone() && asked.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(TICK);
    }
    assert!(gone(), "the grandchild lives on: {}", state());
}

#[test]
fn a_child_that_ignores_the_request_is_killed() {
    let ended = sh("trap '' TERM; while :; do sleep 0.1; done").deadline(Duration::from_millis(200)).run().unwrap();
    assert_eq!(ended.exit, Exit::Deadline);
}

#[test]
fn a_grandchild_that_holds_the_output_open_does_not_hold_up_the_call() {
    let since = Instant::now();
    assert_eq!(sh("sleep 30 & echo done").run().unwrap().text(), "done");
    assert!(since.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_missing_program_is_the_machine_s_fault_and_points_to_the_doctor() {
    let call = Call::new("nspatch-no-such-program");
    assert_eq!((call.is_installed(), sh("").is_installed()), (false, true));
    let failure = call.run().unwrap_err();
    assert_eq!(failure.class, Class::Host);
    assert!(failure.hints[0].contains("doctor"), "{failure:?}");
}

#[test]
fn a_log_holds_the_command_and_all_output() {
    let folder = tempfile::tempdir().unwrap();
    let log = Utf8PathBuf::from_path_buf(folder.path().join("a.log")).unwrap();
    let ended = sh("echo out; echo err >&2").log(&log).run().unwrap();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "$ sh -c 'echo out; echo err >&2'\nout\nerr\n");
    assert_eq!(ended.last_lines(1), ["err"]);
}

#[test]
fn fed_input_arrives_and_a_feeder_s_failure_is_given_back() {
    let ended = Call::new("cat").run_fed(|pipe| Ok(pipe.write_all(b"fed")?)).unwrap();
    assert_eq!(ended.text(), "fed");
    let failure = Call::new("cat").run_fed(|_| Err(Failure::usage("cut"))).unwrap_err();
    assert_eq!(failure.what, "cut");
}

#[test]
fn a_child_that_dies_while_fed_tells_its_own_end() {
    let ended = sh("exit 4").run_fed(|pipe| Ok(pipe.write_all(&vec![0; 1 << 20])?)).unwrap();
    assert_eq!(ended.exit, Exit::Status(4));
}

#[test]
fn a_watcher_ends_its_child() {
    assert_eq!(sh("sleep 600").run_watched(|| Watch::Stop).unwrap().exit, Exit::Stopped);
}

#[test]
fn a_filter_reads_a_file_and_gives_what_it_prints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in");
    std::fs::write(&path, "abc").unwrap();
    let filter = |script: &str, most: u64| {
        let file = File::open(&path).unwrap();
        let take = |pipe: PipeReader| {
            let mut text = String::new();
            pipe.take(most).read_to_string(&mut text)?;
            Ok(text)
        };
        let (taken, ended) = sh(script).run_filter(file, take).unwrap();
        (taken.unwrap(), ended.exit, ended.complaint())
    };
    assert_eq!(filter("tr b B", 100), ("aBc".to_owned(), Exit::Success, String::new()));
    assert_eq!(filter("cat; echo bad >&2; exit 1", 100), ("abc".to_owned(), Exit::Status(1), "bad".to_owned()));
    // A reader that has had enough ends the filter
    assert_eq!(filter("exec yes", 2), ("y\n".to_owned(), Exit::Signal(13), String::new()));
}

#[test]
fn a_failure_shows_the_command_without_what_all_calls_have() {
    let call = sh("exit 3").fixed_env([("ALWAYS", "1"), ("TWICE", "fixed")]).env("TWICE", "own");
    assert_eq!(call.run().unwrap().failure().place.unwrap(), "TWICE=own sh -c 'exit 3'");
    assert!(call.line().starts_with("ALWAYS=1 "), "{}", call.line());
    assert_eq!(
        sh("echo $ALWAYS $TWICE")
            .fixed_env([("ALWAYS", "1"), ("TWICE", "fixed")])
            .env("TWICE", "own")
            .run()
            .unwrap()
            .text(),
        "1 own"
    );
}

#[test]
fn a_lock_that_a_child_holds_lasts_as_long_as_the_last_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let file = Arc::new(File::create(&path).unwrap());
    file.lock().unwrap();
    let free = || File::open(&path).unwrap().try_lock().is_ok();
    let call = sh("sleep 600 & echo $!").holding(Arc::clone(&file));
    let sleeper = call.run().unwrap().text().parse().unwrap();
    drop((file, call));
    assert!(!free());
    rustix::process::kill_process(Pid::from_raw(sleeper).unwrap(), Signal::KILL).unwrap();
    let asked = Instant::now();
    while !free() {
        assert!(asked.elapsed() < Duration::from_secs(30), "the lock is held for ever");
        std::thread::sleep(TICK);
    }
    assert_eq!(sh("ls -l /proc/self/fd").run().unwrap().text().matches("lock").count(), 0, "others do not get it");
}
