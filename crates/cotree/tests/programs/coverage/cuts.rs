//! Panics, from everywhere, that are caught far out, and an end deep in calls.
#![allow(non_snake_case)]

use std::cell::Cell;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

static TALLY: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
static FILE: OnceLock<std::fs::File> = OnceLock::new();
static CALLS: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Counts, in a file, how often a line ran.
#[inline(never)]
fn T(slot: usize) {
    let count = TALLY[slot].fetch_add(1, Relaxed) + 1;
    let file = FILE.get_or_init(|| {
        let file = std::fs::File::create("tally.1.bin").expect("a file");
        file.write_all_at(&[0; 64 * 8], 0).expect("it is written");
        file
    });
    file.write_all_at(&count.to_ne_bytes(), slot as u64 * 8).expect("it is written");
}

macro_rules! both {
    ($one:expr, $other:expr) => {{
        let one = $one;
        one + $other
    }};
}

fn may_end(value: u32) -> u32 {
    if CALLS.fetch_add(1, Relaxed) + 1 == LIMIT.load(Relaxed) {
        if std::env::args().count() > 1 {
            std::process::exit(9);
        }
        panic!("the limit");
    }
    value
}

#[inline(always)]
fn small(value: u32, list: &[u32]) -> u32 {
    T(0);
    may_end(value);
    T(1);
    if value > 2 {
        return 1;
    }
    T(2);
    let found = list[value as usize];
    T(3);
    found + may_end(1)
}

fn generic<N: Copy + Into<u64>>(all: &[N]) -> u64 {
    T(4);
    let mut sum = 0;
    for &one in all {
        T(5);
        sum += one.into();
        may_end(1);
        T(6);
    }
    T(7);
    sum
}

struct Guard<'a>(&'a Cell<u32>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        T(8);
        self.0.set(self.0.get() + 1);
    }
}

fn question(value: u32) -> Result<u32, String> {
    T(9);
    let checked = if may_end(value) == 3 { Err("three".to_owned()) } else { Ok(value) }?;
    T(10);
    match checked {
        0 => {
            T(11);
            may_end(1);
            T(12);
        }
        1 | 2 => {
            T(13);
        }
        _ => {
            T(14);
            assert!(checked < 4, "four");
            T(15);
        }
    }
    T(16);
    Ok(both!(may_end(checked), may_end(2)))
}

fn all(value: u32) -> u32 {
    T(20);
    let drops = Cell::new(0);
    let guard = Guard(&drops);
    let list = vec![1, 2];
    T(21);
    let mut sum = small(value, &list);
    T(22);
    sum += small(value / 2, &list);
    T(23);
    let add = |more: u32| {
        T(24);
        let more = may_end(more);
        T(25);
        more + 1
    };
    sum += add(1) + add(2);
    T(26);
    sum += generic(&[1u8, 2]) as u32 + generic(&[3u32]) as u32;
    T(27);
    drop(guard);
    while sum % 4 != 0 {
        T(28);
        sum += may_end(1);
        T(29);
    }
    T(30);
    sum += question(value).unwrap_or(may_end(1));
    T(31);
    sum + drops.get()
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let mut sum = 0;
    for limit in 0..40 {
        T(40);
        LIMIT.store(40 - limit, Relaxed);
        for value in 0..5 {
            T(41);
            CALLS.store(0, Relaxed);
            match catch_unwind(AssertUnwindSafe(|| all(value))) {
                Ok(one) => {
                    T(42);
                    sum += one;
                }
                Err(_) => {
                    T(43);
                }
            }
        }
        T(44);
    }
    let thread = std::thread::spawn(|| {
        T(45);
        all(7);
        T(46);
    });
    T(47);
    assert!(thread.join().is_err());
    T(48);
    println!("{sum}");
}
