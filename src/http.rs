//! Asking servers over http and https.

use std::io::Read;
use std::sync::Once;
use std::time::{Duration, Instant};

use reqwest::blocking::Client;

use crate::blame::Failure;
use crate::interrupt;

/// How long the other side may be silent.
pub const SILENCE: Duration = Duration::from_secs(30);
/// How long one answer may take in all.
const LONGEST: Duration = Duration::from_secs(300);
/// How often is asked before a passing trouble counts as lasting.
const ATTEMPTS: u32 = 3;

/// What a server said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The whole of what was asked for.
    Whole(Vec<u8>),
    /// It has none, or does not give it: the status, such as `404 Not Found`.
    Refused(String),
}

/// A client that gives up on a server that is silent for so long.
///
/// # Errors
///
/// This machine cannot do it.
pub fn client(silence: Duration) -> Result<Client, Failure> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Fails only where another part of the program has installed one, which is as good
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    Client::builder()
        .user_agent(concat!("nspatch/", env!("CARGO_PKG_VERSION")))
        .timeout(silence)
        .connect_timeout(silence)
        .build()
        .map_err(|error| Failure::host(format!("no http client can be made here: {error}")))
}

/// Asks for something small. Passing troubles are waited out a few times.
///
/// # Errors
///
/// The server cannot be reached, is silent for too long, breaks off, or sends more than `most` bytes.
pub fn get(address: &str, most: u64, silence: Duration) -> Result<Answer, Failure> {
    let client = client(silence)?;
    let begun = Instant::now();
    for attempt in 1.. {
        interrupt::check()?;
        match ask(&client, address, most, begun) {
            Err(passing) if attempt < ATTEMPTS && passing.hints.is_empty() => {
                std::thread::sleep(Duration::from_millis(200) * 2_u32.pow(attempt));
            }
            Err(failure) if failure.hints.is_empty() => {
                return Err(failure.hint(format!("is the network there? It was tried {ATTEMPTS} times")));
            }
            other => return other,
        }
    }
    Err(Failure::internal("asking a server came to no end"))
}

/// Asks once. A failure without a hint may pass.
fn ask(client: &Client, address: &str, most: u64, begun: Instant) -> Result<Answer, Failure> {
    let mut response = client.get(address).send().map_err(|error| unreachable(address, &error))?;
    let status = response.status();
    if status.is_server_error() || status.as_u16() == 429 {
        return Err(Failure::host(format!("the server answered {status}")).at(address));
    }
    if !status.is_success() {
        return Ok(Answer::Refused(status.to_string()));
    }
    let expected = response.content_length();
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        interrupt::check()?;
        let read = response.read(&mut buffer).map_err(|_| cut(address, bytes.len()))?;
        bytes.extend(&buffer[..read]);
        if bytes.len() as u64 > most {
            return Err(Failure::host(format!("the server sends more than {} MiB", most >> 20))
                .at(address)
                .hint("this is not what was asked for: open the address in a browser"));
        }
        if begun.elapsed() > LONGEST {
            return Err(Failure::host(format!("the server took more than {} s", LONGEST.as_secs()))
                .at(address)
                .hint("try again later"));
        }
        if read == 0 {
            break;
        }
    }
    match expected {
        Some(expected) if expected != bytes.len() as u64 => Err(cut(address, bytes.len())),
        _ => Ok(Answer::Whole(bytes)),
    }
}

fn cut(address: &str, after: usize) -> Failure {
    Failure::host(format!("the answer broke off after {after} bytes")).at(address)
}

fn unreachable(address: &str, error: &reqwest::Error) -> Failure {
    let mut source: &dyn std::error::Error = error;
    while let Some(deeper) = source.source() {
        source = deeper;
    }
    let failure = Failure::host(format!("cannot be reached: {source}")).at(address);
    if error.is_builder() { failure.hint("this is no address of a server") } else { failure }
}
