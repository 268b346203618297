//! How a benchmark's time grows with a parameter: which simple law says best what was measured.
//!
//! Each law is `a + b f(x)` with `a` and `b` not below 0, fitted by least squares of the relative error, as a benchmark's noise is
//! a part of its time. Laws are compared by how well each foretells the value that it was not fitted to (leave-one-out
//! cross-validation: Stone, Journal of the Royal Statistical Society B 36, 1974).

use serde::{Deserialize, Serialize};

/// Fewer values tell no law.
const FEWEST: usize = 3;
/// An error of this size is noise, whichever law has it: of three values with a noise of 1 %, each can be foretold from the others
/// to some 4 %.
const NOISE: f64 = 0.05;
/// Laws whose errors are within this factor of the best one's are not told apart.
const ALIKE: f64 = 2.0;
/// The powers of larger values are no numbers to count with.
const LARGEST_EXPONENT: i64 = 60;

/// A law of growth. `x` is the parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// The same at every value.
    Constant,
    /// With x.
    Linear,
    /// With x^2.
    Quadratic,
    /// With 2^x.
    TwoToThe,
    /// With 4^x: quadratic in what doubles with each step of x.
    FourToThe,
}

impl Law {
    const ALL: [Law; 5] = [Law::Constant, Law::Linear, Law::Quadratic, Law::TwoToThe, Law::FourToThe];

    fn at(self, x: i64) -> f64 {
        match self {
            Law::Constant => 0.0,
            Law::Linear => x as f64,
            Law::Quadratic => (x as f64).powi(2),
            Law::TwoToThe => (x as f64).exp2(),
            Law::FourToThe => (2.0 * x as f64).exp2(),
        }
    }

    /// Whether it could hold over these values at all.
    fn suits(self, points: &[(i64, f64)]) -> bool {
        let fits = |limit: i64| points.iter().all(|(x, _)| (0..=limit).contains(x));
        match self {
            Law::Constant => true,
            Law::Linear | Law::Quadratic => fits(i64::MAX),
            Law::TwoToThe | Law::FourToThe => fits(LARGEST_EXPONENT),
        }
    }
}

/// How a time grows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// The laws that say alike what was measured, the best one first; several where these values do not tell them apart.
    pub laws: Vec<Law>,
    /// Of the best law: what is there at any value, in ns per operation.
    pub fixed_ns: f64,
    /// Of the best law: what each unit of it adds, in ns per operation.
    pub each_ns: f64,
    /// The largest relative error of the best law.
    pub worst: f64,
}

/// Finds how times in ns per operation grow with a parameter's value; none of fewer than three values, or of times that are none.
pub fn growth(points: &[(i64, f64)]) -> Option<Growth> {
    let distinct = points.iter().map(|(x, _)| x).collect::<std::collections::BTreeSet<_>>().len();
    if distinct < FEWEST || distinct < points.len() || points.iter().any(|(_, ns)| !ns.is_finite() || *ns <= 0.0) {
        return None;
    }
    let suited = Law::ALL.into_iter().filter(|law| law.suits(points));
    let mut judged: Vec<(f64, Law)> = suited.map(|law| (foretelling_error(law, points), law)).collect();
    judged.sort_by(|one, other| one.0.total_cmp(&other.0));
    let limit = (ALIKE * judged.first()?.0).max(NOISE);
    let mut laws: Vec<Law> = judged.into_iter().filter(|(error, _)| *error <= limit).map(|(_, law)| law).collect();
    // Every law can be flat, so that one that does not grow is the simplest word for it
    if laws.contains(&Law::Constant) {
        laws = vec![Law::Constant];
    }
    let best = *laws.first()?;
    let (fixed_ns, each_ns) = fitted(best, points);
    let errors = points.iter().map(|(x, ns)| ((fixed_ns + each_ns * best.at(*x)) / ns - 1.0).abs());
    Some(Growth { laws, fixed_ns, each_ns, worst: errors.fold(0.0, f64::max) })
}

/// How far a law is off, as the root of the mean square of log ratios, at each point when it was fitted to the others.
fn foretelling_error(law: Law, points: &[(i64, f64)]) -> f64 {
    let error = |left_out: usize| {
        let others: Vec<_> =
            points.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, point)| *point).collect();
        let (fixed, each) = fitted(law, &others);
        let (x, ns) = points[left_out];
        ((fixed + each * law.at(x)) / ns).ln().powi(2)
    };
    ((0..points.len()).map(error).sum::<f64>() / points.len() as f64).sqrt()
}

