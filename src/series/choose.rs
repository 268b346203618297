//! Which of the postings is meant.

use std::collections::{BTreeMap, HashMap};

use super::posting::Posting;
use super::subject::Version;
use crate::blame::Failure;
use crate::source::Mail;

/// Choices that an error lists; the rest is counted.
const LISTED: usize = 8;

/// What was chosen.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// The mails of the patches, in their order.
    pub mails: Vec<usize>,
    /// The cover letter.
    pub cover: Option<usize>,
    /// What to tell of the choice, if there was one.
    pub notice: Option<String>,
}

/// What is asked for beside the place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wish<'a> {
    /// The version.
    pub version: Option<Version>,
    /// The Message-ID of a mail of it, or of one in its thread.
    pub message_id: Option<&'a str>,
}

/// Chooses the newest whole version of the only series there is.
///
/// # Errors
///
/// There is more than one series, or it is not clear which version is the newest, or some patches of
/// it are missing. The failure lists the choices, or what is missing.
pub(super) fn choose(postings: &[Posting], mails: &[Mail], wish: Wish<'_>) -> Result<Chosen, Failure> {
    let mut several = series(postings, mails);
    if let Some(id) = wish.message_id.filter(|_| several.len() > 1) {
        let holds = |one: &Vec<&Posting>| {
            one.iter().any(|posting| posting.mails().any(|mail| mails[mail].message_id.as_deref() == Some(id)))
        };
        if let Some(asked) = several.iter().position(holds) {
            several = vec![several.swap_remove(asked)];
        }
    }
    let [versions] = &several[..] else { return Err(several_series(&several, mails)) };
    match wish.version {
        Some(version) => of_version(versions, version, mails),
        None => newest(versions, mails),
    }
}

/// The postings that are versions of one series each, the oldest version first. They share a title,
/// or one answers the other and comes from the same hand.
fn series<'a>(postings: &'a [Posting], mails: &[Mail]) -> Vec<Vec<&'a Posting>> {
    let mut of: Vec<usize> = (0..postings.len()).collect();
    let mut by_title: HashMap<String, usize> = HashMap::new();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (at, posting) in postings.iter().enumerate() {
        for mail in posting.mails().map(|mail| &mails[mail]) {
            let first = *by_title.entry(mail.title().to_lowercase()).or_insert(at);
            join(&mut of, first, at);
            by_id.extend(mail.message_id.as_deref().map(|id| (id, at)));
        }
    }
    for (at, posting) in postings.iter().enumerate() {
        for id in posting.mails().flat_map(|mail| &mails[mail].parents) {
            let answered =
                by_id.get(id.as_str()).filter(|&&other| postings[other].author(mails) == posting.author(mails));
            answered.inspect(|&&other| join(&mut of, other, at));
        }
    }
    let mut found: BTreeMap<usize, Vec<&Posting>> = BTreeMap::new();
    for (at, posting) in postings.iter().enumerate() {
        found.entry(top(&of, at)).or_default().push(posting);
    }
    found.values_mut().for_each(|versions| versions.sort_by_key(|posting| posting.rank()));
    found.into_values().collect()
}

/// The first of those that were joined.
fn top(of: &[usize], mut at: usize) -> usize {
    while of[at] != at {
        at = of[at];
    }
    at
}

fn join(of: &mut [usize], one: usize, other: usize) {
    let (one, other) = (top(of, one), top(of, other));
    of[one.max(other)] = one.min(other);
}

fn newest(versions: &[&Posting], mails: &[Mail]) -> Result<Chosen, Failure> {
    let Some((last, older)) = versions.split_last() else {
        return Err(Failure::usage("there is no patch in it"));
    };
    let named = |posting: &Posting| name(posting);
    if let Some(same) = older.iter().find(|posting| posting.rank() == last.rank()) {
        let what = format!("{} was sent twice, and it is not clear which is meant", named(same));
        return Err(ambiguous(what, versions, mails, "keep one of them in the file"));
    }
    if let Some(later) = older.iter().find(|older| older.date(mails) > last.date(mails) && last.date(mails).is_some()) {
        let what = format!("{} was sent after {}: it is not clear which is meant", named(later), named(last));
        return Err(ambiguous(what, versions, mails, CHOOSE));
    }
    let missing = last.missing();
    if !missing.is_empty() && older.iter().any(|posting| posting.missing().is_empty()) {
        let what = format!("of {} there is only {}, and an older version is whole", named(last), numbers(last));
        return Err(ambiguous(what, versions, mails, CHOOSE));
    }
    let notice = (!older.is_empty()).then(|| {
        let older: Vec<_> = older.iter().map(|posting| named(posting)).collect();
        format!("{} is taken, the newest of `{}`; {} older", named(last), last.title(mails), are(&older))
    });
    whole(last, mails, notice)
}

