//! Functions of the source: all bodies of one function together, and the copies that were inlined into others.
//!
//! By the time probes go in, the compiler may have inlined a function into its callers. Such a copy has no entry of its
//! own to count, but debug information says which code belongs to it, and counts of edges how often control came into
//! that.

use crate::costs::{self, Cost};
use crate::flow::Flow;
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::{Function, InstructionCounts, LineSpan, Linkage, Position, Untouched};
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::dominators::Dominators;
use cotree_core::ids::{Block, FunctionId};
use cotree_core::profile::Flaw;
use std::collections::{BTreeSet, HashMap, HashSet};

/// One function of the source.
#[derive(Clone, Debug, Default)]
pub struct FunctionSummary {
    /// The linker symbol of the function, or the name in the debug information of its inlined copies.
    pub symbol: String,
    /// Where it begins.
    pub position: Option<Position>,
    /// The bodies of the function in the unit (indices of [`UnitFunction`]); none if it exists only inlined.
    pub bodies: Vec<FunctionId>,
    /// Activations of those bodies.
    pub own_entries: u64,
    /// Entries of inlined copies.
    pub inlined_entries: u64,
    /// Entries of copies without code on the function's first line, which counts of lines do not show.
    pub inlined_off_line: u64,
    /// How many inlined copies there are.
    pub inlined_copies: u64,
    /// Block executions of its bodies.
    pub block_executions: u128,
    /// Instructions executed in its bodies, by kind.
    pub instructions: Executed,
    /// All kinds of events in its bodies; `None` if the map does not tell, or nothing was counted.
    pub events: Option<Cost>,
    /// Blocks of its bodies.
    pub blocks: u64,
    /// Blocks that never ran.
    pub unreached: u64,
    /// Why its counts are not vouched for, those of inlined copies included.
    pub flaws: BTreeSet<Flaw>,
    /// The flaws of its own bodies alone.
    pub own_flaws: BTreeSet<Flaw>,
    /// The counts contradict their plan: it has none.
    pub failed: bool,
    /// Why it has no counts.
    pub untouched: Option<Untouched>,
}

impl FunctionSummary {
    /// Calls of the function, inlined ones included.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.own_entries.saturating_add(self.inlined_entries)
    }

    /// Has it code of its own, all of it with probes? These are the functions of which reports say how many ran, or are
    /// in doubt.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        !self.bodies.is_empty() && self.untouched.is_none()
    }

    /// Is there something of its own that can't be vouched for?
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.failed || !self.own_flaws.is_empty()
    }

    /// Did any of it run? (While activations are live, blocks may have run in a function without entries.)
    #[must_use]
    pub fn ran(&self) -> bool {
        self.entries() > 0 || self.block_executions > 0
    }
}

/// Instructions executed, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// All.
    pub total: u128,
    /// Loads.
    pub loads: u128,
    /// Stores.
    pub stores: u128,
    /// Calls.
    pub calls: u128,
    /// Floating-point operations.
    pub float: u128,
}

impl Executed {
    /// Adds the instructions of a block that ran `count` times.
    pub fn add(&mut self, facts: InstructionCounts, count: u64) {
        let times = |n: u32| u128::from(n) * u128::from(count);
        self.total += times(facts.total);
        self.loads += times(facts.loads);
        self.stores += times(facts.stores);
        self.calls += times(facts.calls);
        self.float += times(facts.float);
    }

    /// Adds the instructions of a function. What follows a call in its block ran as often as the call returned.
    fn add_function(&mut self, flow: &Flow<'_>) {
        for (index, facts) in flow.function.blocks.iter().enumerate() {
            let block = Block::new(index);
            facts.runs.iter().for_each(|run| self.add(run.instructions, flow.run(block, run.after_calls)));
        }
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: &Self) {
        self.total += other.total;
        self.loads += other.loads;
        self.stores += other.stores;
        self.calls += other.calls;
        self.float += other.float;
    }
}

