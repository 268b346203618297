//! Progress bars, for a terminal: one line for each piece of work under way, and above them what
//! stays: finished work and notices.

use std::collections::HashMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::words;
use crate::event::{Ending, Event, Stage};

/// How often the elapsed times move on.
const TICK: Duration = Duration::from_millis(200);

pub(super) struct Bars {
    all: MultiProgress,
    running: HashMap<(Stage, String), ProgressBar>,
    color: bool,
}

impl Bars {
    pub(super) fn new(color: bool) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
        Bars { all, running: HashMap::new(), color }
    }

    pub(super) fn take(&mut self, event: &Event) {
        match event {
            Event::Started { stage, subject, total } => self.start(*stage, subject, *total),
            Event::Advanced { stage, subject, done, detail } => {
                if let Some(bar) = self.running.get(&(*stage, subject.clone())) {
                    bar.set_position(*done);
                    bar.set_message(detail.clone());
                }
            }
            Event::Finished { stage, subject, ending, seconds } => self.finish(*stage, subject, *ending, *seconds),
            Event::Noticed { message, hint, .. } => self.print(&words::notice(message, hint.as_deref())),
        }
    }

    /// Wipes all bars, for something else to be printed.
    pub(super) fn clear(&mut self) {
        for (_, bar) in self.running.drain() {
            bar.finish_and_clear();
        }
        // A terminal that went away needs no wiping
        let _ = self.all.clear();
    }

    fn start(&mut self, stage: Stage, subject: &str, total: Option<u64>) {
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::new_spinner(),
        };
        let bar = self.all.add(bar).with_style(style(total.is_some(), self.color));
        bar.set_prefix(words::work(stage, subject));
        bar.enable_steady_tick(TICK);
        self.running.insert((stage, subject.to_owned()), bar);
    }

    fn finish(&mut self, stage: Stage, subject: &str, ending: Ending, seconds: f64) {
        if let Some(bar) = self.running.remove(&(stage, subject.to_owned())) {
            bar.finish_and_clear();
            self.all.remove(&bar);
        }
        // Boots are many and short: only a failed one is worth a line that stays
        if stage != Stage::Boot || ending == Ending::Broken {
            self.print(&words::ended(stage, subject, ending, seconds));
        }
    }

    fn print(&self, text: &str) {
        // A terminal that went away stops nothing
        let _ = self.all.println(text);
    }
}

fn style(bar: bool, color: bool) -> ProgressStyle {
    let (on, off) = if color { ("\x1b[36m", "\x1b[0m") } else { ("", "") };
    let template = if bar {
        format!("{on}{{prefix:32!}}{off} {{elapsed:>4}} [{{bar:24}}] {{pos}}/{{len}} {{wide_msg}}")
    } else {
        format!("{on}{{prefix:32!}}{off} {{elapsed:>4}} {{spinner}} {{wide_msg}}")
    };
    // The two templates above are constant but for the colour
    ProgressStyle::with_template(&template).expect("a constant template is well formed").progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_well_formed() {
        for (bar, color) in [(true, true), (true, false), (false, true), (false, false)] {
            style(bar, color);
        }
    }

    #[test]
    fn events_of_unknown_work_change_nothing() {
        let mut bars = Bars::new(false);
        let subject = "x86_64 base".to_owned();
        bars.take(&Event::Advanced { stage: Stage::Build, subject: subject.clone(), done: 3, detail: String::new() });
        bars.take(&Event::Finished { stage: Stage::Boot, subject, ending: Ending::Done, seconds: 1.0 });
        assert!(bars.running.is_empty());
    }
}
