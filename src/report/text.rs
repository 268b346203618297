//! A run as people read it.

use crate::apply::Variant;
use crate::compare::{self, Law, Time, Verdict};
use crate::measure::{Accelerator, Clock};

use super::lives::{self, allowed, deaths, died};
use super::numbers::{change, percent, with_interval};
use super::sentences::{notes, sentence, would_be_noticed};
use super::table::{Align, table};
use super::where_time_went::where_time_went;
use super::{Comparison, Growth, Guest, Image, Measured, Row, Run, Style, Surroundings, Trouble};

/// The run as a text: the tables, what they mean, what failed, where the time went. Colours only repeat the words.
pub fn text(run: &Run, style: Style) -> String {
    let mut parts = vec![head(run)];
    parts.extend(run.comparisons.iter().map(|comparison| of_comparison(run, comparison, style)));
    parts.extend(run.failures.iter().map(|trouble| of_trouble(trouble, style)));
    if run.comparisons.is_empty() && run.failures.is_empty() {
        parts.push("nothing was compared\n".into());
    }
    parts.extend(in_short(run, style));
    // What was judged again took no time worth telling
    parts.extend((!run.stages.0.is_empty()).then(|| where_time_went(run)));
    parts.push(format!("run folder: {}\n", run.folder));
    parts.join("\n")
}

fn head(run: &Run) -> String {
    let mut text = format!("nspatch {}, started {}\n", run.nspatch, run.started);
    for tree in &run.trees {
        let short = tree.commit.get(..12).unwrap_or(&tree.commit);
        text += &format!("{}: Linux {}, commit {short}, from {}\n", tree.name, tree.version, tree.origin);
    }
    for (arch, version) in &run.host.qemu {
        text += &format!("{arch}: QEMU {version}\n");
    }
    if !run.settings.allowed_splats.is_empty() {
        let texts: Vec<_> = run.settings.allowed_splats.iter().map(|text| format!("`{text}`")).collect();
        text += &format!("splats that were allowed: {}\n", texts.join(", "));
    }
    text
}

fn of_comparison(run: &Run, comparison: &Comparison, style: Style) -> String {
    let Comparison { patch, tree, state, arch, clock, accelerator, baseline, candidate, .. } = comparison;
    let title = match clock {
        Clock::Virtual => format!("{patch} on {tree}, {arch}, {clock} clock"),
        Clock::Wall => format!("{patch} on {tree}, {arch}, {clock} clock on {accelerator}"),
    };
    let mut text = format!("{}\n  {state}\n", style.bold(&title));
    text += &format!("  {}\n", question(variant(baseline.as_ref()), candidate.variant));
    if baseline.as_ref().is_some_and(|baseline| baseline.image_sha256 == candidate.image_sha256) {
        text += "  both kernels are the same image, byte for byte\n";
    }
    let rows: Vec<&Row> = run.rows.iter().filter(|row| row.is_of(comparison)).collect();
    for line in instrument(run, comparison) {
        text += &format!("  {line}\n");
    }
    for line in deaths(comparison, &rows) {
        text += &format!("  {}\n", style.bad(&line));
    }
    for line in allowed(comparison, &run.splats) {
        text += &format!("  {line}\n");
    }
    if rows.is_empty() {
        return text + "  no benchmark was compared\n";
    }
    text += "\n";
    text += &verdicts(&rows, comparison, style);
    let growths = run.growths.iter().filter(|growth| growth.is_of(comparison));
    let growths = growths.map(|growth| format!("  {}\n", grows(growth, comparison)));
    let told: String = growths.chain(rows.iter().map(|row| told(row))).collect();
    if told.is_empty() { text } else { text + "\n" + &told }
}

/// What it was measured with: the guest and its clock; and in real time, what else the host did and what a rebuild does.
fn instrument(run: &Run, comparison: &Comparison) -> Vec<String> {
    let guest = comparison.guest.iter().map(|guest| {
        let Guest { cpus, memory_kib, clocksource, .. } = guest;
        let [tick, step, reading] =
            [guest.tick_ns, guest.clock_resolution_ns, guest.clock_overhead_ns].map(|ns| Time(ns as f64));
        let source = clocksource.as_deref().unwrap_or("unknown");
        let memory = memory_kib / 1024;
        format!("guests: {cpus} CPUs, {memory} MiB; a tick is {tick}; clock {source}, in steps of {step}, {reading} a reading")
    });
    let mut lines: Vec<String> = guest.collect();
    if comparison.clock == Clock::Wall {
        lines.extend(translated(run, comparison));
        lines.extend(comparison.surroundings.map(|host| {
            let Surroundings { least_load, most_load, most_stolen } = host;
            format!(
                "host: load {least_load} to {most_load} as boots began, up to {} % of its CPUs' time taken by others above it",
                percent(most_stolen)
            )
        }));
        lines.push(layout_floors(run, comparison));
    }
    lines
}

