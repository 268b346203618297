//! Mails that were sent together: one version of one series.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::subject::{Tags, Version};
use crate::source::Mail;

/// One version of one series, as far as its mails are there. Mails are named by their index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Posting {
    /// Its version, if the subjects name one.
    pub version: Option<Version>,
    /// Whether it was sent once more as it was.
    pub resend: bool,
    /// How many patches it has.
    pub total: u32,
    /// The mails that claim a number. More than one is more than can be.
    pub numbered: BTreeMap<u32, Vec<usize>>,
    /// The cover letter.
    pub cover: Option<usize>,
    /// The mail that all others hang on, or would if it were there.
    root: String,
}

/// What mails that were sent together have in common, beside what they answer.
type Key = (Option<Version>, bool, Option<u32>, String);

impl Posting {
    /// The version, the first if none is named.
    pub(super) fn rank(&self) -> (Version, bool) {
        (self.version.unwrap_or(Version::FIRST), self.resend)
    }

    /// The numbers that no mail claims.
    pub(super) fn missing(&self) -> Vec<u32> {
        (1..=self.total).filter(|number| !self.numbered.contains_key(number)).collect()
    }

    /// The numbers that more than one mail claims.
    pub(super) fn twice(&self) -> Option<u32> {
        self.numbered.iter().find(|(_, mails)| mails.len() > 1).map(|(number, _)| *number)
    }

    /// All mails, the cover letter first.
    pub(super) fn mails(&self) -> impl Iterator<Item = usize> {
        self.cover.into_iter().chain(self.numbered.values().flatten().copied())
    }

    /// When the first of its mails was sent.
    pub(super) fn date(&self, mails: &[Mail]) -> Option<i64> {
        self.mails().filter_map(|mail| mails[mail].date).min()
    }

    /// The title of the whole: the cover letter's, or the first patch's.
    pub(super) fn title<'a>(&self, mails: &'a [Mail]) -> &'a str {
        self.mails().next().map(|mail| mails[mail].title()).unwrap_or_default()
    }
}

/// Groups mails by what was sent together.
pub(super) fn postings(mails: &[Mail]) -> Vec<Posting> {
    let tags: Vec<Tags> = mails.iter().map(|mail| Tags::of(&mail.subject)).collect();
    let by_id: HashMap<&str, usize> =
        mails.iter().enumerate().filter_map(|(index, mail)| Some((mail.message_id.as_deref()?, index))).collect();
    let any_original = (0..mails.len()).any(|index| mails[index].has_diff() && !tags[index].reply);
    let is_part = |&index: &usize| {
        let cover = tags[index].number.is_some_and(|(number, _)| number == 0);
        if any_original { !tags[index].reply && (mails[index].has_diff() || cover) } else { mails[index].has_diff() }
    };
    let key = |index: usize| -> Key {
        let Tags { number, version, resend, .. } = tags[index];
        // Patches without a number stand each for itself
        let title = if number.is_none() { mails[index].title().to_owned() } else { String::new() };
        (version, resend, number.map(|(_, total)| total), title)
    };
    let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    (0..mails.len()).filter(is_part).for_each(|index| groups.entry(key(index)).or_default().push(index));
    groups.into_values().flat_map(|group| split(&group, mails, &tags, &by_id)).collect()
}

/// The postings in a group of mails with the same version and total.
fn split(group: &[usize], mails: &[Mail], tags: &[Tags], by_id: &HashMap<&str, usize>) -> Vec<Posting> {
    let mut postings: Vec<Posting> = Vec::new();
    let mut by_root: HashMap<String, usize> = HashMap::new();
    let thread = Thread::of(group, mails, by_id);
    for &index in group {
        let root = thread.root(index, mails, &tags[index]);
        let Tags { number, version, resend, .. } = tags[index];
        let (number, total) = number.unwrap_or((1, 1));
        let at = *by_root.entry(root.clone()).or_insert(postings.len());
        if at == postings.len() {
            postings.push(Posting { version, resend, total, numbered: BTreeMap::new(), cover: None, root });
        }
        match number {
            0 => postings[at].cover = postings[at].cover.or(Some(index)),
            _ => postings[at].numbered.entry(number).or_default().push(index),
        }
    }
    postings.iter_mut().for_each(|posting| posting.drop_copies(mails));
    adopt(postings, mails)
}

impl Posting {
    /// A mail may have come by two lists, or lie in two folders.
    fn drop_copies(&mut self, mails: &[Mail]) {
        for copies in self.numbered.values_mut() {
            if copies.len() == 1 {
                continue;
            }
            let first = &mails[copies[0]];
            let diff = first.diff().ok();
            let same = |copy: &Mail| {
                let id = copy.message_id.is_some() && copy.message_id == first.message_id;
                let title = copy.title() == first.title();
                id || title && diff.as_ref().is_some_and(|diff| copy.diff().is_ok_and(|other| *diff == other))
            };
            let mut at = 0;
            copies.retain(|&copy| {
                at += 1;
                at == 1 || !same(&mails[copy])
            });
        }
    }

    /// The address of its author.
    pub(super) fn author<'a>(&self, mails: &'a [Mail]) -> Option<&'a str> {
        self.mails().find_map(|mail| mails[mail].author.as_ref()?.email.as_deref())
    }
}

/// Puts mails that answer nothing to the only ones that they can belong to: not everybody sends a
/// series as a thread.
fn adopt(postings: Vec<Posting>, mails: &[Mail]) -> Vec<Posting> {
    let (loose, mut threads): (Vec<Posting>, Vec<Posting>) =
        postings.into_iter().partition(|posting| posting.root.is_empty());
    for posting in loose {
        let fits = |thread: &Posting| {
            thread.numbered.keys().all(|number| !posting.numbered.contains_key(number))
                && thread.author(mails) == posting.author(mails)
        };
        match &mut threads[..] {
            [only] if fits(only) => {
                only.numbered.extend(posting.numbered);
                only.cover = only.cover.or(posting.cover);
            }
            _ => threads.push(posting),
        }
    }
    threads
}

/// What the mails of a group answer.
struct Thread<'a> {
    group: HashSet<usize>,
    by_id: &'a HashMap<&'a str, usize>,
    /// How many mails of the group answer a mail first of all.
    answers: HashMap<&'a str, usize>,
}

impl<'a> Thread<'a> {
    fn of(group: &[usize], mails: &'a [Mail], by_id: &'a HashMap<&'a str, usize>) -> Self {
        let mut answers = HashMap::new();
        for id in group.iter().filter_map(|&mail| mails[mail].parents.first()) {
            *answers.entry(id.as_str()).or_insert(0) += 1;
        }
        Thread { group: group.iter().copied().collect(), by_id, answers }
    }

    /// The Message-ID of the mail that a mail's posting hangs on; empty if it hangs on none.
    fn root(&self, mail: usize, mails: &[Mail], tags: &Tags) -> String {
        let (mut at, mut first) = (mail, tags.number.is_none_or(|(number, _)| number <= 1));
        // No chain of answers is longer, unless it is a ring
        for _ in 0..1000 {
            match mails[at].parents.first().and_then(|id| self.by_id.get(id.as_str())) {
                Some(parent) if self.group.contains(parent) && *parent != at => (at, first) = (*parent, true),
                _ => break,
            }
        }
        let parent = mails[at].parents.first();
        let answers = |id: &String| self.answers.get(id.as_str()).copied().unwrap_or(0);
        let shared = parent.is_some_and(|id| answers(id) > 1);
        let own = mails[at].message_id.as_ref().filter(|id| first && !shared && answers(id) > 0);
        own.or(parent).cloned().unwrap_or_default()
    }
}
