//! What scipy says of the same numbers: `tests/vectors/compare.py` made the vectors.

use serde::Deserialize;

use super::interval;
use super::pairs::Pair;
use super::{Judgement, Reason, Settings, Verdict, account_for_many};

#[derive(Deserialize)]
struct Vectors {
    vectors: Vec<Vector>,
    many: Many,
}

/// The paired t test of log ratios, its interval, and the Hodges-Lehmann estimate.
#[derive(Deserialize)]
struct Vector {
    ratios: Vec<f64>,
    level: f64,
    p: f64,
    low: f64,
    high: f64,
    estimate: f64,
}

#[derive(Deserialize)]
struct Many {
    p: Vec<f64>,
    believed: Vec<bool>,
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../tests/vectors/compare.json")).unwrap()
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * other.abs().max(1e-3)
}

#[test]
fn intervals_estimates_and_ps_are_those_of_scipy() {
    for vector in vectors().vectors {
        // Without repeats there is no floor, so what is left is the interval over boots
        let pairs: Vec<Pair> =
            vector.ratios.iter().map(|&ratio| Pair { ratio, repeats: vec![vector.estimate] }).collect();
        let found = interval::of_pairs(&pairs, vector.level);
        let own = [found.estimate, found.low, found.high, interval::p_value(&pairs)];
        let scipy = [vector.estimate, vector.low.min(vector.estimate), vector.high.max(vector.estimate), vector.p];
        for (own, scipy) in own.into_iter().zip(scipy) {
            assert!(close(own, scipy), "{own} {scipy}: {:?} at {}", vector.ratios, vector.level);
        }
    }
}

#[test]
fn of_many_claims_those_are_believed_that_scipy_believes() {
    let Many { p, believed } = vectors().many;
    let claim = |p: &f64| Judgement {
        p: Some(*p),
        verdict: Verdict::Regressed,
        ..Judgement::not_comparable(Reason::NoBaseline, &Settings::default())
    };
    let mut all: Vec<Judgement> = p.iter().map(claim).collect();
    account_for_many(&mut all, 0.05);
    let kept: Vec<bool> = all.iter().map(|judgement| judgement.verdict == Verdict::Regressed).collect();
    assert!(believed.contains(&true) && believed.contains(&false));
    assert_eq!(kept, believed);
}
