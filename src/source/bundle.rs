//! What one `--patch` holds: mails, in an order or in none.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::mail::Mail;
use super::read;
use crate::blame::Failure;
use crate::catalogue::Origin;

/// The ends of the names of files that are taken from a folder.
const ENDS: [&str; 5] = ["patch", "diff", "eml", "mbox", "txt"];

/// Mails that were found together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// What a patch made of them is called, if the place says so.
    pub name: Option<String>,
    /// Where they were found, as people find it.
    pub place: String,
    /// Where they were found.
    pub found: Origin,
    /// The mails, replies and cover letters among them.
    pub mails: Vec<Mail>,
    /// What their order tells.
    pub order: Order,
    /// The Message-ID that was asked for, if they were found by one.
    pub asked: Option<String>,
}

/// What the order of mails tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Nothing: it is that of their arrival.
    Arrival,
    /// It is theirs, unless they are numbered.
    Named,
    /// It is theirs, and each of them is meant.
    Listed,
}

/// The mails in a file, in a folder with a quilt `series`, in a folder of patch files, or in a
/// maildir.
///
/// # Errors
///
/// There is no such thing, it cannot be read, or it is no text.
pub fn from_path(path: &Utf8Path) -> Result<Bundle, Failure> {
    let name = path.file_stem().filter(|_| !path.is_dir()).or(path.file_name());
    let absolute = || path.canonicalize_utf8().ok()?.file_name().map(str::to_owned);
    let bundle = |mails, order| Bundle {
        name: name.map(str::to_owned).or_else(absolute),
        place: path.to_string(),
        found: Origin::Project(path.to_owned()),
        mails,
        order,
        asked: None,
    };
    if !path.is_dir() {
        let mails = Mail::all(&read::file(path)?, path.as_str())?;
        // What git writes into one file it writes in the patches' order
        let order = if mails.iter().all(|mail| mail.from_git) { Order::Named } else { Order::Arrival };
        return Ok(bundle(mails, order));
    }
    let series = path.join("series");
    if series.is_file() {
        return Ok(bundle(quilt(path, &series)?, Order::Listed));
    }
    let (files, order) = patch_files(path)?;
    if files.is_empty() {
        return Err(Failure::usage(format!("there is no patch in the folder {path}"))
            .at("--patch")
            .hint(format!("a series is files that end in .{}, or listed in a file `series`", ENDS.join(", ."))));
    }
    Ok(bundle(read_all(&files)?, order))
}

/// The mails on standard input.
///
/// # Errors
///
/// Nobody writes to it, it does not end in time, or it is no text.
pub fn from_stdin() -> Result<Bundle, Failure> {
    use std::io::IsTerminal;
    const PLACE: &str = "standard input";
    if std::io::stdin().is_terminal() {
        return Err(Failure::usage("standard input is a terminal")
            .at("--patch -")
            .hint("pipe a mail or a diff into nspatch: `git show | nspatch test --patch -`"));
    }
    let bytes = read::text(std::io::stdin().lock()).map_err(|failure| failure.at(PLACE))?;
    Ok(Bundle {
        name: None,
        place: PLACE.to_owned(),
        found: Origin::Project("-".into()),
        mails: Mail::all(&bytes, PLACE)?,
        order: Order::Arrival,
        asked: None,
    })
}

/// The mails of the files that a quilt series lists.
fn quilt(folder: &Utf8Path, series: &Utf8Path) -> Result<Vec<Mail>, Failure> {
    let text = read::file(series)?;
    let mut files = Vec::new();
    for (number, line) in String::from_utf8_lossy(&text).lines().enumerate() {
        let wrong = |what: String| Err(Failure::usage(what).at(format!("{series}:{}", number + 1)));
        let line = if line.starts_with('#') { "" } else { line.split(" #").next().unwrap_or_default() };
        let mut words = line.split_whitespace();
        let Some(file) = words.next() else { continue };
        if let Some(option) = words.find(|word| !matches!(*word, "-p1" | "-pab")) {
            return wrong(format!("`{option}` is not understood: nspatch takes patches with -p1, forwards"));
        }
        if !Utf8Path::new(file).components().all(|part| matches!(part, camino::Utf8Component::Normal(_))) {
            return wrong(format!("`{file}` is not in the folder of the series"));
        }
        if !folder.join(file).is_file() {
            return wrong(format!("there is no file `{file}`"));
        }
        files.push(folder.join(file));
    }
    let mails = read_all(&files)?;
    let empty = files.iter().find(|file| !mails.iter().any(|mail| mail.place == **file && mail.has_diff()));
    match empty {
        Some(file) => Err(Failure::usage(format!("{file} holds no diff")).at(series)),
        None if files.is_empty() => Err(Failure::usage("it lists no patch").at(series)),
        None => Ok(mails),
    }
}

/// The files of a folder that may be patches, by name; all files of a maildir.
fn patch_files(folder: &Utf8Path) -> Result<(Vec<Utf8PathBuf>, Order), Failure> {
    let maildir = ["cur", "new"].map(|name| folder.join(name));
    let is_maildir = maildir.iter().any(|folder| folder.is_dir());
    let mut found = BTreeSet::new();
    let folders: &[Utf8PathBuf] = if is_maildir { &maildir } else { &[folder.to_owned()] };
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for entry in fs_err::read_dir(folder)? {
            let path = Utf8PathBuf::try_from(entry?.path())
                .map_err(|error| Failure::usage("a file's name is not UTF-8").at(error.as_path().display()))?;
            let named = path.extension().is_some_and(|end| ENDS.contains(&end));
            if (named || is_maildir) && path.is_file() && !path.file_name().unwrap_or_default().starts_with('.') {
                found.insert(path);
            }
        }
    }
    let numbered =
        |path: &Utf8PathBuf| path.file_name().is_some_and(|name| name.starts_with(|c: char| c.is_ascii_digit()));
    let order = if !is_maildir && found.iter().all(numbered) { Order::Named } else { Order::Arrival };
    Ok((found.into_iter().collect(), order))
}

fn read_all(files: &[Utf8PathBuf]) -> Result<Vec<Mail>, Failure> {
    let (mut mails, mut size) = (Vec::new(), 0);
    for file in files {
        let bytes = read::file(file)?;
        size += bytes.len() as u64;
        if size > read::LIMIT {
            return Err(
                Failure::usage(format!("the folder's patches have more than {} MiB", read::LIMIT >> 20)).at(file)
            );
        }
        mails.extend(Mail::all(&bytes, file.as_str())?);
    }
    Ok(mails)
}
