//! Plans become IR: call sites get their numbers, edges their blocks, and probes their instructions.
//!
//! What is here knows no method. It walks the places of a function, moves the builder there, and lowers what means the
//! same in all methods: counting, and closing an affine variable. The other probes belong to their method ([`method`]).

mod affine;
mod attributes;
mod block_notes;
mod builtin_jumps;
mod call_queries;
mod callsites;
mod code;
mod counters;
mod edges;
mod frames;
mod landing_pad;
mod layer;
mod lowering;
mod method;
mod notes_at_calls;
mod safe_points;
mod targets;
mod unit;

pub(crate) use attributes::strip as strip_attributes;
pub(crate) use block_notes::blocks_of;
pub(crate) use builtin_jumps::make_calls as make_calls_of_builtin_jumps;
pub(crate) use call_queries::answer_nothing as answer_no_call_queries;
pub(crate) use callsites::{SEVERAL, fault_numbers};
pub(crate) use counters::{COUNTERS, SLAB};
pub use layer::Layer;
pub(crate) use layer::entry_counter;
pub use method::MethodPart;
pub(crate) use method::registers_at_calls;
pub(crate) use method::trace::Recording;
pub(crate) use notes_at_calls::{
    HAS_NONE, IS_ADDRESS, NOT_SAID, carry_on_stack, drop_all as drop_bundles, drop_empty as drop_empty_bundles,
};
pub(crate) use safe_points::mark as mark_safe_points;
pub use unit::{Access, First, Limits, Targets, Unit};

use crate::error::Error;
use crate::extract::Extracted;
use crate::ir::Instruction;
use crate::module::Module;
use block_notes::BlockNotes;
use code::Code;
use cotree_core::facts::EdgeKind;
use cotree_core::ids::{Block, Edge};
use cotree_core::probe::{Place, Probe};
use lowering::{Lowering, Step};
use std::collections::BTreeMap;

