//! Room on the disk, asked for before it is needed.

use camino::Utf8Path;

use crate::blame::Failure;

const HINT: &str = "`nspatch cache` shows what takes space; NSPATCH_CACHE moves the cache to another disk";

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
    // Rounded away from each other, so that they never look alike
    let (needed, free) = (bytes.div_ceil(1 << 20), free >> 20);
    Err(Failure::host(format!("no space: {needed} MiB are needed and {free} MiB are free")).at(folder).hint(HINT))
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
}
