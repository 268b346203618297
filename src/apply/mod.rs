//! How a patch stands to a tree, and the edited tree that follows from it.

mod conflict;
mod index;
mod stand;
mod standing;
mod variant;

pub use conflict::{Clash, FileConflict};
pub use stand::stand;
pub use standing::{Fit, Standing, State};
pub use variant::{Revision, Variant};
