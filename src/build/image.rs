//! Built images, kept by the content that went into them.

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::bench::Bench;
use super::kernel::Request;
use super::toolchain::Toolchain;
use crate::arch::Arch;
use crate::blame::Failure;
use crate::job::Job;
use crate::store::{digest_file, read_json, write_json};

/// A kernel image in the cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Image {
    /// What names it: the content that went into it, 64 hexadecimal digits.
    pub key: String,
    /// The image file.
    pub path: Utf8PathBuf,
    /// The SHA-256 of the image file; equal images are the same kernel, whatever their key.
    pub sha256: String,
    /// The image file's size in bytes.
    pub bytes: u64,
    /// The architecture.
    pub arch: Arch,
    /// The kernel's release, such as `6.12.0`.
    pub release: String,
    /// The SHA-256 of the resolved configuration, which lies beside the image as `config`.
    pub config_sha256: String,
    /// What it was built with.
    pub toolchain: Toolchain,
    /// The number of configuration symbols that are `y`.
    pub symbols: u64,
    /// The wall time of its build in seconds, configuration included.
    pub seconds: f64,
    /// Whether it was there already.
    pub reused: bool,
}

/// The place of images in the cache.
pub(super) struct Shelf {
    folder: Utf8PathBuf,
    key: String,
}

impl Shelf {
    pub(super) fn of(request: &Request<'_>, job: Job<'_>) -> Result<Self, Failure> {
        Ok(Shelf { folder: job.cache.folder("images")?, key: request.image_key() })
    }

    pub(super) fn lock_file(&self) -> Utf8PathBuf {
        self.folder.join(format!("{}.lock", self.key))
    }

    fn place(&self) -> Utf8PathBuf {
        self.folder.join(&self.key)
    }

    /// The image, if it is there and whole.
    pub(super) fn kept(&self) -> Option<Image> {
        let place = self.place();
        let image: Image = read_json(&place.join("build.json")).ok()?;
        let image = Image { path: place.join("image"), reused: true, ..image };
        let whole = image.key == self.key
            && digest_file(&image.path).is_ok_and(|digest| digest == image.sha256)
            && digest_file(&place.join("config")).is_ok_and(|digest| digest == image.config_sha256);
        whole.then_some(image)
    }

    /// Takes a damaged entry away; says whether there was one.
    pub(super) fn clear(&self) -> Result<bool, Failure> {
        let there = self.place().exists();
        if there {
            fs_err::remove_dir_all(self.place())?;
        }
        Ok(there)
    }

    /// Puts a built image into the cache, in one piece.
    pub(super) fn keep(
        &self,
        request: &Request<'_>,
        bench: &Bench,
        config: &str,
        seconds: f64,
        job: Job<'_>,
    ) -> Result<Image, Failure> {
        let scratch = job.cache.scratch()?;
        let work = Utf8Path::from_path(scratch.path())
            .ok_or_else(|| Failure::host("the cache's path is not UTF-8").at(scratch.path().display()))?;
        let file = work.join("image");
        let bytes = fs_err::copy(bench.objects.join(request.toolchain.arch.image), &file)?;
        fs_err::write(work.join("config"), config)?;
        let image = Image {
            key: self.key.clone(),
            path: self.place().join("image"),
            sha256: digest_file(&file)?,
            bytes,
            arch: request.toolchain.arch,
            release: fs_err::read_to_string(bench.objects.join("include/config/kernel.release"))?.trim().to_owned(),
            config_sha256: digest_file(&work.join("config"))?,
            toolchain: request.toolchain.clone(),
            symbols: config.lines().filter(|line| line.ends_with("=y")).count() as u64,
            seconds,
            reused: false,
        };
        write_json(&work.join("build.json"), &image)?;
        fs_err::rename(scratch.keep(), self.place())?;
        Ok(image)
    }
}
