//! What apt knows, and its commands. apt's own configuration gives every address: none is written here.

use std::time::Duration;

use super::need::Version;
use super::probe::version;
use super::system::System;
use crate::blame::{Class, Failure};
use crate::process::Call;

const LIMIT: Duration = Duration::from_secs(60);
/// Debian's keyring, where an entry of the configuration names none.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// The file that a backports source is written to.
const LIST: &str = "/etc/apt/sources.list.d/nspatch-backports.list";
/// The last Debian whose own QEMU is too old for the virtual clock.
const LAST_WITH_OLD_QEMU: u32 = 12;

/// One command of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) words: Vec<String>,
    pub(super) input: Option<String>,
    /// Whether the ones after it are pointless when it fails.
    pub(super) decisive: bool,
}

impl Step {
    fn new(words: &[&str]) -> Self {
        Step { words: words.iter().map(|&word| word.to_owned()).collect(), input: None, decisive: true }
    }

    /// The command as typed into a shell, with `sudo` where that is needed.
    pub(super) fn line(&self, sudo: bool) -> String {
        let words: Vec<_> = self.words.iter().map(|word| quoted(word)).collect();
        let command = format!("{}{}", if sudo { "sudo " } else { "" }, words.join(" "));
        match &self.input {
            Some(input) => format!("echo {} | {command}", quoted(input.trim_end())),
            None => command,
        }
    }
}

/// A word as typed into a shell; one with `=` needs no quotes unless it comes first.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@%".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { shell_words::quote(word).into_owned() }
}

/// The version of a package that apt would install, if it knows one.
///
/// # Errors
///
/// Only when the work was interrupted.
pub(super) fn candidate(package: &str) -> Result<Option<String>, Failure> {
    let text = ask("apt-cache", &["policy", package])?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("Candidate: "));
    Ok(line.filter(|version| *version != "(none)").map(str::to_owned))
}

/// What a program prints, or nothing if it is not there or fails.
fn ask(program: &str, args: &[&str]) -> Result<String, Failure> {
    match Call::new(program).args(args).deadline(LIMIT).run() {
        Ok(ended) if ended.succeeded() => Ok(ended.text()),
        Err(failure) if failure.class == Class::Interrupted => Err(failure),
        Ok(_) | Err(_) => Ok(String::new()),
    }
}

