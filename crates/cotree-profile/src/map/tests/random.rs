//! Random maps: functions as compilers make them and odd ones, plans of every method, callers, return addresses.

use crate::binary::{BinaryMap, CodeFunction, CodeMap, ReturnPoint};
use crate::map::plan;
use cotree_core::facts::events::EventKind;
use cotree_core::facts::*;
use cotree_core::ids::{Block, CallId, Counter, Edge, FunctionId, Site, Variable};
use cotree_core::method::calls::{self, CallPlan, UnitCallPlan};
use cotree_core::method::counters::UnitCounterPlan;
use cotree_core::method::counters::chords::ChordMethod;
use cotree_core::method::events::call_sums::{CallForm, CallSumKey};
use cotree_core::method::events::{EventKey, EventMethod, EventPlan, UnitEventPlan};
use cotree_core::method::ipath::{self, AtCall, FunctionKey, GroupId, Groups, IpathPlan, UnitIpathPlan};
use cotree_core::method::path::{self, Cuts, PathKey, PathMethod, PathMetric, PathOptions, PathPlan, UnitPathPlan};
use cotree_core::method::targets::UnitTargetPlan;
use cotree_core::method::trace::{TraceKey, TracePlan, UnitTracePlan};
use cotree_core::method::{Family, METHODS, MethodPlan};
use cotree_core::plan::{CallPoint, CounterPlan, DerivedEntry, FixedEdge, Measure};
use cotree_core::probe::{Closing, Place, PlacedProbe, Probe};
use cotree_core::unit::UnitPlan;
use cotree_core::weight::weighting::Weighting;
use proptest::prelude::*;

fn position() -> impl Strategy<Value = Position> {
    (0u32..3, 1u32..5000, 0u32..90).prop_map(|(file, line, column)| Position { file, line, column })
}

fn kind() -> impl Strategy<Value = EdgeKind> {
    prop_oneof![
        Just(EdgeKind::Jump),
        Just(EdgeKind::True),
        Just(EdgeKind::False),
        any::<i64>().prop_map(EdgeKind::Case),
        (2u32..9, any::<i64>()).prop_map(|(n, v)| EdgeKind::Cases(n, v)),
        Just(EdgeKind::Default),
        Just(EdgeKind::InvokeNormal),
        Just(EdgeKind::InvokeUnwind),
        Just(EdgeKind::IndirectBranch),
        Just(EdgeKind::CallBrFallthrough),
        Just(EdgeKind::CallBrIndirect),
        Just(EdgeKind::Return),
        Just(EdgeKind::Resume),
        Just(EdgeKind::Unreachable),
    ]
}

/// The edges of a terminator as compilers make them.
fn usual_edges(blocks: u32) -> impl Strategy<Value = Vec<(EdgeKind, u32)>> {
    let to = move || 0..blocks;
    prop_oneof![
        to().prop_map(|b| vec![(EdgeKind::Jump, b)]),
        (to(), to()).prop_map(|(a, b)| vec![(EdgeKind::True, a), (EdgeKind::False, b)]),
        (to(), to()).prop_map(|(a, b)| vec![(EdgeKind::InvokeNormal, a), (EdgeKind::InvokeUnwind, b)]),
        Just(vec![(EdgeKind::Return, blocks)]),
        Just(vec![(EdgeKind::Unreachable, blocks)]),
        Just(vec![(EdgeKind::Resume, blocks)]),
        prop::collection::vec(to(), 1..5).prop_map(|v| v.into_iter().map(|b| (EdgeKind::IndirectBranch, b)).collect()),
        (to(), prop::collection::vec((any::<i8>(), to()), 0..6)).prop_map(|(d, cases)| {
            let cases = cases.into_iter().map(|(v, b)| (EdgeKind::Case(i64::from(v)), b));
            std::iter::once((EdgeKind::Default, d)).chain(cases).collect()
        }),
    ]
}

