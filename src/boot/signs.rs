//! What a console tells: panics, oopses, splats, and the guest's markers.
//!
//! All signs are literal texts. A pattern language could hold a pattern that does not compile or
//! never matches, and a check that cannot run would pass every kernel.

mod texts;

use self::texts::{CAUSES, HARMLESS, OOPSES, SPLATS, TRACES};
use super::Kind;

/// The guest's first line.
const INIT: &str = "nspatch: init";

/// A line of a console that tells of trouble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sign {
    /// [`Kind::Panic`], [`Kind::Oops`] or [`Kind::Splat`].
    pub kind: Kind,
    /// Its place in the console, in lines from 0.
    pub line: usize,
    /// The message without its time stamp.
    pub message: String,
}

impl Sign {
    /// Takes the next line in if the two are a warning and its cause, in whichever order.
    fn takes_in(&mut self, line: usize, message: &str) -> bool {
        let is_cause = |text: &str| !is_warning(text) && CAUSES.iter().any(|cause| text.contains(cause));
        let (warns, next_warns) = (is_warning(&self.message), is_warning(message));
        let together = line - self.line <= 2
            && self.kind == Kind::Splat
            && (warns && is_cause(message) || next_warns && is_cause(&self.message));
        if together {
            self.message =
                if warns { format!("{}: {message}", self.message) } else { format!("{message}: {}", self.message) };
        }
        together
    }
}

/// All signs of trouble on a console, in order. A warning and the line that names its cause are one.
pub(super) fn scan(console: &str) -> Vec<Sign> {
    let mut found: Vec<Sign> = Vec::new();
    for (line, text) in console.lines().enumerate() {
        let message = message(text);
        let sign = |kind| Sign { kind, line, message: message.to_owned() };
        match classify(message) {
            Some(kind) if !found.last_mut().is_some_and(|last| last.takes_in(line, message)) => found.push(sign(kind)),
            // Only where nothing before it says what it is of: reports hold several
            None if found.is_empty() && TRACES.iter().any(|text| message.starts_with(text)) => {
                found.push(sign(Kind::Splat));
            }
            _ => {}
        }
    }
    found
}

/// Whether a part of a console tells of the kernel's end.
pub(super) fn is_fatal(part: &str) -> bool {
    scan(part).iter().any(|sign| sign.kind != Kind::Splat)
}

/// Whether the guest's program was started.
pub(super) fn reached_init(console: &str) -> bool {
    console.lines().any(|line| line.contains(INIT))
}

/// The lines around a sign: what led to it, the trace, at most to the trace's end.
pub(super) fn around(console: &str, line: usize) -> Vec<String> {
    let lines = console.lines().skip(line.saturating_sub(2)).take(18);
    let mut shown: Vec<String> = Vec::new();
    for text in lines.map(str::trim_end).filter(|text| !text.is_empty()) {
        shown.push(text.to_owned());
        if text.contains("---[ end ") {
            break;
        }
    }
    shown
}

/// The last lines that are not empty.
pub(super) fn last_lines(text: &str, count: usize) -> Vec<String> {
    let lines: Vec<_> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(count)..].iter().map(|&line| line.to_owned()).collect()
}

/// The first lines that hold anything.
pub(super) fn first_lines(text: &str, count: usize) -> Vec<String> {
    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).take(count).map(str::to_owned).collect()
}

fn classify(message: &str) -> Option<Kind> {
    let has = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
    if message.contains("Kernel panic - not syncing") {
        Some(Kind::Panic)
    } else if HARMLESS.iter().any(|text| message.starts_with(text)) || is_user_trap(message) {
        None
    } else if has(OOPSES) || is_numbered_death(message) {
        Some(Kind::Oops)
    } else if is_warning(message) || is_of_slab(message) || has(SPLATS) || has(CAUSES) || has_word(message, "BUG:") {
        Some(Kind::Splat)
    } else {
        None
    }
}

/// A warning, as `WARN` and others print it. Not every line with that word is one, as in
/// `Spectre V2 : WARNING: Unprivileged eBPF is enabled`; but a line of the guest's can stand before it.
fn is_warning(message: &str) -> bool {
    message.match_indices("WARNING:").any(|(at, word)| {
        let rest = message[at + word.len()..].trim_start();
        let place = rest.split(' ').next().unwrap_or_default();
        at == 0
            || rest.starts_with("CPU: ")
            || rest.starts_with("at ")
            || [".c:", ".h:"].iter().any(|part| place.contains(part))
    })
}

/// SLUB's report, `BUG kmalloc-64 (Not tainted): Poison overwritten`, whatever the cache's name.
fn is_of_slab(message: &str) -> bool {
    has_word(message, "BUG ") && ["(Not tainted): ", "(Tainted: "].iter().any(|text| message.contains(text))
}

/// The end of a line by which every architecture numbers its oopses, as in `int3: 0000 [#1] SMP`.
fn is_numbered_death(message: &str) -> bool {
    let number = |rest: &str| rest.split_once(']').is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    message.split(" [#").skip(1).any(number)
}

/// A fault of a program, as in `traps: init[1] general protection fault ip:4012b3 ... error:0 in init`.
fn is_user_trap(message: &str) -> bool {
    message.contains("] general protection fault ip:")
}

/// Whether a text stands there without a capital before it, so that `DEBUG:` is no `BUG:`. Small letters can be those of
/// a line of the guest's that had not ended.
fn has_word(message: &str, word: &str) -> bool {
    message.match_indices(word).any(|(at, _)| !message[..at].ends_with(|c: char| c.is_ascii_uppercase() || c == '_'))
}

/// A line without its level, time stamp and caller: `<4>[    0.123456][    T1] `.
fn message(line: &str) -> &str {
    let mut rest = line.trim();
    if let Some((level, after)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        && level.bytes().all(|byte| byte.is_ascii_digit())
    {
        rest = after.trim_start();
    }
    while let Some((inside, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        let mark = inside.trim().trim_start_matches(['T', 'C']);
        if mark.is_empty() || !mark.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests;
