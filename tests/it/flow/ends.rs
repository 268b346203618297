//! Every class of failure: its exit code, its owner, and that it never looks like a verdict.

use super::lab::{Ended, Lab, failed, native, sealed, stream};

/// Whatever went wrong, it must not look like a verdict.
fn is_no_verdict(ended: &Ended, what: &str) {
    assert!(![0, 1].contains(&ended.code), "{what}: {}", ended.stdout);
    for verdict in ["improved", "regressed", "no difference", "changed"] {
        assert!(!ended.stdout.contains(verdict), "{what}: {}", ended.stdout);
    }
}

/// What a kernel may do, the exit code, and a word that tells it.
const DEATHS: [(&str, u8, &str); 11] = [
    ("panic", 6, "panic: Kernel panic - not syncing: No working init found."),
    ("panic-late", 6, "after the end record"),
    ("panic-and-spin", 6, "panic: "),
    ("oops", 6, "oops: BUG: kernel NULL pointer dereference"),
    ("splat", 6, "splat: WARNING: CPU: 0 PID: 1 at ipc/namespace.c:150"),
    ("nothing", 6, "early exit"),
    ("reset", 6, "early exit"),
    ("bad-image", 6, "without PVH ELF Note"),
    ("crash", 6, "signal 6"),
    ("no-end", 6, "no end record"),
    ("no-memory", 8, "memory"),
];

#[test]
fn a_patched_kernel_that_dies_is_a_failure_and_never_a_number() {
    let lab = Lab::new();
    for (behave, code, told) in DEATHS {
        let patch = lab.patch("behave=good", &format!("behave={behave}"));
        let ended = lab.nspatch(&lab.args(&format!("../{behave}"), &["--patch", &patch]));
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, i32::from(code), "{behave}: {all}");
        assert!(all.contains(told), "{behave}: {all}");
        is_no_verdict(&ended, behave);
    }
}

#[test]
fn nor_is_a_baseline_that_dies() {
    let lab = Lab::new();
    for (behave, code, told) in DEATHS {
        // It is in the tree, so the tree without it is the baseline
        let patch = lab.patch_in_tree("behave=good", &format!("behave={behave}"));
        let ended = lab.nspatch(&lab.args(&format!("../{behave}"), &["--patch", &patch]));
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, i32::from(code), "{behave}: {all}");
        assert!(all.contains(told), "{behave}: {all}");
        is_no_verdict(&ended, behave);
    }
}

#[test]
fn nor_is_a_tree_of_which_no_kernel_lives() {
    let lab = Lab::new();
    lab.edit("behave=good", "behave=oops");
    let ended = lab.test(&["--patch", &lab.patch("speed=slow", "speed=fast")]);
    assert_eq!((ended.code, ended.stdout.matches("\nfailed: ").count()), (6, 2), "{}", ended.stdout);
    is_no_verdict(&ended, "both");
    assert!(!ended.stdout.contains("owner: the patch"), "it dies without the patch as well: {}", ended.stdout);
}

#[test]
fn a_tree_that_does_not_compile_is_not_the_fault_of_a_patch_that_touches_the_same_file() {
    let lab = Lab::new();
    lab.edit("depth * NS_COST", "depht * NS_COST");
    let ended = lab.test(&["--patch", &lab.patch("speed=slow", "speed=fast")]);
    assert_eq!((ended.code, ended.stdout.matches("owner: the kernel tree").count()), (5, 2), "{}", ended.stdout);
    is_no_verdict(&ended, "no kernel");
}

#[test]
fn a_patch_that_kills_the_kernel_is_to_blame_for_it() {
    let lab = Lab::new();
    let ended = lab.test(&["--patch", &lab.patch("behave=good", "behave=panic")]);
    assert!(ended.stdout.contains("owner: the patch"), "{}", ended.stdout);
    assert!(ended.stdout.contains("Kernel panic - not syncing"), "{}", ended.stdout);
}

