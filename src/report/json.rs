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
    let run: Run = serde_json::from_str(text).map_err(wrong)?;
    let floors = run.layouts.iter().all(|one| one.layout.floor >= 0.0 && one.layout.floor.is_finite());
    match run.settings.compare.fault().or((!floors).then_some("a layout's `floor` cannot be below 0")) {
        None => Ok(run),
        Some(fault) => Err(Failure::usage(format!("the report of this run was changed: {fault}"))
            .hint("a run folder is read as nspatch wrote it")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample_run::{boots, comparison, empty, full, row};
    use super::*;

    #[test]
    fn a_row_can_be_read_alone() {
        let run = full();
        let mut value: serde_json::Value = serde_json::from_str(&json(&run)).unwrap();
        let first = &mut value["rows"][0];
        for side in ["baseline", "candidate"] {
            let samples = first[side]["samples"].as_array_mut().unwrap();
            assert_eq!(samples.len(), 3);
            samples.truncate(1);
            samples[0]["repeats"].as_array_mut().unwrap().truncate(1);
        }
        insta::assert_snapshot!(serde_json::to_string_pretty(first).unwrap(), @r#"
        {
          "arch": "x86_64",
          "baseline": {
            "drain_ns": 4000000.0,
            "kept_kib": null,
            "ns_per_operation": 12026400.0,
            "samples": [
              {
                "repeats": [
                  {
                    "dither_ns": 1000,
                    "drain_ns": 4000000,
                    "elapsed_ns": 384383999,
                    "index": 0,
                    "operations": 32,
                    "warmup": true
                  }
                ],
                "seed": 1
              }
            ],
            "variant": "reversed"
          },
          "benchmark": "unshare-ipc",
          "candidate": {
            "drain_ns": 90000000.0,
            "kept_kib": null,
            "ns_per_operation": 170748.0,
            "samples": [
              {
                "repeats": [
                  {
                    "dither_ns": 1000,
                    "drain_ns": 90000000,
                    "elapsed_ns": 5450880,
                    "index": 0,
                    "operations": 32,
                    "warmup": true
                  }
                ],
                "seed": 1
              }
            ],
            "variant": "base"
          },
          "clock": "virtual",
          "doubts": [
            {
              "baseline_ns": 4000000.0,
              "candidate_ns": 90000000.0,
              "kind": "drain-grew"
            }
          ],
          "level": 0.99,
          "mail": {
            "after": "0.368 s",
            "before": "9.784 s"
          },
          "p": 3.0288341998007914e-8,
          "pairs": 3,
          "pairs_needed": null,
          "parameters": {},
          "patch": "ipc-free-work-queue",
          "ratio": {
            "estimate": 0.014197754377390657,
            "high": 0.014302793062925244,
            "low": 0.014093480113501441
          },
          "reason": null,
          "shows": true,
          "threshold": 0.01,
          "tree": "debian:6.12",
          "verdict": "improved"
        }
        "#);
    }

    #[test]
    fn an_unknown_key_and_another_version_are_refused() {
        let unknown = json(&empty()).replacen("\"rows\"", "\"rose\"", 1);
        assert!(read(&unknown).unwrap_err().what.contains("unknown field `rose`"), "{unknown}");
        let version = |number: u32| format!("\"version\": {number}");
        let later = json(&empty()).replacen(&version(VERSION), &version(VERSION + 1), 1);
        let told = format!("the report has version {}, and this nspatch reads version {VERSION}", VERSION + 1);
        assert_eq!(read(&later).unwrap_err().what, told);
        assert!(read("[]").is_err());
        assert!(read(&json(&full())[..200]).is_err());
    }

    #[test]
    fn settings_with_which_no_verdict_can_be_found_are_refused() {
        for (from, to) in [
            ("\"level\": 0.99", "\"level\": 1.5"),
            ("\"threshold\": 0.01", "\"threshold\": -0.01"),
            ("\"layout_floor\": 0.0", "\"layout_floor\": -5.0"),
            ("\"share\": 0.2", "\"share\": -1.0"),
        ] {
            let text = json(&empty());
            assert!(text.contains(from), "{from}: {text}");
            let failure = read(&text.replacen(from, to, 1)).unwrap_err();
            assert!(failure.what.starts_with("the report of this run was changed: "), "{}", failure.what);
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(ns in 1_000u64..1_000_000_000, other in 1_000u64..1_000_000_000, spread in 0.0..0.2f64) {
            let comparison = comparison("arm64");
            let rows = vec![row(&comparison, "setns-net", boots(ns, spread, other), boots(other, spread, ns))];
            let run = Run { rows, comparisons: vec![comparison], ..empty() };
            prop_assert_eq!(json(&read(&json(&run)).unwrap()), json(&run));
            prop_assert_eq!(read(&json(&run)).unwrap(), run);
        }
    }
}
