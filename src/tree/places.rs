//! Where kernels are looked for.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::blame::Failure;

/// Where kernels are looked for. The default is what a Debian system has, and the shipped catalogue.
#[derive(Clone, Debug)]
pub struct Places {
    /// The folder into which packages install kernel sources.
    pub sources: Utf8PathBuf,
    /// The folder of `apt-get`, `apt-cache`, `dpkg-query` and `dpkg-deb`; `PATH` is searched if `None`.
    pub tools: Option<Utf8PathBuf>,
    /// The folder whose time changes when the package lists are fetched anew.
    pub lists: Utf8PathBuf,
    /// The trees that go by a name.
    pub addresses: Vec<Address>,
    /// How long a git server may say nothing.
    pub silence: Duration,
}

impl Default for Places {
    fn default() -> Self {
        Places {
            sources: "/usr/src".into(),
            tools: None,
            lists: "/var/lib/apt/lists".into(),
            addresses: Address::table(include_bytes!("addresses.yaml"), SHIPPED, &[]).unwrap_or_default(),
            silence: Duration::from_secs(300),
        }
    }
}

impl Places {
    /// The program of this name.
    pub(super) fn tool(&self, name: &str) -> String {
        self.tools.as_ref().map_or(Utf8PathBuf::from(name), |folder| folder.join(name)).into_string()
    }

    /// The default places, with the trees of files laid over the shipped ones, the later over the
    /// earlier. A file that is not there has none.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or holds what cannot be used.
    pub fn with_tables(files: impl IntoIterator<Item = Utf8PathBuf>) -> Result<Self, Failure> {
        let mut places = Places::default();
        for file in files.into_iter().filter(|file| file.exists()) {
            places.addresses = Address::table(&fs_err::read(&file)?, file.as_str(), &places.addresses)?;
        }
        Ok(places)
    }

    /// The address and revision that a name such as `6.12.y` stands for. A name in full comes
    /// before one with a version in it.
    pub(super) fn named(&self, name: &str) -> Option<(&str, String)> {
        let full = self.addresses.iter().find(|entry| entry.name == name && !entry.name.contains(VERSION));
        let mut entries = full.into_iter().chain(&self.addresses);
        entries.find_map(|entry| Some((entry.address.as_str(), entry.revision_for(name)?)))
    }

    /// The names as they can be typed.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.addresses.iter().map(|entry| entry.name.replace(VERSION, "6.12"))
    }
}

/// Stands for two numbers in a name and in a revision.
const VERSION: &str = "VERSION";
/// What a tree of the catalogue is called where it comes from the program itself.
const SHIPPED: &str = "shipped";

/// A kernel tree that goes by a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Address {
    /// The name; `VERSION` in it stands for two numbers, such as `6.12`.
    pub name: String,
    /// The address of the git repository.
    pub address: String,
    /// The revision where none is asked for; `VERSION` in it is what the name had there.
    pub revision: String,
    /// `shipped`, or the file that it stands in.
    pub from: String,
}

/// An entry of a table, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    address: String,
    revision: Option<String>,
}

impl Address {
    /// Reads a table, a list of entries in YAML, over others: an entry takes the place of one of the
    /// same name, and its revision where it has none of its own.
    ///
    /// # Errors
    ///
    /// It is not such a list, or an entry of it cannot be used.
    pub fn table(yaml: &[u8], from: &str, others: &[Self]) -> Result<Vec<Self>, Failure> {
        let failure = |what: String| Failure::usage(what).at(from).hint(FORM);
        let rows: Vec<Row> = serde_yaml::from_slice(yaml)
            .map_err(|error| failure(format!("the table of trees cannot be read: {error}")))?;
        let mut table: Vec<Self> = Vec::new();
        for row in rows {
            if let Some(why) = row.fault(&table) {
                return Err(failure(format!("the tree `{}` cannot be used: {why}", row.name)));
            }
            let before = others.iter().find(|other| other.name == row.name).map(|other| other.revision.clone());
            let revision = row.revision.or(before).unwrap_or_else(|| "HEAD".to_owned());
            let address = relative_to(Utf8Path::new(from), row.address);
            table.push(Address { name: row.name, address, revision, from: from.to_owned() });
        }
        let covered = |other: &&Self| table.iter().all(|own| own.name != other.name);
        let rest: Vec<_> = others.iter().filter(covered).cloned().collect();
        table.extend(rest);
        Ok(table)
    }

    fn revision_for(&self, name: &str) -> Option<String> {
        let Some((before, after)) = self.name.split_once(VERSION) else {
            return (self.name == name).then(|| self.revision.clone());
        };
        let version = name.strip_prefix(before)?.strip_suffix(after)?;
        let (major, minor) = version.split_once('.')?;
        let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (number(major) && number(minor)).then(|| self.revision.replace(VERSION, version))
    }
}

