//! Snapshots of running processes: their counters are in a file mapping, so others can read them while the process
//! counts.
//!
//! A copy made while the process counts would hold counters of slightly different moments, for which flow conservation
//! does not hold. So the file is read until two successive copies are equal. A process that waits for something
//! gives equal copies at once; one that keeps counting is stopped for the moment of the copy.

use crate::atomic::{self, Over, WriteError};
use crate::error::ProfileError;
use crate::raw::{HEADER_SIZE, Header, Segments};
use crate::regular;
use cotree_rt::layout::{self, BodyChecksum, PAGE, RawHeader, State};
use rustix::fs::makedev;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use zerocopy::{IntoBytes, transmute};

/// Why no snapshot could be taken.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The process cannot be inspected.
    #[error("cannot look at process {pid}: {cause} (is it running, and yours?)")]
    Process {
        /// The process.
        pid: u32,
        /// The cause.
        cause: io::Error,
    },
    /// No counters there.
    #[error(
        "process {pid} has no cotree profile open: it was not built with cotree, or its counters are not in a file (COTREE_FILE)"
    )]
    NoProfile {
        /// The process.
        pid: u32,
    },
    /// The file is no profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The snapshot cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// How to deal with a process that keeps counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Stop it (SIGSTOP) for the moment of the copy.
    IfNeeded,
    /// Take counters of slightly different moments.
    Never,
}

/// A copy of the profile of a running process, as the bytes of a raw profile in state `SNAPSHOT`.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The mapped file.
    pub live: PathBuf,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// All counters are of one moment.
    pub consistent: bool,
}

impl Snapshot {
    /// Writes it where nothing is yet, atomically.
    ///
    /// # Errors
    /// Errors of the file system, of kind `AlreadyExists` if the name is taken.
    pub fn write_new(&self, path: &Path) -> Result<(), WriteError> {
        atomic::write_new(path, |out| out.write_all(&self.bytes))
    }

    /// Writes it, atomically.
    ///
    /// # Errors
    /// Errors of the file system, of kind `AlreadyExists` for what must not be replaced.
    pub fn write(&self, path: &Path, over: Over) -> Result<(), WriteError> {
        atomic::write_over(path, over, |out| out.write_all(&self.bytes))
    }
}

/// Copies the profiles that a running process counts in: one per link unit.
///
/// # Errors
/// See [`SnapshotError`].
pub fn take(pid: u32, pause: Pause) -> Result<Vec<Snapshot>, SnapshotError> {
    let profiles = live_profiles(pid)?;
    if profiles.is_empty() {
        return Err(SnapshotError::NoProfile { pid });
    }
    profiles.into_iter().map(|(name, readable)| copy(pid, name, &readable, pause)).collect()
}

/// The profiles mapped by the process: their names, and the paths by which we can read them.
fn live_profiles(pid: u32) -> Result<Vec<(PathBuf, PathBuf)>, SnapshotError> {
    let process = |cause| SnapshotError::Process { pid, cause };
    let maps = fs::read(format!("/proc/{pid}/maps")).map_err(process)?;
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for line in maps.split(|&b| b == b'\n') {
        // address perms offset dev inode path
        let mut fields = line.splitn(6, |&b| b == b' ');
        let Some(range) = fields.next() else { continue };
        let (Some(device), Some(inode), Some(path)) = (fields.nth(2), fields.next(), fields.next()) else { continue };
        let Some(mapped) = identity(device, inode) else { continue };
        let name = String::from_utf8_lossy(path.trim_ascii_start()).into_owned();
        let name = name.strip_suffix(" (deleted)").unwrap_or(&name);
        if !name.ends_with(".live") || !seen.insert(name.to_owned()) {
            continue;
        }
        let range = String::from_utf8_lossy(range);
        let paths = [format!("/proc/{pid}/map_files/{range}"), format!("/proc/{pid}/root{name}"), name.to_owned()];
        let readable = paths.into_iter().map(PathBuf::from).find_map(|path| Some((writer(&path, mapped)?, path)));
        found.extend(readable.map(|(writer, path)| (writer, PathBuf::from(name), path)));
    }
    // A forked child still has its parent's profile mapped, but counts in one of its own.
    let known_as = numbers_of(pid);
    if found.iter().any(|(writer, ..)| known_as.contains(writer)) {
        found.retain(|(writer, ..)| known_as.contains(writer));
    }
    Ok(found.into_iter().map(|(_, name, path)| (name, path)).collect())
}

/// Device and inode of a mapped file, as `/proc/PID/maps` writes them.
fn identity(device: &[u8], inode: &[u8]) -> Option<(u64, u64)> {
    let (device, inode) = (std::str::from_utf8(device).ok()?, std::str::from_utf8(inode).ok()?);
    let (major, minor) = device.split_once(':')?;
    let [major, minor] = [major, minor].map(|part| u32::from_str_radix(part, 16).ok());
    Some((makedev(major?, minor?), inode.parse().ok()?))
}

