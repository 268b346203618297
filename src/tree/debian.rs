//! Debian's (and Ubuntu's) packages of kernel sources, had with the distribution's own tools.

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::import::{self, Imported};
use super::places::Places;
use crate::blame::{Class, Failure};
use crate::catalogue::nearest;
use crate::event::{Ending, Stage};
use crate::job::Job;
use crate::process::Call;
use crate::store::{Digest, read_json, write_json};

/// The endings of a source's file name, the usual one first.
const ENDINGS: [&str; 4] = [".tar.xz", ".tar.zst", ".tar.gz", ".tar"];
const PACKAGE: &str = "linux-source-";

/// A tarball of a package.
struct Found {
    tarball: Utf8PathBuf,
    /// The package's version, where it is known.
    version: Option<String>,
}

/// The kernel of `linux-source-VERSION`: the installed one, else the one downloaded before, else a
/// new download.
pub(super) fn resolve(version: &str, places: &Places, job: Job<'_>) -> Result<(Imported, String), Failure> {
    let package = format!("{PACKAGE}{version}");
    let plausible = version.starts_with(|c: char| c.is_ascii_digit())
        && version.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    if !plausible {
        return Err(unknown(version, places));
    }
    let found = match installed_tarball(&package, places) {
        Some(found) => found,
        None => match downloaded(&package, job)? {
            Some(found) => found,
            None => download(version, &package, places, job)?,
        },
    };
    tell_newer(&package, &found, places, job);
    let imported = import::archive(&found.tarball, job)?;
    let origin = match found.version {
        Some(version) => format!("debian {package} {version}"),
        None => format!("debian {package} ({})", found.tarball),
    };
    Ok((imported, origin))
}

/// The versions whose sources are installed.
fn installed(places: &Places) -> Vec<String> {
    let files = places.sources.read_dir_utf8().into_iter().flatten().flatten();
    files
        .filter_map(|entry| {
            let name = entry.file_name().strip_prefix(PACKAGE)?;
            ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).map(str::to_owned)
        })
        .collect()
}

fn tarball_in(folder: &Utf8Path, package: &str) -> Option<Utf8PathBuf> {
    ENDINGS.iter().map(|ending| folder.join(format!("{package}{ending}"))).find(|path| path.is_file())
}

fn installed_tarball(package: &str, places: &Places) -> Option<Found> {
    let tarball = tarball_in(&places.sources, package)?;
    let query = Call::new(places.tool("dpkg-query")).args(["-W", "-f=${db:Status-Status} ${Version}", package]);
    // Without dpkg's word the tarball is as good, only its version is not known
    let version = query.run().ok().filter(|ended| ended.succeeded()).and_then(|ended| {
        let text = ended.text();
        text.strip_prefix("installed ").map(str::to_owned)
    });
    Some(Found { tarball, version })
}

/// Written when a download is complete.
#[derive(Serialize, Deserialize)]
struct Note {
    version: String,
    tarball: String,
}

fn downloaded(package: &str, job: Job<'_>) -> Result<Option<Found>, Failure> {
    let folder = job.cache.folder("downloads")?;
    let note: Option<Note> = read_json(&folder.join(format!("{package}.json"))).ok();
    Ok(note
        .map(|note| Found { tarball: folder.join(note.tarball), version: Some(note.version) })
        .filter(|found| found.tarball.is_file()))
}

fn download(version: &str, package: &str, places: &Places, job: Job<'_>) -> Result<Found, Failure> {
    let candidate = candidate(package, places)?.ok_or_else(|| unknown(version, places))?;
    let task = job.begin(Stage::Tree, format!("download {package} {candidate}"), None);
    let scratch = job.cache.scratch()?;
    let scratch = Utf8Path::from_path(scratch.path()).ok_or_else(|| Failure::host("the cache's path is not UTF-8"))?;
    let log = job.log(&format!("download-{package}"));
    // apt runs its downloads as another user if it can; where that user cannot write, it says so and goes on
    let get = Call::new(places.tool("apt-get")).args(["-q", "download"]).arg(format!("{package}={candidate}"));
    let ended = get.folder(scratch).deadline(std::time::Duration::from_secs(3600)).log(&log).run()?;
    if !ended.succeeded() {
        return Err(ended.failure().hint("if the package lists are old: `apt-get update`"));
    }
    let deb =
        scratch.read_dir_utf8()?.flatten().map(|entry| entry.into_path()).find(|path| path.extension() == Some("deb"));
    let deb = deb.ok_or_else(|| Failure::host(format!("apt-get downloaded no package {package}")).at(&log))?;
    let root = scratch.join("root");
    Call::new(places.tool("dpkg-deb")).args(["-x", deb.as_str(), root.as_str()]).log(log).demand()?;
    let tarball = tarball_in(&root.join("usr/src"), package)
        .ok_or_else(|| Failure::host(format!("the package {package} {candidate} holds no tarball that can be read")))?;
    let found = keep(&tarball, package, &candidate, job)?;
    task.end(Ending::Done);
    Ok(found)
}

