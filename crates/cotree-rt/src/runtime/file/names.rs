//! The names of the profile's file: one while the program runs, and a final one.

use super::naming::{Facts, NamePattern, Path};
use crate::layout::MAGIC;
use crate::runtime::file::{current, earlier};
use crate::runtime::os::files;
use crate::runtime::os::sys::{self, Errno};
use core::cell::{Cell, UnsafeCell};
use core::ffi::{CStr, c_int};

/// Names and identity of the file. The names change only at start and in a forked child, when no other thread is there.
struct Names {
    pattern: NamePattern,
    name: Path,
    live: Path,
    identity: Cell<Option<(u64, u64)>>,
    /// The file has its final name.
    finished: Cell<bool>,
}

/// The names of a pool and of files beside it.
pub struct PoolNames<'a> {
    pub pool: &'a CStr,
    /// What takes the pool's place.
    pub new: &'a CStr,
    /// The profile that is being added.
    pub joining: &'a CStr,
    pub folder: &'a CStr,
}

struct Shared<T>(UnsafeCell<T>);
// SAFETY: names and identity are written when no other thread is there, and `finished` and the pool's names by the
// thread that ends the process, or tries to by `exec`, which one does at a time.
unsafe impl<T> Sync for Shared<T> {}

static NAMES: Shared<Names> = Shared(UnsafeCell::new(Names {
    pattern: NamePattern::new(),
    name: Path::new(),
    live: Path::new(),
    identity: Cell::new(None),
    finished: Cell::new(false),
}));

/// The names of the pool, of what takes its place, of what is added to it, and of its folder.
static POOL: Shared<[Path; 4]> = Shared(UnsafeCell::new([const { Path::new() }; 4]));

fn names() -> &'static Names {
    // SAFETY: who changes them (`names_to_change`) is alone, and nobody keeps them meanwhile.
    unsafe { &*NAMES.0.get() }
}

/// The names, to choose others.
///
/// # Safety
///
/// No other thread is there, and nobody uses what [`names`] has given before until the last use of this.
unsafe fn names_to_change() -> &'static mut Names {
    // SAFETY: the caller's promise.
    unsafe { &mut *NAMES.0.get() }
}

/// Chooses where profiles go.
pub fn set_pattern(pattern: &[u8]) {
    // SAFETY: called once, at start, before there is a thread or a name.
    unsafe { names_to_change() }.pattern.set(pattern);
}

/// Finds a free name and creates the file.
pub fn create(child: bool) -> sys::Result<c_int> {
    // SAFETY: called at start and in a forked child, which have one thread, and use no names while this runs: the
    // functions that it calls get them from here.
    let names = unsafe { names_to_change() };
    names.finished.set(false);
    let fd = create_free(names, child)?;
    names.identity.set(sys::identity(fd));
    Ok(fd)
}

/// How many names are tried.
const MOST_ATTEMPTS: u64 = 1000;

fn create_free(names: &mut Names, child: bool) -> sys::Result<c_int> {
    let mut facts = Facts { process: current::process(), attempt: 1, earlier: 0, child, pool: None };
    loop {
        names.pattern.expand(&facts, &mut names.name, &mut names.live);
        let own_name = names.pattern.has_name_per_process(&facts);
        let name = names.name.c_str().ok_or(Errno(libc::ENAMETOOLONG))?;
        may_be_replaced(name)?;
        let is_ours = |path: &CStr| !own_name && earlier::is_of_this_process(path, facts.process);
        if own_name && facts.attempt < MOST_ATTEMPTS && sys::exists(name) {
            facts.attempt += 1;
            continue;
        }
        if facts.earlier < MOST_ATTEMPTS && is_ours(name) {
            facts.earlier += 1;
            continue;
        }
        let mut opened = open_exclusive(&names.live);
        if opened == Err(Errno(libc::ENOENT)) {
            names.live.make_parents();
            opened = open_exclusive(&names.live);
        }
        match opened {
            Err(Errno(libc::EEXIST)) if facts.earlier < MOST_ATTEMPTS && names.live.c_str().is_some_and(is_ours) => {
                facts.earlier += 1;
            }
            Err(Errno(libc::EEXIST)) if facts.attempt < MOST_ATTEMPTS => facts.attempt += 1,
            _ => return opened,
        }
    }
}

