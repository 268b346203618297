//! Judges numbers from elsewhere by nspatch's rule: `benches/rules.py` compares it with those of others.
//!
//! Reads a JSON object a line: `{"looks": "wall", "threshold": 0.05, "layout_floor": 0, "baseline": [[ns, ...], ...], "candidate": [...]}`, with
//! a list of the repeats of each boot, in ns. `looks` is `wall` or `virtual`. Prints the verdict and the number of pairs it took.

use std::io::{BufRead, BufReader, Write};

use nspatch::compare::{Looks, Settings, Verdict, judge};
use nspatch::measure::{Repeat, Sample};

#[derive(serde::Deserialize)]
struct Numbers {
    looks: String,
    threshold: f64,
    layout_floor: f64,
    baseline: Vec<Vec<u64>>,
    candidate: Vec<Vec<u64>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in BufReader::new(std::io::stdin().lock()).lines() {
        let (verdict, pairs) = decide(&serde_json::from_str(&line?)?)?;
        writeln!(out, "{} {pairs}", serde_json::to_string(&verdict)?.trim_matches('"'))?;
    }
    Ok(out.flush()?)
}

/// The verdict at the first look that gives one, and after how many pairs that is.
fn decide(numbers: &Numbers) -> Result<(Verdict, u32), String> {
    let looks = match numbers.looks.as_str() {
        "wall" => Looks::wall_clock(),
        "virtual" => Looks::virtual_clock(),
        other => return Err(format!("there are no looks `{other}`")),
    };
    let settings =
        Settings { threshold: numbers.threshold, layout_floor: numbers.layout_floor, looks, ..Settings::default() };
    let (baseline, candidate) = (samples(&numbers.baseline), samples(&numbers.candidate));
    let mut last = (Verdict::Inconclusive, 0);
    for pairs in settings.looks.pairs() {
        let first = |samples: &[Sample]| samples.iter().take(pairs as usize).cloned().collect::<Vec<_>>();
        last = (judge(&first(&baseline), &first(&candidate), &settings).verdict, pairs);
        if last.0 != Verdict::Inconclusive {
            break;
        }
    }
    Ok(last)
}

fn samples(boots: &[Vec<u64>]) -> Vec<Sample> {
    let repeat = |(index, elapsed_ns): (u32, &u64)| Repeat {
        index,
        warmup: false,
        operations: 1,
        elapsed_ns: *elapsed_ns,
        dither_ns: 0,
        drain_ns: 0,
    };
    let sample = |(seed, repeats): (u64, &Vec<u64>)| Sample { seed, repeats: (0..).zip(repeats).map(repeat).collect() };
    (1..).zip(boots).map(sample).collect()
}
