//! Whether the values in a `patch.yaml` can be: types alone let through a negative time.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde_yaml::Value;

use super::about::{About, Figure};
use super::words;
use crate::blame::Failure;

/// What stands where a person has to fill something in.
pub(super) const FILL_IN: &str = "FILL-IN";

/// The keys whose texts may have several lines.
const LONG: [&str; 5] = ["why", "puts_back", "contains", "lacks", "hardware"];

/// A `patch.yaml` as it is read: its text, and how it is called.
#[derive(Clone, Copy)]
pub(super) struct Page<'a> {
    pub text: &'a str,
    pub place: &'a str,
}

impl Page<'_> {
    /// The place with the number of a line: of the first that holds the first text, then of the first
    /// from there on that holds the next.
    pub(super) fn line_of(&self, path: &[&str]) -> String {
        let lines: Vec<&str> = self.text.lines().collect();
        let mut at = None;
        for needle in path {
            let from = at.unwrap_or(0);
            let found =
                lines.iter().skip(from).position(|line| !line.trim_start().starts_with('#') && line.contains(needle));
            at = found.map(|found| from + found).or(at);
        }
        at.map_or(self.place.to_owned(), |at| format!("{}:{}", self.place, at + 1))
    }

    fn wrong(&self, path: &[&str], what: impl Into<String>) -> Failure {
        let failure = Failure::usage(what).at(self.line_of(path));
        failure.hint("docs/patches.md explains every key")
    }

    /// Makes sure that nothing is left to fill in, and that no text holds what a terminal would obey.
    pub(super) fn check_texts(&self) -> Result<(), Failure> {
        // What is no YAML is told by whoever reads the keys
        let Ok(value) = serde_yaml::from_str::<Value>(self.text) else { return Ok(()) };
        for (key, text) in texts_of("", &value) {
            let last = key.rsplit('.').next().unwrap_or(&key);
            let fine = |c: char| LONG.contains(&last) && matches!(c, '\n' | '\t');
            if text.chars().any(|c| words::is_command(c) && !fine(c)) {
                return Err(self.wrong(&[last], format!("`{key}` holds a control character or several lines")));
            }
        }
        let open = to_fill_in(&value);
        if open.is_empty() {
            return Ok(());
        }
        let verb = if open.len() == 1 { "is" } else { "are" };
        Err(Failure::usage(format!("`{}` {verb} still to be filled in", open.join("`, `")))
            .at(self.line_of(&[FILL_IN]))
            .hint("write what belongs there in place of every FILL-IN: docs/patches.md explains every key"))
    }

    /// Makes sure that the values can be.
    pub(super) fn check(&self, about: &About) -> Result<(), Failure> {
        let texts = [("title", &about.title), ("licence", &about.licence), ("author", &about.author.name)];
        for (key, text) in texts {
            if text.trim().is_empty() {
                return Err(self.wrong(&[key], format!("`{key}` is empty")));
            }
        }
        self.check_origin(about)?;
        self.check_versions(about)?;
        for figure in &about.figures {
            self.check_figure(figure)?;
        }
        for (key, probes) in [("cured_when", &about.cured_when), ("stalls_when", &about.stalls_when)] {
            for probe in probes {
                self.check_path(key, &probe.file)?;
                if [&probe.contains, &probe.lacks].iter().any(|text| text.as_deref() == Some("")) {
                    return Err(self.wrong(&[key], format!("a text that `{key}` looks for is empty")));
                }
            }
        }
        let ports = about.ports.iter().map(|port| ("ports", &port.file));
        let mut listed = ports.chain(about.controls.iter().map(|control| ("controls", &control.file)));
        listed.try_for_each(|(key, file)| self.check_path(key, file))
    }

    fn check_origin(&self, about: &About) -> Result<(), Failure> {
        let origin = &about.origin;
        let wrong = |key: &str, text: &str, form: &str| {
            Err(self.wrong(&["origin", key], format!("`{text}` cannot be `origin.{key}`: write {form}")))
        };
        if let Some(id) = origin.message_id.as_ref().filter(|id| !id.contains('@') || id.contains(['<', '>', ' '])) {
            return wrong("message_id", id, "it without angle brackets");
        }
        let is_day = |day: &String| day.parse::<jiff::civil::Date>().is_ok_and(|date| date.to_string() == *day);
        if let Some(day) = origin.posted.as_ref().filter(|day| !is_day(day)) {
            return wrong("posted", day, "a day as YYYY-MM-DD");
        }
        match origin.link.as_ref().filter(|link| !link.starts_with("http://") && !link.starts_with("https://")) {
            Some(link) => wrong("link", link, "an address that begins with https://"),
            None => Ok(()),
        }
    }

    fn check_versions(&self, about: &About) -> Result<(), Failure> {
        let is_next = about.base.strip_prefix("next-").is_some_and(|day| day.len() == 8 && day.parse::<u32>().is_ok());
        if !is_next {
            self.version(&["base"], &about.base)?;
        }
        if let Some(span) = &about.meaningful {
            self.check_span("meaningful", span.since.as_deref(), span.until.as_deref())?;
        }
        for port in &about.ports {
            self.check_span("ports", Some(&port.since), port.until.as_deref())?;
        }
        for control in &about.controls {
            self.check_span("controls", Some(&control.since), control.until.as_deref())?;
        }
        for commit in about.fate.commits.iter().chain(&about.fate.later) {
            if commit.commit.len() < 12 || !commit.commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                let what = format!("`{}` is no commit: write at least 12 hexadecimal digits", commit.commit);
                return Err(self.wrong(&["fate", &commit.commit], what));
            }
            if let Some(release) = &commit.release {
                self.version(&["fate", release], release)?;
            }
        }
        Ok(())
    }

    fn check_span(&self, key: &str, since: Option<&str>, until: Option<&str>) -> Result<(), Failure> {
        let read = |version: Option<&str>| version.map(|version| self.version(&[key, version], version)).transpose();
        let (first, last) = (read(since)?, read(until)?);
        match (since, until, first.zip(last)) {
            (Some(since), Some(until), Some((first, last))) if is_later(&first, &last) => {
                Err(self.wrong(&[key, since], format!("`{key}` goes from {since} back to {until}")))
            }
            _ => Ok(()),
        }
    }

    /// The numbers of a version such as `5.6`, `2.6.24` or `v5.8-rc1`.
    fn version(&self, path: &[&str], text: &str) -> Result<Vec<u32>, Failure> {
        let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
        let plain = text.strip_prefix('v').unwrap_or(text);
        let (plain, candidate) = plain.split_once("-rc").unwrap_or((plain, "0"));
        let numbers: Option<Vec<u32>> = plain.split('.').map(number).collect();
        numbers
            .filter(|numbers| (2..=4).contains(&numbers.len()) && number(candidate).is_some())
            .ok_or_else(|| self.wrong(path, format!("`{text}` is no kernel version: write one such as \"6.12\"")))
    }

    fn check_figure(&self, figure: &Figure) -> Result<(), Failure> {
        let path = ["figures", figure.benchmark.as_str()];
        let of = |what: String| Err(self.wrong(&path, format!("a figure of `{}` {what}", figure.benchmark)));
        if figure.operations == 0 {
            return of("has no `operations`: write how many were timed together".to_owned());
        }
        for (key, value) in [("before", figure.before), ("after", figure.after)] {
            if !value.is_finite() || value < 0.0 {
                return of(format!("cannot be {value} {key}"));
            }
        }
        if figure.unit.trim().is_empty() { of("has no unit".to_owned()) } else { Ok(()) }
    }

    fn check_path(&self, key: &str, file: &str) -> Result<(), Failure> {
        let path = Utf8Path::new(file);
        let normal = path.components().all(|part| matches!(part, Utf8Component::Normal(_)));
        if !file.is_empty() && normal && file == path.components().collect::<Utf8PathBuf>().as_str() {
            return Ok(());
        }
        let what = format!("`{file}` in `{key}` is no file: write its path from the tree's root, such as fs/pnode.c");
        Err(self.wrong(&[key, file], what))
    }
}

