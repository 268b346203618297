//! How a patch stands to a tree, and the edited tree that follows from it.

mod conflict;
mod history;
mod index;
mod padded;
mod presence;
mod series;
mod stand;
mod standing;
mod variant;

pub use conflict::{Clash, FileConflict};
pub use history::{Arrival, Likeness};
pub use index::base;
pub use padded::padded;
pub use presence::Part;
pub use series::PartStanding;
pub use stand::{stand, state_of};
pub use standing::{Fit, Standing, State};
pub use variant::{Revision, Variant};
