//! Progress on standard error, for what takes longer than a second.
//!
//! Commands say which phase they are in by holding a [`Phase`]. A line shows it on a terminal, and is gone when the
//! phase ends. Before a second has passed since the first phase began, there is none. The line has no colours.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long nothing is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line is drawn.
const TURN: Duration = Duration::from_millis(100);

/// What all phases share.
static LINE: Mutex<Line> = Mutex::new(Line { forbidden: false, begun: None, phases: Vec::new(), bar: None });

/// The line on standard error.
struct Line {
    forbidden: bool,
    /// When the first phase began.
    begun: Option<Instant>,
    /// The phases that are under way, inner ones last.
    phases: Vec<Under>,
    /// The line, if it is shown.
    bar: Option<ProgressBar>,
}

/// A phase under way.
struct Under {
    what: String,
    done: u64,
    /// How much there is to do, if that is known.
    all: Option<u64>,
}

impl Line {
    /// What there is to show at a moment, if anything.
    fn message(&self, now: Instant) -> Option<String> {
        let phase = self.phases.last()?;
        if now.duration_since(self.begun?) < PATIENCE {
            return None;
        }
        Some(match (phase.all, phase.done) {
            (Some(all), done) => format!("{}: {done} of {all}", phase.what),
            (None, 0) => phase.what.clone(),
            (None, done) => format!("{}: {done}", phase.what),
        })
    }

    /// Draws the line, if it is time.
    fn draw(&mut self) {
        let Some(message) = self.message(Instant::now()) else { return };
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is sound");
            bar.with_style(style.tick_chars("|/-\\ "))
        });
        bar.set_message(cotree_report::visible::name(&message).into_owned());
        bar.tick();
    }

    /// Removes the line.
    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows no progress from now on.
pub fn forbid() {
    line().forbidden = true;
}

/// A part of a command's work, until this is dropped.
#[must_use]
pub struct Phase {
    shown: bool,
}

/// Begins a phase. `what` says what is done, as in "reading profiles".
pub fn phase(what: &str) -> Phase {
    begin(what, None)
}

/// Begins a phase of which it is known how much there is to do.
pub fn phase_of(what: &str, all: usize) -> Phase {
    begin(what, Some(all as u64))
}

fn begin(what: &str, all: Option<u64>) -> Phase {
    let dumb = std::env::var_os("TERM").is_none_or(|terminal| terminal == "dumb");
    let mut line = line();
    if line.forbidden || dumb || !io::stderr().is_terminal() {
        return Phase { shown: false };
    }
    if line.begun.is_none() {
        line.begun = Some(Instant::now());
        // Without it there is no progress to be seen, and nothing else is amiss.
        let _ = thread::Builder::new().name("progress".into()).spawn(|| {
            loop {
                thread::sleep(TURN);
                self::line().draw();
            }
        });
    }
    line.phases.push(Under { what: what.to_owned(), done: 0, all });
    Phase { shown: true }
}

impl Phase {
    /// Says that one more of what there is to do is done.
    pub fn step(&self) {
        if self.shown
            && let Some(phase) = line().phases.last_mut()
        {
            phase.done += 1;
        }
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        if self.shown {
            let mut line = line();
            line.phases.pop();
            line.clear();
        }
    }
}

/// Writes on a terminal, where the line stands aside.
pub fn aside<T>(write: impl FnOnce() -> T) -> T {
    let mut line = line();
    line.clear();
    write()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_phase_is_shown_after_a_second() {
        let begun = Instant::now();
        let under = |what: &str, done, all| Under { what: what.to_owned(), done, all };
        let mut line = Line { forbidden: false, begun: Some(begun), phases: Vec::new(), bar: None };
        let late = begun + PATIENCE;
        assert_eq!(line.message(late), None);
        line.phases.push(under("reading", 0, None));
        assert_eq!(line.message(begun + PATIENCE / 2), None);
        assert_eq!(line.message(late).as_deref(), Some("reading"));
        line.phases.push(under("reading profiles", 3, Some(8)));
        assert_eq!(line.message(late).as_deref(), Some("reading profiles: 3 of 8"));
        line.phases.push(under("writing pages", 7, None));
        assert_eq!(line.message(late).as_deref(), Some("writing pages: 7"));
    }
}
