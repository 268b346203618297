//! The real thing: Debian's 6.12 source, built by real compilers, booted by real QEMUs.
//!
//! One cache serves all tests here, and they run one after the other: builds use every CPU. The
//! cache is kept below `target`, so that a second `cargo test` only boots.

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use nspatch::apply::{self, Fit, State};
use nspatch::catalogue::Catalogue;
use nspatch::job::Job;
use nspatch::store::Cache;
use nspatch::{source, tree};
use serde_json::Value;

use crate::benchmarks;

const TREE: &str = "debian:6.12";
const PATCH: &str = "ipc-free-work-queue";

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cache() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_TARGET_TMPDIR")).join("e2e-cache")
}

/// An empty project folder, so that what is shipped inside the program is what gets used.
fn elsewhere() -> (tempfile::TempDir, Utf8PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    (folder, path)
}

fn nspatch(folder: &Utf8Path, args: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nspatch"));
    command.current_dir(folder).env("NSPATCH_CACHE", cache()).args(args).stderr(Stdio::inherit());
    let output = command.output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).unwrap())
}

fn test_json(folder: &Utf8Path, more: &[&str]) -> Value {
    test_all_json(folder, &[&["--patch", PATCH], more].concat())
}

/// As [`test_json`], with all patches that are shipped unless some are named.
fn test_all_json(folder: &Utf8Path, more: &[&str]) -> Value {
    let args = ["test", "--tree", TREE, "--format", "json", "--progress", "lines"];
    let (code, stdout) = nspatch(folder, &[&args[..], more].concat());
    let run: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}, exit code {code}"));
    assert_eq!(u64::from(exit_code(&run)), u64::try_from(code).unwrap(), "{run}");
    run
}

fn exit_code(run: &Value) -> u8 {
    nspatch::report::exit_code(&nspatch::report::read(&run.to_string()).unwrap())
}

fn row<'a>(run: &'a Value, benchmark: &str) -> &'a Value {
    run["rows"].as_array().unwrap().iter().find(|row| row["benchmark"] == benchmark).unwrap()
}

/// Everything that the guest measured, without what was concluded from it.
fn samples(run: &Value) -> Vec<[&Value; 3]> {
    let rows = run["rows"].as_array().unwrap();
    rows.iter().map(|row| [&row["benchmark"], &row["baseline"]["samples"], &row["candidate"]["samples"]]).collect()
}

/// Other work on every CPU, for as long as this lives.
struct Load(Vec<Child>);

