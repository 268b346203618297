//! Times as people read them.

use std::fmt;

/// A time in ns, shown with three significant digits in the unit that fits: `453 ns`, `12.0 µs`, `1.50 ms`, `97.3 s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time(pub f64);

/// The units, by how many ns they have.
const UNITS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The unit in which rounding to three digits does not give 1000
        let unit = UNITS.iter().find(|(ns, _)| (self.0 / ns).abs() < 999.5);
        let (ns, name) = unit.unwrap_or(&UNITS[3]);
        f.pad(&format!("{} {name}", three_digits(self.0 / ns)))
    }
}

/// A number with three significant digits, and none of a whole number cut off: `0.0142`, `1.00`, `70.1`, `12345`.
pub(crate) fn three_digits(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    // Rounded first, so that 9.996 is 10.0 and not 10.00
    let exponent = format!("{number:.2e}").rsplit('e').next().and_then(|text| text.parse::<i32>().ok()).unwrap_or(0);
    let decimals = usize::try_from(2 - exponent).unwrap_or(0);
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_unit_fits_and_three_digits_are_shown() {
        let cases = [
            (0.0, "0 ns"),
            (0.5, "0.500 ns"),
            (453.2, "453 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (9996.0, "10.0 µs"),
            (12_000.0, "12.0 µs"),
            (999_600.0, "1.00 ms"),
            (1_500_000.0, "1.50 ms"),
            (97_300_000_000.0, "97.3 s"),
            (1_234_000_000_000.0, "1234 s"),
        ];
        for (ns, wanted) in cases {
            assert_eq!(Time(ns).to_string(), wanted);
        }
    }

    fn read(text: &str) -> f64 {
        let (number, unit) = text.split_once(' ').unwrap();
        let (ns, _) = UNITS.iter().find(|(_, name)| *name == unit).unwrap();
        number.parse::<f64>().unwrap() * ns
    }

    proptest! {
        #[test]
        fn a_shown_time_is_within_half_of_its_last_digit(exponent in -1.0..14.0f64) {
            let ns = 10f64.powf(exponent);
            let shown = read(&Time(ns).to_string());
            prop_assert!((shown - ns).abs() <= ns * 0.00501, "{ns} became {shown}");
        }

        #[test]
        fn a_longer_time_never_reads_as_a_shorter_one(a in 0.1..1e14f64, b in 0.1..1e14f64) {
            let (short, long) = (a.min(b), a.max(b));
            prop_assert!(read(&Time(short).to_string()) <= read(&Time(long).to_string()));
        }
    }
}