/// The number of the process that writes a profile, in its own namespace; `None` if the file is no profile, or is not
/// the one that is mapped: whoever may write to its folder may have put something else there.
fn writer(path: &Path, mapped: (u64, u64)) -> Option<u32> {
    let mut page = [0; HEADER_SIZE];
    let mut file = regular::open(path).ok()?;
    let found = file.metadata().ok()?;
    if (found.dev(), found.ino()) != mapped {
        return None;
    }
    file.read_exact(&mut page).ok()?;
    let header: RawHeader = transmute!(page);
    (header.magic == layout::MAGIC).then_some(header.pid)
}

/// The numbers of a process in all its namespaces.
fn numbers_of(pid: u32) -> Vec<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    numbers.split_whitespace().filter_map(|number| number.parse().ok()).chain([pid]).collect()
}

fn copy(pid: u32, live: PathBuf, readable: &Path, pause: Pause) -> Result<Snapshot, SnapshotError> {
    let read = || -> Result<Vec<u8>, SnapshotError> {
        regular::read(readable, u64::MAX).map_err(|cause| ProfileError::Io { path: live.clone(), cause }.into())
    };
    let mut bytes = read()?;
    let mut consistent = false;
    for _ in 0..3 {
        let again = read()?;
        if again == bytes {
            consistent = true;
            break;
        }
        bytes = again;
    }
    if !consistent && pause == Pause::IfNeeded {
        let stopped = Stopped::new(pid)?;
        bytes = read()?;
        consistent = stopped.held;
        drop(stopped);
    }
    let bytes = finish(bytes, pid, &live)?;
    Ok(Snapshot { live, bytes, consistent })
}

/// Completes the header, so that readers see a snapshot and can check it.
fn finish(mut bytes: Vec<u8>, pid: u32, live: &Path) -> Result<Vec<u8>, ProfileError> {
    let length = bytes.len() as u64;
    let Some(page) = bytes.first_chunk::<HEADER_SIZE>() else {
        return Err(ProfileError::Truncated { path: live.to_owned(), have: length, need: PAGE });
    };
    let header = Header::new(page, length, live)?;
    if header.fields().state != State::RUNNING {
        return Ok(bytes); // It ended while we looked.
    }
    let segments = Segments::find(io::Cursor::new(&bytes), &header, length, live)?;
    let end = usize::try_from(header.end().max(segments.end()).min(length)).expect("checked against the length");
    bytes.truncate(end);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let mut body = BodyChecksum::new((bytes.len() - HEADER_SIZE) as u64);
    body.add(&bytes[HEADER_SIZE..]);
    let page = header.into_snapshot(u64::try_from(now).unwrap_or(u64::MAX), threads_of(pid), body.finish());
    bytes[..HEADER_SIZE].copy_from_slice(page.as_bytes());
    Ok(bytes)
}

fn threads_of(pid: u32) -> u32 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    u32::try_from(tasks).unwrap_or(u32::MAX).max(1)
}

/// A process that we stopped. If it ran before, it continues when this is dropped.
struct Stopped {
    pid: Pid,
    resume: bool,
    /// All its threads stand still.
    held: bool,
}

impl Stopped {
    fn new(pid: u32) -> Result<Self, SnapshotError> {
        let failed = |cause: io::Error| SnapshotError::Process { pid, cause };
        let raw = i32::try_from(pid)
            .ok()
            .and_then(Pid::from_raw)
            .ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let resume = !all_stopped(pid);
        if resume {
            kill_process(raw, Signal::STOP).map_err(|e| failed(e.into()))?;
        }
        let mut stopped = Self { pid: raw, resume, held: false };
        for _ in 0..500 {
            if all_stopped(pid) {
                stopped.held = true;
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(stopped)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        if self.resume {
            // If it is gone by now there is nothing to resume.
            let _ = kill_process(self.pid, Signal::CONT);
        }
    }
}

fn all_stopped(pid: u32) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    tasks.flatten().all(|task| {
        // "pid (name) state …"; the name may hold anything, parentheses included.
        let stat = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        stat.rsplit_once(')')
            .is_some_and(|(_, rest)| matches!(rest.trim_start().chars().next(), Some('T' | 't' | 'Z' | 'X')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_tell_who_writes_them() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut header: RawHeader = transmute!([0_u8; HEADER_SIZE]);
        (header.magic, header.pid) = (layout::MAGIC, 77);
        fs::write(file.path(), header.as_bytes()).expect("it can be written");
        let found = file.as_file().metadata().expect("it is there");
        let mapped = (found.dev(), found.ino());
        assert_eq!(writer(file.path(), mapped), Some(77));
        assert_eq!(writer(file.path(), (found.dev(), found.ino() + 1)), None);
        fs::write(file.path(), &header.as_bytes()[..20]).expect("it can be written");
        assert_eq!(writer(file.path(), mapped), None);
        assert_eq!(identity(b"fd:01", b"77"), Some((makedev(0xFD, 1), 77)));
        assert!(numbers_of(std::process::id()).contains(&std::process::id()));
    }
}
