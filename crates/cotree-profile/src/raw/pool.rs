//! What a process that was killed has left beside a pool.

use super::{HEADER_SIZE, Header, at, read};
use crate::counts::UnitCounts;
use crate::error::ProfileError;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

/// The profile that was being added to the pool of this name, unless the pool has it already.
pub(crate) fn left_over(pool: &Path) -> Result<Option<UnitCounts>, ProfileError> {
    let mut name = pool.as_os_str().to_owned();
    name.push(".joining");
    let joining = PathBuf::from(name);
    let file = match File::open(&joining) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(ProfileError::Io { path: joining, cause }),
    };
    let (pool, _, _) =
        header(File::open(pool).map_err(|cause| ProfileError::Io { path: pool.to_owned(), cause })?, pool)?;
    let (own, file, length) = header(file, &joining)?;
    if (pool.pid(), pool.u64(at::LAST_STARTED)) == (own.pid(), own.u64(at::STARTED)) {
        return Ok(None);
    }
    read(file, length, &joining).map(Some)
}

/// The header of a file, which is at its start again, and the file's length.
fn header(mut file: File, path: &Path) -> Result<(Header, File, u64), ProfileError> {
    let io = |cause: io::Error| ProfileError::Io { path: path.to_owned(), cause };
    let length = file.metadata().map_err(io)?.len();
    let mut page = Box::new([0; HEADER_SIZE]);
    file.read_exact(&mut page[..]).map_err(io)?;
    file.rewind().map_err(io)?;
    Ok((Header::new(page, length, path)?, file, length))
}
