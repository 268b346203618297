//! The first error in a log of make, with its file, its line, and the lines around it.

use camino::{Utf8Path, Utf8PathBuf};

/// The folders whose names are taken off paths.
#[derive(Clone, Copy, Debug)]
struct Paths<'a> {
    /// The checkout.
    source: &'a Utf8Path,
    /// The object folder, in which the compiler runs.
    objects: &'a Utf8Path,
}

/// The first error of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The error in one line.
    pub(crate) what: String,
    /// The files that it names, relative to the tree, the one with the error first.
    pub(crate) files: Vec<Utf8PathBuf>,
    /// The line in the first file.
    pub(crate) line: Option<u32>,
    /// The lines around it.
    pub(crate) excerpt: Vec<String>,
}

/// Lines of the log kept before and after the first error.
const BEFORE: usize = 4;
const AFTER: usize = 6;

/// Finds the first error of a compiler that ran in `objects` on the files of `source`. What make says
/// of it is taken only where nothing tells more.
pub(crate) fn first_error(log: &str, source: &Utf8Path, objects: &Utf8Path) -> Option<Found> {
    let paths = &Paths { source, objects };
    let lines: Vec<_> = log.lines().filter(|line| !is_progress(line)).collect();
    let search = |read: fn(&str) -> Option<Seen>| {
        lines.iter().enumerate().find_map(|(at, line)| read(line).map(|seen| (at, seen)))
    };
    let (at, seen) = search(by_compiler_or_linker).or_else(|| search(by_make))?;
    let excerpt = &lines[at.saturating_sub(BEFORE)..lines.len().min(at + AFTER + 1)];
    let mut files: Vec<_> = seen.file.iter().filter_map(|file| paths.relative(file)).collect();
    for file in excerpt.iter().filter_map(|line| named_file(line)).filter_map(|file| paths.relative(file)) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    // Without a file in the error itself, a line number would belong to nothing
    let line = seen.line.filter(|_| seen.file.is_some_and(|file| paths.relative(file).is_some()));
    Some(Found { what: seen.what, files, line, excerpt: excerpt.iter().map(|line| paths.shorten(line)).collect() })
}

struct Seen<'a> {
    what: String,
    file: Option<&'a str>,
    line: Option<u32>,
}

/// Lines such as `  CC      fs/namespace.o`; also the command line at the log's start.
pub(super) fn progress(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("  ")?;
    let (word, rest) = rest.split_once(' ')?;
    let word_ok = !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let target = rest.trim_start().trim_start_matches("[M]").trim();
    (word_ok && !target.is_empty()).then_some(target)
}

fn is_progress(line: &str) -> bool {
    progress(line).is_some() || line.starts_with("$ ") || line.trim().is_empty()
}

fn by_compiler_or_linker(line: &str) -> Option<Seen<'_>> {
    located_error(line).or_else(|| linker_error(line)).or_else(|| tool_error(line))
}

/// `file:line:column: error: text` of gcc, and `file:line: Error: text` of the assembler.
fn located_error(line: &str) -> Option<Seen<'_>> {
    let (place, what) = [": fatal error: ", ": error: ", ": Error: "].iter().find_map(|mark| line.split_once(mark))?;
    let mut parts = place.split(':');
    let file = parts.next()?;
    let number = parts.next().and_then(|number| number.parse().ok());
    // `ld: error: ...` names a program, not a file
    let is_file = number.is_some() || file.contains('/');
    let what = if is_file { what.to_owned() } else { line.to_owned() };
    Some(Seen { what, file: is_file.then_some(file), line: number })
}

/// `ld: file.o: in function ...: file.c:(.text+0x1): undefined reference to ...`
fn linker_error(line: &str) -> Option<Seen<'_>> {
    let marks = ["undefined reference to ", "multiple definition of ", "cannot find ", "relocation truncated to fit"];
    let mark = marks.iter().find(|mark| line.contains(**mark))?;
    let at = line.find(mark)?;
    let what = line[at..].split("; ").next().unwrap_or(&line[at..]).to_owned();
    let file = line[..at].split([':', ' ', '(']).find(|part| part.ends_with(".o") || part.ends_with(".c"));
    let number = file
        .and_then(|file| line.split_once(&format!("{file}:")))
        .and_then(|(_, rest)| rest.split(':').next().and_then(|number| number.parse().ok()));
    Some(Seen { what, file, line: number })
}

