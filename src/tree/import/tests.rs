use tar::EntryType;

use super::*;
use crate::tree::mini::{FILES, Item, Surroundings, items, packed, tar};

fn write(here: &Surroundings, name: &str, bytes: &[u8]) -> Utf8PathBuf {
    let path = here.root.join(name);
    fs_err::write(&path, bytes).unwrap();
    path
}

fn import_bytes(here: &Surroundings, name: &str, bytes: &[u8]) -> Result<Imported, Failure> {
    let path = write(here, name, bytes);
    here.job(|job| archive(&path, job))
}

fn listed(imported: &Imported) -> String {
    imported
        .repository
        .git()
        .args(["ls-tree", "-r", "--format=%(objectmode) %(path)", &imported.commit])
        .demand()
        .unwrap()
        .text()
}

/// Fails unless an import failed by the user's fault and left nothing behind.
fn assert_refused(here: &Surroundings, name: &str, result: Result<Imported, Failure>) -> Failure {
    let failure = result.err().unwrap_or_else(|| panic!("{name} was accepted"));
    assert!(is_bad_input(&failure), "{name}: {}", failure.render());
    assert!(failure.place.is_some(), "{name}");
    assert_eq!(here.repositories(), Vec::<Utf8PathBuf>::new(), "{name}");
    let homes = here.root.join("cache/trees").read_dir_utf8().unwrap().map(|home| home.unwrap());
    for home in homes {
        assert_eq!(home.file_name(), "seen", "{name} left something behind");
        let left = home.path().read_dir_utf8().unwrap().map(|entry| entry.unwrap().file_name().to_owned());
        assert_eq!(left.collect::<Vec<_>>(), Vec::<String>::new(), "{name} left something behind");
    }
    failure
}

#[test]
fn every_packing_gives_the_same_commit_whatever_the_file_is_called() {
    let mut commits = std::collections::BTreeSet::new();
    for (ending, bytes) in packed(&tar(&items("linux-6.12.3"))) {
        let here = Surroundings::new();
        let imported = import_bytes(&here, "source.bin", &bytes)
            .unwrap_or_else(|failure| panic!("{ending}: {}", failure.render()));
        assert_eq!(imported.repository.version(&imported.commit).unwrap(), "6.12.3", "{ending}");
        commits.insert(imported.commit);
    }
    assert_eq!(commits.len(), 1);
}

#[test]
fn modes_links_and_bytes_arrive_as_they_were() {
    let here = Surroundings::new();
    let mut all = items("linux");
    all.push(Item::of(EntryType::Link, "linux/kernel/again.c", "linux/kernel/fork.c"));
    all.push(Item::file("linux/sp ace\"\\\n\u{e9}.c", "odd name\n"));
    let imported = import_bytes(&here, "linux.tar", &tar(&all)).unwrap();
    insta::assert_snapshot!(listed(&imported), @r#"
    100644 .gitignore
    100644 Kconfig
    100644 Makefile
    100644 generated/table.o.h
    100644 kernel/again.c
    100644 kernel/fork.c
    120000 scripts/link
    100755 scripts/run.sh
    100644 "sp ace\"\\\n\303\251.c"
    "#);
    let file = |path| imported.repository.file(&imported.commit, path).unwrap().unwrap();
    for (path, _, content) in FILES {
        assert_eq!(file(path), content.as_bytes(), "{path}");
    }
    assert_eq!(file("kernel/again.c"), b"int fork;\n");
    assert_eq!(file("scripts/link"), b"../kernel/fork.c");
}

#[test]
fn a_git_archive_with_its_global_header_and_long_names_is_read() {
    let here = Surroundings::new();
    let mut builder = tar::Builder::new(Vec::new());
    let mut global = tar::Header::new_ustar();
    let comment = b"52 comment=0123456789012345678901234567890123456789\n";
    global.set_entry_type(EntryType::XGlobalHeader);
    global.set_size(comment.len() as u64);
    global.set_path("pax_global_header").unwrap();
    global.set_cksum();
    builder.append(&global, &comment[..]).unwrap();
    let long = format!("linux/{}/file.c", "deep/".repeat(40));
    for (path, content) in
        FILES.map(|(path, _, content)| (format!("linux/{path}"), content)).into_iter().chain([(long, "deep\n")])
    {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, content.as_bytes()).unwrap();
    }
    let imported = import_bytes(&here, "linux.tar", &builder.into_inner().unwrap()).unwrap();
    let listed = listed(&imported);
    assert!(listed.contains("deep/deep/file.c") && !listed.contains("pax_global_header"), "{listed}");
}