/// `a` and `b` of the least sum of squares of `1 - (a + b f(x)) / y`, neither below 0.
fn fitted(law: Law, points: &[(i64, f64)]) -> (f64, f64) {
    let terms = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|(x, y)| of(1.0 / y, law.at(*x) / y)).sum::<f64>();
    let (u, v) = (terms(&|u, _| u), terms(&|_, v| v));
    let (uu, uv, vv) = (terms(&|u, _| u * u), terms(&|u, v| u * v), terms(&|_, v| v * v));
    let determinant = uu * vv - uv * uv;
    let (fixed, each) = ((u * vv - v * uv) / determinant, (v * uu - u * uv) / determinant);
    // At the edge of what may be, the other one alone fits best
    // NaN where a law says the same for all points
    if each.is_nan() || each < 0.0 {
        (u / uu, 0.0)
    } else if fixed < 0.0 {
        (0.0, v / vv)
    } else {
        (fixed, each)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn laws(points: &[(i64, f64)]) -> Vec<Law> {
        growth(points).unwrap().laws
    }

    /// `umount-propagated` on 6.12, in ms: with the stall of patch 001 put back, and without.
    #[test]
    fn the_umounts_of_6_12_grow_with_the_mounts_and_with_the_square_of_them() {
        assert_eq!(laws(&[(8, 8.1e6), (10, 119e6), (12, 2249e6)]), [Law::FourToThe]);
        assert_eq!(laws(&[(8, 0.46e6), (10, 1.8e6), (12, 7.2e6)]), [Law::TwoToThe]);
    }

    #[test]
    fn each_law_is_known_by_its_values() {
        let along = |xs: &[i64], of: fn(f64) -> f64| xs.iter().map(|x| (*x, of(*x as f64))).collect::<Vec<_>>();
        let few = [0, 100, 200, 400];
        assert_eq!(laws(&along(&few, |_| 70.0)), [Law::Constant]);
        assert_eq!(laws(&along(&few, |x| 500.0 + 3.0 * x)), [Law::Linear]);
        assert_eq!(laws(&along(&few, |x| 500.0 + 0.2 * x * x)), [Law::Quadratic]);
        assert_eq!(laws(&along(&[2, 4, 6, 8], |x| 100.0 + 7.0 * x.exp2())), [Law::TwoToThe]);
        let found = growth(&along(&few, |x| 500.0 + 3.0 * x)).unwrap();
        assert!((found.fixed_ns - 500.0).abs() < 1e-6 && (found.each_ns - 3.0).abs() < 1e-9 && found.worst < 1e-9);
    }

    #[test]
    fn values_that_lie_too_near_leave_several_laws() {
        let all = laws(&[(8, 1000.0), (9, 1062.0), (10, 1130.0)]);
        assert!(all.len() > 1, "{all:?}");
    }

    #[test]
    fn too_few_values_or_no_times_tell_nothing() {
        assert_eq!(growth(&[(1, 1.0), (2, 2.0)]), None);
        assert_eq!(growth(&[(1, 1.0), (2, 2.0), (2, 2.5)]), None);
        assert_eq!(growth(&[(1, 1.0), (2, 0.0), (3, 2.0)]), None);
        // 2^1000 is no number, and the others are tried all the same
        assert_eq!(laws(&[(0, 10.0), (500, 20.0), (1000, 30.0)]), [Law::Linear]);
    }

    proptest! {
        #[test]
        fn three_values_with_noise_of_one_percent_never_leave_out_the_true_law(
            which in 1usize..5,
            noise in prop::collection::vec(-0.01f64..0.01, 3),
        ) {
            let law = Law::ALL[which];
            let points: Vec<_> = [6, 8, 10].iter().zip(&noise).map(|(x, off)| (*x, law.at(*x) * (1.0 + off))).collect();
            let laws = growth(&points).unwrap().laws;
            prop_assert!(laws.contains(&law), "{laws:?}");
        }

        #[test]
        fn a_law_is_found_through_noise_of_one_percent(
            which in 1usize..5,
            noise in prop::collection::vec(-0.01f64..0.01, 5),
            scale in 1.0f64..1e6,
        ) {
            let law = Law::ALL[which];
            let points: Vec<_> =
                [2, 5, 8, 11, 14].iter().zip(&noise).map(|(x, off)| (*x, scale * law.at(*x) * (1.0 + off))).collect();
            prop_assert_eq!(growth(&points).unwrap().laws[0], law);
            let other_unit: Vec<_> = points.iter().map(|(x, ns)| (*x, ns * 1000.0)).collect();
            prop_assert_eq!(growth(&other_unit).unwrap().laws, growth(&points).unwrap().laws);
        }
    }
}