fn edges(blocks: u32) -> impl Strategy<Value = Vec<EdgeFacts>> {
    let usual = prop::collection::vec((usual_edges(blocks), any::<bool>()), blocks as usize).prop_map(|all| {
        let facts = |(src, (edges, gaps)): (u32, (Vec<(EdgeKind, u32)>, bool))| {
            edges.into_iter().zip(0..).map(move |((kind, dst), i)| EdgeFacts {
                src: Block(src),
                dst: Block(dst),
                kind,
                successor: if gaps { i * 3 } else { i },
            })
        };
        (0..).zip(all).flat_map(facts).collect()
    });
    let odd = prop::collection::vec(
        (0..blocks, 0..=blocks, kind(), 0u32..9).prop_map(|(src, dst, kind, successor)| EdgeFacts {
            src: Block(src),
            dst: Block(dst),
            kind,
            successor,
        }),
        0..8,
    );
    prop_oneof![4 => usual, 1 => odd]
}

fn call(blocks: u32) -> impl Strategy<Value = Call> {
    let callee = prop_oneof![4 => "[a-d]{1,2}".prop_map(Callee::Symbol), 1 => Just(Callee::Indirect), 1 => Just(Callee::Assembly)];
    let line = prop::option::of((any::<u32>(), 0u32..90).prop_map(|(span, column)| CallLine { span, column }));
    let is_site = prop::bool::weighted(0.7);
    (0..blocks, callee, any::<[bool; 5]>(), any::<u16>(), is_site, line).prop_map(
        |(block, callee, flags, probe, is_site, line)| Call {
            block: Block(block),
            callee,
            callee_uncertain: flags[4],
            terminator: flags[0],
            must_tail: flags[3] && !is_site,
            is_site,
            no_return: flags[1],
            returns_twice: flags[2],
            resume_marker: flags[3] && is_site,
            probe: if is_site { probe } else { 0 },
            line: line.filter(|_| !(flags[3] && is_site)),
        },
    )
}

/// Blocks count the calls that are listed, and calls are in lines of their blocks.
fn list_all_calls(function: &mut Function) {
    let blocks = &mut function.blocks;
    blocks.iter_mut().for_each(|block| block.instructions.calls = 0);
    function.calls.update(|_, call| {
        let block = &mut blocks[call.block];
        block.instructions.calls += u32::from(!call.resume_marker);
        let spans = block.lines.len() as u32;
        call.line = call.line.filter(|_| spans > 0).map(|line| CallLine { span: line.span % spans, ..line });
    });
}

/// Spreads the instructions of blocks over their lines and between their calls.
fn spread_instructions(function: &mut Function, seed: u64) {
    let mut random = seed | 1;
    let mut draw = move |below: u32| {
        random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        (random >> 33) as u32 % below.max(1)
    };
    for (index, block) in function.blocks.iter_mut().enumerate() {
        let calls: Vec<&Call> = function.calls.iter().filter(|call| call.block.index() == index).collect();
        let spans = block.lines.len() as u32;
        let mut rest = block.instructions;
        let mut at = 0;
        while at < calls.len() || draw(3) > 0 {
            let span = (spans > 0 && draw(3) > 0).then(|| draw(spans));
            let end = calls.len().min(at + draw(3) as usize);
            let instructions = InstructionCounts {
                total: draw(rest.total / 2 + 1),
                loads: draw(rest.loads + 1),
                stores: draw(rest.stores / 2 + 1),
                calls: calls[at..end].iter().filter(|call| !call.resume_marker).count() as u32,
                float: draw(rest.float / 2 + 1),
            };
            rest = rest.without(instructions).expect("it is a part");
            block.runs.push(Run {
                span,
                after_calls: at as u32,
                instructions,
                cost: u64::from(draw(3)) * (seed >> 40 & 1),
            });
            at = end;
        }
        block.runs.push(Run { span: None, after_calls: at as u32, instructions: rest, cost: 0 });
    }
}

