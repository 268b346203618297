//! `nspatch replay`.

use camino::Utf8PathBuf;

use super::global::Global;
use super::output::{Format, run_folder, show_run};
use super::test::percent;
use crate::blame::Failure;
use crate::event::{Event, Stage};
use crate::workflow;

/// Judge the boots of a run again
///
/// Reads every sample from the run folder and finds the verdicts anew; nothing is built or booted, and the
/// folder is left as it is. Without --threshold the result is that of the run, to the last byte, unless this
/// nspatch judges by another rule.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch replay nspatch-runs/20260102-030405
  nspatch replay nspatch-runs/20260102-030405 --threshold 5 --format json")]
pub(super) struct Args {
    /// The run folder, or the run.json in it
    run: Utf8PathBuf,

    /// A smaller change than this does not matter, in percent [default: that of the run]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    threshold: Option<f64>,

    /// How to show the results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let replayed = workflow::replay(run_folder(&args.run), args.threshold.map(|percent| percent / 100.0))?;
    let changed = replayed.changed();
    if changed > 0 {
        let message = format!("{changed} of {} verdicts differ from those of the run", replayed.run.rows.len());
        global.console().emit(Event::Noticed { stage: Stage::Boot, message, hint: None });
    }
    show_run(&replayed.run, args.format, global)
}
