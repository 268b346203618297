//! What a run needs, as a table: one entry for each thing, with the reason, the way to see whether
//! it is there, and the package that brings it.

use camino::Utf8PathBuf;

use super::diagnosis::Scope;
use super::system::Family;
use crate::arch::Arch;

/// A version's first two numbers.
pub(super) type Version = (u32, u32);

/// How to see whether something is there.
#[derive(Clone, Debug)]
pub(super) enum Probe {
    /// A program that tells its version when called with these arguments.
    Program { args: &'static [&'static str], oldest: Option<Version> },
    /// A C program that this compiler has to translate and link with these flags.
    Compiles { compiler: String, flags: &'static [&'static str], program: &'static str },
    /// Debian's package of a kernel source, by its version: unpacked here, or known to apt.
    Source { version: String },
    /// So many bytes free on the file system of a folder that may not be there yet.
    Space { folder: Utf8PathBuf, bytes: u64 },
    /// So many bytes of memory.
    Memory { bytes: u64 },
}

/// One thing that a run needs.
#[derive(Clone, Debug)]
pub(super) struct Need {
    pub(super) name: String,
    pub(super) why: String,
    /// Why no older version will do, where that is worth a word.
    pub(super) limit: &'static str,
    pub(super) probe: Probe,
    /// Whether nothing works without it.
    pub(super) required: bool,
    pub(super) packages: Packages,
}

impl Need {
    /// The oldest version that will do, where that matters.
    pub(super) fn oldest(&self) -> Option<Version> {
        match self.probe {
            Probe::Program { oldest, .. } => oldest,
            _ => None,
        }
    }
}

/// The names of a package in the families: Debian, Fedora, Arch, Suse. Empty where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packages([&'static str; 4]);

impl Packages {
    const NONE: Packages = Packages([""; 4]);

    /// The package's name in a family, if one is known.
    pub(super) fn of(self, family: Family) -> Option<&'static str> {
        let place = match family {
            Family::Debian => 0,
            Family::Fedora => 1,
            Family::Arch => 2,
            Family::Suse => 3,
            Family::Other => return None,
        };
        Some(self.0[place]).filter(|name| !name.is_empty())
    }

    /// One of an architecture's packages: 0 its cross compiler, 1 that one's libc, 2 QEMU.
    fn of_arch(arch: Arch, part: usize) -> Packages {
        let debian = [arch.cross_compiler_package, arch.cross_libc_package, arch.qemu_package][part];
        let other = |family: Family| {
            arch.other_packages.iter().find(|(name, _)| *name == family.name()).map_or("", |(_, parts)| parts[part])
        };
        Packages([debian, other(Family::Fedora), other(Family::Arch), other(Family::Suse)])
    }
}

/// What a run with one tree, both architectures and all benchmarks puts into the cache, rounded up:
/// the tree's archive and repository, a checkout and an object folder for each architecture, images.
/// Linux 6.12 took 2.2 GiB.
const SPACE: u64 = 4 << 30;
/// Two guests side by side, or two compilers and a linker.
const MEMORY: u64 = 3 << 30;

const STATIC_PROGRAM: &str = "#include <stdio.h>\nint main(void) { return puts(\"\") == EOF; }\n";
const ELF_PROGRAM: &str = "#include <gelf.h>\nint main(void) { return elf_version(EV_CURRENT) == EV_NONE; }\n";

