//! `nspatch shell`.

use camino::Utf8PathBuf;

use super::doctor;
use super::global::Global;
use super::patches::Lore;
use super::test::{DEFAULT_TREE, architectures, check_out, new_run_folder, patience};
use crate::apply::Variant;
use crate::arch::Arch;
use crate::blame::{Failure, exit};
use crate::job::Job;
use crate::workflow::{self, Look};

/// Boot a kernel with the benchmarks and a prompt, to look around in
///
/// The kernel is the one that `nspatch test` would build and boot. The guest runs in real time under
/// emulation (QEMU's TCG, not KVM): what it measures is there to be looked at, not to be compared. At its
/// prompt `help` shows the commands. Ctrl-C goes to the guest; `exit`, Ctrl-D, or Ctrl-A x leaves. Where
/// standard input is no terminal, it holds the commands, one a line; then a guest that says nothing for
/// 300 seconds, or 60 from its start, counts as one that hangs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nspatch shell --tree debian:6.12
  nspatch shell --tree ~/src/linux --patch 0001-my-change.patch --arch arm64
  nspatch shell --patch ipc-free-work-queue --variant reversed --add /usr/bin/busybox
  echo run unshare-ipc | nspatch shell --patch ipc-free-work-queue")]
pub(super) struct Args {
    /// A kernel source, as for `nspatch test`
    #[arg(long, value_name = "TREE", default_value = DEFAULT_TREE)]
    tree: String,

    /// The patch whose variants there are, as for `nspatch test`
    #[arg(long, value_name = "PATCH")]
    patch: Option<String>,

    #[command(flatten)]
    lore: Lore,

    /// The architecture [default: this machine's own]
    #[arg(long, value_name = "ARCH")]
    arch: Option<String>,

    /// Which kernel [default: the one that a test would judge, and base without a patch]
    #[arg(long, value_enum)]
    variant: Option<VariantChoice>,

    /// The compiler of kernel and guest, such as gcc-9
    #[arg(long, value_name = "PROGRAM")]
    cc: Option<String>,

    /// Put a static program into the guest, under /, for its command exec; may be repeated
    #[arg(long, value_name = "FILE")]
    add: Vec<Utf8PathBuf>,

    /// Wait this many times as long as usual before a guest counts as one that hangs, where standard input is
    /// no terminal
    #[arg(long, value_name = "TIMES", default_value_t = 1.0, value_parser = patience)]
    patience: f64,

    /// How many compilers run side by side [default: one for each CPU]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,

    /// The folder for what is said and for logs [default: nspatch-runs/DATE-TIME, in UTC]
    #[arg(long, value_name = "DIR")]
    out: Option<Utf8PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum VariantChoice {
    /// The tree as it is
    Base,
    /// The tree with the patch
    Patched,
    /// The tree without a patch that was merged
    Reversed,
    /// The tree with the stall put back
    Control,
}

impl VariantChoice {
    fn variant(self) -> Variant {
        match self {
            VariantChoice::Base => Variant::Base,
            VariantChoice::Patched => Variant::Patched,
            VariantChoice::Reversed => Variant::Reversed,
            VariantChoice::Control => Variant::Control,
        }
    }
}

impl Args {
    fn look(&self, global: &Global) -> Result<Look, Failure> {
        if let Some(out) = &self.out {
            check_out(out)?;
        }
        if self.patch.as_deref() == Some("-") {
            return Err(Failure::usage("standard input is for the guest here, and cannot hold a patch as well")
                .at("--patch")
                .hint("give the patch as a file"));
        }
        let cpus = || std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Look {
            catalogue: global.catalogue()?,
            places: global.places()?,
            tree: self.tree.clone(),
            patch: self.patch.clone(),
            archive: self.lore.lore.clone(),
            arch: self.arch.as_deref().map_or_else(own_architecture, Arch::named)?,
            variant: self.variant.map(VariantChoice::variant),
            compiler: self.cc.clone(),
            jobs: self.jobs.map_or_else(cpus, usize::from),
            programs: self.add.clone(),
            patience: self.patience,
            out: self.out.clone().unwrap_or_else(new_run_folder),
        })
    }
}

/// This machine's own architecture, as far as there are kernels for it.
fn own_architecture() -> Result<Arch, Failure> {
    let all = architectures(&[])?;
    let own = all.iter().find(|arch| arch.is_native()).or(all.first());
    own.copied().ok_or_else(|| Failure::internal("there is no architecture at all"))
}

pub(super) fn run(args: &Args, global: &Global) -> Result<u8, Failure> {
    let look = args.look(global)?;
    let scope = doctor::scope(&[look.arch], std::slice::from_ref(&look.tree), global)?;
    let cache = global.cache()?;
    let console = global.console();
    let emit = |event| console.emit(event);
    let job = Job { cache: &cache, logs: &look.out.join("logs"), emit: &emit };
    doctor::prepare(&scope, false, job)?;
    let ready = |what: &str| {
        console.clear();
        global.remark(&format!("{what} boots, in real time under emulation"));
        global.remark("`exit` or Ctrl-A x leaves it, Ctrl-C goes to the guest");
    };
    workflow::shell(&look, job, ready)?;
    Ok(exit::FINE)
}
