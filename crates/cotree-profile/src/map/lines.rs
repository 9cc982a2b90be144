//! Source lines and inlined copies.
//!
//! A function that was inlined a hundred times repeats its lines a hundred times, in nearly the same order. So
//! reader and writer remember, for every position of a function of the source, the last two positions that came after
//! it ([`History`]); a span that is predicted takes one flag. The same holds for copies inside of a copy.

use super::MapError;
use super::sections::Stream;
use super::text::{TextCursor, TextWriter};
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Inlined, LineSpan, Position};
use std::collections::HashMap;

/// A position to write the next one relative to.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct LastPosition {
    file: u32,
    line: u32,
    column: u32,
}

impl From<Position> for LastPosition {
    fn from(p: Position) -> Self {
        Self { file: p.file, line: p.line, column: p.column }
    }
}

impl From<LastPosition> for Position {
    fn from(p: LastPosition) -> Self {
        Self { file: p.file, line: p.line, column: p.column }
    }
}

/// The first number holds the column and whether the file follows; the other one is the step to the line.
pub(super) fn write_position(position: Position, last: &mut LastPosition, w: &mut Writer, stream: Stream) {
    let moved = position.file != last.file;
    w.put(stream, u64::from(position.column) << 1 | u64::from(moved));
    if moved {
        w.put(stream, u64::from(position.file));
    }
    w.put_step(stream, last.line, position.line);
    *last = position.into();
}

pub(super) fn read_position(r: &mut Reader<'_>, last: &mut LastPosition, stream: Stream) -> Result<Position, MapError> {
    let first = r.get(stream)?;
    let column = u32::try_from(first >> 1).map_err(|_| MapError::Invalid("a column has more than 32 bits"))?;
    let file = if first & 1 != 0 { r.get_u32(stream)? } else { last.file };
    let line = r.get_step(stream, last.line)?;
    *last = LastPosition { file, line, column };
    Ok((*last).into())
}

/// An inlined copy as its caller sees it: the number of its name and where it is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Copy {
    name: u64,
    call: Option<LastPosition>,
}

/// What is remembered of a unit's functions of the source, by the numbers of their names.
#[derive(Default)]
pub(super) struct History {
    /// What came after a position, the two last different answers.
    after: HashMap<(u64, Option<LastPosition>), [Option<LastPosition>; 2]>,
    /// The copy that came after a copy in the same function.
    copies: HashMap<(u64, Option<Copy>), Copy>,
    /// Where the function's last known call or line was.
    last: HashMap<u64, LastPosition>,
}

impl History {
    fn note(&mut self, name: u64, before: Option<LastPosition>, place: LastPosition) {
        let answers = self.after.entry((name, before)).or_default();
        if answers[0] != Some(place) {
            *answers = [Some(place), answers[0]];
        }
    }
}

/// The functions that lines of one machine function come from: slot 0 is the function itself, slot `i + 1` its inlined
/// copy `i`.
struct Scopes<'a> {
    history: &'a mut History,
    slots: Vec<Slot>,
    /// The slot of the last span.
    current: usize,
    /// The first copy that has had no span, nor anything inlined into it.
    fresh: usize,
    /// Where the function begins.
    start: LastPosition,
}

struct Slot {
    name: u64,
    parent: usize,
    last_copy: Option<Copy>,
    last_place: Option<LastPosition>,
    visited: bool,
}

impl<'a> Scopes<'a> {
    fn new(name: u64, start: LastPosition, history: &'a mut History) -> Self {
        let own = Slot { name, parent: 0, last_copy: None, last_place: None, visited: true };
        Self { history, slots: vec![own], current: 0, fresh: 1, start }
    }

    fn add(&mut self, parent: usize, copy: Copy) {
        let key = (self.slots[parent].name, self.slots[parent].last_copy.replace(copy));
        self.history.copies.insert(key, copy);
        if let Some(call) = copy.call {
            self.history.last.insert(key.0, call);
        }
        self.slots.push(Slot { name: copy.name, parent, last_copy: None, last_place: None, visited: false });
    }

    /// The copy that is likely to be next in `parent`.
    fn next_copy(&self, parent: usize) -> Option<Copy> {
        let slot = &self.slots[parent];
        self.history.copies.get(&(slot.name, slot.last_copy)).copied()
    }

    /// What calls in `parent` are written relative to.
    fn last_call(&self, parent: usize) -> LastPosition {
        self.history.last.get(&self.slots[parent].name).copied().unwrap_or(self.start)
    }

    /// Goes to a slot for the next span.
    fn enter(&mut self, slot: usize) {
        self.current = slot;
        let mut at = slot;
        while !self.slots[at].visited {
            self.slots[at].visited = true;
            at = self.slots[at].parent;
        }
        while self.slots.get(self.fresh).is_some_and(|s| s.visited) {
            self.fresh += 1;
        }
    }

