//! The whole stage on the small tree in `tests/fakelinux`, with real make and gcc.

mod failures;
mod images;
mod room;
