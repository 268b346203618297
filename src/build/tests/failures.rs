//! What goes wrong, and who gets the blame.

use std::time::Duration;

use camino::Utf8Path;

use super::room::{Room, kconfig, revision, small, toolchain};
use crate::blame::{Blame, Class};
use crate::build::*;

#[test]
fn lost_symbols_are_named_with_the_reason_before_anything_is_compiled() {
    let (room, toolchain, base) = (Room::new(), toolchain(), revision("a", &[]));
    let kconfig = kconfig(
        "CONFIG_UBSAN_TRAP=y\nCONFIG_UBSAN_TARP=y\nCONFIG_NETFILTER_XT_MATCH_OWNER=y\nCONFIG_NEEDS_LOCK=y\n\
         # CONFIG_LOCK is not set\nCONFIG_ONLY_SELECTED=y\nCONFIG_NR_CPUS=8\n# optional: CONFIG_FROM_TOMORROW=y\n",
    );
    let broken = room.broken(&Request::new(&base, &kconfig, &toolchain), &mut room.slot("1"));
    assert_eq!((broken.class, broken.blame), (Class::Config, Blame::User));
    insta::assert_snapshot!(broken.excerpt.join("\n"), @r"
    CONFIG_LOCK: wanted n, got y: NEEDS_LOCK selects it (own.config:5)
    CONFIG_NETFILTER_XT_MATCH_OWNER: wanted y, got n: it needs NETFILTER, which is n (own.config:3)
    CONFIG_ONLY_SELECTED: wanted y, got n: it cannot be set: it has no prompt (own.config:6)
    CONFIG_UBSAN_TARP: wanted y, got n: this tree and architecture do not have it; they have UBSAN_TRAP, UBSAN, NET (own.config:2)
    CONFIG_UBSAN_TRAP: wanted y, got n: it needs UBSAN, which is n (own.config:1)
    ");
    assert_eq!(room.compiled(), [""; 0]);
}

#[test]
fn a_symbol_lost_from_a_shipped_fragment_is_the_kernel_s_matter() {
    let (room, toolchain, base) = (Room::new(), toolchain(), revision("a", &[]));
    let kconfig = Kconfig::default().require(["IPC_NS"], "patches/p/patch.yaml", false).unwrap();
    let broken = room.broken(&Request::new(&base, &kconfig, &toolchain), &mut room.slot("1"));
    assert_eq!(broken.blame, Blame::Kernel);
    assert_eq!(broken.lost[0].reason, Reason::Unmet(vec!["NAMESPACES, which is n".into()]));
}

#[test]
fn an_error_in_a_file_that_the_edit_touches_is_the_patch_s_fault() {
    let (room, kconfig, toolchain) = (Room::new(), small(), toolchain());
    let mut slot = room.slot("1");
    slot.write("FAIL", "compile\n");
    for (files, blame) in
        [(&["fs/namespace.c"][..], Blame::Patch), (&["ipc/namespace.c"][..], Blame::Kernel), (&[][..], Blame::Kernel)]
    {
        let broken = room.broken(&Request::new(&revision("a", files), &kconfig, &toolchain), &mut slot);
        assert_eq!((broken.class, broken.blame), (Class::Build, blame), "{files:?}");
        assert_eq!((broken.file.as_deref(), broken.line), (Some(Utf8Path::new("fs/namespace.c")), Some(10)));
        assert!(broken.what.contains("depht"), "{broken:?}");
        assert!(broken.excerpt.iter().any(|line| line.contains("return depht")), "{broken:?}");
    }
    fs_err::remove_file(slot.root.join("source/FAIL")).unwrap();
    assert!(!room.image(&Request::new(&revision("a", &[]), &kconfig, &toolchain), &mut slot).reused);
}

#[test]
fn errors_of_the_linker_and_of_the_configuration_are_located_too() {
    let (room, kconfig, toolchain, base) = (Room::new(), small(), toolchain(), revision("a", &[]));
    let mut slot = room.slot("1");
    let request = Request::new(&base, &kconfig, &toolchain);
    slot.write("FAIL", "link\n");
    let broken = room.broken(&request, &mut slot);
    assert_eq!((broken.class, broken.file.as_deref()), (Class::Build, Some(Utf8Path::new("ipc/namespace.c"))));
    assert!(broken.what.contains("undefined reference to `no_such_function'"), "{broken:?}");
    slot.write("FAIL", "config\n");
    let broken = room.broken(&request, &mut slot);
    assert_eq!((broken.class, broken.what.as_str(), broken.line), (Class::Config, "syntax error", Some(3)));
}

#[test]
fn a_full_disk_is_not_the_kernel_s_fault() {
    let (room, kconfig, toolchain, base) = (Room::new(), small(), toolchain(), revision("a", &["fs/namespace.c"]));
    let mut slot = room.slot("1");
    slot.write("FAIL", "space\n");
    let failure = room.build(&Request::new(&base, &kconfig, &toolchain), &mut slot).unwrap_err();
    assert_eq!((failure.class, failure.blame), (Class::Host, Blame::Host));
    assert!(failure.hints.iter().any(|hint| hint.contains("NSPATCH_CACHE")), "{failure:?}");
}

#[test]
fn a_cut_build_goes_on_where_it_was() {
    let (room, kconfig, toolchain, base) = (Room::new(), small(), toolchain(), revision("a", &[]));
    let mut slot = room.slot("1");
    let request = Request::new(&base, &kconfig, &toolchain);
    let expected = room.image(&Request::new(&revision("b", &[]), &kconfig, &toolchain), &mut room.slot("2")).sha256;
    slot.write("FAIL", "slow\n");
    let failure = room.build(&Request { limit: Duration::from_secs(4), ..request }, &mut slot).unwrap_err();
    assert_eq!(failure.class, Class::Host);
    fs_err::remove_file(slot.root.join("source/FAIL")).unwrap();
    room.compiled();
    let image = room.image(&request, &mut slot);
    assert_eq!(image.sha256, expected);
    assert_eq!(room.compiled(), ["fs/namespace.o"], "the other objects were whole");
}

#[test]
fn a_half_written_object_of_a_killed_build_is_not_taken_for_good() {
    let (room, kconfig, toolchain) = (Room::new(), small(), toolchain());
    let mut slot = room.slot("1");
    let base = revision("a", &[]);
    let request = Request::new(&base, &kconfig, &toolchain);
    let first = room.image(&request, &mut slot);
    // As a kill -9 leaves it: the marker, then half an object that is newer than all
    let objects = slot.objects(&request);
    std::thread::sleep(Duration::from_millis(15));
    fs_err::write(objects.join(".nspatch/building"), "").unwrap();
    std::thread::sleep(Duration::from_millis(15));
    fs_err::write(objects.join("fs/namespace.o"), "half").unwrap();
    let again = room.image(&Request::new(&revision("b", &[]), &kconfig, &toolchain), &mut slot);
    assert_eq!(again.sha256, first.sha256);
}

#[test]
fn a_folder_that_make_cannot_work_in_is_refused_with_the_way_out() {
    let (room, kconfig, toolchain, base) = (Room::new(), small(), toolchain(), revision("a", &[]));
    let failure = room.build(&Request::new(&base, &kconfig, &toolchain), &mut room.slot("a space")).unwrap_err();
    assert_eq!(failure.class, Class::Host);
    assert!(failure.hints[0].contains("NSPATCH_CACHE"), "{failure:?}");
}
