//! `patch.yaml`: what is known of a patch beside its diff. `docs/patches.md` explains every key.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::check::{Page, to_fill_in};
use super::diff::Direction;
use super::words::clean;
use crate::blame::Failure;
use crate::catalogue::{located, read_yaml};

/// What `patch.yaml` says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The subject of the mail, without `[PATCH ...]`.
    pub title: String,
    /// Who wrote the patch.
    pub author: Author,
    /// Where the text comes from.
    pub origin: Mailing,
    /// The licence of the diff, as an SPDX identifier.
    pub licence: String,
    /// The kernel version that the diff was made for, such as `5.6`.
    pub base: String,
    /// The kernel versions on which the patch has something to change.
    pub meaningful: Option<Span>,
    /// What became of it upstream.
    pub fate: Fate,
    /// Looks at the source: a tree has the cure, by this patch or another, if one of them holds.
    #[serde(default)]
    pub cured_when: Vec<Probe>,
    /// Looks at the source: a tree has the stall only if all of them hold.
    #[serde(default)]
    pub stalls_when: Vec<Probe>,
    /// The benchmarks that show its effect.
    pub benchmarks: Vec<String>,
    /// The figures that the mail gives.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// The symbols that have to be `=y` for the effect to show, without `CONFIG_`.
    #[serde(default)]
    pub kconfig: Vec<String>,
    /// Hand-made forms of it for trees that the mailed one does not fit.
    #[serde(default)]
    pub ports: Vec<PortEntry>,
    /// Small changes of our own that put the stall back where it was cured.
    #[serde(default)]
    pub controls: Vec<ControlEntry>,
    /// The names of patches that cure the same stall in another way.
    #[serde(default)]
    pub competitors: Vec<String>,
}

/// Who wrote a patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Author {
    /// As it stands in the mail.
    pub name: String,
    /// The address, if the mail shows it.
    pub email: Option<String>,
}

/// Where the text of a patch comes from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mailing {
    /// What kind of mail `original.patch` is.
    pub mail: String,
    /// The mailing list, where it is known.
    pub list: Option<String>,
    /// The Message-ID of the author's own mail, without angle brackets.
    pub message_id: Option<String>,
    /// An address of it.
    pub link: Option<String>,
    /// When the author posted it, `YYYY-MM-DD`.
    pub posted: Option<String>,
}

/// A range of kernel versions, both ends within.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// The first; open if missing.
    pub since: Option<String>,
    /// The last; open if missing.
    pub until: Option<String>,
}

/// What became of a patch upstream.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fate {
    /// In one word.
    pub outcome: Outcome,
    /// The commits that merged it, or that made it needless.
    #[serde(default)]
    pub commits: Vec<Commit>,
    /// Later commits that changed what it did.
    #[serde(default)]
    pub later: Vec<Commit>,
}

/// What became of a patch, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was merged, perhaps in a later version.
    Merged,
    /// Something else cured the stall.
    Superseded,
    /// Neither it nor another cure was merged.
    NotMerged,
}

/// A commit of the kernel's history.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// At least 12 hexadecimal digits.
    pub commit: String,
    /// Its title.
    pub title: String,
    /// The first release that holds it, such as `v5.8-rc1`.
    pub release: Option<String>,
}

/// A look at a file of the tree; exactly one of `contains` and `lacks` is set.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The file; in a tree without it, the look does not hold.
    pub file: String,
    /// It holds if the file has this text.
    pub contains: Option<String>,
    /// It holds if the file does not have this text.
    pub lacks: Option<String>,
}

impl Probe {
    /// Whether the look holds, by the content of the file, `None` where there is none.
    pub fn holds(&self, content: Option<&[u8]>) -> bool {
        let Some(content) = content else { return false };
        let has = |text: &String| content.windows(text.len().max(1)).any(|window| window == text.as_bytes());
        self.contains.as_ref().is_none_or(has) && self.lacks.as_ref().is_none_or(|text| !has(text))
    }
}

/// A measurement that the mail gives.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The benchmark that does what the mail's program does.
    pub benchmark: String,
    /// How many operations were timed together.
    pub operations: u64,
    /// Further parameters of the benchmark, such as `n: 15`.
    #[serde(default)]
    pub parameters: BTreeMap<String, u64>,
    /// The value without the patch.
    pub before: f64,
    /// The value with it.
    pub after: f64,
    /// The unit of both.
    pub unit: String,
    /// The machine, if the mail names it.
    pub hardware: Option<String>,
}

/// One port, as listed in `patch.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortEntry {
    /// The file's name below `ports/`.
    pub file: String,
    /// `forward` puts the patch in; `reverse` takes it out. Both are applied as they are written.
    pub direction: Direction,
    /// The first kernel version it is meant for.
    pub since: String,
    /// The last one; open if missing.
    pub until: Option<String>,
    /// Why the mailed form does not do there.
    pub why: String,
}

/// One control, as listed in `patch.yaml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlEntry {
    /// The file's name beside `patch.yaml`.
    pub file: String,
    /// The first kernel version it is meant for.
    pub since: String,
    /// The last one; open if missing.
    pub until: Option<String>,
    /// What the tree waits for, or does, again.
    pub puts_back: String,
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.contains, &self.lacks) {
            (Some(text), _) => write!(f, "{} has `{text}`", self.file),
            (None, Some(text)) => write!(f, "{} has no `{text}`", self.file),
            (None, None) => f.write_str(&self.file),
        }
    }
}

impl About {
    /// Reads a `patch.yaml`; `place` is the name to show.
    ///
    /// # Errors
    ///
    /// A key is unknown, missing or of the wrong shape: the failure names file, line and key.
    pub(super) fn read(text: &[u8], place: &str) -> Result<About, Failure> {
        let plain = String::from_utf8_lossy(text);
        let page = Page { text: &plain, place };
        page.check_texts()?;
        let about: About = read_yaml(text, place, "docs/patches.md")?;
        page.check(&about)?;
        let wrong = |key: &str, what: String| Err(Failure::usage(what).at(located(text, place, key)));
        if about.benchmarks.is_empty() {
            return wrong(
                "benchmarks",
                "`benchmarks` is empty: name at least one that shows the patch's effect".into(),
            );
        }
        if let Some(symbol) = about.kconfig.iter().find(|symbol| !is_symbol(symbol)) {
            return wrong(symbol, format!("`{symbol}` is no kconfig symbol: write `POSIX_MQUEUE`, without `CONFIG_`"));
        }
        for (key, probes) in [("cured_when", &about.cured_when), ("stalls_when", &about.stalls_when)] {
            if probes.iter().any(|probe| probe.contains.is_some() == probe.lacks.is_some()) {
                return wrong(key, format!("each look of `{key}` needs either `contains` or `lacks`"));
            }
        }
        Ok(about)
    }
}

impl About {
    /// The title in a `patch.yaml`, and the keys in it that are still to be filled in; `None` if none are.
    pub(super) fn to_fill_in(text: &[u8]) -> Option<(String, String)> {
        let value: serde_yaml::Value = serde_yaml::from_slice(text).ok()?;
        let keys = to_fill_in(&value);
        let title = value.get("title").and_then(|title| title.as_str()).unwrap_or_default();
        (!keys.is_empty()).then(|| (clean(title), keys.join(", ")))
    }
}

fn is_symbol(text: &str) -> bool {
    !text.starts_with("CONFIG_") && !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
