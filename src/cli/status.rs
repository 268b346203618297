//! `nspatch status`.

use super::global::Global;
use super::output::{Format, show, show_json, table};
use super::patches::Patches;
use super::test::DEFAULT_TREE;
use crate::apply::{FileConflict, PartStanding};
use crate::blame::{Failure, exit};
use crate::job::Job;
use crate::workflow::{self, STATUS_VERSION, StatusRow, Turn};

/// Show how patches stand to trees: what applies, what was merged, what conflicts and where
///
/// Nothing is built. A patch that was merged is tried backwards first, so that it is never put in
/// twice; one that something else made needless says by what. With --since, the commit is found at
/// which a patch's state changed.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch status --tree debian:6.12 --tree debian:6.1
  nspatch status --tree ~/src/linux --patch 0001-my-change.patch
  nspatch status --tree ~/src/linux --since v6.1 --patch ipc-free-work-queue")]
pub(super) struct Args {
    /// A kernel source, as for `nspatch test`; may be repeated
    #[arg(long, value_name = "TREE", default_value = DEFAULT_TREE)]
    tree: Vec<String>,

    #[command(flatten)]
    patches: Patches,

    /// Find the commit after this revision at which the state changed
    #[arg(long, value_name = "REV")]
    since: Option<String>,

    /// How to show it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let places = global.places()?;
    let (cache, console) = (global.cache()?, global.console());
    let logs = cache.scratch()?;
    let logs = camino::Utf8Path::from_path(logs.path()).unwrap_or(cache.root());
    let emit = |event| console.emit(event);
    let job = Job { cache: &cache, logs, emit: &emit };
    let patches = workflow::patches(&global.catalogue()?, &args.patches.patch, &args.patches.lore.lore, job)?;
    match &args.since {
        None => {
            let rows = workflow::status(&args.tree, &places, &patches, job)?;
            match args.format {
                Format::Text => show(&matrix(&rows))?,
                Format::Json => show_json(&serde_json::json!({ "version": STATUS_VERSION, "rows": rows }))?,
            }
        }
        Some(since) => {
            let turns = workflow::turns(&args.tree, &places, since, &patches, job)?;
            match args.format {
                Format::Text => show(&turns.iter().map(turned).collect::<String>())?,
                Format::Json => show_json(&serde_json::json!({ "version": STATUS_VERSION, "turns": turns }))?,
            }
        }
    }
    Ok(exit::FINE)
}

/// A table for each tree, and below it where patches and tree disagree: of one patch in full.
fn matrix(rows: &[StatusRow]) -> String {
    let of_tree = |rows: &[StatusRow]| {
        let head = format!("{} (Linux {})\n", rows[0].tree, rows[0].version);
        let cells: Vec<[String; 3]> =
            rows.iter().map(|row| [row.patch.clone(), compared(row), row.sentence.clone()]).collect();
        let most = if rows.len() == 1 { 6 } else { 1 };
        head + &table(&cells) + &rows.iter().map(|row| disagreements(row, most)).collect::<String>()
    };
    rows.chunk_by(|one, next| one.tree == next.tree).map(of_tree).collect::<Vec<_>>().join("\n")
}

/// Where a patch and the tree disagree; of a series, patch by patch.
fn disagreements(row: &StatusRow, most: usize) -> String {
    let of = |conflicts: &[FileConflict]| conflicts.iter().flat_map(|conflict| conflict.lines(most)).collect();
    let lines: Vec<String> = if row.series.is_empty() {
        of(&row.conflicts)
    } else {
        let of_part = |part: &PartStanding| {
            let commit = part.arrival.iter().map(|arrival| format!(", by {}", arrival.name)).collect::<String>();
            let head = format!("{}/{} {}: {}{commit}", part.number, row.series.len(), part.title, part.state);
            let below: Vec<String> = of(&part.conflicts);
            std::iter::once(head).chain(below.into_iter().map(|line| format!("  {line}"))).collect::<Vec<_>>()
        };
        row.series.iter().flat_map(of_part).collect()
    };
    if lines.is_empty() {
        return String::new();
    }
    format!("\n{}:\n{}", row.patch, lines.iter().map(|line| format!("  {line}\n")).collect::<String>())
}

fn compared(row: &StatusRow) -> String {
    row.comparison.as_ref().map_or("-".to_owned(), |sides| format!("{} -> {}", sides.baseline, sides.candidate))
}

fn turned(turn: &Turn) -> String {
    let skipped = if turn.skipped == 0 { String::new() } else { format!(", {} of them without a file", turn.skipped) };
    let search = format!("{} of {} commits looked at{skipped}", turn.looked_at, turn.candidates);
    match &turn.changed_by {
        Some(name) => format!("{}: {name}\n  before: {}\n  since:  {}\n  {search}\n", turn.patch, turn.from, turn.to),
        None => format!("{}: {}, at both ends\n", turn.patch, turn.to),
    }
}
