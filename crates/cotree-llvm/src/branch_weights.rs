//! Turns the counts of an earlier run (`--weights`) into LLVM's branch weights, as `-fprofile-use` does. From these the
//! code generator decides which values are worth a register, and which blocks may be out of line. Without them it takes
//! the blocks of counters to be as likely as the code that they lead to. In zstd and in bzip2's decoder it then moved
//! values about in the hottest loops for the sake of counters that hardly ever ran: placement alone made +7 and +21 %
//! instructions, placement with branch weights −1 and +5 %.
//!
//! Some branches get weights even without an earlier run: [`cotree_core::place::cold_blocks`].

use crate::extract::{Extracted, FunctionIr};
use crate::ir;
use crate::lower::Layer;
use crate::module::Module;
use cotree_core::facts::{EdgeFacts, Function};
use cotree_core::ids::Edge;
use cotree_core::place::cold_blocks;
use cotree_core::weight::weighting::Weighting;
use cotree_profile::weights::Weights;
use llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// The weights of a branch add up to about this much.
const WHOLE: f64 = (1 << 30) as f64;

/// Gives all branches weights by their functions' counts. Functions and branches that did not run keep their weights.
pub(crate) fn set_from_counts(module: &Module, extracted: &Extracted, weights: &Weights) {
    for (function, handles) in extracted.facts.functions.iter().zip(&extracted.handles) {
        let known = weights.of(&module.name, function).filter(|_| function.untouched.is_none());
        let weighting = known.and_then(|profile| Weighting::from_profile(&function.cfg().ok()?, profile));
        if let Some(weighting) = weighting {
            set_in_function(module, function, handles.open(module), &weighting, about);
        }
    }
}

/// The odds of a cold counter block, which is expected to run rarely. Where two paths join again, the code generator
/// treats a path as the usual one if it is taken more than four times in five.
const SELDOM: [u32; 2] = [17, 83];

/// Gives the branches to cold counter blocks these weights; `layers` are the functions' plans.
pub(crate) fn set_for_seldom_counters(module: &Module, extracted: &Extracted, layers: &[Vec<Layer<'_>>]) {
    let unpredictable = module.metadata_kind("unpredictable");
    let functions = extracted.facts.functions.iter().zip(&extracted.handles).zip(&extracted.hints).zip(layers);
    for (((function, handles), hints), layers) in functions {
        let Some(own) = layers.first().filter(|_| function.untouched.is_none()) else { continue };
        let Ok(cfg) = function.cfg() else { continue };
        for edge in cold_blocks::edges_to_cold_counters(function, &cfg, hints, own.plan) {
            let facts = &function.edges[edge];
            let mut weights = [SELDOM[1]; 2];
            weights[facts.successor as usize] = SELDOM[0];
            let branch = handles.open(module).blocks[facts.src.index()].terminator();
            // Respect the author's `__builtin_unpredictable`.
            if branch.metadata(unpredictable).is_none() {
                module.set_branch_weights(branch, &weights);
            }
        }
    }
}

/// Weights that add up to about [`WHOLE`], of which none is 0.
fn about(weights: &[f64]) -> Vec<u32> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| (weight / sum * WHOLE) as u32 + 1).collect()
}

/// The very counts where all fit, else all of them divided by the same number, as LLVM does (`calculateCountScale`).
pub(crate) fn exactly(counts: &[f64]) -> Vec<u32> {
    let most = counts.iter().copied().fold(0.0, f64::max);
    let whole = f64::from(u32::MAX);
    let scale = if most < whole { 1.0 } else { (most / whole).floor() + 1.0 };
    counts.iter().map(|count| (count / scale) as u32).collect()
}

/// Gives the branches of a function weights, which `scaled` makes of counts.
pub(crate) fn set_in_function<'m>(
    module: &'m Module,
    function: &Function,
    handles: &FunctionIr<'m>,
    weighting: &Weighting,
    scaled: impl Fn(&[f64]) -> Vec<u32>,
) {
    for own in function.edges.chunk_by(|one, next| one.src == next.src) {
        let terminator = handles.blocks[own[0].src.index()].terminator();
        let first = function.edges.partition_point(|edge| edge.src < own[0].src);
        let own = (first..).zip(own).map(|(edge, facts)| (facts, weighting.edge(Edge::new(edge))));
        let weights: Vec<f64> = match terminator.opcode() {
            LLVMOpcode::LLVMBr => {
                let mut weights = vec![0.0; terminator.successor_count() as usize];
                own.for_each(|(edge, count)| weights[edge.successor as usize] = count);
                weights
            }
            LLVMOpcode::LLVMSwitch | LLVMOpcode::LLVMIndirectBr | LLVMOpcode::LLVMInvoke => {
                case_weights(terminator, own)
            }
            _ => continue,
        };
        let sum: f64 = weights.iter().sum();
        if weights.len() >= 2 && sum > 0.0 {
            module.set_branch_weights(terminator, &scaled(&weights));
        }
    }
}

