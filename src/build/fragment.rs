//! The lines of configuration fragments.

/// What a line asks for.
pub(super) type Line = Option<(String, String, bool)>;

/// Symbol, value and whether it is optional; `None` for blank lines and comments.
pub(super) fn read_line(line: &str) -> Result<Line, String> {
    let line = line.trim();
    let (line, optional) = match line.strip_prefix("# optional:") {
        Some(rest) => (rest.trim(), true),
        None => (line, false),
    };
    if let Some(symbol) = line.strip_prefix("# CONFIG_").and_then(|rest| rest.strip_suffix(" is not set")) {
        return wished(symbol, "n", optional);
    }
    if !optional && (line.is_empty() || line.starts_with('#')) {
        return Ok(None);
    }
    let not_understood = || format!("this line is not understood: `{line}`");
    let (symbol, value) =
        line.strip_prefix("CONFIG_").and_then(|rest| rest.split_once('=')).ok_or_else(not_understood)?;
    wished(symbol, value, optional)
}

fn wished(symbol: &str, value: &str, optional: bool) -> Result<Line, String> {
    if !is_symbol(symbol) {
        return Err(format!("`{symbol}` is no configuration symbol"));
    }
    if !is_value(value) {
        return Err(format!("`{value}` is no value for CONFIG_{symbol}"));
    }
    Ok(Some((symbol.to_owned(), value.to_owned(), optional)))
}

/// Whether a text can be a symbol, without `CONFIG_`.
pub(super) fn is_symbol(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_value(text: &str) -> bool {
    let number = text.strip_prefix('-').unwrap_or(text);
    let hex = number.strip_prefix("0x").is_some_and(|hex| u64::from_str_radix(hex, 16).is_ok());
    let quoted = text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
    matches!(text, "y" | "m" | "n") || number.parse::<u64>().is_ok() || hex || quoted
}
