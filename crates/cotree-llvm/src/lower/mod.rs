//! Plans become IR: call sites get their numbers, edges their blocks, and probes their instructions.
//!
//! What is here knows no method. It walks the places of a function, moves the builder there, and lowers what means the
//! same in all methods: counting, and closing an affine variable. The other probes belong to their method ([`method`]).

mod affine;
mod attributes;
mod builtin_jumps;
mod callsites;
mod code;
mod counters;
mod edges;
mod frames;
mod method;
mod notes_at_calls;
mod phis;
mod safe_points;
mod targets;

pub(crate) use attributes::strip as strip_attributes;
pub(crate) use builtin_jumps::make_calls as make_calls_of_builtin_jumps;
pub(crate) use callsites::{SEVERAL, fault_numbers};
pub(crate) use counters::{COUNTERS, SLAB};
pub use method::MethodPart;
pub(crate) use method::registers_at_calls;
pub(crate) use method::trace::Recording;
pub(crate) use notes_at_calls::{
    HAS_NONE, IS_ADDRESS, NOT_SAID, carry_on_stack, drop_all as drop_bundles, drop_empty as drop_empty_bundles,
};
pub use safe_points::Limits;
pub(crate) use safe_points::mark as mark_safe_points;
pub use targets::Targets;

use crate::error::Error;
use crate::extract::Extracted;
use crate::ir::Instruction;
use crate::module::Module;
use code::Code;
use cotree_core::facts::{EdgeKind, Function};
use cotree_core::ids::{Block, Edge};
use cotree_core::plan::FunctionPlan;
use cotree_core::probe::{Place, PlacedProbe, Probe};
use method::MethodLowering;
use std::collections::BTreeMap;

/// How generated code reaches the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// As globals: one instruction, for link units that run one thread.
    Direct,
    /// Through the thread's slab pointer, a TLS word of an executable.
    ThreadInExecutable,
    /// Through the thread's slab pointer, in a shared library.
    ThreadInLibrary,
    /// Relative to the segment register GS, whose base the runtime sets for each thread to its slab's distance from
    /// slab 0: one instruction, in executables that have no other use for the register.
    Segment,
}

/// A plan of one function with the places of its counters in the unit's array.
pub struct Layer<'a> {
    /// The plan.
    pub plan: FunctionPlan<'a>,
    /// Where its counters begin.
    pub base: u64,
    /// What the method has besides.
    pub method: MethodPart<'a>,
}

/// What holds for the whole link unit.
pub struct Unit<'a> {
    /// How counters are reached.
    pub access: Access,
    /// A counter that nobody reads.
    pub spare: u64,
    /// Functions that signal handlers may run, by number in the unit.
    pub interruptible: &'a [bool],
    /// Calls note where the method's registers are ([`method::registers_at_calls`]).
    pub registers_at_calls: bool,
    /// Functions that code outside the unit's profiled functions may call, by number in the unit.
    pub foreign: &'a [bool],
    /// Functions that may run before thread-local variables have values, by number in the unit.
    pub resolving: &'a [bool],
    /// Where limits of events are looked up, if there are safe points.
    pub limits: Option<Limits>,
    /// Indirect calls whose targets are counted.
    pub targets: Option<Targets<'a>>,
}

impl Unit<'_> {
    /// Whether a function begins with a write to the slab that the TLS word leads to ([`counters::announce`]).
    pub(crate) fn announces(&self, number: usize, function: &Function) -> bool {
        self.access == Access::Segment && self.foreign[number] && function.untouched.is_none()
    }
}

/// The counter of a function's entries, if it has one: it can be what that write goes to.
pub(crate) fn entry_counter(layers: &[Layer<'_>]) -> Option<u64> {
    let counter_of = |layer: &Layer<'_>| {
        layer.plan.probes.iter().find_map(|placed| match (placed.place, placed.probe) {
            (Place::Start(Block(0)), Probe::Count(counter)) => Some(layer.base + u64::from(counter.0)),
            _ => None,
        })
    };
    layers.iter().find_map(counter_of)
}

