//! Calls: first the call sites, then all others and the place of each in the source.
//!
//! Call sites are calls that may fail to return. They come before the blocks, which are written with the help of their
//! numbers; the others come after the blocks, which say how many there are.

use super::MapError;
use super::sections::Stream;
use super::text::{TextCursor, TextWriter};
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{BlockFacts, Call, CallLine, Callee, Calls, Function, LineSpan};
use cotree_core::ids::Block;

const CALLEE: u64 = 0b11;
const TERMINATOR: u64 = 1 << 2;
const NO_RETURN: u64 = 1 << 3;
const RETURNS_TWICE: u64 = 1 << 4;
/// A call site marks a `resume`.
const RESUME_MARKER: u64 = 1 << 5;
/// A call that is no call site is a `musttail` call.
const MUST_TAIL: u64 = 1 << 5;
/// The call site has a probe number that is not number is not the one after the last.
const PROBE: u64 = 1 << 6;
/// Not certain is which function runs.
const UNCERTAIN: u64 = 1 << 7;

/// What a call site has in common with other calls.
fn flags_of(call: &Call) -> u64 {
    let flag = |set: bool, bit: u64| if set { bit } else { 0 };
    let callee = match &call.callee {
        Callee::Symbol(_) => 0,
        Callee::Indirect => 1,
        Callee::Assembly => 2,
        Callee::Fault => 3,
    };
    callee
        | flag(call.terminator, TERMINATOR)
        | flag(call.no_return, NO_RETURN)
        | flag(call.returns_twice, RETURNS_TWICE)
        | flag(call.callee_uncertain, UNCERTAIN)
}

/// The call of these flags; the name of its callee, if it has one, comes from `names`.
fn call_of(
    flags: u64,
    block: Block,
    names: Stream,
    r: &mut Reader<'_>,
    text: &mut TextCursor,
) -> Result<Call, MapError> {
    let callee = match flags & CALLEE {
        0 => Callee::Symbol(text.get(r, names)?),
        1 => Callee::Indirect,
        2 => Callee::Assembly,
        _ => Callee::Fault,
    };
    Ok(Call {
        block,
        callee,
        callee_uncertain: flags & UNCERTAIN != 0,
        terminator: flags & TERMINATOR != 0,
        no_return: flags & NO_RETURN != 0,
        returns_twice: flags & RETURNS_TWICE != 0,
        ..Call::default()
    })
}

pub(super) fn write_sites<'a>(
    sites: impl Iterator<Item = &'a Call>,
    w: &mut Writer,
    text: &mut TextWriter<'a>,
    probe: &mut u16,
) {
    let mut block = 0;
    for site in sites {
        let expected = probe.wrapping_add(1);
        let told = !site.is_fault() && site.probe != expected;
        let flag = |set: bool, bit: u64| if set { bit } else { 0 };
        let own = flag(site.resume_marker, RESUME_MARKER) | flag(told, PROBE);
        w.put(Stream::SiteFlags, flags_of(site) | own);
        w.put_step(Stream::SiteBlock, block, site.block.0);
        block = site.block.0;
        if let Callee::Symbol(symbol) = &site.callee {
            text.put(w, Stream::Callee, symbol);
        }
        if told {
            w.put(Stream::SiteBlock, u64::from(site.probe));
        }
        if !site.is_fault() {
            *probe = site.probe;
        }
    }
}

pub(super) fn read_sites(
    count: usize,
    r: &mut Reader<'_>,
    text: &mut TextCursor,
    probe: &mut u16,
) -> Result<Vec<Call>, MapError> {
    let mut sites = Vec::with_capacity(count);
    let mut block = 0;
    for _ in 0..count {
        let flags = r.get(Stream::SiteFlags)?;
        block = r.get_step(Stream::SiteBlock, block)?;
        let call = call_of(flags, Block(block), Stream::Callee, r, text)?;
        if call.is_fault() {
            sites.push(Call { is_site: true, ..call });
            continue;
        }
        *probe = if flags & PROBE == 0 {
            probe.wrapping_add(1)
        } else {
            u16::try_from(r.get(Stream::SiteBlock)?)
                .map_err(|_| MapError::Invalid("a probe number has more than 16 bits"))?
        };
        sites.push(Call { is_site: true, resume_marker: flags & RESUME_MARKER != 0, probe: *probe, ..call });
    }
    Ok(sites)
}

/// Call sites per block that are calls, no markers and no faults: nearly always the number of its calls.
pub(super) fn sites_per_block<'a>(blocks: usize, sites: impl Iterator<Item = &'a Call>) -> Vec<u32> {
    let mut calls = vec![0; blocks];
    for site in sites.filter(|site| !site.is_marker()) {
        if let Some(calls) = calls.get_mut(site.block.index()) {
            *calls += 1;
        }
    }
    calls
}

