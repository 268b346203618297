//! A new folder for a patch: all that its mails say, and marks where a person has to write.

use camino::{Utf8Path, Utf8PathBuf};

use super::check::FILL_IN;
use super::patch::{Part, Patch};
use crate::blame::Failure;
use crate::catalogue::Catalogue;

/// Makes a folder below the project's `patches/` with the mails of a patch and a `patch.yaml`; gives
/// the folder. Nothing that is there is written over.
///
/// # Errors
///
/// There is a patch of this name, or a folder, or it cannot be made; or the name cannot be one.
pub fn add(
    patch: &Patch,
    name: &str,
    benchmarks: &[String],
    archive: &str,
    catalogue: &Catalogue,
) -> Result<Utf8PathBuf, Failure> {
    let sound = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(sound) {
        return Err(Failure::usage(format!("`{name}` cannot name a patch"))
            .at("--name")
            .hint("letters, digits, `-`, `_` and `.` can be in it"));
    }
    let project = catalogue.project().unwrap_or(Utf8Path::new("."));
    let (patches, folder) = (project.join("patches"), project.join("patches").join(name));
    if super::names(catalogue)?.iter().any(|known| known == name) || folder.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("there is a patch or a folder `{name}` already"))
            .at(folder)
            .hint("`--name NAME` gives the new one another name"));
    }
    fs_err::create_dir_all(&patches)?;
    // Whole or not at all
    let made = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(&patches)
        .map_err(|error| Failure::io(&error).at(&patches))?;
    fs_err::write(made.path().join("original.patch"), &patch.original)?;
    fs_err::write(made.path().join("patch.yaml"), yaml(patch, benchmarks, archive))?;
    // The folder of a temporary file is closed to others
    fs_err::set_permissions(made.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    fs_err::rename(made.path(), &folder)?;
    Ok(folder)
}

/// The `patch.yaml` of a patch of which only its mails are known.
fn yaml(patch: &Patch, benchmarks: &[String], archive: &str) -> String {
    let mut lines = vec![
        format!("# docs/patches.md explains every key. Write what belongs there in place of every {FILL_IN}."),
        format!("title: {}", filled(&patch.title)),
    ];
    lines.push(match &patch.author {
        Some(author) => {
            let email = author.email.as_deref().map(|email| format!(", email: {}", quoted(email))).unwrap_or_default();
            format!("author: {{ name: {}{email} }}", filled(&author.name))
        }
        None => format!("author: {{ name: {FILL_IN} }}"),
    });
    lines.push("origin:".to_owned());
    lines.extend(origin(&patch.parts, archive).into_iter().map(|line| format!("  {line}")));
    lines.push("# The licence of the kernel's own files".to_owned());
    lines.push("licence: GPL-2.0-only".to_owned());
    lines.push("# It touches:".to_owned());
    let mut files: Vec<&str> = patch.diff.files.iter().map(|change| change.path.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    lines.extend(files.iter().map(|file| format!("#   {file}")));
    if let Some(commit) = base_commit(&patch.original) {
        lines.push(format!("# The mail says that it was made for commit {commit}"));
    }
    lines.push(format!("base: {FILL_IN}"));
    lines.push("# merged, superseded (something else cured the stall) or not-merged".to_owned());
    lines.push(format!("fate: {{ outcome: {FILL_IN} }}"));
    lines.push(format!("# Of {}", benchmarks.join(", ")));
    lines.push(format!("benchmarks: [{FILL_IN}]"));
    lines.push("# What the mail measured, if it did:".to_owned());
    lines.push("# figures:".to_owned());
    lines.push("#   - { benchmark: NAME, operations: 1000, before: 8.05, after: 0.03, unit: s }".to_owned());
    lines.join("\n") + "\n"
}

/// Where the mails come from.
fn origin(parts: &[Part], archive: &str) -> Vec<String> {
    let Some(first) = parts.first() else { return vec![format!("mail: {FILL_IN}")] };
    let kind = match (&first.message_id, parts.len()) {
        (None, 1) if first.date.is_none() => "a text without the headers of a mail".to_owned(),
        (_, 1) => "as it was sent".to_owned(),
        (_, count) => format!("a series of {count} patches"),
    };
    let mut lines = vec![format!("mail: {}", quoted(&kind))];
    lines.extend(first.list.as_ref().map(|list| format!("list: {}", quoted(list))));
    if let Some(id) = first.message_id.as_ref().filter(|id| id.contains('@')) {
        lines.push(format!("message_id: {}", quoted(id)));
        lines.push(format!("link: {}", quoted(&super::archive::link(archive, id))));
    }
    let day = first.date.and_then(|date| jiff::Timestamp::from_second(date).ok());
    lines.extend(day.map(|day| format!("posted: \"{}\"", day.strftime("%Y-%m-%d"))));
    lines
}

/// The commit in the line `base-commit:` that git puts below a diff.
fn base_commit(original: &[u8]) -> Option<String> {
    let line = super::mbox::lines(original).find_map(|line| line.strip_prefix(b"base-commit: "))?.trim_ascii();
    let hash = str::from_utf8(line).ok()?;
    (hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| hash.to_owned())
}

fn filled(text: &str) -> String {
    if text.is_empty() { FILL_IN.to_owned() } else { quoted(text) }
}

/// A text as YAML takes it whatever is in it: as JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