#[test]
fn results_that_did_not_arrive_whole_are_lost_and_not_judged() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let good = stream(2, 150_002);
    let line = |record: &str| good.lines().position(|line| line.contains(record)).unwrap();
    let without = |at: usize| {
        let lines = good.lines().enumerate().filter(|(place, _)| *place != at);
        lines.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    let spoilt = [
        ("a wrong number", good.replacen("15000201", "15000101", 1), 7),
        ("another sum", good.replace("\"crc32\":\"", "\"crc32\":\"0").replacen("0\"}}", "\"}}", 1), 7),
        ("a missing repeat", without(line("\"index\":2")), 7),
        ("a missing sum", without(good.lines().count() - 1), 6),
        ("nothing", String::new(), 6),
        ("half of it", good[..good.len() / 2].to_owned(), 6),
        ("all of it twice", good.repeat(2), 7),
        ("another seed's", stream(3, 150_000), 7),
        ("another benchmark's", sealed(&without(good.lines().count() - 1).replace("setns-net", "exit-ipc")), 7),
        ("another protocol", sealed(&without(good.lines().count() - 1).replace("protocol\":1", "protocol\":2")), 7),
        ("no time", sealed(&without(good.lines().count() - 1).replacen(":15000201,", ":0,", 1)), 7),
    ];
    for (name, spoil, code) in spoilt {
        assert_ne!(spoil, good, "{name}");
        lab.write_stream("fast.2", &spoil);
        let ended = lab.nspatch(&lab.args(&format!("../{name}"), &["--patch", &patch]));
        assert_eq!(ended.code, code, "{name}: {}", ended.stdout);
        assert!(ended.stdout.contains("not comparable"), "{name}: {}", ended.stdout);
        is_no_verdict(&ended, name);
    }
}

#[test]
fn a_benchmark_that_failed_in_the_guest_is_told_and_spoils_no_other() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    for seed in 1..=3 {
        lab.write_stream(&format!("fast.{seed}"), &failed(seed));
    }
    let ended = lab.test(&["--patch", &patch]);
    assert_eq!(ended.code, 7, "{}", ended.stdout);
    assert_eq!(ended.stdout.matches("No space left on device").count(), 1, "once, not for each seed: {}", ended.stdout);
    let line = |name: &str| ended.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap().to_owned();
    assert!(line("unshare-ipc").contains("not comparable"), "{}", ended.stdout);
    assert!(line("setns-net").contains("no difference within 1 %"), "{}", ended.stdout);
}

#[test]
fn a_patch_that_conflicts_names_file_and_hunk() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    lab.edit("speed=slow", "speed=slower");
    let ended = lab.test(&["--patch", &patch]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert!(ended.stdout.contains("ipc/namespace.c") && ended.stdout.contains("hunk 1"), "{}", ended.stdout);
}

