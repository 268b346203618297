//! What this machine has and lacks: every program, library and package source that a run needs, with
//! its version, and the one command that installs what is missing.

mod apt;
mod diagnosis;
mod need;
mod probe;
mod remedy;
mod system;

pub use diagnosis::{Diagnosis, Finding, Scope, State, examine};
pub use remedy::{Remedy, install};
pub use system::{Family, System};
