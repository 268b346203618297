//! The configuration as the tree's own tools resolve it, checked against what was asked for.

use camino::{Utf8Path, Utf8PathBuf};

use super::bench::Bench;
use super::broken::BuildFailure;
use super::expression::Values;
use super::kernel::Request;
use super::leftover::own_folder;
use super::lost::lost;
use super::make::make;
use super::menus::Menus;
use crate::blame::{Blame, Class, Failure};
use crate::event::{Ending, Stage};
use crate::job::Job;
use crate::process::{Call, Ended};

/// Resolves the configuration in the bench's object folder, with the very compiler of the build, as
/// Kconfig asks the compiler what it can do. Gives the text of `.config`.
///
/// # Errors
///
/// The machine is to blame, or the work was interrupted.
pub(super) fn resolve(
    request: &Request<'_>,
    bench: &Bench,
    job: Job<'_>,
) -> Result<Result<String, BuildFailure>, Failure> {
    let task = job.begin(Stage::Config, request.subject(), None);
    let log = job.log(&format!("config-{}", request.subject()));
    let start = fs_err::metadata(&log).map_or(0, |metadata| metadata.len());
    let requested = merge(request, bench, &log)?;
    let ended = make(request.toolchain, bench)?
        .arg(format!("KCONFIG_ALLCONFIG={requested}"))
        .arg("allnoconfig")
        .log(&log)
        .run()?;
    if !ended.succeeded() {
        return broken(request, bench, &ended, start).map(Err);
    }
    let text = fs_err::read_to_string(bench.objects.join(".config"))?;
    let menus = || Menus::read(&bench.source, request.toolchain.arch);
    let lost = lost(request.kconfig.wishes(), &values(&text), menus)?;
    if !lost.is_empty() {
        return Ok(Err(BuildFailure::of_lost(request, lost)));
    }
    task.end(Ending::Done);
    Ok(Ok(text))
}

/// Merges the fragments by the tree's own script, in a folder of its own, as old ones write into
/// the current folder only. Gives the file that holds what is asked for.
fn merge(request: &Request<'_>, bench: &Bench, log: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let script = bench.source.join("scripts/kconfig/merge_config.sh");
    if !script.exists() {
        return Err(Failure::new(Class::Config, Blame::Kernel, "this tree has no scripts/kconfig/merge_config.sh")
            .at(&bench.source)
            .hint("kernels before 3.1 are not supported"));
    }
    let folder = own_folder(&bench.objects).join("merge");
    fs_err::create_dir_all(&folder)?;
    let mut call = Call::new("sh")
        .arg(script.as_str())
        .arg("-m")
        .env("KCONFIG_CONFIG", ".config")
        .env("CONFIG_", "CONFIG_")
        .folder(&folder)
        .log(log);
    for (name, text) in request.kconfig.fragments() {
        let file = format!("{name}.config");
        fs_err::write(folder.join(&file), text)?;
        call = call.arg(file);
    }
    call.demand()?;
    Ok(folder.join(".config"))
}

fn broken(request: &Request<'_>, bench: &Bench, ended: &Ended, start: u64) -> Result<BuildFailure, Failure> {
    BuildFailure::of_make(request, Class::Config, ended, &printed(ended, start)?, bench)
}

/// What a program added to its log behind `start`.
pub(super) fn printed(ended: &Ended, start: u64) -> Result<String, Failure> {
    let bytes = match &ended.log {
        Some(log) => fs_err::read(log)?,
        None => Vec::new(),
    };
    let start = usize::try_from(start).unwrap_or(usize::MAX).min(bytes.len());
    Ok(String::from_utf8_lossy(&bytes[start..]).into_owned())
}

/// The values of a resolved configuration.
pub(super) fn values(text: &str) -> Values {
    let assigned = |line: &str| {
        let (symbol, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
        Some((symbol.to_owned(), value.to_owned()))
    };
    text.lines().filter_map(assigned).collect()
}
