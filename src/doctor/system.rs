//! Which distribution this is, as far as packages go.

use serde::{Deserialize, Serialize};

/// Distributions whose packages have the same names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Debian, Ubuntu and what is made from them.
    Debian,
    /// Fedora and Red Hat's.
    Fedora,
    /// Arch Linux and what is made from it.
    Arch,
    /// openSUSE and SUSE's.
    Suse,
    /// Any other: nspatch knows no package names there.
    Other,
}

impl Family {
    /// The family's name in lower case, as in `arch.rs`.
    pub fn name(self) -> &'static str {
        match self {
            Family::Debian => "debian",
            Family::Fedora => "fedora",
            Family::Arch => "arch",
            Family::Suse => "suse",
            Family::Other => "other",
        }
    }
}

/// The running system by its `os-release` file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct System {
    /// Its name for people, such as `Debian GNU/Linux 12 (bookworm)`.
    pub name: String,
    /// Its short name, such as `debian` or `ubuntu`.
    pub id: String,
    /// Its version, such as `12` or `24.04`; empty where it has none.
    pub version: String,
    /// The name of its release in package sources, such as `bookworm`; empty where it has none.
    pub codename: String,
    /// Its family.
    pub family: Family,
}

impl System {
    /// The system that nspatch runs on; a machine without the file is of no known family.
    pub fn here() -> Self {
        let read = |path| fs_err::read_to_string(path).ok();
        Self::parse(&read("/etc/os-release").or_else(|| read("/usr/lib/os-release")).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let value = |key: &str| {
            let found = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            let words = found.and_then(|value| shell_words::split(value).ok()).unwrap_or_default();
            words.join(" ")
        };
        let (id, name) = (value("ID"), value("PRETTY_NAME"));
        let like = value("ID_LIKE");
        let kin = |names: &[&str]| like.split(' ').chain([id.as_str()]).any(|one| names.contains(&one));
        let family = match () {
            () if kin(&["debian", "ubuntu"]) => Family::Debian,
            () if kin(&["fedora", "rhel"]) => Family::Fedora,
            () if kin(&["arch"]) => Family::Arch,
            () if kin(&["suse", "opensuse", "sles"]) => Family::Suse,
            () => Family::Other,
        };
        let name = if name.is_empty() { "an unknown system".to_owned() } else { name };
        System { name, version: value("VERSION_ID"), codename: value("VERSION_CODENAME"), id, family }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_s_family_follows_from_its_kin() {
        let cases = [
            ("ID=debian", Family::Debian),
            ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"", Family::Debian),
            ("ID=rocky\nID_LIKE=\"rhel centos fedora\"", Family::Fedora),
            ("ID=manjaro\nID_LIKE=arch", Family::Arch),
            ("ID=\"opensuse-tumbleweed\"\nID_LIKE=\"opensuse suse\"", Family::Suse),
            ("ID=alpine", Family::Other),
            ("", Family::Other),
        ];
        for (text, family) in cases {
            assert_eq!(System::parse(text).family, family, "{text}");
        }
    }

    #[test]
    fn quotes_are_no_part_of_a_value() {
        let system = System::parse(
            "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_ID='12'\nVERSION_CODENAME=bookworm\nID=debian\n",
        );
        assert_eq!(system.name, "Debian GNU/Linux 12 (bookworm)");
        assert_eq!((system.version.as_str(), system.codename.as_str()), ("12", "bookworm"));
    }
}
