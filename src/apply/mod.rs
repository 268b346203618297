//! How a patch stands to a tree, and the edited tree that follows from it.

mod variant;

pub use variant::{Revision, Variant};
