//! A Rust program asks for its events by the crate `cotree-api`, in builds of `cotree cargo`.
//!
//! The oracle of its questions is the same program with an addition at every stretch of code.

use crate::project::{Project, succeed};

/// Asks in recursion, closures, threads, destructors, and behind caught panics; with `limits`, it is called back, too.
const PROGRAM: &str = r#"
use cotree_api::{EventKind, NoLimit, event_count, event_limit};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::catch_unwind;

const KINDS: [EventKind; 4] = [EventKind::Instructions, EventKind::Loads, EventKind::Calls, EventKind::Allocations];

#[inline(never)]
fn ask(what: &str) {
    println!("{what} {:?}", KINDS.map(event_count));
}

struct Asks(&'static str);

impl Drop for Asks {
    fn drop(&mut self) {
        ask(self.0);
    }
}

#[inline(never)]
fn depth(n: u32) -> u32 {
    let asks = Asks("drop");
    if n % 3 == 1 {
        ask("depth");
    }
    let sum = if n == 0 { 1 } else { depth(n - 1) + n };
    std::mem::forget((n % 2 == 0).then_some(asks));
    sum
}

#[inline(never)]
fn quiet(n: u64) -> u64 {
    (1..n).filter(|i| n % i == 0).map(|i| i * i).sum()
}

#[inline(never)]
fn panics(n: u32) -> u32 {
    let _asks = Asks("unwound");
    if n > 3 {
        panic!("at {n}");
    }
    panics(n + 1) + 1
}

thread_local! {
    static STRIKES: Cell<u64> = const { Cell::new(0) };
}

extern "C" fn strike() {
    let strikes = STRIKES.get() + 1;
    STRIKES.set(strikes);
    println!("strike {strikes} at {}", event_count(EventKind::Instructions));
    if strikes < 5 {
        event_limit(EventKind::Instructions, 40_000 + 5_000 * strikes, Some(strike)).expect("it was possible before");
    }
}

fn limits() {
    event_limit(EventKind::Instructions, 40_000, Some(strike)).expect("the build has limits");
    let mut sum = 0;
    for n in 0..2_000 {
        sum += quiet(n % 40);
    }
    println!("{sum} in the end {}", STRIKES.get());
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    if std::env::args().nth(1).is_some() {
        return limits();
    }
    ask("main");
    let ways: [Box<dyn Fn(u32) -> u64>; 3] =
        [Box::new(|n| depth(n).into()), Box::new(|n| quiet(n.into())), Box::new(|n| { ask("closure"); n.into() })];
    let mut seed = 5u32;
    let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
    for _ in 0..30 {
        seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        *seen.entry(ways[(seed >> 16) as usize % 3](seed >> 24 & 15)).or_default() += 1;
        if seed >> 28 & 1 == 1 {
            ask("loop");
        }
    }
    println!("{}", seen.len());
    for n in 0..5 {
        println!("{}", catch_unwind(|| panics(n)).is_err());
        ask("caught");
    }
    for n in 0..3 {
        std::thread::spawn(move || { ask("thread"); depth(n + 3); ask("end of thread"); }).join().expect("it ends");
    }
    println!("{:?}", event_limit(EventKind::Instructions, 1, None) == Err(NoLimit::NotPlanned));
    ask("end");
}
"#;

#[test]
fn a_rust_program_asks_and_is_called_back() {
    let api = concat!(env!("CARGO_MANIFEST_DIR"), "/../cotree-api");
    let manifest = format!(
        "[package]\nname = \"asks\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
         cotree-api = {{ path = \"{api}\" }}\n[profile.release]\ndebug = false\n"
    );
    let project = Project::new(&[("Cargo.toml", &manifest), ("src/main.rs", PROGRAM)]);
    for (profile, folder) in [("", "debug"), (" --release", "release")] {
        let build = |options: &str| {
            let mut cotree = project.cotree(&format!(
                "--profile events=instructions,loads,calls,allocations {options} cargo build -q{profile}"
            ));
            succeed(cotree.env("RUSTFLAGS", "").env("RUST_BACKTRACE", "0"));
        };
        let run = |arguments: &[&str]| {
            let program = project.path(&format!("target/cotree/x86_64-unknown-linux-gnu/{folder}/asks"));
            let mut command = project.command("timeout");
            succeed(command.args(["60", "setarch", "-R"]).arg(program).args(arguments))
        };
        build("--event-placement blocks");
        let naive = run(&[]);
        for place in ["depth", "drop", "closure", "loop", "unwound", "caught", "end of thread", "end"] {
            assert!(naive.lines().any(|line| line.starts_with(&format!("{place} ["))), "{place}: {naive}");
        }
        build("");
        assert_eq!(run(&[]), naive, "{folder}");
        build("--event-limit");
        let strikes = run(&["limits"]);
        assert_eq!(strikes, run(&["limits"]), "{folder}");
        let at = |line: &str| line.strip_prefix("strike ")?.split_once(" at ")?.1.parse::<u64>().ok();
        let at: Vec<u64> = strikes.lines().filter_map(at).collect();
        assert_eq!(at.len(), 5, "{strikes}");
        for (limit, at) in (40_000..).step_by(5_000).zip(at) {
            assert!((limit..limit + 1000).contains(&at), "{at} for {limit}: {strikes}");
        }
    }
}
