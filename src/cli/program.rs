//! The program: arguments in, exit code out.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::global::Global;
use super::{add, clean, compare, doctor, list, replay, report, shell, status, test, trees};
use crate::blame::Failure;
use crate::interrupt;

const EXIT_CODES: &str = "\
Exit codes:
  0    all ran, nothing got slower     6    a kernel does not boot
  1    a benchmark regressed           7    a benchmark failed in the guest
  2    wrong usage                     8    this machine lacks something
  3    a patch does not apply          9    some comparison is undecided
  4    a kernel configuration fails    10   some comparison was refused
  5    a kernel does not compile       130  interrupted

nspatch COMMAND --help tells more, with examples.";

/// Says with numbers whether a kernel patch makes namespace and mount operations faster or slower.
///
/// Patches as they were mailed are applied to kernel trees; each variant is built and booted in QEMU
/// with microbenchmarks on a clock that counts instructions, and the timings are compared.
#[derive(Debug, Parser)]
#[command(name = "nspatch", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Test(test::Args),
    Status(status::Args),
    Shell(shell::Args),
    Add(add::Args),
    Report(report::Args),
    Replay(replay::Args),
    Compare(compare::Args),
    List(list::Args),
    Doctor(doctor::Args),
    Trees(trees::Args),
    Clean(clean::Args),
}

/// Runs the program.
pub fn main() -> ExitCode {
    match Arguments::try_parse() {
        Ok(arguments) => ExitCode::from(guarded(&arguments.global, || run(&arguments))),
        Err(error) => {
            // Help and complaints alike may find nobody who reads them
            let _ = error.print();
            // clap gives 0 for help and 2, the code of wrong usage, for the rest
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(crate::blame::exit::USAGE))
        }
    }
}

/// Runs the command; a panic, printed by then, becomes the exit code of a fault of nspatch.
fn guarded(global: &Global, command: impl FnOnce() -> Result<u8, Failure>) -> u8 {
    let ended = catch_unwind(AssertUnwindSafe(command))
        .unwrap_or_else(|_| Err(Failure::internal("nspatch gave up at a place that should not be reached")));
    ended.unwrap_or_else(|failure| {
        let text = global.paint_error(&failure.render());
        // Nobody may be there to read it; the exit code says it too
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
        failure.class.exit_code()
    })
}

fn run(arguments: &Arguments) -> Result<u8, Failure> {
    interrupt::listen()?;
    let global = &arguments.global;
    match &arguments.command {
        Command::Test(args) => test::run(args, global),
        Command::Status(args) => status::run(args, global),
        Command::Shell(args) => shell::run(args, global),
        Command::Add(args) => add::run(args, global),
        Command::Report(args) => report::run(args, global),
        Command::Replay(args) => replay::run(args, global),
        Command::Compare(args) => compare::run(args, global),
        Command::List(args) => list::run(args, global),
        Command::Doctor(args) => doctor::run(args, global),
        Command::Trees(args) => trees::run(args, global),
        Command::Clean(args) => clean::run(args, global),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_panic_of_nspatch_is_a_fault_of_its_own_with_an_exit_code_of_its_own() {
        let arguments = Arguments::try_parse_from(["nspatch", "list"]).unwrap();
        assert_eq!(guarded(&arguments.global, || panic!("made up")), 70);
        assert_eq!(guarded(&arguments.global, || Err(Failure::internal("made up"))), 70);
        assert_eq!(guarded(&arguments.global, || Ok(9)), 9);
    }
}
