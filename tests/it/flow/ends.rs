//! Every class of failure: its exit code, its owner, and that it never looks like a verdict.

use super::lab::{Lab, failed, stream};

/// Runs a patch that makes the fake kernel behave so; gives exit code, output and what is told.
fn patched_kernel_does(behave: &str) -> super::lab::Ended {
    let lab = Lab::new();
    let patch = lab.patch("behave=good", &format!("behave={behave}"));
    lab.test(&["--patch", &patch])
}

#[test]
fn a_kernel_that_dies_on_one_side_is_a_failure_and_never_a_number() {
    let cases = [
        ("panic", 6, "panic"),
        ("panic-late", 6, "panic"),
        ("oops", 6, "oops"),
        ("splat", 6, "splat"),
        ("nothing", 6, "early exit"),
        ("reset", 6, "early exit"),
        ("crash", 6, "early exit"),
        ("no-end", 6, "no end record"),
        ("no-memory", 8, "memory"),
    ];
    for (behave, code, told) in cases {
        let ended = patched_kernel_does(behave);
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, code, "{behave}: {all}");
        assert!(all.contains(told), "{behave}: {all}");
        for verdict in ["improved", "regressed", "no difference"] {
            assert!(!ended.stdout.contains(verdict), "{behave}: {all}");
        }
    }
}

#[test]
fn a_patch_that_kills_the_kernel_is_to_blame_for_it() {
    let ended = patched_kernel_does("panic");
    assert!(ended.stdout.contains("owner: the patch"), "{}", ended.stdout);
    assert!(ended.stdout.contains("Kernel panic - not syncing"), "{}", ended.stdout);
}

#[test]
fn results_that_did_not_arrive_whole_are_lost_and_not_judged() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    for (name, spoil) in [
        ("a wrong number", stream(2, 150_000).replacen("150000", "150001", 1).replacen("15000001", "15000002", 1)),
        ("another seed's", stream(3, 150_000)),
    ] {
        lab.write_stream("fast.2", &spoil);
        let ended = lab.nspatch(&lab.args(&format!("../{name}"), &["--patch", &patch]));
        assert_eq!(ended.code, 7, "{name}: {}", ended.stdout);
        assert!(ended.stdout.contains("not comparable"), "{name}: {}", ended.stdout);
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
}

#[test]
fn an_old_qemu_and_a_missing_one_are_the_machine_s() {
    let lab = Lab::new();
    let patch = lab.patch("speed=slow", "speed=fast");
    let args = lab.args("../run", &["--patch", &patch]);
    let old = lab.command(&args).env("FAKE_QEMU_VERSION", "7.2.22").output().unwrap();
    let told = String::from_utf8(old.stderr).unwrap();
    assert_eq!(old.status.code(), Some(8), "{told}");
    assert!(told.contains("8.1"), "{told}");
}
