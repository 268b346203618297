//! From the boots of all comparisons of a run to rows: judged together, as chance has more room among many.

use super::findings::Findings;
use crate::compare::{self, Judgement, Settings, Verdict};
use crate::report::{Row, Trouble};

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

/// What went wrong in the boots.
pub(super) fn troubles(findings: &[Findings<'_>]) -> Vec<Trouble> {
    findings.iter().flat_map(Findings::troubles).collect()
}
