//! A small run for the tests of this module.

use std::collections::BTreeMap;

use crate::apply::Variant;
use crate::arch::Arch;
use crate::blame::{Blame, Class, Failure};
use crate::compare::{Judgement, Reason, Settings, Side, judge};
use crate::event::{Stage, StageTime, StageTimes};
use crate::measure::{Accelerator, Clock, Repeat, Sample};

use super::{
    Asked, Comparison, Figures, Guest, Heard, Host, Image, Place, Row, Run, Surroundings, TreeFacts, Trouble, VERSION,
};

fn image(variant: Variant) -> Image {
    let digit = match variant {
        Variant::Base => "b",
        Variant::Patched => "a",
        Variant::Reversed => "e",
        Variant::Control => "c",
    };
    Image {
        variant,
        commit: digit.repeat(40),
        content: digit.repeat(40),
        image_sha256: digit.repeat(64),
        config_sha256: "d".repeat(64),
        toolchain: "gcc (Debian 12.2.0-14) 12.2.0".into(),
    }
}

/// The comparison of an already merged patch.
pub(super) fn comparison(arch: &str) -> Comparison {
    Comparison {
        patch: "ipc-free-work-queue".into(),
        tree: "debian:6.12".into(),
        state: "already upstream: taken out with ports/6.3-reverse.patch".into(),
        arch: Arch::named(arch).unwrap(),
        clock: Clock::Virtual,
        accelerator: Accelerator::Tcg,
        machine: "-M pc -cpu qemu64 -smp cpus=2 -m 256".into(),
        guest_sha256: "f".repeat(64),
        guest: Some(Guest {
            cpus: 2,
            memory_kib: 248_024,
            clocksource: Some("tsc".into()),
            tick_ns: 4_000_000,
            clock_resolution_ns: 128,
            clock_overhead_ns: 126,
        }),
        surroundings: Some(Surroundings { least_load: 0.25, most_load: 1.5, most_stolen: 0.0 }),
        baseline: Some(image(Variant::Reversed)),
        candidate: image(Variant::Base),
    }
}

/// Three boots of three repeats around `ns`, which differ by `spread` parts of 1.
pub(super) fn boots(ns: u64, spread: f64, drain_ns: u64) -> Vec<Sample> {
    let repeat = |seed: u64, index: u32| Repeat {
        index,
        warmup: index == 0,
        operations: 32,
        elapsed_ns: (32.0 * ns as f64 * (1.0 + spread * (seed as f64 + f64::from(index) / 10.0))) as u64,
        dither_ns: seed * 1000 + u64::from(index),
        drain_ns,
    };
    (1..=3).map(|seed| Sample { seed, repeats: (0..4).map(|index| repeat(seed, index)).collect() }).collect()
}

/// The same with other seeds.
fn again(boots: Vec<Sample>) -> Vec<Sample> {
    boots.into_iter().map(|sample| Sample { seed: sample.seed + 3, ..sample }).collect()
}

/// A benchmark without more.
pub(super) fn asked(benchmark: &str) -> Asked {
    Asked { benchmark: benchmark.into(), parameters: BTreeMap::new(), shows: false, mail: None }
}

/// A row from samples.
pub(super) fn row(comparison: &Comparison, benchmark: &str, baseline: Vec<Sample>, candidate: Vec<Sample>) -> Row {
    let place = Place { comparison, asked: asked(benchmark) };
    let judgement = judge(&baseline, &candidate, &Settings::default());
    Row::new(place, judgement, [baseline, candidate].map(Heard::from))
}

/// A run without findings.
pub(super) fn empty() -> Run {
    let stages = [
        (Stage::Tree, StageTime { seconds: 21.25, done: 1, reused: 0 }),
        (Stage::Build, StageTime { seconds: 402.5, done: 3, reused: 1 }),
        (Stage::Boot, StageTime { seconds: 48.0, done: 12, reused: 0 }),
    ];
    Run {
        version: VERSION,
        nspatch: "0.1.0".into(),
        command: ["nspatch", "test", "--tree", "debian:6.12"].map(str::to_owned).to_vec(),
        started: "2026-01-02T03:04:05Z".into(),
        folder: "nspatch-runs/20260102-030405".into(),
        trees: vec![TreeFacts {
            name: "debian:6.12".into(),
            commit: "0123456789".repeat(4),
            version: "6.12.9".into(),
            origin: "linux-source-6.12 6.12.9-1".into(),
        }],
        settings: super::Settings { compare: Settings::default(), allowed_splats: Vec::new() },
        host: Host {
            cpus: 2,
            cpu: Some("a CPU".into()),
            kvm_fails: BTreeMap::new(),
            qemu: BTreeMap::from([(Arch::named("x86_64").unwrap(), "10.0.2".into())]),
        },
        rows: Vec::new(),
        growths: Vec::new(),
        layouts: Vec::new(),
        comparisons: Vec::new(),
        failures: Vec::new(),
        splats: Vec::new(),
        stages: StageTimes(BTreeMap::from(stages)),
        wall_seconds: 455.5,
        nspatch_cpu_seconds: 1.284,
    }
}

/// A run in which a bit of everything happened.
pub(super) fn full() -> Run {
    let comparison = comparison("x86_64");
    let mut improved =
        row(&comparison, "unshare-ipc", boots(12_000_000, 0.001, 4_000_000), boots(170_000, 0.002, 90_000_000));
    improved.shows = true;
    improved.mail = Some(Figures { before: "9.784 s".into(), after: "0.368 s".into() });
    let six = |ns, spread| [boots(ns, spread, 1000), again(boots(ns, spread, 1000))].concat();
    let mut slower = row(&comparison, "umount-propagated", six(7_200_000, 0.0), six(8_000_000, 0.001));
    slower.parameters = BTreeMap::from([("n".into(), 12)]);
    let same = row(&comparison, "setns-net", boots(2_500_000, 0.001, 0), boots(2_500_400, 0.001, 0));
    let noisy = row(&comparison, "exit-ipc", boots(2_000_000, 0.05, 0), boots(2_010_000, 0.02, 0));
    let refused = Judgement::not_comparable(Reason::NoSamples { side: Side::Candidate }, &Settings::default());
    let place = Place { comparison: &comparison, asked: asked("unshare-user-ipc-mnt") };
    let unmeasured = Row::new(place, refused, Default::default());
    let failure = Failure::new(Class::Build, Blame::Patch, "the kernel does not compile: `x` is not declared")
        .at("ipc/namespace.c:42")
        .excerpt(["ipc/namespace.c:42:9: error: 'x' undeclared"])
        .hint("the edit touches this file: look at ports/6.3-reverse.patch");
    let trouble = Trouble {
        patch: Some("ipc-free-work-queue".into()),
        tree: Some("debian:6.12".into()),
        arch: Some(Arch::named("arm64").unwrap()),
        variant: Some(Variant::Reversed),
        stage: Some(Stage::Build),
        failure,
    };
    Run {
        rows: vec![improved, slower, same, noisy, unmeasured],
        comparisons: vec![comparison],
        failures: vec![trouble],
        ..empty()
    }
}
