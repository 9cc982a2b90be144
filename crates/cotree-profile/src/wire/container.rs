//! The envelope of a packed file: magic, version, lengths and a checksum around its content.
//!
//! ```text
//! magic 8 · version 4 · zero 4 · id (0 or 16) · unpacked length 8 · payload length 8 · checksum 8 · payload
//! ```
//!
//! The checksum is that of all bytes before it followed by the payload.

use super::WireError;
use cotree_rt::layout::Checksum;

/// A kind of packed file.
#[derive(Debug)]
pub(crate) struct ContainerFormat {
    /// The first bytes of the file.
    pub(crate) magic: [u8; 8],
    /// Bytes of the id in its header.
    pub(crate) id: usize,
    /// The version of the format.
    pub(crate) version: u32,
    /// A file may unpack to this many bytes, and [`Self::ratio`] more per byte of its payload. The writer pads where
    /// that is not enough.
    pub(crate) basis: u64,
    /// See [`Self::basis`].
    pub(crate) ratio: u64,
}

/// The header of a packed file, checked against its length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The unpacked length of the streams.
    pub(crate) unpacked: u64,
    /// Bytes of payload.
    pub(crate) packed: usize,
    checksum: u64,
}

impl ContainerFormat {
    /// Bytes before the payload.
    pub(crate) const fn header(&self) -> usize {
        40 + self.id
    }

    /// Reads the header that the bytes begin with; `length` is that of the whole file.
    pub(crate) fn read(&self, bytes: &[u8], length: u64) -> Result<Header, WireError> {
        if !bytes.starts_with(&self.magic) {
            return Err(WireError::NoMagic);
        }
        let size = self.header();
        let Some(head) = bytes.get(..size) else {
            return Err(WireError::Truncated { have: bytes.len() as u64, need: size as u64 });
        };
        let word = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let version = u32::from_le_bytes(head[8..12].try_into().expect("four bytes"));
        if version != self.version {
            return Err(WireError::Version { found: version, expected: self.version });
        }
        let (unpacked, packed) = (word(size - 24), word(size - 16));
        let need = packed.saturating_add(size as u64);
        if need > length {
            return Err(WireError::Truncated { have: length, need });
        }
        let packed = usize::try_from(packed).map_err(|_| WireError::TooLarge(packed))?;
        Ok(Header { unpacked, packed, checksum: word(size - 8) })
    }

    /// Checks header and payload against the checksum, and the claimed unpacked length against its limit.
    pub(crate) fn check(&self, head: &[u8], header: &Header, payload: &[u8]) -> Result<(), WireError> {
        if checksum(&head[..self.header() - 8], payload) != header.checksum {
            return Err(WireError::Checksum);
        }
        if header.unpacked > self.basis.saturating_add((payload.len() as u64).saturating_mul(self.ratio)) {
            return Err(WireError::TooLarge(header.unpacked));
        }
        Ok(())
    }

    /// Puts a header before a payload, and zeros after it where its unpacked length would exceed the limit.
    pub(crate) fn seal(&self, id: &[u8], unpacked: u64, payload: &[u8]) -> Vec<u8> {
        assert_eq!(id.len(), self.id, "an id of this kind of file");
        let needed = unpacked.saturating_sub(self.basis).div_ceil(self.ratio);
        let packed = payload.len().max(usize::try_from(needed).expect("less than what is in memory"));
        let size = self.header();
        let mut bytes = Vec::with_capacity(size + packed);
        bytes.extend_from_slice(&self.magic);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&0u32.to_le_bytes());
        bytes.extend_from_slice(id);
        bytes.extend_from_slice(&unpacked.to_le_bytes());
        bytes.extend_from_slice(&(packed as u64).to_le_bytes());
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(payload);
        bytes.resize(size + packed, 0);
        let sum = checksum(&bytes[..size - 8], &bytes[size..]);
        bytes[size - 8..size].copy_from_slice(&sum.to_le_bytes());
        bytes
    }
}

/// The checksum of a header, its own place left out, and the payload.
pub(crate) fn checksum(head: &[u8], payload: &[u8]) -> u64 {
    let mut sum = Checksum::new((head.len() + payload.len()) as u64);
    sum.add(head);
    sum.add(payload);
    sum.finish()
}
