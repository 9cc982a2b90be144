//! Path profiles of whole units: random functions and walks, their raw profiles made by hand, merged, and recovered.

use crate::random;
use crate::unit::{Raw, SEGMENT_HEAD, UNIT, complete, seal};
use cotree_core::facts::{EdgeKind, Function, Module, ProgramMap};
use cotree_core::ids::{Block, Edge, FunctionId, IdMap, Site};
use cotree_core::interpret::{From, GraphWalk, Machine, Registers, Until, observe};
use cotree_core::method::MethodPlan;
use cotree_core::method::counters::{self, CounterMethod};
use cotree_core::method::path::{
    self, AtCalls, PathMethod, PathMetric, PathOptions, PathPlan, PathProfile, PathTable, UnitPathPlan, Window,
};
use cotree_core::probe::Reg;
use cotree_core::profile::{Flaw, FunctionProfile};
use cotree_core::unit::UnitPlan;
use cotree_core::weight::weighting::Weighting;
use cotree_profile::binary::{BinaryFile, BinaryMap, CodeFunction, CodeMap, ReturnPoint, encode};
use cotree_profile::counts::UnitCounts;
use cotree_profile::file::{ProfileFile, ProfileFormat};
use cotree_profile::merged::{self, Merge};
use cotree_profile::method::path::{ForeignPaths, PathCounts, PathNote};
use cotree_profile::method::{ForeignCounts, MethodCounts, MethodNote};
use cotree_profile::recover::{Note, UnitError, recover};
use cotree_profile::sums::Sums;
use cotree_profile::{map, verify, weights};
use cotree_rt::layout::{ABANDONED, Flags, VALUE_SHIFT};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A random function as LLVM could have made it: computed gotos neither return nor name a target twice.
fn functions() -> impl Strategy<Value = Function> {
    random::functions(7).prop_map(|mut f| {
        let mut seen = BTreeSet::new();
        let exit = f.exit();
        f.edges.retain(|e| e.kind != EdgeKind::IndirectBranch || seen.insert((e.src, e.dst)));
        for e in f.edges.iter_mut().filter(|e| e.dst == exit) {
            e.kind = EdgeKind::Return;
        }
        f
    })
}

/// How the unit is planned.
#[derive(Clone, Copy, Debug)]
struct Choice {
    method: PathMethod,
    array: u64,
    limit: u64,
    metric: PathMetric,
}

fn choices() -> impl Strategy<Value = Choice> {
    let method = prop_oneof![Just(PathMethod::Plain), Just(PathMethod::Context)];
    let array = prop_oneof![Just(0u64), Just(3u64), Just(1024u64)];
    let limit = prop_oneof![Just(u64::MAX), 1..20u64];
    let metric = prop_oneof![Just(PathMetric::Count), Just(PathMetric::Events)];
    (method, array, limit, metric).prop_map(|(method, array, limit, metric)| Choice { method, array, limit, metric })
}

/// A function and its walks in two runs.
type Walked = (Function, [Vec<GraphWalk>; 2]);

/// Two functions with their walks, and how they are planned.
fn units() -> impl Strategy<Value = (Choice, Vec<Walked>)> {
    let one = (functions(), random::choices(), random::choices()).prop_map(|(f, first, second)| {
        let cfg = f.cfg().unwrap();
        let walks = [first, second].map(|choices| random::walks(&f, &cfg, &choices));
        (f, walks)
    });
    (choices(), prop::collection::vec(one, 2))
}

const FIRST: FunctionId = FunctionId(0);
const SECOND: FunctionId = FunctionId(1);

/// The two functions have code of their own, and the second is inlined at each call site of the first besides.
fn address(inner: (FunctionId, Site), outer: Option<Site>, sites: &[usize]) -> u64 {
    match outer {
        None => 0x1_0000 * (u64::from(inner.0.0) + 1) + 5 * (u64::from(inner.1.0) + 1),
        Some(outer) => 0x3_0000 + 5 * (outer.index() * sites[1] + inner.1.index() + 1) as u64,
    }
}

