//! Patches, and where they are found.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use super::about::{About, Author, ControlEntry, PortEntry};
use super::check::Page;
use super::diff::{Diff, Direction};
use super::mail::Mail;
use crate::blame::Failure;
use crate::catalogue::{Catalogue, Entry, Folder, Origin, located, nearest};

/// One change, as mailed, with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Patch {
    /// The name of its folder, or of its file without the extension.
    pub name: String,
    /// The subject of the mail.
    pub title: String,
    /// Who wrote it, if the text says so.
    pub author: Option<Author>,
    /// Where it was found.
    pub found: Origin,
    /// The mail or the diff, byte for byte; the mails of a series one after the other.
    pub original: Vec<u8>,
    /// The diff in it; of a series, those of its parts one after the other, so that a file may stand
    /// in it more than once.
    pub diff: Diff,
    /// The patches of a series in their order; a patch alone is its only part.
    pub parts: Vec<Part>,
    /// What `patch.yaml` says; `None` for a file given by hand.
    pub about: Option<About>,
    /// The hand-made forms, in the order in which they are tried.
    pub ports: Vec<Port>,
    /// What puts the stall back, in the order in which they are tried.
    pub controls: Vec<Control>,
}

/// One patch of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its place in the series, from 1.
    pub number: usize,
    /// Its subject without `[PATCH ...]`, in one line; without one, its file's name.
    pub title: String,
    /// Who wrote it, if the mail says so.
    pub author: Option<Author>,
    /// The Message-ID of its mail without angle brackets, if it has one.
    pub message_id: Option<String>,
    /// When it was sent, in seconds since 1970, if the mail says so.
    pub date: Option<i64>,
    /// The mailing list that it came by, if the mail says so.
    pub list: Option<String>,
    /// Its diff, which starts from what the parts before it made.
    pub diff: Diff,
}

impl Part {
    /// The part that a mail is.
    ///
    /// # Errors
    ///
    /// As [`Diff::of_lines`].
    pub fn of(number: usize, mail: &Mail) -> Result<Self, Failure> {
        let file = || Utf8Path::new(&mail.place).file_stem().unwrap_or_default();
        Ok(Part {
            number,
            title: if mail.title().is_empty() { file() } else { mail.title() }.to_owned(),
            author: mail.author.clone(),
            message_id: mail.message_id.clone(),
            date: mail.date,
            list: mail.list.clone(),
            diff: mail.diff()?,
        })
    }
}

/// A hand-made form of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// What `patch.yaml` says of it.
    pub entry: PortEntry,
    /// Its diff, applied as written in either direction of the port.
    pub diff: Diff,
}

/// A small change of our own that puts back the stall which a patch once cured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// What `patch.yaml` says of it.
    pub entry: ControlEntry,
    /// Its diff.
    pub diff: Diff,
}

impl Patch {
    /// The benchmarks that show its effect; `None` if that is not known.
    pub fn benchmarks(&self) -> Option<&[String]> {
        self.about.as_ref().map(|about| &about.benchmarks[..])
    }

    /// The symbols that have to be `=y`, without `CONFIG_`.
    pub fn kconfig(&self) -> &[String] {
        self.about.as_ref().map_or(&[], |about| &about.kconfig)
    }

    /// The ports that put the patch in, or that take it out.
    pub fn ports(&self, direction: Direction) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(move |port| port.entry.direction == direction)
    }
}

/// All patches of the catalogue, by name.
///
/// # Errors
///
/// One of them is not whole; the failure names the file, and the line and key in a `patch.yaml`.
pub fn load_all(catalogue: &Catalogue) -> Result<Vec<Patch>, Failure> {
    folders(catalogue)?.iter().filter(|folder| folder.is_patch()).map(PatchFolder::load).collect()
}

/// A patch of the catalogue as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name of its folder.
    pub name: String,
    /// Its title, and what is still to be filled in, if anything is.
    pub title: String,
    /// Where its `patch.yaml` was found.
    pub found: Origin,
}

/// All patches of the catalogue, by name, those among them that are not yet filled in.
///
/// # Errors
///
/// As [`load_all`].
pub fn overview(catalogue: &Catalogue) -> Result<Vec<Listed>, Failure> {
    let listed = |folder: &PatchFolder| {
        let yaml = folder.file("patch.yaml")?;
        let title = match About::to_fill_in(&yaml.bytes) {
            Some((title, keys)) => format!("{title} (to be filled in: {keys})"),
            None => folder.load()?.title,
        };
        Ok(Listed { name: folder.name.clone(), title, found: yaml.origin.clone() })
    };
    folders(catalogue)?.iter().filter(|folder| folder.is_patch()).map(listed).collect()
}

/// The names of the catalogue's patches.
///
/// # Errors
///
/// The project's folder cannot be read.
pub fn names(catalogue: &Catalogue) -> Result<Vec<String>, Failure> {
    Ok(folders(catalogue)?.into_iter().filter(PatchFolder::is_patch).map(|folder| folder.name).collect())
}

/// Where a `patch.yaml` says something: the file with the number of the first line that holds the
/// first text, then of the first from there on that holds the next. For messages.
pub fn line_of(catalogue: &Catalogue, name: &str, path: &[&str]) -> String {
    let folder = folders(catalogue).ok().and_then(|all| all.into_iter().find(|folder| folder.name == name));
    let Some((folder, text)) = folder.and_then(|folder| {
        let text = String::from_utf8_lossy(&folder.get("patch.yaml")?.bytes).into_owned();
        Some((folder, text))
    }) else {
        return format!("patches/{name}/patch.yaml");
    };
    Page { text: &text, place: &folder.place("patch.yaml") }.line_of(path)
}