fn keep(tarball: &Utf8Path, package: &str, version: &str, job: Job<'_>) -> Result<Found, Failure> {
    let folder = job.cache.folder("downloads")?;
    let ending = ENDINGS.iter().find(|ending| tarball.as_str().ends_with(**ending)).unwrap_or(&".tar");
    let name = format!("{package}_{}{ending}", version.replace([':', '/'], "%"));
    fs_err::rename(tarball, folder.join(&name))?;
    write_json(&folder.join(format!("{package}.json")), &Note { version: version.to_owned(), tarball: name.clone() })?;
    Ok(Found { tarball: folder.join(name), version: Some(version.to_owned()) })
}

/// The version that apt would install, `None` where it knows no such package.
fn candidate(package: &str, places: &Places) -> Result<Option<String>, Failure> {
    let policy = Call::new(places.tool("apt-cache"))
        .args(["policy", package])
        .run()
        .map_err(|failure| no_apt(failure, package))?;
    let text = policy.text();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("Candidate:"));
    Ok(line.map(str::trim).filter(|version| *version != "(none)").map(str::to_owned))
}

fn no_apt(failure: Failure, package: &str) -> Failure {
    if failure.class == Class::Interrupted {
        return failure;
    }
    Failure::host(format!("{package} is not installed here, and there is no apt to get it with"))
        .at(failure.place.unwrap_or_default())
        .hint("give a tarball, its address, or a folder with a kernel instead")
}

/// Says so if apt knows another version than the one that is used.
fn tell_newer(package: &str, found: &Found, places: &Places, job: Job<'_>) {
    let Some(used) = &found.version else { return };
    // Asking apt takes a second: its answer holds until its lists change
    let Ok(key) = lists_key(package, places) else {
        return;
    };
    let Ok(folder) = job.cache.folder("trees/seen") else {
        return;
    };
    let note = folder.join(format!("apt-{}.json", &key[..32]));
    let newest = match read_json::<Option<String>>(&note) {
        Ok(newest) => newest,
        Err(_) => {
            let Ok(newest) = candidate(package, places) else {
                return;
            };
            // Only a second is lost if this cannot be written
            let _ = write_json(&note, &newest);
            newest
        }
    };
    if let Some(newest) = newest.filter(|newest| newest != used) {
        let hint = format!(
            "`apt-get install {package}` gets {newest}, and so does removing {} if it lies in the cache",
            found.tarball
        );
        job.notice(Stage::Tree, format!("{package} {used} is used; apt offers {newest}"), Some(&hint));
    }
}

fn lists_key(package: &str, places: &Places) -> Result<String, Failure> {
    let changed =
        fs_err::metadata(&places.lists)?.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ok(Digest::of("apt").field("package", package).field("changed", changed.as_nanos().to_le_bytes()).hex())
}

/// The versions that can be had, for hints: the installed ones and those that apt knows, sorted.
pub(super) fn known(places: &Places) -> Vec<String> {
    let mut versions = installed(places);
    let search = Call::new(places.tool("apt-cache")).args(["search", "--names-only", "^linux-source-[0-9]"]).run();
    if let Ok(ended) = search {
        let text = ended.text();
        let names = text.lines().filter_map(|line| line.split(' ').next()?.strip_prefix(PACKAGE));
        versions.extend(names.map(str::to_owned));
    }
    versions.sort();
    versions.dedup();
    versions
}

fn unknown(version: &str, places: &Places) -> Failure {
    let versions = known(places);
    let failure = Failure::usage(format!("no package {PACKAGE}{version} is installed, and apt knows none"))
        .at(format!("debian:{version}"));
    let near: Vec<_> =
        nearest(version, versions.iter().map(String::as_str)).iter().map(|near| format!("`debian:{near}`")).collect();
    let failure = if near.is_empty() { failure } else { failure.hint(format!("did you mean {}?", near.join(" or "))) };
    match versions.is_empty() {
        true => failure.hint("if the package lists are old or missing: `apt-get update`"),
        false => failure.hint(format!("there are: debian:{}", versions.join(", debian:"))),
    }
}

#[cfg(test)]
mod tests;
