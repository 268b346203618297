//! The model as JSON, to and fro.

use serde::Deserialize;

use crate::blame::Failure;

use super::{Run, VERSION};

/// The run as indented JSON with a newline at the end. [`read`] gives the same run again.
pub fn json(run: &Run) -> String {
    // Keys are strings and numbers are finite, so nothing can fail; if ever it does, the text shows it
    serde_json::to_string_pretty(run).unwrap_or_else(|error| format!("{{\"error\": {:?}}}", error.to_string())) + "\n"
}

/// What all versions have.
#[derive(Deserialize)]
struct Head {
    version: u32,
}

/// Reads what [`json`] wrote.
///
/// # Errors
///
/// The text is no run, or one of another version.
pub fn read(text: &str) -> Result<Run, Failure> {
    let wrong = |error: serde_json::Error| {
        Failure::usage(format!("this is not the report of a run: {error}")).hint("a run folder holds one in `run.json`")
    };
    let head: Head = serde_json::from_str(text).map_err(wrong)?;
    if head.version != VERSION {
        return Err(Failure::usage(format!(
            "the report has version {}, and this nspatch reads version {VERSION}",
            head.version
        ))
        .hint("use the nspatch that made the run; `nspatch` in the file names its version"));
    }
    serde_json::from_str(text).map_err(wrong)
}