fn code(functions: &[Function], plans: &[PathPlan]) -> CodeMap {
    let query = |&(f, site): &(FunctionId, Site)| {
        let block = functions[f.index()].calls[site].block;
        matches!(plans[f.index()].key.at_calls(block), Some(AtCalls::Query(_)))
    };
    let mut offset = 0;
    let mut point = |chain: Vec<(FunctionId, Site)>| {
        offset += 5;
        let registers = chain.iter().rev().copied().filter(query).collect();
        ReturnPoint { offset, chain, registers }
    };
    let sites = |f: usize| (0..functions[f].sites().len()).map(Site::new);
    let machine = |returns: Vec<ReturnPoint>| CodeFunction { size: 0x1_0000, returns };
    let first = machine(sites(0).map(|s| point(vec![(FIRST, s)])).collect());
    let mut point = |chain: Vec<(FunctionId, Site)>, offset: u32| ReturnPoint { offset, ..point(chain) };
    let second = machine(sites(1).map(|s| point(vec![(SECOND, s)], 5 * (s.0 + 1))).collect());
    let inlined = sites(0).flat_map(|outer| sites(1).map(move |inner| vec![(SECOND, inner), (FIRST, outer)]));
    let third = machine(inlined.zip(1..).map(|(chain, n)| point(chain, 5 * n)).collect());
    CodeMap { functions: vec![first, second, third] }
}

fn from_parts(map: BinaryMap) -> BinaryFile {
    let records = [(0x1_0000u64, 0u32), (0x2_0000, 1), (0x3_0000, 2)];
    let records: Vec<u8> =
        records.iter().flat_map(|&(at, code)| [&at.to_le_bytes()[..], &code.to_le_bytes(), &[0; 4]].concat()).collect();
    BinaryFile::from_parts("/build/prog".into(), UNIT, map, &records).unwrap()
}

fn binary(choice: Choice, functions: &[Function]) -> BinaryFile {
    let mut functions: Vec<Function> = functions.to_vec();
    functions.iter_mut().for_each(|function| complete(function, 0));
    let plan = |f: &Function| {
        let cfg = f.cfg().unwrap();
        let options =
            PathOptions { limit: choice.limit, array: choice.array, window: choice.array, metric: choice.metric };
        path::plan_as(choice.method, f, &cfg, &Weighting::heuristic(&cfg), options).unwrap()
    };
    let check = |f: &Function| {
        let cfg = f.cfg().unwrap();
        counters::plan(CounterMethod::Block, f, &cfg, &Weighting::uniform(&cfg))
    };
    let paths: Vec<PathPlan> = functions.iter().map(plan).collect();
    let code = code(&functions, &paths);
    let paths = UnitPathPlan { method: choice.method, functions: paths, array: choice.array, metric: choice.metric };
    let check = Some(functions.iter().map(check).collect());
    let plan = UnitPlan { method: MethodPlan::Paths(paths), check, targets: None };
    let program = ProgramMap {
        modules: vec![Module { name: "m.o".into(), functions, ..Module::default() }],
        ..ProgramMap::default()
    };
    let map = BinaryMap { program, plan, code, threaded: true };
    from_parts(map)
}

/// What was counted, as if no walk had found a path register.
fn without_registers(counts: &UnitCounts) -> MethodCounts {
    let paths = counts.method.paths().cloned().unwrap_or_default();
    MethodCounts::of_paths(PathCounts { registers: Sums::default(), ..paths })
}

fn paths_of(binary: &BinaryFile) -> &UnitPathPlan {
    binary.map().plan.method.paths().expect("paths are counted")
}

/// How an activation may have come to the block.
fn path_to(f: &Function, block: Block) -> Option<Vec<Edge>> {
    let cfg = f.cfg().unwrap();
    let mut paths: BTreeMap<Block, Vec<Edge>> = BTreeMap::from([(cfg.entry(), Vec::new())]);
    let mut open = vec![cfg.entry()];
    while let Some(at) = open.pop() {
        for &e in cfg.succs(at).iter().filter(|&&e| e.index() < f.edges.len()) {
            if !paths.contains_key(&cfg.dst(e)) {
                let mut edges = paths[&at].clone();
                edges.push(e);
                paths.insert(cfg.dst(e), edges);
                open.push(cfg.dst(e));
            }
        }
    }
    paths.remove(&block)
}

