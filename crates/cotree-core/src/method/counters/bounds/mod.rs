//! What is certain of counts though some activations were not accounted for, as those of a killed process.
//!
//! A counter in memory is right at any moment. What breaks is the law of flow: a block that an activation is in was
//! entered once more often than it was left. So the law becomes an inequality. For each block, what was entered and
//! neither left nor known to have ended early is the number of activations that are in it: not negative, and at most as
//! many as can be live at once. These inequalities leave a *range* for each count. Edges without a counter form a tree,
//! on which narrowing the ranges block by block finds the smallest ones.
//!
//! A block that ran was reached from the entry, so that each block which dominates it ran and was left.
//!
//! Within a block only its beginning is known to have run as often as the block was entered. What follows ran at least
//! as often as the block was left ([`FunctionBounds::interrupted`]).

mod callers;
mod function;
mod narrowing;
mod range;

pub use callers::bounds;
pub use function::{FunctionBounds, Live, Part, Uncertain};
pub use range::{Range, UNBOUNDED};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{BlockFacts, Call, Callee, EdgeFacts, EdgeKind, Function};
    use crate::ids::{Block, Edge, IdMap};
    use crate::method::counters::Measured;
    use crate::plan::{CounterKey, Measure};
    use crate::profile::EarlyExits;
    use crate::weight::weighting::Weighting;

    /// A loop with a call in its body: b0 → b1, b1 → b2 (body) → b1, b1 → b3 → EXIT.
    fn with_loop() -> Function {
        let edge = |src, dst| EdgeFacts { src: Block(src), dst: Block(dst), kind: EdgeKind::Jump, successor: 0 };
        let mut function = Function {
            blocks: vec![BlockFacts::default(); 4].into(),
            edges: vec![edge(0, 1), edge(1, 2), edge(2, 1), edge(1, 3), edge(3, 4)].into(),
            ..Function::default()
        };
        function.calls.push(Call::site(Block(2), Callee::Indirect));
        function
    }

    fn of(function: &Function, measures: &[(Measure, u64)], live: Live) -> FunctionBounds {
        let key = CounterKey { measures: measures.iter().map(|&(measure, _)| measure).collect(), fixed: Vec::new() };
        let counts: Vec<u64> = measures.iter().map(|&(_, count)| count).collect();
        let early = EarlyExits::default();
        let measured = Measured { function, key: &key, counts: &counts, early: &early };
        let part = Part::Uncertain(Uncertain { measured, at_least: false, live });
        let mut all = bounds(&[Some(part)], &[]);
        all.remove(0).expect("it is uncertain").expect("it fits")
    }

    fn ranges<I: crate::ids::Id>(map: &IdMap<I, Range>) -> Vec<(i128, i128)> {
        map.iter().map(|range| (range.least, range.most)).collect()
    }

    /// The one activation is in the call: the body was entered a fifth time, and came back four times.
    #[test]
    fn a_live_activation_is_found_where_both_sides_of_a_block_are_counted() {
        let measures = [(Measure::Edge(Edge(1)), 5), (Measure::Edge(Edge(2)), 4), (Measure::Edge(Edge(3)), 0)];
        let found = of(&with_loop(), &measures, Live::AtMost(1));
        assert_eq!(ranges(&found.blocks), [(1, 1), (5, 5), (5, 5), (0, 0)]);
        assert_eq!(found.interrupted, [0, 0, 1, 0]);
    }

    /// Chords alone: the backedge and the way out. That the loop was entered follows from its turns.
    #[test]
    fn what_is_certain_follows_from_chords() {
        let measures = [(Measure::Edge(Edge(2)), 4), (Measure::Edge(Edge(3)), 0)];
        let found = of(&with_loop(), &measures, Live::AtMost(1));
        assert_eq!(ranges(&found.blocks), [(1, 1), (5, 5), (4, 5), (0, 0)]);
        let unknown = of(&with_loop(), &measures, Live::Unknown);
        assert_eq!(ranges(&unknown.blocks).iter().map(|range| range.0).collect::<Vec<_>>(), [0, 4, 0, 0]);
    }

    /// Counters that contradict each other say only what they counted.
    #[test]
    fn contradictions_leave_what_was_counted() {
        let measures = [(Measure::Edge(Edge(1)), 2), (Measure::Edge(Edge(2)), 9), (Measure::Edge(Edge(3)), 0)];
        let found = of(&with_loop(), &measures, Live::AtMost(1));
        assert_eq!(found.blocks.iter().map(|range| range.least).collect::<Vec<_>>(), [0, 9, 2, 0]);
    }

    /// Random graphs with random walks, some of which stop in the midst: the truth lies in the ranges.
    #[test]
    fn ranges_have_the_truth() {
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) % below as u64) as usize
        };
        for _ in 0..400 {
            let blocks = 2 + random(9);
            let mut function = Function { blocks: vec![BlockFacts::default(); blocks].into(), ..Function::default() };
            for block in 0..blocks {
                let targets = 1 + random(2);
                for successor in 0..targets {
                    // The first successor is behind it, so that each walk may end.
                    let dst = if successor == 0 { block + 1 } else { 1 + random(blocks) };
                    let (src, dst) = (Block::new(block), Block::new(dst));
                    function.edges.push(EdgeFacts { src, dst, kind: EdgeKind::Jump, successor: successor as u32 });
                }
            }
            let cfg = function.cfg().expect("a graph");
            let live = random(3);
            let (mut entries, mut edges, mut entered) = (0u64, vec![0u64; function.edges.len()], vec![0u64; blocks]);
            for walk in 0..live + random(4) {
                let mut left = if walk < live { random(12) } else { usize::MAX };
                let mut at = Block(0);
                entries += 1;
                while at != cfg.exit() {
                    entered[at.index()] += 1;
                    if left == 0 {
                        break;
                    }
                    left -= 1;
                    let next = cfg.succs(at)[random(cfg.succs(at).len())];
                    edges[next.index()] += 1;
                    at = cfg.dst(next);
                }
            }
            let plan = crate::method::counters::edge::plan(&function, &cfg, &Weighting::heuristic(&cfg));
            let count = |measure: &Measure| match *measure {
                Measure::Edge(edge) => edges.get(edge.index()).copied().unwrap_or(entries),
                Measure::Block(block) => entered[block.index()],
            };
            let measures: Vec<_> = plan.key.measures.iter().map(|measure| (*measure, count(measure))).collect();
            for most in [Live::AtMost(live as i128), Live::AtMost(UNBOUNDED), Live::Unknown] {
                let found = of(&function, &measures, most);
                let within = |range: &Range, truth: u64| (range.least..=range.most).contains(&i128::from(truth));
                assert!(within(&found.entries, entries), "{found:?}");
                assert!(
                    found.edges.iter().zip(&edges).all(|(range, &truth)| within(range, truth)),
                    "{edges:?} {found:?}"
                );
                assert!(found.blocks.iter().zip(&entered).all(|(range, &truth)| within(range, truth)), "{found:?}");
                assert!(live > 0 || most != Live::AtMost(0) || found.is_exact(), "{found:?}");
            }
        }
    }
}
