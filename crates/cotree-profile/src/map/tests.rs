//! Round trips of random maps, and bytes from people who mean no good.

use super::*;
use crate::binary::{CodeFunction, CodeMap, ReturnPoint};
use crate::wire::container::checksum;
use crate::wire::sections::pack_stream;
use crate::wire::{Tag, varint};
use cotree_core::facts::*;
use cotree_core::ids::{Block, Counter, Edge, Site, Variable};
use cotree_core::method::counters::{CounterMethod, UnitCounterPlan};
use cotree_core::method::path::{self, PathKey, PathMethod, PathMetric, PathOptions, PathPlan, UnitPathPlan};
use cotree_core::method::{Family, METHODS, MethodPlan};
use cotree_core::plan::{CallPoint, CounterPlan, DerivedEntry, FixedEdge, Measure};
use cotree_core::probe::{Closing, Place, PlacedProbe, Probe, Reg};
use cotree_core::unit::UnitPlan;
use cotree_core::weighting::Weighting;
use proptest::prelude::*;

const HEADER: usize = KIND.header();
const UNIT: UnitId = UnitId(*b"0123456789abcdef");

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
        let block = &mut blocks[call.block.index()];
        block.instructions.calls += u32::from(!call.resume_marker);
        let spans = block.lines.len() as u32;
        call.line = call.line.filter(|_| spans > 0).map(|line| CallLine { span: line.span % spans, ..line });
    });
}

/// What maps before version 9 say of calls.
fn list_sites_only(function: &mut Function) {
    let site = |call: &Call| Call { callee_uncertain: false, line: None, ..call.clone() };
    function.calls = function.sites().map(site).collect();
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
                            }
                        },
                    );
                    Function {
                        linkage: [Linkage::Internal, Linkage::External, Linkage::Copy][linkage],
                        symbol,
                        address_taken,
                        position,
                        blocks: blocks.collect(),
                        edges,
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
                        doubts: if doubt { vec![Doubt::BuiltinSetjmp, Doubt::UnmappedCallSites] } else { vec![] },
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
        let facts = function.edges.get(index as usize);
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
        plan.probes.push(PlacedProbe { place: Place::Start(Block(0)), probe: Probe::Events(-7) });
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
    PathPlan { probes, key: PathKey { behind: plan.key.paths % 3 == 1, ..plan.key } }
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
                let point = |after: usize| CallPoint { function: caller as u32, block, after_sites: after as u32 };
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
        entries.push(DerivedEntry { function: function as u32, calls });
    }
    entries
}

