//! What travels in a mail: its headers, and its texts with the transport's encodings undone.

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::charsets::map::charset_decoder;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, HeaderName, HeaderValue, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use super::about::Author;
use super::extract::broken;
use super::mbox::{is_header, lines};
use super::words;
use crate::blame::Failure;

/// More parts than any mail of a patch has; nested ones cost time that grows with their number.
const MOST_PARTS: usize = 100;

/// More bytes than a list lets through, with encodings and all; a diff by itself may be larger.
const LARGEST: usize = 16 << 20;
/// The most mails whose answer a mail is taken for.
const MOST_PARENTS: usize = 100;

/// A mail's headers and texts.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    pub subject: String,
    pub author: Option<Author>,
    pub message_id: Option<String>,
    /// The mails that it answers, the nearest first.
    pub parents: Vec<String>,
    /// When it was sent, in seconds since 1970.
    pub date: Option<i64>,
    pub list: Option<String>,
    pub texts: Vec<Text>,
}

/// One text of a mail.
#[derive(Debug)]
pub(super) struct Text {
    pub bytes: Vec<u8>,
    /// Where it begins, in lines from the mail's first, which is 0; `None` if its lines are not the mail's.
    pub line: Option<usize>,
    /// Whether it is `format=flowed`, and if so whether with `delsp`.
    pub flowed: Option<bool>,
    /// Whether it is a file or a mail beside the mail's own text.
    pub attached: bool,
}

/// Whether a text begins with the headers of a mail.
pub(super) fn has_headers(text: &[u8]) -> bool {
    const KNOWN: [&str; 8] =
        ["from", "subject", "date", "message-id", "received", "return-path", "mime-version", "content-type"];
    let mut known = false;
    for (number, line) in lines(text).enumerate() {
        if line.trim_ascii().is_empty() {
            break;
        }
        let goes_on = number > 0 && line.starts_with(b" ") || line.starts_with(b"\t");
        if !is_header(line) && !goes_on {
            return false;
        }
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
        known |= KNOWN.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name));
    }
    known
}

impl Envelope {
    /// Reads a mail that begins with its headers.
    ///
    /// # Errors
    ///
    /// It is too large, has too many parts, holds its text as HTML only, or an encoding in it is broken.
    pub(super) fn of(mail: &[u8]) -> Result<Envelope, Failure> {
        if mail.len() > LARGEST {
            let (size, most) = (mail.len() >> 20, LARGEST >> 20);
            return Err(broken(format!("the mail has {size} MiB; a patch's mail has at most {most} MiB"))
                .hint("save the diff alone: it may be larger"));
        }
        let hidden = hide_embedded(mail)?;
        let Some(message) = parser().parse(&hidden) else {
            return Ok(Envelope::default());
        };
        let mut envelope = headers(&message);
        let mut html = false;
        for part in &message.parts {
            html |= matches!(part.body, PartType::Html(_));
            envelope.texts.extend(text(part, mail)?);
        }
        if envelope.texts.is_empty() && html {
            return Err(broken("the mail holds its text as HTML only")
                .hint("HTML spoils diffs: ask for the patch as plain text, or fetch it by its MESSAGE-ID"));
        }
        Ok(envelope)
    }
}

fn parser() -> MessageParser {
    MessageParser::new()
        .with_mime_headers()
        .with_message_ids()
        .header_date(HeaderName::Date)
        .header_text(HeaderName::Subject)
        .header_address(HeaderName::From)
        .header_text(HeaderName::ListId)
        .default_header_ignore()
}

/// Makes mails within the mail opaque to the parser, which would go down into each of a million of
/// them: [`super::Mail`] goes as deep as makes sense. No byte moves.
fn hide_embedded(mail: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut hidden = mail.to_vec();
    let (mut at, mut parts, mut within) = (0, 0, false);
    for line in lines(mail) {
        let starts = line.get(..12).is_some_and(|start| start.eq_ignore_ascii_case(b"content-type"));
        within = starts || (within && line.starts_with(b" ") || line.starts_with(b"\t"));
        if starts {
            parts += 1;
        }
        if within {
            for word in [&b"rfc822"[..], b"global", b"digest"] {
                let found = line.windows(word.len()).position(|window| window.eq_ignore_ascii_case(word));
                if let Some(found) = found {
                    hidden[at + found] = b'x';
                }
            }
        }
        at += line.len();
    }
    if parts > MOST_PARTS {
        return Err(broken(format!("the mail has {parts} parts; a patch has at most {MOST_PARTS}")));
    }
    Ok(hidden)
}