/// Accesses that are left out, in some blocks, if the seed says so.
fn left_out(blocks: &[BlockFacts], seed: u8) -> Vec<LeftOut> {
    let some = blocks.iter().enumerate().filter(|(index, _)| seed & 4 != 0 && index % 3 != 1);
    let of = |(index, block): (usize, &BlockFacts)| LeftOut {
        block: Block::new(index),
        span: (block.lines.len() as u32).checked_sub(1).filter(|_| index % 2 == 0),
    };
    some.map(of).collect()
}

/// Accesses before calls and at the ends of blocks, if the seed says so.
fn accesses(blocks: &[BlockFacts], calls: &[Call], seed: u8) -> Vec<Access> {
    let mut accesses = Vec::new();
    let mut before = 0;
    for (index, block) in blocks.iter().enumerate().filter(|_| seed & 2 != 0) {
        let after = calls.partition_point(|call| call.block.index() <= index);
        for call in before..=after {
            let number = call as u32 + index as u32;
            accesses.push(Access {
                block: Block::new(index),
                before: CallId::new(call),
                kind: [AccessKind::Load, AccessKind::Store, AccessKind::Update][number as usize % 3],
                length: Some(1 << (number % 40)).filter(|_| !number.is_multiple_of(5)),
                span: (block.lines.len() as u32).checked_sub(1).filter(|_| !number.is_multiple_of(2)),
            });
        }
        before = after;
    }
    accesses
}

fn function() -> impl Strategy<Value = Function> {
    (1u32..9).prop_flat_map(|blocks| {
        let counts = (0u32..300, 0u32..50, 0u32..50, 0u32..9, 0u32..9);
        let span = (position(), prop::option::of(0u32..2));
        let block = (counts, prop::collection::vec(span, 0..5));
        (
            ("[a-z]{1,8}", 0..3usize, any::<bool>(), prop::option::of(position()), prop::option::of(0usize..7)),
            prop::collection::vec(block, blocks as usize),
            edges(blocks),
            prop::collection::vec(call(blocks), 0..8),
            prop::collection::vec(("[a-z]{1,3}", prop::option::of(position())), 2..4),
            any::<(bool, u8)>(),
        )
            .prop_map(
                |(
                    (symbol, linkage, address_taken, position, untouched),
                    blocks,
                    edges,
                    mut calls,
                    inlined,
                    (doubt, after),
                )| {
                    calls.sort_by_key(|call| call.block);
                    let blocks = blocks.into_iter().enumerate().map(
                        |(index, ((total, loads, stores, counted, float), lines))| {
                            let here = calls.iter().filter(|c| c.is_site && c.block.index() == index).count() as u32;
                            let spans = lines.len() as u32;
                            BlockFacts {
                                instructions: InstructionCounts { total, loads, stores, calls: counted, float },
                                lines: (0..)
                                    .zip(lines)
                                    .map(|(i, (at, inlined))| LineSpan {
                                        at,
                                        inlined,
                                        after_sites: here * i / spans * u32::from(after & 1),
                                    })
                                    .collect(),
                                runs: Vec::new(),
                            }
                        },
                    );
                    let blocks: Vec<BlockFacts> = blocks.collect();
                    Function {
                        accesses: accesses(&blocks, &calls, after),
                        left_out: left_out(&blocks, after),
                        anchors: Vec::new(),
                        linkage: [Linkage::Internal, Linkage::External, Linkage::Copy][linkage],
                        symbol,
                        address_taken,
                        position,
                        blocks: blocks.into(),
                        edges: edges.into(),
                        inlined: (0u32..)
                            .zip(inlined)
                            .map(|(i, (symbol, call))| Inlined { symbol, call, parent: i.checked_sub(1) })
                            .collect(),
                        untouched: untouched.map(|u| {
                            [
                                Untouched::Naked,
                                Untouched::Excluded,
                                Untouched::IfuncResolver,
                                Untouched::Coroutine,
                                Untouched::NotAsked,
                                Untouched::AuthorForbids,
                                Untouched::UnmodelledControlFlow,
                            ][u]
                        }),
                        doubts: if doubt {
                            vec![Doubt::BuiltinSetjmp, Doubt::UnmappedCallSites, Doubt::OptimisedBefore]
                        } else {
                            vec![]
                        },
                        calls: calls.into_iter().collect(),
                    }
                },
            )
    })
}

