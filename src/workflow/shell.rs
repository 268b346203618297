//! `nspatch shell`: tree and patch → state → one kernel → a boot that somebody looks at.

use camino::Utf8PathBuf;

use super::boots::{CPUS, MEMORY_MIB};
use super::{cases, kernels};
use crate::apply::{self, Revision, Standing, Variant};
use crate::arch::Arch;
use crate::blame::{Class, Failure};
use crate::boot::{self, Limits, Qemu, Visit, Visited};
use crate::build::Outcome;
use crate::catalogue::Catalogue;
use crate::job::Job;
use crate::rootfs;
use crate::source::Patch;
use crate::tree::{self, Places, Tree};

/// What somebody wants to look at.
#[derive(Clone, Debug)]
pub struct Look {
    /// Where patches, kconfigs and the guest come from.
    pub catalogue: Catalogue,
    /// Where trees are looked for.
    pub places: Places,
    /// The tree, as named on the command line.
    pub tree: String,
    /// The patch, by name, file, folder or mail.
    pub patch: Option<String>,
    /// The address of the list's archive that threads are fetched from.
    pub archive: String,
    /// The architecture.
    pub arch: Arch,
    /// The variant; what a test would judge if `None`.
    pub variant: Option<Variant>,
    /// The compiler, by the name that it has for this machine's own architecture; gcc if `None`.
    pub compiler: Option<String>,
    /// How many compilers run side by side.
    pub jobs: usize,
    /// Programs that are put into the root of the guest.
    pub programs: Vec<Utf8PathBuf>,
    /// How many times as long as usual to wait for a guest that commands of a file or pipe are for.
    pub patience: f64,
    /// Takes the console and QEMU's log.
    pub out: Utf8PathBuf,
}

/// Builds what is to be looked at, as a test would, and boots it with the guest's prompt on standard input and output.
/// `ready` is told what is about to be booted.
///
/// # Errors
///
/// Whatever stops the work; a kernel that does not build, does not come up, dies, or stops listening.
pub fn shell(look: &Look, job: Job<'_>, ready: impl FnOnce(&str)) -> Result<(), Failure> {
    let named: Vec<String> = look.patch.iter().cloned().collect();
    let patches =
        if named.is_empty() { Vec::new() } else { cases::patches(&look.catalogue, &named, &look.archive, job)? };
    let qemu = Qemu::find(look.arch)?;
    let benchmarks = rootfs::benchmarks(&look.catalogue)?;
    let equipment = kernels::equip_one(look.arch, look.compiler.clone(), &look.catalogue, &patches, &benchmarks, job)?;
    let tree = tree::resolve_in(&look.tree, &look.places, job)?;
    let revision = revision(look, patches.first(), &tree, job)?;
    let image = match kernels::build_one(&tree, &revision, &equipment, look.jobs, job)? {
        Outcome::Built(image) => image,
        Outcome::Broken(broken) => return Err(broken.failure()),
    };
    let initramfs = match look.programs.is_empty() {
        true => equipment.rootfs.path,
        false => {
            let own = look.out.join("initramfs.cpio");
            rootfs::with_programs(&equipment.rootfs, &look.programs, &own)?;
            own
        }
    };
    let visit =
        Visit { qemu, image: image.path, initramfs, cpus: CPUS, memory_mib: MEMORY_MIB, folder: look.out.clone() };
    let of = look.patch.iter().map(|patch| format!(", {patch}")).collect::<String>();
    ready(&format!("{} {} of {}{of} (Linux {})", look.arch, revision.variant, tree.name, tree.version));
    match boot::visit(&visit, &Limits::default().times(look.patience))? {
        Visited::Over => Ok(()),
        Visited::Broken(broken) => Err(broken.failure()),
    }
}

/// The variant as a commit.
fn revision(look: &Look, patch: Option<&Patch>, tree: &Tree, job: Job<'_>) -> Result<Revision, Failure> {
    let Some(patch) = patch else {
        return match look.variant {
            None | Some(Variant::Base) => apply::base(tree),
            Some(other) => Err(Failure::usage(format!("`{other}` is a variant of a patch, and none is named"))
                .at("--variant")
                .hint("name one with --patch")),
        };
    };
    let standing = apply::stand(patch, tree, job)?;
    match look.variant {
        Some(Variant::Base) => Ok(standing.base),
        None => standing.demand_comparison().map(|(_, candidate)| candidate.clone()),
        Some(wanted) => of_comparison(&standing, wanted),
    }
}

/// The variant that is a side of the comparison, and no other: a patch that applies cannot be taken out.
fn of_comparison(standing: &Standing, wanted: Variant) -> Result<Revision, Failure> {
    let (baseline, candidate) = standing.demand_comparison()?;
    let found = [baseline, candidate].into_iter().find(|side| side.variant == wanted);
    found.cloned().ok_or_else(|| {
        let what = format!("there is no `{wanted}` of `{}` here: {}", standing.patch, standing.sentence());
        Failure::new(Class::Usage, crate::blame::Blame::User, what)
            .at("--variant")
            .hint(format!("there are {} and {}", baseline.variant, candidate.variant))
    })
}
