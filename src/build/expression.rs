//! The conditions of Kconfig files: enough of them to say which one was not met.

use std::collections::BTreeMap;
use std::fmt;

/// The values of a resolved configuration: symbol without `CONFIG_` to value; a missing one is `n`.
pub(super) type Values = BTreeMap<String, String>;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// A symbol, a constant or a quoted text.
    Operand(String),
    /// A condition that only the tree's own tools can tell, such as `$(cc-option,-mfoo)`.
    Opaque(String),
    /// `!a`.
    Not(Box<Expression>),
    /// `a && b`.
    And(Box<Expression>, Box<Expression>),
    /// `a || b`.
    Or(Box<Expression>, Box<Expression>),
    /// `a = b` and its like.
    Compare(String, &'static str, String),
}

use Expression::{And, Compare, Not, Opaque, Operand, Or};

impl Expression {
    /// Reads a condition; what is not understood becomes opaque, as it only serves an explanation.
    pub(super) fn read(text: &str) -> Self {
        let text = text.trim();
        let tokens = tokens(text);
        let mut reader = Reader { tokens: &tokens };
        match reader.any() {
            Some(expression) if reader.tokens.is_empty() => expression,
            _ => Opaque(text.to_owned()),
        }
    }

    /// 0, 1 or 2 for `n`, `m`, `y`; `None` where only the tree's own tools could tell.
    pub(super) fn value(&self, values: &Values) -> Option<u8> {
        match self {
            Opaque(_) => None,
            Operand(name) => Some(tristate(&text_of(name, values))),
            Not(inner) => inner.value(values).map(|value| 2 - value),
            And(a, b) => match (a.value(values), b.value(values)) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (a, b) => Some(a?.min(b?)),
            },
            Or(a, b) => match (a.value(values), b.value(values)) {
                (Some(2), _) | (_, Some(2)) => Some(2),
                (a, b) => Some(a?.max(b?)),
            },
            Compare(a, operator, b) => {
                Some(if compare(&text_of(a, values), operator, &text_of(b, values)) { 2 } else { 0 })
            }
        }
    }

    /// The conditions that all have to hold.
    pub(super) fn conjuncts(&self) -> Vec<&Expression> {
        match self {
            And(a, b) => [a.conjuncts(), b.conjuncts()].concat(),
            other => vec![other],
        }
    }

    /// The symbols that it names, in order, once each.
    pub(super) fn symbols(&self) -> Vec<&str> {
        let mut all = match self {
            Opaque(_) => vec![],
            Operand(name) => vec![name.as_str()],
            Not(inner) => inner.symbols(),
            And(a, b) | Or(a, b) => [a.symbols(), b.symbols()].concat(),
            Compare(a, _, b) => vec![a.as_str(), b.as_str()],
        };
        let mut seen = std::collections::BTreeSet::new();
        all.retain(|name| name.starts_with(|c: char| c.is_ascii_uppercase()) && seen.insert(*name));
        all
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = |part: &Expression, loose: bool| {
            if loose { format!("({part})") } else { part.to_string() }
        };
        match self {
            Operand(text) | Opaque(text) => f.write_str(text),
            Not(part) => write!(f, "!{}", inner(part, !matches!(**part, Operand(_) | Opaque(_) | Not(_)))),
            And(a, b) => {
                write!(f, "{} && {}", inner(a, matches!(**a, Or(..))), inner(b, matches!(**b, Or(..))))
            }
            Or(a, b) => write!(f, "{a} || {b}"),
            Compare(a, operator, b) => write!(f, "{a} {operator} {b}"),
        }
    }
}

fn text_of(name: &str, values: &Values) -> String {
    if let Some(text) = name.strip_prefix(['"', '\'']) {
        return text.trim_end_matches(['"', '\'']).to_owned();
    }
    let constant = matches!(name, "y" | "m" | "n") || name.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match values.get(name) {
        _ if constant => name.to_owned(),
        Some(value) => value.trim_matches('"').to_owned(),
        None => "n".to_owned(),
    }
}

fn tristate(text: &str) -> u8 {
    match text {
        "y" => 2,
        "m" => 1,
        _ => 0,
    }
}