/// What an entry looks like, for hints.
const FORM: &str = "an entry is: { name: NAME, address: ADDRESS OF A GIT REPOSITORY, revision: REVISION }";

impl Row {
    /// Why an entry cannot be used.
    fn fault(&self, before: &[Address]) -> Option<&'static str> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
        let empty = |text: &str| text.trim().is_empty() || text.starts_with('-');
        if empty(&self.name) || !self.name.chars().all(plain) {
            return Some("a name has letters, digits, `.`, `_`, `+` and `-`, and begins with no `-`");
        }
        if empty(&self.address) || self.revision.as_deref().is_some_and(empty) {
            return Some("its address or revision is empty, or begins with `-`");
        }
        before.iter().any(|other| other.name == self.name).then_some("the table has another of this name")
    }
}

/// A path in a table is seen from the table's folder, an address is left as it is.
fn relative_to(table: &Utf8Path, address: String) -> String {
    match table.parent() {
        Some(folder) if !address.contains(':') => {
            let path = folder.join(address);
            path.canonicalize_utf8().unwrap_or(path).into_string()
        }
        _ => address,
    }
}

/// Whether a folder is a git repository or a work tree of one.
pub(super) fn is_git(folder: &Utf8Path) -> bool {
    folder.join(".git").exists()
        || (folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_is_read_and_its_names_are_found() {
        let places = Places::default();
        let cases = [
            ("mainline", Some("refs/heads/master")),
            ("linux-next", Some("refs/heads/master")),
            ("stable", Some("refs/heads/linux-rolling-stable")),
            ("6.12.y", Some("refs/heads/linux-6.12.y")),
            ("6.12", None),
            ("6.x.y", None),
            ("VERSION.y", None),
        ];
        for (name, revision) in cases {
            assert_eq!(places.named(name).map(|(_, revision)| revision).as_deref(), revision, "{name}");
        }
    }

    #[test]
    fn a_later_table_comes_before_an_earlier_one_and_leaves_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
        let table = |name: &str, text: &str| {
            fs_err::write(folder.join(name), text).unwrap();
            folder.join(name)
        };
        let user = table(
            "user.yaml",
            "- { name: mainline, address: 'https://mirror.example.org/linux.git' }\n\
             - { name: mine, address: ../linux, revision: refs/heads/topic }\n",
        );
        let project = table(
            "project.yaml",
            "- { name: mine, address: 'git@example.org:linux.git' }\n- { name: 6.12.y, address: /srv/6.12.git }\n",
        );
        let places = Places::with_tables([user.clone(), project, folder.join("none.yaml")]).unwrap();
        let found = |name: &str| places.named(name).map(|(address, revision)| format!("{address} {revision}"));
        let cases = [
            ("mainline", "https://mirror.example.org/linux.git refs/heads/master"),
            ("mine", "git@example.org:linux.git refs/heads/topic"),
            ("6.12.y", "/srv/6.12.git HEAD"),
            ("6.6.y", "https://git.kernel.org/pub/scm/linux/kernel/git/stable/linux.git refs/heads/linux-6.6.y"),
        ];
        for (name, expected) in cases {
            assert_eq!(found(name).as_deref(), Some(expected), "{name}");
        }
        let paths = Places::with_tables([user.clone()]).unwrap();
        assert!(paths.named("mine").unwrap().0.ends_with("/../linux"), "seen from the table");
        let from: Vec<_> = places.addresses.iter().filter(|it| it.from == user).map(|it| it.name.as_str()).collect();
        assert_eq!(from, ["mainline"]);
    }

    #[test]
    fn a_table_that_cannot_be_used_says_which_entry_and_why() {
        let cases = [
            ("name: x\n", "cannot be read"),
            ("- { name: x }\n", "missing field `address`"),
            ("- { name: x, address: y, branch: z }\n", "unknown field `branch`"),
            ("- { name: a/b, address: y }\n", "`a/b` cannot be used: a name has letters"),
            ("- { name: -x, address: y }\n", "begins with no `-`"),
            ("- { name: x@1, address: y }\n", "a name has letters"),
            ("- { name: x, address: --upload-pack=evil }\n", "address or revision is empty, or begins with `-`"),
            ("- { name: x, address: y, revision: '' }\n", "address or revision is empty"),
            ("- { name: x, address: y }\n- { name: x, address: z }\n", "another of this name"),
        ];
        for (yaml, why) in cases {
            let failure = Address::table(yaml.as_bytes(), "trees.yaml", &[]).unwrap_err();
            assert!(failure.what.contains(why), "{yaml}: {}", failure.what);
            assert_eq!(failure.place.as_deref(), Some("trees.yaml"));
        }
    }
}
