//! Counters of the compiler's coverage instrumentation: of which functions they are, and where they stand.

use super::MapError;
use super::sections::Stream;
use super::text::{TextCursor, TextWriter};
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{Anchor, CoveredFunction, Module, ProgramMap};
use cotree_core::ids::Block;

/// Writes the counters of all functions, if there are any.
pub(super) fn write<'a>(program: &'a ProgramMap, w: &mut Writer, text: &mut TextWriter<'a>) {
    if program.modules.iter().all(|module| module.covered.is_empty()) {
        return;
    }
    let has_vectors = program.modules.iter().flat_map(|module| &module.covered).any(|covered| covered.vectors > 0);
    for module in &program.modules {
        w.put(Stream::Covered, module.covered.len() as u64);
        for covered in &module.covered {
            w.put(Stream::Covered, covered.counters.into());
            w.put(Stream::Covered, covered.hash);
            if has_vectors {
                w.put(Stream::CoveredVectors, covered.vectors.into());
            }
            text.put(w, Stream::CoveredName, &covered.name);
        }
        for function in &module.functions {
            w.put(Stream::AnchorCount, function.anchors.len() as u64);
            let mut last = START;
            for &anchor in &function.anchors {
                w.put_step(Stream::AnchorBlock, last.block.0, anchor.block.0);
                w.put(Stream::AnchorAfter, anchor.after_sites.into());
                w.put_step(Stream::AnchorFunction, last.function, anchor.function);
                w.put_step(Stream::AnchorCounter, last.counter, anchor.counter);
                w.put_step(Stream::AnchorCopy, copy_number(last), copy_number(anchor));
                last = anchor;
            }
        }
    }
}

const START: Anchor = Anchor { block: Block(0), after_sites: 0, function: 0, counter: 0, inlined: None };

/// The number of the copy that an anchor is of; 0 for none.
fn copy_number(anchor: Anchor) -> u32 {
    anchor.inlined.map_or(0, |copy| copy.saturating_add(1))
}

/// Reads the counters of all functions, if the map has them.
pub(super) fn read(program: &mut ProgramMap, r: &mut Reader<'_>, text: &mut TextCursor) -> Result<(), MapError> {
    if r.left(Stream::Covered) == 0 {
        return Ok(());
    }
    let has_vectors = r.left(Stream::CoveredVectors) > 0;
    for module in &mut program.modules {
        for _ in 0..r.get_count(Stream::Covered, Stream::CoveredName)? {
            let counters = r.get_u32(Stream::Covered)?;
            let hash = r.get(Stream::Covered)?;
            let name = text.get(r, Stream::CoveredName)?;
            let vectors = if has_vectors { r.get_u32(Stream::CoveredVectors)? } else { 0 };
            if counters.checked_add(vectors).is_none() {
                return Err(MapError::Invalid("a function has too many coverage counters"));
            }
            module.covered.push(CoveredFunction { name, hash, counters, vectors });
        }
        for function in &mut module.functions {
            let count = r.get_count(Stream::AnchorCount, Stream::AnchorBlock)?;
            let mut last = START;
            for _ in 0..count {
                last.block = Block(r.get_step(Stream::AnchorBlock, last.block.0)?);
                last.after_sites = r.get_u32(Stream::AnchorAfter)?;
                last.function = r.get_step(Stream::AnchorFunction, last.function)?;
                last.counter = r.get_step(Stream::AnchorCounter, last.counter)?;
                last.inlined = r.get_step(Stream::AnchorCopy, copy_number(last))?.checked_sub(1);
                function.anchors.push(last);
            }
        }
    }
    Ok(())
}

/// Are the blocks, functions and counters there?
pub(super) fn check(module: &Module) -> Result<(), &'static str> {
    let mut anchors = module.functions.iter().flat_map(|f| f.anchors.iter().map(move |anchor| (f, anchor)));
    let is_there =
        |covered: &CoveredFunction, anchor: &Anchor| anchor.counter < covered.counters.saturating_add(covered.vectors);
    let fits = anchors.all(|(function, anchor)| {
        function.blocks.get(anchor.block).is_some()
            && anchor.inlined.is_none_or(|copy| (copy as usize) < function.inlined.len())
            && module.covered.get(anchor.function as usize).is_some_and(|covered| is_there(covered, anchor))
    });
    if fits { Ok(()) } else { Err("a coverage counter is nowhere") }
}
