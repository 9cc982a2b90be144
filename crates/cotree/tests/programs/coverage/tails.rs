//! Tail expressions, `?`, values of loops, drops and futures around calls that panic, or end the process.
#![allow(non_snake_case, clippy::all)]

use std::cell::Cell;
use std::future::Future;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

static TALLY: [AtomicU64; 96] = [const { AtomicU64::new(0) }; 96];
static FILE: OnceLock<std::fs::File> = OnceLock::new();
static CALLS: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(0);

/// Counts, in a file, how often a line ran.
#[inline(never)]
fn T(slot: usize) {
    let count = TALLY[slot].fetch_add(1, Relaxed) + 1;
    let file = FILE.get_or_init(|| {
        let file = std::fs::File::create("tally.1.bin").expect("a file");
        file.write_all_at(&[0; 96 * 8], 0).expect("it is written");
        file
    });
    file.write_all_at(&count.to_ne_bytes(), slot as u64 * 8).expect("it is written");
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

fn tail_variable(value: u32) -> u32 {
    T(0);
    let kept = may_end(value);
    T(1);
    kept /* as T(1) */
}

fn tail_constant() -> u32 {
    T(2);
    may_end(1);
    17 /* as T(3) */
}

fn tail_seen() -> u32 {
    let kept = tail_constant();
    T(3);
    kept
}

fn tail_tuple(value: u32) -> (u32, u32) {
    T(4);
    may_end(value);
    (value, 4) /* as T(5) */
}

fn after_tuple() -> u32 {
    let (one, two) = tail_tuple(3);
    T(5);
    one + two /* as T(5) */
}

fn fallible(value: u32) -> Result<u32, String> {
    T(6);
    let value = may_end(value);
    if value % 2 == 0 {
        T(7);
        return Err("even".into());
    }
    T(8);
    Ok(value) /* as T(8) */
}

fn questions(value: u32) -> Result<u32, String> {
    T(9);
    let one = fallible(value)?;
    T(10);
    let two = fallible(
        one + may_end(2), /* as T(10) */
    )?;
    T(11);
    Ok(one + two) /* as T(11) */
}

fn let_else(value: u32) -> Option<u32> {
    T(12);
    let Ok(one) = fallible(value) else {
        T(13);
        return None;
    };
    T(14);
    Some(one)
}

fn loop_value(limit: u32) -> u32 {
    T(15);
    let mut turn = 0;
    let found = loop {
        T(16);
        turn += may_end(1);
        if turn > limit {
            T(17);
            break turn * 2;
        }
        T(18);
    };
    T(19);
    found
}

fn labelled(limit: u32) -> u32 {
    T(20);
    let found = 'outer: {
        for turn in 0..limit {
            T(21);
            if may_end(turn) == 2 {
                T(22);
                break 'outer turn;
            }
            T(23);
        }
        T(24);
        99
    };
    T(25);
    found
}

fn arms(value: u32) -> u32 {
    T(26);
    let found = match may_end(value) {
        0 => {
            T(27);
            may_end(5)
        }
        1 => may_end(6),
        2 if may_end(1) == 1 => {
            T(28);
            7
        }
        _ => 8,
    };
    T(29);
    found
}

struct Guard<'a>(&'a Cell<u32>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        T(30);
        self.0.set(self.0.get() + 1);
        T(31);
    }
}

fn guarded(value: u32) -> u32 {
    T(32);
    let drops = Cell::new(0);
    let _first = Guard(&drops);
    {
        T(33);
        let _second = Guard(&drops);
        may_end(value);
        T(34);
    }
    T(35);
    may_end(value);
    drops.get() /* as T(36) */
}

fn after_guarded() -> u32 {
    let value = guarded(2);
    T(36);
    value
}

struct Twice(bool);

impl Future for Twice {
    type Output = u32;
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        T(37);
        if self.0 {
            T(38);
            return Poll::Ready(may_end(3));
        }
        self.0 = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

async fn inner(value: u32) -> u32 {
    T(39);
    let got = Twice(false).await;
    T(40);
    got + value
}

async fn outer(value: u32) -> u32 {
    T(41);
    let one = inner(value).await;
    T(42);
    may_end(one);
    T(43);
    let two = inner(one).await;
    T(44);
    one + two
}

fn polls(most: u32) -> u32 {
    T(45);
    let mut future = pin!(outer(1));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..most {
        T(46);
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            T(47);
            return value;
        }
        T(48);
    }
    T(49);
    0
}

fn chain(values: &[u32]) -> u32 {
    T(50);
    let sum = values
        .iter()
        .map(|&value| {
            T(51);
            let got = may_end(value);
            T(52);
            got
        })
        .filter(|&value| may_end(value) != 2)
        .sum::<u32>();
    T(53);
    sum
}

fn unit_tail(value: u32) {
    T(54);
    if value > 1 {
        T(55);
        may_end(value);
    } else {
        T(56);
    }
}

fn conditions(value: u32) -> bool {
    T(57);
    let both = may_end(value) > 1 && may_end(value) > 2;
    T(58);
    both || {
        T(59);
        may_end(0) == 1
    }
}

fn nested(value: u32) -> u32 {
    T(60);
    let sum = may_end(value) + {
        T(61);
        may_end(1)
    } + {
        T(62);
        2
    };
    T(63);
    sum
}

fn while_let(mut list: Vec<u32>) -> u32 {
    T(64);
    let mut sum = 0;
    while let Some(top) = list.pop() {
        T(65);
        sum += may_end(top);
        T(66);
    }
    T(67);
    sum
}

fn caught(value: u32) -> u32 {
    T(68);
    let inside = catch_unwind(AssertUnwindSafe(|| {
        T(69);
        may_end(value);
        if value == 1 {
            T(70);
            panic!("inside");
        }
        T(71);
        value
    }));
    T(72);
    inside.unwrap_or(0)
}

fn constructed(value: u32) -> Vec<String> {
    T(73);
    let list = vec![format!("{}", may_end(value)), {
        T(74);
        format!("{}", may_end(2))
    }];
    T(75);
    list
}

fn diverges(value: u32) -> ! {
    T(76);
    may_end(value);
    T(77);
    panic!("always")
}

fn never_back(value: u32) -> u32 {
    T(78);
    if value > 0 {
        T(79);
        diverges(value)
    }
    T(80);
    1
}

fn all() -> u32 {
    let mut sum = tail_variable(1) + tail_seen() + after_tuple();
    sum += questions(1).unwrap_or(1) + questions(2).unwrap_or(2) + questions(3).unwrap_or(3);
    sum += let_else(1).unwrap_or(0) + let_else(2).unwrap_or(0);
    sum += loop_value(2) + labelled(2) + labelled(5);
    sum += arms(0) + arms(1) + arms(2) + arms(3);
    sum += after_guarded() + polls(1) + polls(2) + polls(9);
    sum += chain(&[1, 2, 3]);
    unit_tail(1);
    unit_tail(2);
    sum += u32::from(conditions(1)) + u32::from(conditions(2)) + u32::from(conditions(3));
    sum += nested(1) + while_let(vec![1, 2, 3]) + caught(1) + caught(2);
    sum += constructed(1).len() as u32 + never_back(0);
    let _ = catch_unwind(|| never_back(1));
    T(81);
    sum
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let ends = std::env::args().nth(1).and_then(|limit| limit.parse().ok());
    if let Some(limit) = ends {
        LIMIT.store(limit, Relaxed);
        all();
        return;
    }
    for limit in 1..80 {
        CALLS.store(0, Relaxed);
        LIMIT.store(limit, Relaxed);
        let _ = catch_unwind(all);
    }
    T(82);
}
