//! Work that is done side by side.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does it for each item, `jobs` of them at a time; results are in the order of the items.
pub fn each<T: Sync, R: Send>(jobs: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while let Some((index, item)) = {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    items.get(n).map(|i| (n, i))
                } {
                    let result = work(item);
                    results.lock().expect("pushing doesn't panic").push((index, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("pushing doesn't panic");
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
