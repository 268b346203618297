//! What every stage is handed beside its own input: the cache, a folder for logs, and a place to
//! send facts to.

use camino::{Utf8Path, Utf8PathBuf};

use crate::event::{Ending, Event, Stage};
use crate::store::Cache;

/// The surroundings of one piece of work.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// Where trees, images and objects are kept between runs.
    pub cache: &'a Cache,
    /// The folder that takes the logs of child processes.
    pub logs: &'a Utf8Path,
    /// Takes the facts.
    pub emit: &'a (dyn Fn(Event) + Sync),
}

impl Job<'_> {
    /// The path of a log named after what is being done; anything but letters, digits, `.`, `_`
    /// and `-` becomes `-`.
    pub fn log(&self, name: &str) -> Utf8PathBuf {
        let safe = |c: char| {
            if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' }
        };
        self.logs.join(name.chars().map(safe).collect::<String>() + ".log")
    }

    /// Tells the user something that stops nothing.
    pub fn notice(&self, stage: Stage, message: impl Into<String>, hint: Option<&str>) {
        (self.emit)(Event::Noticed { stage, message: message.into(), hint: hint.map(Into::into) });
    }

    /// Begins a piece of work; [`Task::end`] ends it.
    pub fn begin(&self, stage: Stage, subject: impl Into<String>, total: Option<u64>) -> Task<'_> {
        let subject = subject.into();
        (self.emit)(Event::Started { stage, subject: subject.clone(), total });
        Task { emit: self.emit, stage, subject, since: std::time::Instant::now(), ending: Ending::Broken }
    }
}

/// A piece of work under way. Dropped without [`Task::end`], it is reported as broken.
pub struct Task<'a> {
    emit: &'a (dyn Fn(Event) + Sync),
    stage: Stage,
    subject: String,
    since: std::time::Instant,
    ending: Ending,
}

impl Task<'_> {
    /// Tells how far the work is.
    pub fn advance(&self, done: u64, detail: impl Into<String>) {
        (self.emit)(Event::Advanced { stage: self.stage, subject: self.subject.clone(), done, detail: detail.into() });
    }

    /// Ends the work; gives its wall time in seconds.
    pub fn end(mut self, ending: Ending) -> f64 {
        self.ending = ending;
        self.since.elapsed().as_secs_f64()
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        (self.emit)(Event::Finished {
            stage: self.stage,
            subject: std::mem::take(&mut self.subject),
            ending: self.ending,
            seconds: self.since.elapsed().as_secs_f64(),
        });
    }
}