    /// The positions that are likely to be next in the current slot.
    fn next_places(&self) -> [Option<LastPosition>; 2] {
        let slot = &self.slots[self.current];
        self.history.after.get(&(slot.name, slot.last_place)).copied().unwrap_or_default()
    }

    /// What a position in the current slot is written relative to.
    fn last_place(&self) -> LastPosition {
        let slot = &self.slots[self.current];
        let known = slot.last_place.or_else(|| self.history.last.get(&slot.name).copied());
        known.unwrap_or(self.start)
    }

    fn note(&mut self, place: LastPosition) {
        let slot = &mut self.slots[self.current];
        let before = slot.last_place.replace(place);
        self.history.note(slot.name, before, place);
    }
}

/// How the parent of an inlined copy is written.
mod parent {
    pub(super) const NONE: u64 = 0;
    /// The copy before.
    pub(super) const PREVIOUS: u64 = 1;
    /// The parent of the copy before.
    pub(super) const SIBLING: u64 = 2;
    /// The number of the file follows.
    pub(super) const OTHER: u64 = 3;
}
const PARENT: u64 = 3;
const PREDICTED: u64 = 1 << 2;
const CALLED: u64 = 1 << 3;

/// How a span's slot is written.
mod slot {
    /// That of the span before.
    pub(super) const SAME: u64 = 0;
    /// The one that it is inlined into.
    pub(super) const PARENT: u64 = 1;
    /// The first copy that has had no span.
    pub(super) const FRESH: u64 = 2;
    /// The number of the line follows.
    pub(super) const OTHER: u64 = 3;
}
const SLOT: u64 = 3;
/// As many calls come before it as before the last one.
const SAME_SITES: u64 = 1 << 2;
/// The position is the likeliest one.
const FIRST: u64 = 1 << 3;
/// The position is the second likeliest.
const SECOND: u64 = 1 << 4;
const SAME_COLUMN: u64 = 1 << 5;
const NEXT_LINE: u64 = 1 << 6;
const OTHER_FILE: u64 = 1 << 7;

fn flag(set: bool, bit: u64) -> u64 {
    if set { bit } else { 0 }
}

/// Writes the inlined copies and then the lines of one function.
pub(super) struct LineWriter<'a>(Scopes<'a>);

impl<'a> LineWriter<'a> {
    pub(super) fn new(name: u64, start: LastPosition, history: &'a mut History) -> Self {
        Self(Scopes::new(name, start, history))
    }

    pub(super) fn write_copy<'t>(&mut self, copy: &'t Inlined, w: &mut Writer, text: &mut TextWriter<'t>) {
        let scopes = &mut self.0;
        let before = scopes.slots.len() - 1;
        // Parents come before children; the reader refuses a map where they do not.
        let parent = copy.parent.map_or(0, |p| (p as usize + 1).min(before));
        let form = match copy.parent {
            None => parent::NONE,
            Some(_) if parent == before => parent::PREVIOUS,
            Some(_) if parent == scopes.slots[before].parent => parent::SIBLING,
            Some(_) => parent::OTHER,
        };
        let call = copy.call.map(LastPosition::from);
        let expected = scopes.next_copy(parent).filter(|e| text.number(&copy.symbol) == Some(e.name) && e.call == call);
        let flags = form | flag(expected.is_some(), PREDICTED) | flag(expected.is_none() && call.is_some(), CALLED);
        w.put(Stream::Inlined, flags);
        if form == parent::OTHER {
            w.put(Stream::Inlined, parent as u64);
        }
        let copy = expected.unwrap_or_else(|| {
            let name = text.put(w, Stream::InlinedName, &copy.symbol);
            if let Some(position) = copy.call {
                write_position(position, &mut scopes.last_call(parent), w, Stream::InlinedCall);
            }
            Copy { name, call }
        });
        scopes.add(parent, copy);
    }

    pub(super) fn write_block(&mut self, lines: &[LineSpan], w: &mut Writer) {
        w.put(Stream::SpanCount, lines.len() as u64);
        let mut after = 0;
        for span in lines {
            self.write_span(span, &mut after, w);
        }
    }

    fn write_span(&mut self, span: &LineSpan, after: &mut u32, w: &mut Writer) {
        let scopes = &mut self.0;
        let slot = span.inlined.map_or(0, |i| (i as usize + 1).min(scopes.slots.len() - 1));
        let form = match slot {
            s if s == scopes.current => slot::SAME,
            s if s == scopes.slots[scopes.current].parent => slot::PARENT,
            s if s == scopes.fresh => slot::FRESH,
            _ => slot::OTHER,
        };
        scopes.enter(slot);
        let place = LastPosition::from(span.at);
        let last = scopes.last_place();
        let [first, second] = scopes.next_places().map(|p| p == Some(place));
        let same_sites = span.after_sites == *after;
        let mut flags = form | flag(same_sites, SAME_SITES) | flag(first, FIRST) | flag(!first && second, SECOND);
        let spelled_out = !first && !second;
        if spelled_out {
            flags |= flag(place.column == last.column, SAME_COLUMN)
                | flag(last.line.checked_add(1) == Some(place.line), NEXT_LINE)
                | flag(place.file != last.file, OTHER_FILE);
        }
        w.put(Stream::SpanFlags, flags);
        if form == slot::OTHER {
            w.put(Stream::SpanContext, slot as u64);
        }
        if !same_sites {
            w.put_step(Stream::SpanContext, *after, span.after_sites);
        }
        if spelled_out {
            if flags & OTHER_FILE != 0 {
                w.put(Stream::SpanContext, u64::from(place.file));
            }
            if flags & SAME_COLUMN == 0 {
                w.put(Stream::Column, u64::from(place.column));
            }
            if flags & NEXT_LINE == 0 {
                w.put_step(Stream::Line, last.line, place.line);
            }
        }
        *after = span.after_sites;
        scopes.note(place);
    }
}

