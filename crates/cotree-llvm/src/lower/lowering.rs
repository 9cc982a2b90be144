//! Puts the probes of one function into its code.

use super::affine;
use super::code::Code;
use super::layer::Layer;
use super::method;
use super::method::lowering::MethodLowering;
use crate::error::Error;
use crate::ir::Instruction;
use cotree_core::ids::Block;
use cotree_core::probe::{PlacedProbe, Probe};

/// A probe of one of the function's layers.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// Which layer, by number.
    pub(super) layer: usize,
    pub(super) placed: PlacedProbe,
}

/// The probes of one function, and the code that they go into.
pub(super) struct Lowering<'a, 'm> {
    pub(super) code: &'a Code<'a, 'm>,
    pub(super) layers: &'a [Layer<'a>],
    /// One per layer.
    pub(super) methods: Vec<Box<dyn MethodLowering<'m> + 'a>>,
}

impl<'a, 'm> Lowering<'a, 'm> {
    /// Prepares the function. `entry_counter` is the counter of its entries if that tells whose thread it is, and
    /// whether the function may run before thread-local variables have values.
    pub(super) fn new(
        code: &'a Code<'a, 'm>,
        layers: &'a [Layer<'a>],
        entry_counter: Option<(u64, bool)>,
    ) -> Result<Self, Error> {
        let entry = code.first_position(Block(0));
        let first = code.block(Block(0)).first().unwrap_or(entry);
        let methods =
            layers.iter().map(|layer| method::begin(code, layer.method, &layer.plan, [first, entry])).collect();
        if let Some((counter, resolving)) = entry_counter {
            code.entry_counter.get_or_init(|| (counter, code.counters.of_thread_word(entry, resolving)));
        }
        let closings = layers.iter().flat_map(|layer| layer.plan.probes).filter_map(|p| Some(p.probe.closing()?.1));
        let initial = affine::open(code, closings)?;
        code.initial.get_or_init(|| initial);
        Ok(Self { code, layers, methods })
    }

    /// Emits probes before an instruction.
    pub(super) fn emit_before(&self, position: Instruction<'m>, steps: &[Step]) -> Result<(), Error> {
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
                    let target = code.block(code.facts.edges[edge].dst);
                    let counter = base + u64::from(counter.0);
                    let counted = code.counters.increment_if_branching_to(counter, code.terminator(edge), target);
                    counted.ok_or_else(|| code.unsupported(&format!("{:?}", placed.probe)))?;
                }
                Probe::Close(counter, closing) => {
                    affine::close(code, base + u64::from(counter.0), closing, None, 1)?;
                }
                Probe::CloseIf(counter, closing, branch) => {
                    affine::close(code, base + u64::from(counter.0), closing, Some(branch), 1)?;
                }
                Probe::CloseBy { counter, closing, branch, times } => {
                    affine::close(code, base + u64::from(counter.0), closing, branch, times)?;
                }
                _ if self.methods[layer].probe(code, base, placed) => {}
                unknown => return Err(code.unsupported(&format!("{unknown:?}"))),
            }
        }
        Ok(())
    }
}
