//! The guest's program, compiled and linked statically.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::description::Description;
use crate::blame::{Blame, Class, Failure};
use crate::build::{STRAY_VARIABLES, Toolchain, first_error, host_failure};
use crate::catalogue::{Entry, Origin};
use crate::job::Job;
use crate::process::Call;

/// Flags that every guest gets: one file without the machine's libraries, that holds neither times
/// nor names of folders.
const FLAGS: [&str; 4] = ["-static", "-s", "-Wl,--build-id=none", "-fno-ident"];

/// The files of `images/` that make the program.
pub(super) fn sources(files: &BTreeMap<Utf8PathBuf, Entry>) -> impl Iterator<Item = (&Utf8PathBuf, &Entry)> {
    files.iter().filter(|(path, _)| matches!(path.extension(), Some("c" | "h")))
}

/// The static C library that the compiler would link.
///
/// # Errors
///
/// There is none.
pub(super) fn libc(toolchain: &Toolchain) -> Result<Utf8PathBuf, Failure> {
    let found = Call::new(&toolchain.compiler).arg("-print-file-name=libc.a").demand()?.text();
    let path = Utf8PathBuf::from(found);
    // The compiler gives the bare name back where it finds no such file
    if path.is_file() { Ok(path) } else { Err(no_libc(toolchain)) }
}

fn no_libc(toolchain: &Toolchain) -> Failure {
    let package = if toolchain.arch.is_native() { "libc6-dev" } else { toolchain.arch.cross_libc_package };
    Failure::host(format!("the static C library for {} is not installed", toolchain.arch))
        .hint(format!("`nspatch doctor` says how to install it; Debian's package is {package}"))
}

/// Compiles the program in `work`; gives its bytes.
///
/// # Errors
///
/// A source is broken, or the machine lacks something.
pub(super) fn compile(
    description: &Description,
    files: &BTreeMap<Utf8PathBuf, Entry>,
    toolchain: &Toolchain,
    work: &Utf8Path,
    job: Job<'_>,
) -> Result<Vec<u8>, Failure> {
    for (path, entry) in sources(files) {
        let file = work.join(path);
        fs_err::create_dir_all(file.parent().unwrap_or(work))?;
        fs_err::write(file, &entry.bytes)?;
    }
    let log = job.log(&format!("rootfs-{}", toolchain.arch));
    let start = fs_err::metadata(&log).map_or(0, |metadata| metadata.len());
    let ended = Call::new(&toolchain.compiler)
        .without(STRAY_VARIABLES)
        .args(&description.guest.cflags)
        .args(FLAGS)
        .arg(format!("-ffile-prefix-map={work}=images"))
        .args(["-o", "init"])
        .args(description.sources().into_iter().map(Utf8Path::as_str))
        .env("SOURCE_DATE_EPOCH", "0")
        .folder(work)
        .log(&log)
        .run()?;
    if ended.succeeded() {
        return Ok(fs_err::read(work.join("init"))?);
    }
    let printed = fs_err::read(&log)?;
    let start = usize::try_from(start).unwrap_or(0).min(printed.len());
    let printed = String::from_utf8_lossy(&printed[start..]).into_owned();
    Err(failure(&printed, files, toolchain, work).unwrap_or_else(|| ended.failure()).hint(format!("all output: {log}")))
}

/// Headers of the C library: without them it is not installed, whatever else is.
const LIBC_HEADERS: [&str; 5] = ["stdio.h", "stdlib.h", "errno.h", "string.h", "unistd.h"];

fn failure(
    printed: &str,
    files: &BTreeMap<Utf8PathBuf, Entry>,
    toolchain: &Toolchain,
    work: &Utf8Path,
) -> Option<Failure> {
    if let Some(failure) = host_failure(printed) {
        return Some(failure);
    }
    let missing = |header: &str| printed.contains(&format!("fatal error: {header}: No such file"));
    // Start files of the C library come and go with it
    if ["cannot find -lc", "cannot find crt1.o"].iter().any(|text| printed.contains(text))
        || LIBC_HEADERS.iter().any(|header| missing(header))
    {
        return Some(no_libc(toolchain));
    }
    let found = first_error(printed, work, work)?;
    let origin = found.files.first().and_then(|file| files.get(file)).map(|entry| &entry.origin);
    // Without a file, the link of all of them failed: whoever has changed any of them may know
    let own = match origin {
        Some(origin) => matches!(origin, Origin::Project(_)),
        None => files.values().any(|entry| matches!(entry.origin, Origin::Project(_))),
    };
    let place = match (origin, found.files.first(), found.line) {
        (Some(Origin::Project(path)), _, Some(line)) => Some(format!("{path}:{line}")),
        (_, Some(file), Some(line)) => Some(format!("images/{file}:{line}")),
        (_, Some(file), None) => Some(format!("images/{file}")),
        _ => None,
    };
    let blame = if own { Blame::User } else { Blame::Nspatch };
    let failure =
        Failure::new(Class::Build, blame, format!("the guest does not compile: {}", found.what)).excerpt(found.excerpt);
    Some(match place {
        Some(place) => failure.at(place),
        None => failure,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::Arch;
    use crate::build::Wanted;
    use crate::catalogue::{Catalogue, Folder};

    fn read(printed: &str) -> Option<Failure> {
        let native = Arch::all().find(|arch| arch.is_native()).unwrap();
        let toolchain = Toolchain::find(native, &Wanted::default()).unwrap();
        let files = Catalogue::shipped().files(Folder::Images).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let work = Utf8Path::from_path(folder.path()).unwrap();
        fs_err::write(work.join("init.c"), "").unwrap();
        failure(printed, &files, &toolchain, work)
    }

    #[test]
    fn a_missing_c_library_is_the_machine_s_and_names_the_package() {
        for printed in [
            "/usr/bin/ld: cannot find -lc: No such file or directory\n",
            "/usr/bin/ld: cannot find crt1.o: No such file or directory\n",
            "init.c:5:10: fatal error: stdio.h: No such file or directory\n",
        ] {
            let failure = read(printed).unwrap();
            assert_eq!(failure.class, Class::Host, "{printed}");
            assert!(failure.hints[0].contains("libc6-dev"), "{failure:?}");
        }
    }

    #[test]
    fn a_compiler_that_meets_a_limit_is_not_a_missing_library() {
        let failure = read("collect2: fatal error: ld terminated with signal 25 [File size limit exceeded]\n").unwrap();
        assert_eq!(failure.class, Class::Host);
        assert!(failure.what.contains("File size limit") && failure.hints[0].contains("ulimit"), "{failure:?}");
    }

    #[test]
    fn an_error_in_a_shipped_file_is_nspatch_s_fault() {
        let failure = read("init.c:5:1: error: unknown type\n").unwrap();
        assert_eq!((failure.class, failure.blame), (Class::Build, Blame::Nspatch));
        assert_eq!(failure.place.as_deref(), Some("images/init.c:5"));
    }
}
