//! How make is called on a kernel tree: everything that the result depends on is given, so that
//! nothing comes in from the user's environment or the folder's name.

use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};

use super::bench::Bench;
use super::toolchain::{STRAY_VARIABLES, Toolchain};
use crate::blame::Failure;
use crate::process::Call;
use crate::store::Digest;

/// Variables on the command line, where they win over the tree's own and the environment's.
const VARIABLES: [(&str, &str); 5] =
    [("V", "0"), ("LLVM", ""), ("KCONFIG_CONFIG", ".config"), ("KAFLAGS", ""), ("LOCALVERSION", "")];

/// What would otherwise say when, where and by whom an image was built. The date is one that
/// date(1) reads, as the tree's own scripts hand it on.
const ENVIRONMENT: [(&str, &str); 7] = [
    ("KBUILD_BUILD_TIMESTAMP", "2020-01-01"),
    ("KBUILD_BUILD_USER", "nspatch"),
    ("KBUILD_BUILD_HOST", "nspatch"),
    ("KBUILD_BUILD_VERSION", "1"),
    ("TZ", "UTC"),
    // A make that runs nspatch would hand its own flags down
    ("MAKEFLAGS", ""),
    ("MAKELEVEL", "0"),
];

/// A call of make for a toolchain on a bench, without a target.
///
/// # Errors
///
/// The tree has no Makefile that can be read.
pub(super) fn make(toolchain: &Toolchain, bench: &Bench) -> Result<Call, Failure> {
    let mut call = Call::new("make")
        .without(STRAY_VARIABLES)
        .args(["--no-print-directory", "-C", bench.source.as_str()])
        .arg(format!("O={}", bench.objects))
        .arg(format!("ARCH={}", toolchain.arch.linux))
        .arg(format!("CROSS_COMPILE={}", toolchain.prefix))
        .arg(format!("CC={}", toolchain.cc()))
        .arg(format!("HOSTCC={}", toolchain.host_compiler))
        .arg(format!("KCFLAGS={}", path_maps(toolchain, bench)?));
    for (name, value) in VARIABLES {
        call = call.arg(format!("{name}={value}"));
    }
    for (name, value) in ENVIRONMENT {
        call = call.env(name, value);
    }
    if let Some(lease) = &bench.lease {
        call = call.holding(Arc::clone(lease));
    }
    if toolchain.ccache {
        // Paths below this folder are hashed relative to it, so that all checkouts share their results
        call = call.env("CCACHE_BASEDIR", common(&bench.source, &bench.objects)).env("CCACHE_NOHASHDIR", "1");
        // Headers are known from the compiler's own dependency file: a miss costs no second run of the preprocessor
        call = call.env("CCACHE_DEPEND", "1");
    }
    Ok(call)
}

/// Adds all that make is given to an address.
pub(super) fn key(digest: Digest) -> Digest {
    VARIABLES.iter().chain(&ENVIRONMENT).fold(digest, |digest, (name, value)| digest.field(name, value))
}

/// Flags that keep the folder's name out of `__FILE__`. Trees since 4.17 do so themselves for the
/// name that they use; ccache uses another.
fn path_maps(toolchain: &Toolchain, bench: &Bench) -> Result<String, Failure> {
    let mut flags = Vec::new();
    if toolchain.ccache {
        flags.push(format!("-fmacro-prefix-map={}/=", relative(&bench.objects, &bench.source)));
    }
    let makefile = fs_err::read(bench.source.join("Makefile"))?;
    if !String::from_utf8_lossy(&makefile).contains("-fmacro-prefix-map=") {
        flags.push(format!("-fmacro-prefix-map={}/=", bench.source));
    }
    Ok(flags.join(" "))
}

fn common(a: &Utf8Path, b: &Utf8Path) -> String {
    let shared = a.components().zip(b.components()).take_while(|(a, b)| a == b).map(|(a, _)| a);
    shared.collect::<Utf8PathBuf>().into_string()
}

/// The way from one folder to another.
pub(super) fn relative(from: &Utf8Path, to: &Utf8Path) -> Utf8PathBuf {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.components().count() - shared);
    up.chain(to.components().skip(shared).map(|part| part.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_between_two_folders_is_found() {
        for (from, to, way) in [
            ("/c/1/objects/k", "/c/1/source", "../../source"),
            ("/c/1/source", "/c/1/source/a", "a"),
            ("/a", "/b/c", "../b/c"),
        ] {
            assert_eq!(relative(Utf8Path::new(from), Utf8Path::new(to)), way);
        }
        assert_eq!(common(Utf8Path::new("/c/1/objects/k"), Utf8Path::new("/c/1/source")), "/c/1");
    }
}