/// A plan of usual counters, with an odd probe where `odd` says so.
fn plan_for(function: &Function, seed: u32, odd: bool) -> CounterPlan {
    let mut plan = CounterPlan::default();
    for index in 0..function.edges.len() as u32 + 1 {
        if (seed >> (index % 32)) & 1 == 0 {
            continue;
        }
        let counter = Counter::new(plan.key.measures.len());
        let facts = function.edges.get(Edge::new(index as usize));
        let (src, dst) = facts.map_or((function.exit(), Block(0)), |e| (e.src, e.dst));
        let edge = Edge(index);
        let (measure, place, probe) = match (seed ^ index) % 6 {
            0 => (Measure::Edge(edge), Place::Edge(edge), Probe::Count(counter)),
            1 => (Measure::Edge(edge), Place::Start(dst), Probe::Count(counter)),
            2 => (Measure::Edge(edge), Place::End(src), Probe::Count(counter)),
            3 => (Measure::Edge(edge), Place::End(src), Probe::CountIfTaken(counter, edge)),
            4 => (Measure::Block(src), Place::Start(src), Probe::Count(counter)),
            _ => (Measure::Block(src), Place::End(src), Probe::Count(counter)),
        };
        plan.key.measures.push(measure);
        plan.probes.push(PlacedProbe { place, probe });
    }
    if odd {
        let none = plan.key.measures.is_empty();
        let probe = if none { Probe::RecordEntry } else { Probe::CountBy(Counter(0), 7) };
        plan.probes.push(PlacedProbe { place: Place::Start(Block(0)), probe });
        if seed.is_multiple_of(3) && !plan.key.measures.is_empty() && !function.edges.is_empty() {
            let closing = Closing { variable: Variable(seed % 9), from: Block(0), step: -3, offset: 0, plus: 1 };
            let probe = Probe::CloseIf(Counter(0), closing, Edge(seed % function.edges.len() as u32));
            plan.probes.push(PlacedProbe { place: Place::Start(Block(0)), probe });
        }
    }
    plan
}

/// Edges that need no counter, in every third function.
fn fixed_for(number: usize, function: &Function, seed: u64) -> Vec<FixedEdge> {
    let edges = function.edges.len();
    let count = if number % 3 == 1 && edges > 0 { (seed >> 32) as usize % 4 } else { 0 };
    let fixed = |at: usize| FixedEdge {
        edge: Edge::new((seed as usize).wrapping_mul(at + 3) % edges),
        times: seed >> (at * 17),
        of: Edge::new((seed as usize).wrapping_add(at) % edges),
        depth: at as u32 / 2,
    };
    (0..count).map(fixed).collect()
}

/// A path plan as a map keeps it: without the probes that count paths.
fn paths_for(function: &Function, method: PathMethod, options: PathOptions) -> PathPlan {
    let cfg = function.cfg().expect("a control-flow graph");
    let weighting = Weighting::heuristic(&cfg);
    let plan = path::plan_as(method, function, &cfg, &weighting, options).expect("its own graph");
    let probes = plan::path::counters(&plan).probes;
    PathPlan { probes, key: PathKey { behind: plan.key.paths % 3 == 1, ..plan.key }, ..PathPlan::default() }
}

