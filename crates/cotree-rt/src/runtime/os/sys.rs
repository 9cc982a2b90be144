//! System calls without libc: they leave `errno` alone, can't be interposed by the program, never allocate, and are
//! safe in signal handlers and between `fork` and `exec`.

use crate::arch::{paths, segment, system_calls};
use crate::runtime::os::valgrind;
#[cfg(not(feature = "shared-library"))]
use core::ffi::c_char;
use core::ffi::{CStr, c_int, c_long, c_void};
use core::ptr;
use core::sync::atomic::AtomicU32;

/// An error number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(pub c_int);

/// What a system call answers.
pub type Result<T> = core::result::Result<T, Errno>;

/// One system call; unused arguments are zero.
///
/// # Safety
/// As for the call itself.
pub unsafe fn call(number: c_long, args: [usize; 6]) -> Result<usize> {
    // SAFETY: the caller vouches.
    answer(unsafe { system_calls::call(number, args) })
}

/// What the kernel has answered.
fn answer(value: isize) -> Result<usize> {
    if (-4095..0).contains(&value) { Err(Errno(-value as c_int)) } else { Ok(value as usize) }
}

/// Opens relative to the current directory; close-on-exec always.
pub fn open(path: &CStr, flags: c_int, mode: u32) -> Result<c_int> {
    let flags = flags | libc::O_CLOEXEC;
    let args = [libc::AT_FDCWD as usize, path.as_ptr() as usize, flags as usize, mode as usize, 0, 0];
    // SAFETY: the path is a C string.
    unsafe { call(libc::SYS_openat, args) }.map(|fd| fd as c_int)
}

/// Closes.
pub fn close(fd: c_int) {
    // SAFETY: closes only what the caller opened.
    let _ = unsafe { call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]) };
}

/// Reads.
pub fn read(fd: c_int, buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: the buffer is ours for its whole length.
    unsafe { call(libc::SYS_read, [fd as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0]) }
}

/// Reads from the offset on.
///
/// # Safety
/// `len` bytes must be writable from `to` on.
pub unsafe fn read_at(fd: c_int, to: *mut u8, len: usize, offset: u64) -> Result<usize> {
    // SAFETY: the caller vouches for the memory.
    unsafe { call(libc::SYS_pread64, [fd as usize, to as usize, len, offset as usize, 0, 0]) }
}