/// An activation that left, or came to life: where, with what in the path register, and +1 or −1.
type Left = (Site, i64, i64);

/// Runs the walks of one function and writes what it counts; those that can't be are dropped from the list.
fn run(binary: &BinaryFile, index: FunctionId, walks: &mut Vec<GraphWalk>, raw: &mut Raw) -> Vec<Left> {
    let f = binary.function(index);
    let cfg = f.cfg().unwrap();
    let unit = &binary.map().plan;
    let paths = paths_of(binary);
    let plan = &paths.functions[index.index()];
    let machine = || Machine::new(f, &cfg, plan);
    let mut reported = 0;
    let mut events = || {
        reported += 1;
        reported % 7
    };
    let mut own = machine().with_events(&mut events);
    let mut left = Vec::new();
    walks.retain(|walk| {
        let mut registers = Registers::default();
        if let From::Site(site) = walk.from {
            let Some(edges) = path_to(f, f.calls[site].block) else { return false };
            let before = GraphWalk { from: From::Entry, edges, until: Until::Site(site) };
            registers = machine().run(&before).unwrap();
            left.push((site, registers.get(Reg::PathSum), -1));
        }
        let registers = own.run_with(walk, registers).unwrap();
        if let Until::Site(site) = walk.until {
            left.push((site, registers.get(Reg::PathSum), 1));
        }
        true
    });
    let effects = own.into_effects();
    let layout = unit.layout();
    let mut count = |at: u64, number: u64| {
        raw.slabs[0][at as usize] += number / 2;
        raw.slabs[1][at as usize] += number - number / 2;
    };
    (layout.main[index.index()]..).zip(effects.counters).for_each(|(at, n)| count(at, n));
    let check = &unit.check.as_ref().unwrap()[index.index()];
    let mut reference = Machine::new(f, &cfg, check);
    walks.iter().for_each(|walk| drop(reference.run(walk).unwrap()));
    (layout.check[index.index()]..).zip(reference.into_effects().counters).for_each(|(at, n)| count(at, n));
    for (&(table, path), &number) in &effects.paths {
        let sum = if paths.metric.is_summed() { effects.sums[&(table, path)].cast_unsigned() } else { 0 };
        if sum > 0 {
            *raw.sums.entry((index.0, path.cast_unsigned())).or_default() += sum;
        }
        match layout.tables.paths()[index.index()] {
            PathTable::None => panic!("it has no paths"),
            PathTable::Array { base } => {
                count(base + path.cast_unsigned(), number);
                if sum > 0 {
                    count(base + plan.key.paths + path.cast_unsigned(), sum);
                }
            }
            PathTable::Hashed { function, windows, .. } => {
                if let Some((index, window)) = Window::of(&plan.key.windows, table)
                    && window.numbers().contains(&path.cast_unsigned())
                {
                    let before: u64 = plan.key.windows[..index].iter().map(|window| window.len).sum();
                    let word = windows + before + path.cast_unsigned() - window.first;
                    count(word, number);
                    if sum > 0 {
                        count(word + plan.key.words_of_windows(), sum);
                    }
                    continue;
                }
                // A key may be in several segments.
                let in_first = if number > 1 { sum / 3 } else { 0 };
                raw.segments[0].push([function + 1, path.cast_unsigned(), number - 1, in_first]);
                raw.segments[1].push([function + 1, path.cast_unsigned(), 1, sum - in_first]);
            }
        }
    }
    left
}

