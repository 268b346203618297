//! What to run: the only code that calls the stages in turn.

mod settings;

pub use settings::{Parameter, Settings};

/// Runs what the settings ask for.
///
/// # Errors
///
/// Whatever stops the work.
pub fn test(_settings: &Settings, _job: crate::job::Job<'_>) -> Result<crate::report::Run, crate::blame::Failure> {
    Err(crate::blame::Failure::internal("the stages are not joined yet"))
}
