//! Many comparisons at once: of 480 that do not differ, some few look as if they did.
//!
//! Benjamini and Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995: among
//! `m` comparisons sorted by their p, claims are believed up to the last of rank `k` with p <= k / m x rate. The part of false
//! claims among those believed is then at most the rate, also where benchmarks of one boot rise and fall together
//! (Benjamini and Yekutieli, Annals of Statistics 29, 2001).

use super::{Doubt, Judgement, Verdict};

/// Takes back the claims of a change that so many comparisons bring forth by chance; they become inconclusive.
pub fn account_for_many<'a>(judgements: impl IntoIterator<Item = &'a mut Judgement>, rate: f64) {
    let judgements: Vec<_> = judgements.into_iter().filter(|judgement| judgement.p.is_some()).collect();
    let comparisons = judgements.len();
    let limit = limit(judgements.iter().filter_map(|judgement| judgement.p).collect(), rate);
    let is_claim = |verdict| matches!(verdict, Verdict::Regressed | Verdict::Improved | Verdict::ChangedButSmaller);
    for judgement in judgements {
        if is_claim(judgement.verdict) && judgement.p.is_some_and(|p| p > limit) {
            let alone = std::mem::replace(&mut judgement.verdict, Verdict::Inconclusive);
            judgement
                .doubts
                .push(Doubt::OneOfMany { alone, comparisons: u32::try_from(comparisons).unwrap_or(u32::MAX) });
        }
    }
}

/// The largest p that is believed.
fn limit(mut all: Vec<f64>, rate: f64) -> f64 {
    all.sort_by(f64::total_cmp);
    let count = all.len() as f64;
    let bounds = all.iter().zip(1..).filter(|(p, rank)| **p <= f64::from(*rank) / count * rate);
    bounds.last().map_or(0.0, |(p, _)| *p)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Reason, Settings};

    fn claim(p: f64) -> Judgement {
        let none = Judgement::not_comparable(Reason::NoBaseline, &Settings::default());
        Judgement { p: Some(p), verdict: Verdict::Regressed, reason: None, ..none }
    }

    fn kept(ps: &[f64]) -> usize {
        let mut all: Vec<Judgement> = ps.iter().map(|p| claim(*p)).collect();
        account_for_many(&mut all, 0.05);
        all.iter().filter(|judgement| judgement.verdict == Verdict::Regressed).count()
    }

    #[test]
    fn claims_are_believed_as_benjamini_and_hochberg_have_it() {
        // The example of their paper, section 4: fifteen p-values, of which four are rejected
        let paper = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        assert_eq!(kept(&paper), 4);
        assert_eq!((kept(&[0.01]), kept(&[0.06]), kept(&[])), (1, 0, 0));
        assert_eq!(kept(&[0.0; 3]), 3);
    }

    #[test]
    fn a_claim_that_is_taken_back_says_what_it_was_alone() {
        let mut all: Vec<Judgement> = (0..10).map(|_| claim(0.5)).collect();
        all[3].p = Some(0.008);
        account_for_many(&mut all, 0.05);
        assert_eq!(all[3].verdict, Verdict::Inconclusive);
        assert_eq!(all[3].doubts, [Doubt::OneOfMany { alone: Verdict::Regressed, comparisons: 10 }]);
    }

    #[test]
    fn what_was_not_compared_does_not_count() {
        let mut all = vec![claim(0.04)];
        all.extend((0..20).map(|_| Judgement::not_comparable(Reason::NoBaseline, &Settings::default())));
        account_for_many(&mut all, 0.05);
        assert_eq!(all[0].verdict, Verdict::Regressed);
    }
}