/// A file takes its name in the end by renaming: what is no file (a folder, a device, a pipe), or is one of others,
/// must not be replaced by one.
pub fn may_be_replaced(name: &CStr) -> sys::Result<()> {
    match sys::file_type(name) {
        Some(libc::S_IFREG) if is_of_others(name) => Err(Errno(libc::EEXIST)),
        None | Some(libc::S_IFREG) => Ok(()),
        Some(libc::S_IFDIR) => Err(Errno(libc::EISDIR)),
        Some(_) => Err(Errno(libc::EEXIST)),
    }
}

/// Whether a file can be read, and begins neither as a profile nor with a hole.
#[inline(never)]
pub fn is_of_others(path: &CStr) -> bool {
    let mut head = [0; MAGIC.len()];
    files::read_head(path, &mut head).is_some_and(|read| head != MAGIC && head[..read].iter().any(|&byte| byte != 0))
}

#[inline(never)]
fn open_exclusive(live: &Path) -> sys::Result<c_int> {
    files::create_new(live.c_str().ok_or(Errno(libc::ENAMETOOLONG))?)
}

/// Opens the file again to let it grow, if one of its names still leads there.
pub fn reopen() -> sys::Result<c_int> {
    let mut failed = Errno(libc::ENOENT);
    // It has its final name while an `exec` is under way that may yet fail.
    for name in [&names().live, &names().name].into_iter().filter_map(Path::c_str) {
        match files::open_plainly(name, libc::O_RDWR) {
            Ok(fd) if sys::identity(fd) == names().identity.get() => return Ok(fd),
            Ok(fd) => sys::close(fd),
            Err(Errno(libc::ENOENT)) => {}
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Removes the file, if it has not got its final name.
#[inline(never)]
pub fn unlink() {
    let _ = names().live.c_str().map(sys::unlink);
}

/// Creates the file once more under the name that it had, for a profile that was kept in memory.
pub fn create_again() -> sys::Result<c_int> {
    unlink();
    open_exclusive(&names().live)
}

/// Gives the file its final name.
pub fn finish() -> sys::Result<()> {
    let names = names();
    match (names.live.c_str(), names.name.c_str()) {
        (Some(live), Some(name)) => {
            sys::rename(live, name)?;
            names.finished.set(true);
            Ok(())
        }
        _ => Err(Errno(libc::ENAMETOOLONG)),
    }
}

/// Takes [`finish`] back; the file goes if what was in memory is still there.
pub fn take_back(in_memory: bool) {
    let names = names();
    names.finished.set(false);
    if let (Some(live), Some(name)) = (names.live.c_str(), names.name.c_str()) {
        if in_memory {
            sys::unlink(name);
        } else {
            let _ = sys::rename(name, live);
        }
    }
}

/// The final name, if the file has it.
pub fn finished() -> Option<&'static CStr> {
    let names = names();
    names.finished.get().then(|| names.name.c_str()).flatten()
}

/// Calls a function with the names of this process's pool, if there are any pools.
pub fn with_pool(use_it: impl FnOnce(&PoolNames<'_>)) -> Option<()> {
    let names = names();
    let count = names.pattern.pools()?;
    let number = (current::process().unsigned_abs() % u32::from(count)) as u8;
    let facts = Facts { process: current::process(), attempt: 1, earlier: 0, child: false, pool: Some(number) };
    // SAFETY: only the thread that ends the process comes here, and `use_it`, which adds the profile to the pool, does
    // not come here again.
    let [pool, new, joining, folder] = unsafe { &mut *POOL.0.get() };
    names.pattern.expand(&facts, pool, folder);
    for (name, extension) in [(&mut *new, &b".new"[..]), (&mut *joining, b".joining")] {
        name.clear();
        name.push(pool.bytes());
        name.push(extension);
    }
    folder.clear();
    let end = pool.bytes().iter().rposition(|&byte| byte == b'/');
    folder.push(end.map_or(b".", |end| &pool.bytes()[..end.max(1)]));
    use_it(&PoolNames { pool: pool.c_str()?, new: new.c_str()?, joining: joining.c_str()?, folder: folder.c_str()? });
    Some(())
}

/// The final name.
pub fn final_name() -> &'static [u8] {
    names().name.bytes()
}

/// The name while the program runs.
pub fn live_name() -> &'static [u8] {
    names().live.bytes()
}
