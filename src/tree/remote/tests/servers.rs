//! Real git servers on loopback: git's own daemon, and git's http backend behind a small server
//! that can also misbehave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

/// A program that comes with git but is not in `PATH`.
fn part_of_git(name: &str) -> Utf8PathBuf {
    let folder = crate::process::Call::new("git").arg("--exec-path").demand().unwrap().text();
    let path = Utf8Path::new(&folder).join(name);
    assert!(path.is_file(), "{path} is missing: git's servers are needed to test with them");
    path
}

/// `git daemon` for all repositories below a folder.
pub(super) struct Daemon {
    child: Child,
    pub(super) address: String,
}

impl Daemon {
    pub(super) fn start(root: &Utf8Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(part_of_git("git-daemon"));
        command.args(["--listen=127.0.0.1", "--export-all", "--reuseaddr"]).arg(format!("--port={port}"));
        command.arg(format!("--base-path={root}")).stdin(Stdio::null()).stderr(Stdio::null());
        // Whose repositories these are matters to git where another user runs the tests
        command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "safe.directory").env("GIT_CONFIG_VALUE_0", "*");
        let child = command.spawn().unwrap();
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(since.elapsed() < Duration::from_secs(60), "git daemon does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        Daemon { child, address: format!("git://127.0.0.1:{port}") }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the http server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Its best.
    Serve,
    /// Asked for objects, it closes the connection after so many bytes of the answer's body.
    Cut(usize),
    /// Asked for objects, it changes a byte of the pack.
    Garble,
    /// It takes the request and says nothing for ever.
    Silent,
    /// It answers with a page for people.
    Page,
    /// It answers with this status.
    Status(&'static str),
}

/// An http server for git. It acts by the list, one act for each fetch of objects, the last act again and again.
pub(super) struct Http {
    pub(super) address: String,
    acts: Arc<Mutex<Vec<Act>>>,
}

impl Http {
    pub(super) fn start(root: &Utf8Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let acts = Arc::new(Mutex::new(vec![Act::Serve]));
        let (shared, root, backend) = (Arc::clone(&acts), root.to_owned(), part_of_git("git-http-backend"));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (acts, root, backend) = (Arc::clone(&shared), root.clone(), backend.clone());
                // A client that hangs up early is no concern of the server
                std::thread::spawn(move || drop(answer(&stream.unwrap(), &root, &backend, &acts)));
            }
        });
        Http { address, acts }
    }

    pub(super) fn act(&self, acts: &[Act]) {
        *self.acts.lock().unwrap() = acts.to_vec();
    }
}

struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    fn read(stream: &TcpStream) -> std::io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let mut words = head.first().map(String::as_str).unwrap_or_default().split(' ').map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let header = |line: &String| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        let mut request =
            Request { method, target, headers: head.iter().filter_map(header).collect(), body: Vec::new() };
        request.body.resize(request.header("content-length").parse().unwrap_or(0), 0);
        reader.read_exact(&mut request.body)?;
        Ok(request)
    }

    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value)
    }

    fn wants_objects(&self) -> bool {
        let words = b"command=fetch";
        self.body.windows(words.len()).any(|window| window == words)
    }

    /// What git's backend makes of it: headers and body.
    fn forward(&self, root: &Utf8Path, backend: &Utf8Path) -> std::io::Result<(String, Vec<u8>)> {
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let mut command = Command::new(backend);
        command
            .env("GIT_PROJECT_ROOT", root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "safe.directory")
            .env("GIT_CONFIG_VALUE_0", "*")
            .env("REQUEST_METHOD", &self.method)
            .env("PATH_INFO", path)
            .env("QUERY_STRING", query)
            .env("CONTENT_TYPE", self.header("content-type"))
            .env("CONTENT_LENGTH", self.header("content-length"))
            .env("HTTP_CONTENT_ENCODING", self.header("content-encoding"))
            .env("GIT_PROTOCOL", self.header("git-protocol"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        child.stdin.take().unwrap().write_all(&self.body)?;
        let output = child.wait_with_output()?.stdout;
        let end = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(output.len() - 4);
        Ok((String::from_utf8_lossy(&output[..end]).into_owned(), output[end + 4..].to_vec()))
    }
}

fn answer(stream: &TcpStream, root: &Utf8Path, backend: &Utf8Path, acts: &Mutex<Vec<Act>>) -> std::io::Result<()> {
    let request = Request::read(stream)?;
    let act = {
        let mut acts = acts.lock().unwrap();
        if request.wants_objects() && acts.len() > 1 { acts.remove(0) } else { acts[0] }
    };
    let (head, mut body) = match act {
        Act::Silent => {
            // Until the client hangs up
            let _: SocketAddr = stream.peer_addr()?;
            BufReader::new(stream).read_to_end(&mut Vec::new())?;
            return Ok(());
        }
        Act::Page => (
            "Content-Type: text/html".to_owned(),
            b"<!DOCTYPE html>\n<html>\n<head><title>Log in</title></head>\n</html>\n".to_vec(),
        ),
        Act::Status(status) => (format!("Status: {status}"), Vec::new()),
        Act::Serve | Act::Cut(_) | Act::Garble => request.forward(root, backend)?,
    };
    let (status, rest): (Vec<_>, Vec<_>) = head.lines().partition(|line| line.starts_with("Status: "));
    let status = status.first().map_or("200 OK", |line| &line[8..]);
    let length = body.len();
    match act {
        Act::Cut(after) if request.wants_objects() => body.truncate(after),
        Act::Garble if request.wants_objects() => {
            let pack = body.windows(4).position(|window| window == b"PACK").unwrap();
            // Behind the pack's head and that of its first object, a commit: where its deflated content begins
            body[pack + 14] ^= 0x55;
        }
        _ => {}
    }
    let head =
        format!("HTTP/1.1 {status}\r\n{}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n", rest.join("\r\n"));
    let mut out = stream;
    out.write_all(head.as_bytes())?;
    out.write_all(&body)
}
