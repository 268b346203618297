//! Whether a repository of the cache is whole. A crash, a full disk or a person may have taken a
//! part of it; all that it holds can be had again, so a damaged one is made anew.

use std::io::{Read, Seek, SeekFrom};

use camino::Utf8Path;

use super::Repository;
use crate::blame::Failure;
use crate::event::Stage;
use crate::job::Job;

/// The file in a repository that says that git found damage there.
const MARK: &str = "nspatch-damaged";
/// What git prints of objects, packs and repositories that are not as they were written.
const SIGNS: [&str; 12] = [
    "is corrupt",
    "inflate: data stream error",
    "garbage at end of loose object",
    "unable to read sha1 file",
    "unable to read tree",
    "unable to unpack",
    "bad object",
    "invalid object",
    "does not match index",
    "not a git repository",
    "bad config line",
    "invalid sha1 pointer",
];
/// The bytes of a checksum in a pack.
const CHECKSUM: usize = 20;

/// Works with the repository of a tree's folder, which is made where it is missing. One that is
/// damaged is made anew, before the work or, where the work finds it, for a second attempt. The caller
/// holds the folder's import lock.
pub(super) fn kept<T>(
    home: &Utf8Path,
    name: &str,
    job: Job<'_>,
    mut work: impl FnMut(&Repository) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let git_dir = home.join("repo.git");
    mend(&git_dir, name, job)?;
    let repository = Repository::create(&git_dir)?;
    match work(&repository) {
        Err(_) if damage(&git_dir).is_some() => {
            mend(&git_dir, name, job)?;
            work(&Repository::create(&git_dir)?)
        }
        done => done,
    }
}

/// Removes a damaged repository and says so; leaves any other.
pub(super) fn mend(git_dir: &Utf8Path, name: &str, job: Job<'_>) -> Result<(), Failure> {
    let Some(what) = damage(git_dir) else { return Ok(()) };
    let message = format!("what the cache holds of {name} is damaged and made anew: {what}");
    job.notice(Stage::Tree, message, None);
    remove(git_dir).map_err(|failure| failure.hint(format!("remove it by hand: rm -r {git_dir}")))
}

/// Removes a file, a link or a folder with all that is in it; what is not there is removed already.
pub(super) fn remove(path: &Utf8Path) -> Result<(), Failure> {
    let gone = match path.symlink_metadata() {
        Ok(look) if look.is_dir() => fs_err::remove_dir_all(path),
        Ok(_) => fs_err::remove_file(path),
        Err(_) => return Ok(()),
    };
    match gone {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// What is wrong with a repository, as far as a glance can tell; `None` also where there is none.
pub(super) fn damage(git_dir: &Utf8Path) -> Option<String> {
    match git_dir.read_dir_utf8() {
        Err(_) if git_dir.symlink_metadata().is_err() => return None,
        Err(error) => return Some(error.to_string()),
        Ok(mut entries) => entries.next()?.err().map(|error| error.to_string()),
    }
    .or_else(|| git_dir.join(MARK).exists().then(|| "git met objects that cannot be read".to_owned()))
    .or_else(|| damaged_pack(&git_dir.join("objects/pack")))
    .or_else(|| damaged_reference(git_dir).err())
}

/// Compares the end of each pack with what its index says: a pack that was cut has another.
fn damaged_pack(folder: &Utf8Path) -> Option<String> {
    let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
    // A pack without an index is one that somebody is just adding, or its objects are missed elsewhere
    let indices = entries.map(|entry| entry.into_path()).filter(|path| path.extension() == Some("idx"));
    indices.map(|index| (index.with_extension("pack"), index)).find_map(|(pack, index)| {
        let whole = end(&pack, 0).is_some_and(|own| Some(own) == end(&index, CHECKSUM));
        (!whole).then(|| format!("{pack} is not whole"))
    })
}

/// The checksum that ends so many bytes before the end of a file.
fn end(path: &Utf8Path, before: usize) -> Option<[u8; CHECKSUM]> {
    let mut checksum = [0; CHECKSUM];
    let mut file = fs_err::File::open(path).ok()?;
    file.seek(SeekFrom::End(-i64::try_from(before + CHECKSUM).ok()?)).ok()?;
    file.read_exact(&mut checksum).ok()?;
    Some(checksum)
}

/// Fails unless all references, HEAD among them, can be read and name objects that are there.
fn damaged_reference(git_dir: &Utf8Path) -> Result<(), String> {
    let told = |error: git2::Error| error.message().to_owned();
    let repository = git2::Repository::open_bare(git_dir).map_err(told)?;
    repository.find_reference("HEAD").map_err(told)?;
    let objects = repository.odb().map_err(told)?;
    for reference in repository.references().map_err(told)? {
        let reference = reference.map_err(told)?;
        if let Some(missing) = reference.target().filter(|object| !objects.exists(*object)) {
            let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
            return Err(format!("{name} names object {missing}, which is not there"));
        }
    }
    Ok(())
}

/// Notes damage that git met, so that the next run makes the repository anew, and says so. This is
/// for calls of git whose failure it is to explain.
pub(super) fn explained(failure: Failure, git_dir: &Utf8Path) -> Failure {
    let empty = |line: &str| line.contains("object file ") && line.ends_with(" is empty");
    let found = failure.excerpt.iter().any(|line| empty(line) || SIGNS.iter().any(|sign| line.contains(sign)));
    if found { noted(failure, git_dir) } else { failure }
}

/// As [`explained`], for a failure that is known to be one of damage.
pub(super) fn noted(failure: Failure, git_dir: &Utf8Path) -> Failure {
    // Where the mark cannot be left, the next run finds the damage as this one did
    let _ = fs_err::write(git_dir.join(MARK), "");
    match fs_err::read_to_string(git_dir.join("objects/info/alternates")) {
        Ok(theirs) => {
            failure.hint(format!("the objects are those of {}: does `git fsck` find them whole?", theirs.trim()))
        }
        Err(_) => failure.hint("the cache holds this tree damaged: run the command again, and it is made anew"),
    }
}

#[cfg(test)]
mod tests;