/// A program of the table: name, why, arguments that show the version, oldest version, packages.
type Row = (&'static str, &'static str, &'static [&'static str], Option<Version>, [&'static str; 4]);

const PROGRAMS: &[Row] = &[
    ("gcc", "compiles the tools that build the kernel", &["-dumpfullversion"], Some((5, 1)), ["gcc"; 4]),
    ("make", "runs the kernel's build", &["--version"], Some((4, 0)), ["make"; 4]),
    ("flex", "reads kernel configurations", &["--version"], None, ["flex"; 4]),
    ("bison", "reads kernel configurations", &["--version"], None, ["bison"; 4]),
    ("bc", "computes the kernel's time constants", &["--version"], None, ["bc"; 4]),
    ("perl", "makes some of the kernel's sources", &["--version"], None, ["perl"; 4]),
    ("git", "holds trees and applies patches", &["--version"], Some((2, 39)), ["git"; 4]),
];

/// All that a run of this scope needs, in the order of the report.
pub(super) fn needs(scope: &Scope) -> Vec<Need> {
    let mut needs: Vec<Need> = PROGRAMS.iter().map(program).collect();
    needs.push(Need {
        name: "libelf".to_owned(),
        why: "checks the kernel's object files".to_owned(),
        limit: "",
        probe: Probe::Compiles { compiler: "gcc".to_owned(), flags: &["-lelf"], program: ELF_PROGRAM },
        required: true,
        packages: Packages(["libelf-dev", "elfutils-libelf-devel", "libelf", "libelf-devel"]),
    });
    needs.extend(scope.architectures.iter().flat_map(|arch| of_arch(*arch)));
    needs.extend(scope.debian.iter().map(|version| source(version)));
    needs.extend(comforts(scope));
    needs
}

fn program(row: &Row) -> Need {
    let (name, why, args, oldest, packages) = *row;
    Need {
        name: name.to_owned(),
        why: why.to_owned(),
        limit: "",
        probe: Probe::Program { args, oldest },
        required: true,
        packages: Packages(packages),
    }
}

/// Compiler, libc and QEMU of an architecture.
fn of_arch(arch: Arch) -> Vec<Need> {
    let compiler = format!("{}gcc", arch.tool_prefix());
    let mut needs = Vec::new();
    if !arch.is_native() {
        needs.push(Need {
            name: compiler.clone(),
            why: format!("compiles kernel and guest for {arch}"),
            limit: "",
            probe: Probe::Program { args: &["-dumpfullversion"], oldest: Some((5, 1)) },
            required: true,
            packages: Packages::of_arch(arch, 0),
        });
    }
    needs.push(Need {
        name: format!("static libc for {arch}"),
        why: "is linked into the guest".to_owned(),
        limit: "",
        probe: Probe::Compiles { compiler, flags: &["-static"], program: STATIC_PROGRAM },
        required: true,
        packages: if arch.is_native() {
            Packages(["libc6-dev", "glibc-static", "glibc", "glibc-devel-static"])
        } else {
            Packages::of_arch(arch, 1)
        },
    });
    let (oldest, reason) = arch.oldest_qemu;
    needs.push(Need {
        name: arch.qemu.to_owned(),
        why: format!("boots {arch} kernels"),
        limit: reason,
        probe: Probe::Program { args: &["--version"], oldest: Some(oldest) },
        required: true,
        packages: Packages::of_arch(arch, 2),
    });
    needs
}

fn source(version: &str) -> Need {
    Need {
        name: format!("linux-source-{version}"),
        why: format!("is the tree debian:{version}; any other --tree goes without it"),
        limit: "",
        probe: Probe::Source { version: version.to_owned() },
        required: false,
        packages: Packages::NONE,
    }
}

/// What is good to have.
fn comforts(scope: &Scope) -> Vec<Need> {
    let ccache = program(&("ccache", "makes building again quicker", &["--version"], None, ["ccache"; 4]));
    let unpack = "unpacks kernel sources beside nspatch, which can do it alone";
    let xz = program(&("xz", unpack, &["--version"], None, ["xz-utils", "xz", "xz", "xz"]));
    let place = |name: &str, why: &str, probe| Need {
        name: name.to_owned(),
        why: why.to_owned(),
        limit: "",
        probe,
        required: false,
        packages: Packages::NONE,
    };
    vec![
        Need { required: false, ..ccache },
        Need { required: false, ..xz },
        place(
            "space for the cache",
            "trees, objects and images stay there; --cache moves it",
            Probe::Space { folder: scope.cache.clone(), bytes: SPACE },
        ),
        place("memory", "two guests run side by side", Probe::Memory { bytes: MEMORY }),
    ]
}
