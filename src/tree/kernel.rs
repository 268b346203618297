//! What makes a folder a kernel: a Makefile with a version, and a Kconfig.

use crate::blame::Failure;

/// The failure of something that is no kernel.
pub(super) fn none(missing: &str) -> Failure {
    Failure::usage(format!("this is no kernel source: {missing}"))
        .hint("give the folder or archive whose top holds the kernel's own Makefile and Kconfig")
}

/// The version by a kernel's Makefile: `VERSION.PATCHLEVEL.SUBLEVEL` and `EXTRAVERSION`, such as
/// `6.12.117` or `7.0.0-rc3`.
pub(super) fn version(makefile: &[u8]) -> Result<String, Failure> {
    let text = String::from_utf8_lossy(makefile);
    let number = |name| {
        let value = assigned(&text, name)?;
        (!value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())).then_some(value)
    };
    let demand = |name| number(name).ok_or_else(|| none(&format!("its Makefile does not set {name} to a number")));
    let (major, minor) = (demand("VERSION")?, demand("PATCHLEVEL")?);
    let patch = number("SUBLEVEL").map(|number| format!(".{number}")).unwrap_or_default();
    let extra = assigned(&text, "EXTRAVERSION").unwrap_or_default();
    Ok(format!("{major}.{minor}{patch}{extra}"))
}

/// The value of the first `NAME = value` line.
fn assigned<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (left, value) = line.split_once('=')?;
        (left.trim() == name).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_as_the_makefile_has_it() {
        let cases = [
            ("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\n", "6.12.117"),
            ("# SPDX\nVERSION = 7\nPATCHLEVEL = 0\nSUBLEVEL = 0\nEXTRAVERSION = -rc3\nNAME = Baby\n", "7.0.0-rc3"),
            ("VERSION=3\nPATCHLEVEL=3\nSUBLEVEL=8\n", "3.3.8"),
            ("VERSION = 5\nPATCHLEVEL = 0\n", "5.0"),
        ];
        for (makefile, expected) in cases {
            assert_eq!(version(makefile.as_bytes()).unwrap(), expected, "{makefile}");
        }
    }

    #[test]
    fn another_makefile_is_told_apart_by_what_it_lacks() {
        let cases =
            [("all:\n", "VERSION"), ("VERSION = 1.0\nPATCHLEVEL = 2\n", "VERSION"), ("VERSION = 6\n", "PATCHLEVEL")];
        for (makefile, missing) in cases {
            let failure = version(makefile.as_bytes()).unwrap_err();
            assert!(failure.what.contains(missing), "{makefile}: {}", failure.what);
        }
    }
}
