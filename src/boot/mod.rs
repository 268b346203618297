//! Starts an image with its initramfs in QEMU, and tells how that ended.
