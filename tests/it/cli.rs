//! The program as it is called: exit codes, what goes where, and how it stands up to bad input.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use assert_cmd::assert::OutputAssertExt;
use assert_cmd::cargo::cargo_bin;

/// A folder to call the program in, with a cache, a home and programs of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["bin", "home", "project"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program in the only folder of PATH: a shell script that says or does this.
    fn program(&self, name: &str, script: &str) -> &Self {
        let file = self.path("bin").join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin("nspatch"));
        command
            .args(args)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("HOME", self.path("home"))
            .env("NSPATCH_CACHE", self.path("cache"))
            .current_dir(self.path("project"));
        command
    }

    /// Exit code, standard output, standard error.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = self.command(args).assert().get_output().clone();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn help_is_data_and_names_every_subcommand() {
    let (code, out, err) = Place::new().run(&["--help"]);
    assert_eq!((code, err.as_str()), (0, ""));
    for word in ["test", "shell", "add", "report", "list", "doctor", "trees", "clean", "Exit codes:"] {
        assert!(out.contains(word), "{word} is missing in\n{out}");
    }
}

#[test]
fn wrong_usage_is_told_on_standard_error_with_code_2() {
    let cases: [(&[&str], &str); 20] = [
        (&[], "Usage"),
        (&["tset"], "'test'"),
        (&["test", "--arch", "arm46"], "hint: did you mean `arm64`?"),
        (&["test", "--param", "n=8"], "BENCH.NAME=NUMBER"),
        (&["test", "--seeds", "0"], "--seeds"),
        (&["test", "--threshold", "NaN"], "--threshold"),
        (&["shell", "--variant", "patch"], "patched"),
        (&["shell", "--patch", "-"], "standard input is for the guest"),
        (&["list", "--project", "no/such"], "no folder `no/such`"),
        (&["report", "no/such/run"], "`no/such/run` is no run folder"),
        (&["clean", "--cache", ".."], "was not made by nspatch"),
        (&["test", "--out", ""], "the name of the run folder is empty"),
        (&["test", "--out", "file"], "the run folder has to be a folder, and `file` is none"),
        (&["test", "--out", "file/below"], "the run folder has to be a folder, and `file` is none"),
        (&["test", "--cache", "file"], "the cache has to be a folder, and `file` is none"),
        (&["test", "--cache", ""], "the name of the cache's folder is empty"),
        (&["test", "--tree", ".", "--tree", "../project"], "the tree `../project` is given twice"),
        (&["test", "--tree", "mainline", "--tree", "mainline"], "the tree `mainline` is given twice"),
        (&["test", "--bench", "setns-net", "--param", "unshare-ipc.repeats=3"], "--bench setns-net,unshare-ipc"),
        (&["test", "--param", "setns-net.repeats=3", "--param", "setns-net.repeats=4"], "is given twice"),
    ];
    for (args, said) in cases {
        let place = Place::new();
        std::fs::write(place.path("project/file"), "").unwrap();
        let (code, out, err) = place.run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}\n{err}");
        assert!(err.contains(said), "{args:?}: `{said}` is missing in\n{err}");
    }
}

#[test]
fn the_list_says_what_is_shipped_and_what_the_project_has() {
    let place = Place::new();
    std::fs::create_dir(place.path("project/kconfigs")).unwrap();
    std::fs::write(place.path("project/kconfigs/base.config"), "CONFIG_MINE=y\n").unwrap();
    let (code, out, _) = place.run(&["list"]);
    assert_eq!(code, 0);
    for words in [["arm64.config", "shipped"], ["base.config", "./kconfigs/base.config"], ["setns-net", "shipped"]] {
        let line = out.lines().find(|line| line.starts_with(words[0])).unwrap_or_else(|| panic!("{words:?}\n{out}"));
        assert!(line.ends_with(words[1]), "{line}");
    }
    let (_, json, _) = place.run(&["list", "architectures", "--format", "json"]);
    let items: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(items[1]["name"], "arm64");
}

/// A made-up mail.
const MAIL: &str = "From: A. Author <author@example.org>\nSubject: [PATCH v2] soup: stir less\nDate: Sat, 1 May 2021 10:00:00 +0000\nMessage-ID: <stir@example.org>\n\nIt is quicker.\n---\n--- a/kitchen/soup.c\n+++ b/kitchen/soup.c\n@@ -1 +1 @@\n-stir();\n+wait();\n";

