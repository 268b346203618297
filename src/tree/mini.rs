//! A made-up kernel for tests: a Makefile with a version, a Kconfig, a script, a link.

use std::io::Write;
use std::sync::Mutex;

use camino::{Utf8Path, Utf8PathBuf};
use tar::{Builder, EntryType, Header};

use crate::event::Event;
use crate::job::Job;
use crate::process::Call;
use crate::store::Cache;

/// What is in the made-up kernel: path, executable, content.
pub(super) const FILES: [(&str, bool, &str); 6] = [
    ("Makefile", false, "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 3\nEXTRAVERSION =\n"),
    ("Kconfig", false, "mainmenu \"Mini\"\n"),
    (".gitignore", false, "*.o\n/generated/\n"),
    ("scripts/run.sh", true, "#!/bin/sh\n"),
    ("generated/table.o.h", false, "\r\nkept as it is\r\n"),
    ("kernel/fork.c", false, "int fork;\n"),
];

/// A cache of its own with a folder for logs, and what was told.
pub(super) struct Surroundings {
    _folder: tempfile::TempDir,
    pub(super) root: Utf8PathBuf,
    cache: Cache,
    logs: Utf8PathBuf,
    told: Mutex<Vec<Event>>,
}

impl Surroundings {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let cache = Cache::open(&root.join("cache")).unwrap();
        let logs = root.join("logs");
        Surroundings { _folder: folder, root, cache, logs, told: Mutex::default() }
    }

    /// Runs something with a job.
    pub(super) fn job<T>(&self, work: impl FnOnce(Job<'_>) -> T) -> T {
        let emit = |event| self.told.lock().unwrap().push(event);
        work(Job { cache: &self.cache, logs: &self.logs, emit: &emit })
    }

    /// The notices so far, as one text.
    pub(super) fn notices(&self) -> String {
        let told = self.told.lock().unwrap();
        told.iter()
            .filter_map(
                |event| if let Event::Noticed { message, .. } = event { Some(format!("{message}\n")) } else { None },
            )
            .collect()
    }

    /// How often something was imported, fetched or laid now and not taken from before.
    pub(super) fn done(&self) -> usize {
        let done = |event: &&Event| matches!(event, Event::Finished { ending: crate::event::Ending::Done, .. });
        self.told.lock().unwrap().iter().filter(done).count()
    }

    /// The folders of trees in the cache that hold a repository.
    pub(super) fn repositories(&self) -> Vec<Utf8PathBuf> {
        let trees = self.cache.folder("trees").unwrap();
        let folders = trees.read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path().join("repo.git"));
        folders.filter(|path| path.is_dir()).collect()
    }
}

/// One entry of an archive to be made.
pub(super) struct Item {
    pub(super) path: Vec<u8>,
    pub(super) kind: EntryType,
    pub(super) mode: u32,
    pub(super) content: Vec<u8>,
    pub(super) target: Vec<u8>,
}

impl Item {
    pub(super) fn file(path: &str, content: &str) -> Self {
        let bytes = content.as_bytes().to_vec();
        Item { path: path.into(), kind: EntryType::Regular, mode: 0o644, content: bytes, target: Vec::new() }
    }

    pub(super) fn of(kind: EntryType, path: &str, target: &str) -> Self {
        Item { path: path.into(), kind, mode: 0o777, content: Vec::new(), target: target.into() }
    }
}

/// The made-up kernel below a top folder, as a distribution packs it.
pub(super) fn items(top: &str) -> Vec<Item> {
    let mut items = vec![Item::of(EntryType::Directory, &format!("{top}/"), "")];
    for (path, executable, content) in FILES {
        let mode = if executable { 0o755 } else { 0o644 };
        items.push(Item { mode, ..Item::file(&format!("{top}/{path}"), content) });
    }
    items.push(Item::of(EntryType::Symlink, &format!("{top}/scripts/link"), "../kernel/fork.c"));
    items
}

/// A plain tar archive. Paths are written as they are, also such as no archiver would write.
pub(super) fn tar(items: &[Item]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for item in items {
        let mut header = Header::new_gnu();
        header.set_entry_type(item.kind);
        header.set_mode(item.mode);
        header.set_size(item.content.len() as u64);
        // Not set_path: it refuses the very paths that have to be refused when read
        let raw = header.as_old_mut();
        raw.name[..item.path.len()].copy_from_slice(&item.path);
        raw.linkname[..item.target.len()].copy_from_slice(&item.target);
        header.set_cksum();
        builder.append(&header, &item.content[..]).unwrap();
    }
    builder.into_inner().unwrap()
}

/// The archive in each of the packings that are read, by its usual ending.
pub(super) fn packed(tar: &[u8]) -> [(&'static str, Vec<u8>); 4] {
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    xz.write_all(tar).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(tar).unwrap();
    [
        ("tar", tar.to_vec()),
        ("tar.xz", xz.finish().unwrap()),
        ("tar.gz", gzip.finish().unwrap()),
        ("tar.zst", zstd::encode_all(tar, 1).unwrap()),
    ]
}

/// Writes the made-up kernel as plain files.
pub(super) fn unpack(folder: &Utf8Path) {
    use std::os::unix::fs::PermissionsExt;
    for (path, executable, content) in FILES {
        let path = folder.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, content).unwrap();
        let mode = if executable { 0o755 } else { 0o644 };
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    fs_err::os::unix::fs::symlink("../kernel/fork.c", folder.join("scripts/link")).unwrap();
}

/// Git as a user would call it in a folder, but deaf to whoever runs the tests; gives its output.
pub(super) fn git(folder: &Utf8Path, args: &[&str]) -> String {
    let call = Call::new("git").without(super::repository::GIT_VARIABLES);
    call.env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args(["-C", folder.as_str(), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(args)
        .demand()
        .unwrap()
        .text()
}

/// The made-up kernel as a git repository of a user; gives its commit.
pub(super) fn repository(folder: &Utf8Path) -> String {
    unpack(folder);
    git(folder, &["init", "--quiet", "--initial-branch=main"]);
    git(folder, &["add", "--all", "--force"]);
    git(folder, &["commit", "--quiet", "-m", "mini"]);
    git(folder, &["rev-parse", "HEAD"])
}