/// Callers for some functions: all calls of their name, some of them, and places where the map lists no call.
fn entries_for(functions: &[&Function], mut seed: u64) -> Vec<DerivedEntry> {
    let mut draw = |below: usize| {
        seed = seed.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (seed >> 33) as usize % below
    };
    let measured = |f: usize| functions[f].untouched.is_none() && !functions[f].blocks.is_empty();
    let mut entries = Vec::new();
    for function in (0..functions.len()).filter(|&f| measured(f)) {
        let mut calls = Vec::new();
        if draw(3) == 0 {
            continue;
        }
        let complete = draw(2) == 0;
        for caller in (0..functions.len()).filter(|&f| measured(f)) {
            for block in (0..functions[caller].blocks.len()).map(Block::new) {
                let point =
                    |after: usize| CallPoint { function: FunctionId::new(caller), block, after_sites: after as u32 };
                let listed = functions[caller].calls.after_sites().filter(|(call, _)| call.block == block);
                for (call, after) in listed {
                    let named = call.callee == Callee::Symbol(functions[function].symbol.clone());
                    if named && (complete || draw(2) == 0) {
                        calls.push(point(after as usize));
                    }
                }
                if draw(4) == 0 {
                    calls.push(point(draw(functions[caller].sites_of(block).count() + 1)));
                }
            }
        }
        calls.sort_unstable();
        entries.push(DerivedEntry { function: FunctionId::new(function), calls });
    }
    entries
}

fn sums_for(function: &Function, kinds: usize, seed: u64) -> CallSumKey {
    const FORMS: [CallForm; 5] =
        [CallForm::External, CallForm::Unmeasured, CallForm::Counted, CallForm::Summed, CallForm::Outermost];
    let form = |call: usize| FORMS[((seed >> (2 * call % 64) & 7) % 5) as usize];
    let calls: Vec<CallForm> = (0..function.calls.len()).map(form).collect();
    let left = |kind: usize, call: usize| match calls[call] {
        CallForm::External | CallForm::Unmeasured => 0,
        _ => seed.rotate_left((kind + 3 * call) as u32).cast_signed(),
    };
    let returned = (0..kinds).map(|kind| (0..calls.len()).map(|call| left(kind, call)).collect()).collect();
    CallSumKey { measured: seed & 1 == 0, outermost: seed & 2 == 0, returned, calls: calls.into() }
}

/// The key of a function with paths across functions, of which there are so many.
fn ipath_for((number, function): (usize, &&Function), functions: usize, seed: u64) -> IpathPlan {
    if function.untouched.is_some() || function.blocks.is_empty() {
        return IpathPlan::default();
    }
    let bit = |salt: usize| seed.rotate_left((number * 13 + salt * 7) as u32 % 64) & 3;
    let at = |(call, _): (CallId, &Call)| {
        let callee = FunctionId::new((call.index() + bit(call.index()) as usize) % functions);
        match bit(call.index()) {
            0 => None,
            1 => Some((call, if callee.0 & 1 == 0 { AtCall::Cut } else { AtCall::Pass })),
            2 if callee.0 & 1 == 0 => Some((call, AtCall::Begin(callee))),
            2 if callee.0 & 2 == 0 => Some((call, AtCall::Reach(GroupId(callee.0 % 3)))),
            2 => Some((call, AtCall::Descend(callee))),
            _ => Some((call, AtCall::Cross(callee))),
        }
    };
    let entry = match bit(99) {
        0 => ipath::Entry::Alone,
        1 => ipath::Entry::Open,
        cut => ipath::Entry::Called { cut: cut == 2 },
    };
    let cuts = Cuts {
        edges: (0..function.edges.len()).filter(|&e| bit(e) == 0).map(Edge::new).collect(),
        blocks: (0..function.blocks.len()).filter(|&b| bit(b) == 1).map(Block::new).collect(),
        ..Cuts::default()
    };
    IpathPlan {
        probes: vec![],
        so_far: vec![],
        key: FunctionKey {
            entry,
            cuts,
            calls: function.calls.numbered().filter_map(at).collect(),
            front: bit(98) == 0,
            enterable: bit(97) == 0,
        },
    }
}

/// Gives a module coverage counters of two functions of the source, which stand here and there in its functions.
fn cover(module: &mut Module, seed: u64) {
    let covered = |name: &str, hash, counters, vectors| CoveredFunction { name: name.into(), hash, counters, vectors };
    let vectors = seed as u32 % 3;
    module.covered = vec![covered("a.c:f", seed, 3, vectors), covered("g", u64::MAX, 1, 0)];
    for function in &mut module.functions {
        let blocks = (0..function.blocks.len()).filter(|block| (seed >> (block % 32)) & 1 == 0);
        let copies = function.inlined.len() as u32;
        let anchor = |block: usize| {
            let of_first = !block.is_multiple_of(3);
            let counter = if of_first { block as u32 % (3 + vectors) } else { 0 };
            Anchor {
                block: Block::new(block),
                after_sites: seed as u32 % 2,
                function: u32::from(!of_first),
                counter,
                inlined: copies.checked_sub(1).filter(|_| block.is_multiple_of(2)),
            }
        };
        function.anchors = blocks.map(anchor).collect();
    }
}