fn compare(a: &str, operator: &str, b: &str) -> bool {
    let order = match (number(a), number(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => a.cmp(b),
    };
    match operator {
        "=" => order.is_eq(),
        "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        _ => order.is_ge(),
    }
}

fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

const OPERATORS: [&str; 11] = ["&&", "||", "!=", "<=", ">=", "=", "<", ">", "!", "(", ")"];

/// Cuts a condition into operators, names, quoted texts and `$(...)` calls.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            '$' => call_length(rest),
            _ => match OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
                Some(operator) => operator.len(),
                None => rest.find(|c: char| c.is_whitespace() || "&|!=<>()\"'".contains(c)).unwrap_or(rest.len()),
            },
        };
        let (token, after) = rest.split_at(length.max(first.len_utf8()));
        tokens.push(token.to_owned());
        rest = after.trim_start();
    }
    tokens
}

/// The length of `$(...)` at the start of a text, brackets inside it counted.
fn call_length(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return at + 1,
            ')' => depth -= 1,
            _ if depth == 0 && c.is_whitespace() => return at,
            _ => {}
        }
    }
    text.len()
}

struct Reader<'a> {
    tokens: &'a [String],
}

impl Reader<'_> {
    fn take(&mut self, wanted: &str) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if first == wanted => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn any(&mut self) -> Option<Expression> {
        let mut left = self.all()?;
        while self.take("||") {
            left = Or(Box::new(left), Box::new(self.all()?));
        }
        Some(left)
    }

    fn all(&mut self) -> Option<Expression> {
        let mut left = self.one()?;
        while self.take("&&") {
            left = And(Box::new(left), Box::new(self.one()?));
        }
        Some(left)
    }

    fn one(&mut self) -> Option<Expression> {
        if self.take("!") {
            return Some(Not(Box::new(self.one()?)));
        }
        if self.take("(") {
            let inner = self.any()?;
            return self.take(")").then_some(inner);
        }
        let left = self.operand()?;
        match ["!=", "<=", ">=", "=", "<", ">"].into_iter().find(|operator| self.take(operator)) {
            Some(operator) => {
                let right = self.operand()?;
                let opaque = left.starts_with('$') || right.starts_with('$');
                Some(if opaque { Opaque(format!("{left} {operator} {right}")) } else { Compare(left, operator, right) })
            }
            None if left.starts_with('$') => Some(Opaque(left)),
            None => Some(Operand(left)),
        }
    }

    fn operand(&mut self) -> Option<String> {
        let (first, rest) = self.tokens.split_first()?;
        if OPERATORS.contains(&first.as_str()) {
            return None;
        }
        self.tokens = rest;
        Some(first.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> Values {
        [("A", "y"), ("M", "m"), ("NUM", "64"), ("TEXT", "\"abc\"")]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn conditions_have_the_values_that_kconfig_gives_them() {
        for (text, value) in [
            ("A", Some(2)),
            ("M", Some(1)),
            ("OFF", Some(0)),
            ("!OFF", Some(2)),
            ("!M", Some(1)),
            ("A && M", Some(1)),
            ("OFF || A", Some(2)),
            ("!(A && OFF)", Some(2)),
            ("A && OFF || A", Some(2)),
            ("A=y", Some(2)),
            ("A != n", Some(2)),
            ("NUM > 9", Some(2)),
            ("NUM <= 0x3f", Some(0)),
            ("TEXT = \"abc\"", Some(2)),
            ("$(success,test (a) = b)", None),
            ("OFF && $(cc-option,-mfoo)", Some(0)),
            ("A || $(cc-option,-mfoo)", Some(2)),
            ("A && $(cc-option,-mfoo)", None),
            ("A &&", None),
        ] {
            assert_eq!(Expression::read(text).value(&values()), value, "{text}");
        }
    }

    #[test]
    fn a_condition_splits_into_what_has_to_hold() {
        let expression = Expression::read("A && (B || C) && !D");
        let parts: Vec<_> = expression.conjuncts().iter().map(ToString::to_string).collect();
        assert_eq!(parts, ["A", "B || C", "!D"]);
        assert_eq!(Expression::read("A && B=y && A < 5").symbols(), ["A", "B"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[ -~äß]{0,60}") {
            let _ = Expression::read(&text).value(&values());
        }

        #[test]
        fn what_is_shown_means_the_same(text in "(!?(A|M|OFF)( && | \\|\\| )){0,4}(A|OFF|NUM = 64|!\\(A && OFF\\))") {
            let read = Expression::read(&text);
            prop_assert_eq!(Expression::read(&read.to_string()), read);
        }
    }
}
