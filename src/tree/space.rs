//! Room on the disk, asked for before it is needed.

use camino::Utf8Path;

use crate::blame::Failure;

const HINT: &str =
    "`nspatch trees` shows what takes space, `nspatch clean` frees it; NSPATCH_CACHE moves the cache to another disk";
const FULL: &str = "no space is left";
/// With less room than this, a write that failed failed for want of room.
const NEXT_TO_NOTHING: u64 = 1 << 20;

/// Fails unless the file system of a folder has room for `bytes`.
///
/// # Errors
///
/// It has not, or it cannot be asked.
pub(super) fn demand(folder: &Utf8Path, bytes: u64) -> Result<(), Failure> {
    let there = rustix::fs::statvfs(folder.as_std_path()).map_err(|error| Failure::io(&error.into()).at(folder))?;
    let free = there.f_bavail.saturating_mul(there.f_frsize);
    if free >= bytes {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(Failure::host(format!("no space: {} MiB are needed and {} MiB are free", mib(bytes), mib(free)))
        .at(folder)
        .hint(HINT))
}

/// The same failure, told as a full disk if it comes from one. Git names the cause for some writes
/// only, so the disk is asked as well.
pub(super) fn explained(failure: Failure, folder: &Utf8Path) -> Failure {
    const WORDS: [&str; 3] = ["No space left", "Out of diskspace", "Disk quota exceeded"];
    let told = failure.excerpt.iter().any(|line| WORDS.iter().any(|words| line.contains(words)));
    if told || demand(folder, NEXT_TO_NOTHING).is_err() { full(failure) } else { failure }
}

/// Whether a failure was told as a full disk.
pub(super) fn is_full(failure: &Failure) -> bool {
    failure.what.starts_with(FULL)
}

fn full(mut failure: Failure) -> Failure {
    failure.what = format!("{FULL}: {}", failure.what);
    failure.hint(HINT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_refused_before_it_runs_out() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        assert!(demand(folder, 0).is_ok());
        let failure = demand(folder, u64::MAX).unwrap_err();
        assert!(failure.what.starts_with("no space: ") && failure.hints[0].contains("NSPATCH_CACHE"), "{failure:?}");
    }

    #[test]
    fn a_program_that_met_a_full_disk_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let said = |line: &str| explained(Failure::host("`git` ended with status 128").excerpt([line]), folder);
        for line in ["fatal: sha1 file 'x' write error. Out of diskspace", "error: x: No space left on device"] {
            let failure = said(line);
            assert!(failure.what.starts_with("no space is left") && failure.hints[0].contains("cache"), "{failure:?}");
        }
        assert_eq!(said("fatal: not a tree").hints, Vec::<String>::new());
    }
}