/// The keys that are still to be filled in.
pub(super) fn to_fill_in(value: &Value) -> Vec<String> {
    texts_of("", value).into_iter().filter(|(_, text)| *text == FILL_IN).map(|(key, _)| key).collect()
}

/// All texts of a value with their keys.
fn texts_of<'a>(key: &str, value: &'a Value) -> Vec<(String, &'a str)> {
    match value {
        Value::String(text) => vec![(key.to_owned(), text.as_str())],
        Value::Sequence(values) => values.iter().flat_map(|value| texts_of(key, value)).collect(),
        Value::Mapping(entries) => {
            let below = |(name, value): (&'a Value, &'a Value)| {
                let name = name.as_str().unwrap_or_default();
                texts_of(&if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }, value)
            };
            entries.iter().flat_map(below).collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a version is later than all that begin like another.
fn is_later(first: &[u32], last: &[u32]) -> bool {
    first.iter().zip(last).find(|(a, b)| a != b).is_some_and(|(a, b)| a > b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_the_way_to_it() {
        let page = Page { text: "base: x\n# figures\nfigures:\n  - benchmark: x\n", place: "y" };
        assert_eq!(page.line_of(&["figures", "x"]), "y:4");
        assert_eq!((page.line_of(&["base", "x"]), page.line_of(&["gone"])), ("y:1".to_owned(), "y".to_owned()));
    }

    #[test]
    fn a_range_ends_with_all_that_begin_like_its_end() {
        assert!(is_later(&[5, 10], &[5, 9]) && !is_later(&[5, 7, 3], &[5, 7]) && !is_later(&[4], &[5, 1]));
    }
}
