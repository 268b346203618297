//! Downloading a file into the cache: resumed where it was cut, complete or not there at all.

use std::io::{Read, Write};
use std::time::Duration;

use camino::Utf8PathBuf;
use reqwest::StatusCode;
use reqwest::blocking::{Client, Response};
use reqwest::header::{CONTENT_RANGE, ETAG, HeaderMap, IF_RANGE, LAST_MODIFIED, RANGE};
use serde::{Deserialize, Serialize};

use super::space;
use crate::blame::Failure;
use crate::event::{Ending, Stage};
use crate::job::{Job, Task};
use crate::store::{Digest, Lock, read_json, write_json};
use crate::{http, interrupt};

/// How often a transfer may break off before it counts as failed.
const ATTEMPTS: u32 = 5;

/// The file of an address: the one downloaded before, or a new one.
pub(super) fn fetch(address: &str, job: Job<'_>) -> Result<Utf8PathBuf, Failure> {
    let transfer = Transfer::of(address, job)?;
    if transfer.whole.is_file() {
        return Ok(transfer.whole);
    }
    let lock = Lock::take(&transfer.folder.join("lock"), || {
        job.notice(Stage::Tree, format!("{address} is being downloaded by another nspatch; waiting for it"), None);
    })?;
    if !transfer.whole.is_file() {
        let task = job.begin(Stage::Tree, format!("download {address}"), None);
        if let Err(failure) = transfer.run(&task) {
            if transfer.have() == 0 {
                transfer.forget(lock);
            }
            return Err(failure);
        }
        task.end(Ending::Done);
    }
    Ok(transfer.whole)
}

/// Removes what was downloaded from an address: it is no good.
pub(super) fn forget(address: &str, job: Job<'_>) -> Result<(), Failure> {
    let transfer = Transfer::of(address, job)?;
    if let Some(lock) = Lock::try_take(&transfer.folder.join("lock"))? {
        transfer.forget(lock);
    }
    Ok(())
}

/// What tells whether a half file belongs to what the server has now.
#[derive(Default, PartialEq, Eq, Serialize, Deserialize)]
struct Validator(Option<String>);

impl Validator {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        // A weak tag does not promise equal bytes
        Validator(text(ETAG).filter(|tag| !tag.starts_with("W/")).or_else(|| text(LAST_MODIFIED)))
    }
}

struct Transfer<'a> {
    address: &'a str,
    folder: Utf8PathBuf,
    whole: Utf8PathBuf,
    part: Utf8PathBuf,
    note: Utf8PathBuf,
}

/// How one attempt went wrong.
enum Trouble {
    /// Another attempt may succeed.
    Again(Failure),
    Final(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Final(failure)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Trouble::Final(error.into())
    }
}

