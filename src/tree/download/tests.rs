use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::*;
use crate::tree::mini::{Surroundings, items, packed, tar};
use crate::tree::resolve;

/// What a server does with one request.
#[derive(Clone, Copy)]
enum Act {
    /// Everything, or the range that was asked for.
    Serve,
    /// Its head promises all, but the connection closes after so many bytes.
    Cut(usize),
    /// As `Cut`, and without anything to tell one version from another.
    CutNameless(usize),
    /// The whole file in spite of a range.
    Whole,
    /// Another range than was asked for.
    WrongRange,
    Status(&'static str),
}

/// What is left of downloads in the cache.
fn left(here: &Surroundings) -> Vec<String> {
    let entries = here.root.join("cache/downloads").read_dir_utf8().unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_owned()).collect()
}

/// A server for one file; it acts by the list, then as the last of it, and notes the ranges asked for.
struct Server {
    address: String,
    ranges: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(body: Vec<u8>, acts: &[Act]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/pub/linux-6.12.3.tar.gz", listener.local_addr().unwrap());
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let (noted, acts) = (Arc::clone(&ranges), acts.to_vec());
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let act = acts.get(number).or(acts.last()).copied().unwrap();
                // A client that hangs up early is no concern of the server
                let _ = answer(stream.unwrap(), &body, act, &noted);
            }
        });
        Server { address, ranges }
    }

    fn ranges(&self) -> Vec<String> {
        self.ranges.lock().unwrap().clone()
    }
}

fn answer(stream: TcpStream, body: &[u8], act: Act, noted: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let lines = BufReader::new(&stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let asked = lines.filter_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned)).next();
    // The head has to be read to its end before the answer, which take_while does only if nothing stops it
    noted.lock().unwrap().push(asked.clone().unwrap_or_else(|| "all".to_owned()));
    let start = asked.and_then(|range| range.trim_end_matches('-').parse().ok()).unwrap_or(0_usize);
    let total = body.len();
    let name = "ETag: \"one\"\r\n";
    let (head, sent) = match act {
        Act::Status(status) => (format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n"), &body[..0]),
        Act::Serve if start > 0 => {
            let head =
                format!("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {start}-{}/{total}\r\n", total - 1);
            (format!("{head}{name}Content-Length: {}\r\n", total - start), &body[start..])
        }
        Act::WrongRange if start > 0 => {
            let head = format!("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-{}/{total}\r\n", total - 1);
            (format!("{head}Content-Length: {total}\r\n"), body)
        }
        Act::CutNameless(after) => (format!("HTTP/1.1 200 OK\r\nContent-Length: {total}\r\n"), &body[..after]),
        Act::Cut(after) => (format!("HTTP/1.1 200 OK\r\n{name}Content-Length: {total}\r\n"), &body[..after]),
        Act::Serve | Act::Whole | Act::WrongRange => {
            (format!("HTTP/1.1 200 OK\r\n{name}Content-Length: {total}\r\n"), body)
        }
    };
    let mut stream = &stream;
    stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes())?;
    stream.write_all(sent)
}

fn archive() -> Vec<u8> {
    packed(&tar(&items("linux")))[2].1.clone()
}

#[test]
fn a_transfer_that_breaks_off_goes_on_where_it_was_cut() {
    let whole = archive();
    let cases: [(&str, &[Act], &[&str]); 5] = [
        ("at once", &[Act::Serve], &["all"]),
        ("resumed", &[Act::Cut(100), Act::Serve], &["all", "100-"]),
        ("restarted, as the server ignores ranges", &[Act::Cut(100), Act::Whole], &["all", "100-"]),
        ("restarted, as the file has no name", &[Act::CutNameless(100), Act::Serve], &["all", "all"]),
        ("restarted after a wrong range", &[Act::Cut(100), Act::WrongRange, Act::Serve], &["all", "100-", "all"]),
    ];
    for (name, acts, ranges) in cases {
        let here = Surroundings::new();
        let server = Server::start(whole.clone(), acts);
        let file = here
            .job(|job| fetch(&server.address, job))
            .unwrap_or_else(|failure| panic!("{name}: {}", failure.render()));
        assert_eq!(fs_err::read(&file).unwrap(), whole, "{name}");
        assert_eq!(server.ranges(), ranges, "{name}");
        assert_eq!(file.file_name(), Some("linux-6.12.3.tar.gz"));
    }
}

#[test]
fn half_a_file_never_becomes_good_and_the_next_run_goes_on_from_it() {
    let here = Surroundings::new();
    let whole = archive();
    let mut acts = vec![Act::Cut(100); 1];
    acts.extend([Act::Status("503 Service Unavailable"); ATTEMPTS as usize - 1]);
    acts.push(Act::Serve);
    let server = Server::start(whole.clone(), &acts);
    let failure = here.job(|job| fetch(&server.address, job)).unwrap_err();
    assert_eq!(failure.class, crate::blame::Class::Host);
    assert!(failure.what.contains("503"), "{}", failure.what);
    assert_eq!(fs_err::read(here.job(|job| fetch(&server.address, job)).unwrap()).unwrap(), whole);
    assert_eq!(server.ranges().last().map(String::as_str), Some("100-"));
}

#[test]
fn a_missing_file_is_the_user_s_and_is_not_asked_for_twice() {
    let here = Surroundings::new();
    let server = Server::start(Vec::new(), &[Act::Status("404 Not Found")]);
    let failure = here.job(|job| resolve(&server.address, job)).unwrap_err();
    assert_eq!(failure.class, crate::blame::Class::Usage);
    assert!(failure.what.contains("404") && failure.place.as_deref() == Some(&*server.address), "{failure:?}");
    assert_eq!(server.ranges(), ["all"]);
    assert_eq!(left(&here), Vec::<String>::new());
}

#[test]
fn an_unreachable_server_is_told_with_its_address() {
    let here = Surroundings::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let failure = here.job(|job| fetch(&format!("http://{closed}/linux.tar.xz"), job)).unwrap_err();
    assert!(failure.what.contains("cannot be reached") && failure.what.contains("refused"), "{failure:?}");
}

#[test]
fn an_address_becomes_a_tree_once_and_then_without_the_network() {
    let here = Surroundings::new();
    let server = Server::start(archive(), &[Act::Serve, Act::Status("500 Internal Server Error")]);
    let tree = here.job(|job| resolve(&server.address, job)).unwrap();
    assert_eq!((tree.version.as_str(), tree.origin.as_str()), ("6.12.3", server.address.as_str()));
    assert_eq!(here.job(|job| resolve(&server.address, job)).unwrap(), tree);
    assert_eq!(server.ranges().len(), 1);
}

#[test]
fn a_web_page_in_place_of_an_archive_is_refused_and_not_kept() {
    let here = Surroundings::new();
    let page = b"<html>please log in</html>".to_vec();
    let server = Server::start(page, &[Act::Serve]);
    for _ in 0..2 {
        let failure = here.job(|job| resolve(&server.address, job)).unwrap_err();
        assert!(failure.hints.iter().any(|hint| hint.contains("web page")), "{failure:?}");
        assert_eq!(left(&here), Vec::<String>::new());
    }
    assert_eq!(server.ranges().len(), 2, "the page was asked for again");
}
