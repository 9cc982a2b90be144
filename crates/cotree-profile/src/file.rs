//! Opens profiles of any kind.

use crate::counts::UnitCounts;
use crate::error::ProfileError;
use crate::{merged, raw, regular};
use cotree_rt::layout;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

/// Which format a profile has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileFormat {
    /// Written by one process.
    Raw,
    /// Written by `cotree merge`.
    Merged,
}

/// A profile, read.
#[derive(Clone, Debug)]
pub struct ProfileFile {
    /// The file.
    pub path: PathBuf,
    /// The format of the file.
    pub kind: ProfileFormat,
    /// The link units that it has counts of: exactly one if it is raw.
    pub units: Vec<UnitCounts>,
}

impl ProfileFile {
    /// Reads a profile of any kind.
    ///
    /// # Errors
    /// See [`ProfileError`].
    pub fn open(path: &Path) -> Result<Self, ProfileError> {
        for _ in 0..MOST_CHANGES {
            if let Some(profile) = Self::open_if_still(path)? {
                return Ok(profile);
            }
        }
        Err(ProfileError::Io { path: path.to_owned(), cause: io::Error::other("processes add to it all the time") })
    }

    /// `None`: it is a pool, and has changed meanwhile.
    fn open_if_still(path: &Path) -> Result<Option<Self>, ProfileError> {
        // Of a pool whose first process was killed there is the profile that was to become the pool.
        let joining = raw::joining(path);
        let path = if !path.exists() && joining.exists() { &joining } else { path };
        let io = |cause| ProfileError::Io { path: path.to_owned(), cause };
        let mut file = regular::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        let mut magic = Vec::with_capacity(8);
        file.by_ref().take(8).read_to_end(&mut magic).map_err(io)?;
        file.rewind().map_err(io)?;
        let (kind, units) = match magic.first_chunk::<8>() {
            Some(&layout::MAGIC) => match raw::read_with_left(file, path)? {
                Some(counts) => (ProfileFormat::Raw, vec![counts]),
                None => return Ok(None),
            },
            Some(&merged::MAGIC) => {
                (ProfileFormat::Merged, merged::read(BufReader::with_capacity(1 << 16, file), metadata.len(), path)?)
            }
            _ if magic.is_empty() => return Err(ProfileError::Empty { path: path.to_owned() }),
            _ => return Err(ProfileError::NotAProfile { path: path.to_owned(), hint: hint(&magic) }),
        };
        Ok(Some(Self { path: path.to_owned(), kind, units }))
    }
}

/// A pool that changes that often while it is read is not read.
const MOST_CHANGES: usize = 100;

fn hint(magic: &[u8]) -> &'static str {
    match magic {
        [0x7F, b'E', b'L', b'F', ..] => {
            ": it is a program or library; run it, and give the .cotree file that it writes"
        }
        [0x81, b'r', b'f', b'o', b'r', b'p' | b'R', b'l', 0xFF]
        | [0xFF, b'l', b'p' | b'R', b'r', b'o', b'f', b'r', 0x81] => {
            ": it is a raw profile of LLVM's own instrumentation, which llvm-profdata reads"
        }
        [b'a', b'd', b'c', b'g', ..] | [b'g', b'c', b'd', b'a', ..] => ": it is a gcov data file, which gcov reads",
        [b'P', b'E', b'R', b'F', b'I', b'L', b'E', b'2'] => ": it is a recording of perf",
        b"COTREEMP" => ": it is the map of a binary",
        _ => " (a profile ends in .cotree, or in .live while its program runs or if it was killed)",
    }
}
