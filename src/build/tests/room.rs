//! A cache, checkouts of the small tree, and what is built in them.

use std::sync::Mutex;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

use crate::apply::{Revision, Variant};
use crate::arch::Arch;
use crate::blame::Failure;
use crate::build::*;
use crate::event::Event;
use crate::job::Job;
use crate::store::Cache;

/// A cache, logs, and the facts that came.
pub(super) struct Room {
    folder: tempfile::TempDir,
    cache: Cache,
    logs: Utf8PathBuf,
    pub(super) facts: Mutex<Vec<Event>>,
}

impl Room {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let cache = Cache::open(&root.join("cache")).unwrap();
        Room { folder, cache, logs: root.join("logs"), facts: Mutex::default() }
    }

    pub(super) fn build(&self, request: &Request<'_>, slot: &mut Slot) -> Result<Outcome, Failure> {
        let emit = |event| self.facts.lock().unwrap().push(event);
        build(request, slot, Job { cache: &self.cache, logs: &self.logs, emit: &emit })
    }

    pub(super) fn image(&self, request: &Request<'_>, slot: &mut Slot) -> Image {
        match self.build(request, slot).unwrap() {
            Outcome::Built(image) => image,
            Outcome::Broken(broken) => panic!("{}", broken.failure().render()),
        }
    }

    pub(super) fn broken(&self, request: &Request<'_>, slot: &mut Slot) -> BuildFailure {
        match self.build(request, slot).unwrap() {
            Outcome::Broken(broken) => broken,
            Outcome::Built(image) => panic!("built: {image:?}"),
        }
    }

    /// A checkout of the tree, with a folder for objects.
    pub(super) fn slot(&self, name: &str) -> Slot {
        let root = Utf8Path::from_path(self.folder.path()).unwrap().canonicalize_utf8().unwrap().join(name);
        copy(Utf8Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fakelinux")), &root.join("source"));
        Slot { root, asked: 0 }
    }

    /// What was compiled so far, in order.
    pub(super) fn compiled(&self) -> Vec<String> {
        let mut logs: Vec<_> = self.logs.read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path()).collect();
        logs.sort();
        let text: String = logs.iter().map(|log| fs_err::read_to_string(log).unwrap()).collect();
        let mut files: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("  CC      ")).map(str::to_owned).collect();
        files.sort();
        fs_err::remove_dir_all(&self.logs).unwrap();
        files
    }
}

pub(super) struct Slot {
    pub(super) root: Utf8PathBuf,
    pub(super) asked: u32,
}

impl Slot {
    pub(super) fn write(&self, file: &str, text: &str) {
        // Times of one tick would look equal to make
        std::thread::sleep(Duration::from_millis(15));
        fs_err::write(self.root.join("source").join(file), text).unwrap();
    }

    pub(super) fn read(&self, file: &str) -> String {
        fs_err::read_to_string(self.root.join("source").join(file)).unwrap()
    }

    pub(super) fn objects(&self, request: &Request<'_>) -> Utf8PathBuf {
        self.root.join("objects").join(request.objects_key())
    }
}

impl Workbench for Slot {
    fn prepare(&mut self, _: &Revision, objects: &str, _: Job<'_>) -> Result<Bench, Failure> {
        self.asked += 1;
        let objects = self.root.join("objects").join(objects);
        fs_err::create_dir_all(&objects)?;
        Ok(Bench { source: self.root.join("source"), objects, lease: None })
    }
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in from.read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_dir() {
            copy(entry.path(), &to.join(entry.file_name()));
        } else {
            fs_err::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

pub(super) fn revision(content: &str, files: &[&str]) -> Revision {
    let variant = if files.is_empty() { Variant::Base } else { Variant::Patched };
    let files = files.iter().map(Into::into).collect();
    Revision { variant, commit: "0".repeat(40), content: content.into(), files }
}

pub(super) fn kconfig(text: &str) -> Kconfig {
    let mut kconfig = Kconfig::default();
    kconfig.add("own", text, "own.config", true).unwrap();
    kconfig
}

pub(super) fn small() -> Kconfig {
    kconfig("CONFIG_NAMESPACES=y\nCONFIG_IPC_NS=y\n")
}

pub(super) fn toolchain() -> Toolchain {
    let native = Arch::all().find(|arch| arch.is_native()).unwrap();
    Toolchain::find(native, &Wanted { no_ccache: true, ..Wanted::default() }).unwrap()
}
