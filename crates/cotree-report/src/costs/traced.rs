//! Costs from a trace, in which nothing is unknown: what each call cost with all that it led to, and the stack around
//! every line.
//!
//! The execution is regenerated, and each activation adds to a *calling context tree* (Ammons, Ball & Larus 1997): a
//! node for each function and call that led there, but one node for all activations of a function that are under way at
//! once, so that recursion does not make the tree grow. A call's inclusive cost is all that happens while it is under
//! way; if the same call is made again by recursion in the meantime, only the outermost one counts (Ball 1994, §4), so
//! that nothing counts twice.

use super::all::Costs;
use super::calls::{Arc, CallGraph};
use super::cost::Cost;
use super::error::CostError;
use super::function::{FunctionCosts, costs_of_counts};
pub use super::tree::{Node, Traced};
use crate::names::Names;
use crate::unit::{Unit, UnitFunction};
use cotree_core::facts::Function;
use cotree_core::facts::events::{EventKind, FunctionEvents};
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::method::trace::Event;
use cotree_profile::binary::BinaryFile;
use cotree_profile::method::trace::UnitTables;
use cotree_profile::method::trace::streams::Streams;
use std::collections::{BTreeMap, HashMap};

/// The costs of the one unit of a trace.
///
/// # Errors
/// See [`CostError`].
pub fn costs<'a>(units: &'a [Unit<'a>], binary: &BinaryFile, streams: &Streams) -> Result<Costs<'a>, CostError> {
    let unreadable =
        |error: &dyn std::fmt::Display| CostError::Trace(streams.path().display().to_string(), error.to_string());
    let [unit] = units else { return Err(unreadable(&"it is of several binaries")) };
    let tables = UnitTables::new(binary).map_err(|error| unreadable(&error))?;
    let all: Vec<UnitFunction<'a>> = unit.functions().collect();
    let mut replay = Replay::new(&all);
    let named = |facts: &Function| Names::Demangled.show(&facts.symbol);
    let mut missing = streams.ring().overwritten;
    for stream in streams.iter() {
        missing |= stream.cut || stream.gone;
        let mut expected = 0;
        for part in stream.parts() {
            missing |= part.start() != expected;
            expected = part.end();
            let Some(entrance) = part.entrances().next() else { continue };
            missing |= entrance != part.start();
            let mut reader = tables.read(streams, part, entrance);
            while let Some(event) = reader.next().map_err(|error| unreadable(&tables.describe(&error, named)))? {
                replay.event(event);
            }
            missing |= reader.checkpoint().is_lost();
            replay.end();
        }
    }
    Ok(replay.finish(units, missing))
}

/// A call of one function by another one: the caller, its call, the callee.
type ArcKey = (FunctionId, CallId, FunctionId);

/// Something whose outermost activation is measured.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// How many of them are under way.
    depth: u32,
    /// The thread's total when the outermost one began.
    began: Cost,
    inclusive: Cost,
    entries: u64,
}

impl Measured {
    fn begin(&mut self, total: Cost, is_entry: bool) {
        if self.depth == 0 {
            self.began = total;
        }
        self.depth += 1;
        self.entries += u64::from(is_entry);
    }

    fn end(&mut self, total: Cost) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            let amounts = self.inclusive.0.iter_mut().zip(total.0).zip(self.began.0);
            amounts.for_each(|((sum, total), began)| *sum += total - began);
        }
    }
}

/// An activation under way.
struct Activation {
    function: FunctionId,
    node: usize,
    arc: Option<ArcKey>,
    block: Option<Block>,
    /// The next piece of the block to run: so many of its calls have been made.
    next: u32,
    call: Option<CallId>,
}

