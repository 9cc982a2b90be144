//! LLVM's sample profiles in their text form, for `clang -fprofile-sample-use`: as of AutoFDO, but with exact counts
//! (`llvm/ProfileData/SampleProfReader.h`).
//!
//! A line counts as often as that block on it which ran most, since LLVM takes the greatest count on a block's lines
//! for the block's. Lines stand by their distance from the line in which their function begins. What was inlined before
//! it was counted stands below the line of the call, with lines of its own function. Where the beginning of that is not
//! known, since nothing else is left of it, these lines are left out.

use super::format::{Export, ExportError, Format, Needs};
use crate::terminal::counted;
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::{Function, LineSpan, linker_name};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "llvm-sample",
    summary: "A sample profile (AutoFDO's text) with exact counts, for clang -fprofile-sample-use; best of a build --at early",
    needs: Needs::Blocks,
    has_lines: true,
    escapes: false,
    write: export,
};

fn export(export: &Export<'_>, out: &mut dyn Write) -> Result<Vec<String>, ExportError> {
    let left_out = write(export.units, out)?;
    if left_out == LeftOut::default() {
        return Ok(Vec::new());
    }
    let places = counted(left_out.0.into(), "place");
    Ok(vec![format!(
        "left out what was inlined at {places}, as nothing else is left of these functions: a build --at early has all of it"
    )])
}

/// Distances have sixteen bits.
const FURTHEST: u32 = 1 << 16;

/// A function, or a copy of one that was inlined.
#[derive(Clone, Debug, Default)]
struct Samples {
    entries: u64,
    /// Per line: how often it ran, and whom it called how often.
    lines: BTreeMap<u32, (u64, BTreeMap<String, u64>)>,
    /// What was inlined into which line.
    inlined: BTreeMap<(u32, String), Samples>,
}

impl Samples {
    fn total(&self) -> u64 {
        let own = self.lines.values().map(|(count, _)| *count);
        own.chain(self.inlined.values().map(Self::total)).fold(0, u64::saturating_add)
    }

    /// Writes what is below the heading.
    fn write(&self, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        let indent = " ".repeat(depth);
        for (line, (count, calls)) in &self.lines {
            write!(out, "{indent}{line}: {count}")?;
            for (callee, calls) in calls {
                write!(out, " {callee}:{calls}")?;
            }
            writeln!(out)?;
        }
        for ((line, callee), samples) in &self.inlined {
            writeln!(out, "{indent}{line}: {callee}:{}", samples.total())?;
            samples.write(depth + 1, out)?;
        }
        Ok(())
    }
}

/// How many inlined copies are not in the file, as it is not known where their functions begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut(pub u64);

