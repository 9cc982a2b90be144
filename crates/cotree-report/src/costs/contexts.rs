//! Stacks: what is known of the functions around each cost.
//!
//! Counts of blocks and calls are no call stacks. But a function that is entered by calls of known functions only runs
//! inside of each function that all calls to it lead through: its dominators in the call graph. So a stack here has the
//! outermost of them first, then the function, then the copies that were inlined into it. Nothing is apportioned. Where
//! several functions lead from one dominator to the next, [`SEVERAL_CALLERS`] stands for them: which of them was under
//! way is not known. A function that is entered through pointers or from outside begins a stack of its own.
//!
//! A trace knows the stacks themselves ([`super::traced`]). The activations of a recursive function are one frame in
//! either case.

use super::function::costs_of_counts;
use super::traced::Traced;
use super::{Cost, Costs, FunctionCosts, Line};
use crate::names::Names;
use cotree_core::facts::events::{EventKind, FunctionEvents};
use std::collections::HashMap;

/// The frame of what is not known.
pub const SEVERAL_CALLERS: &str = "[several callers]";

/// A function as it stands in stacks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The name of the function.
    pub name: String,
    /// The linker symbol of the function.
    pub symbol: String,
    /// The source file of the function.
    pub file: Option<String>,
    /// The line where it begins; 0 where that is not known.
    pub line: u32,
    /// The function is a copy that was inlined.
    pub inlined: bool,
}

impl Frame {
    /// The name of the function, which says where it is an inlined copy.
    #[must_use]
    pub fn label(&self) -> String {
        if self.inlined { format!("{} (inlined)", self.name) } else { self.name.clone() }
    }
}

/// A frame with the line that is under way in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FrameAt {
    /// An index into [`Contexts::frames`].
    pub frame: usize,
    /// The line; 0 where it is not known, or is not one line only.
    pub line: u32,
}

/// The exclusive cost of a line with the frames around it, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// The frames.
    pub frames: Vec<FrameAt>,
    /// The unit whose code has cost that, an index into [`Costs::units`].
    pub unit: usize,
    /// The cost.
    pub cost: Cost,
}

/// All stacks of some costs.
#[derive(Clone, Debug, Default)]
pub struct Contexts {
    /// The frames that stacks are made of.
    pub frames: Vec<Frame>,
    /// The stacks, by function and line.
    pub stacks: Vec<Stack>,
}

impl Contexts {
    /// The stacks of all costs.
    #[must_use]
    pub fn new(costs: &Costs<'_>, names: Names) -> Self {
        let mut builder = Builder { costs, names, numbers: HashMap::new(), contexts: Self::default() };
        if let Some(traced) = &costs.traced {
            builder.add_traced(traced);
            return builder.contexts;
        }
        for (number, function) in costs.functions.iter().enumerate().filter(|(_, function)| !function.lines.is_empty())
        {
            let around = builder.around(number);
            for (&line, &cost) in &function.lines {
                let mut frames = around.clone();
                builder.within(function, line, &mut frames);
                builder.contexts.stacks.push(Stack { frames, unit: function.unit, cost });
            }
        }
        builder.contexts
    }

    /// The contexts by functions alone: each stack once, without lines, as names.
    #[must_use]
    pub fn by_function(&self) -> Vec<(Vec<usize>, Cost)> {
        let mut sums: Vec<(Vec<usize>, Cost)> = Vec::new();
        let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
        for stack in &self.stacks {
            let frames: Vec<usize> = stack.frames.iter().map(|at| at.frame).collect();
            let at = *known.entry(frames.clone()).or_insert_with(|| {
                sums.push((frames, Cost::default()));
                sums.len() - 1
            });
            sums[at].1 += stack.cost;
        }
        sums
    }
}

struct Builder<'a> {
    costs: &'a Costs<'a>,
    names: Names,
    numbers: HashMap<Frame, usize>,
    contexts: Contexts,
}