/// What real time is worth where QEMU translates what the guests run, and why it does.
fn translated(run: &Run, comparison: &Comparison) -> Option<String> {
    let why = run.host.kvm_fails.get(&comparison.arch).map_or_else(String::new, |why| format!(", as KVM fails: {why}"));
    (comparison.accelerator == Accelerator::Tcg).then(|| {
        format!("real time of QEMU's translation{why}; waits are true, what computing costs is not this machine's")
    })
}

fn layout_floors(run: &Run, comparison: &Comparison) -> String {
    let own = run.layouts.iter().filter(|one| (&one.tree, one.arch) == (&comparison.tree, comparison.arch));
    let known: Vec<_> = own.map(|one| format!("{} {} %", one.title(), percent(one.layout.floor))).collect();
    match known.is_empty() {
        false => format!("what a rebuild alone may move, by measuring: {}", known.join(", ")),
        true => format!(
            "what a rebuild alone may move was not measured (`--layout 6` does, by as many builds): changes up to {} % are put \
             down to it",
            percent(run.settings.compare.layout_floor)
        ),
    }
}

/// How a benchmark grows in both variants: `umount-propagated over n = 8, 10, 12: control as 4^n, base as 2^n`.
fn grows(growth: &Growth, comparison: &Comparison) -> String {
    let Growth { benchmark, parameter, values, .. } = growth;
    let values: Vec<String> = values.iter().map(i64::to_string).collect();
    let sides = [
        growth.baseline.as_ref().zip(variant(comparison.baseline.as_ref())),
        growth.candidate.as_ref().zip(Some(comparison.candidate.variant)),
    ];
    let said: Vec<_> =
        sides.iter().flatten().map(|(growth, variant)| format!("{variant} {}", in_words(growth, parameter))).collect();
    let said =
        if said.is_empty() { "too few values were measured to tell how it grows".into() } else { said.join(", ") };
    format!("{benchmark} over {parameter} = {}: {said}", values.join(", "))
}

fn in_words(growth: &compare::Growth, parameter: &str) -> String {
    if growth.laws == [Law::Constant] {
        return "does not grow beyond the noise".to_owned();
    }
    let law = |law: &Law| match law {
        Law::Constant => "1".to_owned(),
        Law::Linear => parameter.to_owned(),
        Law::Quadratic => format!("{parameter}^2"),
        Law::TwoToThe => format!("2^{parameter}"),
        Law::FourToThe => format!("4^{parameter}"),
    };
    match &growth.laws[..] {
        [one] => {
            let (law, fixed, each) = (law(one), Time(growth.fixed_ns), Time(growth.each_ns));
            format!("grows as {law} ({fixed} + {each} x {law})")
        }
        several => {
            let names: Vec<_> = several.iter().map(law).collect();
            format!("grows in a way that these values do not tell: {}", names.join(" or "))
        }
    }
}

/// Of several comparisons a line for each benchmark that is known to show the patch's effect.
fn in_short(run: &Run, style: Style) -> Option<String> {
    let rows: Vec<&Row> = run.rows.iter().filter(|row| row.shows).collect();
    if run.comparisons.len() < 2 || rows.is_empty() {
        return None;
    }
    let cells: Vec<[String; 6]> = rows.iter().map(|row| short(row)).collect();
    let lines = table(&cells, [Align::Left; 6], 2, |line, words| style.verdict(rows[line].verdict, words));
    Some(format!("{}\n{lines}", style.bold("in short")))
}