impl Load {
    fn on_every_cpu() -> Self {
        let cpus = std::thread::available_parallelism().unwrap().get();
        let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Load((0..cpus).map(|_| busy()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn the_mail_s_claim_holds_and_repeats(arch: &str) {
    let _alone = alone();
    let (_folder, folder) = elsewhere();
    let first = test_json(&folder, &["--arch", arch, "--out", "first"]);
    assert_eq!(first["failures"].as_array().unwrap().len(), 0, "{first}");
    assert!(first["comparisons"][0]["state"].as_str().unwrap().starts_with("already upstream"), "{first}");

    let unshare = row(&first, "unshare-ipc");
    assert_eq!(unshare["baseline"]["variant"], "reversed");
    assert_eq!(unshare["candidate"]["variant"], "base");
    assert_eq!(unshare["verdict"], "improved", "{unshare}");
    assert!(unshare["ratio"]["estimate"].as_f64().unwrap() < 1.0 / 50.0, "{}", unshare["ratio"]);
    let untouched = row(&first, "setns-net");
    assert_eq!(untouched["verdict"], "no-difference", "{untouched}");
    assert_eq!(untouched["threshold"], 0.01);

    let load = Load::on_every_cpu();
    let second = test_json(&folder, &["--arch", arch, "--out", "second"]);
    drop(load);
    assert_eq!(samples(&first), samples(&second), "the virtual clock gives the same samples, loaded or not");

    let (code, again) = nspatch(&folder, &["report", "first", "--format", "json"]);
    assert_eq!((code, serde_json::from_str::<Value>(&again).unwrap()), (exit_code(&first).into(), first));
}

#[test]
fn on_x86_64_unshare_ipc_is_50_times_slower_without_the_patch_and_setns_net_is_not() {
    the_mail_s_claim_holds_and_repeats("x86_64");
}

#[test]
fn on_arm64_unshare_ipc_is_50_times_slower_without_the_patch_and_setns_net_is_not() {
    the_mail_s_claim_holds_and_repeats("arm64");
}

/// The benchmark of each patch's own mail.
const OWN: [(&str, &str); 5] = [
    ("exit-task-namespaces", "exit-ipc"),
    ("umount-tree-one-by-one", "umount-propagated"),
    ("ipc-free-work-queue", "unshare-ipc"),
    ("setns-reuse-nsproxy", "setns-net"),
    ("kern-unmount-async", "unshare-user-ipc-mnt"),
];

fn ns(row: &Value, side: &str) -> f64 {
    row[side]["ns_per_operation"].as_f64().unwrap()
}

#[test]
fn every_stall_would_be_noticed_if_it_came_back() {
    let _alone = alone();
    let (_folder, folder) = elsewhere();
    let run = test_all_json(&folder, &["--out", "all"]);
    assert_eq!(run["failures"].as_array().unwrap().len(), 0, "{}", run["failures"]);
    let rows = run["rows"].as_array().unwrap();
    for (patch, benchmark) in OWN {
        let own: Vec<_> = rows.iter().filter(|row| row["patch"] == patch && row["benchmark"] == benchmark).collect();
        assert_eq!(own.len(), 2, "{patch}: one row for each architecture");
        for row in own {
            let without = if patch == PATCH { "reversed" } else { "control" };
            assert_eq!(row["baseline"]["variant"], without, "{patch}");
            assert_eq!(
                (&row["verdict"], &row["shows"]),
                (&"improved".into(), &true.into()),
                "{patch}: {}",
                row["ratio"]
            );
            assert!(row["ratio"]["estimate"].as_f64().unwrap() < 0.1, "{patch}: {}", row["ratio"]);
        }
    }
    // Two patches against one stall have one control, and so one image
    let image = |patch: &str| {
        let of = |one: &&Value| one["patch"] == patch && one["arch"] == "x86_64";
        run["comparisons"].as_array().unwrap().iter().find(of).unwrap()["baseline"]["image_sha256"].clone()
    };
    assert_eq!(image("exit-task-namespaces"), image("setns-reuse-nsproxy"));

    // Each step of n doubles the mounts, and with the control the time grows with the square of them
    let sweep =
        ["--patch", "umount-tree-one-by-one", "--bench", "umount-propagated", "--arch", "x86_64", "--seeds", "1"];
    let more = ["--sweep", "umount-propagated.n=6,8,10", "--out", "sweep"];
    let swept = test_all_json(&folder, &[&sweep[..], &more].concat());
    let laws = |side: &str| swept["growths"][0][side]["laws"].clone();
    assert_eq!([laws("baseline"), laws("candidate")], [["four-to-the"], ["two-to-the"]].map(Value::from_iter));
}

/// In real time, on whatever runs guests here: KVM, or TCG where the probe says that KVM runs none.
#[test]
fn on_the_wall_clock_the_stall_is_seen_as_well() {
    let _alone = alone();
    let (_folder, folder) = elsewhere();
    let native = nspatch::arch::Arch::all().find(|arch| arch.is_native()).unwrap().name;
    let lean = ["--arch", native, "--bench", "unshare-ipc", "--clock", "wall", "--seeds", "4", "--out", "wall"];
    let run = test_json(&folder, &lean);
    assert_eq!(run["failures"].as_array().unwrap().len(), 0, "{}", run["failures"]);
    let row = row(&run, "unshare-ipc");
    assert_eq!(
        (&row["verdict"], &row["clock"], &row["pairs"]),
        (&"improved".into(), &"wall".into(), &4.into()),
        "{row}"
    );
    let compared = &run["comparisons"][0];
    assert!(["kvm", "tcg"].map(Value::from).contains(&compared["accelerator"]), "{compared}");
    assert!(compared["surroundings"]["most_load"].is_number() && run["host"]["cpu"].is_string(), "{compared}");
}

/// The kernels of the tests above, and a guest with one benchmark more.
#[test]
fn the_example_of_the_page_on_benchmarks_is_measured_and_does_not_feel_what_it_should_not() {
    let _alone = alone();
    let (_folder, folder) = elsewhere();
    benchmarks::example(&folder);
    let run = test_json(&folder, &["--arch", "x86_64", "--bench", benchmarks::EXAMPLE, "--out", "example"]);
    assert_eq!(run["failures"].as_array().unwrap().len(), 0, "{}", run["failures"]);
    let row = row(&run, benchmarks::EXAMPLE);
    assert_eq!((&row["verdict"], &row["shows"]), (&"no-difference".into(), &false.into()), "{row}");
    // It copies 16 mounts and more each time
    assert!(ns(row, "candidate") > 20_000.0, "{row}");
}

/// A function grows that no benchmark calls, which moves all code behind it and shifts what runs in the background against the
/// ticks; and a path of some 2,850 instructions gets three more.
#[test]
fn an_innocent_twin_does_not_differ_and_three_instructions_more_are_seen() {
    let _alone = alone();
    let (_folder, folder) = elsewhere();
    let patches = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/patches");
    let [innocent, nops] = ["innocent.patch", "three-nops.patch"].map(|name| patches.join(name).into_string());
    let twins = test_all_json(&folder, &["--patch", &innocent, "--out", "twins"]);
    assert_eq!(twins["failures"].as_array().unwrap().len(), 0, "{}", twins["failures"]);
    let rows = twins["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 10);
    for row in rows {
        assert_eq!(row["verdict"], "no-difference", "{} {} {}", row["arch"], row["benchmark"], row["ratio"]);
    }
    let longer = test_all_json(&folder, &["--patch", &nops, "--bench", "setns-net", "--out", "nops"]);
    let rows = longer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(row["pairs"], 3, "{row}");
        let end = |name: &str| row["ratio"][name].as_f64().unwrap();
        assert!(1.0 < end("low") && end("high") < 1.003, "{}: {}", row["arch"], row["ratio"]);
    }
}

#[test]
fn an_image_built_again_from_nothing_in_another_checkout_is_the_same_and_differs_from_itself_in_nothing() {
    let _alone = alone();
    let (_folder, folder) = elsewhere();
    let lean = ["--arch", "x86_64", "--bench", "setns-net", "--seeds", "1"];
    let before = test_json(&folder, &[&lean[..], &["--out", "before"]].concat());
    // As if another run held the first checkouts, and the images had never been built
    let slots = slots();
    let held: Vec<_> = slots.iter().map(|slot| hold(&slot.join("lock"))).collect();
    fs_err::rename(cache().join("images"), cache().join("images.before")).unwrap();
    // Without this the compiler would hardly run
    let mut command = Command::new(env!("CARGO_BIN_EXE_nspatch"));
    let args = ["test", "--tree", TREE, "--patch", PATCH, "--format", "json", "--progress", "lines", "--out", "after"];
    command.current_dir(&folder).env("NSPATCH_CACHE", cache()).env("CCACHE_DISABLE", "1").args(args).args(lean);
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    drop(held);
    fs_err::remove_dir_all(cache().join("images.before")).unwrap();
    let after: Value = serde_json::from_slice(&output.stdout).unwrap();
    for side in ["baseline", "candidate"] {
        let digest = |run: &Value| run["comparisons"][0][side]["image_sha256"].clone();
        assert_eq!(digest(&before), digest(&after), "{side}");
    }
    assert!(after["stages"]["build"]["done"].as_u64().unwrap() >= 2, "{}", after["stages"]);
}

/// The checkouts that the runs so far have used.
fn slots() -> Vec<Utf8PathBuf> {
    let entries =
        |folder: Utf8PathBuf| folder.read_dir_utf8().into_iter().flatten().map(|entry| entry.unwrap().into_path());
    let trees = entries(cache().join("trees"));
    let found: Vec<_> = trees.flat_map(|tree| entries(tree.join("slots"))).collect();
    assert!(!found.is_empty());
    found
}

fn hold(lock: &Utf8Path) -> std::fs::File {
    let file = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(lock).unwrap();
    file.try_lock().unwrap();
    file
}

/// 6.1 has the patch in its first form, in other surroundings.
#[test]
fn on_debian_s_6_1_the_reverse_is_found_with_reduced_context() {
    let _alone = alone();
    let (_folder, logs) = elsewhere();
    let cache = Cache::open(&cache()).unwrap();
    let job = Job { cache: &cache, logs: &logs, emit: &|_| {} };
    let tree = match tree::resolve("debian:6.1", job) {
        Ok(tree) => tree,
        Err(failure) if failure.class == nspatch::blame::Class::Usage => {
            eprintln!("not tested: this distribution has no linux-source-6.1");
            return;
        }
        Err(failure) => panic!("{}", failure.render()),
    };
    let patch = source::find(&Catalogue::shipped(), PATCH).unwrap();
    let standing = apply::stand(&patch, &tree, job).unwrap();
    assert_eq!(standing.state, State::Upstream { fit: Fit::ReducedContext { lines: 2 } });
    assert!(standing.comparison.is_some());
}