impl<'a> Transfer<'a> {
    fn of(address: &'a str, job: Job<'_>) -> Result<Self, Failure> {
        let id = Digest::of("url").field("address", address).hex();
        let folder = job.cache.folder("downloads")?.join(format!("url-{}", &id[..24]));
        // The address' own name, so that messages name what the user knows
        let tail = address.split(['?', '#']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        let name: String = tail.chars().filter(|c| c.is_ascii_alphanumeric() || "._-+".contains(*c)).collect();
        let name = name.trim_start_matches('.');
        let name = if name.is_empty() { "archive" } else { name };
        let whole = folder.join("files").join(name);
        Ok(Transfer { address, whole, part: folder.join("part"), note: folder.join("part.json"), folder })
    }

    /// Removes the folder with all that is in it.
    fn forget(&self, lock: Lock) {
        for file in [&self.whole, &self.part, &self.note] {
            // What stays is tried again by the next run
            let _ = fs_err::remove_file(file);
        }
        let _ = fs_err::remove_dir(self.folder.join("files"));
        lock.remove();
        // Others may have put something there, such as the next lock
        let _ = fs_err::remove_dir(&self.folder);
    }

    fn run(&self, task: &Task<'_>) -> Result<(), Failure> {
        let client = http::client(http::SILENCE)?;
        let mut attempt = 1;
        loop {
            interrupt::check()?;
            match self.attempt(&client, task) {
                Ok(()) => break,
                Err(Trouble::Final(failure)) => return Err(failure),
                Err(Trouble::Again(failure)) if attempt >= ATTEMPTS => {
                    return Err(failure
                        .hint(format!("gave up after {ATTEMPTS} attempts; the next run goes on from what is there")));
                }
                Err(Trouble::Again(failure)) => {
                    task.advance(self.have(), format!("{}, attempt {}", failure.what, attempt + 1));
                    std::thread::sleep(Duration::from_millis(100) * 2_u32.pow(attempt));
                    attempt += 1;
                }
            }
        }
        fs_err::create_dir_all(self.folder.join("files"))?;
        fs_err::rename(&self.part, &self.whole)?;
        Ok(())
    }

    fn have(&self) -> u64 {
        fs_err::metadata(&self.part).map_or(0, |look| look.len())
    }

    fn attempt(&self, client: &Client, task: &Task<'_>) -> Result<(), Trouble> {
        let have = self.have();
        let mut request = client.get(self.address);
        if let (true, Ok(Validator(Some(validator)))) = (have > 0, read_json(&self.note)) {
            request = request.header(RANGE, format!("bytes={have}-")).header(IF_RANGE, validator);
        }
        let response = request.send().map_err(|error| Trouble::Again(self.unreachable(&error)))?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT if starts_at(&response, have) => self.append(response, have, task),
            StatusCode::OK => {
                write_json(&self.note, &Validator::of(response.headers()))?;
                self.append(response, 0, task)
            }
            StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE => {
                fs_err::remove_file(&self.part)?;
                Err(Trouble::Again(Failure::host("the server's file has changed").at(self.address)))
            }
            status => Err(self.status(status)),
        }
    }

    fn append(&self, mut response: Response, from: u64, task: &Task<'_>) -> Result<(), Trouble> {
        let total = response.content_length().map(|rest| from + rest);
        space::demand(&self.folder, total.unwrap_or(from) - from)?;
        let mut part = fs_err::OpenOptions::new().create(true).write(true).truncate(false).open(&self.part)?;
        part.set_len(from)?;
        std::io::Seek::seek(&mut part, std::io::SeekFrom::End(0))?;
        let (mut buffer, mut done, mut told) = (vec![0; 1 << 16], from, from);
        loop {
            interrupt::check()?;
            let read = response.read(&mut buffer).map_err(|_| Trouble::Again(self.cut(done, total)))?;
            if read == 0 {
                break;
            }
            part.write_all(&buffer[..read])?;
            done += read as u64;
            if done - told > 1 << 20 {
                told = done;
                task.advance(done, progress(done, total));
            }
        }
        if total.is_some_and(|total| total != done) {
            return Err(Trouble::Again(self.cut(done, total)));
        }
        part.sync_data()?;
        Ok(())
    }

    fn cut(&self, done: u64, total: Option<u64>) -> Failure {
        Failure::host(format!("the transfer broke off after {}", progress(done, total))).at(self.address)
    }

    fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let mut source: &dyn std::error::Error = error;
        while let Some(deeper) = source.source() {
            source = deeper;
        }
        Failure::host(format!("cannot be reached: {source}"))
            .at(self.address)
            .hint("is the network there? A folder or tarball works without it")
    }

    fn status(&self, status: StatusCode) -> Trouble {
        let what = format!("the server answered {status}");
        if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            return Trouble::Again(Failure::host(what).at(self.address));
        }
        Trouble::Final(
            Failure::usage(what).at(self.address).hint("open the address in a browser: it should name a tarball"),
        )
    }
}

fn progress(done: u64, total: Option<u64>) -> String {
    match total {
        Some(total) => format!("{done} of {total} bytes"),
        None => format!("{done} bytes"),
    }
}

/// Whether the part that the server sends is the one that was asked for.
fn starts_at(response: &Response, have: u64) -> bool {
    let range = response.headers().get(CONTENT_RANGE).and_then(|value| value.to_str().ok());
    range.is_some_and(|range| range.starts_with(&format!("bytes {have}-")))
}

#[cfg(test)]
mod tests;
