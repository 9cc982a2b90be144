//! Runs of instructions: how a block's instructions are spread over its source lines and between its calls.
//!
//! The last run of a block has what its other runs leave of the block's instructions, and which runs hold calls follows
//! from the list of calls. So most blocks take a byte or two. Readers of profiles that need no events may skip the
//! section.

use super::MapError;
use super::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{BlockFacts, Call, InstructionCounts, ProgramMap, Run};

/// How the span of a run is written.
mod span {
    pub(super) const NONE: u64 = 0;
    /// That of the last run that has one.
    pub(super) const SAME: u64 = 1;
    /// The one after it.
    pub(super) const NEXT: u64 = 2;
    /// The number follows.
    pub(super) const OTHER: u64 = 3;
}
const SPAN: u64 = 3;
/// One more call comes before it than before the run before.
const AFTER_CALL: u64 = 1 << 2;
/// The step in calls follows.
const AFTER_CALLS: u64 = 1 << 3;
/// The run has loads, stores or floating-point operations.
const KINDS: u64 = 1 << 4;

/// Writes the runs of all functions.
pub(super) fn write(program: &ProgramMap, w: &mut Writer) {
    let blocks = || program.functions().flat_map(|(_, function)| &function.blocks);
    blocks().for_each(|block| write_block(&block.runs, w));
    let runs = || blocks().flat_map(|block| &block.runs);
    if runs().any(|run| run.cost > 0) {
        runs().for_each(|run| w.put(Stream::RunCost, run.cost));
    }
}

fn write_block(runs: &[Run], w: &mut Writer) {
    w.put(Stream::RunCount, runs.len() as u64);
    let (mut last_span, mut last_calls) = (None, 0);
    for (index, run) in runs.iter().enumerate() {
        let last = index + 1 == runs.len();
        let InstructionCounts { total, loads, stores, float, .. } = run.instructions;
        let kinds = !last && loads | stores | float != 0;
        let form = match run.span {
            None => span::NONE,
            Some(_) if run.span == last_span => span::SAME,
            Some(number) if number == next(last_span) => span::NEXT,
            Some(_) => span::OTHER,
        };
        let calls = match i64::from(run.after_calls) - i64::from(last_calls) {
            0 => 0,
            1 => AFTER_CALL,
            _ => AFTER_CALLS,
        };
        w.put(Stream::RunShape, form | calls | if kinds { KINDS } else { 0 });
        if let (span::OTHER, Some(number)) = (form, run.span) {
            w.put(Stream::RunShape, u64::from(number));
        }
        if calls == AFTER_CALLS {
            w.put_step(Stream::RunShape, last_calls, run.after_calls);
        }
        if !last {
            w.put(Stream::RunTotal, u64::from(total));
        }
        if kinds {
            [loads, stores, float].into_iter().for_each(|n| w.put(Stream::RunKinds, u64::from(n)));
        }
        last_span = run.span.or(last_span);
        last_calls = run.after_calls;
    }
}

fn next(span: Option<u32>) -> u32 {
    span.map_or(0, |number| number.saturating_add(1))
}

/// Reads the runs of all functions.
pub(super) fn read(program: &mut ProgramMap, r: &mut Reader<'_>) -> Result<(), MapError> {
    for function in program.modules.iter_mut().flat_map(|module| &mut module.functions) {
        let mut calls = function.calls.iter().peekable();
        for (index, block) in function.blocks.iter_mut().enumerate() {
            let mut here = Vec::new();
            while let Some(call) = calls.next_if(|call| call.block.index() == index) {
                here.push(call);
            }
            block.runs = read_block(block, &here, r)?;
            if !block.runs_agree() {
                return Err(MapError::Invalid("a block has not the instructions of its runs"));
            }
        }
    }
    Ok(())
}

fn read_block(block: &BlockFacts, calls: &[&Call], r: &mut Reader<'_>) -> Result<Vec<Run>, MapError> {
    let count = r.get_count(Stream::RunCount, Stream::RunShape)?;
    let mut runs: Vec<Run> = Vec::with_capacity(count);
    let costs = r.left(Stream::RunCost) > 0;
    let (mut last_span, mut last_calls) = (None, 0);
    for index in 0..count {
        let flags = r.get(Stream::RunShape)?;
        let span = match flags & SPAN {
            span::NONE => None,
            span::SAME => Some(last_span.ok_or(MapError::Invalid("a run continues no line"))?),
            span::NEXT => Some(next(last_span)),
            _ => Some(r.get_u32(Stream::RunShape)?),
        };
        let after_calls = match flags & (AFTER_CALL | AFTER_CALLS) {
            0 => last_calls,
            AFTER_CALL => last_calls + 1,
            _ => r.get_step(Stream::RunShape, last_calls)?,
        };
        if flags >= KINDS << 1 || after_calls < last_calls || after_calls as usize > calls.len() {
            return Err(MapError::Invalid("the runs of a block are not in order"));
        }
        if span.is_some_and(|span| span as usize >= block.lines.len()) {
            return Err(MapError::Invalid("a run of instructions is in no line"));
        }
        let mut instructions = InstructionCounts::default();
        if index + 1 < count {
            instructions.total = r.get_u32(Stream::RunTotal)?;
        }
        if flags & KINDS != 0 {
            instructions.loads = r.get_u32(Stream::RunKinds)?;
            instructions.stores = r.get_u32(Stream::RunKinds)?;
            instructions.float = r.get_u32(Stream::RunKinds)?;
        }
        let cost = if costs { r.get(Stream::RunCost)? } else { 0 };
        runs.push(Run { span, after_calls, instructions, cost });
        last_span = span.or(last_span);
        last_calls = after_calls;
    }
    let mut ends: Vec<usize> = runs.iter().skip(1).map(|run| run.after_calls as usize).collect();
    ends.push(calls.len());
    for (run, end) in runs.iter_mut().zip(ends) {
        let own = &calls[run.after_calls as usize..end];
        run.instructions.calls = own.iter().filter(|call| !call.is_marker()).count() as u32;
    }
    if let Some((last, others)) = runs.split_last_mut() {
        let none = InstructionCounts::default();
        let told = others.iter().fold(none, |sum, run| sum.plus(run.instructions));
        let rest = block.instructions.without(told);
        last.instructions = rest.ok_or(MapError::Invalid("a block has fewer instructions than its runs"))?;
    }
    Ok(runs)
}
