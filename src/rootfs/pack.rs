//! The front door of the stage.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::archive::{self, archive};
use super::description::Description;
use super::guest;
use crate::blame::Failure;
use crate::build::Toolchain;
use crate::catalogue::{Catalogue, Entry, Folder};
use crate::event::{Ending, Stage};
use crate::job::Job;
use crate::store::{Digest, Lock, digest_file, read_json, write_json};

/// Changes when the same content would be packed in another way.
const SCHEMA: &str = "1";

/// An initramfs in the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rootfs {
    /// The cpio archive.
    pub path: Utf8PathBuf,
    /// Its SHA-256.
    pub sha256: String,
    /// The wall time of making it in seconds.
    pub seconds: f64,
    /// Whether it was there already.
    pub reused: bool,
}

/// Gives the initramfs for a toolchain's architecture: from the cache, or compiled and packed.
///
/// # Errors
///
/// `images/` is not understood or does not compile, or the machine lacks something.
pub fn pack(catalogue: &Catalogue, toolchain: &Toolchain, job: Job<'_>) -> Result<Rootfs, Failure> {
    let description = Description::load(catalogue)?;
    let files = catalogue.files(Folder::Images)?;
    let key = key(&description, &files, toolchain)?;
    let shelf = job.cache.folder("rootfs")?;
    let waiting = || job.notice(Stage::Rootfs, "another nspatch packs the same guest: waiting for it", None);
    let _lock = Lock::take(&shelf.join(format!("{key}.lock")), waiting)?;
    let place = shelf.join(key);
    let task = job.begin(Stage::Rootfs, toolchain.arch.name, None);
    if let Some(rootfs) = kept(&place) {
        task.end(Ending::Reused);
        return Ok(rootfs);
    }
    let scratch = job.cache.scratch()?;
    let work = Utf8Path::from_path(scratch.path())
        .ok_or_else(|| Failure::host("the cache's path is not UTF-8").at(scratch.path().display()))?;
    let init = guest::compile(&description, &files, toolchain, work, job)?;
    let bytes = archive(&description, &init)?;
    if place.exists() {
        fs_err::remove_dir_all(&place)?;
    }
    // The record comes last: without it the archive does not count
    let path = place.join("initramfs.cpio");
    crate::store::write_atomically(&path, &bytes)?;
    let sha256 = digest_file(&path)?;
    let rootfs = Rootfs { path, sha256, seconds: task.end(Ending::Done), reused: false };
    write_json(&place.join("rootfs.json"), &rootfs)?;
    Ok(rootfs)
}

/// Writes the archive with programs added to the root of the guest, for whoever wants to look around with them.
///
/// # Errors
///
/// A program is not there, is too large, or has no name that could stand there; or the machine lacks something.
pub fn with_programs(rootfs: &Rootfs, programs: &[Utf8PathBuf], to: &Utf8Path) -> Result<(), Failure> {
    let read = |path: &Utf8PathBuf| {
        let wrong = |what: String| Failure::usage(what).at("--add");
        let name = path.file_name().ok_or_else(|| wrong(format!("`{path}` names no program")))?;
        if ["init", "dev", "mnt", "proc", "sys", "tmp"].contains(&name) {
            return Err(wrong(format!("`{name}` is the guest's own: give the program another name")));
        }
        let content = fs_err::read(path).map_err(|error| wrong(error.to_string()))?;
        Ok((name.to_owned(), content))
    };
    let programs = programs.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let added = archive::programs(&programs)?;
    crate::store::write_atomically(to, &[fs_err::read(&rootfs.path)?, added].concat())
}

fn key(
    description: &Description,
    files: &BTreeMap<Utf8PathBuf, Entry>,
    toolchain: &Toolchain,
) -> Result<String, Failure> {
    let mut digest = Digest::of("rootfs")
        .field("schema", SCHEMA)
        .field("arch", toolchain.arch.name)
        .field("toolchain", toolchain.key())
        .field("libc", digest_file(&guest::libc(toolchain)?)?);
    // Of an entry only the place of its benchmark among the sources goes in
    for source in description.sources() {
        digest = digest.field("source", source.as_str());
    }
    let described = files.get_key_value(Utf8Path::new("rootfs.yaml"));
    let all = described.into_iter().chain(guest::sources(files));
    Ok(all.fold(digest, |digest, (path, entry)| digest.field(path.as_str(), &entry.bytes)).hex())
}

