//! From the boots of all comparisons of a run to rows: judged together, as chance has more room among many.

use super::findings::Findings;
use crate::compare::{self, Judgement, Settings, Verdict};
use crate::report::{Growth, Row, Trouble};

/// What a run's boots say.
pub(super) struct Judged {
    /// For each comparison, a judgement for each thing that was asked.
    judgements: Vec<Vec<Judgement>>,
}

/// Judges all comparisons of a run.
pub(super) fn judge(findings: &[Findings<'_>], settings: &Settings) -> Judged {
    let mut judgements: Vec<Vec<Judgement>> = findings.iter().map(|one| one.judge(settings)).collect();
    compare::account_for_many(judgements.iter_mut().flatten(), settings.false_discoveries);
    Judged { judgements }
}

impl Judged {
    /// The places of the comparisons that more boots could decide, up to so many pairs.
    pub(super) fn open(&self, most: u32) -> Vec<usize> {
        let can_be_decided = |judgement: &Judgement| {
            let one_of_many = judgement.doubts.iter().any(|doubt| matches!(doubt, compare::Doubt::OneOfMany { .. }));
            judgement.verdict == Verdict::Inconclusive
                && (one_of_many || judgement.pairs_needed.is_some_and(|needed| needed <= most))
        };
        let open = |(_, judgements): &(usize, &Vec<Judgement>)| judgements.iter().any(can_be_decided);
        self.judgements.iter().enumerate().filter(open).map(|(place, _)| place).collect()
    }

    /// The rows of these findings, which are those that were judged.
    pub(super) fn rows(self, findings: &[Findings<'_>]) -> Vec<Row> {
        findings.iter().zip(self.judgements).flat_map(|(one, judgements)| one.rows(judgements)).collect()
    }
}

/// How times grow, for each benchmark that has rows of several values of one parameter.
pub(super) fn growths(rows: &[Row]) -> Vec<Growth> {
    let mut found: Vec<Growth> = Vec::new();
    for row in rows {
        let own: Vec<&Row> = rows.iter().filter(|other| is_of_one_sweep(row, other)).collect();
        let of_row = |growth: &Growth| {
            (&growth.patch, &growth.tree, growth.arch, &growth.benchmark)
                == (&row.patch, &row.tree, row.arch, &row.benchmark)
        };
        if !found.iter().any(of_row) {
            found.extend(swept(&own).and_then(|parameter| growth(&own, parameter)));
        }
    }
    found
}

fn is_of_one_sweep(one: &Row, other: &Row) -> bool {
    let key = |row: &Row| (row.patch.clone(), row.tree.clone(), row.arch, row.clock, row.benchmark.clone());
    key(one) == key(other)
}

/// The parameter in which rows differ; none if there is but one row.
fn swept<'a>(rows: &[&'a Row]) -> Option<&'a str> {
    let first = rows.first()?;
    let differs = |name: &&String| rows.iter().any(|row| row.parameters.get(*name) != first.parameters.get(*name));
    first.parameters.keys().find(differs).map(String::as_str)
}

fn growth(rows: &[&Row], parameter: &str) -> Option<Growth> {
    let first = rows.first()?;
    let values: Vec<i64> = rows.iter().filter_map(|row| row.parameters.get(parameter).copied()).collect();
    let times = |side: &dyn Fn(&Row) -> Option<f64>| {
        let points = values.iter().zip(rows).filter_map(|(value, row)| Some((*value, side(row)?)));
        compare::growth(&points.collect::<Vec<_>>())
    };
    Some(Growth {
        patch: first.patch.clone(),
        tree: first.tree.clone(),
        arch: first.arch,
        benchmark: first.benchmark.clone(),
        parameter: parameter.to_owned(),
        baseline: times(&|row| row.baseline.as_ref()?.ns_per_operation),
        candidate: times(&|row| row.candidate.ns_per_operation),
        values,
    })
}

/// What went wrong in the boots.
pub(super) fn troubles(findings: &[Findings<'_>]) -> Vec<Trouble> {
    findings.iter().flat_map(Findings::troubles).collect()
}
