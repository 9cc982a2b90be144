//! `__cotree_path` and `__cotree_path_metric`, which generated code calls to count a path whose bucket is not cached in
//! its slab, and `__cotree_target`, which does the same for whom an indirect call leads to.

use super::table::{self, Bucket};
use crate::arch::memory;
use crate::arch::stubs::path_stub;
use crate::runtime::unit;

path_stub!("__cotree_path", "cotree_rt_path_end", count_path);
path_stub!("__cotree_path_metric", "cotree_rt_path_metric_end", count_path_with);
path_stub!("__cotree_target", "cotree_rt_target_end", count_target);

unsafe extern "C" {
    fn __cotree_path();
    fn __cotree_path_metric();
    fn __cotree_target();
    static cotree_rt_path_end: u8;
    static cotree_rt_path_metric_end: u8;
    static cotree_rt_target_end: u8;
}

/// Whether the code address is in a stub: then the frame's caller was interrupted while it counted a path.
pub fn contains(pc: u64) -> bool {
    let within = |start: unsafe extern "C" fn(), end: *const u8| (start as usize as u64..end as u64).contains(&pc);
    within(__cotree_path, &raw const cotree_rt_path_end)
        || within(__cotree_path_metric, &raw const cotree_rt_path_metric_end)
        || within(__cotree_target, &raw const cotree_rt_target_end)
}

/// In the place of a function: there is nothing to count.
const NO_FUNCTION: u64 = u64::MAX;

/// `function` is its number in the unit, `path` 1 + the path's number, `cache` that of the slab's word that is to lead
/// to the bucket.
unsafe extern "C" fn count_path(function: u64, path: u64, cache: u64) {
    count_one(function, path, cache);
}

/// Counts a path, and adds to its sum.
unsafe extern "C" fn count_path_with(function: u64, path: u64, cache: u64, amount: u64) {
    if let Some(bucket) = count_one(function, path, cache) {
        // SAFETY: a bucket's sum; one instruction, as below.
        unsafe { memory::add(bucket.metric.as_ptr(), amount) };
    }
}

/// Counts a call of the code at `target` under the site's number in the unit and the address as it was linked; 0 stands
/// for all code outside of the unit. `words` are the slab's of that site: what was looked up last, and where that is
/// counted; and both of what was before that.
unsafe extern "C" fn count_target(site: u64, target: u64, words: u64) {
    // What begins the image is no function, so the byte before one is in the image as well.
    let address = unit::link_address(target).unwrap_or(0);
    let Some(Counted { lasting: true, bucket }) = count(site, address + 1) else { return };
    let slab = unit::own_slab();
    // A handler may jump out of here: until the word beside it is right, each address is one that nothing has.
    // SAFETY: the words of the site are words of the slab.
    unsafe {
        let word = slab.add(words as usize);
        word.add(2).write_volatile(NOWHERE);
        word.add(3).write_volatile(word.add(1).read_volatile());
        word.add(2).write_volatile(word.read_volatile());
        word.write_volatile(NOWHERE);
        word.add(1).write_volatile(distance(slab, bucket));
        word.write_volatile(target);
    }
}

/// The address of no code.
const NOWHERE: u64 = u64::MAX;

#[inline(always)]
fn count_one(function: u64, path: u64, cache: u64) -> Option<&'static Bucket> {
    let Counted { bucket, lasting } = count(function, path)?;
    if lasting {
        let slab = unit::own_slab();
        // SAFETY: a word of the slab.
        unsafe { slab.add(cache as usize).write_volatile(distance(slab, bucket)) };
    }
    Some(bucket)
}

/// How a word of the slab leads to the bucket.
#[inline(always)]
fn distance(slab: *mut u64, bucket: &Bucket) -> u64 {
    (bucket as *const Bucket as u64).wrapping_sub(unit::zeros(slab))
}

/// The bucket that has counted.
struct Counted {
    bucket: &'static Bucket,
    /// Words of the slab may lead to it: the table is not another one since.
    lasting: bool,
}

#[inline(always)]
fn count(function: u64, path: u64) -> Option<Counted> {
    if function == NO_FUNCTION {
        return None;
    }
    let epoch = table::epoch();
    let bucket = table::known(function + 1, path).or_else(|| table::bucket(function + 1, path))?;
    // One instruction: a signal handler may count the same.
    // SAFETY: a bucket's count.
    unsafe { memory::increment(bucket.count.as_ptr()) };
    Some(Counted { bucket, lasting: table::epoch() == epoch })
}