/// The folders among the catalogue's patches that are none, such as those of quilt, in one line each.
///
/// # Errors
///
/// The project's folder cannot be read.
pub fn passed_over(catalogue: &Catalogue) -> Result<Vec<String>, Failure> {
    let told = |folder: &PatchFolder| format!("patches/{} is passed over: it has no patch.yaml", folder.name);
    Ok(folders(catalogue)?.iter().filter(|folder| !folder.is_patch()).map(told).collect())
}

/// The patch of a name.
///
/// # Errors
///
/// There is none, and the failure names the nearest; or it is not whole.
pub fn find(catalogue: &Catalogue, name: &str) -> Result<Patch, Failure> {
    let folders = folders(catalogue)?;
    if let Some(folder) = folders.iter().find(|folder| folder.name == name) {
        return folder.load();
    }
    let failure = Failure::usage(format!("there is no patch `{name}`")).at("--patch");
    let near = nearest(name, folders.iter().filter(|folder| folder.is_patch()).map(|folder| folder.name.as_str()));
    Err(match near.is_empty() {
        true => failure.hint("`nspatch list` shows all patches; a file needs its path, such as `./fix.patch`"),
        false => failure
            .hint(format!("did you mean {}?", near.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" or "))),
    })
}

/// The folders of the catalogue's patches, by name.
fn folders(catalogue: &Catalogue) -> Result<Vec<PatchFolder>, Failure> {
    let mut folders: BTreeMap<String, PatchFolder> = BTreeMap::new();
    for (path, entry) in catalogue.files(Folder::Patches)? {
        let mut parts = path.components();
        // A file that lies in no folder is none of a patch's
        if let Some(name) = parts.next().map(|name| name.to_string()).filter(|_| parts.clone().next().is_some()) {
            let empty = || PatchFolder { files: BTreeMap::new(), name: name.clone() };
            folders.entry(name.clone()).or_insert_with(empty).files.insert(parts.as_path().to_owned(), entry);
        }
    }
    Ok(folders.into_values().collect())
}

struct PatchFolder {
    files: BTreeMap<Utf8PathBuf, Entry>,
    name: String,
}

impl PatchFolder {
    fn is_patch(&self) -> bool {
        self.get("patch.yaml").is_some()
    }

    fn load(&self) -> Result<Patch, Failure> {
        let yaml = self.file("patch.yaml")?;
        let about = About::read(&yaml.bytes, &self.place("patch.yaml"))?;
        let original = self.file("original.patch")?.bytes.clone();
        let parts = self.parts()?;
        let listed = |file: &str, entry: &str| self.listed(file, entry, &yaml.bytes);
        let port = |entry: &PortEntry| {
            Ok(Port { entry: entry.clone(), diff: listed(&format!("ports/{}", entry.file), &entry.file)? })
        };
        let control =
            |entry: &ControlEntry| Ok(Control { entry: entry.clone(), diff: listed(&entry.file, &entry.file)? });
        let ports = about.ports.iter().map(port).collect::<Result<_, Failure>>()?;
        let controls = about.controls.iter().map(control).collect::<Result<_, Failure>>()?;
        Ok(Patch {
            name: self.name.clone(),
            title: about.title.clone(),
            author: Some(about.author.clone()),
            found: yaml.origin.clone(),
            original,
            diff: Diff::joined(parts.iter().map(|part| &part.diff)),
            parts,
            about: Some(about),
            ports,
            controls,
        })
    }

    fn get(&self, file: &str) -> Option<&Entry> {
        self.files.get(Utf8Path::new(file))
    }

    fn file(&self, file: &str) -> Result<&Entry, Failure> {
        self.get(file).ok_or_else(|| {
            Failure::usage(format!("the patch `{}` has no {file}", self.name))
                .at(format!("patches/{}", self.name))
                .hint("docs/patches.md says what a patch's folder holds")
        })
    }

    fn diff(&self, file: &str) -> Result<Diff, Failure> {
        Diff::of(&self.file(file)?.bytes).map_err(|failure| failure.at(self.place(file)))
    }

    /// The patches in `original.patch`, in its order. Whoever put it there has left out all else.
    fn parts(&self) -> Result<Vec<Part>, Failure> {
        let place = self.place("original.patch");
        let mails = Mail::all(&self.file("original.patch")?.bytes, &place)?;
        let with_diff: Vec<&Mail> = mails.iter().filter(|mail| mail.has_diff()).collect();
        if with_diff.is_empty() {
            return self.diff("original.patch").map(|_| Vec::new());
        }
        with_diff.iter().enumerate().map(|(index, mail)| Part::of(index + 1, mail)).collect()
    }

    /// The diff of a file that `patch.yaml` lists under a name.
    fn listed(&self, file: &str, name: &str, yaml: &[u8]) -> Result<Diff, Failure> {
        if self.get(file).is_none() {
            let place = located(yaml, &self.place("patch.yaml"), name);
            return Err(Failure::usage(format!("{file} is listed but not there")).at(place));
        }
        self.diff(file)
    }

    /// A file's name as people find it: its path in a project, or `shipped` and its path there.
    fn place(&self, file: &str) -> String {
        match self.get(file).map(|entry| &entry.origin) {
            Some(Origin::Project(path)) => path.to_string(),
            _ => format!("shipped patches/{}/{file}", self.name),
        }
    }
}

#[cfg(test)]
mod tests;
