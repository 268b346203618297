//! Standard output: data, and nothing else.

use std::io::{ErrorKind, Write};

use camino::Utf8Path;

use super::global::Global;
use crate::blame::Failure;
use crate::report::{self, Run};

/// The forms in which data is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// A table for people.
    Text,
    /// One JSON document.
    Json,
}

/// Writes to standard output. A reader that has had enough, such as `head`, is no failure.
///
/// # Errors
///
/// Anything else that goes wrong, such as a full disk.
pub(super) fn show(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| {
            Failure::host(format!("the results cannot be shown: {error}"))
                .at("standard output")
                .hint("where standard output goes, nothing more can be written: send it elsewhere")
        }),
    }
}

/// Writes a value to standard output as indented JSON.
///
/// # Errors
///
/// As [`show`].
pub(super) fn show_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::internal(format!("a value does not become JSON: {error}")))?;
    show(&(text + "\n"))
}

/// Writes the results of a run to standard output, and gives its exit code.
///
/// # Errors
///
/// As [`show`].
pub(super) fn show_run(run: &Run, format: Format, global: &Global) -> Result<u8, Failure> {
    let text = match format {
        Format::Text => report::text(run, report::Style { colour: global.colours_output() }),
        Format::Json => report::json(run),
    };
    show(&text).map_err(|failure| failure.hint(format!("`nspatch report {}` shows them again", run.folder)))?;
    Ok(report::exit_code(run))
}

/// The folder of a run that is named by it, or by the run.json in it.
pub(super) fn run_folder(named: &Utf8Path) -> &Utf8Path {
    let parent = named.parent().map(|parent| if parent.as_str().is_empty() { Utf8Path::new(".") } else { parent });
    parent.filter(|_| named.is_file()).unwrap_or(named)
}

/// A table with columns as wide as their widest cell, two spaces apart.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// A size as people read it.
pub(super) fn size(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fitting = units.iter().find(|(_, power)| bytes >= 1 << power);
    fitting
        .map_or(format!("{bytes} B"), |(unit, power)| format!("{:.1} {unit}", bytes as f64 / (1_u64 << power) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_suits_them() {
        let cases = [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (5 << 20, "5.0 MiB"), (3 << 30, "3.0 GiB")];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn columns_line_up_without_blanks_at_the_end() {
        let rows = [["a", "b", ""], ["long", "c", "d"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a     b\nlong  c  d\n");
    }
}
