//! Plain lines, for logs: each piece of work that takes a while is named when it has begun and when
//! it has ended, and one line now and then shows that the rest is alive.

use std::time::{Duration, Instant};

use super::words;
use crate::event::{Event, Stage};

/// Work that ends sooner than this gets one line, not two.
const ANNOUNCED_AFTER: Duration = Duration::from_secs(2);
/// The shortest time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(30);

/// A piece of work under way.
struct Running {
    stage: Stage,
    subject: String,
    total: Option<u64>,
    done: u64,
    detail: String,
    since: Instant,
    announced: bool,
}

impl Running {
    /// Where it stands, such as `build x86_64 base: 120 of 800, fs/namei.o, 1 min 30 s`.
    fn standing(&self, now: Instant) -> String {
        let mut parts = Vec::new();
        match self.total {
            // A total is that of another time, and may be wrong for this one
            Some(total) if self.done <= total => parts.push(format!("{} of {total}", self.done)),
            _ if self.done > 0 => parts.push(self.done.to_string()),
            _ => {}
        }
        if !self.detail.is_empty() {
            parts.push(self.detail.clone());
        }
        parts.push(words::duration(now.duration_since(self.since).as_secs_f64()));
        format!("{}: {}", words::work(self.stage, &self.subject), parts.join(", "))
    }
}

/// Turns events and the passing of time into lines. It is handed the time, and prints nothing.
pub(super) struct Lines {
    running: Vec<Running>,
    spoke: Instant,
}

impl Lines {
    pub(super) fn new(now: Instant) -> Self {
        Lines { running: Vec::new(), spoke: now }
    }

    /// The lines that an event gives.
    pub(super) fn take(&mut self, event: &Event, now: Instant) -> Vec<String> {
        let lines = self.said_of(event, now);
        if !lines.is_empty() {
            self.spoke = now;
        }
        lines
    }

    fn said_of(&mut self, event: &Event, now: Instant) -> Vec<String> {
        match event {
            Event::Started { stage, subject, total } => {
                self.running.push(Running {
                    stage: *stage,
                    subject: subject.clone(),
                    total: *total,
                    done: 0,
                    detail: String::new(),
                    since: now,
                    announced: false,
                });
                Vec::new()
            }
            Event::Advanced { stage, subject, done, detail } => {
                if let Some(work) = self.find(*stage, subject) {
                    (work.done, work.detail) = (*done, detail.clone());
                }
                Vec::new()
            }
            Event::Finished { stage, subject, ending, seconds } => {
                self.running.retain(|work| work.stage != *stage || work.subject != *subject);
                vec![words::ended(*stage, subject, *ending, *seconds)]
            }
            Event::Noticed { message, hint, .. } => vec![words::notice(message, hint.as_deref())],
        }
    }

    /// The lines that the passing of time gives; called about once a second.
    pub(super) fn tick(&mut self, now: Instant) -> Vec<String> {
        let mut lines = Vec::new();
        for work in &mut self.running {
            if !work.announced && now.duration_since(work.since) >= ANNOUNCED_AFTER {
                work.announced = true;
                lines.push(format!("{} ...", words::work(work.stage, &work.subject)));
            }
        }
        if !lines.is_empty() {
            self.spoke = now;
        } else if !self.running.is_empty() && now.duration_since(self.spoke) >= PROGRESS_EVERY {
            self.spoke = now;
            lines.push(self.running.iter().map(|work| work.standing(now)).collect::<Vec<_>>().join("; "));
        }
        lines
    }

    fn find(&mut self, stage: Stage, subject: &str) -> Option<&mut Running> {
        self.running.iter_mut().find(|work| work.stage == stage && work.subject == subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Ending;

    /// What is printed over some minutes: events at their seconds, ticks in between.
    fn log(events: &[(u64, Event)], until: u64) -> String {
        let start = Instant::now();
        let mut lines = Lines::new(start);
        let mut printed = Vec::new();
        for second in 0..=until {
            let now = start + Duration::from_secs(second);
            for (_, event) in events.iter().filter(|(at, _)| *at == second) {
                printed.extend(lines.take(event, now));
            }
            printed.extend(lines.tick(now));
        }
        printed.join("\n")
    }

    fn started(subject: &str, total: Option<u64>) -> Event {
        Event::Started { stage: Stage::Build, subject: subject.to_owned(), total }
    }

    fn advanced(subject: &str, done: u64) -> Event {
        Event::Advanced { stage: Stage::Build, subject: subject.to_owned(), done, detail: "fs/namei.o".to_owned() }
    }

    fn finished(subject: &str, ending: Ending, seconds: f64) -> Event {
        Event::Finished { stage: Stage::Build, subject: subject.to_owned(), ending, seconds }
    }

    #[test]
    fn a_log_stays_short_and_alive() {
        let mut events = vec![(0, started("x86_64 base", Some(800))), (10, started("arm64 base", None))];
        events.extend((1..70).map(|second| (second, advanced("x86_64 base", second * 10))));
        events.push((70, finished("x86_64 base", Ending::Done, 70.0)));
        events.push((75, finished("arm64 base", Ending::Broken, 65.0)));
        insta::assert_snapshot!(log(&events, 200), @r"
        build x86_64 base ...
        build arm64 base ...
        build x86_64 base: 420 of 800, fs/namei.o, 42 s; build arm64 base: 32 s
        build x86_64 base: done in 1 min 10 s
        build arm64 base: failed after 1 min 05 s
        ");
    }

    #[test]
    fn work_that_takes_no_time_gets_one_line() {
        let events = [(0, started("x86_64 base", None)), (0, finished("x86_64 base", Ending::Reused, 0.1))];
        assert_eq!(log(&events, 60), "build x86_64 base: reused");
    }

    #[test]
    fn a_notice_comes_with_its_hint() {
        let event = Event::Noticed {
            stage: Stage::Tree,
            message: "the mail is older than the tree".to_owned(),
            hint: Some("take a newer one".to_owned()),
        };
        assert_eq!(log(&[(3, event)], 5), "note: the mail is older than the tree\nhint: take a newer one");
    }
}
