//! Where kernels are looked for.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::blame::Failure;

/// Where kernels are looked for. The default is what a Debian system has, and the shipped table.
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
            addresses: Address::table(include_str!("addresses.yaml").as_bytes()).unwrap_or_default(),
            silence: Duration::from_secs(300),
        }
    }
}

impl Places {
    /// The program of this name.
    pub(super) fn tool(&self, name: &str) -> String {
        self.tools.as_ref().map_or(Utf8PathBuf::from(name), |folder| folder.join(name)).into_string()
    }

    /// The address and revision that a name such as `6.12.y` stands for.
    pub(super) fn named(&self, name: &str) -> Option<(&str, String)> {
        self.addresses.iter().find_map(|entry| Some((entry.address.as_str(), entry.revision_for(name)?)))
    }

    /// The names as they can be typed.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.addresses.iter().map(|entry| entry.name.replace(VERSION, "6.12"))
    }
}

/// Stands for two numbers in a name and in a revision.
const VERSION: &str = "VERSION";

/// A kernel tree that goes by a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    /// The name; `VERSION` in it stands for two numbers, such as `6.12`.
    pub name: String,
    /// The address of the git repository.
    pub address: String,
    /// The revision where none is asked for; `VERSION` in it is what the name had there.
    pub revision: String,
}

impl Address {
    /// Reads a table: YAML, a list of entries.
    ///
    /// # Errors
    ///
    /// It is not such a list.
    pub fn table(yaml: &[u8]) -> Result<Vec<Self>, Failure> {
        serde_yaml::from_slice(yaml)
            .map_err(|error| Failure::usage(format!("the table of trees cannot be read: {error}")))
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
}
