//! Looking whether something is there.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use super::apt;
use super::diagnosis::State;
use super::need::{Need, Probe, Version};
use crate::blame::{Class, Failure};
use crate::process::{Call, Ended};

/// No program takes that long to tell its version, or to compile three lines.
const LIMIT: Duration = Duration::from_secs(30);

/// Looks for one thing.
///
/// # Errors
///
/// Only when the work was interrupted, or there is no room for a temporary file.
pub(super) fn look(need: &Need) -> Result<State, Failure> {
    match &need.probe {
        Probe::Program { args, oldest } => program(&need.name, args, *oldest),
        Probe::Compiles { compiler, flags, program } => compiles(compiler, flags, program),
        Probe::Source { version } => source(version),
        Probe::Space { folder, bytes } => Ok(space(folder, *bytes)),
        Probe::Memory { bytes } => Ok(memory(*bytes)),
    }
}

fn program(name: &str, args: &[&str], oldest: Option<Version>) -> Result<State, Failure> {
    let Some(ended) = run(&Call::new(name).args(args))? else { return Ok(State::missing("")) };
    if !ended.succeeded() {
        return Ok(State::missing(ended.failure().what));
    }
    let Some((version, numbers)) = version(&ended.text()) else {
        return Ok(State::missing(format!("`{name}` does not tell its version")));
    };
    Ok(match oldest {
        Some(oldest) if numbers < oldest => State::TooOld { version, oldest: format!("{}.{}", oldest.0, oldest.1) },
        _ => State::Present { version },
    })
}

/// Runs a program that may not be there: then it gives nothing.
fn run(call: &Call) -> Result<Option<Ended>, Failure> {
    match call.clone().deadline(LIMIT).run() {
        Ok(ended) => Ok(Some(ended)),
        Err(failure) if failure.class == Class::Interrupted => Err(failure),
        Err(_) => Ok(None),
    }
}

/// The first version in a text, as written and as numbers: digits, a point, digits.
pub(super) fn version(text: &str) -> Option<(String, Version)> {
    let dotted = |c: char| c.is_ascii_digit() || c == '.';
    text.split(|c| !dotted(c)).find_map(|word| {
        let word = word.trim_matches('.');
        let mut numbers = word.split('.').map(str::parse);
        let (Some(Ok(major)), Some(Ok(minor))) = (numbers.next(), numbers.next()) else {
            return None;
        };
        Some((word.to_owned(), (major, minor)))
    })
}

fn compiles(compiler: &str, flags: &[&str], program: &str) -> Result<State, Failure> {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("probe");
    let call = Call::new(compiler).args(["-x", "c", "-", "-o"]).arg(output).args(flags).input(program);
    let Some(ended) = run(&call)? else { return Ok(State::missing("")) };
    if ended.succeeded() {
        return Ok(State::Present { version: String::new() });
    }
    Ok(not_compiled(&ended.complaint()))
}

/// What a compiler that failed says: only where it names what it did not find is that missing.
fn not_compiled(printed: &str) -> State {
    let lacks = |line: &&str| {
        line.contains("cannot find ") || line.contains("fatal error: ") && line.ends_with("No such file or directory")
    };
    let error = |line: &&str| line.contains("error");
    match (printed.lines().find(lacks), printed.lines().find(error).or(printed.lines().next())) {
        (Some(line), _) => State::missing(line),
        (None, line) => State::Untried { detail: line.unwrap_or("a small program does not compile").to_owned() },
    }
}

fn source(version: &str) -> Result<State, Failure> {
    let package = format!("linux-source-{version}");
    let archive = Utf8PathBuf::from(format!("/usr/src/{package}.tar.xz"));
    if archive.is_file() {
        return Ok(State::Present { version: "installed".to_owned() });
    }
    Ok(match apt::candidate(&package)? {
        Some(version) => State::Present { version },
        None => State::missing(format!("apt knows no package `{package}`")),
    })
}

fn space(folder: &Utf8Path, bytes: u64) -> State {
    // The cache may not be there yet: then its file system is that of the nearest folder that is
    let there = folder.ancestors().find(|place| place.exists()).unwrap_or(Utf8Path::new("."));
    match rustix::fs::statvfs(there.as_std_path()) {
        Ok(found) => enough(found.f_bavail.saturating_mul(found.f_frsize), bytes),
        Err(error) => State::missing(format!("{there}: {error}")),
    }
}

fn memory(bytes: u64) -> State {
    let info = rustix::system::sysinfo();
    enough(info.totalram.saturating_mul(info.mem_unit.into()), bytes)
}

fn enough(there: u64, wanted: u64) -> State {
    let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
    if there >= wanted {
        State::Present { version: gib(there) }
    } else {
        State::missing(format!("{} where {} are good to have", gib(there), gib(wanted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        let cases = [
            ("12.2.0", Some(("12.2.0", (12, 2)))),
            ("GNU Make 4.3\nBuilt for x86_64-pc-linux-gnu", Some(("4.3", (4, 3)))),
            ("This is perl 5, version 36, subversion 0 (v5.36.0) built", Some(("5.36.0", (5, 36)))),
            ("QEMU emulator version 7.2.19 (Debian 1:7.2+dfsg-7+deb12u16)", Some(("7.2.19", (7, 2)))),
            ("1:10.0.2+ds-2+deb13u1~bpo12+1", Some(("10.0.2", (10, 0)))),
            ("git version 2.39.5", Some(("2.39.5", (2, 39)))),
            ("no number 7 here.", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|(word, numbers)| (word.to_owned(), numbers));
            assert_eq!(version(text), expected, "{text}");
        }
    }

    #[test]
    fn only_what_a_compiler_did_not_find_is_missing() {
        let missing = [
            "/usr/bin/ld: cannot find -lc: No such file or directory",
            "/usr/bin/ld: cannot find crt1.o: No such file or directory",
            "<stdin>:1:10: fatal error: gelf.h: No such file or directory",
        ];
        for line in missing {
            assert_eq!(not_compiled(&format!("{line}\ncompilation terminated.")), State::missing(line));
        }
        let untried = [
            "collect2: fatal error: ld terminated with signal 25 [File size limit exceeded]",
            "<stdin>:1:1: error: unknown type name 'x'",
            "gcc: internal compiler error: Killed signal terminated program cc1",
        ];
        for line in untried {
            assert_eq!(not_compiled(line), State::Untried { detail: line.to_owned() });
        }
    }

    #[test]
    fn a_compiler_that_is_not_there_is_missing_and_no_failure() {
        let state = compiles("nspatch-has-no-such-compiler", &[], "").unwrap();
        assert_eq!(state, State::missing(""));
    }

    #[test]
    fn space_is_that_of_the_nearest_folder_that_exists() {
        assert!(matches!(space(Utf8Path::new("/no/such/folder"), 1), State::Present { .. }));
        let State::Missing { detail } = space(Utf8Path::new("/"), u64::MAX) else { panic!("a disk without end") };
        assert!(detail.contains("GiB where"), "{detail}");
    }
}
