//! `nspatch compare`.

use camino::Utf8PathBuf;

use super::global::Global;
use super::output::{Format, run_folder, show_run};
use crate::blame::Failure;
use crate::compare::Reason;
use crate::event::{Event, Stage};
use crate::workflow::{self, Despite};

/// Judge what one run measured by what another did
///
/// The trees as they are, and each edit that both runs made, are compared: what the first run measured is the
/// baseline, what the second one did the candidate. Boots under unequal conditions are refused as not comparable, with
/// the first thing that differs. Nothing is built or booted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch compare nspatch-runs/monday nspatch-runs/tuesday
  nspatch compare runs/6.1 runs/6.12 --despite config --format json")]
pub(super) struct Args {
    /// The run folder of the baseline
    #[arg(value_name = "RUN_A")]
    earlier: Utf8PathBuf,

    /// The run folder of the candidate
    #[arg(value_name = "RUN_B")]
    later: Utf8PathBuf,

    /// What may differ all the same, with commas: the numbers then speak of both changes
    #[arg(long, value_enum, value_delimiter = ',')]
    despite: Vec<Choice>,

    /// How to show the results
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Choice {
    /// QEMU's version
    Qemu,
    /// The compiler
    Compiler,
    /// The guest: init and the benchmarks
    Guest,
    /// The kernel's configuration
    Config,
}

impl Choice {
    fn meant(self) -> Despite {
        match self {
            Choice::Qemu => Despite::Qemu,
            Choice::Compiler => Despite::Compiler,
            Choice::Guest => Despite::Guest,
            Choice::Config => Despite::Config,
        }
    }
}

/// The word of --despite that lifts a refusal, if one does.
fn lifted_by(reason: &Reason) -> Option<&'static str> {
    let Reason::ConditionsDiffer { what, .. } = reason else { return None };
    let words =
        [("QEMU's version", "qemu"), ("the compiler", "compiler"), ("the guest", "guest"), ("CONFIG_", "config")];
    words.into_iter().find(|(start, _)| what.starts_with(start)).map(|(_, word)| word)
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let despite: Vec<Despite> = args.despite.iter().map(|choice| choice.meant()).collect();
    let run = workflow::across(run_folder(&args.earlier), run_folder(&args.later), &despite)?;
    let refused = run.rows.iter().filter_map(|row| row.reason.as_ref()).find_map(lifted_by);
    if let Some(word) = refused {
        let message = "some was not measured under equal conditions".to_owned();
        let hint = Some(format!("--despite {word} compares it all the same"));
        global.console().emit(Event::Noticed { stage: Stage::Boot, message, hint });
    }
    show_run(&run, args.format, global)
}