#[test]
fn what_the_user_got_wrong_ends_with_2_and_says_what_would_be_right() {
    let lab = Lab::new();
    let folder = lab.root.join("project/patches/mine");
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::write(folder.join("original.patch"), fs_err::read(lab.patch("speed=slow", "speed=fast")).unwrap()).unwrap();
    fs_err::write(folder.join("patch.yaml"), "title: mine\nautor: { name: A }\n").unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["test", "--tree", "debain:6.12"], "debian:6.12"),
        (&["test", "--tree", "../results"], "Makefile"),
        (&["test", "--tree", "../linux", "--patch", "ipc-free-workqueue"], "did you mean `ipc-free-work-queue`"),
        (&["test", "--tree", "../linux", "--patch", "mine"], "patch.yaml:2"),
        (&["test", "--tree", "../linux", "--arch", "arm46"], "did you mean `arm64`"),
        (&["test", "--tree", "../linux", "--bench", "unshare-ipcs"], "unshare-ipc"),
        (&["test", "--tree", "../linux", "--param", "unshare-ipc.m=3"], "`m`"),
    ];
    for (args, told) in cases {
        let args =
            [args, &["--patch", "ipc-free-work-queue"][..if args.contains(&"--patch") { 0 } else { 2 }]].concat();
        let ended = lab.nspatch(&args);
        assert_eq!(ended.code, 2, "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(told), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_patch_that_cannot_be_read_says_where_and_nothing_is_built() {
    let lab = Lab::new();
    let diff = fs_err::read_to_string(lab.patch("speed=slow", "speed=fast")).unwrap();
    let mail = |subject: &str| format!("From: A. Author <a@example.org>\nSubject: {subject}\n\nwhy\n---\n{diff}");
    let cut: String = diff.lines().take(6).map(|line| format!("{line}\n")).collect();
    let cases = [
        ("prose.patch", "no diff at all\n".to_owned(), 3, "owner: the patch"),
        ("cut.patch", cut, 3, "owner: the patch"),
        ("wrapped.patch", diff.replacen("\n-", "\n-\n", 1), 3, "owner: the patch"),
        ("gap.eml", mail("[PATCH 2/3] ns: less"), 2, "owner: the command"),
        ("gone.patch", String::new(), 2, "owner: the command"),
    ];
    for (name, text, code, owner) in cases {
        if name != "gone.patch" {
            fs_err::write(lab.root.join("project").join(name), text).unwrap();
        }
        let ended = lab.test(&["--patch", name]);
        assert_eq!(ended.code, code, "{name}: {}", ended.stderr);
        assert!(ended.stderr.contains(owner) && ended.stderr.contains(name), "{name}: {}", ended.stderr);
        is_no_verdict(&ended, name);
        assert!(!lab.root.join("cache/images").exists(), "{name}: nothing is built");
    }
}

#[test]
fn a_configuration_step_that_fails_is_the_tree_s() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let args = lab.args("../run", &["--patch", &patch]);
    let output = lab.command(&args).env("FAIL", "config").output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("owner: the kernel tree"), "{told}");
}

#[test]
fn a_machine_that_lacks_something_stops_the_run_and_blames_no_kernel() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let args = lab.args("../run", &["--patch", &patch]);
    for (name, value, told) in
        [("FAIL", "space", "no space is left"), ("FAKE_QEMU_BEHAVE", "no-memory", "Cannot allocate memory")]
    {
        let output = lab.command(&args).env(name, value).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(8), "{value}: {said}");
        assert!(said.contains(told) && said.contains("owner: this machine"), "{value}: {said}");
        assert_eq!(lab.nspatch(&["report", "../run"]).code, 8, "{value}");
    }
}

#[test]
fn a_symbol_that_the_tree_lacks_stops_before_the_build() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let kconfigs = lab.root.join("project/kconfigs");
    fs_err::create_dir_all(&kconfigs).unwrap();
    fs_err::write(kconfigs.join("base.config"), "CONFIG_IPC_NSS=y\n").unwrap();
    let ended = lab.test(&["--patch", &patch]);
    let all = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, 4, "{all}");
    assert!(all.contains("IPC_NSS") && all.contains("base.config:1"), "{all}");
    assert!(all.contains("owner: the command"), "the fragment is the project's own: {all}");
}

#[test]
fn an_old_qemu_and_a_missing_one_are_the_machine_s() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let args = lab.args("../run", &["--patch", &patch]);
    let run = |name: &str, value: &str| {
        let output = lab.command(&args).env(name, value).output().unwrap();
        assert_eq!(output.status.code(), Some(8), "{name}");
        String::from_utf8(output.stderr).unwrap()
    };
    let old = run("FAKE_QEMU_VERSION", "7.2.22");
    assert!(old.contains("7.2.22") && old.contains("8.1"), "{old}");
    let missing = run("PATH", lab.bare_path().as_str());
    assert!(missing.contains(native().qemu) && missing.contains("owner: this machine"), "{missing}");
    assert!(!lab.root.join("run").exists(), "nothing was begun");
}
