//! Panics through frames with and without destructors, caught and not; threads; process::exit deep inside.
use std::cell::Cell;
use std::panic::catch_unwind;

struct Guard<'a>(&'a Cell<u32>);
impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[inline(never)]
fn plain(n: u32, log: &mut Vec<u32>) -> u32 {
    log.push(n);
    if n == 5 {
        panic!("five");
    }
    let r = if n > 1 { plain(n - 2, log) } else { 0 };
    r + 1
}

#[inline(never)]
fn guarded(n: u32, cell: &Cell<u32>) -> u32 {
    let _guard = Guard(cell);
    let mut log = Vec::new();
    plain(n, &mut log)
}

fn leave(depth: u32) -> u32 {
    if depth == 0 {
        std::process::exit(7);
    }
    leave(depth - 1) + 1
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let mut caught = 0;
    let mut sum = 0;
    for n in 0..12 {
        match catch_unwind(|| guarded(n, &Cell::new(0))) {
            Ok(r) => sum += r,
            Err(_) => caught += 1,
        }
    }
    let threads: Vec<_> = (0..8u32).map(|i| std::thread::spawn(move || guarded(i, &Cell::new(i)))).collect();
    for t in threads {
        match t.join() {
            Ok(r) => sum += r,
            Err(_) => caught += 1,
        }
    }
    println!("{caught} {sum}");
    std::process::exit(leave(4) as i32);
}
