//! Everything that differs between architectures, as data. A third one is one more entry.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::blame::Failure;
use crate::catalogue::nearest;

/// One architecture: how its kernels are built and booted, and what the machine needs for that.
#[derive(Debug, PartialEq, Eq)]
pub struct Description {
    /// The name in flags, files and reports.
    pub name: &'static str,
    /// The kernel's `ARCH=`.
    pub linux: &'static str,
    /// What `uname -m` says on such a machine; there the plain compiler is used.
    pub machine: &'static str,
    /// The prefix of the cross compiler and its tools.
    pub cross_prefix: &'static str,
    /// The make target of the image.
    pub image_target: &'static str,
    /// The image's path in the object folder.
    pub image: &'static str,
    /// The QEMU program.
    pub qemu: &'static str,
    /// QEMU's `-M`, `-cpu`, `-smp` and what else every boot has; `{cpus}` stands for their number.
    pub qemu_machine: &'static [&'static str],
    /// The same where the host's own CPUs run the guest.
    pub kvm_machine: &'static [&'static str],
    /// QEMU's arguments for the results channel; `{file}` stands for the host's file.
    pub qemu_results: &'static [&'static str],
    /// The guest's device of the results channel.
    pub results_device: &'static str,
    /// Kernel parameters that every boot has.
    pub parameters: &'static [&'static str],
    /// Kernel parameters for the virtual clock alone.
    pub virtual_parameters: &'static [&'static str],
    /// The oldest QEMU, major and minor, whose virtual clock runs two CPUs, and why.
    pub oldest_qemu: ((u32, u32), &'static str),
    /// Debian's package of the cross compiler, where one is needed.
    pub cross_compiler_package: &'static str,
    /// Debian's package of the static C library for the cross compiler.
    pub cross_libc_package: &'static str,
    /// Debian's package of QEMU.
    pub qemu_package: &'static str,
    /// The same three packages in other families of distributions, by the family's name: cross
    /// compiler, its C library, QEMU. Empty where there is none whose programs have the names above.
    pub other_packages: &'static [(&'static str, [&'static str; 3])],
}

/// All architectures. A table to read, so `Arch` is just a place in it.
static ALL: [Description; 2] = [
    Description {
        name: "x86_64",
        linux: "x86_64",
        machine: "x86_64",
        cross_prefix: "x86_64-linux-gnu-",
        // Started through its PVH entry: no decompressor to build, and none to run
        image_target: "vmlinux",
        image: "vmlinux",
        qemu: "qemu-system-x86_64",
        // Sockets and not cores: a kernel without ACPI finds its CPUs in the MP table, which lists sockets
        qemu_machine: &["-M", "pc,usb=off,hpet=off,vmport=off", "-cpu", "qemu64", "-smp", "cpus={cpus},sockets={cpus}"],
        kvm_machine: &["-M", "pc,usb=off,hpet=off,vmport=off", "-cpu", "host", "-smp", "cpus={cpus},sockets={cpus}"],
        qemu_results: &["-serial", "file:{file}"],
        results_device: "/dev/ttyS1",
        // Without ACPI the clock source would be jiffies, and a restart needs the triple fault
        parameters: &["console=ttyS0", "tsc=reliable", "reboot=t"],
        // Leave out two busy loops of the kernel, which cost seconds on a clock of instructions; without the
        // APIC timer there are no high-resolution timers to try for
        virtual_parameters: &["nolapic_timer", "highres=off", "no_timer_check"],
        oldest_qemu: ((8, 1), "before 8.1 the second CPU starves on the virtual clock and the boot hangs"),
        cross_compiler_package: "gcc-x86-64-linux-gnu",
        cross_libc_package: "libc6-dev-amd64-cross",
        qemu_package: "qemu-system-x86",
        other_packages: &[
            ("fedora", ["gcc-x86_64-linux-gnu", "", "qemu-system-x86"]),
            ("arch", ["", "", "qemu-system-x86"]),
            ("suse", ["", "", "qemu-x86"]),
        ],
    },
    Description {
        name: "arm64",
        linux: "arm64",
        machine: "aarch64",
        cross_prefix: "aarch64-linux-gnu-",
        image_target: "Image",
        image: "arch/arm64/boot/Image",
        qemu: "qemu-system-aarch64",
        qemu_machine: &[
            "-M",
            "virt,gic-version=3,its=off,dtb-randomness=off",
            "-cpu",
            "cortex-a57",
            "-smp",
            "cpus={cpus}",
            // The host must not answer the guest from a thread of its own, at a moment of its own
            "-global",
            "virtio-mmio.ioeventfd=off",
            "-global",
            "virtio-mmio.force-legacy=off",
        ],
        // The interrupt controller is the host's own as well, whichever it has
        kvm_machine: &[
            "-M",
            "virt,gic-version=host,its=off,dtb-randomness=off",
            "-cpu",
            "host",
            "-smp",
            "cpus={cpus}",
            "-global",
            "virtio-mmio.force-legacy=off",
        ],
        qemu_results: &[
            "-chardev",
            "file,id=results,path={file}",
            "-device",
            "virtio-serial-device",
            "-device",
            "virtconsole,chardev=results",
        ],
        results_device: "/dev/hvc0",
        parameters: &["console=ttyAMA0"],
        virtual_parameters: &[],
        oldest_qemu: ((8, 1), "one limit for all architectures keeps their results alike"),
        cross_compiler_package: "gcc-aarch64-linux-gnu",
        cross_libc_package: "libc6-dev-arm64-cross",
        qemu_package: "qemu-system-arm",
        other_packages: &[
            ("fedora", ["gcc-aarch64-linux-gnu", "", "qemu-system-aarch64"]),
            ("arch", ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-glibc", "qemu-system-aarch64"]),
            ("suse", ["", "", "qemu-arm"]),
        ],
    },
];

/// An architecture that nspatch knows.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Arch(&'static Description);

impl Arch {
    /// All architectures, in the order of reports.
    pub fn all() -> impl Iterator<Item = Arch> {
        ALL.iter().map(Arch)
    }

    /// The architecture of a name.
    ///
    /// # Errors
    ///
    /// There is none; the failure names those that exist.
    pub fn named(name: &str) -> Result<Arch, Failure> {
        Self::all().find(|arch| arch.name == name || arch.machine == name).ok_or_else(|| {
            let names: Vec<_> = Self::all().map(|arch| arch.name).collect();
            let failure = Failure::usage(format!("there is no architecture `{name}`")).at("--arch");
            match nearest(name, names.iter().copied()).first() {
                Some(near) => failure.hint(format!("did you mean `{near}`?")),
                None => failure.hint(format!("nspatch knows {}", names.join(" and "))),
            }
        })
    }

    /// Whether kernels of this architecture are built with the machine's own compiler.
    pub fn is_native(self) -> bool {
        rustix::system::uname().machine().to_str().is_ok_and(|machine| machine == self.machine)
    }

    /// The prefix of compiler and binutils on this machine: empty for the native ones.
    pub fn tool_prefix(self) -> &'static str {
        if self.is_native() { "" } else { self.0.cross_prefix }
    }
}

impl std::ops::Deref for Arch {
    type Target = Description;

    fn deref(&self) -> &Description {
        self.0
    }
}

impl PartialOrd for Arch {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Arch {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let place = |arch: &Arch| ALL.iter().position(|one| one == arch.0);
        place(self).cmp(&place(other))
    }
}

impl fmt::Debug for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl From<Arch> for String {
    fn from(arch: Arch) -> String {
        arch.name.to_owned()
    }
}

impl TryFrom<String> for Arch {
    type Error = Failure;

    fn try_from(name: String) -> Result<Self, Failure> {
        Arch::named(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_architecture_names_the_nearest() {
        assert_eq!(Arch::named("arm46").unwrap_err().hints, ["did you mean `arm64`?"]);
        assert_eq!(Arch::named("vax").unwrap_err().hints, ["nspatch knows x86_64 and arm64"]);
    }

    #[test]
    fn the_machine_s_own_name_is_understood() {
        assert_eq!(Arch::named("aarch64").unwrap().name, "arm64");
    }
}
