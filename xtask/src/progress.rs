//! Which cases are under way, in a line on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// How often the line is drawn.
const TURN: Duration = Duration::from_millis(250);

/// The line, if standard error is a terminal.
pub struct Progress {
    bar: ProgressBar,
    running: Vec<String>,
}

impl Progress {
    /// A line for so many cases.
    pub fn new(cases: usize) -> Progress {
        let bar = ProgressBar::new(cases as u64);
        let style = ProgressStyle::with_template("{pos} of {len}, {elapsed}: {wide_msg}");
        bar.set_style(style.expect("the template is sound"));
        bar.enable_steady_tick(TURN);
        Progress { bar, running: Vec::new() }
    }

    /// A case begins.
    pub fn begin(&mut self, case: &str) {
        self.running.push(case.to_owned());
        self.draw();
    }

    /// A case has ended; `tell` says how, where the line was.
    pub fn end(&mut self, case: &str, tell: impl FnOnce()) {
        self.running.retain(|running| running != case);
        self.bar.inc(1);
        self.bar.suspend(tell);
        self.draw();
    }

    fn draw(&self) {
        self.bar.set_message(self.running.join(", "));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
