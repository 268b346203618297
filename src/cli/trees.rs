//! `nspatch trees`.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::global::Global;
use super::output::{Format, show, show_json, size, table};
use crate::blame::{Failure, exit};
use crate::store::bytes_on_disk;
use crate::tree::{Address, Shelf, shelves};

/// Show the trees that go by a name, and what the cache holds
///
/// The names come from a shipped catalogue, over which nspatch/trees.yaml in the user's folder for
/// configurations and trees.yaml in the project are laid. `nspatch clean` frees what the cache holds.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch trees
  nspatch trees --format json
  nspatch test --tree 6.12.y@v6.12.9     any revision of a tree of the catalogue")]
pub(super) struct Args {
    /// How to show it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// All that is shown.
#[derive(Serialize)]
struct Overview {
    catalogue: Vec<Address>,
    cache: Utf8PathBuf,
    cached: Vec<Shelf>,
    /// The other kinds of things in the cache, with their bytes on disk.
    other: BTreeMap<String, u64>,
    /// The bytes on disk of the whole cache.
    bytes: u64,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let cache = global.cache_folder()?;
    let catalogue = global.places()?.addresses;
    let cached = shelves(&cache)?;
    let other: BTreeMap<_, _> = kinds(&cache)?
        .into_iter()
        .filter(|kind| kind != "trees")
        .map(|kind| (kind.clone(), bytes_on_disk(&cache.join(kind))))
        .collect();
    let bytes = cached.iter().map(|shelf| shelf.bytes).chain(other.values().copied()).sum();
    let overview = Overview { catalogue, cache, cached, other, bytes };
    match args.format {
        Format::Text => show(&overview.text())?,
        Format::Json => show_json(&overview)?,
    }
    Ok(exit::FINE)
}

/// The kinds of things in the cache, which are its folders, sorted. Work in progress is none.
pub(super) fn kinds(cache: &Utf8Path) -> Result<Vec<String>, Failure> {
    if !cache.is_dir() {
        return Ok(Vec::new());
    }
    let mut kinds = Vec::new();
    for entry in cache.read_dir_utf8().map_err(|error| Failure::io(&error).at(cache))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.file_name() != "scratch" {
            kinds.push(entry.file_name().to_owned());
        }
    }
    kinds.sort();
    Ok(kinds)
}

impl Overview {
    fn text(&self) -> String {
        let named = |it: &Address| [it.name.clone(), it.revision.clone(), it.address.clone(), it.from.clone()];
        let named: Vec<_> = self.catalogue.iter().map(named).collect();
        let mut rows: Vec<[String; 5]> = self.cached.iter().flat_map(shelf_rows).collect();
        let other = self.other.iter().map(|(kind, bytes)| (kind.as_str(), *bytes)).chain([("total", self.bytes)]);
        rows.extend(other.map(|(kind, bytes)| [kind, "", &size(bytes), "", ""].map(str::to_owned)));
        format!("catalogue\n{}\ncache {}\n{}", table(&named), self.cache, table(&rows))
    }
}

/// The rows of a folder of trees: its size stands with the first of them.
fn shelf_rows(shelf: &Shelf) -> Vec<[String; 5]> {
    if shelf.trees.is_empty() {
        return vec![[shelf.folder.to_string(), String::new(), size(shelf.bytes), String::new(), String::new()]];
    }
    let row = |(place, it): (usize, &crate::tree::Use)| {
        let bytes = if place == 0 { size(shelf.bytes) } else { "with it".to_owned() };
        [it.name.clone(), it.version.clone(), bytes, it.used.strftime("%Y-%m-%d").to_string(), it.origin.clone()]
    };
    shelf.trees.iter().enumerate().map(row).collect()
}
