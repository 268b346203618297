//! QEMU's arguments and the kernel's parameters, one function a concern. Nothing here feeds the
//! guest from the host: no disk, no network, no entropy, no host's clock.

use super::{Accelerator, Start, Visit};
use crate::arch::{Arch, Description};
use crate::blame::Failure;

/// The console's file in a boot's folder, in which QEMU is started.
pub(super) const CONSOLE: &str = "console.log";
/// The results channel's file in a boot's folder.
pub(super) const RESULTS: &str = "results.jsonl";
/// How many bytes the kernel takes as its command line, on x86_64 and arm64 alike.
const LONGEST_COMMAND_LINE: usize = 2047;

/// All arguments of QEMU for a boot.
///
/// # Errors
///
/// The kernel's command line gets too long, or the plan holds what it cannot carry.
pub(super) fn qemu(start: &Start) -> Result<Vec<String>, Failure> {
    let arch = &*start.qemu.arch;
    let command_line = command_line(start)?;
    let parts = [
        machine_words(start.accelerator.machine(arch), start.cpus, start.memory_mib),
        bare(),
        start.clock.arguments(start.accelerator, start.seed),
        channels(arch),
        owned(["-kernel", start.image.as_str(), "-initrd", start.initramfs.as_str(), "-append", &command_line]),
    ];
    Ok(parts.concat())
}

/// All arguments of QEMU for a boot that somebody looks at: the console and QEMU's monitor on standard input and
/// output, and real time, as a person waits for it. KVM is left alone: that it can be opened does not mean that it works.
///
/// Without a terminal there is no monitor: a byte among the commands could call it up, and it can do things on the host.
pub(super) fn visit(visit: &Visit, terminal: bool) -> Vec<String> {
    let arch = &*visit.qemu.arch;
    let words = arch.parameters.iter().chain(&FIXED).copied().chain(["nspatch.shell=1", "nspatch.seed=1"]);
    let command_line = words.collect::<Vec<_>>().join(" ");
    let parts = [
        machine_words(arch.qemu_machine, visit.cpus, visit.memory_mib),
        bare(),
        owned(["-accel", "tcg", "-serial", if terminal { "mon:stdio" } else { "stdio" }]),
        owned(["-kernel", visit.image.as_str(), "-initrd", visit.initramfs.as_str(), "-append", &command_line]),
    ];
    parts.concat()
}

/// QEMU's machine, CPUs and memory in one line: what results depend on beside the kernel and the guest.
pub fn machine(accelerator: Accelerator, arch: Arch, cpus: u32, memory_mib: u32) -> String {
    machine_words(accelerator.machine(&arch), cpus, memory_mib).join(" ")
}

fn machine_words(words: &[&str], cpus: u32, memory_mib: u32) -> Vec<String> {
    let fill = |word: &&str| word.replace("{cpus}", &cpus.to_string());
    let mut words: Vec<String> = words.iter().map(fill).collect();
    words.extend(owned(["-m", &memory_mib.to_string()]));
    words
}

