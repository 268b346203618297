//! The compiler and linker of an architecture.

use serde::{Deserialize, Serialize};

use crate::arch::Arch;
use crate::blame::Failure;
use crate::process::Call;
use crate::store::Digest;

/// What make, gcc and Kbuild read from the environment unasked. None of it is part of an image's key, so none of it
/// may reach a build.
pub(crate) const STRAY_VARIABLES: [&str; 14] = [
    "MAKEFILES",
    "GNUMAKEFLAGS",
    "KCPPFLAGS",
    "KRUSTFLAGS",
    "HOSTCFLAGS",
    "HOSTLDFLAGS",
    "CPATH",
    "C_INCLUDE_PATH",
    "LIBRARY_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "KCONFIG_ALLCONFIG",
    "KBUILD_EXTRA_SYMBOLS",
    "DEPENDENCIES_OUTPUT",
];

/// What the user may say about the compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The compiler's program, such as `gcc-12`; the architecture's gcc if `None`. For an architecture that it does
    /// not compile for, the one of the same name with the architecture's prefix is taken (`aarch64-linux-gnu-gcc-12`).
    pub compiler: Option<String>,
    /// Do not use ccache, even where it is present.
    pub no_ccache: bool,
}

/// A compiler with its binutils, as found on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// The architecture that it compiles for.
    pub arch: Arch,
    /// The compiler's program.
    pub compiler: String,
    /// The compiler of programs that run while building: an old tree may need an old one for these as well.
    pub host_compiler: String,
    /// The prefix of the binutils: the kernel's `CROSS_COMPILE`.
    pub prefix: String,
    /// The first line of what the compiler says about its version.
    pub compiler_version: String,
    /// The first line of what the linker says about its version.
    pub linker_version: String,
    /// Whether compilations go through ccache.
    pub ccache: bool,
}

impl Toolchain {
    /// Finds the toolchain for an architecture.
    ///
    /// # Errors
    ///
    /// Compiler or linker are missing, or the compiler is for another architecture.
    pub fn find(arch: Arch, wanted: &Wanted) -> Result<Self, Failure> {
        let prefix = arch.tool_prefix().to_owned();
        let compiler = match &wanted.compiler {
            Some(named) => chosen(arch, named)?,
            None => format!("{prefix}gcc"),
        };
        let compiler_version = first_line(arch, &compiler, "--version")?;
        demand_target(arch, &compiler)?;
        Ok(Toolchain {
            arch,
            host_compiler: wanted.compiler.clone().filter(|named| is_native(named)).unwrap_or("gcc".into()),
            compiler_version,
            linker_version: first_line(arch, &format!("{prefix}ld"), "--version")?,
            ccache: !wanted.no_ccache && has_ccache(),
            compiler,
            prefix,
        })
    }

    /// The kernel's `CC`.
    pub fn cc(&self) -> String {
        if self.ccache { format!("ccache {}", self.compiler) } else { self.compiler.clone() }
    }

    /// What names the code that this toolchain makes: ccache does not change it.
    pub fn key(&self) -> String {
        Digest::of("toolchain")
            .field("compiler", &self.compiler)
            .field("prefix", &self.prefix)
            .field("compiler version", &self.compiler_version)
            .field("linker version", &self.linker_version)
            .hex()
    }
}

/// The program for an architecture that the user means by a compiler's name.
fn chosen(arch: Arch, named: &str) -> Result<String, Failure> {
    let prefixed = format!("{}{named}", arch.tool_prefix());
    let refused = match demand_target(arch, named) {
        Ok(()) => return Ok(named.to_owned()),
        Err(failure) => failure,
    };
    if !arch.is_native() && Call::new(&prefixed).arg("--version").run().is_ok_and(|ended| ended.succeeded()) {
        return Ok(prefixed);
    }
    Err(refused)
}

fn is_native(compiler: &str) -> bool {
    let native = Arch::all().find(|arch| arch.is_native());
    native.is_some_and(|arch| demand_target(arch, compiler).is_ok())
}

fn first_line(arch: Arch, program: &str, arg: &str) -> Result<String, Failure> {
    let ended = Call::new(program).arg(arg).demand().map_err(|failure| missing(arch, program, failure))?;
    Ok(ended.text().lines().next().unwrap_or_default().to_owned())
}

fn missing(arch: Arch, program: &str, failure: Failure) -> Failure {
    if !failure.what.ends_with("is not installed") {
        return failure;
    }
    let package = if arch.is_native() { "gcc" } else { arch.cross_compiler_package };
    Failure::host(format!("`{program}`, needed for {arch}, is not installed"))
        .hint(format!("`nspatch doctor` says how to install it; Debian's package is {package}"))
}

fn demand_target(arch: Arch, compiler: &str) -> Result<(), Failure> {
    let target = first_line(arch, compiler, "-dumpmachine")?;
    if target.starts_with(arch.machine) {
        return Ok(());
    }
    Err(Failure::usage(format!("`{compiler}` compiles for {target}, not for {arch}"))
        .at("--cc")
        .hint(format!("{arch} needs a compiler such as `{}gcc`", arch.tool_prefix())))
}

fn has_ccache() -> bool {
    Call::new("ccache").arg("--version").run().is_ok_and(|ended| ended.succeeded())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::Class;

    fn native() -> Arch {
        Arch::all().find(|arch| arch.is_native()).unwrap()
    }

    #[test]
    fn the_machine_s_own_compiler_is_found_with_its_version() {
        let toolchain = Toolchain::find(native(), &Wanted { no_ccache: true, ..Wanted::default() }).unwrap();
        assert_eq!((toolchain.cc().as_str(), toolchain.prefix.as_str()), ("gcc", ""));
        assert!(toolchain.compiler_version.contains("gcc"), "{toolchain:?}");
        assert!(toolchain.linker_version.contains("GNU ld"), "{toolchain:?}");
    }

    #[test]
    fn a_missing_compiler_names_the_package() {
        let wanted = Wanted { compiler: Some("nspatch-no-such-gcc".into()), no_ccache: true };
        let foreign = Arch::all().find(|arch| !arch.is_native()).unwrap();
        let failure = Toolchain::find(foreign, &wanted).unwrap_err();
        assert_eq!(failure.class, Class::Host);
        assert!(failure.hints[0].contains(foreign.cross_compiler_package), "{failure:?}");
    }

    #[test]
    fn a_compiler_for_another_architecture_is_refused() {
        let foreign = Arch::all().find(|arch| !arch.is_native()).unwrap();
        let named = Call::new("gcc").arg("-dumpmachine").demand().unwrap().text() + "-gcc";
        let wanted = Wanted { compiler: Some(named), no_ccache: true };
        assert_eq!(Toolchain::find(foreign, &wanted).unwrap_err().class, Class::Usage);
    }

    #[test]
    fn a_plain_name_means_the_compiler_of_that_name_for_each_architecture() {
        for arch in Arch::all() {
            let wanted = Wanted { compiler: Some("gcc".into()), no_ccache: true };
            let toolchain = Toolchain::find(arch, &wanted).unwrap();
            assert_eq!(toolchain.compiler, format!("{}gcc", arch.tool_prefix()));
            assert_eq!(toolchain.host_compiler, "gcc");
        }
    }

    #[test]
    fn ccache_changes_the_command_and_not_the_key() {
        let plain = Toolchain::find(native(), &Wanted { no_ccache: true, ..Wanted::default() }).unwrap();
        let cached = Toolchain { ccache: true, ..plain.clone() };
        assert_eq!(cached.cc(), "ccache gcc");
        assert_eq!(cached.key(), plain.key());
    }
}
