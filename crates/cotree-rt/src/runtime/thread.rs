//! The threads of the process: which slabs each has, and which are alive.
//!
//! A record belongs to a thread from `pthread_create` until the kernel no longer knows the thread: destructors of
//! thread-local objects run after everything that we could hook.

use crate::arch::registers::Caller;
use crate::arch::threads::thread_pointer;
use crate::runtime::os::growing_array::GrowingArray;
#[cfg(not(feature = "shared-library"))]
use crate::runtime::os::lock::Held;
use crate::runtime::os::lock::Lock;
use crate::runtime::os::sys;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Nobody's.
pub const FREE: u32 = 0;
/// Given to a thread that does not run yet.
pub const RESERVED: u32 = 1;
/// The state of a running thread.
pub const LIVE: u32 = 2;
/// The thread's start routine has returned, or was left for good; destructors may still run.
pub const ENDING: u32 = 3;

/// A record.
#[repr(C)]
pub struct Thread {
    /// What the program wanted to start, and its argument.
    pub start: AtomicUsize,
    pub argument: AtomicUsize,
    /// The signal mask to start with.
    pub signals: AtomicU64,
    /// One of the states above.
    pub state: AtomicU32,
    /// The kernel's number.
    pub id: AtomicI32,
    /// The thread pointer.
    pub pointer: AtomicU64,
    /// Stack pointer after, and return address of, the `vfork` whose child runs on this thread's stack; 0: none does.
    pub vfork_sp: AtomicU64,
    pub vfork_pc: AtomicU64,
    /// Whether that child's end has been accounted for.
    pub vfork_accounted: AtomicU32,
    /// Whether the thread has been stopped at the end of the process, and how often it was let go; see the module
    /// `stop`.
    pub stop: AtomicU32,
    pub let_go: AtomicU32,
    /// Whether the thread is about to fork, and its signal mask before that.
    pub forking: AtomicU32,
    pub fork_signals: AtomicU64,
    /// The last step into libc that does not return.
    pub last_step: LastStep,
}

/// A [`Caller`] in a thread's record; all zero: none.
pub struct LastStep([AtomicU64; Caller::WORDS]);

impl LastStep {
    #[cfg(not(feature = "shared-library"))]
    pub fn set(&self, caller: &Caller) {
        for (word, value) in self.0.iter().zip(caller.words()) {
            word.store(value, Relaxed);
        }
    }

    pub fn get(&self) -> Option<Caller> {
        let caller = Caller::from_words(self.0.each_ref().map(|word| word.load(Relaxed)));
        (caller.pc != 0).then_some(caller)
    }

    /// Forgets.
    pub fn clear(&self) {
        self.0[Caller::WORDS - 1].store(0, Relaxed);
    }
}

// SAFETY: zeros are valid atomics; FREE is zero.
static THREADS: GrowingArray<Thread> = unsafe { GrowingArray::new() };
static LOCK: Lock = Lock::new();
/// One past the highest index ever used.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Threads that ended without accounting for themselves, as by the system call itself, and whose stacks others have.
static VANISHED: AtomicU32 = AtomicU32::new(0);
/// An address within the first thread's stack, above all frames.
static ABOVE_FRAMES: AtomicU64 = AtomicU64::new(0);

/// Guards the list of threads and the list of units.
#[cfg(not(feature = "shared-library"))]
pub fn lock() -> Held<'static> {
    LOCK.take()
}

/// All records that were ever in use.
pub fn all() -> impl Iterator<Item = (usize, &'static Thread)> {
    THREADS.iter().take(USED.load(Relaxed))
}

/// Registers the first thread. The address is in its stack, above all frames.
pub fn start(above_frames: u64) {
    ABOVE_FRAMES.store(above_frames, Relaxed);
    if let Some(first) = THREADS.make(0) {
        USED.store(1, Relaxed);
        adopt(first);
    }
}

/// The record is this thread's.
pub fn adopt(record: &Thread) {
    let pointer = thread_pointer();
    // Whoever had this stack before is gone.
    for (_, other) in all().filter(|(_, other)| other.pointer.load(Relaxed) == pointer) {
        let state = other.state.load(Relaxed);
        if state >= LIVE {
            VANISHED.fetch_add(u32::from(state == LIVE), Relaxed);
            other.pointer.store(0, Relaxed);
            other.state.store(FREE, Relaxed);
        }
    }
    record.id.store(sys::thread_id(), Relaxed);
    record.pointer.store(pointer, Relaxed);
    record.vfork_sp.store(0, Relaxed);
    record.stop.store(0, Relaxed);
    record.let_go.store(0, Relaxed);
    record.last_step.clear();
    record.state.store(LIVE, Relaxed);
}

/// The threads that code of a unit that is being loaded may run on, with their thread pointers: this one and all that
/// have not ended. The caller holds the lock.
#[cfg(not(feature = "shared-library"))]
pub fn with_stacks() -> impl Iterator<Item = (usize, u64)> {
    let own = thread_pointer();
    let there = move |(index, record): (usize, &Thread)| {
        let (state, pointer) = (record.state.load(Relaxed), record.pointer.load(Relaxed));
        (state >= LIVE && pointer == own || state == LIVE && is_there(record)).then_some((index, pointer))
    };
    all().filter_map(there)
}

/// This thread's record.
pub fn current() -> Option<(usize, &'static Thread)> {
    let pointer = thread_pointer();
    all().find(|(_, record)| record.pointer.load(Relaxed) == pointer && record.state.load(Relaxed) >= LIVE)
}

