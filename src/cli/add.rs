//! `nspatch add`.

use super::global::Global;
use super::output::show;
use super::patches::Lore;
use crate::blame::{Failure, exit};
use crate::event::Stage;
use crate::job::Job;
use crate::{rootfs, series, source};

/// Make a folder below ./patches for a patch, with all that its mails say
///
/// The folder holds the mails as they are and a patch.yaml. What cannot be learned from them stands there as
/// FILL-IN; `nspatch test` refuses the patch until it is written. No file is ever written over.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch add fix.eml
  nspatch add --name quick-umount https://lore.kernel.org/all/MESSAGE-ID/")]
pub(super) struct Args {
    /// The patch: a file, a folder, - for standard input, or a mail's MESSAGE-ID or address
    #[arg(value_name = "MAIL")]
    mail: String,

    /// What to call it [default: after its title]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    lore: Lore,
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let (catalogue, cache) = (global.catalogue()?, global.cache()?);
    let console = global.console();
    let emit = |event| console.emit(event);
    let job = Job { cache: &cache, logs: &cache.folder("logs")?, emit: &emit };
    let patch = series::load(&args.mail, &args.lore.lore, job)?;
    let slug = source::slug(&patch.title);
    let name = args.name.as_deref().unwrap_or(if slug.is_empty() { &patch.name } else { &slug });
    let benchmarks: Vec<String> = rootfs::benchmarks(&catalogue)?.into_iter().map(|one| one.name).collect();
    let folder = source::add(&patch, name, &benchmarks, &args.lore.lore, &catalogue)?;
    job.notice(Stage::Source, format!("write what is missing into {folder}/patch.yaml, where it says FILL-IN"), None);
    console.clear();
    show(&format!("{folder}\n"))?;
    Ok(exit::FINE)
}
