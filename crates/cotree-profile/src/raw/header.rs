//! The header page of a raw profile. Nothing in it is trusted before it fits the file.

use crate::binary::UnitId;
use crate::error::ProfileError;
use crate::method::check_header;
use crate::regular;
use crate::runs::Runs;
use cotree_rt::layout::{Flags, MAGIC, PAGE, RawHeader, State, TraceWord, VERSION, checksum};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use zerocopy::{IntoBytes, transmute};

pub(crate) const HEADER_SIZE: usize = PAGE as usize;

/// The header page of a raw profile, checked against the length of its file.
#[derive(Clone, Debug)]
pub struct Header(Box<RawHeader>);

impl Header {
    /// Checks a header page; `length` is that of the file.
    ///
    /// # Errors
    /// For any impossible value: see [`ProfileError`].
    pub fn new(page: &[u8; HEADER_SIZE], length: u64, path: &Path) -> Result<Self, ProfileError> {
        let header = Self(Box::new(transmute!(*page)));
        let fields = &header.0;
        let damaged = |what: &'static str| ProfileError::Damaged { path: path.to_owned(), what };
        if fields.magic != MAGIC {
            return Err(ProfileError::NotAProfile { path: path.to_owned(), hint: "" });
        }
        if fields.version != VERSION {
            let version = fields.version;
            return Err(ProfileError::Version { path: path.to_owned(), version, expected: VERSION });
        }
        check_header(fields).map_err(damaged)?;
        if Runs::one(fields.state).is_none() {
            return Err(damaged("its state is unknown"));
        }
        if fields.state != State::RUNNING && header.checksum() != fields.header_checksum {
            return Err(damaged("the checksum of its header is wrong"));
        }
        if fields.flags.without(Flags::KNOWN) != Flags::NONE {
            return Err(damaged("it has flags that this cotree does not know"));
        }
        let text_fits = fields.binary_len as usize <= fields.binary.len()
            && fields.command_len as usize <= fields.command.len()
            && fields.test_len as usize <= fields.test.len();
        if !text_fits {
            return Err(damaged("its texts are longer than their places"));
        }
        if !fields.early_capacity.is_power_of_two() {
            return Err(damaged("the size of its table of early exits is no power of two"));
        }
        let early_end = fields.early_capacity.checked_mul(16).and_then(|n| n.checked_add(fields.early_offset));
        let slab = fields.counter_count.checked_mul(8);
        let slabs = fields.slab_stride.checked_mul(fields.slab_count);
        let end = slabs.and_then(|n| n.checked_add(fields.slabs_offset));
        let (Some(early_end), Some(slab), Some(end)) = (early_end, slab, end) else {
            return Err(damaged("its sizes make no sense"));
        };
        let sensible = fields.early_offset >= PAGE
            && fields.early_offset.is_multiple_of(8)
            && early_end <= fields.slabs_offset
            && fields.slabs_offset.is_multiple_of(8)
            && slab <= fields.slab_stride
            && fields.slab_stride.is_multiple_of(8)
            && (fields.slab_count > 0 || fields.counter_count == 0)
            && (fields.trace_word == 0 || fields.trace_word.saturating_add(TraceWord::COUNT) <= fields.slab_stride / 8);
        if !sensible {
            return Err(damaged("its sizes make no sense"));
        }
        if end > length {
            return Err(ProfileError::Truncated { path: path.to_owned(), have: length, need: end });
        }
        Ok(header)
    }

    fn checksum(&self) -> u64 {
        let unsealed = RawHeader { header_checksum: 0, ..RawHeader::clone(&self.0) };
        checksum(unsealed.as_bytes())
    }

    /// The fields.
    #[must_use]
    pub fn fields(&self) -> &RawHeader {
        &self.0
    }

    /// The build that was run.
    #[must_use]
    pub fn unit(&self) -> UnitId {
        UnitId(self.0.unit)
    }

    /// How its runs ended, which are many only in a pool.
    pub(super) fn runs(&self) -> Runs {
        match [self.0.runs_finished, self.0.runs_aborted] {
            [0, 0] => Runs::one(self.0.state).unwrap_or_default(),
            [finished, aborted] => Runs { finished, aborted, ..Runs::default() },
        }
    }

    /// Where the binary was.
    #[must_use]
    pub fn binary(&self) -> PathBuf {
        PathBuf::from(OsStr::from_bytes(&self.0.binary[..self.0.binary_len as usize]))
    }

    /// The command line.
    #[must_use]
    pub fn command(&self) -> Vec<String> {
        let bytes = &self.0.command[..self.0.command_len as usize];
        let arguments = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        if arguments.is_empty() {
            return Vec::new();
        }
        arguments.split(|&b| b == 0).map(|a| String::from_utf8_lossy(a).into_owned()).collect()
    }

    /// The name of the test that the program ran in, if it had one.
    #[must_use]
    pub fn test(&self) -> Option<String> {
        let name = &self.0.test[..self.0.test_len as usize];
        (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned())
    }

    /// The places of slabs in the file.
    pub(crate) fn slabs(&self) -> impl Iterator<Item = Range<u64>> {
        let (start, stride) = (self.0.slabs_offset, self.0.slab_stride);
        (0..self.0.slab_count).map(move |slab| start + slab * stride..start + (slab + 1) * stride)
    }

    /// Whether a slab is at this offset of the file.
    pub(super) fn is_slab(&self, offset: u64) -> bool {
        let slabs = self.0.slabs_offset..self.end();
        slabs.contains(&offset) && (offset - slabs.start).is_multiple_of(self.0.slab_stride.max(1))
    }

    /// Bytes of one slab that are counters.
    pub(super) fn slab_bytes(&self) -> u64 {
        self.0.counter_count * 8
    }

    /// The end of the last slab.
    pub(crate) fn end(&self) -> u64 {
        self.0.slabs_offset + self.0.slab_stride * self.0.slab_count
    }

    /// Turns the header of a running process's profile into that of a snapshot of it.
    pub(crate) fn into_snapshot(mut self, now_ns: u64, threads: u32, body: u64) -> Box<RawHeader> {
        let fields = &mut self.0;
        fields.state = State::SNAPSHOT;
        fields.threads_alive = threads;
        fields.ended_ns = now_ns;
        fields.flags |= Flags::THREADS_ALIVE;
        fields.body_checksum = body;
        self.0.header_checksum = self.checksum();
        self.0
    }
}

/// Whether a file is the profile of a process that could account for its end. Its name says nothing:
/// who takes away its own rights, or the folder, can't give it its final name.
#[must_use]
pub fn is_finished(path: &Path) -> bool {
    let head = || -> io::Result<bool> {
        let mut page = [0; HEADER_SIZE];
        regular::open(path)?.read_exact(&mut page)?;
        let header: RawHeader = transmute!(page);
        Ok(header.magic == MAGIC && matches!(header.state, State::FINISHED | State::ABORTED))
    };
    head().unwrap_or(false)
}
