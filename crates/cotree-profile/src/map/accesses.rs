//! Accesses of memory whose addresses a trace tells. Without the section no address is in the trace, so readers may not
//! skip it.

use super::MapError;
use super::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Access, AccessKind, Function, LeftOut, ProgramMap};
use cotree_core::ids::{Block, CallId};

/// The flags of an access: its kind in two bits,
const KIND: u64 = 0b11;
/// its length is known,
const LENGTH: u64 = 1 << 2;
/// it has a place in the source.
const SPAN: u64 = 1 << 3;

const KINDS: [AccessKind; 3] = [AccessKind::Load, AccessKind::Store, AccessKind::Update];

/// Writes the accesses of all functions, if there are any.
pub(super) fn write(program: &ProgramMap, w: &mut Writer) {
    if program.functions().all(|(_, function)| function.accesses.is_empty()) {
        return;
    }
    for (_, function) in program.functions() {
        w.put(Stream::AccessCount, function.accesses.len() as u64);
        let (mut block, mut before) = (0, 0);
        for access in &function.accesses {
            let kind = KINDS.iter().position(|&kind| kind == access.kind).unwrap_or_default() as u64;
            let flag = |set: bool, bit: u64| if set { bit } else { 0 };
            let flags = flag(access.length.is_some(), LENGTH) | flag(access.span.is_some(), SPAN);
            w.put(Stream::Access, kind | flags);
            w.put_step(Stream::AccessBlock, block, access.block.0);
            w.put_step(Stream::AccessCall, before, access.before.0);
            access.length.into_iter().for_each(|length| w.put(Stream::AccessLength, length));
            access.span.into_iter().for_each(|span| w.put(Stream::AccessSpan, u64::from(span)));
            (block, before) = (access.block.0, access.before.0);
        }
    }
}

/// Reads the accesses of all functions, if the map has them.
pub(super) fn read(program: &mut ProgramMap, r: &mut Reader<'_>) -> Result<(), MapError> {
    if r.left(Stream::AccessCount) == 0 {
        return Ok(());
    }
    for function in program.modules.iter_mut().flat_map(|module| &mut module.functions) {
        let count = r.get_count(Stream::AccessCount, Stream::Access)?;
        let (mut block, mut before) = (0, 0);
        function.accesses.reserve_exact(count);
        for _ in 0..count {
            let flags = r.get(Stream::Access)?;
            let kind = KINDS.get((flags & KIND) as usize).filter(|_| flags <= KIND | LENGTH | SPAN);
            let kind = *kind.ok_or(MapError::Invalid("no such access of memory"))?;
            block = r.get_step(Stream::AccessBlock, block)?;
            before = r.get_step(Stream::AccessCall, before)?;
            let length = (flags & LENGTH != 0).then(|| r.get(Stream::AccessLength)).transpose()?;
            let span = (flags & SPAN != 0).then(|| r.get_u32(Stream::AccessSpan)).transpose()?;
            function.accesses.push(Access { block: Block(block), before: CallId(before), kind, length, span });
        }
    }
    Ok(())
}

/// Writes the accesses that are left out, if there are any.
pub(super) fn write_left_out(program: &ProgramMap, w: &mut Writer) {
    if program.functions().all(|(_, function)| function.left_out.is_empty()) {
        return;
    }
    for (_, function) in program.functions() {
        w.put(Stream::LeftOutCount, function.left_out.len() as u64);
        let mut before = 0;
        for &LeftOut { block, span } in &function.left_out {
            w.put_step(Stream::LeftOutBlock, before, block.0);
            w.put(Stream::LeftOutSpan, span.map_or(0, |span| u64::from(span) + 1));
            before = block.0;
        }
    }
}

/// Reads the accesses that are left out, if the map has any.
pub(super) fn read_left_out(program: &mut ProgramMap, r: &mut Reader<'_>) -> Result<(), MapError> {
    if r.left(Stream::LeftOutCount) == 0 {
        return Ok(());
    }
    for function in program.modules.iter_mut().flat_map(|module| &mut module.functions) {
        let count = r.get_count(Stream::LeftOutCount, Stream::LeftOutSpan)?;
        let mut block = 0;
        function.left_out.reserve_exact(count);
        for _ in 0..count {
            block = r.get_step(Stream::LeftOutBlock, block)?;
            let span = r.get_u32(Stream::LeftOutSpan)?.checked_sub(1);
            function.left_out.push(LeftOut { block: Block(block), span });
        }
    }
    Ok(())
}

/// Are the places there, in order?
pub(super) fn check(function: &Function) -> Result<(), &'static str> {
    let sorted = function.accesses.is_sorted_by_key(|access| (access.block, access.before));
    let has = |block: Block, span: Option<u32>| {
        let block = function.blocks.get(block);
        block.is_some_and(|block| span.is_none_or(|span| (span as usize) < block.lines.len()))
    };
    let is_there = |access: &Access| access.before.index() <= function.calls.len() && has(access.block, access.span);
    let left_out = function.left_out.is_sorted_by_key(|left| left.block)
        && function.left_out.iter().all(|left| has(left.block, left.span));
    let fits = sorted && function.accesses.iter().all(is_there) && left_out;
    if fits { Ok(()) } else { Err("an access of memory is nowhere") }
}
