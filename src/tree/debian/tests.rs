use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::tree::mini::{Surroundings, items, packed, tar};
use crate::tree::{Tree, resolve_in};

/// A machine with nothing installed, whose apt knows 6.1 and 6.12 and can download both.
struct Machine {
    here: Surroundings,
    places: Places,
}

impl Machine {
    fn new() -> Self {
        let here = Surroundings::new();
        let tools = here.root.join("tools");
        for folder in ["tools", "sources", "lists", "deb/usr/src"] {
            fs_err::create_dir_all(here.root.join(folder)).unwrap();
        }
        let places = Places {
            sources: here.root.join("sources"),
            tools: Some(tools),
            lists: here.root.join("lists"),
            addresses: Vec::new(),
            ..Places::default()
        };
        let machine = Machine { here, places };
        let root = &machine.here.root;
        machine.tool("dpkg-query", "exit 1");
        machine.tool("apt-get", &format!("echo \"$@\" >>{root}/gets; echo deb >\"${{3%%=*}}_1_all.deb\""));
        machine.tool("dpkg-deb", &format!("mkdir -p \"$3\" && cp -r {root}/deb/usr \"$3\""));
        machine.offers("6.12.3-1");
        fs_err::write(root.join("deb/usr/src/linux-source-6.12.tar.xz"), xz()).unwrap();
        machine
    }

    fn tool(&self, name: &str, script: &str) {
        let path = self.here.root.join("tools").join(name);
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Sets what apt would install, as after an update of its lists.
    fn offers(&self, version: &str) {
        let search = "search) echo 'linux-source-6.1 - x'; echo 'linux-source-6.12 - x' ;;";
        let policy = format!("policy) [ $2 != linux-source-6.12 ] || echo '  Candidate: {version}' ;;");
        self.tool("apt-cache", &format!("case $1 in {search} {policy} esac"));
        fs_err::remove_dir(&self.places.lists).unwrap();
        fs_err::create_dir(&self.places.lists).unwrap();
    }

    fn install(&self, version: &str) {
        fs_err::write(self.places.sources.join("linux-source-6.12.tar.xz"), xz()).unwrap();
        self.tool("dpkg-query", &format!("echo 'installed {version}'"));
    }

    fn resolve(&self, spec: &str) -> Result<Tree, Failure> {
        self.here.job(|job| resolve_in(spec, &self.places, job))
    }

    fn downloads(&self) -> String {
        fs_err::read_to_string(self.here.root.join("gets")).unwrap_or_default()
    }
}

fn xz() -> Vec<u8> {
    packed(&tar(&items("linux-source-6.12")))[1].1.clone()
}

#[test]
fn an_installed_package_comes_first_and_is_named_with_its_version() {
    let machine = Machine::new();
    machine.install("6.12.3-1");
    assert_eq!(machine.resolve("debian:6.12").unwrap().origin, "debian linux-source-6.12 6.12.3-1");
    assert_eq!((machine.downloads().as_str(), machine.here.notices().as_str()), ("", ""));
}

#[test]
fn a_newer_package_is_told_but_what_is_there_is_used() {
    let machine = Machine::new();
    machine.install("6.12.3-1");
    machine.resolve("debian:6.12").unwrap();
    machine.offers("6.12.4-1");
    assert_eq!(machine.resolve("debian:6.12").unwrap().origin, "debian linux-source-6.12 6.12.3-1");
    insta::assert_snapshot!(machine.here.notices(), @"linux-source-6.12 6.12.3-1 is used; apt offers 6.12.4-1");
}

#[test]
fn a_package_that_is_not_installed_is_downloaded_once() {
    let machine = Machine::new();
    let tree = machine.resolve("debian:6.12").unwrap();
    assert_eq!((tree.version.as_str(), tree.origin.as_str()), ("6.12.3", "debian linux-source-6.12 6.12.3-1"));
    assert_eq!(machine.resolve("debian:6.12").unwrap(), tree);
    assert_eq!(machine.downloads(), "-q download linux-source-6.12=6.12.3-1\n");
}

#[test]
fn a_failed_download_shows_what_apt_said_and_is_not_taken_for_good() {
    let machine = Machine::new();
    machine.tool("apt-get", "echo 'E: Failed to fetch: connection refused' >&2; exit 100");
    let failure = machine.resolve("debian:6.12").unwrap_err();
    assert_eq!(failure.class, Class::Host);
    assert!(failure.excerpt.iter().any(|line| line.contains("connection refused")), "{failure:?}");
    let root = machine.here.root.clone();
    machine.tool("apt-get", &format!("touch {root}/gets; echo deb >x.deb"));
    machine.resolve("debian:6.12").unwrap();
}

#[test]
fn an_unknown_version_lists_what_there_is() {
    let machine = Machine::new();
    for version in ["6.13", "6.12-rc1", "", "../6.12", "-x"] {
        let failure = machine.resolve(&format!("debian:{version}")).unwrap_err();
        assert_eq!(failure.class, Class::Usage, "{version}");
        assert!(failure.hints.iter().any(|hint| hint.contains("debian:6.1, debian:6.12")), "{version}: {failure:?}");
    }
    assert_eq!(machine.downloads(), "");
}

#[test]
fn without_apt_the_other_ways_are_named() {
    let machine = Machine::new();
    fs_err::remove_dir_all(machine.here.root.join("tools")).unwrap();
    let failure = machine.resolve("debian:6.12").unwrap_err();
    assert_eq!(failure.class, Class::Host);
    assert!(failure.what.contains("no apt") && failure.hints[0].contains("tarball"), "{failure:?}");
}