/// Writes the functions that ran, those first that did most.
///
/// # Errors
/// If the output can't be written.
pub fn write(units: &[Unit<'_>], out: &mut dyn Write) -> io::Result<LeftOut> {
    let starts: BTreeMap<&str, u32> = units
        .iter()
        .flat_map(Unit::functions)
        .filter_map(|function| Some((linker_name(&function.facts.symbol), function.facts.position?.line)))
        .collect();
    let (mut all, mut left_out) = (BTreeMap::<&str, Samples>::new(), LeftOut::default());
    for function in units.iter().flat_map(Unit::functions) {
        if is_a_word(&function.facts.symbol)
            && function.profile.is_some_and(|profile| profile.blocks.iter().any(|&count| count > 0))
        {
            // Functions of one name in several modules are one to LLVM.
            let samples = all.entry(linker_name(&function.facts.symbol)).or_default();
            add(samples, &function, &starts, &mut left_out);
        }
    }
    let mut all: Vec<(&str, Samples)> = all.into_iter().collect();
    all.sort_by_key(|(_, samples)| std::cmp::Reverse(samples.total()));
    for (symbol, samples) in all {
        writeln!(out, "{symbol}:{}:{}", samples.total(), samples.entries)?;
        samples.write(1, out)?;
    }
    Ok(left_out)
}

/// Whether the format can hold a name: blanks end it.
fn is_a_word(symbol: &str) -> bool {
    !symbol.contains(char::is_whitespace)
}

fn add(samples: &mut Samples, function: &UnitFunction<'_>, starts: &BTreeMap<&str, u32>, left_out: &mut LeftOut) {
    let (facts, Some(profile)) = (function.facts, function.profile) else { return };
    samples.entries = samples.entries.saturating_add(profile.entries);
    let chains: Vec<Option<Chain<'_>>> = (0..facts.inlined.len()).map(|copy| chain(facts, copy, starts)).collect();
    left_out.0 += chains.iter().filter(|chain| chain.is_none()).count() as u64;
    // Sums over functions of one name, greatest counts within each.
    let mut own = Samples::default();
    for (block, &count) in facts.blocks.iter().zip(&profile.blocks) {
        for span in &block.lines {
            if let Some((node, line)) = place(&mut own, facts, &chains, span) {
                let (most, _) = node.lines.entry(line).or_default();
                *most = (*most).max(count);
            }
        }
    }
    for call in facts.calls.iter().filter(|call| !call.is_marker()) {
        let (Some(name), Some(span)) = (call.callee_name(), facts.line_span(call)) else { continue };
        if !is_a_word(name) {
            continue;
        }
        let count = profile.blocks.get(call.block).copied().unwrap_or(0);
        if let Some((node, line)) = place(&mut own, facts, &chains, span).filter(|_| count > 0) {
            let (_, calls) = node.lines.entry(line).or_default();
            let calls = calls.entry(name.to_owned()).or_default();
            *calls = calls.saturating_add(count);
        }
    }
    join(samples, own);
}

fn join(samples: &mut Samples, more: Samples) {
    for (line, (count, calls)) in more.lines {
        let (sum, own) = samples.lines.entry(line).or_default();
        *sum = sum.saturating_add(count);
        for (callee, calls) in calls {
            let sum = own.entry(callee).or_default();
            *sum = sum.saturating_add(calls);
        }
    }
    for (at, more) in more.inlined {
        join(samples.inlined.entry(at).or_default(), more);
    }
}

/// The call chain of an inlined copy: per step the line of the call, the function that is inlined, and the line in
/// which that begins.
type Chain<'a> = Vec<(u32, &'a str, u32)>;

/// The call chain of a copy. `None` if a line of these is not known.
fn chain<'a>(facts: &'a Function, copy: usize, starts: &BTreeMap<&str, u32>) -> Option<Chain<'a>> {
    let (mut chain, mut next) = (Vec::new(), Some(copy));
    while let Some(copy) = next {
        let inlined = facts.inlined.get(copy)?;
        let symbol = linker_name(&inlined.symbol);
        chain.push((inlined.call?.line, symbol, starts.get(symbol).copied().filter(|_| is_a_word(symbol))?));
        // Parents come before children.
        next = inlined.parent.map(|parent| parent as usize).filter(|&parent| parent < copy);
    }
    chain.reverse();
    Some(chain)
}

/// Where the samples of a span belong: the copy, and the line there.
fn place<'s>(
    samples: &'s mut Samples,
    facts: &Function,
    chains: &[Option<Chain<'_>>],
    span: &LineSpan,
) -> Option<(&'s mut Samples, u32)> {
    let mut start = facts.position?.line;
    let distance = |line: u32, start: u32| line.checked_sub(start).filter(|&distance| distance < FURTHEST);
    let mut node = samples;
    if let Some(copy) = span.inlined {
        for &(line, symbol, next) in chains.get(copy as usize)?.as_deref()? {
            node = node.inlined.entry((distance(line, start)?, symbol.to_owned())).or_default();
            start = next;
        }
    }
    Some((node, distance(span.at.line, start)?))
}