fn short(row: &Row) -> [String; 6] {
    let sides = match &row.baseline {
        Some(baseline) => format!("{} -> {}", baseline.variant, row.candidate.variant),
        None => row.candidate.variant.to_string(),
    };
    let words = row.verdict.words(row.threshold);
    let verdict = match (row.verdict, row.ratio) {
        _ if died(row).is_some() => lives::in_short(row).unwrap_or(words),
        _ if row.baseline.is_none() => format!("takes {} today", time(&row.candidate)),
        (Verdict::Improved | Verdict::Regressed, Some(ratio)) => {
            let noticed = if would_be_noticed(row) { "would be noticed: " } else { "" };
            format!("{noticed}{words}, {}", change(&ratio, row.level).0)
        }
        _ => words,
    };
    [row.patch.clone(), row.tree.clone(), row.arch.to_string(), row.title(), sides, verdict]
}

fn variant(image: Option<&Image>) -> Option<Variant> {
    image.map(|image| image.variant)
}

/// What a comparison of two variants asks.
fn question(baseline: Option<Variant>, candidate: Variant) -> String {
    let Some(baseline) = baseline else {
        return format!("{candidate} has no baseline here: what does it cost today?");
    };
    let asked = match (baseline, candidate) {
        (Variant::Base, Variant::Patched) => "does the patch help?",
        (Variant::Reversed, Variant::Base) => "does the patch still help?",
        (Variant::Control, Variant::Base) => "would the benchmark notice if the stall came back?",
        _ => "do they differ?",
    };
    format!("{baseline} is the baseline, {candidate} the candidate: {asked}")
}

fn verdicts(rows: &[&Row], comparison: &Comparison, style: Style) -> String {
    let level = rows.first().map_or_else(String::new, |row| percent(row.level));
    let mut cells = vec![[
        "benchmark".to_owned(),
        variant(comparison.baseline.as_ref()).map_or_else(|| "-".into(), |variant| variant.to_string()),
        comparison.candidate.variant.to_string(),
        format!("ratio [{level} % interval]"),
        "verdict".to_owned(),
    ]];
    cells.extend(rows.iter().map(|row| {
        [
            row.title(),
            row.baseline.as_ref().map_or_else(|| "-".into(), time),
            time(&row.candidate),
            row.ratio.map_or_else(|| "-".into(), |ratio| with_interval(&ratio)),
            row.verdict.words(row.threshold),
        ]
    }));
    let aligns = [Align::Left, Align::Right, Align::Right, Align::Left, Align::Left];
    table(&cells, aligns, 2, |line, words| match line.checked_sub(1) {
        Some(row) => style.verdict(rows[row].verdict, words),
        None => words.to_owned(),
    })
}

fn time(measured: &Measured) -> String {
    measured.ns_per_operation.map_or_else(|| "-".into(), |ns| Time(ns).to_string())
}

/// The sentence and the notes of a row.
fn told(row: &Row) -> String {
    let notes = notes(row);
    // A note needs a line to stand below
    let sentence = sentence(row).or_else(|| (!notes.is_empty()).then(|| format!("{}:", row.title())));
    let lines = sentence.map(|line| format!("  {line}\n")).into_iter();
    lines.chain(notes.iter().map(|note| format!("    {note}\n"))).collect()
}