/// Whether nothing of the program is left on this thread's stack but destructors: its start routine has ended.
pub fn is_ending() -> bool {
    current().is_some_and(|(_, record)| record.state.load(Relaxed) == ENDING)
}

/// A record for a thread about to be created. The caller holds the lock.
#[cfg(not(feature = "shared-library"))]
pub fn reserve() -> Option<&'static Thread> {
    let gone = |record: &Thread| match record.state.load(Relaxed) {
        FREE => true,
        ENDING => sys::signal_thread(record.id.load(Relaxed), 0) == Err(sys::Errno(libc::ESRCH)),
        _ => false,
    };
    let record = match all().find(|(_, record)| gone(record)) {
        Some((_, record)) => record,
        None => {
            let record = THREADS.make(USED.load(Relaxed))?;
            USED.fetch_add(1, Relaxed);
            record
        }
    };
    record.pointer.store(0, Relaxed);
    record.state.store(RESERVED, Relaxed);
    Some(record)
}

/// Index of a record.
#[cfg(not(feature = "shared-library"))]
pub fn index_of(record: &Thread) -> usize {
    all().find(|(_, other)| core::ptr::eq(*other, record)).map_or(0, |(index, _)| index)
}

/// In a forked child: only this thread is left.
pub fn after_fork() -> Option<usize> {
    LOCK.break_open();
    VANISHED.store(0, Relaxed);
    let own = current().map(|(index, _)| index);
    for (index, record) in all() {
        if Some(index) == own {
            record.id.store(sys::thread_id(), Relaxed);
            record.stop.store(0, Relaxed);
        } else {
            record.state.store(FREE, Relaxed);
        }
    }
    own
}

/// The other threads that have not ended.
///
/// A thread that was joined may still be known to the kernel for a moment; one that ends gets a little time to do so.
pub fn others() -> impl Iterator<Item = &'static Thread> {
    let own = thread_pointer();
    let mut patience = Patience(200);
    all().map(|(_, record)| record).filter(move |record| match record.state.load(Relaxed) {
        FREE => false,
        RESERVED => true,
        _ if record.pointer.load(Relaxed) == own => false,
        LIVE => is_there(record),
        // One that was stopped ends when it is let go.
        _ if record.stop.load(Relaxed) != 0 => is_there(record),
        _ => patience.outlasts(record),
    })
}

/// Whether destructors of another thread may still run: [`with_stacks`] leaves it out, since its stack may be gone at
/// any moment.
#[cfg(not(feature = "shared-library"))]
pub fn others_are_ending() -> bool {
    let own = thread_pointer();
    let mut patience = Patience(2_000);
    let is_ending = |record: &Thread| {
        record.state.load(Relaxed) == ENDING && record.pointer.load(Relaxed) != own && patience.outlasts(record)
    };
    all().map(|(_, record)| record).any(is_ending)
}

/// How often we wait a little for threads that are about to end.
struct Patience(u32);

impl Patience {
    /// Whether the thread is still there when this has run out.
    fn outlasts(&mut self, record: &Thread) -> bool {
        while self.0 > 0 && is_there(record) {
            self.0 -= 1;
            sys::pause_a_little();
        }
        is_there(record)
    }
}

/// How many threads are gone and have given no account of their frames.
pub fn vanished() -> u32 {
    let own = thread_pointer();
    let gone = all().filter(|(_, record)| {
        record.state.load(Relaxed) == LIVE && record.pointer.load(Relaxed) != own && !is_there(record)
    });
    VANISHED.load(Relaxed) + gone.count() as u32
}

/// Whether the record is of a thread that has taken it over: only then does its number mean anything.
pub fn runs(record: &Thread) -> bool {
    record.state.load(Relaxed) >= LIVE
}

/// Whether the thread exists, or is about to. The first one stays as a zombie until the others are gone.
pub fn is_there(record: &Thread) -> bool {
    if record.state.load(Relaxed) == RESERVED {
        return true;
    }
    let id = record.id.load(Relaxed);
    sys::signal_thread(id, 0).is_ok() && !(id == sys::process_id() && is_zombie())
}

/// Whether the first thread has ended, as the kernel sees it.
fn is_zombie() -> bool {
    let mut line = [0_u8; 256];
    let Ok(fd) = sys::open(c"/proc/self/stat", libc::O_RDONLY, 0) else { return false };
    let len = sys::read(fd, &mut line).unwrap_or(0);
    sys::close(fd);
    // "PID (NAME) STATE …", and names may have parentheses.
    let after = line[..len].iter().rposition(|&byte| byte == b')').map_or(0, |at| at + 2);
    line.get(after) == Some(&b'Z')
}

/// Whether both addresses, the higher one last, are in the first thread's stack.
#[cfg(not(feature = "shared-library"))]
pub fn is_first_stack(from: u64, to: u64) -> bool {
    let top = ABOVE_FRAMES.load(Relaxed);
    let depth = top.wrapping_sub(from);
    depth < LARGEST_STACK && to.wrapping_sub(from) <= depth
}

/// Below the top of the first thread's stack the kernel keeps more than so much free of other mappings.
const LARGEST_STACK: u64 = 100 << 20;

/// End of the page in which the stack that holds the address begins, where that is the first thread's.
pub fn stack_top(sp: u64) -> Option<u64> {
    let top = ABOVE_FRAMES.load(Relaxed);
    (sp < top && top - sp < LARGEST_STACK).then_some((top | 0xFFF) + 1)
}
