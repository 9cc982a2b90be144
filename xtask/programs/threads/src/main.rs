//! Rust with threads: a pool that takes work from a channel, threads that borrow, a lock that is poisoned, panics that
//! `join` reports, and destructors of thread-local values.
//!
//!     threads COUNT
//!
//! The output does not depend on which thread runs first.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock, mpsc};
use std::thread;

fn main() {
    let count: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    std::panic::set_hook(Box::new(|_| {}));
    println!("{:?}", pool(count));
    println!("{}", borrowed(count));
    println!("{:?}", panics());
    println!("{}", destructors());
}

/// How long the sequence of Collatz is that begins with a number.
fn collatz(mut n: u64) -> u64 {
    let mut steps = 0;
    while n != 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

/// Four workers share one channel.
fn pool(count: u64) -> (u64, Option<(u64, u64)>) {
    let (give, take) = mpsc::channel::<u64>();
    let (tell, hear) = mpsc::channel();
    let take = Arc::new(Mutex::new(take));
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let (take, tell) = (Arc::clone(&take), tell.clone());
            thread::spawn(move || {
                loop {
                    let next = take.lock().expect("nobody panics here").recv();
                    let Ok(n) = next else { break };
                    tell.send((collatz(n), n)).expect("somebody listens");
                }
            })
        })
        .collect();
    drop(tell);
    (1..=count).for_each(|n| give.send(n).expect("somebody works"));
    drop(give);
    let heard: Vec<(u64, u64)> = hear.iter().collect();
    workers.into_iter().for_each(|worker| worker.join().expect("it ends well"));
    (heard.iter().map(|(steps, _)| steps).sum(), heard.iter().copied().max())
}

/// Threads that work on parts of one array.
fn borrowed(count: u64) -> u64 {
    let mut numbers: Vec<u64> = (0..count).map(|n| n.wrapping_mul(2_654_435_761) % 10_007).collect();
    let total = AtomicU64::new(0);
    thread::scope(|scope| {
        for part in numbers.chunks_mut(1 + count as usize / 3) {
            scope.spawn(|| {
                part.sort_unstable();
                total.fetch_add(part.iter().step_by(3).sum(), Ordering::Relaxed);
            });
        }
    });
    total.into_inner() + numbers.iter().rev().take(5).sum::<u64>()
}

/// Every third thread panics, some with the lock in their hands.
fn panics() -> (Vec<bool>, bool, i32) {
    let shared = Arc::new(RwLock::new(0));
    let run = |number: i32| {
        let shared = Arc::clone(&shared);
        let body = move || {
            let mut guard = shared.write().unwrap_or_else(|poisoned| poisoned.into_inner());
            *guard += number;
            if number % 6 == 0 {
                panic!("with the lock");
            }
            drop(guard);
            assert!(number % 3 != 0, "without it");
        };
        thread::Builder::new().name(format!("worker {number}")).spawn(body).expect("a thread").join().is_ok()
    };
    let well = (1..10).map(run).collect();
    let total = *shared.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    (well, shared.is_poisoned(), total)
}

/// What threads leave behind when they end.
fn destructors() -> u64 {
    static LEFT: AtomicU64 = AtomicU64::new(0);
    struct Kept(Vec<u64>);
    impl Drop for Kept {
        fn drop(&mut self) {
            LEFT.fetch_add(self.0.iter().sum(), Ordering::Relaxed);
        }
    }
    thread_local!(static KEPT: RefCell<Kept> = const { RefCell::new(Kept(Vec::new())) });
    let keep =
        |number: u64| thread::spawn(move || (0..=number).for_each(|n| KEPT.with_borrow_mut(|kept| kept.0.push(n))));
    let threads: Vec<_> = (0..6).map(keep).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends well"));
    LEFT.load(Ordering::Relaxed)
}
