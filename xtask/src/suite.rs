//! Test cases that run side by side, one per processor, and the final tally.

use anyhow::Result;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Instant;

type Body = Box<dyn FnOnce() -> Result<String> + Send>;

/// What is to run, and what came of it.
#[derive(Default)]
pub struct Suite {
    only: Option<String>,
    waiting: VecDeque<(String, Body)>,
    passed: usize,
    failed: Vec<String>,
}

impl Suite {
    /// Takes only cases whose name contains `only`.
    pub fn new(only: Option<String>) -> Suite {
        Suite { only, ..Suite::default() }
    }

    /// Adds a case. What it returns is a note for the reader, and may be empty.
    pub fn add(&mut self, name: impl Into<String>, body: impl FnOnce() -> Result<String> + Send + 'static) {
        let name = name.into();
        if self.only.as_ref().is_none_or(|part| name.contains(part.as_str())) {
            self.waiting.push_back((name, Box::new(body)));
        }
    }

    /// Runs a case now, with nothing beside it.
    pub fn now(&mut self, name: &str, body: impl FnOnce() -> Result<String>) {
        let start = Instant::now();
        let result = body();
        self.tell(name, start, result);
    }

    /// Runs all that wait.
    pub fn run(&mut self) {
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
                        let start = Instant::now();
                        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
                        let result = caught.unwrap_or_else(|_| Err(anyhow::anyhow!("the test itself panicked")));
                        suite.lock().expect("telling doesn't panic").tell(&name, start, result);
                    }
                });
            }
        });
    }

    fn tell(&mut self, name: &str, start: Instant, result: Result<String>) {
        let seconds = start.elapsed().as_secs_f64();
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

    /// Adds what another runner counted.
    pub fn count(&mut self, passed: usize, failed: Vec<String>) {
        self.passed += passed;
        self.failed.extend(failed);
    }

    /// Prints the tally, and says whether all is well.
    pub fn finish(&self) -> bool {
        for name in &self.failed {
            println!("failed: {name}");
        }
        println!("{} passed, {} failed", self.passed, self.failed.len());
        self.failed.is_empty() && self.passed > 0
    }
}
