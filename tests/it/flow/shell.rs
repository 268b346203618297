//! `nspatch shell` on the fake kernel tree with the fake QEMU, with commands by a pipe.

use std::io::Write;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::lab::{Ended, Lab, native};
use super::stops::{children, wait_until};

fn command(lab: &Lab, more: &[&str]) -> Command {
    let fixed = ["shell", "--tree", "../linux", "--arch", native().name, "--out", "../look"];
    lab.command(&[&fixed[..], more].concat())
}

fn look(lab: &Lab, more: &[&str], commands: &str) -> Ended {
    let mut command = command(lab, more);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // What fails before it asks for commands may be gone already
    let _ = child.stdin.take().unwrap().write_all(commands.as_bytes());
    let output = child.wait_with_output().unwrap();
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn commands_of_a_pipe_are_answered_by_the_kernel_that_was_asked_for() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let ended = look(&lab, &[], "one\ntwo words\n");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let said = "nspatch: init\n`help` shows the commands\nnspatch> one\none: slow\nnspatch> two words\ntwo words: slow\n\
                nspatch> exit\nnspatch: shell over\n";
    assert_eq!(ended.stdout, said, "standard output holds what the guest says, and nothing else");
    assert!(ended.stderr.contains("base of ../linux (Linux 6.12.0) boots, in real time"), "{}", ended.stderr);
    assert_eq!(fs_err::read_to_string(lab.root.join("look/console.log")).unwrap().replace('\r', ""), said);
    assert!(fs_err::read_to_string(lab.root.join("look/qemu.log")).unwrap().contains("-serial stdio"));

    for (more, speed) in [(&[][..], "fast"), (&["--variant", "base"], "slow"), (&["--variant", "patched"], "fast")] {
        let ended = look(&lab, &[&["--patch", &patch], more].concat(), "which");
        assert!(ended.code == 0 && ended.stdout.contains(&format!("which: {speed}\n")), "{more:?}: {}", ended.stderr);
    }
    let again = look(&lab, &["--patch", &patch, "--progress", "json"], "").stderr;
    let build = again.lines().find(|line| line.contains("finished") && line.contains("\"build\"")).unwrap();
    assert!(build.contains("reused"), "{build}");
}

#[test]
fn a_merged_patch_can_be_looked_at_without_it_and_not_with_it_twice() {
    let lab = Lab::new();
    let patch = lab.patch_in_tree("speed=slow", "speed=slower");
    let without = look(&lab, &["--patch", &patch, "--variant", "reversed"], "which");
    assert!(without.stdout.contains("which: slower"), "{}{}", without.stdout, without.stderr);
    assert!(look(&lab, &["--patch", &patch], "which").stdout.contains("which: slow\n"), "the tree has it");
    let twice = look(&lab, &["--patch", &patch, "--variant", "patched"], "");
    assert_eq!(twice.code, 2, "{}", twice.stderr);
    assert!(twice.stderr.contains("there are reversed and base"), "{}", twice.stderr);
    let of_none = look(&lab, &["--variant", "patched"], "");
    assert!(of_none.code == 2 && of_none.stderr.contains("name one with --patch"), "{}", of_none.stderr);
}

#[test]
fn a_kernel_that_does_not_come_up_or_dies_while_it_is_looked_at_ends_with_6() {
    let lab = Lab::new();
    for (behave, told) in [("panic", "panic: Kernel panic - not syncing: No working init"), ("reset", "early exit")] {
        let patch = lab.patch("behave=good", &format!("behave={behave}"));
        let ended = look(&lab, &["--patch", &patch], "never said\n");
        assert_eq!(ended.code, 6, "{behave}: {}", ended.stderr);
        assert!(ended.stderr.contains(told), "{behave}: {}", ended.stderr);
    }
    let ended = look(&lab, &[], "one\npanic\ntwo\n");
    assert_eq!(ended.code, 6, "{}", ended.stderr);
    assert!(
        ended.stdout.contains("one: slow") && ended.stderr.contains("asked for"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    assert!(!ended.stderr.contains("end record"), "nobody waited for one: {}", ended.stderr);
    let gone = look(&lab, &[], "leave\nnever said\n");
    assert_eq!(gone.code, 6, "a machine that is reset in silence was not left: {}", gone.stderr);
    assert!(gone.stderr.contains("the machine was reset before its shell was left"), "{}", gone.stderr);
    let broken = lab.patch("depth * NS_COST", "depht * NS_COST");
    assert_eq!(look(&lab, &["--patch", &broken], "").code, 5);
}

#[test]
fn commands_of_a_pipe_do_not_wait_for_ever_for_a_guest_that_has_stopped_listening() {
    let lab = Lab::new();
    let ended = look(&lab, &["--patience", "0.01"], "one\nstay\nnever said\n");
    assert_eq!(ended.code, 6, "{}", ended.stderr);
    assert!(ended.stdout.ends_with("one: slow\nnspatch> stay\n"), "{}", ended.stdout);
    for told in ["the boot failed: hang: in the guest: no more output for 3s", "  | nspatch> stay"] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
    wait_until("the end of all children", || children(&lab).is_empty());
    for (behave, told) in [
        ("silence", "silence: nothing on the console for 600ms"),
        ("hang", "hang: before the guest's first line: no more output for 3s"),
    ] {
        let patch = lab.patch("behave=good", &format!("behave={behave}"));
        let ended = look(&lab, &["--patch", &patch, "--patience", "0.01"], "never said\n");
        assert!(ended.code == 6 && ended.stderr.contains(told), "{behave}: {}", ended.stderr);
    }
}

#[test]
fn a_program_is_put_into_the_guest() {
    let lab = Lab::new();
    fs_err::write(lab.root.join("project/busybox"), "static").unwrap();
    assert_eq!(look(&lab, &["--add", "busybox"], "").code, 0);
    let archive = fs_err::read(lab.root.join("look/initramfs.cpio")).unwrap();
    let entry = b"busybox\0\0\0static";
    assert!(archive.windows(entry.len()).any(|window| window == entry), "it is in the archive");
    let ended = look(&lab, &["--add", "gone"], "");
    assert!(ended.code == 2 && ended.stderr.contains("gone"), "{}", ended.stderr);
}

#[test]
fn a_look_that_is_stopped_leaves_no_qemu() {
    for (signal, code) in [(Signal::INT, Some(130)), (Signal::TERM, Some(130)), (Signal::KILL, None)] {
        let lab = Lab::new();
        let mut child =
            command(&lab, &[]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.as_mut().unwrap().write_all(b"stay\n").unwrap();
        wait_until("the stuck guest", || children(&lab).iter().any(|name| name == "sleep"));
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), code, "{signal:?}");
        wait_until("the end of all children", || children(&lab).is_empty());
    }
}