pub(super) fn binary_map() -> impl Strategy<Value = BinaryMap> {
    let module = ("[a-z]{1,5}\\.o", prop::collection::vec(function(), 0..4));
    let code = prop::collection::vec(prop::collection::vec((1u32..99, any::<(u32, u32)>(), any::<u32>()), 0..5), 0..4);
    (prop::collection::vec(module, 0..3), code, any::<u64>(), any::<bool>(), 0..METHODS.len()).prop_map(
        |(modules, code, seed, threaded, method)| {
            let mut modules: Vec<Module> =
                modules.into_iter().map(|(name, functions)| Module { name, functions, covered: Vec::new() }).collect();
            if seed & 16 != 0 {
                modules.iter_mut().for_each(|module| cover(module, seed));
            }
            modules.iter_mut().flat_map(|module| &mut module.functions).for_each(list_all_calls);
            let functions = modules.iter_mut().flat_map(|module| &mut module.functions);
            functions.for_each(|function| spread_instructions(function, seed));
            let program = ProgramMap {
                name: "a.out".into(),
                target: "x86_64-unknown-linux-gnu".into(),
                build: Build {
                    compilers: ["clang version 22.1.2", "rustc version 1.95.0"].map(str::to_owned).into(),
                    options: [("at".into(), "early".into()), ("level".into(), String::new())].into(),
                },
                files: vec!["/src/a.c".into(), "/src/b.c".into(), "/src/ü.h".into()],
                checksums: [(0, [[7; 16], [255; 16]].into()), (2, [[1; 16]].into())].into(),
                modules,
            };
            let functions: Vec<&Function> = program.functions().map(|(_, f)| f).collect();
            let plans = |salt: u32| {
                functions.iter().map(|f| plan_for(f, (seed >> 8) as u32 ^ salt, seed & 3 == 3)).collect::<Vec<_>>()
            };
            let links: Vec<(FunctionId, Site)> = FunctionId::all()
                .zip(&functions)
                .flat_map(|(i, f)| (0..f.sites().len()).map(move |s| (i, Site::new(s))))
                .collect();
            let check = (seed & 4 == 0).then(|| plans(0x5555_5555));
            let limit = if seed & 8 == 0 { u64::MAX >> 1 } else { 3 };
            let method = match METHODS[method].family {
                Family::None => MethodPlan::None,
                Family::Calls => {
                    let plan = |(number, f): (usize, &&Function)| {
                        if seed >> (number % 64) & 1 == 0 { CallPlan::default() } else { calls::plan(f) }
                    };
                    MethodPlan::Calls(UnitCallPlan { functions: functions.iter().enumerate().map(plan).collect() })
                }
                Family::Ipath(method) => {
                    let functions: Vec<IpathPlan> =
                        functions.iter().enumerate().map(|at| ipath_for(at, functions.len(), seed)).collect();
                    let paths = seed >> 2;
                    let group = |number: usize| {
                        let members = (0..functions.len()).filter(|f| f % 3 == number && seed >> (f % 64) & 1 == 0);
                        members.map(FunctionId::new).collect()
                    };
                    let groups = Groups((0..3).map(group).collect());
                    let array = paths.min(seed & 255);
                    let metric = PathMetric::ALL[(seed >> 48 & 3) as usize % 3];
                    MethodPlan::Ipath(UnitIpathPlan { method, functions, groups, paths, array, metric })
                }
                Family::Events(method) => {
                    let kinds: Vec<EventKind> =
                        EventKind::ALL.into_iter().filter(|kind| seed >> kind.number() & 1 == 1).collect();
                    let plan = |(number, f): (usize, &&Function)| {
                        let counted = f.untouched.is_none() && !f.blocks.is_empty() && seed >> (number % 64) & 1 == 0;
                        let lacking = |kind: usize| {
                            (0..f.sites().len())
                                .map(|site| seed.rotate_left((kind + site) as u32).cast_signed())
                                .collect()
                        };
                        let at_sites = if counted { (0..kinds.len()).map(lacking).collect() } else { Vec::new() };
                        let counts_in_loops = !at_sites.is_empty() && seed >> (number % 64) & 2 == 0;
                        let sums = if method == EventMethod::Calls && !at_sites.is_empty() {
                            sums_for(f, kinds.len(), seed.rotate_left(number as u32))
                        } else {
                            CallSumKey::default()
                        };
                        EventPlan { key: EventKey { at_sites, counts_in_loops, sums }, ..EventPlan::default() }
                    };
                    let functions = functions.iter().enumerate().map(plan).collect();
                    let mut unit = UnitEventPlan { method, kinds, queried: seed & 1 == 0, functions };
                    let counters = unit.counters();
                    unit.functions.iter_mut().for_each(|plan| plan.counters = counters);
                    MethodPlan::Events(unit)
                }
                Family::Traces => {
                    let key = |(number, f): (usize, &&Function)| TraceKey {
                        records_entry: seed >> (number % 64) & 1 == 0,
                        cuts: (0..f.edges.len()).filter(|edge| seed >> (edge % 64) & 2 == 0).map(Edge::new).collect(),
                        ..TraceKey::default()
                    };
                    let plan = |key| TracePlan { probes: vec![], key };
                    let functions = functions.iter().enumerate().map(key).map(plan).collect();
                    MethodPlan::Traces(UnitTracePlan { functions })
                }
                Family::Paths(method) => {
                    let array = (seed >> 48) >> (seed >> 44 & 15);
                    let metric = PathMetric::ALL[(seed >> 40 & 3) as usize % 3];
                    let options = PathOptions { limit, array, window: array, metric };
                    let functions = functions.iter().map(|f| paths_for(f, method, options)).collect();
                    MethodPlan::Paths(UnitPathPlan { method, functions, array, metric })
                }
                Family::Counters(method) => {
                    let mut unit = UnitCounterPlan { method, functions: plans(0), entries: vec![] };
                    if ChordMethod::of(method).is_some() {
                        unit.entries = entries_for(&functions, seed >> 16);
                        for ((number, plan), function) in unit.functions.iter_mut().enumerate().zip(&functions) {
                            plan.key.fixed = fixed_for(number, function, seed);
                        }
                    }
                    MethodPlan::Counters(unit)
                }
            };
            let counted = seed >> 20 & 1 == 0 && method.method().counts_targets();
            let targets =
                counted.then(|| UnitTargetPlan::of(functions.iter().copied()).with_known(1 + (seed >> 21 & 1) as u32));
            let plan = UnitPlan { method, check, targets };
            let code = CodeMap {
                functions: code
                    .into_iter()
                    .filter(|_| !links.is_empty())
                    .map(|points| {
                        let mut offset = 0;
                        let returns: Vec<_> = points
                            .into_iter()
                            .map(|(step, (a, b), length)| {
                                offset += step;
                                let pick = |n: u32| links[n as usize % links.len()];
                                let chain = if length % 3 == 0 { vec![pick(a), pick(b)] } else { vec![pick(a)] };
                                let registers = match plan.method.paths().is_some() {
                                    true if length % 7 == 0 => vec![pick(b); length as usize % 3],
                                    true => plan::RegisterPrediction::new(&plan, &program).expected(&chain),
                                    false => vec![],
                                };
                                ReturnPoint { offset, chain, registers }
                            })
                            .collect();
                        CodeFunction { size: offset + 5, returns }
                    })
                    .collect(),
            };
            BinaryMap { program, plan, code, threaded }
        },
    )
}