fn of_trouble(trouble: &Trouble, style: Style) -> String {
    let about = [
        trouble.patch.clone(),
        trouble.tree.clone(),
        trouble.arch.map(|arch| arch.to_string()),
        trouble.variant.map(|variant| variant.to_string()),
        trouble.stage.map(|stage| stage.name().to_owned()),
    ];
    let about: Vec<String> = about.into_iter().flatten().collect();
    let title = if about.is_empty() { "failed".into() } else { format!("failed: {}", about.join(", ")) };
    style.bad(&title) + "\n" + &trouble.failure.render().lines().map(|line| format!("  {line}\n")).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::super::sample_run::{asked, boots, comparison, empty, full, row};
    use super::super::{Heard, Layout, Place};
    use super::super::{json, read};
    use super::*;

    #[test]
    fn a_run_reads_from_table_to_time() {
        insta::assert_snapshot!(text(&full(), Style::default()), @r"
        nspatch 0.1.0, started 2026-01-02T03:04:05Z
        debian:6.12: Linux 6.12.9, commit 012345678901, from linux-source-6.12 6.12.9-1
        x86_64: QEMU 10.0.2

        ipc-free-work-queue on debian:6.12, x86_64, virtual clock
          already upstream: taken out with ports/6.3-reverse.patch
          reversed is the baseline, base the candidate: does the patch still help?
          guests: 2 CPUs, 242 MiB; a tick is 4.00 ms; clock tsc, in steps of 128 ns, 126 ns a reading

          benchmark               reversed     base  ratio [99 % interval]    verdict
          unshare-ipc              12.0 ms   171 µs  0.0142 [0.0141, 0.0143]  improved
          umount-propagated n=12   7.20 ms  8.02 ms  1.11 [1.11, 1.12]        regressed
          setns-net                2.51 ms  2.51 ms  1.0002 [1.0002, 1.0002]  no difference within 1 %
          exit-ipc                 2.22 ms  2.10 ms  0.9456 [0.7803, 1.1463]  inconclusive
          unshare-user-ipc-mnt           -        -  -                        not comparable

          unshare-ipc: base is 70.4 times faster than reversed (99 % interval 69.9 to 71.0)
            background freeing after each repeat: 4.00 ms in reversed, 90.0 ms in base
            the mail says: before 9.784 s, after 0.368 s
            doubt: background freeing after a repeat grew from 4.00 ms to 90.0 ms: work may have moved to where this benchmark does not time it
          umount-propagated n=12: base is 11.4 % slower than reversed (99 % interval 11.1 to 11.6)
          exit-ipc: undecided, the ratio is 0.9456 [0.7803, 1.1463] after 3 pairs of boots; about 7 would decide at this noise (`--seeds 7`)
          unshare-user-ipc-mnt: not comparable: the candidate was not measured

        failed: ipc-free-work-queue, debian:6.12, arm64, reversed, build
          error: the kernel does not compile: `x` is not declared
            where: ipc/namespace.c:42
            owner: the patch
            | ipc/namespace.c:42:9: error: 'x' undeclared
          hint: the edit touches this file: look at ports/6.3-reverse.patch

        where the time went (wall time of each piece of work; boots run side by side, and each counts)
          stage  done  reused  seconds
          tree      1       0     21.2
          build     3       1    402.5
          boot     12       0     48.0
        the whole run: 455.5 s; nspatch itself, without the programs it started: 1.28 s of CPU time

        run folder: nspatch-runs/20260102-030405
        ");
    }

    #[test]
    fn a_run_without_findings_says_so() {
        insta::assert_snapshot!(text(&empty(), Style::default()), @r"
        nspatch 0.1.0, started 2026-01-02T03:04:05Z
        debian:6.12: Linux 6.12.9, commit 012345678901, from linux-source-6.12 6.12.9-1
        x86_64: QEMU 10.0.2

        nothing was compared

        where the time went (wall time of each piece of work; boots run side by side, and each counts)
          stage  done  reused  seconds
          tree      1       0     21.2
          build     3       1    402.5
          boot     12       0     48.0
        the whole run: 455.5 s; nspatch itself, without the programs it started: 1.28 s of CPU time

        run folder: nspatch-runs/20260102-030405
        ");
    }

    #[test]
    fn equal_images_are_named_as_such() {
        let mut same = comparison("arm64");
        same.baseline.as_mut().unwrap().image_sha256.clone_from(&same.candidate.image_sha256);
        let rows = vec![row(&same, "setns-net", boots(1_000_000, 0.3, 0), boots(1_000_000, 0.3, 0))];
        let run = Run { rows, comparisons: vec![same], ..empty() };
        let shown = text(&run, Style::default());
        assert!(shown.contains("the same image, byte for byte"), "{shown}");
        assert!(shown.contains("1.0000 [1.0000, 1.0000]  no difference within 1 %"), "{shown}");
    }

    #[test]
    fn a_patch_that_fits_in_no_way_has_the_cost_of_today_and_no_verdict() {
        let alone = Comparison { baseline: None, state: "conflicts".into(), ..comparison("arm64") };
        let candidate = boots(1_000_000, 0.001, 0);
        let judgement = compare::alone(&candidate, &compare::Settings::default());
        let place = Place { comparison: &alone, asked: asked("unshare-ipc") };
        let rows = vec![Row::new(place, judgement, [Vec::new(), candidate].map(Heard::from))];
        let run = Run { rows, comparisons: vec![alone], ..empty() };
        let shown = text(&run, Style::default());
        insta::assert_snapshot!(shown.split("\n\n").skip(1).take(3).collect::<Vec<_>>().join("\n\n"), @r"
        ipc-free-work-queue on debian:6.12, arm64, virtual clock
          conflicts
          base has no baseline here: what does it cost today?
          guests: 2 CPUs, 242 MiB; a tick is 4.00 ms; clock tsc, in steps of 128 ns, 126 ns a reading

          benchmark    -     base  ratio [99 % interval]  verdict
          unshare-ipc  -  1.00 ms  -                      not comparable

          unshare-ipc: not comparable: the patch can neither be put in nor taken out here
        ");
        assert_eq!(read(&json(&run)).unwrap(), run);
    }

    #[test]
    fn in_real_time_it_stands_beside_the_numbers_what_ran_the_guests_what_the_host_did_and_what_a_rebuild_does() {
        let wall = Comparison { clock: Clock::Wall, accelerator: Accelerator::Tcg, ..comparison("x86_64") };
        let rows = vec![row(&wall, "setns-net", boots(1_000_000, 0.001, 0), boots(1_000_000, 0.001, 0))];
        let mut run = Run { rows, comparisons: vec![wall], ..empty() };
        run.settings.compare = compare::Settings::wall_clock();
        run.host.kvm_fails.insert(run.comparisons[0].arch, "/dev/kvm cannot be opened".into());
        let shown = |run: &Run| text(run, Style::default()).split("\n\n").nth(1).unwrap().to_owned();
        insta::assert_snapshot!(shown(&run), @r"
        ipc-free-work-queue on debian:6.12, x86_64, wall clock on TCG
          already upstream: taken out with ports/6.3-reverse.patch
          reversed is the baseline, base the candidate: does the patch still help?
          guests: 2 CPUs, 242 MiB; a tick is 4.00 ms; clock tsc, in steps of 128 ns, 126 ns a reading
          real time of QEMU's translation, as KVM fails: /dev/kvm cannot be opened; waits are true, what computing costs is not this machine's
          host: load 0.25 to 1.5 as boots began, up to 0 % of its CPUs' time taken by others above it
          what a rebuild alone may move was not measured (`--layout 6` does, by as many builds): changes up to 5 % are put down to it
        ");
        run.layouts = vec![Layout {
            tree: "debian:6.12".into(),
            arch: run.comparisons[0].arch,
            benchmark: "setns-net".into(),
            parameters: std::collections::BTreeMap::new(),
            layout: compare::Layout { builds: 6, deviation: 0.005, floor: 0.0214 },
        }];
        assert!(
            shown(&run).ends_with("what a rebuild alone may move, by measuring: setns-net 2.14 %"),
            "{}",
            shown(&run)
        );
    }

    #[test]
    fn a_sweep_says_by_which_law_each_variant_grows() {
        let of = |laws: &[Law], each_ns| compare::Growth { laws: laws.to_vec(), fixed_ns: 1.0, each_ns, worst: 0.01 };
        let comparison = comparison("x86_64");
        let mut growth = Growth {
            patch: comparison.patch.clone(),
            tree: comparison.tree.clone(),
            arch: comparison.arch,
            benchmark: "umount-propagated".into(),
            parameter: "n".into(),
            values: vec![8, 10, 12],
            baseline: Some(of(&[Law::FourToThe], 1.0)),
            candidate: Some(of(&[Law::Linear], 1500.0)),
        };
        let mut said = vec![grows(&growth, &comparison)];
        growth.baseline = Some(of(&[Law::Constant], 0.0));
        growth.candidate = Some(of(&[Law::Quadratic, Law::TwoToThe], 1.0));
        said.push(grows(&growth, &comparison));
        (growth.baseline, growth.candidate) = (None, None);
        said.push(grows(&growth, &comparison));
        insta::assert_snapshot!(said.join("\n"), @r"
        umount-propagated over n = 8, 10, 12: reversed grows as 4^n (1.00 ns + 1.00 ns x 4^n), base grows as n (1.00 ns + 1.50 µs x n)
        umount-propagated over n = 8, 10, 12: reversed does not grow beyond the noise, base grows in a way that these values do not tell: n^2 or 2^n
        umount-propagated over n = 8, 10, 12: too few values were measured to tell how it grows
        ");
    }

    #[test]
    fn colours_change_nothing_but_the_colour() {
        let coloured = text(&full(), Style { colour: true });
        assert!(coloured.contains("\x1b[31mregressed\x1b[0m"));
        let mut plain = coloured;
        for code in ["\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"] {
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, text(&full(), Style::default()));
    }

    #[test]
    fn a_run_that_was_kept_prints_the_same_again() {
        let again = read(&json(&full())).unwrap();
        assert_eq!(text(&again, Style::default()), text(&full(), Style::default()));
    }
}
