//! The guest's shell, compiled for this machine and run as an ordinary program. Nothing that changes the machine is
//! asked of it: no benchmark, no mount.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use camino::Utf8Path;

/// The program, compiled once. It is kept below `target`.
static SHELL: LazyLock<PathBuf> = LazyLock::new(|| compiled("guest-shell", &[]));

/// The program of that name, with the benchmarks of more folders beside the shipped ones.
pub fn compiled(name: &str, more: &[&Utf8Path]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let images = root.join("images");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let folders = [images.clone(), images.join("bench")];
    let folders = folders.iter().map(PathBuf::as_path).chain(more.iter().map(|folder| folder.as_std_path()));
    let sources = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    let sources = sources.filter(|path| path.extension().is_some_and(|end| end == "c") && !path.ends_with("init.c"));
    let flags = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror"];
    let mut gcc = Command::new("gcc");
    // What lies elsewhere finds ../guest.h from the folder of the shipped ones
    gcc.args(flags).arg("-I").arg(&images).arg("-I").arg(images.join("bench")).arg("-o").arg(&program);
    gcc.args(sources).arg(root.join("tests/guest/shell.c"));
    assert!(gcc.status().unwrap().success());
    program
}

/// What it says to these commands, without the first line.
fn told(commands: &str) -> String {
    said_by(&SHELL, commands)
}

/// What a program made by [`compiled`] says to these commands, without the first line.
pub fn said_by(program: &Path, commands: &str) -> String {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{commands}: {:?}", output.status);
    let said = String::from_utf8(output.stdout).unwrap();
    said.strip_prefix("`help` shows the commands\n").unwrap().to_owned()
}

#[test]
fn it_asks_before_each_command_and_ends_at_exit_or_with_its_input() {
    assert_eq!(told(""), "nspatch> ");
    assert_eq!(told("\n  \nexit\nhelp\n"), "nspatch> nspatch> nspatch> ");
    assert_eq!(told("exit now\r\nhelp\n"), "nspatch> ");
}

#[test]
fn help_names_every_command_and_others_are_told_as_such() {
    let help = told("help\n");
    for command in ["list", "run", "facts", "dmesg", "cat", "ls", "write", "mount", "umount", "exec", "help", "exit"] {
        assert!(help.contains(&format!("  {command} ")), "{command}: {help}");
    }
    assert!(told("halp me\n").contains("there is no command `halp`; `help` shows those that there are\n"));
    let needy = [("run", "run what?"), ("cat", "cat what?"), ("write a", "write which"), ("mount tmpfs", "mount TYPE")];
    for (command, said) in needy.into_iter().chain([("umount", "umount what?"), ("exec", "exec what?")]) {
        assert!(told(&format!("{command}\n")).contains(said), "{command} says what it needs");
    }
    let long = format!("{}\n{}\n", "x ".repeat(200), "y".repeat(5000));
    assert!(told(&long).contains("there is no command `x`"));
}

#[test]
fn the_benchmarks_are_listed_with_their_parameters() {
    let list = told("list\n");
    assert!(list.contains("unshare-ipc\n") && list.contains("umount-propagated n=10 (1 to 15)\n"), "{list}");
}

#[test]
fn a_plan_that_is_wrong_touches_nothing_and_says_why() {
    let run = told("run nope,unshare-ipc:operations=x,umount-propagated:n=99\n");
    let details: Vec<_> = run.lines().filter(|line| line.contains("\"class\":\"usage\"")).collect();
    assert_eq!(details.len(), 3, "{run}");
    for (line, detail) in details.iter().zip(["no such benchmark", "operations is no number", "n must be from 1 to 15"])
    {
        assert!(line.contains(detail), "{line}");
    }
}

#[test]
fn files_and_folders_are_shown_and_failures_are_the_kernel_s_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir(path("below")).unwrap();
    std::fs::write(path("a"), "one\n").unwrap();
    std::fs::write(path("b"), "two").unwrap();
    let shown = told(&format!("ls {}\ncat {} {} {}\n", folder.path().display(), path("a"), path("gone"), path("b")));
    let expected =
        format!("nspatch> a\nb\nbelow/\nnspatch> one\n{}: No such file or directory\ntwonspatch> ", path("gone"));
    assert_eq!(shown, expected);
    assert_eq!(told(&format!("write {} three\n", path("a"))), "nspatch> nspatch> ");
    assert_eq!(std::fs::read_to_string(path("a")).unwrap(), "three\n");
    assert!(told("ls /nowhere\nwrite /nowhere/x y\nexec /nowhere\n").matches("No such file or directory").count() == 3);
    assert!(told("exec /bin/echo a program speaks\n").contains("a program speaks\n"));
    assert!(told("mount\n").contains(" / "), "the mounts of this machine");
}
