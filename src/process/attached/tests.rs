use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::LocalModes;

use super::*;
use crate::process::Exit;

const PROMPT: Prompt = Prompt { text: "\n> ", farewell: "bye" };

/// Asks for lines, says what it heard, and ends at the word `bye`. It throws away what comes before it asks, as a
/// machine that boots does.
const PARROT: &str =
    "sleep 0.2; while printf 'x\\r\\n> '; read line; do echo \"heard $line\"; [ \"$line\" = bye ] && exit 3; done";

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
    let ended = sh(script).attach(PROMPT, reader.as_fd(), plain(&mut said), |_| Ok(()));
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
    let ended = sh("echo gone").attach(PROMPT, reader.as_fd(), plain(&mut said), |_| Ok(())).unwrap();
    assert_eq!((ended.exit, said.as_slice()), (Exit::Success, &b"gone\n"[..]));
    assert_eq!(piped("exit 4", "never said\n").0.unwrap().exit, Exit::Status(4));
}

#[test]
fn whoever_cannot_show_what_is_said_ends_the_program() {
    let (reader, _open) = io::pipe().unwrap();
    let mut said = Vec::new();
    let full = |_: &[u8]| Err(Failure::host("full"));
    let failure = sh("echo; exec sleep 600").attach(PROMPT, reader.as_fd(), plain(&mut said), full).unwrap_err();
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
    let ended = sh(script).attach(PROMPT, terminal.as_fd(), Screen { output: &mut said, plain: false }, |bytes| {
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
    let asked = AtomicUsize::new(0);
    let (reader, mut writer) = io::pipe().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for piece in ["a\n", "> b\n> ", "\n", ">", " "] {
                writer.write_all(piece.as_bytes()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        listen(reader, PROMPT.text, &asked, |_| Ok(())).unwrap();
    });
    assert_eq!(asked.into_inner(), 3);
}
