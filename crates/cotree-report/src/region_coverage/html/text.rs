//! The text of a source file, as bytes: the columns of regions count these.

use crate::visible;
use std::ops::Range;

/// A text, cut into lines.
pub(super) struct Text {
    bytes: Vec<u8>,
    /// Each line without its end.
    lines: Vec<Range<usize>>,
}

impl Text {
    /// Cuts a text into lines. An empty one after the last end of a line does not count.
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let end = start + line.len();
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            lines.push(start..start + text.len());
            start = end;
        }
        Self { bytes, lines }
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }

    /// The bytes of a line, from 1; of none there are none.
    pub(super) fn line(&self, line: u32) -> &[u8] {
        let range = (line as usize).checked_sub(1).and_then(|line| self.lines.get(line));
        range.map_or(&[], |range| &self.bytes[range.clone()])
    }
}

/// Moves a place in a line to where a character begins, so that none is cut in two.
pub(super) fn boundary(line: &[u8], place: usize) -> usize {
    /// The bytes of a character behind its first one.
    const MOST: usize = 3;
    let place = place.min(line.len());
    let continues = |at: usize| line.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    (place.saturating_sub(MOST)..=place).rev().find(|&at| !continues(at)).unwrap_or(place)
}

/// A part of a line as it is shown: what is no text is replaced, and control characters are made visible.
pub(super) fn shown(bytes: &[u8]) -> String {
    visible::line(&String::from_utf8_lossy(bytes)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_no_ends() {
        let text = Text::new(b"a\r\nb\rc\n\n\xff\x1b".to_vec());
        assert_eq!(text.len(), 4);
        assert_eq!([1, 2, 3, 4, 5, 0].map(|line| shown(text.line(line))), ["a", "b␍c", "", "�␛", "", ""]);
        assert_eq!(Text::new(Vec::new()).len(), 0);
    }

    #[test]
    fn characters_stay_whole() {
        let line = "aü€".as_bytes();
        assert_eq!((0..8).map(|place| boundary(line, place)).collect::<Vec<_>>(), [0, 1, 1, 3, 3, 3, 6, 6]);
        assert_eq!(boundary(&[0x80; 9], 7), 7);
    }
}