#[test]
fn a_hostile_archive_is_refused_and_leaves_nothing_behind() {
    let link = |path, target| vec![Item::of(EntryType::Symlink, path, target)];
    let file = |path| vec![Item::file(path, "evil\n")];
    let cases: [(&str, Vec<Item>, &str); 21] = [
        ("parent path", file("linux/../../evil"), "points out of the archive"),
        ("parent path inside", file("linux/a/../evil"), "points out of the archive"),
        ("absolute path", file("/etc/evil"), "absolute path"),
        ("git folder", file("linux/.git/hooks/post-checkout"), "git repository"),
        ("git folder in capitals", file("linux/sub/.GIT/config"), "git repository"),
        ("absolute link", link("linux/l", "/etc/passwd"), "leads out"),
        ("link to the outside", link("linux/l", "../../etc"), "leads out"),
        ("link above the top", link("linux/l", ".."), "leads out"),
        (
            "link through a link",
            [link("linux/here", "."), link("linux/l", "here/../x")].into_iter().flatten().collect(),
            "leads out",
        ),
        (
            "links in a circle",
            [link("linux/l", "m"), link("linux/m", "l")].into_iter().flatten().collect(),
            "leads out",
        ),
        (
            "hard link to the outside",
            vec![Item::of(EntryType::Link, "linux/l", "../evil")],
            "points out of the archive",
        ),
        ("absolute hard link", vec![Item::of(EntryType::Link, "linux/l", "/etc/passwd")], "absolute path"),
        ("hard link to nothing", vec![Item::of(EntryType::Link, "linux/l", "linux/none")], "does not stand before it"),
        ("character device", vec![Item::of(EntryType::Char, "linux/null", "")], "neither a file"),
        ("block device", vec![Item::of(EntryType::Block, "linux/sda", "")], "neither a file"),
        ("pipe", vec![Item::of(EntryType::Fifo, "linux/pipe", "")], "neither a file"),
        ("file twice", file("linux/Makefile"), "listed twice"),
        ("file twice by another spelling", file("linux/./Makefile"), "listed twice"),
        ("folder over a file", vec![Item::of(EntryType::Directory, "linux/Makefile/", "")], "listed twice"),
        (
            "file over a folder",
            vec![Item::of(EntryType::Directory, "linux/x/", ""), Item::file("linux/x", "")],
            "listed twice",
        ),
        (
            "file below a link",
            [link("linux/out", "kernel"), file("linux/out/evil.c")].into_iter().flatten().collect(),
            "below",
        ),
    ];
    for (name, more, reason) in cases {
        let here = Surroundings::new();
        let all: Vec<_> = items("linux").into_iter().chain(more).collect();
        let result = import_bytes(&here, "linux.tar", &tar(&all));
        let failure = assert_refused(&here, name, result);
        assert!(failure.what.contains(reason), "{name}: {}", failure.what);
    }
}

#[test]
fn an_archive_cut_anywhere_is_refused_in_every_packing() {
    let plain = tar(&items("linux"));
    for (ending, whole) in packed(&plain) {
        // Of a plain archive, all but its end record; there every block counts, the entries' ends above all
        let end = if ending == "tar" { whole.len() - 1024 } else { whole.len() - 1 };
        let cuts = (600..=end).step_by(if ending == "tar" { 512 } else { 61 }).chain([end / 2, end]);
        for cut in cuts.filter(|cut| *cut <= end) {
            let here = Surroundings::new();
            let result = import_bytes(&here, "linux", &whole[..cut]);
            assert_refused(&here, &format!("{ending} cut after {cut} of {}", whole.len()), result);
        }
    }
}

#[test]
fn a_damaged_archive_is_refused_by_its_checksum() {
    for (ending, mut bytes) in packed(&tar(&items("linux"))).into_iter().filter(|(ending, _)| *ending != "tar.zst") {
        let at = if ending == "tar" { 700 } else { bytes.len() / 2 };
        bytes[at] ^= 0x55;
        let here = Surroundings::new();
        let result = import_bytes(&here, "linux", &bytes);
        assert_refused(&here, ending, result);
    }
}

#[test]
fn what_is_no_kernel_is_told_by_what_it_lacks() {
    let without = |gone: &str| {
        items("linux").into_iter().filter(|item| item.path != format!("linux/{gone}").into_bytes()).collect::<Vec<_>>()
    };
    for (gone, reason) in [("Makefile", "no Makefile"), ("Kconfig", "no Kconfig")] {
        let here = Surroundings::new();
        let result = import_bytes(&here, "linux.tar", &tar(&without(gone)));
        let failure = assert_refused(&here, gone, result);
        assert!(failure.what.contains(reason), "{}", failure.what);
    }
}

#[test]
fn a_repeat_imports_nothing_and_a_changed_file_is_seen() {
    let here = Surroundings::new();
    let first = import_bytes(&here, "linux.tar", &tar(&items("linux"))).unwrap();
    let again = here.job(|job| archive(&here.root.join("linux.tar"), job)).unwrap();
    let copy = import_bytes(&here, "copy.tar", &tar(&items("linux"))).unwrap();
    assert_eq!((&first.commit, &first.repository), (&again.commit, &again.repository));
    assert_eq!(first.repository, copy.repository, "equal content is one tree");
    assert_eq!(here.done(), 1);
    let changed: Vec<_> = items("linux").into_iter().chain([Item::file("linux/new.c", "")]).collect();
    assert_ne!(import_bytes(&here, "linux.tar", &tar(&changed)).unwrap().commit, first.commit);
}

#[test]
fn imports_at_the_same_time_import_once() {
    let here = Surroundings::new();
    let path = write(&here, "linux.tar", &tar(&items("linux")));
    let commits: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| here.job(|job| archive(&path, job)).unwrap().commit)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(commits.iter().all(|commit| *commit == commits[0]));
    assert_eq!(here.done(), 1);
}

#[test]
fn a_folder_that_a_killed_import_left_is_used_by_the_next() {
    let here = Surroundings::new();
    let first = import_bytes(&here, "linux.tar", &tar(&items("linux"))).unwrap();
    let home = first.repository.git_dir().parent().unwrap();
    fs_err::remove_dir_all(first.repository.git_dir()).unwrap();
    assert!(home.join("import.lock").is_file());
    let again = here.job(|job| archive(&here.root.join("linux.tar"), job)).unwrap();
    assert_eq!(again.commit, first.commit);
    assert_eq!(here.notices(), "");
}
