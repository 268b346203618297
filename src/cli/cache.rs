//! `nspatch cache`.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::global::Global;
use super::output::{show, size, table};
use crate::blame::{Failure, exit};
use crate::catalogue::nearest;
use crate::store::Cache;

/// Show what the cache holds, or empty it
///
/// Everything in the cache can be made again; emptying it costs only time. Do not empty what another
/// nspatch is using just now: its run would fail, though never give wrong figures.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch cache                    the size of each kind of thing
  nspatch cache clear objects      remove one kind
  nspatch cache clear              remove everything")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Remove everything, or one kind
    Clear {
        /// The kind, as `nspatch cache` names it
        kind: Option<String>,
    },
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let root = global.cache_folder()?;
    let sizes = if root.is_dir() { sizes(&root)? } else { BTreeMap::new() };
    match &args.command {
        None => show(&overview(&root, &sizes))?,
        Some(Command::Clear { kind }) if root.is_dir() => clear(&Cache::open(&root)?, &sizes, kind.as_deref())?,
        Some(Command::Clear { .. }) => {}
    }
    Ok(exit::FINE)
}

/// The kinds of things in the cache, which are its folders, and the bytes on disk of each.
fn sizes(root: &Utf8Path) -> Result<BTreeMap<String, u64>, Failure> {
    let mut sizes = BTreeMap::new();
    for entry in root.read_dir_utf8().map_err(|error| Failure::io(&error).at(root))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sizes.insert(entry.file_name().to_owned(), bytes_below(entry.path()));
        }
    }
    Ok(sizes)
}

/// The bytes on disk below a folder. What vanishes meanwhile does not count.
fn bytes_below(folder: &Utf8Path) -> u64 {
    let Ok(entries) = folder.read_dir_utf8() else { return 0 };
    let each = entries.flatten().map(|entry| match std::fs::symlink_metadata(entry.path()) {
        Ok(found) if found.is_dir() => bytes_below(entry.path()),
        Ok(found) => std::os::unix::fs::MetadataExt::blocks(&found) * 512,
        Err(_) => 0,
    });
    each.sum()
}

fn overview(root: &Utf8Path, sizes: &BTreeMap<String, u64>) -> String {
    let mut rows: Vec<[String; 2]> = sizes.iter().map(|(kind, bytes)| [kind.clone(), size(*bytes)]).collect();
    rows.push(["total".to_owned(), size(sizes.values().sum())]);
    format!("{root}\n{}", table(&rows))
}

fn clear(cache: &Cache, sizes: &BTreeMap<String, u64>, kind: Option<&str>) -> Result<(), Failure> {
    if let Some(kind) = kind
        && !sizes.contains_key(kind)
    {
        let failure = Failure::usage(format!("the cache holds no `{kind}`")).at(cache.root());
        let near = nearest(kind, sizes.keys().map(String::as_str));
        return Err(near.iter().fold(failure, |failure, near| failure.hint(format!("did you mean `{near}`?"))));
    }
    let mut freed = 0;
    for (name, bytes) in sizes.iter().filter(|(name, _)| kind.is_none_or(|kind| kind == *name)) {
        cache.discard(name)?;
        freed += bytes;
    }
    show(&format!("removed {}\n", size(freed)))
}
