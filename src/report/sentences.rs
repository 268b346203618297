//! What a table cannot say: one sentence for each row that needs it, and what belongs beside it.

use crate::apply::Variant;
use crate::compare::{Doubt, Judgement, Time, Verdict};

use super::Row;
use super::lives::died;
use super::numbers::{change, percent, with_interval};

/// Less memory than this comes and goes with the pages that each CPU keeps for itself.
const WORTH_A_WORD_KIB: f64 = 1024.0;

/// The sentence of a row; none where nothing differs.
pub(super) fn sentence(row: &Row) -> Option<String> {
    let said = match row.verdict {
        Verdict::NoDifference => return None,
        // The comparison tells it once for all of its rows
        Verdict::NotComparable if died(row).is_some() => return None,
        Verdict::Improved if would_be_noticed(row) => format!("the stall would be noticed: {}", difference(row)),
        Verdict::Regressed | Verdict::Improved => difference(row),
        Verdict::ChangedButSmaller => {
            format!("{}; too small to matter, as the threshold is {} %", difference(row), percent(row.threshold))
        }
        Verdict::Inconclusive => undecided(row),
        Verdict::NotComparable => {
            let reason = row.reason.as_ref().map(ToString::to_string);
            format!("not comparable: {}", reason.unwrap_or_else(|| "no reason was kept".into()))
        }
    };
    Some(format!("{}: {said}", row.title()))
}

/// Whether the benchmark saw the stall that the control put back.
pub(super) fn would_be_noticed(row: &Row) -> bool {
    row.baseline.as_ref().is_some_and(|side| side.variant == Variant::Control) && row.verdict == Verdict::Improved
}

/// What stands below the sentence: the drain beside a win, the mail's figures, the doubts.
pub(super) fn notes(row: &Row) -> Vec<String> {
    let mut notes = Vec::new();
    if let (Verdict::Improved, Some(side)) = (row.verdict, &row.baseline)
        && let (Some(baseline), Some(candidate)) = (side.drain_ns, row.candidate.drain_ns)
    {
        notes.push(format!(
            "background freeing after each repeat: {} in {}, {} in {}",
            Time(baseline),
            side.variant,
            Time(candidate),
            row.candidate.variant
        ));
        if let (Some(before), Some(after)) = (side.kept_kib, row.candidate.kept_kib)
            && (before - after).abs() > WORTH_A_WORD_KIB
        {
            let variant = row.candidate.variant;
            let (before, after, baseline) = (than_before(before), than_before(after), side.variant);
            notes.push(format!("memory available after it: {before} in {baseline}, {after} in {variant}"));
        }
    }
    if let Some(mail) = &row.mail {
        notes.push(format!("the mail says: before {}, after {}", mail.before, mail.after));
    }
    notes.extend(row.doubts.iter().map(|doubt| format!("doubt: {doubt}")));
    notes
}

/// Memory that a benchmark kept, in KiB, as what is available after it.
fn than_before(kept_kib: f64) -> String {
    match kept_kib {
        0.0 => "as much as before".to_owned(),
        kept if kept > 0.0 => format!("{kept} KiB less than before"),
        gained => format!("{} KiB more than before", -gained),
    }
}

/// `base is 70.4 times faster than reversed (…)`.
fn difference(row: &Row) -> String {
    let candidate = row.candidate.variant;
    // A verdict of a change has a baseline and a ratio; a model from elsewhere may lack them
    let (Some(baseline), Some(ratio)) = (&row.baseline, row.ratio) else { return format!("{candidate} differs") };
    let (amount, interval) = change(&ratio, row.level);
    format!("{candidate} is {amount} than {} ({interval})", baseline.variant)
}

fn undecided(row: &Row) -> String {
    let ratio = row.ratio.map_or_else(|| "unknown".into(), |ratio| with_interval(&ratio));
    let pairs = match row.pairs {
        1 => "1 pair of boots".into(),
        n => format!("{n} pairs of boots"),
    };
    let clear = row
        .ratio
        .is_some_and(|ratio| ratio.low.is_some_and(|low| low > 1.0) || ratio.high.is_some_and(|high| high < 1.0));
    let one_of_many = row.doubts.iter().any(|doubt| matches!(doubt, Doubt::OneOfMany { .. }));
    let next = match row.pairs_needed {
        _ if one_of_many => "among so many comparisons that is not clear enough".into(),
        Some(needed) if clear => {
            format!("{needed} are needed to tell it from boots that fall into two groups by chance")
        }
        Some(needed) if row.pairs == 1 => format!("at least {needed} are needed to see the noise"),
        Some(needed) => format!("about {needed} would decide at this noise (`--seeds {needed}`)"),
        None => format!("at this noise more than {} would be needed, so steady it first", Judgement::MOST_PAIRS),
    };
    format!("undecided, the ratio is {ratio} after {pairs}; {next}")
}
