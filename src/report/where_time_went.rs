//! The breakdown of a run's time by stage.

use super::Run;
use super::table::{Align, table};

/// Where the time went, in the order of the pipeline.
pub(super) fn where_time_went(run: &Run) -> String {
    let mut rows = vec![["stage", "done", "reused", "seconds"].map(str::to_owned)];
    let by_stage = run.stages.0.iter().map(|(stage, time)| {
        [stage.name().to_owned(), time.done.to_string(), time.reused.to_string(), format!("{:.1}", time.seconds)]
    });
    rows.extend(by_stage);
    // The last column is not padded by the table, so that it is aligned here
    let width = rows.iter().map(|row| row[3].len()).max().unwrap_or(0);
    rows.iter_mut().for_each(|row| row[3] = format!("{:>width$}", row[3]));
    let mut text =
        "where the time went (wall time of each piece of work; boots run side by side, and each counts)\n".to_owned();
    text += &table(&rows, [Align::Left, Align::Right, Align::Right, Align::Right], 2, |_, cell| cell.to_owned());
    text + &format!(
        "the whole run: {:.1} s; nspatch itself, without the programs it started: {:.2} s of CPU time\n",
        run.wall_seconds, run.nspatch_cpu_seconds
    )
}
