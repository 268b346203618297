//! Ratios and intervals as people read them.

use crate::compare::Ratio;

/// A ratio with its interval, all to the same decimals: `0.0142 [0.0140, 0.0144]`.
pub(super) fn with_interval(ratio: &Ratio) -> String {
    let estimate = near_one_or_significant(ratio.estimate);
    let decimals = estimate.split('.').nth(1).map_or(0, str::len);
    let end = |value: Option<f64>| match value {
        None => "?".to_owned(),
        // An end far below the estimate would lose its digits
        Some(value) if value < 10f64.powi(1 - decimals as i32) => significant(value),
        Some(value) => format!("{value:.decimals$}"),
    };
    format!("{estimate} [{}, {}]", end(ratio.low), end(ratio.high))
}

/// Four decimals near 1, where they tell something, else three significant digits.
fn near_one_or_significant(value: f64) -> String {
    if (0.9..1.1).contains(&value) { format!("{value:.4}") } else { significant(value) }
}

/// A ratio as a change of time: `70.1 times faster`, `12.3 % slower`; and its interval in the same unit.
pub(super) fn change(ratio: &Ratio, level: f64) -> (String, String) {
    let faster = ratio.estimate < 1.0;
    let times = !(0.5..2.0).contains(&ratio.estimate);
    let amount = |ratio: f64| match (times, faster) {
        (true, true) => significant(1.0 / ratio),
        (true, false) => significant(ratio),
        (false, true) => hundredths(1.0 - ratio),
        (false, false) => hundredths(ratio - 1.0),
    };
    let unit = if times { "times" } else { "%" };
    let way = if faster { "faster" } else { "slower" };
    let ends = if faster { (ratio.high, ratio.low) } else { (ratio.low, ratio.high) };
    let interval = match ends {
        (Some(from), Some(to)) => format!("{} % interval {} to {}", percent(level), amount(from), amount(to)),
        _ => "no interval".into(),
    };
    (format!("{} {unit} {way}", amount(ratio.estimate)), interval)
}

/// A part of 1 in percent, as short as it can be: `99`, `0.5`.
pub(super) fn percent(part: f64) -> String {
    trimmed(&format!("{:.3}", part * 100.0))
}

/// A part of 1 in percent with two decimals, or one from 10 % on.
fn hundredths(part: f64) -> String {
    let percent = part * 100.0;
    if percent.abs() < 10.0 { format!("{percent:.2}") } else { format!("{percent:.1}") }
}

fn trimmed(text: &str) -> String {
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Three significant digits, and none of a whole number cut off.
fn significant(value: f64) -> String {
    crate::compare::three_digits(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(estimate: f64, low: f64, high: f64) -> Ratio {
        Ratio { estimate, low: Some(low), high: Some(high) }
    }

    #[test]
    fn ratios_show_what_tells_something() {
        let cases = [
            (of(1.0, 1.0, 1.0), "1.0000 [1.0000, 1.0000]"),
            (of(1.000_26, 0.9981, 1.0025), "1.0003 [0.9981, 1.0025]"),
            (of(0.9456, 0.815, 1.0972), "0.9456 [0.8150, 1.0972]"),
            (of(0.014_23, 0.014, 0.0144), "0.0142 [0.0140, 0.0144]"),
            (of(70.123, 69.0, 1234.0), "70.1 [69.0, 1234.0]"),
            (of(2350.0, 0.0123, 40_000.0), "2350 [0.0123, 40000]"),
            (Ratio { estimate: 3.0, low: None, high: None }, "3.00 [?, ?]"),
        ];
        for (ratio, wanted) in cases {
            assert_eq!(with_interval(&ratio), wanted);
        }
    }

    #[test]
    fn changes_read_in_the_direction_that_they_have() {
        let cases = [
            (of(0.0142, 0.0140, 0.0144), "70.4 times faster", "99 % interval 69.4 to 71.4"),
            (of(50.0, 49.0, 51.0), "50.0 times slower", "99 % interval 49.0 to 51.0"),
            (of(1.123, 1.1, 1.15), "12.3 % slower", "99 % interval 10.0 to 15.0"),
            (of(0.95, 0.94, 0.96), "5.00 % faster", "99 % interval 4.00 to 6.00"),
            (of(1.05, 0.99, 1.11), "5.00 % slower", "99 % interval -1.00 to 11.0"),
            (Ratio { estimate: 3.0, low: None, high: None }, "3.00 times slower", "no interval"),
        ];
        for (ratio, amount, interval) in cases {
            assert_eq!(change(&ratio, 0.99), (amount.to_owned(), interval.to_owned()));
        }
    }
}
