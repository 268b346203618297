//! `nspatch clean`.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;

use super::global::Global;
use super::output::{show, size};
use super::trees::kinds;
use crate::blame::{Failure, exit};
use crate::catalogue::nearest;
use crate::store::{Cache, bytes_on_disk};
use crate::tree::{Shelf, shelves};

/// Remove what the cache holds: everything, or some trees or kinds of things
///
/// Everything in the cache can be made again; removing it costs only time. Nothing is removed while
/// another nspatch uses the cache.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch clean                    everything
  nspatch clean debian:6.12        one tree, with its checkouts and objects
  nspatch clean downloads images   some kinds of things")]
pub(super) struct Args {
    /// Trees or kinds of things, as `nspatch trees` names them [default: everything]
    what: Vec<String>,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let root = global.cache_folder()?;
    let kinds = kinds(&root)?;
    let doomed = doomed(&args.what, &kinds, &shelves(&root)?)?;
    let mut freed = 0;
    if !doomed.is_empty() {
        if !Cache::is_at(&root) {
            return Err(Failure::usage(format!("`{root}` was not made by nspatch: nothing was removed"))
                .at("--cache")
                .hint("remove by hand what you do not need"));
        }
        let cache = Cache::open_alone(&root)?;
        for path in doomed {
            freed += bytes_on_disk(&root.join(&path));
            cache.discard(path.as_str())?;
        }
    }
    show(&format!("removed {}\n", size(freed)))?;
    Ok(exit::FINE)
}

/// What these words name, by its path in the cache; all kinds if there are no words.
fn doomed(words: &[String], kinds: &[String], shelves: &[Shelf]) -> Result<BTreeSet<Utf8PathBuf>, Failure> {
    if words.is_empty() {
        return Ok(kinds.iter().map(Utf8PathBuf::from).collect());
    }
    let mut doomed = BTreeSet::new();
    for word in words {
        let of_trees =
            shelves.iter().filter(|shelf| shelf.folder == *word || shelf.trees.iter().any(|it| it.name == *word));
        let mut found: Vec<_> = of_trees.map(|shelf| shelf.folder.clone()).collect();
        found.extend(kinds.iter().filter(|kind| *kind == word).map(Utf8PathBuf::from));
        if found.is_empty() {
            return Err(unknown(word, kinds, shelves));
        }
        doomed.extend(found);
    }
    // What lies in a kind that goes is gone with it
    let whole = doomed.clone();
    doomed.retain(|path| path.parent().is_none_or(|kind| !whole.contains(kind)));
    Ok(doomed)
}

fn unknown(word: &str, kinds: &[String], shelves: &[Shelf]) -> Failure {
    let names = shelves.iter().flat_map(|shelf| shelf.trees.iter().map(|it| it.name.as_str()));
    let near = nearest(word, names.chain(kinds.iter().map(String::as_str)));
    let failure = Failure::usage(format!("the cache holds no `{word}`"));
    let failure = near.iter().fold(failure, |failure, near| failure.hint(format!("did you mean `{near}`?")));
    failure.hint("`nspatch trees` shows what it holds")
}
