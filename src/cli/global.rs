//! Options that every subcommand has, and what follows from them.

use std::io::{IsTerminal, Write};

use camino::Utf8PathBuf;

use crate::blame::Failure;
use crate::catalogue::Catalogue;
use crate::console::{Console, Style};
use crate::store::Cache;
use crate::tree::Places;

/// The file of trees of the user or of a project.
const TREES: &str = "trees.yaml";

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Where trees, objects and images are kept between runs [env: NSPATCH_CACHE] [default: nspatch in
    /// the user's cache folder]
    #[arg(long, global = true, value_name = "DIR")]
    cache: Option<Utf8PathBuf>,

    /// The folder whose patches, kconfigs, images and workflows come before the shipped ones
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    project: Utf8PathBuf,

    /// How progress is shown on standard error
    #[arg(long, global = true, value_name = "HOW", value_enum, default_value_t = Progress::Auto)]
    progress: Progress,

    /// Whether to colour what goes to a terminal; NO_COLOR in the environment says never
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    color: Color,

    /// Say nothing on standard error but failures
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Progress {
    /// Bars on a terminal, lines elsewhere
    Auto,
    /// Bars that move; lines where there is no terminal
    Bars,
    /// A line when work begins and ends, and one every half minute
    Lines,
    /// Every event as a line of JSON
    Json,
    /// Notices only
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    /// On a terminal
    Auto,
    /// Everywhere
    Always,
    /// Nowhere
    Never,
}

impl Global {
    /// Where the cache is, or will be.
    ///
    /// # Errors
    ///
    /// Neither the option nor the environment says it.
    pub(super) fn cache_folder(&self) -> Result<Utf8PathBuf, Failure> {
        if self.cache.as_ref().is_some_and(|path| path.as_str().is_empty()) {
            return Err(Failure::usage("the name of the cache's folder is empty").at("--cache"));
        }
        // As with other such variables, an empty one is none
        let by_environment =
            || std::env::var("NSPATCH_CACHE").ok().filter(|path| !path.is_empty()).map(Utf8PathBuf::from);
        self.cache.clone().or_else(by_environment).or_else(|| users_folder("XDG_CACHE_HOME", ".cache")).ok_or_else(
            || {
                Failure::usage("there is no place for the cache: HOME and XDG_CACHE_HOME are not set")
                    .at("--cache")
                    .hint("give one with --cache DIR or NSPATCH_CACHE")
            },
        )
    }

    /// The cache, made where it is missing.
    ///
    /// # Errors
    ///
    /// There is no place for it, or its folder cannot be made.
    pub(super) fn cache(&self) -> Result<Cache, Failure> {
        Cache::open(&self.cache_folder()?)
    }

    /// The shipped folders, overlaid with the project's.
    ///
    /// # Errors
    ///
    /// The project's folder is not there.
    pub(super) fn catalogue(&self) -> Result<Catalogue, Failure> {
        if self.project.is_dir() {
            Ok(Catalogue::of_project(&self.project))
        } else {
            Err(Failure::usage(format!("there is no folder `{}`", self.project)).at("--project"))
        }
    }

    /// Where kernels are looked for: the shipped catalogue with the user's and the project's over it.
    ///
    /// # Errors
    ///
    /// A file of trees cannot be read, or holds what cannot be used.
    pub(super) fn places(&self) -> Result<Places, Failure> {
        let user = users_folder("XDG_CONFIG_HOME", ".config").map(|folder| folder.join(TREES));
        Places::with_tables(user.into_iter().chain([self.project.join(TREES)]))
    }

    /// The console for the events of stages.
    pub(super) fn console(&self) -> Console {
        Console::new(self.style(is_terminal()))
    }

    /// Says a line on standard error, unless nothing is to be said there.
    pub(super) fn remark(&self, line: &str) {
        if !self.quiet {
            // Nobody may be there to read it
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
    }

    fn style(&self, terminal: bool) -> Style {
        let bars = Style::Bars { color: self.color(terminal) };
        match self.progress {
            _ if self.quiet => Style::Quiet,
            Progress::Auto | Progress::Bars if terminal => bars,
            Progress::Auto | Progress::Bars | Progress::Lines => Style::Lines,
            Progress::Json => Style::Json,
            Progress::None => Style::Notices,
        }
    }

    fn color(&self, terminal: bool) -> bool {
        match self.color {
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
            Color::Always => true,
            Color::Never => false,
        }
    }

    /// Whether to colour what goes to standard output.
    pub(super) fn colours_output(&self) -> bool {
        self.color(std::io::stdout().is_terminal() && !is_dumb())
    }

    /// The text of a failure, its first word in bold red where colours are wanted.
    pub(super) fn paint_error(&self, text: &str) -> String {
        match text.strip_prefix("error:") {
            Some(rest) if self.color(is_terminal()) => format!("\x1b[1;31merror:\x1b[0m{rest}"),
            _ => text.to_owned(),
        }
    }
}

/// Whether standard error is a terminal that can move its cursor.
fn is_terminal() -> bool {
    std::io::stderr().is_terminal() && !is_dumb()
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The folder of nspatch among the user's folders of a kind.
fn users_folder(variable: &str, below_home: &str) -> Option<Utf8PathBuf> {
    let folder = |name| std::env::var(name).ok().map(Utf8PathBuf::from).filter(|path| path.is_absolute());
    let root = folder(variable).or_else(|| folder("HOME").map(|home| home.join(below_home)));
    root.map(|root| root.join("nspatch"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(progress: Progress, quiet: bool) -> Global {
        Global { cache: None, project: Utf8PathBuf::from("."), progress, color: Color::Never, quiet }
    }

    #[test]
    fn bars_are_for_terminals_and_lines_for_the_rest() {
        let cases = [
            (Progress::Auto, false, true, Style::Bars { color: false }),
            (Progress::Auto, false, false, Style::Lines),
            (Progress::Bars, false, false, Style::Lines),
            (Progress::Lines, false, true, Style::Lines),
            (Progress::Json, false, true, Style::Json),
            (Progress::None, false, true, Style::Notices),
            (Progress::Json, true, true, Style::Quiet),
        ];
        for (progress, quiet, terminal, style) in cases {
            assert_eq!(global(progress, quiet).style(terminal), style, "{progress:?} {quiet} {terminal}");
        }
    }
}