/// Reads what [`LineWriter`] wrote.
pub(super) struct LineReader<'a>(Scopes<'a>);

impl<'a> LineReader<'a> {
    pub(super) fn new(name: u64, start: LastPosition, history: &'a mut History) -> Self {
        Self(Scopes::new(name, start, history))
    }

    pub(super) fn read_copy(&mut self, r: &mut Reader<'_>, text: &mut TextCursor) -> Result<Inlined, MapError> {
        let scopes = &mut self.0;
        let before = scopes.slots.len() - 1;
        let flags = r.get(Stream::Inlined)?;
        let parent = match flags & PARENT {
            parent::NONE => 0,
            parent::PREVIOUS => before,
            parent::SIBLING => scopes.slots[before].parent,
            _ => usize::try_from(r.get(Stream::Inlined)?).unwrap_or(usize::MAX),
        };
        if parent > before {
            return Err(MapError::Invalid("an inlined copy comes before its parent"));
        }
        let (copy, symbol) = if flags & PREDICTED != 0 {
            let copy = scopes.next_copy(parent).ok_or(MapError::Invalid("an inlined copy is predicted by nothing"))?;
            (copy, text.known(copy.name)?)
        } else {
            let (name, symbol) = text.get_numbered(r, Stream::InlinedName)?;
            let called = flags & CALLED != 0;
            let mut last = scopes.last_call(parent);
            let call = if called { Some(read_position(r, &mut last, Stream::InlinedCall)?.into()) } else { None };
            (Copy { name, call }, symbol)
        };
        scopes.add(parent, copy);
        let parent = parent.checked_sub(1).map(|p| u32::try_from(p).expect("copies are 32-bit numbers"));
        Ok(Inlined { symbol, call: copy.call.map(Into::into), parent })
    }

    pub(super) fn read_block(&mut self, r: &mut Reader<'_>) -> Result<Vec<LineSpan>, MapError> {
        let count = r.get_count(Stream::SpanCount, Stream::SpanFlags)?;
        let mut lines = Vec::with_capacity(count);
        let mut after = 0;
        for _ in 0..count {
            lines.push(self.read_span(&mut after, r)?);
        }
        Ok(lines)
    }

    fn read_span(&mut self, after: &mut u32, r: &mut Reader<'_>) -> Result<LineSpan, MapError> {
        let scopes = &mut self.0;
        let flags = r.get(Stream::SpanFlags)?;
        let slot = match flags & SLOT {
            slot::SAME => scopes.current,
            slot::PARENT => scopes.slots[scopes.current].parent,
            slot::FRESH => scopes.fresh,
            _ => usize::try_from(r.get(Stream::SpanContext)?).unwrap_or(usize::MAX),
        };
        if slot >= scopes.slots.len() {
            return Err(MapError::Invalid("a line belongs to no inlined copy"));
        }
        scopes.enter(slot);
        if flags & SAME_SITES == 0 {
            *after = r.get_step(Stream::SpanContext, *after)?;
        }
        let [first, second] = scopes.next_places();
        let nothing = MapError::Invalid("a line is predicted by nothing");
        let place = if flags & FIRST != 0 {
            first.ok_or(nothing)?
        } else if flags & SECOND != 0 {
            second.ok_or(nothing)?
        } else {
            let last = scopes.last_place();
            let file = if flags & OTHER_FILE != 0 { r.get_u32(Stream::SpanContext)? } else { last.file };
            let column = if flags & SAME_COLUMN != 0 { last.column } else { r.get_u32(Stream::Column)? };
            let line = if flags & NEXT_LINE != 0 {
                last.line.checked_add(1).ok_or(MapError::Invalid("a line is out of range"))?
            } else {
                r.get_step(Stream::Line, last.line)?
            };
            LastPosition { file, line, column }
        };
        scopes.note(place);
        let inlined = slot.checked_sub(1).map(|i| u32::try_from(i).expect("copies are 32-bit numbers"));
        Ok(LineSpan { at: place.into(), inlined, after_sites: *after })
    }
}