/// The weights of a switch's cases, the default first. Cases that go to one block are one edge, and share its count.
fn case_weights<'a>(switch: ir::Instruction<'_>, edges: impl Iterator<Item = (&'a EdgeFacts, f64)>) -> Vec<f64> {
    let targets: Vec<ir::Block<'_>> = switch.successors().collect();
    let mut shares: HashMap<ir::Block<'_>, (f64, f64)> = HashMap::new();
    for (edge, count) in edges {
        shares.insert(targets[edge.successor as usize], (count, 0.0));
    }
    for target in &targets {
        shares.entry(*target).or_default().1 += 1.0;
    }
    targets.iter().map(|target| shares[target].0 / shares[target].1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::{Selection, extract};
    use crate::lower::MethodPart;
    use cotree_core::facts::EdgeKind;
    use cotree_core::place::placement::{Placement, add_counter};
    use cotree_core::plan::{CounterPlan, Measure};
    use cotree_core::probe::Place;

    /// The weights of the branch at the end of a block; none if it has none.
    fn weights_of(module: &Module, block: ir::Block<'_>) -> Vec<u64> {
        let node = block.terminator().metadata(module.metadata_kind("prof"));
        let operands = node.and_then(ir::Value::node_operands).unwrap_or_default();
        operands.into_iter().skip(1).filter_map(|weight| weight?.constant()).collect()
    }

    /// `while (n--) if (x[n] >= 0) sum += x[n];`, where no number is thought to be negative, and the same without a
    /// loop.
    #[test]
    fn counters_that_are_expected_to_run_rarely_are_out_of_line() {
        let text = "target triple = \"x86_64-unknown-linux-gnu\"\n\
             define i32 @f(ptr %x, i64 %n, i32 %s) {\n  br label %head\n\
             head:\n  %i = phi i64 [ %n, %0 ], [ %next, %latch ]\n  %sum = phi i32 [ 0, %0 ], [ %new, %latch ]\n\
             %done = icmp eq i64 %i, 0\n  br i1 %done, label %out, label %body\n\
             body:\n  %next = add i64 %i, -1\n  %p = getelementptr i32, ptr %x, i64 %next\n  %v = load i32, ptr %p\n\
             %negative = icmp slt i32 %v, 0\n  br i1 %negative, label %latch, label %add\n\
             add:\n  %more = add i32 %sum, %v\n  br label %latch\n\
             latch:\n  %new = phi i32 [ %sum, %body ], [ %more, %add ]\n  br label %head\n\
             out:\n  %odd = icmp slt i32 %s, 0\n  br i1 %odd, label %end, label %one\n\
             one:\n  br label %end\nend:\n  %r = phi i32 [ %sum, %out ], [ 1, %one ]\n  ret i32 %r\n}\n";
        let module = Module::parse_text("seldom", text).expect("valid IR");
        let extracted = extract(&module, &Selection::default());
        let (function, handles) = (&extracted.facts.functions[0], extracted.handles[0].open(&module));
        let critical: Vec<Edge> = (function.edges.iter().zip(0..))
            .filter(|(edge, _)| edge.kind == EdgeKind::True)
            .map(|(_, number)| Edge(number))
            .collect();
        assert_eq!(critical.len(), 3, "done, negative, odd");
        let mut plan = CounterPlan::default();
        for &edge in &critical {
            add_counter(
                &mut plan,
                Placement { place: Place::Edge(edge), if_taken: false, measure: Measure::Edge(edge) },
            );
        }
        let layers = [vec![Layer { plan: (&plan).into(), base: 0, method: MethodPart::Counters }]];
        set_for_seldom_counters(&module, &extracted, &layers);
        let weights: Vec<Vec<u64>> = critical
            .iter()
            .map(|edge| weights_of(&module, handles.blocks[function.edges[*edge].src.index()]))
            .collect();
        assert_eq!(weights, [vec![], vec![17, 83], vec![]]);
        Module::parse_text("again", &module.to_text()).expect("valid metadata");
    }

    #[test]
    fn counts_that_fit_stay_what_they_are() {
        assert_eq!(exactly(&[0.0, 7.0]), [0, 7]);
        let most = f64::from(u32::MAX);
        assert_eq!(exactly(&[most - 1.0, 1.0]), [u32::MAX - 1, 1]);
        assert_eq!(exactly(&[most, 4.0]), [u32::MAX / 2, 2]);
        assert!(exactly(&[1e300, 1e299]).iter().all(|&weight| weight > 0));
    }

    #[test]
    fn branches_and_switches_say_what_ran() {
        let text = "target triple = \"x86_64-unknown-linux-gnu\"\n\
             define i32 @f(i32 %n, i1 %c) {\n  switch i32 %n, label %d [ i32 1, label %a\n i32 2, label %b\n i32 3, label %a ]\n\
             a:\n  br i1 %c, label %b, label %d\nb:\n  ret i32 1\nd:\n  ret i32 2\n}\n";
        let module = Module::parse_text("weights", text).expect("valid IR");
        let extracted = extract(&module, &Selection::default());
        let (function, handles) = (&extracted.facts.functions[0], extracted.handles[0].open(&module));
        let cfg = function.cfg().expect("a graph");
        let (entry, a) =
            (function.edges[Edge(0)].src, function.edges.iter().find(|e| e.kind == EdgeKind::True).unwrap().src);
        let counts = function.edges.iter().map(|edge| match edge.kind {
            EdgeKind::Cases(2, 1) => 60.0,
            EdgeKind::Case(2) => 10.0,
            EdgeKind::Default => 30.0,
            EdgeKind::True => 0.0,
            EdgeKind::False => 60.0,
            _ => 50.0,
        });
        let weighting = Weighting::new(&cfg, counts.chain([100.0]).collect());
        set_in_function(&module, function, handles, &weighting, about);
        let weights = [entry, a].map(|block| weights_of(&module, handles.blocks[block.index()]));
        let share = |percent: u64| (1 << 30) * percent / 100 + 1;
        // The default first, then the cases.
        assert_eq!(weights[0], [share(30), share(30), share(10), share(30)]);
        assert_eq!(weights[1], [share(0), share(100)]);
        Module::parse_text("again", &module.to_text()).expect("valid metadata");
    }
}
