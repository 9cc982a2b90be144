//! Test cases that run side by side, one per processor, and the final tally.

use crate::deadline::{self, CASE};
use crate::journal::Journal;
use crate::progress::Progress;
use anyhow::Result;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

type Body = Box<dyn FnOnce() -> Result<String> + Send>;

/// What is to run, and what came of it.
pub struct Suite {
    only: Option<String>,
    list: bool,
    journal: Journal,
    resume: bool,
    waiting: VecDeque<(String, Body)>,
    passed: usize,
    skipped: usize,
    failed: Vec<String>,
}

impl Suite {
    /// Takes only cases whose name contains `only`; with `resume`, none that passed before.
    pub fn new(only: Option<String>, resume: bool, journal: Journal) -> Suite {
        let (waiting, failed) = (VecDeque::new(), Vec::new());
        Suite { only, list: false, journal, resume, waiting, passed: 0, skipped: 0, failed }
    }

    /// Prints the names of cases, and runs none.
    pub fn list(self) -> Suite {
        Suite { list: true, ..self }
    }

    /// Whether somebody asked for cases by name.
    pub fn is_filtered(&self) -> bool {
        self.only.is_some()
    }

    /// Whether the case passed before, and need not run again.
    pub fn passed_before(&self, name: &str) -> bool {
        self.resume && self.journal.has(name)
    }

    /// Whether the case of this name is to run. Prints the name where that is all that is wanted.
    pub fn wants(&mut self, name: &str) -> bool {
        if !self.only.as_ref().is_none_or(|part| name.contains(part.as_str())) {
            return false;
        }
        if self.passed_before(name) {
            self.skipped += 1;
            return false;
        }
        if self.list {
            println!("{name}");
        }
        !self.list
    }

    /// Adds a case. What it returns is a note for the reader, and may be empty.
    pub fn add(&mut self, name: impl Into<String>, body: impl FnOnce() -> Result<String> + Send + 'static) {
        let name = name.into();
        if self.wants(&name) {
            self.waiting.push_back((name, Box::new(body)));
        }
    }

    /// Runs a case now, with nothing beside it.
    pub fn now(&mut self, name: &str, body: impl FnOnce() -> Result<String>) {
        self.now_within(name, CASE, body);
    }

    /// Runs a case now with nothing beside it, a case that may take longer than others.
    pub fn now_within(&mut self, name: &str, longest: Duration, body: impl FnOnce() -> Result<String>) {
        if !self.wants(name) {
            return;
        }
        let start = Instant::now();
        let result = deadline::within(longest, body);
        self.tell(name, start, result);
    }

    /// Whether any case waits.
    pub fn has_more(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Runs all that wait.
    pub fn run(&mut self) {
        let progress = Mutex::new(Progress::new(self.waiting.len()));
        let waiting = Mutex::new(std::mem::take(&mut self.waiting));
        let suite = Mutex::new(self);
        let workers = std::thread::available_parallelism().map_or(2, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let Some((name, body)) = waiting.lock().expect("no case panics here").pop_front() else {
                            break;
                        };
                        progress.lock().expect("drawing doesn't panic").begin(&name);
                        let start = Instant::now();
                        let run = || deadline::within(CASE, body);
                        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
                        let result = caught.unwrap_or_else(|_| Err(anyhow::anyhow!("the test itself panicked")));
                        let tell = || suite.lock().expect("telling doesn't panic").tell(&name, start, result);
                        progress.lock().expect("drawing doesn't panic").end(&name, tell);
                    }
                });
            }
        });
    }

    fn tell(&mut self, name: &str, start: Instant, result: Result<String>) {
        let seconds = start.elapsed().as_secs_f64();
        self.note(name, result.is_ok());
        match result {
            Ok(note) => {
                self.passed += 1;
                println!("ok    {name} ({seconds:.1} s){}{note}", if note.is_empty() { "" } else { ": " });
            }
            Err(error) => {
                self.failed.push(name.to_owned());
                println!("FAIL  {name} ({seconds:.1} s): {error:#}");
            }
        }
    }

    fn note(&mut self, name: &str, passed: bool) {
        if let Err(error) = self.journal.note(name, passed) {
            println!("`--resume` will not know of {name}: {error:#}");
        }
    }

    /// Adds what the runner of a case counted that has many tests.
    pub fn count(&mut self, case: &str, passed: usize, failed: Vec<String>) {
        self.note(case, failed.is_empty());
        self.passed += passed;
        self.failed.extend(failed);
    }

    /// Prints the tally, and says whether all is well.
    pub fn finish(&self) -> bool {
        if self.list {
            return true;
        }
        for name in &self.failed {
            println!("failed: {name}");
        }
        if self.skipped > 0 {
            println!("{} cases passed before", self.skipped);
        }
        println!("{} passed, {} failed", self.passed, self.failed.len());
        self.failed.is_empty() && self.passed + self.skipped > 0
    }
}