/// Which numbers a module begins with.
#[derive(Clone, Copy, Debug, Default)]
pub struct First {
    /// The number of its first function in the unit.
    pub function: usize,
    /// Call sites are numbered so much higher than in its facts, because it is joined to other modules.
    pub probe: u16,
    /// The number of instructions that may fault.
    pub fault: u32,
}

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
    let calls = callsites::number(module, extracted, first);
    let functions = extracted.facts.functions.iter().zip(&extracted.handles).zip(layers);
    for (number, (((function, handles), layers), calls)) in (first.function..).zip(functions.zip(&calls)) {
        let ir = handles.open(module);
        let announces = unit.announces(number, function);
        let announcing = if announces { entry_counter(layers) } else { None };
        if announces && announcing.is_none() {
            let entry = code::first_position(ir, Block(0));
            counters::announce(module, entry, unit.spare, unit.resolving[number]);
        }
        if !layers.is_empty() {
            frames::keep(ir);
        }
        layers.iter().for_each(|layer| method::events::keep_frames(ir, layer.method));
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
        let code = Code::new(module, function, ir, (unit, number), calls);
        let lowering = Lowering::new(&code, layers, announcing.map(|counter| (counter, unit.resolving[number])))?;
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

/// A probe of one of the function's layers.
#[derive(Clone, Copy)]
struct Step {
    /// Which layer, by number.
    layer: usize,
    placed: PlacedProbe,
}

/// The probes of one function on their way to its code.
struct Lowering<'a, 'm> {
    code: &'a Code<'a, 'm>,
    layers: &'a [Layer<'a>],
    /// One per layer.
    methods: Vec<Box<dyn MethodLowering<'m> + 'a>>,
}

impl<'a, 'm> Lowering<'a, 'm> {
    /// Prepares the function. `announcing` is the counter of its entries if that tells whose thread it is, and whether
    /// the function may run before thread-local variables have values.
    fn new(code: &'a Code<'a, 'm>, layers: &'a [Layer<'a>], announcing: Option<(u64, bool)>) -> Result<Self, Error> {
        let entry = code.first_position(Block(0));
        let first = code.block(Block(0)).first().unwrap_or(entry);
        let methods = layers.iter().map(|layer| method::begin(code, layer, [first, entry])).collect();
        if let Some((counter, resolving)) = announcing {
            code.announcing.get_or_init(|| (counter, code.counters.of_thread_word(entry, resolving)));
        }
        let closings = layers.iter().flat_map(|layer| layer.plan.probes).filter_map(|p| Some(p.probe.closing()?.1));
        let initial = affine::open(code, closings)?;
        code.initial.get_or_init(|| initial);
        Ok(Self { code, layers, methods })
    }

    fn run(&self) -> Result<(), Error> {
        let code = self.code;
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
                    let facts = &code.facts.edges[edge.index()];
                    if facts.dst != code.facts.exit() {
                        on_edges.entry(edge).or_default().extend(steps);
                        continue;
                    }
                    code.last_position(facts.src)
                }
            };
            self.emit_before(position, &steps)?;
            if let Place::Start(block) = place {
                self.set_again(block, &steps)?;
            }
        }
        edges::lower(self, &on_edges.into_iter().collect::<Vec<_>>())?;
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

    /// Emits probes before an instruction.
    fn emit_before(&self, position: Instruction<'m>, steps: &[Step]) -> Result<(), Error> {
        let code = self.code;
        code.counters.builder.move_before(position);
        for &Step { layer, placed } in steps {
            let base = self.layers[layer].base;
            match placed.probe {
                Probe::Count(counter) => code.count(base + u64::from(counter.0)),
                Probe::CountBy(counter, by) => code.count_by(base + u64::from(counter.0), by),
                Probe::AddCounter { to, from, minus } => {
                    code.add_counter(base + u64::from(to.0), base + u64::from(from.0), minus);
                }
                Probe::CountIfTaken(counter, edge) => {
                    let target = code.block(code.facts.edges[edge.index()].dst);
                    let counter = base + u64::from(counter.0);
                    let counted = code.counters.increment_if_branching_to(counter, code.terminator(edge), target);
                    counted.ok_or_else(|| code.unsupported(&format!("{:?}", placed.probe)))?;
                }
                Probe::Close(counter, closing) => {
                    affine::close(code, base + u64::from(counter.0), closing, None, 1)?;
                }
                Probe::CloseIf(counter, closing, way) => {
                    affine::close(code, base + u64::from(counter.0), closing, Some(way), 1)?;
                }
                Probe::CloseBy { counter, closing, way, times } => {
                    affine::close(code, base + u64::from(counter.0), closing, way, times)?;
                }
                _ if self.methods[layer].probe(code, base, placed) => {}
                unknown => return Err(code.unsupported(&format!("{unknown:?}"))),
            }
        }
        Ok(())
    }
}