#[test]
fn a_mail_becomes_a_folder_that_says_what_is_missing() {
    let place = Place::new();
    std::fs::write(place.path("project/fix.eml"), MAIL).unwrap();
    let (code, out, err) = place.run(&["add", "fix.eml"]);
    assert_eq!((code, out.as_str()), (0, "./patches/soup-stir-less\n"), "{err}");
    let folder = place.path("project/patches/soup-stir-less");
    assert_eq!(std::fs::read_to_string(folder.join("original.patch")).unwrap(), MAIL);
    let yaml = std::fs::read_to_string(folder.join("patch.yaml")).unwrap();
    for line in [
        r#"title: "soup: stir less""#,
        r#"author: { name: "A. Author", email: "author@example.org" }"#,
        r#"  message_id: "stir@example.org""#,
        r#"  link: "https://lore.kernel.org/all/stir@example.org/""#,
        r#"  posted: "2021-05-01""#,
        "#   kitchen/soup.c",
    ] {
        assert!(yaml.lines().any(|there| there == line), "`{line}` is missing in\n{yaml}");
    }

    let (code, out, _) = place.run(&["list", "patches"]);
    assert!(code == 0 && out.contains("soup: stir less (to be filled in: base, fate.outcome, benchmarks)"), "{out}");
    let (code, _, err) = place.run(&["add", "fix.eml"]);
    assert_eq!((code, err.contains("there is a patch or a folder `soup-stir-less` already")), (2, true), "{err}");
    assert_eq!(place.run(&["add", "fix.eml", "--name", "other"]).0, 0);

    let yaml = yaml.replace("base: FILL-IN", "base: \"5.12\"").replace("outcome: FILL-IN", "outcome: merged");
    std::fs::write(folder.join("patch.yaml"), yaml.replace("[FILL-IN]", "[unshare-ipc]")).unwrap();
    std::fs::remove_dir_all(place.path("project/patches/other")).unwrap();
    let (code, out, err) = place.run(&["list", "patches"]);
    assert!(code == 0 && out.contains("soup: stir less  "), "{out}{err}");
}

#[test]
fn what_is_no_patch_is_refused_at_once() {
    let place = Place::new();
    let project = place.path("project");
    std::fs::File::create(project.join("huge")).unwrap().set_len(300 << 20).unwrap();
    std::fs::write(project.join("binary"), b"\x7fELF\0\0").unwrap();
    std::fs::write(project.join("prose"), "hello\n").unwrap();
    std::fs::write(
        project.join("twice.mbox"),
        MAIL.to_owned() + "\nFrom a Thu Jan  1 00:00:00 1970\n" + &MAIL.replace("less", "more"),
    )
    .unwrap();
    assert!(Command::new("mkfifo").arg(project.join("pipe")).status().unwrap().success());
    let cases = [
        ("/dev/zero", 2, "is a device or a pipe"),
        ("pipe", 2, "is a device or a pipe"),
        ("huge", 2, "it has 300 MiB; a patch or a mailbox has at most 64 MiB"),
        ("binary", 2, "line 1 holds a NUL byte"),
        ("prose", 3, "there is no diff in it"),
        ("twice.mbox", 2, "there are 2 different patches in it"),
        ("gone.patch", 2, "there is no file or folder gone.patch"),
        ("https://lists.example.org/about", 2, "is no address of a mail"),
        ("twice.mbox@v9", 2, "there are 2 different patches in it"),
    ];
    for (name, expected, said) in cases {
        let (code, out, err) = place.run(&["add", name]);
        assert_eq!((code, out.as_str()), (expected, ""), "{name}: {err}");
        assert!(err.contains(said), "{name}: `{said}` is missing in\n{err}");
    }
    assert!(!project.join("patches").exists());
}

#[test]
fn strangers_in_the_project_s_folders_stop_nothing() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let own = place.path("project");
    for folder in ["patches/quilt", "images"] {
        std::fs::create_dir_all(own.join(folder)).unwrap();
    }
    std::fs::write(own.join("patches/quilt/series"), "a.patch\n").unwrap();
    std::fs::write(own.join("patches/series"), "a.patch\n").unwrap();
    std::fs::write(own.join("images").join(std::ffi::OsStr::from_bytes(b"run\xe4.c~")), "").unwrap();
    let (code, out, err) = place.run(&["list"]);
    assert!(code == 0 && out.contains("ipc-free-work-queue"), "{out}\n{err}");
    assert!(err.contains("patches/quilt is passed over: it has no patch.yaml"), "{err}");
    assert!(err.contains("is passed over: its name is not UTF-8"), "{err}");
    assert_eq!(err.lines().count(), 2, "{err}");
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    let mut child = Place::new().command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}