/// Writes activations that left at return addresses: where both functions have some, in the code where one is inlined.
fn leave(binary: &BinaryFile, left: [Vec<Left>; 2], raw: &mut Raw) {
    let mut early: BTreeMap<u64, i64> = BTreeMap::new();
    let sites = [FIRST, SECOND].map(|f| binary.function(f).sites().len());
    let mut note = |raw: &mut Raw, address: u64, registers: &[((FunctionId, Site), i64)], count: i64| {
        *early.entry(address).or_default() += count;
        let values = registers.iter().filter(|((f, site), _)| {
            let key = &paths_of(binary).functions[f.index()].key;
            key.sites_with_register(binary.function(*f)).any(|s| s == *site)
        });
        for (value, (_, register)) in (0u64..).zip(values) {
            let key = ABANDONED | value << VALUE_SHIFT | address;
            raw.segments[1].push([key, register.cast_unsigned(), count.cast_unsigned(), 0]);
        }
    };
    let [mut outer, inner] = left;
    for (site, register, count) in inner {
        match outer.iter().position(|entry| entry.2 == count) {
            Some(at) => {
                let (outer, outer_register, _) = outer.remove(at);
                let both = [((FIRST, outer), outer_register), ((SECOND, site), register)];
                note(raw, address((SECOND, site), Some(outer), &sites), &both, count);
            }
            None => note(raw, address((SECOND, site), None, &sites), &[((SECOND, site), register)], count),
        }
    }
    for (site, register, count) in outer {
        note(raw, address((FIRST, site), None, &sites), &[((FIRST, site), register)], count);
    }
    raw.early = early.into_iter().collect();
}

/// The raw profile of one run.
fn raw_of(binary: &BinaryFile, units: &mut [Walked], number: usize) -> Raw {
    let counters = binary.map().plan.layout().counter_count as usize;
    let mut raw = Raw {
        slabs: vec![vec![0; counters]; 2],
        early: vec![],
        segments: vec![vec![], vec![]],
        metric: paths_of(binary).metric.number(),
        ..Raw::new(vec![])
    };
    let left = [FIRST, SECOND].map(|f| run(binary, f, &mut units[f.index()].1[number], &mut raw));
    leave(binary, left, &mut raw);
    raw
}

fn read(bytes: &[u8]) -> UnitCounts {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    ProfileFile::open(file.path()).unwrap().units.remove(0)
}

/// Why the file is refused.
fn refused(bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    ProfileFile::open(file.path()).expect_err("it must be refused").to_string()
}

fn truth(units: &[Walked]) -> Vec<FunctionProfile> {
    let observed = units.iter().map(|(f, walks)| observe(f, &f.cfg().unwrap(), &walks.concat()).unwrap().0);
    observed.collect()
}

fn sum(binary: &BinaryFile, units: &mut [Walked]) -> UnitCounts {
    let mut merge = Merge::default();
    for number in 0..2 {
        let counts = read(&raw_of(binary, units, number).bytes());
        merge.add(ProfileFile { path: "p".into(), kind: ProfileFormat::Raw, units: vec![counts] }, 1).unwrap();
    }
    merge.finish().remove(0)
}

