//! Patches, and where they are found.

use camino::{Utf8Path, Utf8PathBuf};

use super::about::{About, Author, ControlEntry, PortEntry, located};
use super::diff::{Diff, Direction};
use super::mail::Mail;
use crate::blame::Failure;
use crate::catalogue::{Catalogue, Entry, Folder, Origin, nearest};

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
    /// The mail or the diff, byte for byte.
    pub original: Vec<u8>,
    /// The diff in it.
    pub diff: Diff,
    /// What `patch.yaml` says; `None` for a file given by hand.
    pub about: Option<About>,
    /// The hand-made forms, in the order in which they are tried.
    pub ports: Vec<Port>,
    /// What puts the stall back, in the order in which they are tried.
    pub controls: Vec<Control>,
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
    names(catalogue)?.iter().map(|name| load(catalogue, name)).collect()
}

/// The patch of a name.
///
/// # Errors
///
/// There is none, and the failure names the nearest; or it is not whole.
pub fn find(catalogue: &Catalogue, name: &str) -> Result<Patch, Failure> {
    let names = names(catalogue)?;
    if names.iter().any(|known| known == name) {
        return load(catalogue, name);
    }
    let failure = Failure::usage(format!("there is no patch `{name}`")).at("--patch");
    let near = nearest(name, names.iter().map(String::as_str));
    Err(match near.is_empty() {
        true => failure.hint("`nspatch list` shows all patches; a file needs its path, such as `./fix.patch`"),
        false => failure
            .hint(format!("did you mean {}?", near.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" or "))),
    })
}

/// The patch in a file: a mail, or a plain diff. Nothing is known of it but what it says itself.
///
/// # Errors
///
/// The file cannot be read, or holds no patch, or more than one.
pub fn from_file(path: &Utf8Path) -> Result<Patch, Failure> {
    let original = fs_err::read(path).map_err(|error| Failure::usage(error.to_string()).at("--patch"))?;
    let whole = || -> Result<Patch, Failure> {
        let mail = Mail::of(&original)?;
        let diff = Diff::of(&original)?;
        let name = name_of(path)?;
        let found = Origin::Project(path.to_owned());
        Ok(Patch {
            name,
            title: mail.title,
            author: mail.author,
            found,
            original: original.clone(),
            diff,
            about: None,
            ports: vec![],
            controls: vec![],
        })
    };
    whole().map_err(|failure| failure.at(path))
}

/// The patch's name, which becomes a folder of the run: the file's, as far as it can be one.
fn name_of(path: &Utf8Path) -> Result<String, Failure> {
    let stem = path.file_stem().unwrap_or_default();
    if stem.trim_matches('.').is_empty() || stem.chars().any(char::is_control) {
        return Err(Failure::usage("a patch file needs a name other than dots, without control characters"));
    }
    Ok(stem.to_owned())
}

fn names(catalogue: &Catalogue) -> Result<Vec<String>, Failure> {
    let files = catalogue.files(Folder::Patches)?;
    let mut names: Vec<String> = files
        .keys()
        .filter(|path| path.components().count() > 1)
        .filter_map(|path| Some(path.components().next()?.to_string()))
        .collect();
    names.dedup();
    Ok(names)
}

fn load(catalogue: &Catalogue, name: &str) -> Result<Patch, Failure> {
    let folder = PatchFolder { files: catalogue.files(Folder::Patches)?, name: name.to_owned() };
    let yaml = folder.file("patch.yaml")?;
    let about = About::read(&yaml.bytes, &folder.place("patch.yaml"))?;
    let original = folder.file("original.patch")?.bytes.clone();
    let diff = folder.diff("original.patch")?;
    let listed = |file: &str, entry: &str| folder.listed(file, entry, &yaml.bytes);
    let port = |entry: &PortEntry| {
        Ok(Port { entry: entry.clone(), diff: listed(&format!("ports/{}", entry.file), &entry.file)? })
    };
    let control = |entry: &ControlEntry| Ok(Control { entry: entry.clone(), diff: listed(&entry.file, &entry.file)? });
    let ports = about.ports.iter().map(port).collect::<Result<_, Failure>>()?;
    let controls = about.controls.iter().map(control).collect::<Result<_, Failure>>()?;
    Ok(Patch {
        name: name.to_owned(),
        title: about.title.clone(),
        author: Some(about.author.clone()),
        found: yaml.origin.clone(),
        original,
        diff,
        about: Some(about),
        ports,
        controls,
    })
}

struct PatchFolder {
    files: std::collections::BTreeMap<Utf8PathBuf, Entry>,
    name: String,
}

impl PatchFolder {
    fn get(&self, file: &str) -> Option<&Entry> {
        self.files.get(&Utf8PathBuf::from(&self.name).join(file))
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
