//! A folder with a fake kernel tree, a fake QEMU, and results for it to give.

use std::fmt::Write;
use std::process::{Command, Stdio};

use camino::{Utf8Path, Utf8PathBuf};
use nspatch::arch::Arch;

/// The file that says what the fake QEMU makes of the image.
const FILE: &str = "ipc/namespace.c";

/// A change that makes unshare-ipc faster.
pub(super) const SPEEDS_UP: (&str, &str, &str) = (FILE, "speed=slow", "speed=fast");

/// The settings of the benchmarks that the streams answer, whatever the shipped ones are.
pub(super) const AS_STREAMED: [&str; 12] = [
    "--param",
    "unshare-ipc.operations=100",
    "--param",
    "unshare-ipc.repeats=3",
    "--param",
    "unshare-ipc.warmups=1",
    "--param",
    "setns-net.operations=100",
    "--param",
    "setns-net.repeats=3",
    "--param",
    "setns-net.warmups=1",
];

/// What makes the fake kernel behave; the fake QEMU reads it out of the image.
const BEHAVIOUR: &str = "
/* what the fake QEMU makes of it */
const char behaviour[] = \"\\n\"
	\"behave=good\\n\"
	\"speed=slow\\n\";
";

pub(super) struct Lab {
    _folder: tempfile::TempDir,
    pub(super) root: Utf8PathBuf,
}

pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

pub(super) fn native() -> Arch {
    Arch::all().find(|arch| arch.is_native()).unwrap()
}

fn here() -> &'static Utf8Path {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
}

impl Lab {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let lab = Lab { _folder: folder, root };
        copy(&here().join("tests/fakelinux"), &lab.root.join("linux"));
        let source = fs_err::read_to_string(lab.source()).unwrap();
        fs_err::write(lab.source(), source + BEHAVIOUR).unwrap();
        for folder in ["bin", "results", "project", "home"] {
            fs_err::create_dir(lab.root.join(folder)).unwrap();
        }
        for arch in Arch::all() {
            fs_err::os::unix::fs::symlink(here().join("tests/fakes/qemu-system"), lab.root.join("bin").join(arch.qemu))
                .unwrap();
        }
        share_guests(&lab.root.join("cache"));
        for seed in 1..=12 {
            for (speed, unshare_ns) in [("slow", 15_000_000), ("fast", 150_000), ("slower", 20_000_000)] {
                lab.write_stream(&format!("{speed}.{seed}"), &stream(seed, unshare_ns + seed));
            }
        }
        lab
    }

    fn source(&self) -> Utf8PathBuf {
        self.root.join("linux").join(FILE)
    }

    pub(super) fn write_stream(&self, name: &str, stream: &str) {
        fs_err::write(self.root.join("results").join(name), stream).unwrap();
    }

    /// What the second boot of the same gives.
    pub(super) fn stream_again(&self, speed: &str, seed: u64, unshare_ns: u64) {
        self.write_stream(&format!("{speed}.{seed}.again"), &stream(seed, unshare_ns));
    }

    /// Changes the tree itself.
    pub(super) fn edit(&self, from: &str, to: &str) {
        self.edit_in(FILE, from, to);
    }

    /// Changes one place in a file of the tree.
    pub(super) fn edit_in(&self, file: &str, from: &str, to: &str) {
        let path = self.root.join("linux").join(file);
        let source = fs_err::read_to_string(&path).unwrap();
        assert!(source.contains(from), "{from}");
        fs_err::write(path, source.replacen(from, to, 1)).unwrap();
    }

    /// A patch file that changes one text of the tree; gives its path.
    pub(super) fn patch(&self, from: &str, to: &str) -> String {
        self.patch_named("fix", from, to)
    }

    pub(super) fn patch_named(&self, name: &str, from: &str, to: &str) -> String {
        self.patch_of(name, &[(FILE, from, to)])
    }

    /// A patch file of a change that made the tree what it is: without it, `from` was `to`.
    pub(super) fn patch_in_tree(&self, from: &str, to: &str) -> String {
        let new = fs_err::read_to_string(self.source()).unwrap();
        assert!(new.contains(from), "{from}");
        let path = self.root.join("project/merged.patch");
        fs_err::write(&path, diff(FILE, &new.replacen(from, to, 1), &new)).unwrap();
        path.into_string()
    }

    /// A search path of all programs there are but QEMUs.
    pub(super) fn bare_path(&self) -> Utf8PathBuf {
        let bare = self.root.join("bare");
        fs_err::create_dir(&bare).unwrap();
        for folder in std::env::split_paths(&std::env::var_os("PATH").unwrap()).filter(|folder| folder.is_dir()) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = Utf8PathBuf::from_path_buf(entry.unwrap().path()).unwrap();
                let name = path.file_name().unwrap();
                // The first folder that has a program counts, as everywhere
                if !name.starts_with("qemu-") && bare.join(name).symlink_metadata().is_err() {
                    fs_err::os::unix::fs::symlink(&path, bare.join(name)).unwrap();
                }
            }
        }
        bare
    }

    /// A patch file of several changes, each in another file.
    pub(super) fn patch_of(&self, name: &str, changes: &[(&str, &str, &str)]) -> String {
        let path = self.root.join("project").join(format!("{name}.patch"));
        let of_file = |(file, from, to): &(&str, &str, &str)| {
            let old = fs_err::read_to_string(self.root.join("linux").join(file)).unwrap();
            assert!(old.contains(from), "{from}");
            diff(file, &old, &old.replacen(from, to, 1))
        };
        fs_err::write(&path, changes.iter().map(of_file).collect::<String>()).unwrap();
        path.into_string()
    }

    /// The arguments of `nspatch test` on the fake tree with a run folder of this name.
    pub(super) fn args<'a>(&self, out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let fixed = ["test", "--tree", "../linux", "--arch", native().name, "--bench", "unshare-ipc,setns-net"];
        [&fixed[..], &AS_STREAMED, &["--out", out], more].concat()
    }

    pub(super) fn test(&self, more: &[&str]) -> Ended {
        self.nspatch(&self.args("../run", more))
    }

    pub(super) fn nspatch(&self, args: &[&str]) -> Ended {
        let output = self.command(args).output().unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nspatch"));
        command
            .current_dir(self.root.join("project"))
            .env_clear()
            .env("PATH", format!("{}:{}", self.root.join("bin"), std::env::var("PATH").unwrap()))
            .env("HOME", self.root.join("home"))
            .env("NSPATCH_CACHE", self.root.join("cache"))
            .env("FAKE_QEMU_RESULTS", self.root.join("results"))
            .args(args)
            .stdin(Stdio::null());
        command
    }
}