/// Follows executions and adds up.
struct Replay<'a, 'f> {
    functions: &'f [UnitFunction<'a>],
    /// Per function, the events of each kind.
    events: Vec<Vec<FunctionEvents>>,
    /// Per function and block, the number of its first call.
    first_call: Vec<Vec<usize>>,
    tree: Traced,
    children: HashMap<Node, usize>,
    arcs: BTreeMap<ArcKey, Measured>,
    measured: Vec<Measured>,
    /// Per function, the node of its activations under way.
    node_of: Vec<usize>,
    /// How often each call was made.
    calls: HashMap<(FunctionId, CallId), u64>,
    stack: Vec<Activation>,
    /// The cost of the thread.
    total: Cost,
}

impl<'a, 'f> Replay<'a, 'f> {
    fn new(functions: &'f [UnitFunction<'a>]) -> Self {
        let events =
            |function: &UnitFunction<'_>| EventKind::ALL.iter().map(|&kind| function.facts.events(kind)).collect();
        let first_calls = |function: &UnitFunction<'_>| {
            let mut first = vec![0; function.facts.blocks.len() + 1];
            function.facts.calls.iter().for_each(|call| first[call.block.index() + 1] += 1);
            (0..function.facts.blocks.len()).for_each(|block| first[block + 1] += first[block]);
            first
        };
        Self {
            functions,
            events: functions.iter().map(events).collect(),
            first_call: functions.iter().map(first_calls).collect(),
            tree: Traced::default(),
            children: HashMap::new(),
            arcs: BTreeMap::new(),
            measured: vec![Measured::default(); functions.len()],
            node_of: vec![0; functions.len()],
            calls: HashMap::new(),
            stack: Vec::new(),
            total: Cost::default(),
        }
    }

    fn facts(&self, function: FunctionId) -> &'a Function {
        self.functions[function.index()].facts
    }

    /// Takes account of what a thread does next.
    fn event(&mut self, event: Event) {
        match event {
            Event::Begin(function) | Event::Resumed(function) => self.begin(function, event == Event::Begin(function)),
            Event::Block { block, .. } => {
                self.run_to_end();
                if let Some(top) = self.stack.last_mut() {
                    (top.block, top.next, top.call) = (Some(block), 0, None);
                }
            }
            Event::Call { function, call } => {
                let first = self.first_call[function.index()][self.facts(function).calls[call].block.index()];
                self.run_through((call.index() - first) as u32);
                if let Some(top) = self.stack.last_mut() {
                    top.call = Some(call);
                }
                *self.calls.entry((function, call)).or_default() += 1;
            }
            Event::Leave { .. } => {
                self.run_to_end();
                self.pop();
            }
            Event::Abandoned(..) => self.pop(),
            // What stands behind the call in its block does not run.
            Event::Catch(..) => {
                if let Some(top) = self.stack.last_mut() {
                    (top.block, top.call) = (None, None);
                }
            }
            Event::Revived(calling) => {
                self.begin(calling.function, false);
                let block = self.facts(calling.function).calls[calling.call].block;
                let first = self.first_call[calling.function.index()][block.index()];
                if let Some(top) = self.stack.last_mut() {
                    (top.block, top.call) = (Some(block), Some(calling.call));
                    top.next = (calling.call.index() - first) as u32 + 1;
                }
            }
            Event::Restarted => self.end(),
            Event::Access { .. }
            | Event::Interrupted(_)
            | Event::Ended(_)
            | Event::SwitchedOff
            | Event::SwitchedOn
            | Event::Time(_) => {}
        }
    }

    fn begin(&mut self, function: FunctionId, is_entry: bool) {
        let around = self.stack.last();
        let arc = around.and_then(|around| Some((around.function, around.call?, function)));
        let node = if self.measured[function.index()].depth > 0 {
            self.node_of[function.index()]
        } else {
            let node = Node { parent: around.map(|around| around.node), call: around.and_then(|a| a.call), function };
            let tree = &mut self.tree;
            *self.children.entry(node).or_insert_with(|| {
                tree.nodes.push(node);
                tree.pieces.push(BTreeMap::new());
                tree.nodes.len() - 1
            })
        };
        self.node_of[function.index()] = node;
        self.measured[function.index()].begin(self.total, is_entry);
        if let Some(arc) = arc {
            self.arcs.entry(arc).or_default().begin(self.total, is_entry);
        }
        self.stack.push(Activation { function, node, arc, block: None, next: 0, call: None });
    }

    fn pop(&mut self) {
        let Some(top) = self.stack.pop() else { return };
        self.measured[top.function.index()].end(self.total);
        if let Some(measured) = top.arc.and_then(|arc| self.arcs.get_mut(&arc)) {
            measured.end(self.total);
        }
    }

    /// The thread is over.
    fn end(&mut self) {
        while !self.stack.is_empty() {
            self.pop();
        }
    }

    /// The innermost activation runs its block through a call, the `last` one of the block.
    fn run_through(&mut self, last: u32) {
        let Some(top) = self.stack.last_mut() else { return };
        let Some(block) = top.block.filter(|_| top.next <= last) else { return };
        let first = self.first_call[top.function.index()][block.index()];
        let through = |next: u32, events: &FunctionEvents| match next {
            0 => 0,
            next => events.through(CallId::new(first + next as usize - 1)),
        };
        for (kind, events) in self.events[top.function.index()].iter().enumerate() {
            self.total.0[kind] += u128::from(through(last + 1, events) - through(top.next, events));
        }
        for piece in top.next..=last {
            *self.tree.pieces[top.node].entry((block, piece)).or_default() += 1;
        }
        top.next = last + 1;
    }

    /// The innermost activation leaves its block.
    fn run_to_end(&mut self) {
        let Some(top) = self.stack.last_mut() else { return };
        let Some(block) = top.block.take() else { return };
        let first = &self.first_call[top.function.index()][block.index()..];
        let (first, calls) = (first[0], (first[1] - first[0]) as u32);
        for (kind, events) in self.events[top.function.index()].iter().enumerate() {
            let before = match top.next {
                0 => 0,
                next => events.through(CallId::new(first + next as usize - 1)),
            };
            self.total.0[kind] += u128::from(events.block(block) - before);
        }
        for piece in top.next..=calls {
            *self.tree.pieces[top.node].entry((block, piece)).or_default() += 1;
        }
        (top.next, top.call) = (0, None);
    }

    fn finish(self, units: &'a [Unit<'a>], missing: bool) -> Costs<'a> {
        let mut counts: Vec<HashMap<(Block, u32), u64>> = vec![HashMap::new(); self.functions.len()];
        for (node, pieces) in self.tree.nodes.iter().zip(&self.tree.pieces) {
            for (&piece, &count) in pieces {
                *counts[node.function.index()].entry(piece).or_default() += count;
            }
        }
        let mut functions: Vec<FunctionCosts<'a>> = Vec::new();
        let mut number_of = vec![None; self.functions.len()];
        let mut inclusive = Vec::new();
        for (number, (function, counts)) in self.functions.iter().zip(&counts).enumerate() {
            let count = |block: Block, piece: u32| counts.get(&(block, piece)).copied().unwrap_or(0);
            let lines = costs_of_counts(function.facts, &self.events[number], count);
            let of_call = |(call, _): (CallId, _)| Some((call, *self.calls.get(&(function.index, call))?));
            let calls = function.facts.calls.numbered().filter_map(of_call).collect();
            let entries = self.measured[number].entries;
            number_of[number] = Some(functions.len());
            inclusive.push(self.measured[number].inclusive);
            functions.push(FunctionCosts { unit: 0, function: *function, entries: Some(entries), lines, calls });
        }
        let mut tree = self.tree;
        let mut arcs = Vec::new();
        for ((caller, call, callee), measured) in &self.arcs {
            if let (Some(caller), Some(callee)) = (number_of[caller.index()], number_of[callee.index()]) {
                arcs.push(Arc { caller, call: *call, callee, calls: measured.entries });
                tree.arcs.push(measured.inclusive);
            }
        }
        tree.functions = inclusive;
        let graph = CallGraph::of_arcs(arcs, &functions);
        Costs { units, functions, graph, traced: Some(tree), summed: None, kinds: EventKind::ALL.to_vec(), missing }
    }
}
