//! Checksums of profiles and maps.

/// A 64-bit checksum of bytes, eight at a time (the last ones padded with zeros), for damage, not for enemies.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::new(bytes.len() as u64);
    sum.add(bytes);
    sum.finish()
}

/// [`checksum`] of bytes that come in pieces.
pub struct Checksum(u64);

impl Checksum {
    /// Of `len` bytes in all.
    #[must_use]
    pub const fn new(len: u64) -> Self {
        Self(0xCBF2_9CE4_8422_2325_u64 ^ len)
    }

    /// The next piece; only the last one may have a length that is no multiple of eight.
    pub fn add(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0u8; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(word));
        }
    }

    const fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    /// The sum.
    #[must_use]
    pub const fn finish(self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// Since this version of raw profiles the sum of the body is [`BodyChecksum`]'s; before it was [`checksum`].
const SPARSE_VERSION: u32 = 3;
/// Bytes that [`BodyChecksum`] takes at once.
const LINE: usize = 64;
/// Lines that are looked at together.
const LINES: usize = 16;

/// The checksum of what follows the header page of a raw profile, in pieces: that of the lines that are not all zeros, each
/// with its number before it. Most words of path arrays stay zero, and looking whether they did takes a tenth of the time.
pub struct BodyChecksum {
    sum: Checksum,
    sparse: bool,
    /// The number of the next line.
    line: u64,
    /// Bytes of that line that have come already.
    part: [u8; LINE],
    filled: usize,
}

impl BodyChecksum {
    /// Of `len` bytes in all, in files of that version.
    #[must_use]
    pub const fn new(version: u32, len: u64) -> Self {
        let sparse = version >= SPARSE_VERSION;
        Self { sum: Checksum::new(len), sparse, line: 0, part: [0; LINE], filled: 0 }
    }

    /// The next piece. Before version 3 only the last one may have a length that is no multiple of eight.
    pub fn add(&mut self, mut bytes: &[u8]) {
        if !self.sparse {
            self.sum.add(bytes);
            return;
        }
        if self.filled > 0 {
            let (head, rest) = bytes.split_at(bytes.len().min(LINE - self.filled));
            self.part[self.filled..self.filled + head.len()].copy_from_slice(head);
            self.filled += head.len();
            bytes = rest;
            if self.filled < LINE {
                return;
            }
            let part = self.part;
            self.lines(&[part]);
        }
        let (lines, rest) = bytes.as_chunks::<LINE>();
        let (groups, few) = lines.as_chunks::<LINES>();
        for group in groups {
            if any(group.as_flattened()) {
                self.lines(group);
            } else {
                self.line += LINES as u64;
            }
        }
        self.lines(few);
        self.part[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    fn lines(&mut self, lines: &[[u8; LINE]]) {
        for line in lines {
            if any(line) {
                self.sum.word(self.line);
                self.sum.add(line);
            }
            self.line += 1;
        }
    }

    /// The sum.
    #[must_use]
    pub fn finish(mut self) -> u64 {
        if self.filled > 0 {
            let mut last = [0; LINE];
            last[..self.filled].copy_from_slice(&self.part[..self.filled]);
            self.lines(&[last]);
        }
        self.sum.finish()
    }
}

/// Is any of these bytes, whose number is a multiple of eight, not zero?
fn any(bytes: &[u8]) -> bool {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().fold(0, |all, word| all | u64::from_le_bytes(*word)) != 0
}

#[cfg(test)]
mod tests {
    use super::{BodyChecksum, checksum};
    use std::vec;
    use std::vec::Vec;

    fn sum(version: u32, bytes: &[u8], piece: usize) -> u64 {
        let mut sum = BodyChecksum::new(version, bytes.len() as u64);
        bytes.chunks(piece).for_each(|piece| sum.add(piece));
        sum.finish()
    }

    /// Mostly zeros, as profiles are, and not a whole number of lines.
    fn body() -> Vec<u8> {
        let mut body = vec![0; 10_008];
        for (i, at) in [0, 7, 64, 1500, 1501, 4095, 4096, 9000, 10_007].into_iter().enumerate() {
            body[at] = i as u8 + 1;
        }
        body
    }

    #[test]
    fn pieces_make_no_difference() {
        let body = body();
        for piece in [8, 24, 64, 72, 1024, 4096, 5000, 20_000] {
            assert_eq!(sum(3, &body, piece), sum(3, &body, 1), "{piece}");
        }
        assert_eq!(sum(2, &body, 8), checksum(&body));
        assert_eq!(sum(2, &body, 4096), checksum(&body));
    }

    #[test]
    fn any_changed_byte_and_any_moved_line_is_noticed() {
        let body = body();
        let whole = sum(3, &body, body.len());
        for at in 0..body.len() {
            let mut changed = body.clone();
            changed[at] ^= 0x40;
            assert_ne!(sum(3, &changed, 4096), whole, "{at}");
            changed[at] = 0;
            assert_eq!(sum(3, &changed, 4096) == whole, body[at] == 0, "{at}");
        }
        for by in [8, 64, 1024] {
            let mut moved = body.clone();
            moved.rotate_right(by);
            assert_ne!(sum(3, &moved, 4096), whole, "{by}");
        }
        assert_ne!(sum(3, &body[..9_984], 4096), sum(3, &[&body[..9_984], &[0; 64]].concat(), 4096));
    }
}
