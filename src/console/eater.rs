//! Takes events from any thread, shows them in the chosen style, and adds up where the time went.

use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::bars::Bars;
use super::lines::Lines;
use super::words;
use crate::event::{Event, StageTimes};

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Bars that move; only for a terminal.
    Bars {
        /// Whether the names of the work are coloured.
        color: bool,
    },
    /// A plain line for each piece of work, and one every half minute.
    Lines,
    /// Every event as one line of JSON, with the time it came.
    Json,
    /// Notices only.
    Notices,
    /// Nothing.
    Quiet,
}

/// The one consumer of events.
pub struct Console {
    screen: Arc<Mutex<Screen>>,
    times: Mutex<StageTimes>,
    clockwork: Option<Clockwork>,
}

impl Console {
    /// A console of a style, on standard error.
    pub fn new(style: Style) -> Self {
        let screen = Arc::new(Mutex::new(Screen::new(style)));
        let clockwork = (style == Style::Lines).then(|| Clockwork::start(Arc::clone(&screen)));
        Console { screen, times: Mutex::default(), clockwork }
    }

    /// Takes one event. This is what `Job::emit` calls, from any thread.
    pub fn emit(&self, event: Event) {
        held(&self.times).add(&event);
        held(&self.screen).take(&event);
    }

    /// Where the time went so far, by the work that has ended.
    pub fn times(&self) -> StageTimes {
        held(&self.times).clone()
    }

    /// Wipes the bars, before anything else is printed. Later events may bring new ones.
    pub fn clear(&self) {
        if let Screen::Bars(bars) = &mut *held(&self.screen) {
            bars.clear();
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.clear();
        if let Some(clockwork) = self.clockwork.take() {
            clockwork.stop();
        }
    }
}

/// A thread that panicked while it held the screen must not silence the others.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

enum Screen {
    Bars(Bars),
    Lines(Lines),
    Json,
    Notices,
    Quiet,
}

impl Screen {
    fn new(style: Style) -> Self {
        match style {
            Style::Bars { color } => Screen::Bars(Bars::new(color)),
            Style::Lines => Screen::Lines(Lines::new(Instant::now())),
            Style::Json => Screen::Json,
            Style::Notices => Screen::Notices,
            Style::Quiet => Screen::Quiet,
        }
    }

    fn take(&mut self, event: &Event) {
        match (self, event) {
            (Screen::Bars(bars), _) => bars.take(event),
            (Screen::Lines(lines), _) => print(&lines.take(event, Instant::now())),
            (Screen::Json, _) => print(&[json_line(event)]),
            (Screen::Notices, Event::Noticed { message, hint, .. }) => {
                print(&[words::notice(message, hint.as_deref())]);
            }
            (Screen::Notices | Screen::Quiet, _) => {}
        }
    }

    fn tick(&mut self) {
        if let Screen::Lines(lines) = self {
            print(&lines.tick(Instant::now()));
        }
    }
}

fn json_line(event: &Event) -> String {
    #[derive(Serialize)]
    struct Stamped<'a> {
        time: jiff::Timestamp,
        #[serde(flatten)]
        event: &'a Event,
    }
    let time = jiff::Timestamp::now();
    // Events hold strings and finite numbers, which always become JSON
    serde_json::to_string(&Stamped { time, event }).unwrap_or_default()
}

fn print(lines: &[String]) {
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
        // Nobody reads standard error any more: the work goes on all the same
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

/// Lets time pass on a screen, about once a second.
struct Clockwork {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Clockwork {
    fn start(screen: Arc<Mutex<Screen>>) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                held(&screen).tick();
            }
        });
        Clockwork { stop, thread }
    }

    fn stop(self) {
        drop(self.stop);
        // Its panic, if any, was printed when it happened
        let _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Ending, Stage};

    #[test]
    fn times_are_kept_in_every_style_and_from_every_thread() {
        let console = Console::new(Style::Quiet);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let subject = "x86_64".to_owned();
                    console.emit(Event::Finished { stage: Stage::Boot, subject, ending: Ending::Done, seconds: 0.25 });
                });
            }
        });
        let times = console.times();
        assert_eq!((times.0[&Stage::Boot].done, times.0[&Stage::Boot].seconds), (4, 1.0));
    }

    #[test]
    fn a_json_line_is_one_line_with_event_and_time() {
        let line = json_line(&Event::Noticed { stage: Stage::Tree, message: "a\nb".to_owned(), hint: None });
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert!(!line.contains('\n') && value["time"].is_string());
        assert_eq!((&value["event"], &value["stage"]), (&"noticed".into(), &"tree".into()));
    }
}
