//! A kernel that does not build: what, where, and whose fault it is.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use super::bench::Bench;
use super::log::first_error;
use super::lost::Lost;
use super::{kernel::Request, missing};
use crate::apply::Variant;
use crate::blame::{Blame, Class, Failure};
use crate::process::Ended;

/// A kernel that cannot be configured or compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildFailure {
    /// [`Class::Config`] or [`Class::Build`].
    pub class: Class,
    /// Who has to act.
    pub blame: Blame,
    /// The first error, one line.
    pub what: String,
    /// The file of the first error, relative to the tree, where it is known.
    pub file: Option<Utf8PathBuf>,
    /// Its line.
    pub line: Option<u32>,
    /// Whether the variant's edit touches a file that the error names.
    pub touched: bool,
    /// The lines of the log around it.
    pub excerpt: Vec<String>,
    /// The symbols that did not come out as asked for.
    pub lost: Vec<Lost>,
    /// The log of make, where it came that far.
    pub log: Option<Utf8PathBuf>,
}

impl BuildFailure {
    /// The failure for when nothing else is left to do.
    pub fn failure(&self) -> Failure {
        let mut failure = Failure::new(self.class, self.blame, &self.what).excerpt(&self.excerpt);
        if let Some(file) = &self.file {
            failure = failure.at(match self.line {
                Some(line) => format!("{file}:{line}"),
                None => file.to_string(),
            });
        }
        if self.touched {
            failure = failure.hint("the patch touches a file that the error names");
        }
        if !self.lost.is_empty() {
            failure = failure.hint("change the fragment, or mark a symbol that only some versions have `# optional: `");
        }
        match &self.log {
            Some(log) => failure.hint(format!("all of make's output: {log}")),
            None => failure,
        }
    }

    /// The failure of symbols that were lost.
    pub(super) fn of_lost(request: &Request<'_>, lost: Vec<Lost>) -> Self {
        let symbols: Vec<_> = lost.iter().map(|one| format!("CONFIG_{}", one.symbol)).collect();
        let own = |one: &Lost| request.kconfig.wishes().any(|wish| wish.own && wish.symbol == one.symbol);
        BuildFailure {
            class: Class::Config,
            blame: if lost.iter().any(own) { Blame::User } else { Blame::Kernel },
            what: format!(
                "this tree does not give what was asked for on {}: {}",
                request.toolchain.arch,
                symbols.join(", ")
            ),
            file: None,
            line: None,
            touched: false,
            excerpt: lost.iter().map(ToString::to_string).collect(),
            lost,
            log: None,
        }
    }

    /// The failure of a make that ended badly, from what it printed.
    ///
    /// # Errors
    ///
    /// The machine is to blame, and not what was built.
    pub(super) fn of_make(
        request: &Request<'_>,
        class: Class,
        ended: &Ended,
        printed: &str,
        bench: &Bench,
    ) -> Result<Self, Failure> {
        if let Some(failure) = missing::host_failure(printed) {
            return Err(match &ended.log {
                Some(log) => failure.hint(format!("all of make's output: {log}")),
                None => failure,
            });
        }
        // No error to be found: then make's own ending is all there is to say
        let found = first_error(printed, &bench.source, &bench.objects).ok_or_else(|| ended.failure())?;
        let files = &request.revision.files;
        let touched = found.files.iter().any(|file| files.contains(file));
        Ok(BuildFailure {
            class,
            blame: if touched && request.revision.variant != Variant::Base { Blame::Patch } else { Blame::Kernel },
            what: found.what,
            file: found.files.into_iter().next(),
            line: found.line,
            touched,
            excerpt: found.excerpt,
            lost: Vec::new(),
            log: ended.log.clone(),
        })
    }
}