/// An empty list of early exits means none.
fn normal(profile: &FunctionProfile) -> FunctionProfile {
    let early = if profile.early.iter().all(|&n| n == 0) { IdMap::default() } else { profile.early.clone() };
    FunctionProfile { early, ..profile.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// From walks through two raw files, their sum and its file to the truth; and the reference agrees.
    #[test]
    fn path_profiles_of_units_are_exact((choice, mut units) in units()) {
        let functions: Vec<Function> = units.iter().map(|u| u.0.clone()).collect();
        let binary = binary(choice, &functions);
        let counts = sum(&binary, &mut units);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sum.cotree");
        merged::write(&path, std::slice::from_ref(&counts)).unwrap();
        let again = ProfileFile::open(&path).unwrap().units.remove(0);
        prop_assert_eq!(&again, &counts);

        let profile = recover(&binary, &counts).unwrap();
        prop_assert_eq!(&profile.failures, &vec![]);
        let found: Vec<_> = profile.functions.iter().flatten().map(normal).collect();
        prop_assert_eq!(found, truth(&units).iter().map(normal).collect::<Vec<_>>());
        prop_assert_eq!(profile.method.paths().iter().flatten().count(), 2);
        let mut sums: BTreeMap<(u32, u64), u64> = BTreeMap::new();
        for number in 0..2 {
            for (key, sum) in raw_of(&binary, &mut units, number).sums {
                *sums.entry(key).or_default() += sum;
            }
        }
        let of_function = |index: u32, paths: &PathProfile| {
            paths.sums.iter().map(move |&(path, sum)| ((index, path), sum)).collect::<Vec<_>>()
        };
        let found = (0..).zip(profile.method.paths().iter().flatten()).flat_map(|(index, paths)| of_function(index, paths));
        prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), sums);
        let verified = verify::verify(&binary, &counts).unwrap();
        prop_assert_eq!((verified.functions, verified.mismatches), (2, vec![]));

        // A map that was written and read says the same.
        let (map, _) = map::decode(&encode(binary.map(), UNIT)).unwrap();
        prop_assert_eq!(&map.code, &binary.map().code);
        prop_assert_eq!(map.plan.layout(), binary.map().plan.layout());
    }

    /// Without registers, profiles are exact or say that they are not, even where activations came to life.
    #[test]
    fn lost_registers_are_made_up_for_or_flagged((choice, mut units) in units(), unknown in any::<bool>()) {
        let functions: Vec<Function> = units.iter().map(|u| u.0.clone()).collect();
        let with = binary(choice, &functions);
        let mut counts = sum(&with, &mut units);
        counts.method = without_registers(&counts);
        let mut map = with.map().clone();
        if unknown {
            map.code.functions.iter_mut().flat_map(|f| &mut f.returns).for_each(|point| point.registers.clear());
        } else {
            // An entry that no register accounts for is unknown; one that nets to nothing would be, too.
            counts.early.retain(|_, count| *count > 0);
            prop_assume!(units.iter().all(|u| u.1.concat().iter().all(|w| w.from == From::Entry)));
        }
        let binary = from_parts(map);
        let profile = recover(&binary, &counts).unwrap();
        for (found, truth) in profile.functions.iter().flatten().zip(truth(&units)) {
            if found.flaws.is_empty() {
                prop_assert_eq!(normal(found), normal(&truth));
            }
        }
    }

    /// Segments come from files: whatever stands in them is an error or a profile.
    #[test]
    fn hostile_path_segments_do_no_harm((choice, mut units) in units(), edits in prop::collection::vec((0usize..3, 0usize..80, any::<u8>()), 1..6), running in any::<bool>()) {
        let functions: Vec<Function> = units.iter().map(|u| u.0.clone()).collect();
        let binary = binary(choice, &functions);
        let raw = raw_of(&binary, &mut units, 0);
        let mut bytes = raw.bytes();
        let newest = u64::from_le_bytes(bytes[SEGMENT_HEAD..SEGMENT_HEAD + 8].try_into().unwrap()) as usize;
        for (place, at, value) in edits {
            let at = [SEGMENT_HEAD + at % 12, newest + at, newest - 4096 + at][place];
            bytes[at] = value;
        }
        bytes[12] = if running { 1 } else { 2 };
        seal(&mut bytes);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        if let Ok(mut file) = ProfileFile::open(file.path()) {
            let _ = recover(&binary, &file.units.remove(0));
        }
    }
}

/// A small unit with a hashed function, a run of it, and the file.
fn small() -> (BinaryFile, Raw) {
    let f = random::function(4, &[(0, 1, true), (0, 2, true), (1, 3, true), (2, 3, true), (3, 4, true)], &[(3, false)]);
    let g = random::function(1, &[(0, 1, true)], &[]);
    let choice = Choice { method: PathMethod::Plain, array: 0, limit: u64::MAX, metric: PathMetric::Count };
    let binary = binary(choice, &[f.clone(), g.clone()]);
    let walk = |edges: &[u32]| GraphWalk {
        from: From::Entry,
        edges: edges.iter().copied().map(Edge).collect(),
        until: Until::Exit,
    };
    let walks = [vec![walk(&[0, 2, 4]), walk(&[1, 3, 4])], vec![]];
    let mut units = [(f, walks), (g, [vec![walk(&[0])], vec![]])];
    let raw = raw_of(&binary, &mut units, 0);
    (binary, raw)
}

