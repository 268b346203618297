//! The options that name patches.

use crate::source::ARCHIVE;

#[derive(Debug, clap::Args)]
pub(super) struct Patches {
    /// A patch: its name in `nspatch list patches`, a file, a folder, - for standard input, or a
    /// mail's MESSAGE-ID or address; @v2 behind it takes that version; may be repeated [default: all]
    #[arg(long, value_name = "PATCH")]
    pub(super) patch: Vec<String>,

    #[command(flatten)]
    pub(super) lore: Lore,
}

#[derive(Debug, clap::Args)]
pub(super) struct Lore {
    /// The archive that threads are fetched from, a public-inbox
    #[arg(long, value_name = "ADDRESS", env = "NSPATCH_LORE", hide_env_values = true, default_value = ARCHIVE)]
    pub(super) lore: String,
}
