//! What a log of make says about the machine: no space, no memory, a program or header that is not
//! installed. None of it is the kernel's fault.

use crate::blame::Failure;

/// Headers by the start of their name, and Debian's package of each.
const HEADERS: [(&str, &str); 5] = [
    ("gelf.h", "libelf-dev"),
    ("libelf.h", "libelf-dev"),
    ("elf.h", "libc6-dev"),
    ("openssl/", "libssl-dev"),
    ("gcc-plugin.h", "gcc-12-plugin-dev"),
];

/// Programs that kernel builds start, and Debian's package of each.
const PROGRAMS: [(&str, &str); 10] = [
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("perl", "perl"),
    ("python3", "python3"),
    ("cpio", "cpio"),
    ("rsync", "rsync"),
    ("lz4", "lz4"),
    ("gcc", "gcc"),
    ("pahole", "dwarves"),
];

/// The failure of the machine that a log shows, if it shows one.
pub(crate) fn host_failure(log: &str) -> Option<Failure> {
    log.lines().find_map(|line| {
        let failure = no_space(line)
            .or_else(|| no_memory(line))
            .or_else(|| ended_by_signal(line))
            .or_else(|| no_header(line))
            .or_else(|| no_program(line))
            .or_else(|| too_old(line));
        failure.map(|failure| failure.excerpt([line]))
    })
}

/// The last is how dash's `echo`, with which make's rules write small files, says that it could not.
fn no_space(line: &str) -> Option<Failure> {
    ["No space left on device", "Disk quota exceeded", ": echo: I/O error"]
        .iter()
        .any(|text| line.contains(text))
        .then(|| Failure::io(&std::io::ErrorKind::StorageFull.into()))
}

fn no_memory(line: &str) -> Option<Failure> {
    let killed = line.contains("Killed signal terminated program") || line.trim_end().ends_with(" Killed");
    let refused = line.contains("virtual memory exhausted") || line.contains("Cannot allocate memory");
    (killed || refused).then(|| {
        Failure::host("the compiler was killed or got no memory")
            .hint("close other programs, or give the machine more memory")
    })
}

/// `collect2: fatal error: ld terminated with signal 25 [File size limit exceeded]`
fn ended_by_signal(line: &str) -> Option<Failure> {
    let signs = ["terminated with signal ", "signal terminated program "];
    let (_, what) = line.split_once("error: ").filter(|(_, what)| signs.iter().any(|sign| what.contains(sign)))?;
    Some(
        Failure::host(format!("the compiler was ended by a signal: {what}"))
            .hint("`ulimit -a` shows the limits that the shell gives to programs"),
    )
}

fn no_header(line: &str) -> Option<Failure> {
    let (_, rest) = line.split_once("fatal error: ")?;
    let header = rest.strip_suffix(": No such file or directory")?;
    let (_, package) = HEADERS.iter().find(|(name, _)| header.starts_with(name))?;
    Some(not_installed(&format!("the header `{header}`"), package))
}

/// `/bin/sh: 1: flex: not found`, `bash: line 1: bc: command not found`, `make[3]: bison: No such
/// file or directory`.
fn no_program(line: &str) -> Option<Failure> {
    let from_shell = line.strip_suffix(": not found").or_else(|| line.strip_suffix(": command not found"));
    let from_make = || line.strip_suffix(": No such file or directory").filter(|rest| rest.starts_with("make"));
    let name = from_shell.or_else(from_make)?.rsplit(": ").next()?;
    let (_, package) = PROGRAMS.iter().find(|(program, _)| *program == name)?;
    Some(not_installed(&format!("`{name}`"), package))
}

fn too_old(line: &str) -> Option<Failure> {
    let signs = ["Compiler is too old.", "Linker is too old.", "this C compiler is not supported"];
    signs.iter().any(|sign| line.contains(sign)).then(|| {
        Failure::host("this kernel needs a newer compiler or linker than the machine has")
            .hint("install newer ones, or test an older tree")
    })
}

fn not_installed(what: &str, package: &str) -> Failure {
    Failure::host(format!("{what}, needed to build kernels, is not installed"))
        .hint(format!("`nspatch doctor` says how to install it; Debian's package is {package}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_lacks_is_told_from_the_log() {
        for (line, what) in [
            ("/bin/sh: 1: flex: not found", "`flex`, needed to build kernels, is not installed"),
            ("/bin/bash: line 1: bc: command not found", "`bc`, needed to build kernels, is not installed"),
            ("make[3]: bison: No such file or directory", "`bison`, needed to build kernels, is not installed"),
            (
                "tools/objtool/elf.h:10:10: fatal error: gelf.h: No such file or directory",
                "the header `gelf.h`, needed to build kernels, is not installed",
            ),
            (
                "certs/extract-cert.c:21:10: fatal error: openssl/bio.h: No such file or directory",
                "the header `openssl/bio.h`, needed to build kernels, is not installed",
            ),
            (
                "scripts/Kconfig.include:45: Sorry, this C compiler is not supported.",
                "this kernel needs a newer compiler or linker than the machine has",
            ),
            ("gcc: fatal error: Killed signal terminated program cc1", "the compiler was killed or got no memory"),
            (
                "collect2: fatal error: ld terminated with signal 25 [File size limit exceeded]",
                "the compiler was ended by a signal: ld terminated with signal 25 [File size limit exceeded]",
            ),
            ("fs/a.c:1: fatal error: error writing to /tmp/x.s: No space left on device", "no storage space"),
            ("/bin/sh: 1: echo: echo: I/O error", "no storage space"),
        ] {
            let failure = host_failure(&format!("  CC      a.o\n{line}\nmake: *** [Makefile:1: a.o] Error 1\n"));
            let failure = failure.unwrap_or_else(|| panic!("not seen: {line}"));
            assert_eq!(failure.what, what);
            assert!(!failure.hints.is_empty(), "{line}");
        }
    }

    #[test]
    fn what_the_source_lacks_is_not_the_machine_s_fault() {
        for line in [
            "fs/a.c:3:10: fatal error: linux/gone.h: No such file or directory",
            "fs/a.c:3:10: error: 'flex' undeclared",
            "make[2]: *** No rule to make target 'fs/gone.o', needed by 'fs/built-in.a'.  Stop.",
            "/bin/sh: 1: frobnicate: not found",
        ] {
            assert_eq!(host_failure(line), None, "{line}");
        }
    }
}
