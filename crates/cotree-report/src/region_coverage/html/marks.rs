//! Cuts the lines of a file into pieces: what ran, what did not, and what has a note of its own.

use super::text::boundary;
use crate::region_coverage::segments::Segment;
use cotree_profile::coverage::Place;

/// What a piece of a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// The piece ran, or it is no code.
    #[default]
    Plain,
    /// The piece did not run.
    Missed,
    /// The preprocessor left the piece out.
    Skipped,
}

/// A text with a note: a condition, a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Noted {
    /// Where it begins.
    pub(super) start: Place,
    /// Where it ends.
    pub(super) end: Place,
    /// The class of its looks.
    pub(super) class: &'static str,
    /// The note.
    pub(super) note: String,
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece<'n> {
    /// Where it ends in the line, in bytes. It begins where the one before ends.
    pub(super) end: usize,
    /// What it is.
    pub(super) state: State,
    /// The innermost text with a note that it is part of.
    pub(super) noted: Option<&'n Noted>,
    /// The count of a region that begins here, if it ran.
    pub(super) count: Option<u64>,
}

/// Goes through the lines of a file.
pub(super) struct Marker<'s, 'n> {
    segments: &'s [Segment],
    /// What the text is where the line begins.
    state: State,
    /// Texts with notes that are still to come, by their beginnings; outer ones first.
    coming: &'n [Noted],
    /// Texts with notes that go on in the line.
    open: Vec<&'n Noted>,
}

impl<'s, 'n> Marker<'s, 'n> {
    /// Begins with the first line. The texts with notes are in the order of their beginnings, outer ones first.
    pub(super) fn new(segments: &'s [Segment], noted: &'n [Noted]) -> Self {
        Self { segments, state: State::Plain, coming: noted, open: Vec::new() }
    }

    /// Cuts a line into pieces. Lines are asked for one after the other.
    pub(super) fn line(&mut self, number: u32, text: &[u8]) -> Vec<Piece<'n>> {
        let behind = |place: Place| {
            let at = boundary(text, place.column.saturating_sub(1) as usize);
            if place.line > number || place.column == u32::MAX { text.len() } else { at }
        };
        let skipped = self.segments.partition_point(|segment| segment.start.line < number);
        self.segments[..skipped].iter().for_each(|segment| self.state = state(segment, self.state));
        let rest = &self.segments[skipped..];
        let (here, rest) = rest.split_at(rest.partition_point(|segment| segment.start.line == number));
        self.segments = rest;
        let news = self.coming.partition_point(|noted| noted.start.line <= number);
        let (begin, coming) = self.coming.split_at(news);
        self.coming = coming;
        self.open.retain(|noted| noted.end.line >= number);

        let begins = |noted: &Noted| if noted.start.line < number { 0 } else { behind(noted.start) };
        let mut cuts: Vec<usize> = here.iter().map(|segment| behind(segment.start)).collect();
        cuts.extend(
            self.open
                .iter()
                .chain(&begin.iter().collect::<Vec<_>>())
                .flat_map(|noted| [begins(noted), behind(noted.end)]),
        );
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        cuts.dedup();

        let (mut segments, mut begin) = (here.iter().peekable(), begin.iter().peekable());
        let mut pieces = Vec::new();
        for ends in cuts.windows(2) {
            let (start, end) = (ends[0], ends[1]);
            let mut count = None;
            while let Some(segment) = segments.next_if(|segment| behind(segment.start) <= start) {
                self.state = state(segment, self.state);
                let entry = segment.count.filter(|&count| count > 0 && segment.is_entry && !segment.is_gap);
                count = entry;
            }
            while let Some(noted) = begin.next_if(|noted| begins(noted) <= start) {
                self.open.push(noted);
            }
            let noted = self.open.iter().rev().find(|noted| behind(noted.end) > start && begins(noted) <= start);
            pieces.push(Piece { end, state: self.state, noted: noted.copied(), count });
        }
        // What begins at the end of the line counts for the next one.
        for segment in segments {
            self.state = state(segment, self.state);
        }
        self.open.extend(begin);
        pieces
    }
}

/// What text is from a segment on. A gap goes on with what did not run before it.
fn state(segment: &Segment, before: State) -> State {
    match segment.count {
        None if segment.is_entry => State::Skipped,
        Some(0) if !segment.is_gap || before == State::Missed => State::Missed,
        _ => State::Plain,
    }
}