/// Functions with code of their own, and with probes: those that reports count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vouched {
    /// All of them.
    pub functions: u64,
    /// Functions that can't be vouched for.
    pub doubtful: u64,
}

impl Vouched {
    /// Counts them in the summaries of a unit.
    #[must_use]
    pub fn of(summaries: &[FunctionSummary]) -> Self {
        let measured = || summaries.iter().filter(|function| function.is_measured());
        let doubtful = measured().filter(|function| function.is_doubtful()).count() as u64;
        Self { functions: measured().count() as u64, doubtful }
    }

    /// Counts those of a unit.
    #[must_use]
    pub fn of_unit(unit: &Unit<'_>) -> Self {
        let mut table = Table::default();
        for function in unit.functions() {
            let number = table.of_body(&function);
            add_flaws(&mut table.summaries[number], &function);
        }
        add_failures(&mut table.summaries, unit);
        Self::of(&table.summaries)
    }
}

/// All functions of a unit, in the order in which they first appear.
#[must_use]
pub fn summarize(unit: &Unit<'_>) -> Vec<FunctionSummary> {
    let mut table = Table::default();
    for function in unit.functions() {
        let number = table.of_body(&function);
        let summary = &mut table.summaries[number];
        add_flaws(summary, &function);
        add_body(summary, &function);
    }
    add_failures(&mut table.summaries, unit);
    // Inlined copies come second, so that they find the functions that have bodies.
    for function in unit.functions() {
        let Some(flow) = function.flow() else { continue };
        for copy in inlined_entries(&flow) {
            let facts = &function.facts.inlined[copy.index as usize];
            let number = table.of_inlined(&function, &facts.symbol);
            let summary = &mut table.summaries[number];
            summary.inlined_entries = summary.inlined_entries.saturating_add(copy.entries);
            let line = |p: Option<Position>| p.map(|p| (p.file, p.line));
            if line(copy.first_line) != line(summary.position) {
                summary.inlined_off_line = summary.inlined_off_line.saturating_add(copy.entries);
            }
            summary.inlined_copies += 1;
            summary.flaws.extend(function.flaws());
            if summary.bodies.is_empty() {
                // An inlined copy does not say where the function begins; its first line with code has to do.
                summary.position = [summary.position, copy.first_line].into_iter().flatten().min();
            }
        }
    }
    table.summaries
}

/// Finds the summary that a body or a copy belongs to.
#[derive(Default)]
struct Table<'a> {
    summaries: Vec<FunctionSummary>,
    /// Bodies by symbol and declaration; local ones without a position by their module too.
    bodies: HashMap<(&'a str, Option<Position>, Option<&'a str>), usize>,
    /// The first function of a symbol in a module, and anywhere.
    in_module: HashMap<(&'a str, &'a str), usize>,
    anywhere: HashMap<&'a str, usize>,
}

impl<'a> Table<'a> {
    fn of_body(&mut self, function: &UnitFunction<'a>) -> usize {
        let Function { symbol, position, linkage, .. } = function.facts;
        let module = function.module.name.as_str();
        let local = (*linkage == Linkage::Internal && position.is_none()).then_some(module);
        let next = self.summaries.len();
        let number = *self.bodies.entry((symbol, *position, local)).or_insert(next);
        if number == next {
            self.summaries.push(FunctionSummary { symbol: symbol.clone(), position: *position, ..Default::default() });
        }
        self.in_module.entry((module, symbol)).or_insert(number);
        self.anywhere.entry(symbol).or_insert(number);
        number
    }

    fn of_inlined(&mut self, into: &UnitFunction<'a>, symbol: &'a str) -> usize {
        let module = into.module.name.as_str();
        let known = self.in_module.get(&(module, symbol)).or_else(|| self.anywhere.get(symbol)).copied();
        known.unwrap_or_else(|| {
            let number = self.summaries.len();
            self.summaries.push(FunctionSummary { symbol: symbol.to_owned(), ..Default::default() });
            self.anywhere.insert(symbol, number);
            number
        })
    }
}

