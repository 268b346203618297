use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::LocalModes;

use super::*;
use crate::process::Exit;

const PROMPT: Prompt = Prompt { text: "\n> ", farewell: "bye" };

/// Asks for lines, says what it heard, and ends at the word `bye`. It throws away what comes before it asks, as a
/// machine that boots does.
const PARROT: &str =
    "sleep 0.2; while printf 'x\\r\\n> '; read line; do echo \"heard $line\"; [ \"$line\" = bye ] && exit 3; done";

/// Longer than any test may take.
const ENDLESS: Patience = Patience { first: Duration::from_secs(600), next: Duration::from_secs(600) };
/// Over at once.
const NONE: Patience = Patience { first: Duration::ZERO, next: Duration::ZERO };

fn sh(script: &str) -> Call {
    Call::new("sh").args(["-c", script]).without_deadline()
}

fn plain(output: &mut Vec<u8>) -> Screen<&mut Vec<u8>> {
    Screen { output, plain: true }
}

/// What a program is told by a pipe that holds this, and what it says.
fn piped(script: &str, input: &str) -> (Result<Ended, Failure>, String) {
    let (reader, mut writer) = io::pipe().unwrap();
    writer.write_all(input.as_bytes()).unwrap();
    drop(writer);
    let mut said = Vec::new();
    let ended = sh(script).attach((PROMPT, ENDLESS), reader.as_fd(), plain(&mut said), |_| Ok(()));
    (ended, String::from_utf8(said).unwrap())
}

#[test]
fn commands_in_a_pipe_are_said_one_at_each_prompt_and_then_the_farewell() {
    for input in ["one\ntwo\n", "one\ntwo"] {
        let (ended, said) = piped(PARROT, input);
        assert_eq!(ended.unwrap().exit, Exit::Status(3));
        assert_eq!(said, "x\n> heard one\nx\n> heard two\nx\n> heard bye\n");
    }
    assert_eq!(piped(PARROT, "").1, "x\n> heard bye\n");
    assert_eq!(piped(PARROT, "\n\n").1.matches("heard \n").count(), 2, "an empty line is a line");
}

#[test]
fn a_program_that_ends_by_itself_is_not_waited_for() {
    let (reader, _open) = io::pipe().unwrap();
    let mut said = Vec::new();
    let ended = sh("echo gone").attach((PROMPT, ENDLESS), reader.as_fd(), plain(&mut said), |_| Ok(())).unwrap();
    assert_eq!((ended.exit, said.as_slice()), (Exit::Success, &b"gone\n"[..]));
    assert_eq!(piped("exit 4", "never said\n").0.unwrap().exit, Exit::Status(4));
}

/// How a program ends that is told `one` after so long, where it may be silent for a second.
fn told_after(wait: Duration, script: &str) -> (Exit, String) {
    let (reader, mut writer) = io::pipe().unwrap();
    let mut said = Vec::new();
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(wait);
            writer.write_all(b"one\n").unwrap();
        });
        let patience = Patience { next: Duration::from_secs(1), ..ENDLESS };
        sh(script).attach((PROMPT, patience), reader.as_fd(), plain(&mut said), |_| Ok(())).unwrap()
    });
    (ended.exit, String::from_utf8(said).unwrap())
}

#[test]
fn a_program_that_leaves_a_line_unanswered_is_ended() {
    let at_once = Duration::ZERO;
    let (exit, said) = told_after(at_once, "printf '\\n> '; read line; echo $line; exec sleep 600");
    assert_eq!((exit, said.as_str()), (Exit::Stopped, "\n> one\n"));
    assert_eq!(told_after(at_once, "echo comes up; exec sleep 600").0, Exit::Stopped);
    let (reader, _open) = io::pipe().unwrap();
    let silent = Patience { first: Duration::from_millis(100), ..ENDLESS };
    let ended = sh("exec sleep 600").attach((PROMPT, silent), reader.as_fd(), plain(&mut Vec::new()), |_| Ok(()));
    assert_eq!(ended.unwrap().exit, Exit::Stopped);
}

#[test]
fn a_program_that_waits_for_a_line_or_says_something_now_and_then_may_go_on() {
    assert_eq!(told_after(Duration::from_millis(1500), PARROT).0, Exit::Status(3));
    let slow = "printf '\\n> '; read line; for i in 1 2 3 4 5; do sleep 0.3; echo $i; done";
    assert_eq!(told_after(Duration::ZERO, slow).0, Exit::Success);
}

#[test]
fn whoever_cannot_show_what_is_said_ends_the_program() {
    let (reader, _open) = io::pipe().unwrap();
    let mut said = Vec::new();
    let full = |_: &[u8]| Err(Failure::host("full"));
    let failure =
        sh("echo; exec sleep 600").attach((PROMPT, ENDLESS), reader.as_fd(), plain(&mut said), full).unwrap_err();
    assert_eq!(failure.what, "full");
}

#[test]
fn a_terminal_passes_every_key_on_and_is_afterwards_what_it_was() {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = std::fs::OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let is_cooked = || tcgetattr(&terminal).unwrap().local_modes.contains(LocalModes::ICANON | LocalModes::ISIG);
    assert!(is_cooked());
    let mut said = Vec::new();
    // Ctrl-C, Ctrl-A and a return are bytes like any other
    let script = "printf ready; dd bs=1 count=4 2>/dev/null | od -An -tx1";
    // No limit holds there
    let ended =
        sh(script).attach((PROMPT, NONE), terminal.as_fd(), Screen { output: &mut said, plain: false }, |bytes| {
            assert!(!is_cooked());
            if bytes.starts_with(b"ready") {
                rustix::io::write(&master, b"\x03\x01\ra").unwrap();
            }
            Ok(())
        });
    assert_eq!(ended.unwrap().exit, Exit::Success);
    assert_eq!(String::from_utf8(said).unwrap(), "ready 03 01 0d 61\n");
    assert!(is_cooked());
}

#[test]
fn a_prompt_in_two_pieces_is_one() {
    let talk = Talk::begin();
    let (reader, mut writer) = io::pipe().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for piece in ["a\n", "> b\n> ", "\n", ">", " "] {
                writer.write_all(piece.as_bytes()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        listen(reader, PROMPT.text, &talk, |_| Ok(())).unwrap();
    });
    assert_eq!(talk.asked.into_inner(), 3);
}
