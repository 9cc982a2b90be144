//! Checksums of profiles and maps.

use crate::zeros;

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
    /// Begins the checksum of `len` bytes.
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

/// Bytes that [`BodyChecksum`] takes at once.
const LINE: usize = zeros::LINE;

/// The checksum of what follows the header page of a raw profile, in pieces: that of the lines that are not all zeros,
/// each with its number before it. Most words of path arrays stay zero, and looking whether they did takes a tenth of
/// the time.
pub struct BodyChecksum {
    sum: Checksum,
    /// The number of the next line.
    line: u64,
    /// Bytes of that line that have come already.
    part: [u8; LINE],
    filled: usize,
}

impl BodyChecksum {
    /// Begins the checksum of `len` bytes.
    #[must_use]
    pub const fn new(len: u64) -> Self {
        Self { sum: Checksum::new(len), line: 0, part: [0; LINE], filled: 0 }
    }

    /// Adds the next piece.
    pub fn add(&mut self, mut bytes: &[u8]) {
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
        let (mut lines, rest) = bytes.as_chunks::<LINE>();
        while let Some(block) = zeros::first_block(lines.as_flattened()) {
            let (start, end) = (block.start / LINE, block.end / LINE);
            self.line += start as u64;
            self.lines(&lines[start..end]);
            lines = &lines[end..];
        }
        self.line += lines.len() as u64;
        self.part[..rest.len()].copy_from_slice(rest);
        self.filled = rest.len();
    }

    /// Adds `count` zeros, which need not be anywhere.
    pub fn add_zeros(&mut self, count: u64) {
        let zeros = [0; LINE];
        let head = count.min((LINE - self.filled) as u64);
        self.add(&zeros[..head as usize]);
        let (lines, rest) = ((count - head) / LINE as u64, (count - head) % LINE as u64);
        self.line += lines;
        self.add(&zeros[..rest as usize]);
    }

    fn lines(&mut self, lines: &[[u8; LINE]]) {
        for block in lines.chunks(zeros::BLOCK / LINE) {
            let mut counted = zeros::lines(block);
            while counted != 0 {
                let index = counted.trailing_zeros();
                self.sum.word(self.line + u64::from(index));
                self.sum.add(&block[index as usize]);
                counted &= counted - 1;
            }
            self.line += block.len() as u64;
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

#[cfg(test)]
mod tests {
    use super::BodyChecksum;
    use std::vec;
    use std::vec::Vec;

    fn sum(bytes: &[u8], piece: usize) -> u64 {
        let mut sum = BodyChecksum::new(bytes.len() as u64);
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
            assert_eq!(sum(&body, piece), sum(&body, 1), "{piece}");
        }
    }

    #[test]
    fn zeros_need_not_be_anywhere() {
        for (before, zeros) in [(0, 0), (8, 48), (8, 56), (64, 64), (56, 4096), (72, 5000), (128, 8), (1024, 2000)] {
            let body = [&vec![7; before][..], &vec![0; zeros], &[9; 40]].concat();
            let mut pieces = BodyChecksum::new(body.len() as u64);
            pieces.add(&body[..before]);
            pieces.add_zeros(zeros as u64);
            pieces.add(&body[before + zeros..]);
            assert_eq!(pieces.finish(), sum(&body, body.len()), "{before} {zeros}");
        }
    }

    #[test]
    fn any_changed_byte_and_any_moved_line_is_noticed() {
        let body = body();
        let whole = sum(&body, body.len());
        for at in 0..body.len() {
            let mut changed = body.clone();
            changed[at] ^= 0x40;
            assert_ne!(sum(&changed, 4096), whole, "{at}");
            changed[at] = 0;
            assert_eq!(sum(&changed, 4096) == whole, body[at] == 0, "{at}");
        }
        for by in [8, 64, 1024] {
            let mut moved = body.clone();
            moved.rotate_right(by);
            assert_ne!(sum(&moved, 4096), whole, "{by}");
        }
        assert_ne!(sum(&body[..9_984], 4096), sum(&[&body[..9_984], &[0; 64]].concat(), 4096));
    }
}
