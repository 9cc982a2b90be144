//! Pools, as processes that were killed leave them, and as they are while others add to them.
//!
//! A profile is added to a pool in four steps: it gets the pool's name with `.joining` behind it; the sum is written to
//! a new file; that takes the pool's place; the profile is removed. The pool's header says whose profile was added
//! last. So what has such a name is in the pool already or it is not, and which of the two can be told as long as the
//! pool is the same file.

use super::body::read;
use super::header::{HEADER_SIZE, Header};
use crate::counts::UnitCounts;
use crate::error::ProfileError;
use crate::regular;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of the profile that is being added to a pool.
#[must_use]
pub fn joining(pool: &Path) -> PathBuf {
    let mut name = pool.as_os_str().to_owned();
    name.push(".joining");
    name.into()
}

/// The pool to which the profile of such a name is being added.
pub fn pool_of(joining: &Path) -> Option<PathBuf> {
    (joining.extension()? == "joining").then(|| joining.with_extension(""))
}

/// Reads a raw profile, which may be a pool, with a profile that was being added to it and is not in it yet. `None`:
/// another file has taken the pool's place meanwhile.
pub(crate) fn read_with_left(file: File, path: &Path) -> Result<Option<UnitCounts>, ProfileError> {
    let io = |cause| ProfileError::Io { path: path.to_owned(), cause };
    let identity = identity_of(&file.metadata().map_err(io)?);
    let (pool, file, length) = header(file, path)?;
    let mut counts = read(file, length, path)?;
    let joining = joining(path);
    let own = match regular::open(&joining) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(counts)),
        Err(cause) => return Err(ProfileError::Io { path: joining, cause }),
    };
    // Profiles are removed before the next one is added: this one is of the pool that was read, or the pool is another
    // one.
    if fs::metadata(path).ok().as_ref().map(identity_of) != Some(identity) {
        return Ok(None);
    }
    let (own, file, length) = header(own, &joining)?;
    let last = (pool.fields().pid, pool.fields().last_started_ns);
    if last == (own.fields().pid, own.fields().started_ns) {
        return Ok(Some(counts));
    }
    let left = read(file, length, &joining)?;
    if left.unit == counts.unit {
        counts.add(&left, 1).map_err(|_| ProfileError::Damaged {
            path: path.to_owned(),
            what: "the profile that was being added to it has other counters",
        })?;
    }
    Ok(Some(counts))
}

fn identity_of(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// The header of a file, which is at its start again, and the file's length.
fn header(mut file: File, path: &Path) -> Result<(Header, File, u64), ProfileError> {
    let io = |cause: io::Error| ProfileError::Io { path: path.to_owned(), cause };
    let length = file.metadata().map_err(io)?.len();
    let mut page = [0; HEADER_SIZE];
    match file.read_exact(&mut page) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need: HEADER_SIZE as u64 });
        }
        result => result.map_err(io)?,
    }
    file.rewind().map_err(io)?;
    Ok((Header::new(&page, length, path)?, file, length))
}
