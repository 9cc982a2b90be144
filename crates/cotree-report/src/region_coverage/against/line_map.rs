//! Which line of a source is which after it was edited.

use std::ops::Range;

/// Lines of a source before and after it was edited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineMap {
    /// Lines before, and what has taken their place; in order. All others are the same line.
    replaced: Vec<(Range<u32>, Range<u32>)>,
}

impl LineMap {
    /// A map of lines that were replaced: those before and those after, each from 1. All other lines are unchanged.
    #[must_use]
    pub fn new(mut replaced: Vec<(Range<u32>, Range<u32>)>) -> Self {
        replaced.retain(|(before, after)| !before.is_empty() || !after.is_empty());
        replaced.sort_by_key(|(before, after)| (before.start, after.start));
        Self { replaced }
    }

    /// A source that was not there before.
    #[must_use]
    pub fn created() -> Self {
        Self { replaced: vec![(1..1, 1..u32::MAX)] }
    }

    /// A source that is gone.
    #[must_use]
    pub fn deleted() -> Self {
        Self { replaced: vec![(1..u32::MAX, 1..1)] }
    }

    /// The line that a line before has become. `None`: it is gone, or was changed.
    #[must_use]
    pub fn after(&self, line: u32) -> Option<u32> {
        let behind = self.replaced.partition_point(|(before, _)| before.start <= line);
        let Some((before, after)) = self.replaced[..behind].last() else { return Some(line) };
        if before.contains(&line) {
            return None;
        }
        // Where lines were only added, they stand before this one.
        after.end.checked_add(line - before.end)
    }

    /// Whether a line is new, or was changed.
    #[must_use]
    pub fn is_new(&self, line: u32) -> bool {
        let behind = self.replaced.partition_point(|(_, after)| after.start <= line);
        self.replaced[..behind]
            .iter()
            .rev()
            .take_while(|(_, after)| after.end > line || after.is_empty())
            .any(|(_, after)| after.contains(&line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_move_by_what_was_added_and_taken_away() {
        // Line 2 is replaced by 2 to 4, two lines are added before line 5, lines 8 and 9 are gone.
        let map = LineMap::new(vec![(8..10, 12..12), (2..3, 2..5), (5..5, 7..9)]);
        let after: Vec<Option<u32>> = (1..=11).map(|line| map.after(line)).collect();
        let expected = [Some(1), None, Some(5), Some(6), Some(9), Some(10), Some(11), None, None, Some(12), Some(13)];
        assert_eq!(after, expected);
        let new: Vec<u32> = (1..=14).filter(|&line| map.is_new(line)).collect();
        assert_eq!(new, [2, 3, 4, 7, 8]);
    }

    #[test]
    fn whole_sources_come_and_go() {
        assert!(LineMap::created().is_new(1) && LineMap::created().is_new(900));
        assert_eq!(LineMap::deleted().after(1), None);
        assert_eq!((LineMap::default().after(7), LineMap::default().is_new(7)), (Some(7), false));
    }
}