/// `ERROR: modpost: ...`, `error: objtool: ...`, `Kconfig:3: syntax error`, `ld: final link failed`
fn tool_error(line: &str) -> Option<Seen<'_>> {
    if line.starts_with("ERROR: ") || line.starts_with("error: ") || line.contains("ld: final link failed") {
        return Some(Seen { what: line.to_owned(), file: None, line: None });
    }
    let (place, what) = line.split_once(": ")?;
    let (file, number) = place.split_once(':')?;
    let kconfig = file.rsplit('/').next().is_some_and(|name| name.starts_with("Kconfig"));
    let serious = !what.starts_with("warning");
    (kconfig && serious).then(|| Seen { what: what.to_owned(), file: Some(file), line: number.parse().ok() })
}

/// `make[2]: *** [Makefile:229: fs/namespace.o] Error 1`, `make: *** No rule to make target ...`
fn by_make(line: &str) -> Option<Seen<'_>> {
    let (who, what) = line.split_once(": *** ")?;
    if !who.starts_with("make") && !who.contains("Makefile") {
        return None;
    }
    let target =
        what.strip_prefix('[').and_then(|rest| rest.split_once(']')).and_then(|(rule, _)| rule.rsplit(": ").next());
    Some(Seen { what: what.trim_end_matches("  Stop.").to_owned(), file: target, line: None })
}

/// The file that a line of the compiler or the linker speaks of, whatever it says.
fn named_file(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("In file included from ").or_else(|| line.strip_prefix("from ")).unwrap_or(line);
    let mut words = line.split([':', ',', ' ']).filter(|word| !word.is_empty());
    words.find(|word| [".c", ".h", ".S", ".o"].iter().any(|end| word.ends_with(end)))
}

impl Paths<'_> {
    /// A path relative to the tree; `None` for a file that is not part of it, such as a system
    /// header. An object stands for the C file that it is made of, where there is one.
    fn relative(&self, file: &str) -> Option<Utf8PathBuf> {
        let full = flat(&self.objects.join(file));
        let file = full.strip_prefix(self.source).or_else(|_| full.strip_prefix(self.objects)).ok()?;
        if file.extension() != Some("o") {
            return self.source.join(file).exists().then(|| file.to_owned());
        }
        ["c", "S"].iter().map(|end| file.with_extension(end)).find(|made_of| self.source.join(made_of).exists())
    }

    /// A line without the folders' names.
    fn shorten(&self, line: &str) -> String {
        line.replace(&format!("{}/", self.source), "").replace(&format!("{}/", self.objects), "")
    }
}

