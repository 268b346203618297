//! What to run: the only code that calls the stages in turn.

mod across;
mod boots;
mod cases;
mod findings;
mod judging;
mod kept;
mod kernels;
mod layout;
mod lives;
mod record;
mod settings;
mod shell;
mod status;
mod test;

pub use across::{Despite, across};
pub use cases::patches;
pub use kept::{Replayed, replay};
pub use settings::{Parameter, Settings, Sweep};
pub use shell::{Look, shell};
pub use status::{Row as StatusRow, STATUS_VERSION, Turn, status, turns};
pub use test::test;