/// A body, and whether it is vouched for.
fn add_flaws(summary: &mut FunctionSummary, function: &UnitFunction<'_>) {
    summary.bodies.push(function.index);
    summary.own_flaws.extend(function.flaws());
    summary.flaws.extend(function.flaws());
    if function.profile.is_none() {
        summary.untouched = summary.untouched.or(function.facts.untouched);
    }
}

/// Marks functions whose counts contradict their plan.
fn add_failures(summaries: &mut [FunctionSummary], unit: &Unit<'_>) {
    let failed: HashSet<FunctionId> = unit.profile.failures.iter().map(|(function, _)| *function).collect();
    if failed.is_empty() {
        return;
    }
    for summary in summaries {
        summary.failed |= summary.bodies.iter().any(|body| failed.contains(body));
    }
}

/// What was counted in a body.
fn add_body(summary: &mut FunctionSummary, function: &UnitFunction<'_>) {
    summary.blocks += function.facts.blocks.len() as u64;
    let Some(profile) = function.profile else { return };
    summary.own_entries = summary.own_entries.saturating_add(profile.entries);
    for &count in &profile.blocks {
        summary.block_executions += u128::from(count);
        summary.unreached += u64::from(count == 0);
    }
    if let Some(flow) = function.flow() {
        summary.instructions.add_function(&flow);
    }
    if let Some(own) = costs::exclusive(function) {
        *summary.events.get_or_insert_default() += own;
    }
}

/// An inlined copy and how often it was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlinedEntries {
    /// The place of the copy in [`Function::inlined`].
    pub index: u32,
    /// Times it was entered.
    pub entries: u64,
    /// The first of its lines, by file and number.
    pub first_line: Option<Position>,
}

/// Entry counts of the inlined copies of a function that have left any block.
///
/// A copy is entered where control comes into its code from other code: within a block, or along an edge. The optimiser
/// may have made several of one copy, by unrolling a loop around it for instance, and may have moved code of the caller
/// into it: an edge out of the copy into a block that has a part of it goes on within the copy, unless it leads back to
/// other code that comes first there. Where edges are not counted, it is the block that all of the copy's code comes
/// after which tells.
#[must_use]
pub fn inlined_entries(flow: &Flow<'_>) -> Vec<InlinedEntries> {
    let copies = &flow.function.inlined;
    if copies.is_empty() {
        return Vec::new();
    }
    let dominators = Dominators::new(&flow.cfg, &Dfs::new(&flow.cfg));
    let depths = depths(&flow.cfg, &dominators);
    let mut parts: Vec<Vec<Block>> = vec![Vec::new(); copies.len()];
    let mut first_line: Vec<Option<Position>> = vec![None; copies.len()];
    for (index, facts) in flow.function.blocks.iter().enumerate() {
        let mut last = None;
        for span in &facts.lines {
            if let Some(copy) = span.inlined {
                let line = &mut first_line[copy as usize];
                *line = Some(line.map_or(span.at, |l| l.min(span.at)));
            }
            if span.inlined == last {
                continue;
            }
            last = span.inlined;
            let mut at = span.inlined;
            while let Some(copy) = at {
                let blocks = &mut parts[copy as usize];
                if blocks.last() != Some(&Block::new(index)) {
                    blocks.push(Block::new(index));
                }
                at = copies[copy as usize].parent;
            }
        }
    }
    let copies = (0u32..).zip(parts).zip(first_line).filter(|((_, blocks), _)| !blocks.is_empty());
    copies
        .map(|((index, blocks), first_line)| {
            let copy = Copy { flow, dominators: &dominators, index, blocks };
            let entries = copy.entered().unwrap_or_else(|| copy.after_common_block(&depths));
            InlinedEntries { index, entries, first_line }
        })
        .collect()
}

