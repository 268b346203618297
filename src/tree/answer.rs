//! What a git server answered, or did not, by what git prints of it.

use crate::blame::Failure;

/// What git prints, what it means, and what to do about it.
struct Sign {
    printed: &'static [&'static str],
    whose: Whose,
    meaning: &'static str,
    hint: &'static str,
}

/// Who can do something about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// The name or the address is wrong.
    User,
    /// The network, or the other side.
    Network,
}

/// The first that fits counts, so that the more telling ones come first.
const SIGNS: [Sign; 10] = [
    Sign {
        printed: &["couldn't find remote ref", "not our ref", "no such remote ref"],
        whose: Whose::User,
        meaning: "there is no branch, tag or commit of this name",
        hint: "a commit has to be given with all its 40 digits; a branch may have been renamed or removed",
    },
    Sign {
        printed: &["Server does not allow request for unadvertised object"],
        whose: Whose::User,
        meaning: "this server gives branches and tags only, and no other commits",
        hint: "clone the repository, and give FOLDER@COMMIT",
    },
    Sign {
        printed: &["could not read Username", "could not read Password", "Authentication failed", "error: 403"],
        whose: Whose::User,
        meaning: "the server wants a login",
        hint: "nspatch asks for none: clone the repository, and give the folder",
    },
    Sign {
        printed: &["dumb http transport does not support"],
        whose: Whose::User,
        meaning: "this is no git server, only a folder of files, and cannot be fetched from without all history",
        hint: "clone the repository, and give the folder",
    },
    Sign {
        printed: &[
            "not valid: is this a git repository",
            "' not found",
            "does not appear to be a git repository",
            "repository not exported",
            "error: 404",
            "not a git repository",
        ],
        whose: Whose::User,
        meaning: "there is no git repository at this address",
        hint: "`nspatch trees` shows the addresses, and where each comes from",
    },
    Sign {
        printed: &["SSL certificate", "server certificate verification", "SSL: no alternative"],
        whose: Whose::Network,
        meaning: "the server's certificate is not trusted",
        hint: "is there a proxy in between, and is ca-certificates installed?",
    },
    Sign {
        printed: &[
            "Could not resolve",
            "Couldn't resolve",
            "unable to look up",
            "Failed to connect",
            "unable to connect",
            "Couldn't connect",
            "Connection refused",
            "No route to host",
            "Network is unreachable",
        ],
        whose: Whose::Network,
        meaning: "the server cannot be reached",
        hint: "is the network there, and does it need a proxy (https_proxy)?",
    },
    Sign {
        printed: &["returned error: 5", "returned error: 429"],
        whose: Whose::Network,
        meaning: "the server is in trouble",
        hint: "try again later",
    },
    Sign { printed: &CUT, whose: Whose::Network, meaning: "the connection was lost", hint: "run the command again" },
    Sign {
        printed: &[
            "bad line length",
            "protocol error",
            "expected ",
            "pack has bad object",
            "bad pack",
            "invalid index-pack output",
            "unpack-objects",
            "index-pack failed",
            "invalid server response",
        ],
        whose: Whose::Network,
        meaning: "the server answered wrongly",
        hint: "is there a proxy in between that changes what comes?",
    },
];

/// What git prints of a connection that ended too early.
const CUT: [&str; 9] = [
    "early EOF",
    "hung up unexpectedly",
    "unexpected disconnect",
    "RPC failed",
    "transfer closed",
    "Connection reset",
    "Empty reply",
    "Recv failure",
    "unexpected end of file",
];

fn sign(printed: &[String]) -> Option<&'static Sign> {
    SIGNS.iter().find(|sign| sign.printed.iter().any(|text| printed.iter().any(|line| line.contains(text))))
}

/// Whether a connection was lost that may well hold another time.
pub(super) fn was_cut(printed: &[String]) -> bool {
    sign(printed).is_some_and(|sign| sign.printed == CUT)
}

/// The failure of a fetch, in words; `None` if nothing is known of what git printed.
pub(super) fn explained(printed: &[String], address: &str, rev: &str) -> Option<Failure> {
    let sign = sign(printed)?;
    let telling = &printed[printed.len().saturating_sub(3)..];
    let what = format!("{}: `{rev}` is not to be had", sign.meaning);
    let told = if sign.whose == Whose::User { Failure::usage(what) } else { Failure::host(what) };
    let told = told.at(address).excerpt(telling.iter().cloned()).hint(sign.hint);
    Some(if sign.whose == Whose::Network { told.hint("a folder or tarball works without the network") } else { told })
}
