//! From what `--patch` names, if it is no patch of the catalogue, to a patch.

use camino::Utf8Path;

use super::choose::{Chosen, Wish, choose};
use super::posting::postings;
use super::subject::{Tags, Version};
use crate::blame::Failure;
use crate::event::Stage;
use crate::job::Job;
use crate::source::{self, Bundle, Diff, Letter, Mail, Order, Part, Patch};

/// What stands for standard input.
const STDIN: &str = "-";
/// What a patch may be, for hints.
const FORMS: &str = "a patch is a name of `nspatch list patches`, a file, a folder, `-` for standard input, or a mail's \
                     MESSAGE-ID or address";

/// Whether a name looks like, or is, something other than a patch of the catalogue.
pub fn is_input(name: &str) -> bool {
    name == STDIN || name.contains(['/', '@']) || Utf8Path::new(name).exists()
}

/// The patch in a file, a folder, standard input (`-`) or a thread of a list's archive, by its
/// Message-ID or address (`archive` is asked unless it names another); `@v2` behind it asks for that
/// version. Nothing is known of it but what it says itself. What was chosen among several versions is told by a notice.
///
/// # Errors
///
/// It cannot be read, there is no patch in it, it is not clear which patch or version is meant, or
/// some of its mails are missing; or the diff of one is not whole.
pub fn load(name: &str, archive: &str, job: Job<'_>) -> Result<Patch, Failure> {
    let (bundle, version) = find(name, archive, job)?;
    patch_of(&bundle, version, job)
}

/// The mails that a name means, and the version that it asks for.
fn find(name: &str, archive: &str, job: Job<'_>) -> Result<(Bundle, Option<Version>), Failure> {
    let (place, version) = split_version(name);
    if place == STDIN {
        return Ok((source::from_stdin()?, version));
    }
    if Utf8Path::new(place).exists() {
        return Ok((source::from_path(Utf8Path::new(place))?, version));
    }
    match Letter::of(place)? {
        Some(letter) => Ok((source::from_archive(&letter, archive, job)?, version)),
        None => Err(Failure::usage(format!("there is no file or folder {name}")).at("--patch").hint(FORMS)),
    }
}

/// The place and the version that is asked for in it. What is there by its whole name is meant so.
fn split_version(name: &str) -> (&str, Option<Version>) {
    let split = name.rsplit_once('@').and_then(|(place, version)| Some((place, Version::of(version)?)));
    match split {
        Some((place, version)) if !Utf8Path::new(name).exists() && is_input(place) => (place, Some(version)),
        _ => (name, None),
    }
}

fn patch_of(bundle: &Bundle, version: Option<Version>, job: Job<'_>) -> Result<Patch, Failure> {
    let wish = Wish { version, message_id: bundle.asked.as_deref() };
    let chosen = chosen(bundle, wish).map_err(|failure| failure.at(&bundle.place))?;
    if let Some(notice) = &chosen.notice {
        let hint = "@ and a version behind the name take that version, such as `--patch FILE@v1`";
        job.notice(Stage::Source, format!("{}: {notice}", bundle.place), Some(hint));
    }
    assemble(bundle, &chosen)
}

fn chosen(bundle: &Bundle, wish: Wish<'_>) -> Result<Chosen, Failure> {
    let mails = &bundle.mails;
    let with_diff: Vec<usize> = (0..mails.len()).filter(|&mail| mails[mail].has_diff()).collect();
    let numbered = with_diff.iter().all(|&mail| Tags::of(&mails[mail].subject).number.is_some());
    if with_diff.is_empty() {
        // What a diff looks like is told by the one who looks for it
        return Err(Diff::of(b"").err().unwrap_or_else(|| Failure::internal("nothing was taken for a diff")));
    }
    if bundle.order == Order::Listed || (bundle.order == Order::Named && !numbered) || with_diff.len() == 1 && !numbered
    {
        return Ok(Chosen { mails: with_diff, cover: None, notice: None });
    }
    choose(&postings(mails), mails, wish)
}

fn assemble(bundle: &Bundle, chosen: &Chosen) -> Result<Patch, Failure> {
    let mails: Vec<&Mail> = chosen.mails.iter().map(|&mail| &bundle.mails[mail]).collect();
    let parts =
        mails.iter().enumerate().map(|(index, mail)| Part::of(index + 1, mail)).collect::<Result<Vec<_>, _>>()?;
    let first = mails[0];
    let title = match (chosen.cover, mails.len()) {
        (Some(cover), _) => bundle.mails[cover].title().to_owned(),
        (None, 1) => first.title().to_owned(),
        (None, more) => format!("{} and {} more", first.title(), more - 1),
    };
    let name = name_of(bundle, &title)?;
    Ok(Patch {
        title: if title.is_empty() { name.clone() } else { title },
        name,
        author: first.author.clone(),
        found: bundle.found.clone(),
        original: as_mailbox(&mails, &parts),
        diff: Diff::joined(parts.iter().map(|part| &part.diff)),
        parts,
        about: None,
        ports: Vec::new(),
        controls: Vec::new(),
    })
}

/// The bytes of a mail, or of several as a mailbox from which they can be had again.
fn as_mailbox(mails: &[&Mail], parts: &[Part]) -> Vec<u8> {
    if let [only] = mails {
        return only.raw.clone();
    }
    let mut mailbox = Vec::new();
    for (mail, part) in mails.iter().zip(parts) {
        if !mail.raw.starts_with(b"From ") {
            mailbox.extend(b"From mboxrd@z Thu Jan  1 00:00:00 1970\n");
        }
        if !mail.has_headers {
            mailbox.extend(format!("Subject: {}\n\n", part.title).bytes());
        }
        mailbox.extend(mail.raw.trim_ascii_start());
        mailbox.extend(if mail.raw.ends_with(b"\n") { &b"\n"[..] } else { b"\n\n" });
    }
    mailbox
}

/// The patch's name, which becomes a folder of the run: the file's as far as it can be one, or the
/// title's words.
fn name_of(bundle: &Bundle, title: &str) -> Result<String, Failure> {
    let name = bundle.name.clone().unwrap_or_else(|| source::slug(title));
    let name = if name.is_empty() { "patch".to_owned() } else { name };
    if name.trim_matches('.').is_empty() || name.chars().any(char::is_control) || name.contains('/') {
        return Err(
            Failure::usage("a patch file needs a name other than dots, without control characters").at(&bundle.place)
        );
    }
    Ok(name)
}

#[cfg(test)]
mod tests;
