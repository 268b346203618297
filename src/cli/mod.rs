//! The command line: one file for each subcommand, with its arguments, its help and its call.

mod add;
mod clean;
mod compare;
mod doctor;
mod global;
mod list;
mod output;
mod patches;
mod program;
mod replay;
mod report;
mod shell;
mod status;
mod test;
mod trees;

pub use program::main;
