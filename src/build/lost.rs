//! Symbols that did not come out as asked for, and why.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::expression::{Expression, Values};
use super::kconfig::Wish;
use super::menus::{Definition, Menus};
use crate::catalogue::nearest;

/// A symbol that did not come out as asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The symbol without `CONFIG_`.
    pub symbol: String,
    /// The value that was asked for.
    pub wanted: String,
    /// The value that it got; `n` where the resolved configuration does not have it.
    pub got: String,
    /// The file and line that asks for it.
    pub place: String,
    /// Why.
    pub reason: Reason,
}

/// Why a symbol did not come out as asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// No Kconfig file that counts for the architecture defines it; the nearest names.
    Unknown(Vec<String>),
    /// Conditions that do not hold, each with the values of its symbols.
    Unmet(Vec<String>),
    /// Other symbols turn it on.
    Selected(Vec<String>),
    /// Another member of the same choice was taken.
    Chosen(String),
    /// Only other symbols can turn it on; those that would.
    NoPrompt(Vec<String>),
    /// The tree's own rules, such as a range or a default, gave it another value.
    Overruled,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Unknown(near) if near.is_empty() => f.write_str("this tree and architecture do not have it"),
            Reason::Unknown(near) => {
                write!(f, "this tree and architecture do not have it; they have {}", near.join(", "))
            }
            Reason::Unmet(conditions) => write!(f, "it needs {}", conditions.join(", and ")),
            Reason::Selected(by) => write!(f, "{} selects it", by.join(", ")),
            Reason::Chosen(other) => write!(f, "{other} was chosen in its place"),
            Reason::NoPrompt(by) if by.is_empty() => f.write_str("it cannot be set: it has no prompt"),
            Reason::NoPrompt(by) => write!(f, "it cannot be set: only {} would select it", by.join(", ")),
            Reason::Overruled => f.write_str("the tree's own limits or defaults overrule it"),
        }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CONFIG_{}: wanted {}, got {}: {} ({})", self.symbol, self.wanted, self.got, self.reason, self.place)
    }
}

/// The wishes that a resolved configuration does not fulfil. `menus` is asked for only if there are
/// any, as reading them takes a while.
///
/// # Errors
///
/// `menus` fails.
pub(super) fn lost<'a, E>(
    wishes: impl Iterator<Item = &'a Wish>,
    values: &Values,
    menus: impl FnOnce() -> Result<Menus, E>,
) -> Result<Vec<Lost>, E> {
    let open: Vec<_> = wishes.filter(|wish| value_of(&wish.symbol, values) != wish.value).collect();
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let menus = menus()?;
    let known = |wish: &&&Wish| !wish.optional || !menus.of(&wish.symbol).is_empty();
    Ok(open
        .iter()
        .filter(known)
        .map(|wish| Lost {
            symbol: wish.symbol.clone(),
            wanted: wish.value.clone(),
            got: value_of(&wish.symbol, values).to_owned(),
            place: wish.place.clone(),
            reason: reason(wish, values, &menus),
        })
        .collect())
}

fn value_of<'a>(symbol: &str, values: &'a Values) -> &'a str {
    values.get(symbol).map_or("n", String::as_str)
}

fn reason(wish: &Wish, values: &Values, menus: &Menus) -> Reason {
    let definitions = menus.of(&wish.symbol);
    if definitions.is_empty() {
        let near = nearest(&wish.symbol, menus.symbols()).into_iter().map(str::to_owned).collect();
        return Reason::Unknown(near);
    }
    if wish.value == "n" {
        let by = selectors(&wish.symbol, menus, |symbol, condition| {
            value_of(symbol, values) != "n" && condition.is_none_or(|c| c.value(values) != Some(0))
        });
        return if by.is_empty() { Reason::Overruled } else { Reason::Selected(by) };
    }
    let best = definitions.iter().map(|one| unmet(one, values)).min_by_key(Vec::len).unwrap_or_default();
    if !best.is_empty() {
        return Reason::Unmet(best);
    }
    if let Some(other) = chosen_instead(&wish.symbol, definitions, values, menus) {
        return Reason::Chosen(other);
    }
    if definitions.iter().all(|one| one.prompts.is_empty()) {
        return Reason::NoPrompt(selectors(&wish.symbol, menus, |_, _| true));
    }
    Reason::Overruled
}

/// The conditions of a definition that do not hold; those that only the tree's tools could tell
/// count where no other explains the loss.
fn unmet(definition: &Definition, values: &Values) -> Vec<String> {
    let prompts = definition.prompts.iter().flatten();
    let all: Vec<_> = definition.depends.iter().chain(prompts).flat_map(Expression::conjuncts).collect();
    let with = |value: Option<u8>| all.iter().filter(move |part| part.value(values) == value);
    let mut unmet: Vec<String> = with(Some(0)).map(|part| with_values(part, values)).collect();
    if unmet.is_empty() {
        unmet = with(None).map(|part| format!("{part}, which only this compiler can tell")).collect();
    }
    let mut seen = std::collections::BTreeSet::new();
    unmet.retain(|text| seen.insert(text.clone()));
    unmet
}

fn with_values(part: &Expression, values: &Values) -> String {
    if let Expression::Operand(symbol) = part {
        return format!("{symbol}, which is {}", value_of(symbol, values));
    }
    let named: Vec<_> = part.symbols().iter().map(|symbol| format!("{symbol}={}", value_of(symbol, values))).collect();
    format!("{part}, where {}", named.join(", "))
}

fn selectors(symbol: &str, menus: &Menus, counts: impl Fn(&str, Option<&Expression>) -> bool) -> Vec<String> {
    let mut by: Vec<_> = menus
        .all()
        .filter(|(own, one)| one.selects.iter().any(|(to, when)| to == symbol && counts(own, when.as_ref())))
        .map(|(own, _)| own.to_owned())
        .collect();
    by.dedup();
    by.truncate(5);
    by
}

fn chosen_instead(symbol: &str, definitions: &[Definition], values: &Values, menus: &Menus) -> Option<String> {
    let mine = definitions.iter().find_map(|one| one.choice)?;
    let same = |(other, one): &(&str, &Definition)| {
        one.choice == Some(mine) && *other != symbol && value_of(other, values) == "y"
    };
    menus.all().find(same).map(|(other, _)| other.to_owned())
}
