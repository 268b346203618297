//! Columns that line up.

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// A table, its columns two spaces apart and `indent` spaces in; the last column is not padded.
///
/// `dress` gets the last cell of each line by its number, to colour it without moving anything.
pub(super) fn table<const N: usize>(
    rows: &[[String; N]],
    aligns: [Align; N],
    indent: usize,
    dress: impl Fn(usize, &str) -> String,
) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |(number, row): (usize, &[String; N])| {
        let cell = |column: usize| match (column + 1 == N, aligns[column]) {
            (true, _) => dress(number, &row[column]),
            (false, Align::Left) => format!("{:<1$}", row[column], widths[column]),
            (false, Align::Right) => format!("{:>1$}", row[column], widths[column]),
        };
        let cells: Vec<String> = (0..N).map(cell).collect();
        format!("{:indent$}{}", "", cells.join("  ")).trim_end().to_owned() + "\n"
    };
    rows.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_line_up_by_what_is_seen_and_not_by_bytes() {
        let rows = [["a", "12 µs", "x"], ["longer", "3 ms", "y"], ["b", "", ""]].map(|row| row.map(str::to_owned));
        let text = table(&rows, [Align::Left, Align::Right, Align::Left], 2, |_, cell| cell.to_owned());
        insta::assert_snapshot!(text, @r"
        a       12 µs  x
        longer   3 ms  y
        b
        ");
    }
}
