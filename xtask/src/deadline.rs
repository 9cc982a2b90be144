//! Deadlines: a program that hangs fails its case, with all that it has started, and holds up nobody else.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::time::{Duration, Instant};

/// How long a case runs at most: nearly all end within a minute or two.
pub const CASE: Duration = Duration::from_secs(20 * 60);
/// How long compiling the workspace takes at most, with nothing there.
pub const COMPILING: Duration = Duration::from_secs(40 * 60);
/// How long the crates' tests run at most.
pub const TESTING: Duration = Duration::from_secs(40 * 60);

thread_local! {
    static CURRENT: Cell<Option<Deadline>> = const { Cell::new(None) };
}

/// When the programs of a case must have ended.
#[derive(Clone, Copy)]
pub struct Deadline {
    at: Instant,
    given: Duration,
}

impl Deadline {
    /// That of the case which runs on this thread, if any.
    pub fn current() -> Option<Deadline> {
        CURRENT.get()
    }

    /// What is left of it.
    pub fn left(self) -> Duration {
        self.at.saturating_duration_since(Instant::now())
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.given.as_secs() {
            seconds if seconds >= 60 => write!(f, "{} minutes", seconds / 60),
            _ => write!(f, "{:?}", self.given),
        }
    }
}

/// All programs that the body starts on this thread must have ended when that much time has passed.
pub fn within<T>(given: Duration, body: impl FnOnce() -> T) -> T {
    /// Panics pass through here.
    struct Restore(Option<Deadline>);
    impl Drop for Restore {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let _restore = Restore(CURRENT.replace(Some(Deadline { at: Instant::now() + given, given })));
    body()
}

/// Kills a process and all that descend from it.
///
/// Processes are stopped first, so that none starts another while we look. They stay in our process group: the
/// terminal's interrupt is for them, too.
pub fn kill_tree(root: u32) {
    let mut tree = BTreeSet::from([root]);
    loop {
        for &process in &tree {
            send(process, Signal::SIGSTOP);
        }
        let before = tree.len();
        let mut parents = parents();
        // A child may have been listed before its parent.
        loop {
            let known = tree.len();
            parents.retain(|&(process, parent)| !(tree.contains(&parent) && tree.insert(process)));
            if tree.len() == known {
                break;
            }
        }
        if tree.len() == before {
            break;
        }
    }
    for process in tree {
        send(process, Signal::SIGKILL);
    }
}

/// Sends a signal to a process, which may have ended by itself.
fn send(process: u32, signal: Signal) {
    if let Ok(process) = i32::try_from(process) {
        kill(Pid::from_raw(process), signal).ok();
    }
}

/// All processes, with their parents.
fn parents() -> Vec<(u32, u32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let parent = |entry: fs::DirEntry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // After the name, which may contain anything: state, parent.
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        Some((process, parent))
    };
    entries.flatten().filter_map(parent).collect()
}