/// No devices but those named, no configuration of the user's, and a reset ends QEMU.
fn bare() -> Vec<String> {
    owned(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"])
}

/// The console is the first serial port everywhere; what carries the results differs.
fn channels(arch: &Description) -> Vec<String> {
    let mut words = owned(["-serial", &format!("file:{CONSOLE}")]);
    words.extend(arch.qemu_results.iter().map(|word| word.replace("{file}", RESULTS)));
    words
}

/// Kernel parameters of every boot. A panic restarts at once, which ends QEMU; an oops is a panic. Where the guest's stack and
/// heap lie decides how many page tables a fork copies, so that is the same in every boot.
const FIXED: [&str; 5] = ["loglevel=5", "nokaslr", "norandmaps", "panic=-1", "oops=panic"];

/// The kernel's parameters.
fn command_line(start: &Start) -> Result<String, Failure> {
    check_plan(&start.run)?;
    let arch = start.qemu.arch;
    let own = start.clock.parameters(&arch);
    let all = arch.parameters.iter().chain(own).copied().chain(FIXED);
    let mut words: Vec<String> = all.map(str::to_owned).collect();
    words.push(format!("nspatch.results={}", arch.results_device));
    words.push(format!("nspatch.seed={}", start.seed));
    words.push(format!("nspatch.run={}", start.run));
    let line = words.join(" ");
    if line.len() <= LONGEST_COMMAND_LINE {
        return Ok(line);
    }
    let length = line.len();
    let what = format!("the kernel's command line would hold {length} bytes, but {LONGEST_COMMAND_LINE} fit");
    Err(Failure::usage(what).at(&start.subject).hint("name fewer benchmarks for one boot"))
}

/// A space in the plan would start another parameter, and a quote would swallow some.
fn check_plan(run: &str) -> Result<(), Failure> {
    match run.chars().find(|c| !c.is_ascii_graphic() || *c == '"') {
        None => Ok(()),
        Some(c) => Err(Failure::usage(format!("{c:?} cannot stand in a boot plan"))
            .at(run)
            .hint("names and settings of benchmarks are letters, digits, `-` and `_`")),
    }
}

fn owned<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boot::{Clock, Limits, Qemu};

    fn start(arch: &str, run: &str) -> Start {
        let arch = Arch::named(arch).unwrap();
        Start {
            qemu: Qemu { arch, program: arch.qemu.into(), version: "10.0.2".into() },
            image: "/k/image".into(),
            initramfs: "/k/initramfs".into(),
            seed: 7,
            run: run.into(),
            clock: Clock::Virtual,
            accelerator: Accelerator::Tcg,
            cpus: 2,
            memory_mib: 256,
            folder: "/run".into(),
            limits: Limits::default(),
            allowed_splats: Vec::new(),
            subject: "x86_64 base seed 7".into(),
        }
    }

    fn shown(arch: &str) -> String {
        let words = qemu(&start(arch, "unshare-ipc:operations=32,setns-net")).unwrap();
        words.join(" ").replace(" -", "\n-")
    }

    #[test]
    fn x86_64_is_started_like_this() {
        insta::assert_snapshot!(shown("x86_64"), @r"
        -M pc,usb=off,hpet=off,vmport=off
        -cpu qemu64
        -smp cpus=2,sockets=2
        -m 256
        -nodefaults
        -no-user-config
        -no-reboot
        -display none
        -accel tcg
        -icount shift=1,sleep=off
        -seed 7
        -rtc base=2020-01-01T00:00:00,clock=vm
        -serial file:console.log
        -serial file:results.jsonl
        -kernel /k/image
        -initrd /k/initramfs
        -append console=ttyS0 tsc=reliable reboot=t nolapic_timer highres=off no_timer_check loglevel=5 nokaslr norandmaps panic=-1 oops=panic nspatch.results=/dev/ttyS1 nspatch.seed=7 nspatch.run=unshare-ipc:operations=32,setns-net
        ");
    }

    #[test]
    fn arm64_is_started_like_this() {
        insta::assert_snapshot!(shown("arm64"), @r"
        -M virt,gic-version=3,its=off,dtb-randomness=off
        -cpu cortex-a57
        -smp cpus=2
        -global virtio-mmio.ioeventfd=off
        -global virtio-mmio.force-legacy=off
        -m 256
        -nodefaults
        -no-user-config
        -no-reboot
        -display none
        -accel tcg
        -icount shift=1,sleep=off
        -seed 7
        -rtc base=2020-01-01T00:00:00,clock=vm
        -serial file:console.log
        -chardev file,id=results,path=results.jsonl
        -device virtio-serial-device
        -device virtconsole,chardev=results
        -kernel /k/image
        -initrd /k/initramfs
        -append console=ttyAMA0 loglevel=5 nokaslr norandmaps panic=-1 oops=panic nspatch.results=/dev/hvc0 nspatch.seed=7 nspatch.run=unshare-ipc:operations=32,setns-net
        ");
    }

    #[test]
    fn a_look_around_gets_the_console_and_real_time() {
        let Start { qemu, image, initramfs, cpus, memory_mib, folder, .. } = start("x86_64", "");
        let around = Visit { qemu, image, initramfs, cpus, memory_mib, folder };
        assert!(visit(&around, false).contains(&"stdio".to_owned()), "commands of a pipe reach no monitor");
        let words = visit(&around, true);
        insta::assert_snapshot!(words.join(" ").replace(" -", "\n-"), @r"
        -M pc,usb=off,hpet=off,vmport=off
        -cpu qemu64
        -smp cpus=2,sockets=2
        -m 256
        -nodefaults
        -no-user-config
        -no-reboot
        -display none
        -accel tcg
        -serial mon:stdio
        -kernel /k/image
        -initrd /k/initramfs
        -append console=ttyS0 tsc=reliable reboot=t loglevel=5 nokaslr norandmaps panic=-1 oops=panic nspatch.shell=1 nspatch.seed=1
        ");
    }

    #[test]
    fn the_command_line_may_fill_its_room_and_no_more() {
        let base = command_line(&start("arm64", "")).unwrap().len();
        let fits = "a".repeat(LONGEST_COMMAND_LINE - base);
        assert_eq!(command_line(&start("arm64", &fits)).unwrap().len(), 2047);
        let failure = command_line(&start("arm64", &(fits + "a"))).unwrap_err();
        assert_eq!(failure.what, "the kernel's command line would hold 2048 bytes, but 2047 fit");
    }

    #[test]
    fn a_plan_cannot_smuggle_in_a_parameter() {
        for run in ["a b", "a\"", "a\nb", "ä"] {
            assert!(qemu(&start("x86_64", run)).is_err(), "{run:?}");
        }
    }
}