/// A machine with an old QEMU, a compiler that knows no headers, and little else.
fn poor_machine() -> Place {
    let place = Place::new();
    let gcc = "case $1 in -dumpfullversion) echo 12.2.0;; *) echo 'x.c:1: fatal error: gelf.h: No such file or directory' >&2; exit 1;; esac";
    place
        .program("gcc", gcc)
        .program("make", "echo GNU Make 3.81")
        .program("git", "echo git version 2.47.3")
        .program("qemu-system-x86_64", "echo 'QEMU emulator version 7.2.19 (Debian 1:7.2+dfsg-7)'")
        .program("qemu-system-aarch64", "exit 127");
    place
}

#[test]
fn the_doctor_tells_missing_from_old_and_from_broken() {
    let (code, out, _) = poor_machine().run(&["doctor"]);
    assert_eq!(code, 8, "{out}");
    for line in [
        "ok         gcc                     12.2.0",
        "TOO OLD    make                    3.81, needs 4.0",
        "MISSING    flex",
        "MISSING    libelf",
        "fatal error: gelf.h",
        "TOO OLD    qemu-system-x86_64      7.2.19, needs 8.1",
        "before 8.1 the second CPU starves on the virtual clock",
        "`qemu-system-aarch64` ended with status 127",
    ] {
        assert!(out.contains(line), "`{line}` is missing in\n{out}");
    }
}