#[test]
fn lists_that_end_nowhere_are_refused() {
    let (_, raw) = small();
    let bytes = raw.bytes();
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let newest = word(SEGMENT_HEAD) as usize;
    let [kind, capacity, next, owner, offset] = [8, 16, 24, 40, 48];
    let oldest = word(newest + next) as usize;
    assert_eq!((word(oldest + next), newest - oldest), (0, 4096));
    let refusal = |at: usize, value: u64| {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        seal(&mut bytes);
        refused(&bytes)
    };
    assert!(refusal(oldest + next, newest as u64).contains("in a circle"));
    assert!(refusal(newest + next, newest as u64).contains("in a circle"));
    assert!(refusal(SEGMENT_HEAD, newest as u64 + 8).contains("where none can be"));
    assert!(refusal(SEGMENT_HEAD, 4096).contains("where none can be"));
    assert!(refusal(SEGMENT_HEAD, 1 << 62).contains("cut off"));
    assert!(refusal(newest, 0).contains("does not begin as one"));
    assert!(refusal(newest + offset, 4096).contains("does not begin as one"));
    assert!(refusal(newest + owner, newest as u64 + 8).contains("does not begin as one"));
    assert!(refusal(newest + kind, 32 << 32 | 99).contains("of a kind that this cotree does not know"));
    assert!(refusal(newest + kind, 33 << 32 | 1).contains("does not begin as one"));
    assert!(refusal(newest + capacity, 3).contains("does not begin as one"));
    assert!(refusal(newest + capacity, 1 << 20).contains("cut off"));
    assert!(refusal(newest + capacity, 1 << 63).contains("make no sense"));
    assert!(refusal(oldest + capacity, 128).contains("overlap"));
    assert!(refusal(newest + 64, 1 << 40).contains("counts what there is not"));
    assert!(refusal(SEGMENT_HEAD + 8, 3).contains("measured by a metric"));
}

#[test]
fn a_slab_whose_place_a_segment_takes_is_none() {
    let (binary, raw) = small();
    let whole = raw.bytes();
    let without = read(&whole);
    // The header counts the first segment's page as a slab.
    let mut bytes = whole.clone();
    bytes[88..96].copy_from_slice(&3u64.to_le_bytes());
    seal(&mut bytes);
    assert_eq!(read(&bytes), without);
    assert!(recover(&binary, &without).unwrap().exact());
}

/// No path has the key 0.
#[test]
fn a_bucket_without_a_key_is_refused() {
    let (_, mut raw) = small();
    raw.segments[0].push([1, u64::MAX, 1, 0]);
    assert!(refused(&raw.bytes()).contains("counts what there is not"));
}

#[test]
fn paths_of_functions_without_a_table_are_refused() {
    let (binary, mut raw) = small();
    raw.segments[0].push([3, 0, 1, 0]);
    let error = recover(&binary, &read(&raw.bytes())).unwrap_err();
    let UnitError::Foreign(ForeignCounts::Paths(error)) = error else { panic!("{error}") };
    assert!(matches!(error, ForeignPaths::Table { function: FunctionId(2), .. }), "{error}");
    // A number that no path has concerns its function alone.
    let (binary, mut raw) = small();
    raw.segments[0].push([1, 99, 1, 0]);
    let profile = recover(&binary, &read(&raw.bytes())).unwrap();
    assert_eq!(profile.failures[0].1.to_string(), "path 99 was counted, but none of the function's 2 has that number");
    assert!(profile.functions[0].is_none() && profile.method.paths()[0].is_none() && profile.functions[1].is_some());
}

