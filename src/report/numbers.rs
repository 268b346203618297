//! Ratios and intervals as people read them.

use crate::compare::Ratio;

/// A ratio: four decimals near 1, where they tell something, else three significant digits.
pub(super) fn ratio(value: f64) -> String {
    if (0.9..1.1).contains(&value) { format!("{value:.4}") } else { significant(value) }
}

/// A ratio with its interval: `0.0142 [0.0140, 0.0144]`.
pub(super) fn with_interval(ratio_: &Ratio) -> String {
    let estimate = ratio(ratio_.estimate);
    match (ratio_.low, ratio_.high) {
        (Some(low), Some(high)) => format!("{estimate} [{}, {}]", ratio(low), ratio(high)),
        _ => format!("{estimate} [?, ?]"),
    }
}

/// A ratio as a change of time: `70.1 times faster (99 % interval 69.0 to 71.2)`, `12.3 % slower (…)`.
pub(super) fn change(value: &Ratio, level: f64) -> String {
    let faster = value.estimate < 1.0;
    let way = if faster { "faster" } else { "slower" };
    let times = !(0.5..2.0).contains(&value.estimate);
    let amount = |ratio: f64| match (times, faster) {
        (true, true) => significant(1.0 / ratio),
        (true, false) => significant(ratio),
        (false, true) => hundredths(1.0 - ratio),
        (false, false) => hundredths(ratio - 1.0),
    };
    let unit = if times { " times" } else { " %" };
    let mut text = format!("{}{unit} {way}", amount(value.estimate));
    if let (Some(low), Some(high)) = (value.low, value.high) {
        let (from, to) = if faster { (high, low) } else { (low, high) };
        text += &format!(" ({} % interval {} to {})", percent(level), amount(from), amount(to));
    }
    text
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

    #[test]
    fn ratios_show_what_tells_something() {
        let cases = [(1.0, "1.0000"), (1.000_26, "1.0003"), (0.014_23, "0.0142"), (70.123, "70.1"), (2350.0, "2350")];
        for (value, wanted) in cases {
            assert_eq!(ratio(value), wanted);
        }
    }

    #[test]
    fn changes_read_in_the_direction_that_they_have() {
        let of =
            |estimate: f64, low: f64, high: f64| change(&Ratio { estimate, low: Some(low), high: Some(high) }, 0.99);
        assert_eq!(of(0.0142, 0.0140, 0.0144), "70.4 times faster (99 % interval 69.4 to 71.4)");
        assert_eq!(of(50.0, 49.0, 51.0), "50.0 times slower (99 % interval 49.0 to 51.0)");
        assert_eq!(of(1.123, 1.1, 1.15), "12.3 % slower (99 % interval 10.0 to 15.0)");
        assert_eq!(of(0.95, 0.94, 0.96), "5.00 % faster (99 % interval 4.00 to 6.00)");
        assert_eq!(of(1.05, 0.99, 1.11), "5.00 % slower (99 % interval -1.00 to 11.0)");
        let single = Ratio { estimate: 3.0, low: None, high: None };
        assert_eq!((change(&single, 0.99), with_interval(&single)), ("3.00 times slower".into(), "3.00 [?, ?]".into()));
    }
}