/// A path without `.` and `..`, by its text alone.
fn flat(path: &Utf8Path) -> Utf8PathBuf {
    let mut flat = Utf8PathBuf::new();
    for part in path.components() {
        match part.as_str() {
            ".." => drop(flat.pop()),
            "." => {}
            part => flat.push(part),
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks for the first error in a log of a tree with these files; `SRC` and `OBJ` in the log
    /// stand for the folders.
    fn find(log: &str) -> Option<Found> {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let (source, objects) = (root.join("slot/source"), root.join("slot/objects/key"));
        for file in ["fs/namespace.c", "ipc/namespace.c", "include/linux/ns.h", "kernel/entry.S", "net/Kconfig"] {
            fs_err::create_dir_all(source.join(file).parent().unwrap()).unwrap();
            fs_err::write(source.join(file), "").unwrap();
        }
        let log = log.replace("SRC", source.as_str()).replace("OBJ", objects.as_str());
        first_error(&log, &source, &objects)
    }

    fn summary(log: &str) -> (String, String, Option<u32>) {
        let found = find(log).unwrap_or_else(|| panic!("no error in {log}"));
        let files: Vec<_> = found.files.iter().map(|file| file.as_str()).collect();
        (found.what, files.join(" "), found.line)
    }

    #[test]
    fn the_first_error_is_found_with_its_file_and_line() {
        for (log, what, files, line) in [
            (
                "  CC      fs/namespace.o\nSRC/fs/namespace.c: In function 'f':\nSRC/fs/namespace.c:10:16: error: 'depht' undeclared\nSRC/ipc/namespace.c:1:1: error: later\n",
                "'depht' undeclared",
                "fs/namespace.c ipc/namespace.c",
                Some(10),
            ),
            (
                "../../source/ipc/namespace.c:3:10: fatal error: linux/gone.h: No such file or directory\n",
                "linux/gone.h: No such file or directory",
                "ipc/namespace.c",
                Some(3),
            ),
            (
                "In file included from SRC/fs/namespace.c:2:\nSRC/include/linux/ns.h:7:5: error: expected ';'\n",
                "expected ';'",
                "include/linux/ns.h fs/namespace.c",
                Some(7),
            ),
            (
                "ld: ipc/namespace.o: in function `copy_ipcs':\nnamespace.c:(.text+0x5): undefined reference to `gone'\n",
                "undefined reference to `gone'",
                "ipc/namespace.c",
                None,
            ),
            (
                "ld: fs/namespace.o:(.data+0x0): multiple definition of `twice'; ipc/namespace.o:(.data+0x0): first defined here\n",
                "multiple definition of `twice'",
                "fs/namespace.c",
                None,
            ),
            (
                "SRC/kernel/entry.S:12: Error: no such instruction: `movx'\n",
                "no such instruction: `movx'",
                "kernel/entry.S",
                Some(12),
            ),
            (
                "ERROR: modpost: \"gone\" [fs/x.ko] undefined!\n",
                "ERROR: modpost: \"gone\" [fs/x.ko] undefined!",
                "",
                None,
            ),
            ("net/Kconfig:3: syntax error\nmake: *** [x] Error 1\n", "syntax error", "net/Kconfig", Some(3)),
            (
                "make[2]: *** [SRC/scripts/Makefile.build:229: fs/namespace.o] Error 1\nmake: *** [Makefile:15: all] Error 2\n",
                "[SRC/scripts/Makefile.build:229: fs/namespace.o] Error 1",
                "fs/namespace.c",
                None,
            ),
            (
                "make[2]: *** No rule to make target 'fs/gone.o', needed by 'fs/built-in.a'.  Stop.\n",
                "No rule to make target 'fs/gone.o', needed by 'fs/built-in.a'.",
                "",
                None,
            ),
        ] {
            let (found_what, found_files, found_line) = summary(log);
            if !what.contains("SRC") {
                assert_eq!(found_what, what);
            }
            assert_eq!((found_files.as_str(), found_line), (files, line), "{log}");
        }
    }

    #[test]
    fn warnings_and_progress_are_no_errors() {
        assert_eq!(
            find("  CC      fs/error.o\nSRC/fs/namespace.c:1:1: warning: unused\nnet/Kconfig:3: warning: x\n"),
            None
        );
    }

    #[test]
    fn the_excerpt_holds_the_lines_around_without_folder_names() {
        let found = find(
            "  CC      a.o\nSRC/fs/namespace.c: In function 'f':\nSRC/fs/namespace.c:9:1: error: no\n    9 | x\n  CC      b.o\n      | ^\n",
        );
        assert_eq!(
            found.unwrap().excerpt,
            ["fs/namespace.c: In function 'f':", "fs/namespace.c:9:1: error: no", "    9 | x", "      | ^"]
        );
    }

    #[test]
    fn progress_lines_name_what_is_made() {
        assert_eq!(progress("  CC      fs/namespace.o"), Some("fs/namespace.o"));
        assert_eq!(progress("  CC [M]  fs/x.o"), Some("fs/x.o"));
        assert_eq!(progress("  LD      vmlinux"), Some("vmlinux"));
        assert_eq!(progress("    9 | x"), None);
        assert_eq!(progress("Kernel: arch/x86/boot/bzImage is ready"), None);
    }
}
