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
