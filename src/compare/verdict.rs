//! The verdicts, and the rule that gives them.

use serde::{Deserialize, Serialize};

use super::Settings;
use super::interval::Interval;

/// What the numbers say of a candidate.
///
/// ```text
///                 1/(1+X)     1     1+X         the interval |--o--| of the ratio, o its estimate
///                    |        |      |
///    |-o-|           |        |      |          improved
///                    |        |      |  |-o-|   regressed
///                    |   |----o--|   |          no difference within X
///                    |        | |--o-|--|       changed but smaller than X
///             |------|--------|-o----|--|       inconclusive
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Slower: the interval is clear of 1, and the estimate is beyond the threshold.
    Regressed,
    /// Faster, likewise.
    Improved,
    /// The whole interval is within the threshold.
    NoDifference,
    /// The interval is clear of 1, but the estimate is within the threshold.
    ChangedButSmaller,
    /// The interval is too wide for any of these.
    Inconclusive,
    /// The two sides must not be compared.
    NotComparable,
}

impl Verdict {
    /// The verdict in words; `threshold` as a part of 1.
    pub fn words(self, threshold: f64) -> String {
        match self {
            Verdict::Regressed => "regressed".into(),
            Verdict::Improved => "improved".into(),
            Verdict::NoDifference => format!("no difference within {} %", percent(threshold)),
            Verdict::ChangedButSmaller => {
                format!("changed but smaller than {} %", percent(threshold))
            }
            Verdict::Inconclusive => "inconclusive".into(),
            Verdict::NotComparable => "not comparable".into(),
        }
    }

    /// The verdict in a word or two, without the threshold.
    pub(super) fn short(self) -> &'static str {
        match self {
            Verdict::Regressed => "regressed",
            Verdict::Improved => "improved",
            Verdict::NoDifference => "no difference",
            Verdict::ChangedButSmaller => "changed",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotComparable => "not comparable",
        }
    }

    /// The verdict on an interval of log ratios. A change is clear of 1 where it is beyond all that a new layout alone
    /// can do.
    pub(super) fn of(interval: &Interval, settings: &Settings) -> Verdict {
        let (limit, floor) = (settings.threshold.ln_1p(), settings.layout_floor.ln_1p());
        let Interval { estimate, low, high } = *interval;
        if low > floor && estimate > limit {
            Verdict::Regressed
        } else if high < -floor && estimate < -limit {
            Verdict::Improved
        } else if low >= -limit && high <= limit {
            Verdict::NoDifference
        } else if low > floor || high < -floor {
            Verdict::ChangedButSmaller
        } else {
            Verdict::Inconclusive
        }
    }
}

/// Parts of 1 in percent, without digits that say nothing.
pub(super) fn percent(part: f64) -> String {
    let text = format!("{:.2}", part * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significance_and_relevance_are_two_questions() {
        // Low, estimate and high in percent of change
        let cases = [
            ((2.0, 5.0, 8.0), Verdict::Regressed),
            ((0.5, 1.5, 2.5), Verdict::Regressed),
            ((-8.0, -5.0, -2.0), Verdict::Improved),
            ((-0.5, 0.1, 0.7), Verdict::NoDifference),
            ((0.1, 0.2, 0.3), Verdict::NoDifference),
            ((0.0, 0.0, 0.0), Verdict::NoDifference),
            ((-1.0, 0.0, 1.0), Verdict::NoDifference),
            ((0.1, 0.7, 1.3), Verdict::ChangedButSmaller),
            ((-1.3, -0.7, -0.1), Verdict::ChangedButSmaller),
            ((-1.0, 4.0, 9.0), Verdict::Inconclusive),
            ((-1.2, 0.0, 1.2), Verdict::Inconclusive),
        ];
        let log = |percent: f64| {
            if percent < 0.0 { -(-percent / 100.0).ln_1p() } else { (percent / 100.0).ln_1p() }
        };
        for ((low, estimate, high), wanted) in cases {
            let interval = Interval { estimate: log(estimate), low: log(low), high: log(high) };
            assert_eq!(Verdict::of(&interval, &Settings::default()), wanted, "{low} {estimate} {high}");
        }
    }

    #[test]
    fn a_change_has_to_be_clear_of_what_a_new_layout_does() {
        let floor = |layout_floor| Settings { layout_floor, ..Settings::default() };
        let interval = Interval { estimate: 0.05, low: 0.03, high: 0.07 };
        assert_eq!(Verdict::of(&interval, &floor(0.02)), Verdict::Regressed);
        assert_eq!(Verdict::of(&interval, &floor(0.04)), Verdict::Inconclusive);
        let back = Interval { estimate: -0.05, low: -0.07, high: -0.03 };
        assert_eq!(Verdict::of(&back, &floor(0.02)), Verdict::Improved);
        assert_eq!(Verdict::of(&back, &floor(0.04)), Verdict::Inconclusive);
    }

    #[test]
    fn words_carry_the_threshold_as_people_write_it() {
        assert_eq!(Verdict::NoDifference.words(0.01), "no difference within 1 %");
        assert_eq!(Verdict::ChangedButSmaller.words(0.005), "changed but smaller than 0.5 %");
        assert_eq!(Verdict::NoDifference.words(0.1), "no difference within 10 %");
    }

    #[test]
    fn json_has_one_word() {
        assert_eq!(serde_json::to_string(&Verdict::NoDifference).unwrap(), "\"no-difference\"");
    }
}
