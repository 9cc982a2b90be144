//! The section `__llvm_prf_names`: chunks of names, perhaps compressed.

use super::bytes::Bytes;
use super::error::CoverageFault;
use flate2::read::ZlibDecoder;
use std::collections::HashMap;
use std::io::Read;

/// No zlib stream unpacks to more than this per byte.
const LARGEST_RATIO: u64 = 1032;

/// The names of functions, by the lower 64 bits of their MD5 hashes.
pub(super) fn read(section: &[u8]) -> Result<HashMap<u64, String>, CoverageFault> {
    let mut names = HashMap::new();
    let mut bytes = Bytes::new(section, true, "the section __llvm_prf_names");
    while !bytes.is_empty() {
        if bytes.rest()[0] == 0 {
            // The linker has put it between two chunks.
            bytes.take(1)?;
            continue;
        }
        let unpacked_length = bytes.number()?;
        let packed_length = bytes.count()?;
        let unpacked;
        let chunk = if packed_length == 0 {
            let length = usize::try_from(unpacked_length).map_err(|_| CoverageFault::Ends("a list of names"))?;
            bytes.take(length)?
        } else {
            unpacked = unpack(bytes.take(packed_length)?, unpacked_length)?;
            &unpacked
        };
        for name in chunk.split(|&byte| byte == 1).filter(|name| !name.is_empty()) {
            names.insert(hash(name), String::from_utf8_lossy(name).into_owned());
        }
    }
    Ok(names)
}

/// The number by which LLVM knows a function of this name: the lower 64 bits of its MD5 hash.
#[must_use]
pub fn name_hash(name: &str) -> u64 {
    hash(name.as_bytes())
}

/// The lower 64 bits of an MD5 hash, by which maps refer to names of functions and to lists of files.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = md5::compute(bytes).0;
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

/// Unpacks a zlib stream that must have this length.
pub(super) fn unpack(packed: &[u8], length: u64) -> Result<Vec<u8>, CoverageFault> {
    if length > (packed.len() as u64).saturating_mul(LARGEST_RATIO) {
        return Err(CoverageFault::Invalid("a list of names claims to unpack to more than it can"));
    }
    let mut unpacked = Vec::new();
    let read = ZlibDecoder::new(packed).take(length + 1).read_to_end(&mut unpacked);
    if read.is_err() || unpacked.len() as u64 != length {
        return Err(CoverageFault::Invalid("a list of names does not unpack"));
    }
    Ok(unpacked)
}
