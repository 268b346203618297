//! Images: built once, the same everywhere, from what changed alone.

use super::room::{Room, Slot, revision, small, toolchain};
use crate::build::*;
use crate::catalogue::Catalogue;
use crate::event::{Ending, Event, Stage};

const ALL: [&str; 4] = ["fs/namespace.o", "init/main.o", "init/version.o", "ipc/namespace.o"];

#[test]
fn an_image_is_built_once_and_then_taken_from_the_cache_without_a_checkout() {
    let (room, kconfig, toolchain, base) = (Room::new(), small(), toolchain(), revision("a", &[]));
    let mut slot = room.slot("1");
    let request = Request::new(&base, &kconfig, &toolchain);
    let first = room.image(&request, &mut slot);
    assert_eq!((first.release.as_str(), first.reused, slot.asked), ("6.12.0", false, 1));
    assert!(first.symbols >= 3 && first.bytes > 0 && first.seconds > 0.0, "{first:?}");
    let again = room.image(&request, &mut slot);
    assert_eq!(again, Image { reused: true, ..first });
    assert_eq!(slot.asked, 1);
    let facts = room.facts.lock().unwrap();
    let ended: Vec<_> = facts
        .iter()
        .filter_map(|fact| match fact {
            Event::Finished { stage, ending, .. } => Some((*stage, *ending)),
            _ => None,
        })
        .collect();
    assert_eq!(ended, [(Stage::Config, Ending::Done), (Stage::Build, Ending::Done), (Stage::Build, Ending::Reused)]);
}

#[test]
fn a_damaged_image_is_noticed_and_built_again() {
    let (room, kconfig, toolchain, base) = (Room::new(), small(), toolchain(), revision("a", &[]));
    let mut slot = room.slot("1");
    let request = Request::new(&base, &kconfig, &toolchain);
    let first = room.image(&request, &mut slot);
    for (builds, damage) in [
        (2, &(|image: &Image| fs_err::write(&image.path, "cut").unwrap()) as &dyn Fn(&Image)),
        (3, &|image| fs_err::remove_file(&image.path).unwrap()),
        (4, &|image| fs_err::write(image.path.with_file_name("build.json"), "{").unwrap()),
        (5, &|image| fs_err::write(image.path.with_file_name("config"), "CONFIG_X=y\n").unwrap()),
    ] {
        damage(&first);
        let again = room.image(&request, &mut slot);
        assert_eq!((again.reused, slot.asked, &again.sha256), (false, builds, &first.sha256));
    }
}

#[test]
fn the_same_content_gives_the_same_bytes_in_two_checkouts() {
    let (room, kconfig, toolchain) = (Room::new(), small(), toolchain());
    let (one, two) = (revision("a", &[]), revision("b", &[]));
    let first = room.image(&Request::new(&one, &kconfig, &toolchain), &mut room.slot("1"));
    let second = room.image(&Request::new(&two, &kconfig, &toolchain), &mut room.slot("a-longer-name"));
    assert_ne!(first.key, second.key);
    assert_eq!(first.sha256, second.sha256);
}

#[test]
fn an_old_tree_that_does_not_map_its_paths_gives_the_same_bytes_too() {
    let (room, kconfig, toolchain) = (Room::new(), small(), toolchain());
    let images = ["1", "a-longer-name"].map(|name| {
        let mut slot = room.slot(name);
        slot.write("Makefile", &slot.read("Makefile").replace("-fmacro-prefix-map=$(srctree)/=", ""));
        room.image(&Request::new(&revision(name, &[]), &kconfig, &toolchain), &mut slot).sha256
    });
    assert_eq!(images[0], images[1]);
}

#[test]
fn only_what_changed_is_compiled_again_also_when_a_header_goes_back() {
    let (room, kconfig, toolchain) = (Room::new(), small(), toolchain());
    let mut slot = room.slot("1");
    let image = |slot: &mut Slot, content: &str| {
        room.image(&Request::new(&revision(content, &[]), &kconfig, &toolchain), slot).sha256
    };
    let first = image(&mut slot, "first");
    assert_eq!(room.compiled(), ALL);
    slot.write("ipc/namespace.c", &slot.read("ipc/namespace.c").replace("depth *", "7 + depth *"));
    let changed = image(&mut slot, "changed");
    assert_eq!(room.compiled(), ["ipc/namespace.o"]);
    let header = slot.read("include/linux/ns.h");
    slot.write("include/linux/ns.h", &header.replace("NS_COST 3", "NS_COST 4"));
    let with_header = image(&mut slot, "header");
    assert_eq!(room.compiled(), ["fs/namespace.o", "ipc/namespace.o"]);
    slot.write("include/linux/ns.h", &header);
    let back = image(&mut slot, "header back");
    assert_eq!(room.compiled(), ["fs/namespace.o", "ipc/namespace.o"]);
    assert_eq!(back, changed);
    assert!(first != changed && changed != with_header);
}

#[test]
fn the_shipped_fragments_resolve_on_the_small_tree() {
    let (room, toolchain, base) = (Room::new(), toolchain(), revision("a", &[]));
    let kconfig = Kconfig::load(&Catalogue::shipped(), toolchain.arch, &[]).unwrap();
    // On failure: add the symbols to tests/fakelinux/Kconfig
    room.image(&Request::new(&base, &kconfig, &toolchain), &mut room.slot("1"));
}

#[test]
fn the_number_of_steps_is_known_from_the_second_build_on() {
    let (room, kconfig, toolchain) = (Room::new(), small(), toolchain());
    for content in ["a", "b"] {
        room.image(&Request::new(&revision(content, &[]), &kconfig, &toolchain), &mut room.slot(content));
    }
    let totals: Vec<_> = room
        .facts
        .lock()
        .unwrap()
        .iter()
        .filter_map(|fact| match fact {
            Event::Started { stage: Stage::Build, total, .. } => Some(*total),
            _ => None,
        })
        .collect();
    // Three objects and the link at least; some architectures make their image of that
    assert!(matches!(totals[..], [None, Some(4..)]), "{totals:?}");
}

#[test]
fn what_goes_into_an_image_is_in_its_key() {
    let (small, toolchain, base) = (small(), toolchain(), revision("a", &[]));
    let key = Request::new(&base, &small, &toolchain).image_key();
    let other = Toolchain { compiler_version: "gcc 99".into(), ..toolchain.clone() };
    let cached = Toolchain { ccache: !toolchain.ccache, ..toolchain.clone() };
    let patched = revision("b", &["fs/namespace.c"]);
    let more = small.clone().require(["NET"], "x", false).unwrap();
    for request in [
        Request::new(&patched, &small, &toolchain),
        Request::new(&base, &more, &toolchain),
        Request::new(&base, &small, &other),
    ] {
        assert_ne!(request.image_key(), key);
    }
    let request = Request::new(&base, &small, &cached);
    assert_eq!(request.image_key(), key);
    assert_ne!(request.objects_key(), Request::new(&base, &small, &toolchain).objects_key());
}
