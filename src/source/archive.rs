//! Threads of a list's archive (public-inbox, as lore.kernel.org is), by Message-ID or address.

use std::time::Duration;

use super::bundle::{Bundle, Order};
use super::mail::Mail;
use super::read;
use crate::blame::Failure;
use crate::catalogue::Origin;
use crate::event::{Ending, Stage};
use crate::http::{self, Answer};
use crate::job::Job;
use crate::store::{Digest, Lock, write_atomically};

/// The archive that is asked where none is named.
pub const ARCHIVE: &str = "https://lore.kernel.org";

/// Hosts whose addresses only lead to the archive's.
const ALIASES: [&str; 5] = ["lore.kernel.org", "lkml.kernel.org", "msgid.link", "patch.msgid.link", "www.kernel.org"];

/// One mail of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its Message-ID without angle brackets.
    pub message_id: String,
    /// The archive that its address names.
    archive: Option<String>,
    /// The list below it.
    list: String,
}

impl Letter {
    /// Reads a Message-ID, with or without angle brackets, or an address that holds one; `None` if it
    /// is neither.
    ///
    /// # Errors
    ///
    /// It is an address, but of no mail.
    pub fn of(name: &str) -> Result<Option<Self>, Failure> {
        let Some((scheme, rest)) = name.split_once("://") else {
            let id = name.strip_prefix("mid:").or(name.strip_prefix("id:")).unwrap_or(name);
            let bare = id.strip_prefix('<').and_then(|id| id.strip_suffix('>'));
            let id = bare.unwrap_or(id);
            let sound = is_message_id(id) && (bare.is_some() || !id.contains('/'));
            let letter = Letter { message_id: id.to_owned(), archive: None, list: "all".to_owned() };
            return Ok(sound.then_some(letter));
        };
        let no_mail = || {
            Failure::usage(format!("`{name}` is no address of a mail"))
                .at("--patch")
                .hint(format!("an address of a mail is {ARCHIVE}/LIST/MESSAGE-ID/"))
        };
        let (host, path) = rest.split_once('/').ok_or_else(no_mail)?;
        let path = path.split(['#', '?']).next().unwrap_or_default();
        let segments: Vec<String> = path.split('/').map(unescape).collect();
        let at = segments.iter().position(|segment| is_message_id(segment)).ok_or_else(no_mail)?;
        if !["http", "https"].contains(&scheme) || host.is_empty() {
            return Err(no_mail());
        }
        let above = &segments[..at.saturating_sub(1)];
        let own = format!("{scheme}://{}", [&[host.to_owned()], above].concat().join("/"));
        let list = segments[..at].last().filter(|list| !["", "r"].contains(&list.as_str()));
        Ok(Some(Letter {
            message_id: segments[at].clone(),
            archive: (!ALIASES.contains(&host)).then_some(own),
            list: list.cloned().unwrap_or_else(|| "all".to_owned()),
        }))
    }
}

/// The thread of a mail: from the cache if it was fetched before, else from the archive, which is
/// `archive` unless the mail's address names another.
///
/// # Errors
///
/// The archive does not have the mail, cannot be reached, or answers with something else. The cache
/// only ever holds whole threads.
pub fn from_archive(letter: &Letter, archive: &str, job: Job<'_>) -> Result<Bundle, Failure> {
    fetch(letter, archive, http::SILENCE, job)
}

fn fetch(letter: &Letter, archive: &str, silence: Duration, job: Job<'_>) -> Result<Bundle, Failure> {
    let Letter { message_id, list, .. } = letter;
    let archive = letter.archive.as_deref().unwrap_or(archive).trim_end_matches('/');
    let address = format!("{archive}/{list}/{}/", escape(message_id));
    let id = Digest::of("thread").field("message-id", message_id).hex();
    let folder = job.cache.folder(&format!("threads/{}", &id[..24]))?;
    let kept = folder.join("thread.mbox");
    let _lock = Lock::take(&folder.join("lock"), || {
        job.notice(Stage::Source, format!("{address} is being fetched by another nspatch; waiting for it"), None);
    })?;
    let task = job.begin(Stage::Source, format!("fetch {address}"), None);
    let there = kept.is_file();
    let thread = if there { read::file(&kept)? } else { ask(letter, &address, silence)? };
    let mails = Mail::all(&thread, &address)?;
    if !there {
        if !mails.iter().any(|mail| mail.message_id.as_ref() == Some(message_id)) {
            return Err(Failure::host(format!("the archive's thread does not hold the mail {message_id}")).at(&address));
        }
        write_atomically(&kept, &thread)?;
    }
    task.end(if there { Ending::Reused } else { Ending::Done });
    let asked = Some(message_id.clone());
    Ok(Bundle { name: None, place: address, found: Origin::Project(kept), mails, order: Order::Arrival, asked })
}

fn ask(letter: &Letter, address: &str, silence: Duration) -> Result<Vec<u8>, Failure> {
    let mailbox = format!("{address}t.mbox.gz");
    let no_mailbox = |said: &[u8]| {
        let first = String::from_utf8_lossy(&said[..said.len().min(200)]).lines().next().unwrap_or_default().to_owned();
        Failure::host("the server answered with something else than a mailbox").at(&mailbox).excerpt([first])
    };
    match http::get(&mailbox, read::LIMIT, silence)? {
        Answer::Refused(status) => Err(Failure::usage(format!("there is no mail {}: {status}", letter.message_id))
            .at(mailbox)
            .hint("is the MESSAGE-ID whole? `--lore ADDRESS` names another archive")),
        Answer::Whole(bytes) if bytes.starts_with(b"\x1f\x8b") || bytes.starts_with(b"From ") => {
            read::text(&bytes[..]).map_err(|_| no_mailbox(b"a mailbox that cannot be unpacked"))
        }
        Answer::Whole(bytes) => Err(no_mailbox(&bytes)),
    }
}

/// The address of a mail in an archive.
pub(super) fn link(archive: &str, message_id: &str) -> String {
    format!("{}/all/{}/", archive.trim_end_matches('/'), escape(message_id))
}

fn is_message_id(text: &str) -> bool {
    let sound = |c: char| !c.is_whitespace() && !super::words::is_command(c) && !['<', '>'].contains(&c);
    text.len() < 500
        && text.chars().all(sound)
        && text.split_once('@').is_some_and(|(left, right)| !left.is_empty() && !right.is_empty())
}

/// A Message-ID as part of an address.
fn escape(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@-._~!$&'()*+,;=:".contains(&byte);
    id.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| str::from_utf8(code).ok());
        let byte = code.filter(|_| first == b'%').and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