/// The guest is the same for all. It is kept below `target`: compiling it takes longer than the rest.
fn share_guests(cache: &Utf8Path) {
    let guests = Utf8Path::new(env!("CARGO_TARGET_TMPDIR")).join("flow-guests");
    fs_err::create_dir_all(&guests).unwrap();
    fs_err::create_dir(cache).unwrap();
    fs_err::os::unix::fs::symlink(guests, cache.join("rootfs")).unwrap();
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in from.read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(entry.path(), &target);
        } else {
            fs_err::copy(entry.path(), target).unwrap();
        }
    }
}

/// A unified diff of one changed stretch with three lines of context.
fn diff(file: &str, old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let after = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (start, tail) = (before.saturating_sub(3), after.min(3));
    let (old_end, new_end) = (old.len() - after, new.len() - after);
    let (old_count, new_count) = (old_end + tail - start, new_end + tail - start);
    let mut text = format!("--- a/{file}\n+++ b/{file}\n");
    writeln!(text, "@@ -{},{old_count} +{},{new_count} @@", start + 1, start + 1).unwrap();
    for (sign, lines) in [
        (' ', &old[start..before]),
        ('-', &old[before..old_end]),
        ('+', &new[before..new_end]),
        (' ', &old[old_end..old_end + tail]),
    ] {
        lines.iter().for_each(|line| writeln!(text, "{sign}{line}").unwrap());
    }
    text
}

/// What a guest says that ran unshare-ipc and setns-net, in ns per operation.
pub(super) fn stream(seed: u64, unshare_ns: u64) -> String {
    let mut lines = facts(seed);
    for (name, ns) in [("unshare-ipc", unshare_ns), ("setns-net", 5_000 + seed)] {
        measured(&mut lines, name, seed, ns);
    }
    sealed(&(lines.join("\n") + "\n"))
}

/// What a guest says that ran one benchmark at several values of `n`, each with its ns per operation.
pub(super) fn swept(name: &str, seed: u64, values: &[(u64, u64)]) -> String {
    let mut lines = facts(seed);
    for (n, ns) in values {
        let from = lines.len();
        measured(&mut lines, name, seed, *ns);
        lines[from] = lines[from].replace("\"parameters\":{}", &format!("\"parameters\":{{\"n\":{n}}}"));
    }
    sealed(&(lines.join("\n") + "\n"))
}

/// As [`stream`], but unshare-ipc failed.
pub(super) fn failed(seed: u64) -> String {
    let mut lines = facts(seed);
    declared(&mut lines, "unshare-ipc", seed);
    lines.push(
        r#"{"failed":{"benchmark":"unshare-ipc","class":"enospc","call":"unshare","errno":28,"error":"No space left on device","detail":"operation 3 of repeat 1"}}"#
            .to_owned(),
    );
    measured(&mut lines, "setns-net", seed, 5_000 + seed);
    sealed(&(lines.join("\n") + "\n"))
}

fn facts(seed: u64) -> Vec<String> {
    let real = include_str!("../../fakes/qemu-results.jsonl");
    let mut lines: Vec<String> = real.lines().take(2).map(str::to_owned).collect();
    lines[1] = lines[1].replace(r#""seed":1}"#, &format!(r#""seed":{seed}}}"#));
    lines
}

fn declared(lines: &mut Vec<String>, name: &str, seed: u64) {
    lines.push(format!(
        r#"{{"benchmark":{{"name":"{name}","parameters":{{}},"operations":100,"repeats":3,"warmups":1,"seed":{seed}}}}}"#
    ));
}

fn measured(lines: &mut Vec<String>, name: &str, seed: u64, ns: u64) {
    declared(lines, name, seed);
    for index in 0..4 {
        let (warmup, elapsed) = (index == 0, 100 * ns + index);
        lines.push(format!(
            r#"{{"repeat":{{"benchmark":"{name}","index":{index},"warmup":{warmup},"operations":100,"elapsed_ns":{elapsed},"dither_ns":1000,"drain_ns":2000}}}}"#
        ));
    }
    lines.push(format!(
        r#"{{"done":{{"benchmark":"{name}","repeats":4,"drain":"ucount","mem_available_before_kib":1000,"mem_available_after_kib":1000}}}}"#
    ));
}

/// Records with a right end record after them.
pub(super) fn sealed(text: &str) -> String {
    let (records, crc) = (text.lines().count(), crc32fast::hash(text.as_bytes()));
    format!("{text}{{\"end\":{{\"records\":{records},\"crc32\":\"{crc:08x}\"}}}}\n")
}
