//! `docs/benchmarks.md`, held against the code: its example is a project, and its commands are commands.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use nspatch::arch::Arch;
use nspatch::build::{Toolchain, Wanted};
use nspatch::catalogue::Catalogue;
use nspatch::job::Job;
use nspatch::rootfs::{self, Planned};
use nspatch::source;
use nspatch::store::Cache;

use crate::guest;

/// The example's name.
pub const EXAMPLE: &str = "unshare-mnt";

/// The blocks of the page that are in a language, in their order.
fn blocks(language: &str) -> Vec<String> {
    let page = std::fs::read_to_string(Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md")).unwrap();
    let parts: Vec<&str> = page.split("\n```").collect();
    // Every other part is a block, and its first line says in which language
    let inside = parts.iter().skip(1).step_by(2).map(|part| part.split_once('\n').unwrap());
    inside.filter(|(of, _)| *of == language).map(|(_, text)| format!("{text}\n")).collect()
}

/// Puts the example into a project folder, as the page says.
pub fn example(project: &Utf8Path) {
    let [source] = blocks("c").try_into().unwrap();
    let [entry, _] = blocks("yaml").try_into().unwrap();
    let folder = project.join("images/bench");
    fs_err::create_dir_all(&folder).unwrap();
    fs_err::write(folder.join(format!("{EXAMPLE}.c")), source).unwrap();
    fs_err::write(folder.join(format!("{EXAMPLE}.yaml")), entry).unwrap();
}

struct Room {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Room {
    fn with_the_example() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
        example(&root);
        Room { root, _folder: folder }
    }
}

#[test]
fn every_block_of_the_page_is_of_a_kind_that_is_tried_here() {
    let page = std::fs::read_to_string(Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/benchmarks.md")).unwrap();
    let tried: usize = ["c", "yaml", "sh"].iter().map(|language| blocks(language).len()).sum();
    assert_eq!((blocks("text").len(), tried * 2 + 2), (1, page.matches("```").count()), "`text` is the layout alone");
}

#[test]
fn the_example_is_packed_listed_and_planned_with_nothing_else_in_the_project() {
    let room = Room::with_the_example();
    let catalogue = Catalogue::of_project(&room.root);
    let cache = Cache::open(&room.root.join("cache")).unwrap();
    let native = Arch::all().find(|arch| arch.is_native()).unwrap();
    let toolchain = Toolchain::find(native, &Wanted::default()).unwrap();
    let job = Job { cache: &cache, logs: &room.root.join("logs"), emit: &|_| {} };
    let packed = rootfs::pack(&catalogue, &toolchain, job).unwrap();
    let shipped = rootfs::pack(&Catalogue::shipped(), &toolchain, job).unwrap();
    assert_ne!(packed.sha256, shipped.sha256);
    assert!(fs_err::read(&packed.path).unwrap().windows(EXAMPLE.len()).any(|window| window == EXAMPLE.as_bytes()));

    let all = rootfs::benchmarks(&catalogue).unwrap();
    let planned = Planned::new(rootfs::find(&all, EXAMPLE).unwrap(), &[("mounts".to_owned(), 64)].into()).unwrap();
    assert_eq!(rootfs::plan(&[planned]), "unshare-mnt:mounts=64:operations=400:repeats=3:warmups=1");
}

#[test]
fn an_entry_and_its_c_file_agree_on_the_parameters() {
    let room = Room::with_the_example();
    let list = guest::said_by(&guest::compiled("guest-with-example", &[&room.root.join("images/bench")]), "list\n");
    let all = rootfs::benchmarks(&Catalogue::of_project(&room.root)).unwrap();
    for one in &all {
        let parameter = |it: &rootfs::Parameter| format!(" {}={} ({} to {})", it.name, it.default, it.min, it.max);
        let line = format!("{}{}\n", one.name, one.parameters.iter().map(parameter).collect::<String>());
        assert!(list.contains(&line), "{line}{list}");
    }
    assert_eq!(list.lines().count(), all.len() + 1, "and a prompt: {list}");
}

#[test]
fn the_page_s_line_in_a_patch_yaml_names_benchmarks_that_there_are() {
    let room = Room::with_the_example();
    let [_, named] = blocks("yaml").try_into().unwrap();
    let patch = "umount-tree-one-by-one";
    let shipped = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("patches").join(patch).join("patch.yaml");
    let text = fs_err::read_to_string(shipped).unwrap();
    let lines = text.lines().map(|line| if line.starts_with("benchmarks:") { named.trim_end() } else { line });
    let changed: Vec<_> = lines.collect();
    fs_err::create_dir_all(room.root.join("patches").join(patch)).unwrap();
    fs_err::write(room.root.join("patches").join(patch).join("patch.yaml"), changed.join("\n")).unwrap();
    let catalogue = Catalogue::of_project(&room.root);
    let found = source::find(&catalogue, patch).unwrap();
    let all = rootfs::benchmarks(&catalogue).unwrap();
    assert_eq!(found.benchmarks().unwrap()[0], EXAMPLE);
    assert!(found.benchmarks().unwrap().iter().all(|name| rootfs::find(&all, name).is_ok()));
}

#[test]
fn the_page_s_commands_are_commands() {
    let room = Room::with_the_example();
    let nspatch = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nspatch"));
        command.current_dir(&room.root).env("NSPATCH_CACHE", room.root.join("cache")).args(args).output().unwrap()
    };
    let listed = nspatch(&["list", "benchmarks"]);
    let stdout = String::from_utf8(listed.stdout).unwrap();
    let line = stdout.lines().find(|line| line.starts_with(EXAMPLE)).unwrap();
    assert!(
        line.contains("change from one mount namespace into the next") && line.ends_with("unshare-mnt.c"),
        "{line}"
    );
    for line in blocks("sh").concat().lines() {
        let (_, command) = line.split_once("nspatch ").unwrap();
        // With --help nothing is done, and a flag before it that there is not is refused all the same
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let output = nspatch(&args);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