#[test]
fn a_metric_that_the_binary_does_not_have_is_refused() {
    let (binary, mut raw) = small();
    raw.metric = PathMetric::Cycles.number();
    let error = recover(&binary, &read(&raw.bytes())).unwrap_err();
    let UnitError::Foreign(ForeignCounts::Paths(error)) = error else { panic!("{error}") };
    assert!(matches!(error, ForeignPaths::Metric { .. }), "{error}");
    // A bucket that was never counted says nothing, whatever its sum.
    let (binary, mut raw) = small();
    raw.segments[0].push([1, 1, 0, 99]);
    assert!(
        read(&raw.bytes()).method.paths().is_none_or(|paths| paths.sums.entries().is_empty())
            && recover(&binary, &read(&raw.bytes())).unwrap().exact()
    );
}

#[test]
fn missing_buckets_are_declared() {
    let (binary, mut raw) = small();
    raw.flags = Flags::PATHS_MISSING;
    let profile = recover(&binary, &read(&raw.bytes())).unwrap();
    assert!(
        !profile.exact() && profile.notes.contains(&Note::Method(MethodNote::Paths(PathNote::Missing))),
        "{:?}",
        profile.notes
    );
}

#[test]
fn unknown_activations_that_cancel_out_are_not_forgotten() {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 5)].map(|(from, to)| (from, to, true));
    let f = random::function(5, &edges, &[(3, false)]);
    let g = random::function(1, &[(0, 1, true)], &[]);
    let choice = Choice { method: PathMethod::Plain, array: 1024, limit: u64::MAX, metric: PathMetric::Count };
    let with = binary(choice, &[f.clone(), g.clone()]);
    // One comes to life after b2 and returns, another is abandoned after b1.
    let revived = GraphWalk { from: From::Site(Site(0)), edges: vec![Edge(5)], until: Until::Exit };
    let path = path_to(&f, Block(3)).unwrap();
    let other = if path == [Edge(0), Edge(2)] { [1, 3] } else { [0, 2] };
    let abandoned = GraphWalk { from: From::Entry, edges: other.map(Edge).to_vec(), until: Until::Site(Site(0)) };
    let mut units = [(f, [vec![revived, abandoned], vec![]]), (g, [vec![], vec![]])];
    let raw = raw_of(&with, &mut units, 0);
    let counts = read(&raw.bytes());
    assert_eq!(counts.early.values().collect::<Vec<_>>(), [&0]);
    let profile = recover(&with, &counts).unwrap();
    assert_eq!(normal(profile.functions[0].as_ref().unwrap()), normal(&truth(&units)[0]));
    let unknown = UnitCounts { method: without_registers(&counts), ..counts };
    let mut map = with.map().clone();
    map.code.functions.iter_mut().flat_map(|f| &mut f.returns).for_each(|point| point.registers.clear());
    let profile = recover(&from_parts(map), &unknown).unwrap();
    assert_eq!(profile.functions[0].as_ref().unwrap().flaws, [Flaw::UnknownExit]);
}

#[test]
fn paths_weight_edges_of_the_next_build() {
    let (binary, raw) = small();
    let profile = recover(&binary, &read(&raw.bytes())).unwrap();
    let mut text = Vec::new();
    weights::write(&mut text, &[(binary.map(), &profile)], "").unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(r#""blocks":[2,1,1,2],"edges":[1,1,1,1,2]"#), "{text}");
}

#[test]
fn irreducible_loops_have_plain_paths_and_a_note() {
    let f = random::function(3, &[(0, 1, true), (0, 2, true), (1, 2, true), (2, 1, true), (1, 3, true)], &[]);
    let g = random::function(2, &[(0, 1, true), (1, 1, true), (1, 2, true)], &[]);
    let binary = binary(
        Choice { method: PathMethod::Context, array: 1024, limit: u64::MAX, metric: PathMetric::Count },
        &[f, g],
    );
    let counters = binary.map().plan.layout().counter_count as usize;
    let raw = Raw { early: vec![], ..Raw::new(vec![0; counters]) };
    let profile = recover(&binary, &read(&raw.bytes())).unwrap();
    assert_eq!(profile.notes, [Note::Method(MethodNote::Paths(PathNote::WithoutContext(1)))]);
    assert!(profile.exact());
}