/// Writes all of it at the offset.
///
/// # Safety
/// `len` bytes must be readable from `data` on.
pub unsafe fn write_at(fd: c_int, data: *const u8, len: usize, offset: u64) -> Result<()> {
    let mut done = 0;
    while done < len {
        let args = [fd as usize, data as usize + done, len - done, offset as usize + done, 0, 0];
        // SAFETY: the caller vouches for the memory.
        match unsafe { call(libc::SYS_pwrite64, args) } {
            Ok(0) => return Err(Errno(libc::ENOSPC)),
            Ok(n) => done += n,
            Err(Errno(libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes the pieces as one message. Nobody is told if there is no reader any more.
pub fn write_pieces(fd: c_int, pieces: &[&[u8]]) {
    let mut vector = [libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 }; 12];
    for (slot, piece) in vector.iter_mut().zip(pieces) {
        *slot = libc::iovec { iov_base: piece.as_ptr() as *mut c_void, iov_len: piece.len() };
    }
    let mask = set_signal_mask(u64::MAX);
    let waiting = is_pending(libc::SIGPIPE);
    // SAFETY: the vector describes live slices.
    let written =
        unsafe { call(libc::SYS_writev, [fd as usize, vector.as_ptr() as usize, pieces.len().min(12), 0, 0, 0]) };
    if written == Err(Errno(libc::EPIPE)) && !waiting {
        take_pending(libc::SIGPIPE);
    }
    set_signal_mask(mask);
}

fn is_pending(signal: c_int) -> bool {
    let mut pending = 0_u64;
    // SAFETY: the kernel fills one word.
    let _ = unsafe { call(libc::SYS_rt_sigpending, [&raw mut pending as usize, 8, 0, 0, 0, 0]) };
    pending & 1 << (signal - 1) != 0
}

/// Takes away a signal that this thread has blocked and that is pending, if it is.
fn take_pending(signal: c_int) {
    let (set, at_once) = (1_u64 << (signal - 1), [0_u64; 2]);
    let args = [&raw const set as usize, 0, at_once.as_ptr() as usize, 8, 0, 0];
    // SAFETY: the kernel reads a set and a time.
    let _ = unsafe { call(libc::SYS_rt_sigtimedwait, args) };
}

/// Allocates the file's blocks for a range, growing the file, whatever the file system can do. Never raises SIGXFSZ.
pub fn allocate(fd: c_int, offset: u64, len: u64) -> Result<()> {
    if offset + len > file_size_limit() {
        return Err(Errno(libc::EFBIG));
    }
    // SAFETY: touches nothing but the file.
    match unsafe { call(libc::SYS_fallocate, [fd as usize, 0, offset as usize, len as usize, 0, 0]) } {
        Err(Errno(libc::EOPNOTSUPP | libc::ENOSYS)) => {}
        other => return other.map(|_| ()),
    }
    static ZEROS: [u8; 512] = [0; 512];
    let mut at = offset;
    while at < offset + len {
        let n = (offset + len - at).min(ZEROS.len() as u64);
        // SAFETY: n is at most the length of ZEROS.
        unsafe { write_at(fd, ZEROS.as_ptr(), n as usize, at) }?;
        at += n;
    }
    Ok(())
}

/// Gives the file this length, without room for what is not there yet. Never raises SIGXFSZ.
pub fn resize(fd: c_int, len: u64) -> Result<()> {
    if len > file_size_limit() {
        return Err(Errno(libc::EFBIG));
    }
    // SAFETY: touches nothing but the file.
    unsafe { call(libc::SYS_ftruncate, [fd as usize, len as usize, 0, 0, 0, 0]) }.map(|_| ())
}

/// Takes away what the file has behind this length.
pub fn shorten(fd: c_int, len: u64) {
    // SAFETY: touches nothing but the file.
    let _ = unsafe { call(libc::SYS_ftruncate, [fd as usize, len as usize, 0, 0, 0, 0]) };
}

/// From where to where the file has data at or after the offset; at the end of all offsets if there is none.
pub fn next_data(fd: c_int, offset: u64) -> Result<core::ops::Range<u64>> {
    // SAFETY: no memory involved.
    let seek = |offset: u64, whence: c_int| unsafe {
        call(libc::SYS_lseek, [fd as usize, offset as usize, whence as usize, 0, 0, 0])
    };
    match seek(offset, libc::SEEK_DATA) {
        Ok(start) => Ok(start as u64..seek(start as u64, libc::SEEK_HOLE)? as u64),
        Err(Errno(libc::ENXIO)) => Ok(u64::MAX - 1..u64::MAX),
        Err(error) => Err(error),
    }
}

/// The soft limit of RLIMIT_FSIZE: going past it would raise a signal in a program that writes no such file itself.
pub fn file_size_limit() -> u64 {
    let mut limit = [u64::MAX; 2];
    let args = [0, libc::RLIMIT_FSIZE as usize, 0, limit.as_mut_ptr() as usize, 0, 0];
    // SAFETY: the kernel fills two words.
    match unsafe { call(libc::SYS_prlimit64, args) } {
        Ok(_) => limit[0],
        Err(_) => u64::MAX,
    }
}

/// Memory that can be read and written to.
pub const READ_WRITE: c_int = libc::PROT_READ | libc::PROT_WRITE;

/// Maps memory.
///
/// # Safety
/// With MAP_FIXED the range must be the caller's to replace.
pub unsafe fn map(at: *mut u8, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: u64) -> Result<*mut u8> {
    let args = [at as usize, len, prot as usize, flags as usize, fd as usize, offset as usize];
    // SAFETY: the caller vouches for fixed ranges; others are new.
    let mapped = unsafe { call(libc::SYS_mmap, args) }.map(|address| address as *mut u8)?;
    valgrind::ignore(mapped, len);
    Ok(mapped)
}

/// Fresh zeroed private memory.
pub fn map_anonymous(len: usize) -> Result<*mut u8> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new range.
    unsafe { map(ptr::null_mut(), len, READ_WRITE, flags, -1, 0) }
}

/// Changes what may be done with pages of ours.
#[cfg(not(any(feature = "shared-library", feature = "counters-alone")))]
pub fn protect(first: u64, length: u64, protection: c_int) -> Result<()> {
    // SAFETY: the pages stay where they are.
    unsafe { call(libc::SYS_mprotect, [first as usize, length as usize, protection as usize, 0, 0, 0]) }.map(drop)
}

/// Unmaps.
///
/// # Safety
/// Nothing may use the range any more.
pub unsafe fn unmap(at: *mut u8, len: usize) {
    // SAFETY: the caller vouches.
    let _ = unsafe { call(libc::SYS_munmap, [at as usize, len, 0, 0, 0, 0]) };
}

/// Maps what follows in the file of a shared mapping once more: somewhere (null), or in the place of what is there.
///
/// # Safety
/// As [`map`] with `MAP_FIXED`, unless the place is null.
pub unsafe fn map_again(from: *mut u8, len: usize, at: *mut u8) -> Result<*mut u8> {
    let fixed = if at.is_null() { 0 } else { libc::MREMAP_FIXED };
    let args = [from as usize, 0, len, (libc::MREMAP_MAYMOVE | fixed) as usize, at as usize, 0];
    // SAFETY: the caller vouches; an old length of 0 leaves the old mapping where it is.
    let mapped = unsafe { call(libc::SYS_mremap, args) }.map(|address| address as *mut u8)?;
    valgrind::ignore(mapped, len);
    Ok(mapped)
}

/// Makes the range zero in forked children; false where the kernel can't (before 4.14).
pub fn wipe_on_fork(at: *mut u8, len: usize) -> bool {
    let args = [at as usize, len, libc::MADV_WIPEONFORK as usize, 0, 0, 0];
    // SAFETY: a range of ours.
    unsafe { call(libc::SYS_madvise, args) }.is_ok()
}

/// Makes pages of a shared mapping holes of their file; false where its file system has none.
///
/// # Safety
/// The pages are ours, and zeros as good as what is there.
pub unsafe fn remove(at: *mut u8, len: usize) -> bool {
    // SAFETY: the caller vouches.
    unsafe { call(libc::SYS_madvise, [at as usize, len, libc::MADV_REMOVE as usize, 0, 0, 0]) }.is_ok()
}

/// Tells the kernel that pages of this mapping are used far from each other: without that it fetches those around each,
/// even if they are holes of the file, and maps them, too.
pub fn expect_random_use(at: *mut u8, len: usize) {
    // SAFETY: this changes no memory. It is a hint: nothing is lost where the kernel won't have it.
    let _ = unsafe { call(libc::SYS_madvise, [at as usize, len, libc::MADV_RANDOM as usize, 0, 0, 0]) };
}

/// How long a file is.
pub fn size(fd: c_int) -> Result<u64> {
    // SAFETY: touches nothing.
    unsafe { call(libc::SYS_lseek, [fd as usize, 0, libc::SEEK_END as usize, 0, 0, 0]) }.map(|size| size as u64)
}

/// Locks a file or folder, if nobody has: until it is closed.
pub fn try_lock(fd: c_int) -> Result<()> {
    let how = libc::LOCK_EX | libc::LOCK_NB;
    // SAFETY: touches nothing.
    unsafe { call(libc::SYS_flock, [fd as usize, how as usize, 0, 0, 0, 0]) }.map(|_| ())
}

/// Renames, replacing.
pub fn rename(from: &CStr, to: &CStr) -> Result<()> {
    answer(paths::rename(from, to)).map(|_| ())
}

/// Removes a file.
pub fn unlink(path: &CStr) {
    let _ = paths::unlink(path);
}

/// Makes a directory.
pub fn mkdir(path: &CStr) -> Result<()> {
    answer(paths::make_folder(path)).map(|_| ())
}

/// Whether a file of that name exists.
pub fn exists(path: &CStr) -> bool {
    answer(paths::ask(path)).is_ok()
}

/// The type bits of what a path leads to (`S_IFREG`, `S_IFDIR`, …).
pub fn file_type(path: &CStr) -> Option<u32> {
    filled(|stat| paths::stat(path, stat)).map(|stat| stat.st_mode & libc::S_IFMT)
}

/// What the kernel says of an open file.
pub fn stat_of(fd: c_int) -> Option<libc::stat> {
    // SAFETY: the kernel fills the structure.
    filled(|stat| unsafe { system_calls::call(libc::SYS_fstat, [fd as usize, &raw mut *stat as usize, 0, 0, 0, 0]) })
}

/// A structure that a call fills, unless it fails.
pub fn filled(call: impl FnOnce(&mut libc::stat) -> isize) -> Option<libc::stat> {
    // SAFETY: all zeros are valid.
    let mut stat = unsafe { core::mem::zeroed() };
    answer(call(&mut stat)).ok()?;
    Some(stat)
}

/// Device and inode of an open file.
pub fn identity(fd: c_int) -> Option<(u64, u64)> {
    stat_of(fd).map(|stat| (stat.st_dev, stat.st_ino))
}

/// The current directory, without a trailing NUL.
pub fn current_directory(buffer: &mut [u8]) -> Result<usize> {
    // SAFETY: the buffer is ours.
    let used = unsafe { call(libc::SYS_getcwd, [buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0, 0]) }?;
    // An unreachable directory is reported as "(unreachable)/…".
    if used < 2 || buffer[0] != b'/' { Err(Errno(libc::ENOENT)) } else { Ok(used - 1) }
}

/// Target of a symbolic link.
pub fn read_link(path: &CStr, buffer: &mut [u8]) -> Result<usize> {
    answer(paths::read_link(path, buffer))
}

/// The host's name.
pub fn host_name(buffer: &mut [u8; 65]) -> usize {
    let mut names = core::mem::MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: the kernel fills the structure.
    if unsafe { call(libc::SYS_uname, [names.as_mut_ptr() as usize, 0, 0, 0, 0, 0]) }.is_err() {
        return 0;
    }
    // SAFETY: filled, and zeros are valid.
    let names = unsafe { names.assume_init() };
    let len = names.nodename.iter().position(|&c| c == 0).unwrap_or(64);
    for (to, from) in buffer.iter_mut().zip(&names.nodename[..len]) {
        *to = *from as u8;
    }
    len
}

/// The process.
pub fn process_id() -> i32 {
    // SAFETY: no arguments.
    unsafe { call(libc::SYS_getpid, [0; 6]) }.unwrap_or(0) as i32
}

/// The thread.
pub fn thread_id() -> i32 {
    // SAFETY: no arguments.
    unsafe { call(libc::SYS_gettid, [0; 6]) }.unwrap_or(0) as i32
}

/// Sends a signal to one thread of this process; signal 0 only asks whether it exists.
pub fn signal_thread(thread: i32, signal: c_int) -> Result<()> {
    let args = [process_id() as usize, thread as usize, signal as usize, 0, 0, 0];
    // SAFETY: no memory involved.
    unsafe { call(libc::SYS_tgkill, args) }.map(|_| ())
}

/// Nanoseconds since the epoch.
pub fn now() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// Nanoseconds since the machine was started.
pub fn since_boot() -> u64 {
    clock(libc::CLOCK_BOOTTIME)
}

fn clock(clock: c_int) -> u64 {
    let mut time = [0_u64; 2];
    let args = [clock as usize, time.as_mut_ptr() as usize, 0, 0, 0, 0];
    // SAFETY: the kernel fills two words.
    let _ = unsafe { call(libc::SYS_clock_gettime, args) };
    time[0] * 1_000_000_000 + time[1]
}

/// Ends the process at once.
#[cfg(any(panic = "abort", not(feature = "shared-library")))]
pub fn exit_group(status: c_int) -> ! {
    loop {
        // SAFETY: does not return.
        let _ = unsafe { call(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]) };
    }
}

/// Lets others run.
pub fn pause_a_little() {
    let time = [0_u64, 50_000];
    // SAFETY: reads two words.
    let _ = unsafe { call(libc::SYS_nanosleep, [time.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Sleeps while the word has the value.
pub fn wait(word: &AtomicU32, value: u32) {
    let args = [word.as_ptr() as usize, libc::FUTEX_WAIT as usize, value as usize, 0, 0, 0];
    // SAFETY: the kernel reads the word.
    let _ = unsafe { call(libc::SYS_futex, args) };
}

/// Wakes who waits for the word to change.
pub fn wake(word: &AtomicU32) {
    let args = [word.as_ptr() as usize, libc::FUTEX_WAKE as usize, i32::MAX as usize, 0, 0, 0];
    // SAFETY: the kernel only looks at the address.
    let _ = unsafe { call(libc::SYS_futex, args) };
}

/// Replaces the signal mask and gives back the old one.
pub fn set_signal_mask(mask: u64) -> u64 {
    let mut old = 0_u64;
    let args = [libc::SIG_SETMASK as usize, &raw const mask as usize, &raw mut old as usize, 8, 0, 0];
    // SAFETY: reads and writes one word each.
    let _ = unsafe { call(libc::SYS_rt_sigprocmask, args) };
    old
}

/// Whether a word can be read there. The kernel copies the set before it refuses the impossible first argument.
pub fn readable(address: u64) -> bool {
    // SAFETY: with an invalid `how` nothing changes.
    let answer = unsafe { call(libc::SYS_rt_sigprocmask, [usize::MAX, address as usize, 0, 8, 0, 0]) };
    answer != Err(Errno(libc::EFAULT))
}

/// The disposition of a signal as the kernel has it: handler address, SIG_DFL or SIG_IGN.
pub fn disposition(signal: c_int) -> usize {
    action(signal)[0]
}

/// All of a signal's disposition as the kernel has it: handler, flags, restorer, mask.
pub fn action(signal: c_int) -> [usize; 4] {
    let mut action = [0_usize; 4];
    let args = [signal as usize, 0, action.as_mut_ptr() as usize, 8, 0, 0];
    // SAFETY: the kernel fills its 32-byte sigaction.
    let _ = unsafe { call(libc::SYS_rt_sigaction, args) };
    action
}

/// Sends a signal to one thread of this process, with what is known of it.
///
/// # Safety
/// `info` must be null, or as the kernel gave it to a handler.
#[cfg(not(feature = "shared-library"))]
pub unsafe fn queue_signal(thread: i32, signal: c_int, info: *const libc::siginfo_t) {
    let args = [process_id() as usize, thread as usize, signal as usize, info as usize, 0, 0];
    // SAFETY: the kernel reads the record.
    if unsafe { call(libc::SYS_rt_tgsigqueueinfo, args) }.is_err() {
        let _ = signal_thread(thread, signal);
    }
}

/// Installs a kernel sigaction (handler, flags, restorer, mask) and gives back the one before.
///
/// # Safety
/// The handler must be fit to be called by the kernel.
pub unsafe fn set_disposition(signal: c_int, action: &[usize; 4]) -> [usize; 4] {
    let mut before = [0; 4];
    let args = [signal as usize, action.as_ptr() as usize, before.as_mut_ptr() as usize, 8, 0, 0];
    // SAFETY: the caller vouches for the handler; the kernel fills its 32-byte sigaction.
    let _ = unsafe { call(libc::SYS_rt_sigaction, args) };
    before
}

/// `execve`.
///
/// # Safety
/// All must be C strings and NULL-terminated lists of such.
#[cfg(not(feature = "shared-library"))]
pub unsafe fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char) -> Errno {
    // SAFETY: the caller vouches.
    match unsafe { call(libc::SYS_execve, [path as usize, argv as usize, envp as usize, 0, 0, 0]) } {
        Err(error) => error,
        Ok(_) => Errno(0),
    }
}

/// Sets the base of the segment register.
///
/// # Safety
/// The program must have no other use for the register.
pub unsafe fn set_segment_base(base: u64) -> Result<()> {
    // SAFETY: the caller vouches.
    answer(unsafe { segment::set_base(base) }).map(drop)
}