#[test]
fn the_doctor_s_findings_are_data_too() {
    let (code, out, _) = poor_machine().run(&["doctor", "--arch", "x86_64", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    let named = |name: &str| found["findings"].as_array().unwrap().iter().find(|it| it["name"] == name).cloned();
    assert_eq!(code, 8);
    assert_eq!(named("qemu-system-x86_64").unwrap()["state"], "too-old");
    assert_eq!(named("bison").unwrap()["state"], "missing");
    assert_eq!(named("ccache").unwrap()["required"], false);
    assert_eq!(named("qemu-system-aarch64"), None);
}

/// Every program of an installation, each of which only tells the file `done` how it was called.
fn installer(place: &Place) {
    let done = place.path("done");
    for name in ["env", "apt-get", "tee"] {
        place.program(name, &format!("echo {name} \"$@\" >> '{}'", done.display()));
    }
    place.program("sudo", "shift; \"$@\"");
}

#[test]
fn an_installation_is_told_in_plain_lines_and_looked_at_again() {
    let place = poor_machine();
    installer(&place);
    let (code, out, err) = place.run(&["doctor", "--install"]);
    // Nothing came of it, and the doctor sees that
    assert_eq!(code, 8, "{out}\n{err}");
    if out.is_empty() {
        assert!(err.contains("nspatch installs packages only with apt"), "{err}");
        return;
    }
    let done = std::fs::read_to_string(place.path("done")).unwrap();
    assert!(done.contains("apt-get update"), "{done}");
    let install = done.lines().find(|line| line.contains(" install ")).unwrap();
    for word in ["DEBIAN_FRONTEND=noninteractive", "--no-install-recommends", "DPkg::Lock::Timeout=300", "libelf-dev"] {
        assert!(install.contains(word), "`{word}` is missing in {install}");
    }
    assert!(err.contains("note: running: ") && err.contains("setup apt-get install: done in "), "{err}");
    assert!(out.contains("MISSING    flex"), "{out}");
}

#[test]
fn a_run_stops_before_its_first_step_where_something_is_missing() {
    let (code, out, err) = poor_machine().run(&["test", "--arch", "x86_64", "--quiet"]);
    assert_eq!((code, out.as_str()), (8, ""), "{err}");
    assert!(err.starts_with("error: this machine lacks make, flex, bison, bc, perl, libelf"), "{err}");
    assert!(err.contains("owner: this machine"), "{err}");
}

#[test]
fn the_cache_is_shown_and_emptied_on_request() {
    let place = Place::new();
    let (code, out, _) = place.run(&["trees"]);
    assert_eq!((code, out.lines().last().unwrap()), (0, "total    0 B"));
    assert_eq!(place.run(&["clean"]), (0, "removed 0 B\n".to_owned(), String::new()));
    assert!(!place.path("cache").exists(), "looking makes nothing");

    let cache = nspatch::store::Cache::open(place.path("cache").as_path().try_into().unwrap()).unwrap();
    let mut file = std::fs::File::create(cache.folder("images").unwrap().join("one")).unwrap();
    file.write_all(&[1; 8192]).unwrap();
    file.sync_all().unwrap();
    for folder in ["trees/tar-1", "trees/tar-2"] {
        cache.folder(folder).unwrap();
    }
    let used = "[{ \"name\": \"debian:6.12\", \"version\": \"6.12.3\", \"commit\": \"1\", \"origin\": \"a package\", \"used\": \"2026-01-02T03:04:05Z\" }]";
    std::fs::write(place.path("cache/trees/tar-1/uses.json"), used).unwrap();

    let (_, out, _) = place.run(&["trees"]);
    let line =
        |start: &str| out.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}\n{out}"));
    assert!(
        line("debian:6.12 ").contains("6.12.3") && line("debian:6.12 ").ends_with("2026-01-02  a package"),
        "{out}"
    );
    assert!(line("images ").ends_with("KiB") && line("trees/tar-2 ").ends_with("KiB"), "{out}");
    let (_, json, _) = place.run(&["trees", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["cached"][0]["trees"][0]["name"], "debian:6.12");
    assert!(
        found["other"]["images"].as_u64().unwrap() >= 8192
            && found["bytes"].as_u64() > found["other"]["images"].as_u64()
    );

    let (code, _, err) = place.run(&["clean", "images"]);
    assert_eq!((code, err.contains("another nspatch uses the cache")), (8, true), "{err}");
    drop(cache);
    let (code, _, err) = place.run(&["clean", "image"]);
    assert_eq!((code, err.contains("did you mean `images`?")), (2, true), "{err}");
    let (code, out, _) = place.run(&["clean", "images", "debian:6.12"]);
    assert!(code == 0 && out.contains("KiB"), "{out}");
    let left = |name: &str| place.path("cache").join(name).exists();
    assert_eq!(["images", "trees/tar-1", "trees/tar-2"].map(left), [false, false, true]);
    assert_eq!(place.run(&["clean"]).0, 0);
    assert!(!left("trees") && left("CACHEDIR.TAG"));
}

#[test]
fn trees_have_the_addresses_of_the_user_and_before_them_those_of_the_project() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("home/.config/nspatch")).unwrap();
    let user = "- { name: mainline, address: 'https://user.example.org/linux.git' }\n- { name: mine, address: 'https://user.example.org/mine.git' }\n";
    std::fs::write(place.path("home/.config/nspatch/trees.yaml"), user).unwrap();
    std::fs::write(
        place.path("project/trees.yaml"),
        "- { name: mine, address: 'https://project.example.org/mine.git' }\n",
    )
    .unwrap();
    let (_, out, _) = place.run(&["trees"]);
    for (name, parts) in [
        ("mainline ", ["refs/heads/master", "https://user.example.org/linux.git", "/.config/nspatch/trees.yaml"]),
        ("mine ", ["HEAD", "https://project.example.org/mine.git", "./trees.yaml"]),
        ("VERSION.y ", ["refs/heads/linux-VERSION.y", "stable/linux.git", "shipped"]),
    ] {
        let lines: Vec<_> = out.lines().filter(|line| line.starts_with(name)).collect();
        assert!(lines.len() == 1 && parts.iter().all(|part| lines[0].contains(part)), "{name}\n{out}");
    }
    assert!(place.run(&["list", "trees"]).1.contains("https://project.example.org/mine.git"));
    std::fs::write(place.path("project/trees.yaml"), "- { name: mine }\n").unwrap();
    let (code, _, err) = place.run(&["test", "--tree", "mine"]);
    assert!(code == 2 && err.contains("where: ./trees.yaml") && err.contains("missing field `address`"), "{err}");
}

#[test]
fn a_full_standard_output_is_told_as_such() {
    let place = Place::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = place.command(&["list"]).stdout(full).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(8), "{err}");
    assert!(err.contains("where: standard output") && !err.contains("cache"), "{err}");
}

#[test]
fn a_missing_folder_for_temporary_files_is_named() {
    let place = poor_machine();
    let output = place.command(&["doctor"]).env("TMPDIR", place.path("no/such")).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(8), "{err}");
    assert!(
        err.contains("no temporary file can be made") && err.contains("no/such") && err.contains("TMPDIR"),
        "{err}"
    );
}
