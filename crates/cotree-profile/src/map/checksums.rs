//! Checksums of source files, by which readers see that a file was edited since the build.

use super::MapError;
use super::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::ProgramMap;

/// Writes those of all files.
pub(super) fn write(program: &ProgramMap, w: &mut Writer) {
    for (&file, sums) in &program.checksums {
        for sum in sums {
            let sum = u128::from_be_bytes(*sum);
            w.put(Stream::FileSum, u64::from(file));
            w.put(Stream::FileSum, (sum >> 64) as u64);
            w.put(Stream::FileSum, sum as u64);
        }
    }
}

/// Reads them, if the map has them.
pub(super) fn read(program: &mut ProgramMap, r: &mut Reader<'_>) -> Result<(), MapError> {
    while r.left(Stream::FileSum) > 0 {
        let file = r.get_u32(Stream::FileSum)?;
        if file as usize >= program.files.len() {
            return Err(MapError::Invalid("a checksum is of no file"));
        }
        let [high, low] = [r.get(Stream::FileSum)?, r.get(Stream::FileSum)?].map(u128::from);
        program.checksums.entry(file).or_default().insert((high << 64 | low).to_be_bytes());
    }
    Ok(())
}