/// The archive, if it is there and whole.
fn kept(place: &Utf8Path) -> Option<Rootfs> {
    let rootfs: Rootfs = read_json(&place.join("rootfs.json")).ok()?;
    let rootfs = Rootfs { path: place.join("initramfs.cpio"), reused: true, ..rootfs };
    digest_file(&rootfs.path).is_ok_and(|digest| digest == rootfs.sha256).then_some(rootfs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::blame::{Blame, Class};
    use crate::build::Wanted;
    use crate::store::Cache;

    struct Room {
        _folder: tempfile::TempDir,
        root: Utf8PathBuf,
        cache: Cache,
        toolchain: Toolchain,
    }

    impl Room {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
            let native = Arch::all().find(|arch| arch.is_native()).unwrap();
            Room {
                cache: Cache::open(&root.join("cache")).unwrap(),
                toolchain: Toolchain::find(native, &Wanted::default()).unwrap(),
                root,
                _folder: folder,
            }
        }

        fn pack(&self, catalogue: &Catalogue) -> Result<Rootfs, Failure> {
            pack(catalogue, &self.toolchain, Job { cache: &self.cache, logs: &self.root.join("logs"), emit: &|_| {} })
        }

        fn project(&self, file: &str, text: &str) -> Catalogue {
            let path = self.root.join("project/images").join(file);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
            Catalogue::of_project(&self.root.join("project"))
        }
    }

    #[test]
    fn the_shipped_guest_is_packed_once_and_gives_the_same_bytes_elsewhere() {
        let (room, other) = (Room::new(), Room::new());
        let first = room.pack(&Catalogue::shipped()).unwrap();
        let again = room.pack(&Catalogue::shipped()).unwrap();
        assert_eq!(again, Rootfs { reused: true, ..first.clone() });
        assert_eq!(other.pack(&Catalogue::shipped()).unwrap().sha256, first.sha256);
        fs_err::write(&first.path, "cut").unwrap();
        let repaired = room.pack(&Catalogue::shipped()).unwrap();
        assert_eq!((repaired.reused, &repaired.sha256), (false, &first.sha256));
    }

    #[test]
    fn a_program_is_added_under_its_own_name_and_never_in_the_guest_s_place() {
        let room = Room::new();
        let rootfs = room.pack(&Catalogue::shipped()).unwrap();
        let (program, to) = (room.root.join("busybox"), room.root.join("out/initramfs.cpio"));
        fs_err::write(&program, "static").unwrap();
        with_programs(&rootfs, &[program], &to).unwrap();
        let (own, whole) = (fs_err::read(&rootfs.path).unwrap(), fs_err::read(&to).unwrap());
        let added = cpio::newc::Reader::new(whole.strip_prefix(&own[..]).unwrap()).unwrap();
        let entry = added.entry();
        assert_eq!((entry.name(), entry.mode(), entry.file_size()), ("busybox", 0o100_755, 6));
        for wrong in ["gone", "/", "some/init"] {
            let failure = with_programs(&rootfs, &[wrong.into()], &to).unwrap_err();
            assert_eq!(failure.class, Class::Usage, "{wrong}");
        }
    }

    #[test]
    fn an_error_in_a_file_of_the_user_is_the_user_s() {
        let room = Room::new();
        let catalogue =
            room.project("bench/exit-ipc.c", "char name[] = \"exit-ipc\";\nint broken(void) { return y; }\n");
        let failure = room.pack(&catalogue).unwrap_err();
        assert_eq!((failure.class, failure.blame), (Class::Build, Blame::User));
        assert!(failure.place.as_ref().unwrap().ends_with("project/images/bench/exit-ipc.c:2"), "{failure:?}");
        assert!(failure.what.contains("undeclared"), "{failure:?}");
    }
}
