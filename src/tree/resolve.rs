//! From what the user typed to a commit.

use camino::{Utf8Path, Utf8PathBuf};

use super::import::{self, Imported};
use super::places::{Places, is_git};
use super::remote::{self, Remote};
use super::{Tree, debian, download, folder, shelf};
use crate::blame::Failure;
use crate::catalogue::nearest;
use crate::job::Job;

/// What a name of a tree may look like, for hints and the manual.
const FORMS: &str = "a tree is debian:VERSION, a name such as linux-next, mainline, stable or 6.12.y (with @REVISION if \
                     wanted), a folder, FOLDER@REVISION, a tarball, or the http address of one";

/// Finds a tree, downloads and imports it where that was not done before.
///
/// `spec` is `debian:VERSION`, a name of the catalogue (`linux-next`, `6.12.y`) with or without
/// `@REVISION`, a folder (a git repository at `HEAD` or at `@REVISION`, or plain files), a tarball,
/// or the http or https address of a tarball. A name of the catalogue comes before a folder of the
/// same name: write `./mainline` for that.
///
/// # Errors
///
/// There is no such tree, it is no kernel, or it cannot be had here.
pub fn resolve(spec: &str, job: Job<'_>) -> Result<Tree, Failure> {
    resolve_in(spec, &Places::default(), job)
}

/// As [`resolve`], with the places where kernels are looked for.
///
/// # Errors
///
/// As [`resolve`].
pub fn resolve_in(spec: &str, places: &Places, job: Job<'_>) -> Result<Tree, Failure> {
    let (imported, origin) = match Form::of(spec, places)? {
        Form::Debian(version) => debian::resolve(&version, places, job)?,
        Form::Url(address) => download(&address, job)?,
        Form::Tarball(path) => (import::archive(&path, job)?, path.to_string()),
        Form::Git(path, rev) => folder::of_git(&path, rev.as_deref(), job)?,
        Form::Folder(path) => folder::of_files(&path, job)?,
        Form::Named { address, rev } => {
            let remote = Remote { name: spec, address: &address, rev: &rev, silence: places.silence };
            remote::fetch(&remote, job)?
        }
    };
    let Imported { repository, commit } = imported;
    let version = repository
        .version(&commit)
        .map_err(|failure| if failure.place.is_none() { failure.at(spec) } else { failure })?;
    let tree = Tree { name: spec.to_owned(), repository, commit, version, origin };
    shelf::remember(&tree)?;
    Ok(tree)
}

fn download(address: &str, job: Job<'_>) -> Result<(Imported, String), Failure> {
    let file = download::fetch(address, job)?;
    let imported = import::archive(&file, job).map_err(|failure| {
        if import::is_bad_input(&failure) {
            // Kept, it would be taken for good by the next run; the failure of the import is the one to tell
            let _ = download::forget(address, job);
        }
        failure.at(address)
    })?;
    Ok((imported, address.to_owned()))
}

/// The forms that a tree's name may have.
#[derive(Debug, PartialEq, Eq)]
enum Form {
    Debian(String),
    Url(String),
    Tarball(Utf8PathBuf),
    Git(Utf8PathBuf, Option<String>),
    Folder(Utf8PathBuf),
    Named { address: String, rev: String },
}

impl Form {
    fn of(spec: &str, places: &Places) -> Result<Self, Failure> {
        if let Some(version) = spec.strip_prefix("debian:") {
            return Ok(Form::Debian(version.to_owned()));
        }
        if spec.starts_with("http://") || spec.starts_with("https://") {
            return Ok(Form::Url(spec.to_owned()));
        }
        let (name, rev) = split_revision(spec);
        if let Some((address, usual)) = places.named(name) {
            return Ok(Form::Named { address: address.to_owned(), rev: rev.map_or(usual, str::to_owned) });
        }
        Self::of_path(spec).unwrap_or_else(|| Err(unknown(spec, places)))
    }

    fn of_path(spec: &str) -> Option<Result<Self, Failure>> {
        let whole = Utf8Path::new(spec);
        if whole.is_file() {
            return Some(Ok(Form::Tarball(whole.to_owned())));
        }
        if whole.is_dir() {
            return Some(Ok(if is_git(whole) {
                Form::Git(whole.to_owned(), None)
            } else {
                Form::Folder(whole.to_owned())
            }));
        }
        let (folder, rev) = split_revision(spec);
        let (folder, rev) = (Utf8Path::new(folder), rev?);
        match (folder.is_dir(), is_git(folder)) {
            (false, _) => None,
            (true, true) => Some(Ok(Form::Git(folder.to_owned(), Some(rev.to_owned())))),
            (true, false) => {
                Some(Err(Failure::usage(format!("{folder} is no git repository, so it has no revision `{rev}`"))
                    .hint(format!("`{folder}` alone takes its files as they are"))))
            }
        }
    }
}

fn split_revision(spec: &str) -> (&str, Option<&str>) {
    spec.split_once('@').map_or((spec, None), |(name, rev)| (name, Some(rev)))
}

fn unknown(spec: &str, places: &Places) -> Failure {
    let mut names: Vec<_> = places.names().collect();
    names.extend(debian::known(places).into_iter().map(|version| format!("debian:{version}")));
    let near = nearest(split_revision(spec).0, names.iter().map(String::as_str));
    let mut failure = Failure::usage(format!("no such tree: `{spec}`"));
    if spec.contains('/') || spec.contains(".tar") {
        failure = failure.hint(format!("there is no file or folder {spec}"));
    }
    if !near.is_empty() {
        failure = failure.hint(format!("did you mean `{}`?", near.join("` or `")));
    }
    failure.hint(FORMS)
}

#[cfg(test)]
mod tests;
