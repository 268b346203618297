//! How events read as text.

use crate::event::{Ending, Stage};

/// A length of time as people read it, such as `0.4 s`, `12 s` or `3 min 05 s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{:.1} s", seconds.max(0.0));
    }
    // Beyond any run there is: the conversion saturates
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, min, s) => format!("{min} min {s:02} s"),
        (h, min, _) => format!("{h} h {min:02} min"),
    }
}

/// The name of a piece of work.
pub(super) fn work(stage: Stage, subject: &str) -> String {
    format!("{} {subject}", stage.name())
}

/// What is said of a piece of work that has ended.
pub(super) fn ended(stage: Stage, subject: &str, ending: Ending, seconds: f64) -> String {
    let work = work(stage, subject);
    match ending {
        Ending::Done => format!("{work}: done in {}", duration(seconds)),
        Ending::Reused => format!("{work}: reused"),
        Ending::Broken => format!("{work}: failed after {}", duration(seconds)),
    }
}

/// What is said of a notice: the message, and on a line of its own what to do about it.
pub(super) fn notice(message: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("note: {message}\nhint: {hint}"),
        None => format!("note: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_the_unit_that_suits_it() {
        let cases = [
            (0.04, "0.0 s"),
            (9.94, "9.9 s"),
            (9.96, "10 s"),
            (59.4, "59 s"),
            (59.6, "1 min 00 s"),
            (185.0, "3 min 05 s"),
            (7260.0, "2 h 01 min"),
            (-1.0, "0.0 s"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text, "{seconds}");
        }
    }
}