fn headers(message: &Message<'_>) -> Envelope {
    let from = message.from().and_then(|from| from.first());
    let ids = |value: &HeaderValue<'_>| match value {
        HeaderValue::Text(id) => vec![words::clean(id)],
        HeaderValue::TextList(ids) => ids.iter().rev().take(MOST_PARENTS).rev().map(|id| words::clean(id)).collect(),
        _ => Vec::new(),
    };
    let mut parents = ids(message.in_reply_to());
    parents.extend(ids(message.references()).into_iter().rev());
    Envelope {
        subject: words::clean(message.subject().unwrap_or_default()),
        author: from.and_then(|from| {
            let address = from.address().map(words::clean);
            let name = from.name().map(words::clean).or_else(|| address.clone())?;
            Some(Author { name, email: address })
        }),
        message_id: message.message_id().map(words::clean),
        parents,
        date: message.date().filter(|date| date.is_valid()).map(mail_parser::DateTime::to_timestamp),
        // `A list <list.example.org>`
        list: message
            .list_id()
            .as_text()
            .map(|list| words::clean(list.rsplit_once('<').map_or(list, |(_, id)| id.trim_end_matches('>')))),
        texts: Vec::new(),
    }
}

/// The text of a part; `None` if it holds none, such as a signature's.
fn text(part: &MessagePart<'_>, mail: &[u8]) -> Result<Option<Text>, Failure> {
    let kind = part.content_type();
    let subtype = kind.and_then(|kind| kind.subtype()).unwrap_or("plain").to_ascii_lowercase();
    let name = part.attachment_name().unwrap_or_default();
    let by_name = [".patch", ".diff", ".eml", ".mbox", ".txt"].iter().any(|end| name.ends_with(end));
    let embedded = kind.is_some_and(|kind| kind.ctype().eq_ignore_ascii_case("message"));
    let is_text = match &part.body {
        PartType::Text(_) => true,
        PartType::Binary(_) | PartType::InlineBinary(_) => {
            by_name || embedded || matches!(subtype.as_str(), "x-patch" | "x-diff" | "mbox")
        }
        _ => false,
    };
    if !is_text {
        return Ok(None);
    }
    let (bytes, moved) = bytes(part, mail)?;
    let attribute = |name: &str| kind.and_then(|kind| kind.attribute(name)).unwrap_or_default();
    let flowed =
        attribute("format").eq_ignore_ascii_case("flowed").then(|| attribute("delsp").eq_ignore_ascii_case("yes"));
    let above = mail.get(..part.offset_body as usize).unwrap_or_default();
    let line = (!moved && flowed.is_none()).then(|| lines(above).count());
    Ok(Some(Text { bytes, line, flowed, attached: embedded || !name.is_empty() }))
}

/// The bytes of a part as its author had them, in UTF-8 if the mail says in what else they came;
/// and whether its lines are no longer those of the mail.
fn bytes(part: &MessagePart<'_>, mail: &[u8]) -> Result<(Vec<u8>, bool), Failure> {
    let raw = mail.get(part.offset_body as usize..part.offset_end as usize).unwrap_or_default();
    let encoding = part.content_transfer_encoding().unwrap_or_default().to_ascii_lowercase();
    let spoilt = || broken(format!("the mail is {encoding}, but not rightly so")).hint("save the mail's raw source");
    let decoded = match (encoding.as_str(), &part.encoding) {
        ("base64", Encoding::None) => {
            base64_decode(only_base64(raw)).filter(|bytes| !bytes.is_empty()).ok_or_else(spoilt)?
        }
        ("base64", _) => base64_decode(raw).ok_or_else(spoilt)?,
        ("quoted-printable", Encoding::None) => return Err(spoilt()),
        // The lenient way of the library, if its strict one does not do
        ("quoted-printable", _) => quoted_printable_decode(raw).unwrap_or_else(|| part.contents().to_vec()),
        _ => raw.to_vec(),
    };
    let moved = matches!(encoding.as_str(), "base64" | "quoted-printable");
    let charset = part.content_type().and_then(|kind| kind.attribute("charset")).unwrap_or_default();
    // Programs call UTF-8 many things, and ASCII too
    let is_utf8 = ["", "utf-8", "utf8", "us-ascii", "ascii"].iter().any(|name| charset.eq_ignore_ascii_case(name));
    Ok(match charset_decoder(charset.as_bytes()) {
        Some(decode) if !is_utf8 && !charset.is_empty() => (decode(&decoded).into_bytes(), moved),
        _ => (decoded, moved),
    })
}

/// The lines of base64 without the footer that some lists put below them.
fn only_base64(raw: &[u8]) -> &[u8] {
    let is = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\r\n\t ".contains(byte);
    let length = lines(raw).take_while(|line| line.iter().all(is) && !line.trim_ascii().is_empty()).map(<[u8]>::len);
    &raw[..length.sum()]
}
