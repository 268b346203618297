//! `nspatch doctor`.

use super::global::Global;
use super::output::{Format, show, show_json};
use super::test;
use crate::arch::Arch;
use crate::blame::{Failure, exit};
use crate::doctor::{Diagnosis, Remedy, Scope, examine, install};
use crate::job::Job;
use crate::store::Cache;

/// Show what this machine has and lacks, and install it
///
/// Looks for compilers, libraries, QEMU and all else that a run needs, tells their versions, and ends
/// with the command that installs what is missing. On Debian and Ubuntu --install runs that command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch doctor                   what is missing, if anything (exit code 8 if so)
  nspatch doctor --install         install it with apt; needs root or sudo
  nspatch doctor --arch arm64      only what arm64 kernels need")]
pub(super) struct Args {
    /// Install what is missing with apt, then look again
    #[arg(long)]
    install: bool,

    /// The architectures to look for, with commas [default: all]
    #[arg(long, value_name = "ARCH,...", value_delimiter = ',')]
    arch: Vec<String>,

    /// How to show the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let trees = [test::DEFAULT_TREE.to_owned()];
    let scope = scope(&test::architectures(&args.arch)?, &trees, global)?;
    let mut found = examine(&scope)?;
    if args.install
        && let Some(remedy) = &found.remedy
    {
        apply(remedy, global)?;
        found = examine(&scope)?;
    }
    match args.format {
        Format::Text => show(&found.text())?,
        Format::Json => show_json(&found)?,
    }
    Ok(if found.is_fit() { exit::FINE } else { exit::HOST })
}

/// What a run on these trees and architectures needs looked for.
pub(super) fn scope(architectures: &[Arch], trees: &[String], global: &Global) -> Result<Scope, Failure> {
    let debian = trees.iter().filter_map(|tree| tree.strip_prefix("debian:").map(str::to_owned)).collect();
    Ok(Scope { architectures: architectures.to_vec(), cache: global.cache_folder()?, debian })
}

/// Examines the machine before a run, installs what is missing if that is wanted, and fails if
/// something needed is still missing.
pub(super) fn prepare(scope: &Scope, setup: bool, job: Job<'_>) -> Result<(), Failure> {
    let found = examine(scope)?;
    match &found.remedy {
        Some(remedy) if setup => {
            install(remedy, job)?;
            examine(scope)
        }
        _ => Ok(found),
    }
    .and_then(|found: Diagnosis| found.demand())
}

fn apply(remedy: &Remedy, global: &Global) -> Result<(), Failure> {
    let cache: Cache = global.cache()?;
    let logs = cache.folder("logs")?;
    let console = global.console();
    let emit = |event| console.emit(event);
    install(remedy, Job { cache: &cache, logs: &logs, emit: &emit })
}