/// Writes the calls that are not call sites, and where each call is in the source.
pub(super) fn write_others<'a>(function: &'a Function, w: &mut Writer, text: &mut TextWriter<'a>) {
    let mut guess = SpanGuess::default();
    let mut block = Block::default();
    let mut last_after = 0;
    for (call, after_sites) in function.calls.after_sites() {
        if call.block != block {
            (block, last_after, guess) = (call.block, 0, SpanGuess::default());
        }
        if !call.is_site {
            w.put(Stream::CallFlags, flags_of(call) | if call.must_tail { MUST_TAIL } else { 0 });
            w.put_step(Stream::CallPlace, last_after, after_sites);
            last_after = after_sites;
            if let Callee::Symbol(symbol) = &call.callee {
                text.put(w, Stream::CallName, symbol);
            }
        }
        let spans = function.blocks.get(block).map_or(&[][..], |b| &b.lines);
        guess.write(call, after_sites, spans, w);
    }
}

/// Puts the other calls of a function among its call sites.
pub(super) fn read_others(
    sites: Vec<Call>,
    blocks: &[BlockFacts],
    r: &mut Reader<'_>,
    text: &mut TextCursor,
) -> Result<Calls, MapError> {
    let mut calls = Calls::default();
    let listed = sites_per_block(blocks.len(), sites.iter());
    let mut sites = sites.into_iter().peekable();
    for (index, (facts, listed)) in blocks.iter().zip(listed).enumerate() {
        let block = Block::new(index);
        let mut guess = SpanGuess::default();
        let mut after = 0;
        let others = facts.instructions.calls.checked_sub(listed);
        let others = others.ok_or(MapError::Invalid("a block has fewer calls than call sites"))?;
        if others as usize > r.left(Stream::CallFlags) {
            return Err(MapError::Invalid("a count is larger than its stream"));
        }
        let mut next = |calls: &mut Calls, r: &mut Reader<'_>, mut call: Call, after: u32| {
            call.line = guess.read(&call, after, &facts.lines, r)?;
            calls.push(call);
            Ok::<(), MapError>(())
        };
        for _ in 0..others {
            let flags = r.get(Stream::CallFlags)?;
            let to = r.get_step(Stream::CallPlace, after)?;
            while after < to {
                let site = sites.next_if(|site| site.block == block);
                next(&mut calls, r, site.ok_or(MapError::Invalid("a call comes after too many call sites"))?, after)?;
                after += 1;
            }
            if after > to {
                return Err(MapError::Invalid("the calls of a block are not in order"));
            }
            let mut call = call_of(flags, block, Stream::CallName, r, text)?;
            call.must_tail = flags & MUST_TAIL != 0;
            next(&mut calls, r, call, after)?;
        }
        while let Some(site) = sites.next_if(|site| site.block == block) {
            next(&mut calls, r, site, after)?;
            after += 1;
        }
    }
    if sites.next().is_some() {
        return Err(MapError::Invalid("its call sites are not in order"));
    }
    Ok(calls)
}

/// Predicts which span of its block a call belongs to. Spans end at call sites, so a call site belongs to the last one
/// before it; another call comes no earlier than the call before it.
#[derive(Default)]
struct SpanGuess {
    span: u32,
}

impl SpanGuess {
    fn expect(&self, call: &Call, after_sites: u32, spans: &[LineSpan]) -> u32 {
        if call.is_site {
            (spans.partition_point(|s| s.after_sites <= after_sites) as u32).saturating_sub(1)
        } else {
            self.span.max(spans.partition_point(|s| s.after_sites < after_sites) as u32)
        }
    }

    fn write(&mut self, call: &Call, after_sites: u32, spans: &[LineSpan], w: &mut Writer) {
        if call.resume_marker {
            return;
        }
        let Some(line) = call.line else {
            w.put(Stream::CallLine, 0);
            return;
        };
        let step = i64::from(line.span) - i64::from(self.expect(call, after_sites, spans));
        w.put(Stream::CallLine, 1 + ((step << 1) ^ (step >> 63)) as u64);
        self.span = line.span;
        let column = spans.get(line.span as usize).map_or(0, |span| span.at.column);
        w.put_step(Stream::CallColumn, column, line.column);
    }

    fn read(
        &mut self,
        call: &Call,
        after_sites: u32,
        spans: &[LineSpan],
        r: &mut Reader<'_>,
    ) -> Result<Option<CallLine>, MapError> {
        if call.resume_marker {
            return Ok(None);
        }
        let Some(step) = r.get(Stream::CallLine)?.checked_sub(1) else { return Ok(None) };
        let step = (step >> 1) as i64 ^ -((step & 1) as i64);
        let span = i64::from(self.expect(call, after_sites, spans)).checked_add(step);
        let span = span.and_then(|span| u32::try_from(span).ok());
        let at = span.and_then(|span| Some((span, spans.get(span as usize)?)));
        let (span, facts) = at.ok_or(MapError::Invalid("a call is in no line"))?;
        self.span = span;
        let column = r.get_step(Stream::CallColumn, facts.at.column)?;
        Ok(Some(CallLine { span, column }))
    }
}