const CHOOSE: &str = "put @ and the version behind the name, such as `--patch FILE@v2`";

/// The version that is asked for; what it lacks comes from the newest older version that is whole.
fn of_version(versions: &[&Posting], version: Version, mails: &[Mail]) -> Result<Chosen, Failure> {
    let Some(at) = versions.iter().rposition(|posting| posting.rank().0 == version) else {
        let what = format!("there is no {version} of `{}` in it", versions[0].title(mails));
        return Err(ambiguous(what, versions, mails, CHOOSE));
    };
    let posting = versions[at];
    let older = versions[..at].iter().rev().find(|older| older.missing().is_empty() && older.total == posting.total);
    match older {
        Some(older) if !posting.missing().is_empty() => {
            let mut mixed = (*posting).clone();
            for (number, mails) in &older.numbered {
                mixed.numbered.entry(*number).or_insert_with(|| mails.clone());
            }
            let notice = format!("{} of {} is taken, and the rest of {}", numbers(posting), name(posting), name(older));
            whole(&mixed, mails, Some(notice))
        }
        _ => whole(posting, mails, Some(format!("{} is taken, as asked for", name(posting)))),
    }
}

fn whole(posting: &Posting, mails: &[Mail], notice: Option<String>) -> Result<Chosen, Failure> {
    let total = posting.total;
    if let Some(number) = posting.twice() {
        let claims = posting.numbered[&number].iter().map(|&mail| mails[mail].subject.clone());
        return Err(Failure::usage(format!("more than one mail is {number}/{total} of {}", name(posting)))
            .excerpt(claims.take(LISTED))
            .hint("keep one of them in the file"));
    }
    let missing: Vec<String> = posting.missing().iter().map(|number| format!("{number}/{total}")).collect();
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        let what = format!("the series is not whole: {} {verb} missing", listed(&missing));
        return Err(Failure::usage(what)
            .excerpt([format!("{}: {}", posting.title(mails), numbers(posting))])
            .hint("give all its mails in one file or folder, or the MESSAGE-ID of one of them"));
    }
    let order = posting.numbered.values().flatten().copied().collect();
    Ok(Chosen { mails: order, cover: posting.cover, notice })
}

fn name(posting: &Posting) -> String {
    let (version, resend) = posting.rank();
    format!("{version}{}", if resend { " (sent again)" } else { "" })
}

/// The numbers that are there, such as `2/4`.
fn numbers(posting: &Posting) -> String {
    let found: Vec<String> = posting.numbered.keys().map(|number| format!("{number}/{}", posting.total)).collect();
    listed(&found)
}

fn listed(words: &[String]) -> String {
    match words.len() {
        0..=LISTED => words.join(", "),
        more => format!("{} and {} more", words[..LISTED].join(", "), more - LISTED),
    }
}

fn are(names: &[String]) -> String {
    format!("{} {}", listed(names), if names.len() == 1 { "is" } else { "are" })
}

fn ambiguous(what: String, choices: &[&Posting], mails: &[Mail], way: &str) -> Failure {
    Failure::usage(what).excerpt(lines(choices, mails)).hint(way)
}

fn several_series(series: &[Vec<&Posting>], mails: &[Mail]) -> Failure {
    let newest: Vec<&Posting> = series.iter().filter_map(|versions| versions.last().copied()).collect();
    if newest.is_empty() {
        return Failure::usage("there is no patch in it");
    }
    let what = format!("there are {} different patches in it: it is not clear which is meant", newest.len());
    ambiguous(what, &newest, mails, "give a file with the mails of one of them, or its MESSAGE-ID")
}

/// A line for each choice: version, patches, day, title.
fn lines(choices: &[&Posting], mails: &[Mail]) -> Vec<String> {
    let line = |posting: &&Posting| {
        let day = posting.date(mails).and_then(|date| jiff::Timestamp::from_second(date).ok());
        let day = day.map(|day| day.strftime(" %Y-%m-%d").to_string()).unwrap_or_default();
        format!("{}{day}: {}, {}", name(posting), posting.title(mails), numbers(posting))
    };
    let mut lines: Vec<String> = choices.iter().take(LISTED).map(line).collect();
    if choices.len() > LISTED {
        lines.push(format!("and {} more", choices.len() - LISTED));
    }
    lines
}