impl Builder<'_> {
    fn frame(&mut self, frame: Frame) -> usize {
        let contexts = &mut self.contexts;
        *self.numbers.entry(frame).or_insert_with_key(|frame| {
            contexts.frames.push(frame.clone());
            contexts.frames.len() - 1
        })
    }

    /// The stacks of a calling context tree.
    fn add_traced(&mut self, traced: &Traced) {
        let costs = self.costs;
        let all = EventKind::ALL;
        let events: Vec<Vec<FunctionEvents>> = (costs.functions.iter())
            .map(|costs| all.iter().map(|&kind| costs.function.facts.events(kind)).collect())
            .collect();
        let mut around: Vec<Vec<FrameAt>> = Vec::with_capacity(traced.nodes.len());
        for (node, pieces) in traced.nodes.iter().zip(&traced.pieces) {
            let mut frames = Vec::new();
            if let Some(parent) = node.parent {
                frames.clone_from(&around[parent]);
                let caller = &costs.functions[traced.nodes[parent].function.index()];
                let line = node.call.map_or(Line::default(), |call| caller.line_of_call(call));
                self.within(caller, line, &mut frames);
            }
            let function = &costs.functions[node.function.index()];
            let count = |block, piece| pieces.get(&(block, piece)).copied().unwrap_or(0);
            for (line, cost) in costs_of_counts(function.function.facts, &events[node.function.index()], count) {
                let mut frames = frames.clone();
                self.within(function, line, &mut frames);
                self.contexts.stacks.push(Stack { frames, unit: function.unit, cost });
            }
            around.push(frames);
        }
    }

    /// The frames around a function.
    fn around(&mut self, function: usize) -> Vec<FrameAt> {
        let costs = self.costs;
        let chain: Vec<usize> = std::iter::successors(Some(function), |&f| costs.graph.around(f)).collect();
        let mut frames = Vec::new();
        let mut caller = None;
        for &callee in chain.iter().rev() {
            if let Some(caller) = caller.replace(callee) {
                let line = self.calling_line(caller, callee);
                self.within(&costs.functions[caller], line, &mut frames);
            }
            if !costs.graph.is_direct(callee) {
                let several = Frame {
                    name: SEVERAL_CALLERS.to_owned(),
                    symbol: SEVERAL_CALLERS.to_owned(),
                    file: None,
                    line: 0,
                    inlined: false,
                };
                let frame = self.frame(several);
                frames.push(FrameAt { frame, line: 0 });
            }
        }
        frames
    }

    /// The line at which a function is under way while it calls another one: that of all its calls, if they are on one.
    fn calling_line(&self, caller: usize, callee: usize) -> Line {
        let costs = self.costs;
        let calls = costs.graph.callers(callee).filter(|arc| arc.caller == caller);
        let mut lines = calls.map(|arc| costs.functions[caller].line_of_call(arc.call));
        let Some(first) = lines.next() else { return Line::default() };
        lines.fold(first, |common, line| Line {
            inlined: common.inlined.filter(|_| common.inlined == line.inlined),
            at: common.at.filter(|_| common == line),
        })
    }

    /// Appends the frames of a line of a function: itself, and the inlined copies around the line.
    fn within(&mut self, function: &FunctionCosts<'_>, line: Line, frames: &mut Vec<FrameAt>) {
        let facts = function.function.facts;
        let file = |number: u32| self.costs.file(function, number).to_owned();
        let position = facts.position;
        let own = Frame {
            name: self.names.show(&facts.symbol),
            symbol: facts.symbol.clone(),
            file: position.map(|p| file(p.file)),
            line: position.map_or(0, |p| p.line),
            inlined: false,
        };
        let copies: Vec<_> = std::iter::successors(line.inlined, |&copy| facts.inlined[copy as usize].parent).collect();
        let facts_of = |copy: u32| &facts.inlined[copy as usize];
        // From the inside out: where the line is, then where each copy is called.
        let mut lines = vec![line.at];
        lines.extend(copies.iter().map(|&copy| facts_of(copy).call.map(|call| (call.file, call.line))));
        // A copy that is under way on one of several lines is the one that is on each of them.
        let first_file = |copy: u32| {
            let mut spans = facts.blocks.iter().flat_map(|block| &block.lines);
            spans.find(|span| span.inlined == Some(copy)).map(|span| span.at.file)
        };
        let frame_of = |(&copy, at): (&u32, &Option<(u32, u32)>)| Frame {
            name: self.names.show(&facts_of(copy).symbol),
            symbol: facts_of(copy).symbol.clone(),
            file: at.map(|(number, _)| number).or_else(|| first_file(copy)).map(file),
            line: 0,
            inlined: true,
        };
        let inlined: Vec<Frame> = copies.iter().zip(&lines).map(frame_of).collect();
        let all = std::iter::once(own).chain(inlined.into_iter().rev());
        for (frame, at) in all.zip(lines.into_iter().rev()) {
            let frame = self.frame(frame);
            frames.push(FrameAt { frame, line: at.map_or(0, |(_, line)| line) });
        }
    }
}
