use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use camino::Utf8Path;

use super::*;
use crate::blame::Class;
use crate::event::Event;
use crate::store::Cache;

const THREAD: &str = "From mboxrd@z Thu Jan  1 00:00:00 1970\nFrom: A. Author <a@example.org>\nSubject: [PATCH] x\nMessage-ID: <one@example.org>\n\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

/// What a server does with one request.
#[derive(Clone)]
enum Act {
    Serve(Vec<u8>),
    /// It promises all and closes after half.
    Cut(Vec<u8>),
    /// It takes the request and is silent.
    Silent,
    Status(&'static str),
}

/// A server that acts by the list, then as the last of it, and notes what was asked for.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(acts: &[Act]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (noted, acts) = (Arc::clone(&asked), acts.to_vec());
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for (number, stream) in listener.incoming().enumerate() {
                let stream = stream.unwrap();
                let act = acts.get(number).or(acts.last()).unwrap();
                // A client that hangs up early is no concern of the server
                let _ = answer(&stream, act, &noted);
                if matches!(act, Act::Silent) {
                    held.push(stream);
                }
            }
        });
        Server { address, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(mut stream: &TcpStream, act: &Act, noted: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let head: Vec<String> =
        BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    noted.lock().unwrap().push(head[0].split(' ').nth(1).unwrap().to_owned());
    let (status, total, sent) = match act {
        Act::Serve(body) => ("200 OK", body.len(), &body[..]),
        Act::Cut(body) => ("200 OK", body.len(), &body[..body.len() / 2]),
        Act::Status(status) => (*status, 0, &b""[..]),
        Act::Silent => return Ok(()),
    };
    stream
        .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: {total}\r\nConnection: close\r\n\r\n").as_bytes())?;
    stream.write_all(sent)
}

fn packed(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(text.as_bytes()).unwrap();
    packer.finish().unwrap()
}

struct Place {
    _folder: tempfile::TempDir,
    cache: Cache,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&Utf8Path::from_path(folder.path()).unwrap().join("cache")).unwrap();
        Place { _folder: folder, cache }
    }

    fn fetch(&self, name: &str, archive: &str) -> Result<Bundle, Failure> {
        let logs = self.cache.root().join("logs");
        let emit = |_: Event| {};
        let job = Job { cache: &self.cache, logs: &logs, emit: &emit };
        fetch(&Letter::of(name).unwrap().unwrap(), archive, Duration::from_millis(500), job)
    }

    /// The threads that are kept whole.
    fn kept(&self) -> usize {
        let folders = self.cache.folder("threads").unwrap().read_dir_utf8().unwrap();
        folders.filter(|folder| folder.as_ref().unwrap().path().join("thread.mbox").exists()).count()
    }
}

#[test]
fn a_message_id_and_every_address_of_a_mail_name_it() {
    let cases = [
        ("one@example.org", None, "all"),
        ("<one@example.org>", None, "all"),
        ("https://lore.kernel.org/all/one@example.org/", None, "all"),
        ("https://lore.kernel.org/lkml/one@example.org/T/#u", None, "lkml"),
        ("https://lore.kernel.org/r/one@example.org", None, "all"),
        ("http://lkml.kernel.org/r/one%40example.org", None, "all"),
        ("https://patch.msgid.link/one@example.org", None, "all"),
        ("https://lists.example.org/inbox/dev/one@example.org/raw", Some("https://lists.example.org/inbox"), "dev"),
        ("http://127.0.0.1:80/dev/one@example.org", Some("http://127.0.0.1:80"), "dev"),
    ];
    for (name, archive, list) in cases {
        let letter = Letter::of(name).unwrap().unwrap();
        assert_eq!((letter.message_id.as_str(), letter.list.as_str()), ("one@example.org", list), "{name}");
        assert_eq!(letter.archive.as_deref(), archive, "{name}");
    }
    for name in ["one", "a b@example.org", "@example.org", "mails/one@example.org", "one@", "x\x1b@example.org"] {
        assert_eq!(Letter::of(name).unwrap(), None, "{name:?}");
    }
    for name in
        ["https://lore.kernel.org/lkml/", "ftp://lore.kernel.org/all/one@example.org/", "https://", "http:///a@b"]
    {
        assert_eq!(Letter::of(name).unwrap_err().class, Class::Usage, "{name}");
    }
}

#[test]
fn a_thread_is_fetched_once_and_then_taken_from_the_cache() {
    let (place, server) = (Place::new(), Server::start(&[Act::Serve(packed(THREAD)), Act::Status("404 Not Found")]));
    for _ in 0..2 {
        let bundle = place.fetch("one@example.org", &server.address).unwrap();
        assert_eq!((bundle.mails.len(), bundle.asked.as_deref()), (1, Some("one@example.org")));
    }
    assert_eq!(server.asked(), ["/all/one@example.org/t.mbox.gz"]);
}

#[test]
fn an_odd_message_id_is_escaped() {
    let (place, server) = (Place::new(), Server::start(&[Act::Status("404 Not Found")]));
    place.fetch("<a/b?c%@example.org>", &server.address).unwrap_err();
    assert_eq!(server.asked(), ["/all/a%2Fb%3Fc%25@example.org/t.mbox.gz"]);
}

#[test]
fn what_passes_is_waited_out() {
    let good = Act::Serve(packed(THREAD));
    for passing in [Act::Status("503 Service Unavailable"), Act::Cut(packed(THREAD)), Act::Silent] {
        let (place, server) = (Place::new(), Server::start(&[passing, good.clone()]));
        assert!(place.fetch("one@example.org", &server.address).is_ok());
        assert_eq!(server.asked().len(), 2);
    }
}

#[test]
fn a_wrong_answer_is_told_and_never_kept() {
    let other = THREAD.replace("one@", "two@");
    let half = &packed(THREAD)[..40];
    let cases = [
        (Act::Status("404 Not Found"), Class::Usage, "there is no mail one@example.org: 404"),
        (Act::Status("403 Forbidden"), Class::Usage, "there is no mail one@example.org: 403"),
        (Act::Status("500 Internal Server Error"), Class::Host, "the server answered 500"),
        (
            Act::Serve(b"<!DOCTYPE html>\nMaking sure you are no bot".to_vec()),
            Class::Host,
            "something else than a mailbox",
        ),
        (Act::Serve(half.to_vec()), Class::Host, "something else than a mailbox"),
        (Act::Serve(Vec::new()), Class::Host, "something else than a mailbox"),
        (Act::Serve(packed(&other)), Class::Host, "does not hold the mail one@example.org"),
        (Act::Cut(packed(THREAD)), Class::Host, "broke off"),
        (Act::Silent, Class::Host, "cannot be reached"),
    ];
    for (act, class, said) in cases {
        let (place, server) = (Place::new(), Server::start(&[act]));
        let failure = place.fetch("one@example.org", &server.address).unwrap_err();
        assert!(failure.class == class && failure.what.contains(said), "{said}: {failure:?}");
        assert!(failure.place.is_some(), "{failure:?}");
        assert_eq!(place.kept(), 0, "{said}");
    }
}

#[test]
fn an_unreachable_archive_is_told_with_its_address() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failure = Place::new().fetch("one@example.org", &format!("http://{closed}/")).unwrap_err();
    assert!(failure.what.contains("refused") && failure.place.unwrap().contains("/all/one@example.org/"));
}