/// The code of one inlined copy.
struct Copy<'a> {
    flow: &'a Flow<'a>,
    dominators: &'a Dominators,
    index: u32,
    /// The blocks that have a part of it, in order.
    blocks: Vec<Block>,
}

impl Copy<'_> {
    /// Whether code of that copy, or of none, belongs to this one.
    fn has(&self, mut at: Option<u32>) -> bool {
        while let Some(copy) = at.filter(|&c| c != self.index) {
            at = self.flow.function.inlined[copy as usize].parent;
        }
        at.is_some()
    }

    fn spans(&self, block: Block) -> &[LineSpan] {
        &self.flow.function.blocks[block].lines
    }

    /// Whether control is within the copy where it leaves a block. Blocks without lines change nothing.
    fn ends_in(&self, block: Block) -> bool {
        let cfg = &self.flow.cfg;
        let (mut work, mut seen) = (vec![block], HashSet::new());
        while let Some(block) = work.pop() {
            if block == cfg.exit() {
                return false;
            }
            match self.spans(block).last() {
                Some(last) if !self.has(last.inlined) => return false,
                Some(_) => {}
                None if seen.insert(block) => work.extend(cfg.preds(block).iter().map(|&edge| cfg.src(edge))),
                None => {}
            }
        }
        true
    }

    /// How often control came into the copy; none where an edge is not known.
    fn entered(&self) -> Option<u64> {
        let cfg = &self.flow.cfg;
        let mut total = 0u64;
        for &block in &self.blocks {
            let spans = self.spans(block);
            let first = spans.iter().position(|span| self.has(span.inlined))?;
            let mut entered = 0u64;
            for &edge in cfg.preds(block) {
                let source = cfg.src(edge);
                let count = if edge == cfg.exit_edge() { self.flow.entries() } else { self.flow.edge(edge)? };
                let goes_on = self.ends_in(source) && (first == 0 || !self.dominators.dominates(block, source));
                if !goes_on {
                    entered = entered.saturating_add(count);
                }
            }
            // Calls before it in the block may not have come back.
            let lost = self.flow.block(block).saturating_sub(self.flow.after(block, spans[first].after_sites));
            total = total.saturating_add(entered.saturating_sub(lost));
        }
        Some(total)
    }

    /// How often the copy began after the block that all its code comes after.
    fn after_common_block(&self, depths: &[u32]) -> u64 {
        let nearest = |a, b| nearest(self.dominators, depths, a, b);
        let Some(block) = self.blocks.iter().copied().reduce(nearest) else { return 0 };
        let begins = self.spans(block).iter().find(|span| self.has(span.inlined));
        begins.map_or_else(|| self.flow.block(block), |span| self.flow.after(block, span.after_sites))
    }
}

/// Per block, its depth in the dominator tree.
fn depths(cfg: &Cfg, dominators: &Dominators) -> Vec<u32> {
    let mut depths = vec![None; cfg.block_count()];
    depths[cfg.entry().index()] = Some(0);
    let mut path = Vec::new();
    for block in cfg.blocks() {
        let mut at = Some(block);
        while let Some(b) = at.filter(|b| depths[b.index()].is_none()) {
            path.push(b);
            at = dominators.immediate(b);
        }
        let mut depth = at.and_then(|b| depths[b.index()]).unwrap_or(0);
        for b in path.drain(..).rev() {
            depth += 1;
            depths[b.index()] = Some(depth);
        }
    }
    depths.into_iter().map(|d| d.unwrap_or(0)).collect()
}

/// The nearest common dominator.
fn nearest(dominators: &Dominators, depths: &[u32], mut a: Block, mut b: Block) -> Block {
    while a != b {
        let lower = if depths[a.index()] >= depths[b.index()] { &mut a } else { &mut b };
        match dominators.immediate(*lower) {
            Some(up) => *lower = up,
            None => return *lower,
        }
    }
    a
}
