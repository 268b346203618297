//! The emulator on this machine.

use std::time::Duration;

use crate::arch::Arch;
use crate::blame::Failure;
use crate::process::Call;

/// A QEMU that is new enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qemu {
    /// What it emulates.
    pub arch: Arch,
    /// Its name in `PATH`, or its path.
    pub program: String,
    /// Its version, such as `10.0.2 (Debian 1:10.0.2+ds-2)`. Part of what results depend on.
    pub version: String,
}

impl Qemu {
    /// Finds an architecture's QEMU in `PATH` and checks its version.
    ///
    /// # Errors
    ///
    /// It is missing, too old, or does not say its version.
    pub fn find(arch: Arch) -> Result<Self, Failure> {
        Self::at(arch, arch.qemu)
    }

    /// Takes a given program as an architecture's QEMU and checks its version.
    ///
    /// # Errors
    ///
    /// As [`Qemu::find`].
    pub fn at(arch: Arch, program: &str) -> Result<Self, Failure> {
        let call = Call::new(program).arg("--version").deadline(Duration::from_secs(30));
        let package = arch.qemu_package;
        let ended = call.demand().map_err(|failure| failure.hint(format!("on Debian: apt-get install {package}")))?;
        let version = version_text(&ended.text())
            .ok_or_else(|| Failure::host(format!("`{program}` does not say its version")).excerpt([ended.text()]))?;
        check_age(arch, program, &version)?;
        Ok(Qemu { arch, program: program.to_owned(), version })
    }
}

/// `10.0.2 (Debian ...)` of `QEMU emulator version 10.0.2 (Debian ...)` and what follows.
fn version_text(printed: &str) -> Option<String> {
    let line = printed.lines().find_map(|line| line.strip_prefix("QEMU emulator version "))?;
    numbers(line).map(|_| line.trim().to_owned())
}

/// Major and minor number.
fn numbers(version: &str) -> Option<(u32, u32)> {
    let number = version.split_whitespace().next()?;
    let mut parts = number.split('.');
    let mut next = || parts.next().and_then(|part| part.parse().ok());
    Some((next()?, next()?))
}

fn check_age(arch: Arch, program: &str, version: &str) -> Result<(), Failure> {
    let (oldest, why) = arch.oldest_qemu;
    if numbers(version).is_some_and(|found| found >= oldest) {
        return Ok(());
    }
    let (major, minor) = oldest;
    let package = arch.qemu_package;
    Err(Failure::host(format!(
        "`{program}` is QEMU {version}; the virtual clock needs {major}.{minor} or newer: {why}"
    ))
    .at(program)
    .hint("`nspatch doctor --install` installs what is missing, from the backports where it must")
    .hint(format!("Debian 12 has a new one in its backports: apt-get install -t bookworm-backports {package}"))
    .hint("Debian 13 and Ubuntu 24.04 have one that is new enough"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_as_distributions_print_them() {
        let printed = "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)\nCopyright (c) 2003-2025";
        assert_eq!(version_text(printed).unwrap(), "10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)");
        for (text, expected) in [
            ("8.2.2 (Debian 1:8.2.2+ds-0ubuntu1)", Some((8, 2))),
            ("9.1.50 (v9.1.0-123-gdeadbeef)", Some((9, 1))),
            ("8.1.0-rc1", Some((8, 1))),
            ("", None),
            ("eight", None),
        ] {
            assert_eq!(numbers(text), expected, "{text}");
        }
        assert_eq!(version_text("QEMU emulator version new"), None);
    }

    #[test]
    fn the_limit_is_between_8_0_and_8_1() {
        let arch = Arch::named("x86_64").unwrap();
        assert!(check_age(arch, "qemu", "8.0.5").is_err());
        assert!(check_age(arch, "qemu", "8.1.0").is_ok());
        assert!(check_age(arch, "qemu", "10.0.2").is_ok());
    }

    #[test]
    fn a_missing_qemu_names_its_package() {
        let failure = Qemu::at(Arch::named("arm64").unwrap(), "nspatch-no-such-qemu").unwrap_err();
        assert_eq!(failure.hints.last().unwrap(), "on Debian: apt-get install qemu-system-arm");
    }
}