/// Lowers plans to a module. `layers[i]` are the plans of function `i` (the method's own, and with `--verify` the
/// redundant one).
///
/// # Errors
/// A probe cannot be expressed, which is a defect of its planner.
pub fn lower(
    module: &mut Module,
    extracted: &Extracted,
    layers: &[Vec<Layer<'_>>],
    unit: &Unit<'_>,
    first: First,
) -> Result<(), Error> {
    lower_functions(module, extracted, layers, unit, first)?;
    module.sweep();
    Ok(())
}

fn lower_functions(
    module: &Module,
    extracted: &Extracted,
    layers: &[Vec<Layer<'_>>],
    unit: &Unit<'_>,
    first: First,
) -> Result<(), Error> {
    call_queries::lower(module, extracted, unit.asked_lines.get(first.call_query..).unwrap_or_default());
    let calls = callsites::number(module, extracted, first);
    let has_variables = !module.has_lines_for_reports_only();
    let mut next_block = first.block;
    let functions = extracted.facts.functions.iter().zip(&extracted.handles).zip(layers);
    for (number, (((function, handles), layers), calls)) in (first.function..).zip(functions.zip(&calls)) {
        let ir = handles.open(module);
        let first_block = next_block;
        next_block = next_block.saturating_add(block_notes::count(function));
        let checks_thread = unit.checks_thread(number, function);
        let entries = if checks_thread { entry_counter(layers) } else { None };
        if checks_thread && entries.is_none() {
            let entry = code::first_position(ir, Block(0));
            counters::write_by_thread_word(module, entry, unit.spare, unit.resolving[number]);
        }
        if !layers.is_empty() {
            frames::keep(ir);
        }
        layers.iter().for_each(|layer| layer.method.keep_frames(module, ir));
        let safe_points = safe_points::find(ir);
        let has_targets = targets::has_sites(unit.targets, number);
        let bare = safe_points.is_empty()
            && !has_targets
            && function.accesses.is_empty()
            && layers.iter().all(|layer| layer.plan.probes.is_empty());
        if function.untouched.is_some() || bare {
            if unit.registers_at_calls {
                notes_at_calls::add_unknown(module, ir.function);
            }
            continue;
        }
        let mut code = Code::new(module, function, ir, (unit, number), calls);
        let notes_paths = unit.fault_paths && layers.iter().any(|layer| layer.method.notes_paths());
        code.first_block = Some(first_block).filter(|_| has_variables && notes_paths);
        let lowering = Lowering::new(&code, layers, entries.map(|counter| (counter, unit.resolving[number])))?;
        lowering.run()?;
        if let Some(limits) = unit.limits {
            safe_points::lower(&code, &safe_points, limits);
        }
        if let Some(targets) = unit.targets.filter(|_| has_targets) {
            targets::lower(&code, targets, number);
        }
    }
    Ok(())
}

impl<'m> Lowering<'_, 'm> {
    fn run(&self) -> Result<(), Error> {
        let code = self.code;
        let by_stretch = self.methods.iter().any(|method| method.changes_paths_in_calls());
        let mut notes = BlockNotes::begin(code, by_stretch);
        let mut places: BTreeMap<Place, Vec<Step>> = BTreeMap::new();
        for (layer, plan) in self.layers.iter().map(|layer| layer.plan).enumerate() {
            for placed in plan.probes {
                places.entry(placed.place).or_default().push(Step { layer, placed: *placed });
            }
        }
        // What is behind a call is in front of all that comes next to it at the same place: the end of the block, the
        // next call, and on the normal edge of an invoke the edge's own probes.
        let (behind_calls, places): (Vec<_>, Vec<_>) =
            places.into_iter().partition(|(place, _)| matches!(place, Place::After(_)));
        let mut on_edges: BTreeMap<Edge, Vec<Step>> = BTreeMap::new();
        for (place, steps) in behind_calls {
            let Place::After(call) = place else { continue };
            let facts = code.facts.calls.get(call).filter(|facts| facts.comes_back());
            let facts = facts.ok_or_else(|| code.unsupported(&format!("at {place:?}")))?;
            if facts.terminator {
                on_edges.entry(self.normal_edge(facts.block)?).or_default().extend(steps);
            } else {
                let next = code.ir.calls[call.index()].next();
                self.emit_before(next.ok_or_else(|| code.unsupported("behind a block's end"))?, &steps)?;
            }
        }
        // Positions inside blocks are taken before any edge is split, and splitting an edge moves no instruction of an
        // existing block.
        for (place, steps) in places {
            let position = match place {
                Place::Start(block) => code.first_position(block),
                Place::End(block) => code.last_position(block),
                Place::Call(call) | Place::After(call) => {
                    builtin_jumps::what_returns_twice(code.ir.calls[call.index()])
                }
                Place::Edge(edge) => {
                    let facts = &code.facts.edges[edge];
                    if facts.dst != code.facts.exit() {
                        on_edges.entry(edge).or_default().extend(steps);
                        continue;
                    }
                    code.last_position(facts.src)
                }
            };
            let before = position.previous();
            self.emit_before(position, &steps)?;
            if let (Some(notes), Place::End(block)) = (&mut notes, place) {
                notes.blocks[block].probes = before.map_or_else(|| code.block(block).first(), Instruction::next);
            }
            if let Place::Start(block) = place {
                self.set_again(block, &steps)?;
            }
        }
        edges::lower(self, &on_edges.into_iter().collect::<Vec<_>>())?;
        if let Some(notes) = notes {
            self.methods.iter().for_each(|method| method.note_paths(code, &notes));
        }
        self.methods.iter().for_each(|method| method.at_calls(code));
        Ok(())
    }

    /// The edge by which the invoke that ends the block returns.
    fn normal_edge(&self, block: Block) -> Result<Edge, Error> {
        let edges = &self.code.facts.edges;
        let normal = edges.iter().position(|edge| edge.src == block && edge.kind == EdgeKind::InvokeNormal);
        normal.map(Edge::new).ok_or_else(|| self.code.unsupported("behind a call that ends its block"))
    }

    /// Registers that are set where a block begins are set again when a call in it returns once more, as `setjmp` does:
    /// what is in the register's place then is what was there last.
    fn set_again(&self, block: Block, steps: &[Step]) -> Result<(), Error> {
        let sets: Vec<Step> =
            steps.iter().copied().filter(|step| matches!(step.placed.probe, Probe::Set(..))).collect();
        for (site, call) in self.code.facts.sites().zip(self.code.calls) {
            if site.block == block && site.returns_twice && !site.terminator && !sets.is_empty() {
                self.emit_before(call.next().expect("a terminator follows the call"), &sets)?;
            }
        }
        Ok(())
    }
}
