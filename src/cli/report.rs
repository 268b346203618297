//! `nspatch report`.

use camino::Utf8PathBuf;

use super::global::Global;
use super::output::{Format, show_run};
use crate::blame::Failure;
use crate::report;

/// Show the results of a run again
///
/// Reads the run folder; nothing is built, booted or measured. The exit code is that of the run.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch report nspatch-runs/20260102-030405
  nspatch report nspatch-runs/20260102-030405 --format json")]
pub(super) struct Args {
    /// The run folder, or the run.json in it
    run: Utf8PathBuf,

    /// How to show the results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let file = if args.run.is_file() { args.run.clone() } else { args.run.join("run.json") };
    if !file.is_file() {
        return Err(Failure::usage(format!("`{}` is no run folder", args.run))
            .at(&file)
            .hint("`nspatch test` says where its run folder is, and writes run.json there"));
    }
    let run = report::read(&fs_err::read_to_string(&file)?).map_err(|failure| failure.at(&file))?;
    show_run(&run, args.format, global)
}