/// A package that is wanted, and the oldest version of it that will do.
pub(super) type Wanted = (&'static str, Option<Version>);

/// The steps that bring packages, in order; none for no packages.
///
/// # Errors
///
/// The work was interrupted.
pub(super) fn steps(system: &System, wanted: &[Wanted]) -> Result<Vec<Step>, Failure> {
    let (mut plain, mut newer) = (Vec::new(), Vec::new());
    for (package, oldest) in wanted {
        let list = if from_backports(system, package, *oldest)? { &mut newer } else { &mut plain };
        if !list.contains(package) {
            list.push(*package);
        }
    }
    if plain.is_empty() && newer.is_empty() {
        return Ok(Vec::new());
    }
    let suite = format!("{}-backports", system.codename);
    let mut steps = Vec::new();
    if !newer.is_empty()
        && let Some(line) = missing_source(system, &suite)?
    {
        steps.push(Step { input: Some(line + "\n"), ..Step::new(&["tee", LIST]) });
    }
    steps.push(update());
    steps.extend(install(&[], &plain));
    steps.extend(install(&["-t", &suite], &newer));
    Ok(steps)
}

/// Renews the lists. Sources of others may be out of reach, which must not stop the installation.
pub(super) fn update() -> Step {
    Step { decisive: false, ..Step::new(&["apt-get", "update"]) }
}

fn install(from: &[&str], packages: &[&str]) -> Option<Step> {
    let fixed = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends"];
    let patience = ["-o", "DPkg::Lock::Timeout=300"];
    let words: Vec<&str> = fixed.iter().chain(&patience).chain(from).chain(packages).copied().collect();
    (!packages.is_empty()).then(|| Step::new(&words))
}

/// Whether the release's own version of a package is too old, and backports may have a newer one.
fn from_backports(system: &System, package: &str, oldest: Option<Version>) -> Result<bool, Failure> {
    let Some(oldest) = oldest.filter(|_| system.id == "debian" && !system.codename.is_empty()) else {
        return Ok(false);
    };
    let known = candidate(package)?.and_then(|text| version(text.split_once(':').map_or(&*text, |(_, rest)| rest)));
    Ok(match known {
        Some((_, numbers)) => numbers < oldest,
        // Before the first update apt knows no versions
        None => package.starts_with("qemu") && system.version.parse().is_ok_and(|it: u32| it <= LAST_WITH_OLD_QEMU),
    })
}

/// One line of apt's configuration for backports, from the same address as the release itself;
/// `None` if there is such a line already, or no address to take.
fn missing_source(system: &System, suite: &str) -> Result<Option<String>, Failure> {
    let format = "$(RELEASE)|$(COMPONENT)|$(REPO_URI)|$(SOURCESENTRY)";
    let targets = ask("apt-get", &["indextargets", "--no-release-info", "--format", format, "Created-By: Packages"])?;
    Ok(source_line(&targets, &system.codename, suite, |file| fs_err::read_to_string(file).ok()))
}

fn source_line(targets: &str, codename: &str, suite: &str, read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let rows: Vec<Vec<&str>> = targets.lines().map(|line| line.split('|').collect()).collect();
    let released = |row: &&Vec<&str>, name: &str| row.len() == 4 && row[0] == name && row[1] == "main";
    if rows.iter().any(|row| released(&row, suite)) {
        return None;
    }
    let own = [codename, "stable", "oldstable"].iter().find_map(|name| rows.iter().find(|row| released(row, name)))?;
    let keyring = keyring(own[3], read).unwrap_or_else(|| KEYRING.to_owned());
    Some(format!("deb [signed-by={keyring}] {} {suite} main", own[2]))
}

/// The keyring that an entry of the configuration is signed by. The entry is a file, a colon, and
/// the line (`.list`) or the number of the paragraph (`.sources`).
fn keyring(entry: &str, read: impl Fn(&str) -> Option<String>) -> Option<String> {
    let (file, place) = entry.rsplit_once(':')?;
    let place = place.parse::<usize>().ok()?.checked_sub(1)?;
    let text = read(file)?;
    let value = if file.ends_with(".sources") {
        let paragraph = text.split("\n\n").filter(|part| part.contains("URIs:")).nth(place)?;
        paragraph.lines().find_map(|line| line.strip_prefix("Signed-By:"))?.trim()
    } else {
        let rest = text.lines().nth(place)?.split_once("signed-by=")?.1;
        rest.split([' ', ']', ',']).next()?
    };
    // A key may also stand in the entry itself; then there is no path to name
    value.starts_with('/').then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGETS: &str = "bookworm|main|http://mirror.example/debian/|/etc/apt/sources.list.d/debian.sources:1\n\
                           bookworm-security|main|http://mirror.example/security/|/etc/apt/sources.list.d/debian.sources:2";

    #[test]
    fn backports_come_from_the_release_s_own_address_and_keyring() {
        let file = "Types: deb\nURIs: http://mirror.example/debian\nSigned-By: /keys/a.gpg\n\nTypes: deb\nURIs: x\n";
        let line = source_line(TARGETS, "bookworm", "bookworm-backports", |_| Some(file.to_owned()));
        assert_eq!(line.unwrap(), "deb [signed-by=/keys/a.gpg] http://mirror.example/debian/ bookworm-backports main");
    }

    #[test]
    fn an_entry_without_a_keyring_gets_debian_s() {
        let targets = "oldstable|main|http://mirror.example/debian/|/etc/apt/sources.list:1";
        let read = |_: &str| Some("deb http://mirror.example/debian/ oldstable main".to_owned());
        let line = source_line(targets, "bookworm", "bookworm-backports", read).unwrap();
        assert!(line.starts_with(&format!("deb [signed-by={KEYRING}] ")), "{line}");
    }

    #[test]
    fn a_source_that_is_there_is_not_added_again() {
        let targets = format!("{TARGETS}\nbookworm-backports|main|http://mirror.example/debian/|x:1");
        assert_eq!(source_line(&targets, "bookworm", "bookworm-backports", |_| None), None);
    }

    #[test]
    fn a_keyring_is_read_from_both_kinds_of_files() {
        let list = "# comment\ndeb [arch=amd64 signed-by=/keys/b.gpg] http://mirror.example/ x main\n";
        let sources = "Types: deb\nURIs: a\nSigned-By:\n -----BEGIN PGP\n\nTypes: deb\nURIs: b\nSigned-By: /keys/c.gpg";
        let cases = [
            ("/etc/apt/a.list:2", list, Some("/keys/b.gpg")),
            ("/etc/apt/a.list:1", list, None),
            ("/etc/apt/a.sources:2", sources, Some("/keys/c.gpg")),
            ("/etc/apt/a.sources:1", sources, None),
            ("/etc/apt/a.sources:0", sources, None),
        ];
        for (entry, text, expected) in cases {
            assert_eq!(keyring(entry, |_| Some(text.to_owned())).as_deref(), expected, "{entry}");
        }
    }

    #[test]
    fn steps_read_as_they_are_typed() {
        let step = Step { input: Some("deb x y main\n".to_owned()), ..Step::new(&["tee", LIST]) };
        assert_eq!(step.line(true), format!("echo 'deb x y main' | sudo tee {LIST}"));
        insta::assert_snapshot!(
            install(&["-t", "s"], &["a", "b"]).unwrap().line(false),
            @"env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 -t s a b"
        );
    }
}
