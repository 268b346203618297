//! What a comparison shows beside numbers, in words: kernels that died, and what others were allowed to complain of.

use crate::apply::Variant;
use crate::boot::Kind;
use crate::compare::{Death, Reason, Side};

use super::{Comparison, Row, Splat};

/// A sentence for each kernel that died, and whether the other one lives: a result of its own, and no number.
pub(super) fn deaths(comparison: &Comparison, rows: &[&Row]) -> Vec<String> {
    let deaths = rows.iter().find_map(|row| died(row)).unwrap_or_default();
    let variant = |side: Side| match side {
        Side::Baseline => comparison.baseline.as_ref().map(|image| image.variant),
        Side::Candidate => Some(comparison.candidate.variant),
    };
    let sentence = |death: &Death| {
        let other = variant(if death.side == Side::Baseline { Side::Candidate } else { Side::Baseline });
        let other = match other.filter(|_| deaths.len() == 1) {
            Some(other) if death.kind == Kind::Splat => format!("; {} does not", kernel(other)),
            Some(other) => format!("; {} lives", kernel(other)),
            None => String::new(),
        };
        format!("{} {}{other}", variant(death.side).map_or("the kernel", kernel), death.told())
    };
    deaths.iter().map(sentence).collect()
}

/// The kernels of a row that died.
pub(super) fn died(row: &Row) -> Option<&[Death]> {
    match &row.reason {
        Some(Reason::Died { deaths }) => Some(deaths),
        _ => None,
    }
}

/// In a few words what died in a row.
pub(super) fn in_short(row: &Row) -> Option<String> {
    let death = died(row)?.first()?;
    let variant = match (death.side, &row.baseline) {
        (Side::Baseline, Some(baseline)) => baseline.variant,
        _ => row.candidate.variant,
    };
    Some(format!("{variant} {}", death.verb()))
}

/// A line for each splat that was allowed in a comparison's kernels.
pub(super) fn allowed<'a>(comparison: &'a Comparison, splats: &'a [Splat]) -> impl Iterator<Item = String> + 'a {
    let line = |splat: &Splat| {
        let boots = if splat.boots == 1 { "1 boot".to_owned() } else { format!("{} boots", splat.boots) };
        format!("allowed in {boots} of {}: {}", splat.variant, splat.message)
    };
    splats.iter().filter(|splat| splat.is_of(comparison)).map(line)
}

fn kernel(variant: Variant) -> &'static str {
    match variant {
        Variant::Base => "the tree's own kernel",
        Variant::Patched => "the kernel with the patch",
        Variant::Reversed => "the kernel without the patch",
        Variant::Control => "the kernel with the stall put back",
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample_run::{boots, comparison, empty, row};
    use super::super::{Run, Style, json, read, text};
    use super::*;

    fn death(side: Side, kind: Kind, boots: u32) -> Death {
        Death { side, kind, how: "a line of it".into(), boots, of: 3 }
    }

    fn told(deaths: &[Death]) -> String {
        let comparison = comparison("x86_64");
        let mut dead = row(&comparison, "setns-net", boots(1_000, 0.0, 0), Vec::new());
        dead.reason = Some(Reason::Died { deaths: deaths.to_vec() });
        super::deaths(&comparison, &[&dead]).join("\n")
    }

    #[test]
    fn a_kernel_that_died_is_told_in_words_with_whether_the_other_lives() {
        let (baseline, candidate) = (Side::Baseline, Side::Candidate);
        let all = [
            told(&[death(candidate, Kind::Panic, 3)]),
            told(&[death(baseline, Kind::Hang, 1)]),
            told(&[death(candidate, Kind::Splat, 3)]),
            told(&[death(baseline, Kind::Oops, 3), death(candidate, Kind::Silence, 2)]),
        ];
        insta::assert_snapshot!(all.join("\n"), @r"
        the tree's own kernel does not live: panic: a line of it (3 of 3 boots); the kernel without the patch lives
        the kernel without the patch does not always live: hang: a line of it (1 of 3 boots); the tree's own kernel lives
        the tree's own kernel complains of itself: splat: a line of it (3 of 3 boots); the kernel without the patch does not
        the kernel without the patch does not live: oops: a line of it (3 of 3 boots)
        the tree's own kernel does not always live: silence: a line of it (2 of 3 boots)
        ");
        assert_eq!(told(&[]), "");
    }

    #[test]
    fn what_was_allowed_is_named_beside_the_comparison_and_not_hidden() {
        let comparison = comparison("x86_64");
        let mut run = Run {
            rows: vec![row(&comparison, "setns-net", boots(1_000, 0.0, 0), boots(1_000, 0.0, 0))],
            splats: vec![Splat {
                patch: comparison.patch.clone(),
                tree: comparison.tree.clone(),
                arch: comparison.arch,
                variant: Variant::Reversed,
                message: "WARNING: CPU: 0 PID: 1 at ipc/mq.c:9 f".into(),
                boots: 3,
            }],
            comparisons: vec![comparison],
            ..empty()
        };
        run.settings.allowed_splats = vec!["at ipc/mq.c".into()];
        let shown = text(&run, Style::default());
        assert!(shown.contains("\nsplats that were allowed: `at ipc/mq.c`\n"), "{shown}");
        assert!(
            shown.contains("\n  allowed in 3 boots of reversed: WARNING: CPU: 0 PID: 1 at ipc/mq.c:9 f\n"),
            "{shown}"
        );
        assert_eq!(read(&json(&run)).unwrap(), run);
    }
}
