//! One number for a whole run: `docs/exit-codes.md` has the table and its reasons.

use crate::blame::{Class, exit};
use crate::compare::Verdict;

use super::Run;

/// The classes of failure, the one that decides first.
const CLASSES: [Class; 9] = [
    Class::Interrupted,
    Class::Internal,
    Class::Host,
    Class::Usage,
    Class::Apply,
    Class::Config,
    Class::Build,
    Class::Boot,
    Class::Guest,
];

/// The verdicts that are not fine, the one that decides first.
const VERDICTS: [(Verdict, u8); 3] = [
    (Verdict::Regressed, exit::REGRESSED),
    (Verdict::NotComparable, exit::NOT_COMPARABLE),
    (Verdict::Inconclusive, exit::INCONCLUSIVE),
];

/// The exit code of a run: a failure's, else that of the worst verdict. A run that compared nothing is not fine.
pub fn exit_code(run: &Run) -> u8 {
    if let Some(class) = CLASSES.iter().find(|class| run.failures.iter().any(|f| f.failure.class == **class)) {
        return class.exit_code();
    }
    let worst = VERDICTS.iter().find(|(verdict, _)| run.rows.iter().any(|row| row.verdict == *verdict));
    match worst {
        Some((_, code)) => *code,
        None if run.rows.is_empty() => exit::NOT_COMPARABLE,
        None => exit::FINE,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample_run::{comparison, empty, full, row};
    use super::super::{Row, Trouble};
    use super::*;
    use crate::blame::{Blame, Failure};

    fn found(verdict: Verdict) -> Row {
        Row { verdict, ..row(&comparison("x86_64"), "setns-net", Vec::new(), Vec::new()) }
    }

    fn trouble(class: Class) -> Trouble {
        let failure = Failure::new(class, Blame::Kernel, "it broke");
        Trouble { patch: None, tree: None, arch: None, variant: None, stage: None, failure }
    }

    #[test]
    fn the_worst_that_happened_decides() {
        use Verdict::*;
        let cases: [(&[Verdict], &[Class], u8); 14] = [
            (&[NoDifference, Improved, ChangedButSmaller], &[], 0),
            (&[Improved, Regressed], &[], 1),
            (&[Regressed, Inconclusive, NotComparable], &[], 1),
            (&[Inconclusive, Improved], &[], 9),
            (&[Inconclusive, NotComparable], &[], 10),
            (&[NotComparable], &[], 10),
            (&[], &[], 10),
            (&[Regressed], &[Class::Build], 5),
            (&[Inconclusive], &[Class::Guest], 7),
            (&[], &[Class::Guest, Class::Boot, Class::Build], 5),
            (&[], &[Class::Build, Class::Apply], 3),
            (&[], &[Class::Build, Class::Host], 8),
            (&[Regressed], &[Class::Internal, Class::Usage], 70),
            (&[Regressed], &[Class::Internal, Class::Interrupted], 130),
        ];
        for (verdicts, classes, code) in cases {
            let run = Run {
                rows: verdicts.iter().map(|verdict| found(*verdict)).collect(),
                failures: classes.iter().map(|class| trouble(*class)).collect(),
                ..empty()
            };
            assert_eq!(exit_code(&run), code, "{verdicts:?} {classes:?}");
        }
        assert_eq!(exit_code(&full()), 5);
    }
}