pub(crate) fn binary_map() -> impl Strategy<Value = BinaryMap> {
    let module = ("[a-z]{1,5}\\.o", prop::collection::vec(function(), 0..4));
    let code = prop::collection::vec(prop::collection::vec((1u32..99, any::<(u32, u32)>(), any::<u32>()), 0..5), 0..4);
    (prop::collection::vec(module, 0..3), code, any::<u64>(), any::<bool>(), 0..METHODS.len()).prop_map(
        |(modules, code, seed, threaded, method)| {
            let mut modules: Vec<Module> =
                modules.into_iter().map(|(name, functions)| Module { name, functions }).collect();
            let all_calls = seed & 16 == 0;
            let complete = if all_calls { list_all_calls } else { list_sites_only };
            modules.iter_mut().flat_map(|module| &mut module.functions).for_each(complete);
            let program = ProgramMap {
                name: "a.out".into(),
                target: "x86_64-unknown-linux-gnu".into(),
                files: vec!["/src/a.c".into(), "/src/b.c".into(), "/src/ü.h".into()],
                modules,
                all_calls,
            };
            let functions: Vec<&Function> = program.functions().map(|(_, f)| f).collect();
            let plans = |salt: u32| {
                functions.iter().map(|f| plan_for(f, (seed >> 8) as u32 ^ salt, seed & 3 == 3)).collect::<Vec<_>>()
            };
            let links: Vec<(u32, Site)> =
                (0..).zip(&functions).flat_map(|(i, f)| (0..f.sites().len()).map(move |s| (i, Site::new(s)))).collect();
            let check = (seed & 4 == 0).then(|| plans(0x5555_5555));
            let limit = if seed & 8 == 0 { u64::MAX >> 1 } else { 3 };
            let method = match METHODS[method].family {
                Family::None => MethodPlan::None,
                Family::Paths(method) => {
                    let array = (seed >> 48) >> (seed >> 44 & 15);
                    let metric = PathMetric::ALL[(seed >> 40 & 3) as usize % 3];
                    let options = PathOptions { limit, array, window: array, metric };
                    let functions = functions.iter().map(|f| paths_for(f, method, options)).collect();
                    MethodPlan::Paths(UnitPathPlan { method, functions, array, metric })
                }
                Family::Counters(method) => {
                    let mut unit = UnitCounterPlan { method, functions: plans(0), entries: vec![] };
                    if method == CounterMethod::Edge {
                        unit.entries = entries_for(&functions, seed >> 16);
                        for ((number, plan), function) in unit.functions.iter_mut().enumerate().zip(&functions) {
                            plan.key.fixed = fixed_for(number, function, seed);
                        }
                    }
                    MethodPlan::Counters(unit)
                }
            };
            let plan = UnitPlan { method, check };
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
                                    true => plan::Registers::new(&plan, &program).expected(&chain),
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

/// Versions before 9 have no calls but call sites. A reader of version 1 knows nothing of paths, one of version 2 nothing of
/// derived entries, one of version 3 nothing of windows, one of version 4 nothing of sums, one of version 5 nothing of loops of
/// known length, one of version 6 nothing of ways apart, and one of version 7 nothing of conditions: they would take counters
/// for the wrong ones, or miss some.
fn first_version(map: &BinaryMap) -> u32 {
    let method = &map.plan.method;
    let keys = || method.paths().into_iter().flat_map(|unit| &unit.functions).map(|plan| &plan.key);
    let windows = keys().any(|key| !key.windows.is_empty());
    let fixed = method.functions().any(|plan| !plan.counters.fixed.is_empty());
    let apart = keys().any(|key| key.cuts.backward || !key.cuts.apart.is_empty());
    let conditional = method.functions().flat_map(|plan| plan.probes).any(|p| matches!(p.probe, Probe::CloseIf(..)));
    match () {
        () if map.program.all_calls => 9,
        () if conditional => 8,
        () if apart => 7,
        () if fixed => 6,
        () if method.paths().is_some_and(|unit| unit.metric.is_summed()) => 5,
        () if windows => 4,
        () if !method.entries().is_empty() => 3,
        () if method.paths().is_some() => 2,
        () => 1,
    }
}

/// The map as cotrees of an earlier version wrote it.
fn encode_before_sections(map: &BinaryMap, version: u32) -> Vec<u8> {
    let streams = unpack(&encode(map, UNIT)).unwrap().streams;
    let of = |stream: Stream| streams[Slot::from(stream).0].as_slice();
    // The first plan count stands before the size of arrays, that of reference plans after it.
    let mut reference_count = of(Stream::PlanCount);
    varint::take(&mut reference_count).unwrap();
    let plan_count = of(Stream::PlanCount).strip_suffix(reference_count).unwrap();
    let unit = [Stream::Unit, Stream::Plan].map(of).concat();
    let unit = [&unit, plan_count, of(Stream::PathArray), reference_count, of(Stream::CodeCount)].concat();
    let (mut payload, mut unpacked) = (Vec::new(), 0);
    for &stream in before_sections::streams_of(version) {
        let bytes = if stream == Stream::Unit { &unit } else { of(stream) };
        pack_stream(bytes, 3, &mut payload);
        unpacked += bytes.len() as u64;
    }
    Kind { newest: version, ..KIND }.seal(&UNIT.0, unpacked, &payload)
}

/// Puts the right checksum back after an edit, so that the edit reaches the decoder.
fn reseal(bytes: &mut [u8]) {
    if bytes.len() >= HEADER {
        let packed = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
        let end = (packed as usize).saturating_add(HEADER).min(bytes.len());
        let sum = checksum(&bytes[..HEADER - 8], &bytes[HEADER..end]);
        bytes[48..56].copy_from_slice(&sum.to_le_bytes());
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(map in binary_map()) {
        prop_assert_eq!(validate(&map), Ok(()));
        let bytes = encode(&map, UNIT);
        prop_assert_eq!(decode(&bytes), Ok((map, UNIT)));
        prop_assert_eq!(decode_unit(&bytes), Ok(UNIT));
    }

    #[test]
    fn maps_of_versions_before_sections_are_read(map in binary_map()) {
        for version in first_version(&map)..VERSION {
            let bytes = encode_before_sections(&map, version);
            prop_assert_eq!(u32::from(bytes[8]), version);
            prop_assert_eq!(decode(&bytes), Ok((map.clone(), UNIT)));
        }
    }

    /// A reader that does not know a section refuses the map, so a section is there only if it says something.
    #[test]
    fn sections_are_there_where_they_say_something(map in binary_map()) {
        let bytes = encode(&map, UNIT);
        let header = KIND.read(&bytes, bytes.len() as u64).unwrap();
        let sections = split(&bytes[KIND.header()..], header.unpacked).unwrap();
        let has = |tag: &[u8; 4]| sections.iter().any(|section| section.tag.0 == *tag);
        let functions = || map.program.functions().map(|(_, function)| function);
        prop_assert!(has(b"unit") && has(b"plan") && has(b"cntr") && has(b"code"));
        prop_assert_eq!(has(b"site"), functions().any(|f| f.sites().len() > 0));
        let counted = |f: &Function| f.calls.iter().any(|call| !call.resume_marker);
        prop_assert_eq!(has(b"call"), map.program.all_calls && functions().any(counted));
        let method = &map.plan.method;
        prop_assert_eq!(has(b"entr"), !method.entries().is_empty());
        prop_assert_eq!(has(b"fixd"), method.functions().any(|plan| !plan.counters.fixed.is_empty()));
        prop_assert_eq!(has(b"path"), method.paths().is_some());
        let returns = map.code.functions.iter().any(|code| !code.returns.is_empty());
        prop_assert_eq!(has(b"regs"), method.paths().is_some() && returns);
    }

    #[test]
    fn padding_after_a_map_is_no_second_map(map in binary_map()) {
        let mut bytes = encode(&map, UNIT);
        bytes.extend_from_slice(&[0; 7]);
        prop_assert!(decode(&bytes).is_ok());
        let second = encode(&map, UNIT);
        bytes.extend_from_slice(&second);
        prop_assert_eq!(decode(&bytes), Err(MapError::SeveralMaps));
    }

    #[test]
    fn a_cut_map_is_refused(map in binary_map(), cut in any::<prop::sample::Index>()) {
        let bytes = encode(&map, UNIT);
        prop_assert!(decode(&bytes[..cut.index(bytes.len())]).is_err());
    }

    #[test]
    fn a_flipped_bit_is_noticed(map in binary_map(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = encode(&map, UNIT);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(decode(&bytes).is_err());
    }

    #[test]
    fn a_hostile_map_is_an_error_or_a_valid_map(map in binary_map(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = encode(&map, UNIT);
        for (at, value) in edits {
            let at = 32 + at.index(bytes.len() - 32);
            bytes[at] = value;
        }
        reseal(&mut bytes);
        if let Ok((map, _)) = decode(&bytes) {
            prop_assert_eq!(validate(&map), Ok(()));
        }
    }

    #[test]
    fn hostile_streams_are_an_error_or_a_valid_map(map in binary_map(), edits in prop::collection::vec((0..SECTIONS.slots(), any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let Unpacked { mut streams, unit, .. } = unpack(&encode(&map, UNIT)).unwrap();
        for (stream, at, value) in edits {
            if !streams[stream].is_empty() {
                let at = at.index(streams[stream].len());
                streams[stream][at] = value;
            }
        }
        if let Ok((map, _)) = decode(&pack(&streams, unit)) {
            prop_assert_eq!(validate(&map), Ok(()));
        }
    }

    #[test]
    fn random_bytes_are_no_map(mut bytes in prop::collection::vec(any::<u8>(), 0..300), seal in any::<bool>()) {
        if seal && bytes.len() >= HEADER {
            bytes[..8].copy_from_slice(&MAGIC);
            bytes[8..16].copy_from_slice(&[VERSION as u8, 0, 0, 0, 0, 0, 0, 0]);
            let packed = (bytes.len() - HEADER) as u64;
            bytes[40..48].copy_from_slice(&packed.to_le_bytes());
            reseal(&mut bytes);
        }
        prop_assert!(decode(&bytes).is_err());
    }
}

fn empty_map() -> BinaryMap {
    BinaryMap {
        program: ProgramMap::default(),
        plan: UnitPlan::new(MethodPlan::Counters(UnitCounterPlan {
            method: CounterMethod::Edge,
            functions: vec![],
            entries: vec![],
        })),
        code: CodeMap::default(),
        threaded: false,
    }
}

#[test]
fn every_byte_of_the_header_matters() {
    let bytes = encode(&empty_map(), UNIT);
    for at in 0..HEADER {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            assert!(decode(&bytes).is_err(), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn a_bomb_is_refused_before_it_unpacks() {
    let mut streams = vec![Vec::new(); SECTIONS.slots()];
    streams[Slot::from(Stream::Text).0] = vec![b'x'; 64 << 20];
    let mut bytes = pack(&streams, UNIT);
    // The writer pads what compresses too well; a bomb would not.
    let (packed, keep) = (bytes.len() - HEADER, 8 << 10);
    assert!(packed > 900 << 10, "{packed}");
    bytes.truncate(HEADER + keep);
    bytes[40..48].copy_from_slice(&(keep as u64).to_le_bytes());
    reseal(&mut bytes);
    assert_eq!(decode(&bytes), Err(MapError::Wire(WireError::TooLarge(64 << 20))));
}

#[test]
fn a_later_version_is_named() {
    let mut bytes = encode(&empty_map(), UNIT);
    bytes[8] = 11;
    let version = WireError::Version { found: 11, oldest: OLDEST_VERSION, newest: VERSION };
    assert_eq!(decode(&bytes), Err(MapError::Wire(version)));
}

#[test]
fn a_section_of_a_later_cotree_is_named() {
    let mut bytes = encode(&empty_map(), UNIT);
    let plan = bytes.windows(4).position(|window| window == b"plan").expect("its section");
    bytes[plan..plan + 4].copy_from_slice(b"trac");
    reseal(&mut bytes);
    assert_eq!(decode(&bytes), Err(MapError::Wire(WireError::NewerSection(Tag(*b"trac")))));
}

/// Each version of the format keeps one map that was written by it (`tests/suite/golden.rs`). This writes that of a new
/// version: `cargo test -p cotree-profile -- --ignored golden`, then `INSTA_UPDATE=always` for the text.
#[test]
#[ignore = "run it once per version of the format"]
fn the_golden_map_of_a_new_version_is_written() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let path = format!("{}/tests/golden/map-{VERSION}.bin", env!("CARGO_MANIFEST_DIR"));
    assert!(!std::path::Path::new(&path).exists(), "{path} is kept as it is");
    let mut runner = TestRunner::deterministic();
    let maps = (0..20_000).map(|_| binary_map().new_tree(&mut runner).expect("a map").current());
    let telling = |map: &BinaryMap| {
        (2..=5).contains(&map.program.functions().count()) && map.code.functions.iter().any(|f| !f.returns.is_empty())
    };
    let encoded = maps.filter(telling).map(|map| encode(&map, UNIT));
    let best = encoded.filter(|bytes| u32::from(bytes[8]) == VERSION && bytes.len() < 1100).max_by_key(Vec::len);
    std::fs::write(path, best.expect("one of them is of this version")).expect("it can be written");
}

/// Maps of older versions have promoted registers as plain 32-bit numbers.
#[test]
fn registers_are_numbers_in_files() {
    let probe = Probe::AddTo(Counter(2), Reg::Promoted(300), -1);
    let bytes = [5, 2, 0xAC, 0x02, 1];
    assert_eq!(postcard::to_stdvec(&probe).unwrap(), bytes);
    assert_eq!(postcard::from_bytes::<Probe>(&bytes).unwrap(), probe);
    for register in [Reg::Promoted(u32::MAX), Reg::PathSum, Reg::LoopContext(Block(9))] {
        let bytes = postcard::to_stdvec(&register).unwrap();
        assert_eq!(postcard::from_bytes::<Reg>(&bytes).unwrap(), register);
    }
    for number in [1 << 32 | 1, 3 << 32, u64::MAX] {
        assert!(postcard::from_bytes::<Reg>(&postcard::to_stdvec(&number).unwrap()).is_err());
    }
}
