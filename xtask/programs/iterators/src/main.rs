//! Rust as it is written: chains of iterators, closures, collections, generics, trait objects, and overflow that is
//! caught.
//!
//!     iterators COUNT
//!
//! Nothing of the output depends on time, addresses or chance.

use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fmt::Write;

fn main() {
    let count: usize = std::env::args().nth(1).and_then(|n| n.parse().ok()).expect("a number");
    println!("{:?}", primes(count));
    println!("{:?}", words(count));
    println!("{:?}", paths(count));
    println!("{:?}", shapes(count));
    println!("{}", runs(count));
}

/// Numbers that look random.
fn numbers(seed: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(seed), |n| Some(n.wrapping_mul(1_103_515_245).wrapping_add(12_345))).map(|n| n >> 8)
}

fn primes(count: usize) -> (usize, u64, Option<usize>) {
    let mut composite = vec![false; count + 1];
    (2..=count).take_while(|n| n * n <= count).for_each(|n| {
        if !composite[n] {
            (n * n..=count).step_by(n).for_each(|m| composite[m] = true);
        }
    });
    let primes: Vec<usize> = composite.iter().enumerate().skip(2).filter(|(_, c)| !**c).map(|(n, _)| n).collect();
    let gap = primes.windows(2).map(|pair| pair[1] - pair[0]).max();
    let sum = primes.iter().zip(primes.iter().rev()).map(|(a, b)| (a ^ b) as u64).fold(0u64, u64::wrapping_add);
    (primes.len(), sum, gap)
}

fn words(count: usize) -> Vec<(usize, String)> {
    let mut text = String::new();
    for n in numbers(11).take(count / 4) {
        let _ = write!(text, "{}{} ", ["ab", "cd", "e", "fgh", "éü"][n as usize % 5], n / 7 % 40);
    }
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for word in text.split_whitespace().filter(|w| w.chars().any(char::is_alphabetic)) {
        *seen.entry(word.trim_end_matches(char::is_numeric)).or_default() +=
            word.bytes().rev().map_while(digit).sum::<usize>();
    }
    let mut ranking: Vec<_> = seen.into_iter().map(|(word, n)| (n, word.to_uppercase())).collect();
    ranking.sort_by(|a, b| b.cmp(a));
    ranking
}

fn digit(byte: u8) -> Option<usize> {
    byte.is_ascii_digit().then(|| usize::from(byte - b'0'))
}

/// Distances over a grid with walls, by two searches that have to agree.
fn paths(count: usize) -> (usize, u64, bool) {
    let side = (count as f64).sqrt() as usize / 2 + 8;
    let open: Vec<bool> = numbers(23).take(side * side).map(|n| n / 16 % 4 != 0).collect();
    let next = |at: usize| {
        let (x, y) = (at % side, at / side);
        let steps = [
            (x > 0).then(|| at - 1),
            (x + 1 < side).then(|| at + 1),
            y.checked_sub(1).map(|_| at - side),
            (y + 1 < side).then(|| at + side),
        ];
        steps.into_iter().flatten()
    };
    let mut by_queue = vec![u64::MAX; side * side];
    let mut queue = VecDeque::from([0]);
    by_queue[0] = 0;
    while let Some(at) = queue.pop_front() {
        for to in next(at).filter(|&to| open[to]) {
            if by_queue[to] == u64::MAX {
                by_queue[to] = by_queue[at] + 1;
                queue.push_back(to);
            }
        }
    }
    let mut by_heap = vec![u64::MAX; side * side];
    let mut heap = BinaryHeap::from([(std::cmp::Reverse(0), 0)]);
    while let Some((std::cmp::Reverse(distance), at)) = heap.pop() {
        if distance < by_heap[at] {
            by_heap[at] = distance;
            heap.extend(next(at).filter(|&to| open[to]).map(|to| (std::cmp::Reverse(distance + 1), to)));
        }
    }
    let reached = by_queue.iter().filter(|&&d| d != u64::MAX);
    (reached.clone().count(), reached.sum(), by_queue == by_heap)
}

trait Shape {
    fn area(&self) -> Option<u32>;
}
struct Rectangle(u32, u32);
struct Square(u32);
struct Several(Vec<Box<dyn Shape>>);

impl Shape for Rectangle {
    fn area(&self) -> Option<u32> {
        self.0.checked_mul(self.1)
    }
}
impl Shape for Square {
    fn area(&self) -> Option<u32> {
        self.0.checked_pow(2)
    }
}
impl Shape for Several {
    fn area(&self) -> Option<u32> {
        self.0.iter().map(|shape| shape.area()).try_fold(0u32, |sum, area| sum.checked_add(area?))
    }
}

fn shapes(count: usize) -> (usize, u64) {
    let numbers: Vec<u32> = numbers(5).take(count).collect();
    let several = numbers.chunks(7).map(|chunk| {
        Several(
            chunk
                .iter()
                .map(|&n| -> Box<dyn Shape> {
                    if n % 3 == 0 { Box::new(Square(n % 70_000)) } else { Box::new(Rectangle(n % 3000, n % 7)) }
                })
                .collect(),
        )
    });
    let areas: Vec<Option<u32>> = several.map(|s| s.area()).collect();
    (areas.iter().filter(|a| a.is_none()).count(), areas.iter().flatten().map(|&a| u64::from(a)).sum())
}

/// The longest run that rises, and the sum of what sorting moved.
fn runs(count: usize) -> String {
    let mut numbers: Vec<u32> = numbers(77).take(count).collect();
    let longest = numbers.chunk_by(|a, b| a <= b).map(<[u32]>::len).max().unwrap_or(0);
    let before = numbers.clone();
    numbers.sort_unstable_by_key(|n| (n % 1000, *n));
    numbers.dedup();
    let moved = before.iter().zip(&numbers).filter(|(a, b)| a != b).count();
    let partition = numbers.partition_point(|n| n % 1000 < 500);
    format!("{longest} {moved} {partition}")
}
