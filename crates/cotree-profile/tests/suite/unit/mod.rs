//! A small link unit with its true counts, and the files that a run of it would leave.
#![allow(dead_code, reason = "each test file uses a part")]

use cotree_core::facts::*;
use cotree_core::ids::{Block, Edge, FunctionId, IdMap, Site};
use cotree_core::method::counters::{self, CounterMethod, UnitCounterPlan};
use cotree_core::method::{Family, Method, MethodPlan};
use cotree_core::plan::{CounterPlan, FunctionPlan, Measure};
use cotree_core::unit::UnitPlan;
use cotree_core::weight::weighting::Weighting;
use cotree_profile::binary::{BinaryFile, BinaryMap, CodeFunction, CodeMap, ReturnPoint, UnitId, encode};
use cotree_rt::layout::{self, Flags, State};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub const UNIT: UnitId = UnitId([0x5A; 16]);

/// Blocks' counts and edges' counts of a function, and its early exits by site.
#[derive(Clone)]
pub struct Truth {
    pub entries: u64,
    pub blocks: IdMap<Block, u64>,
    pub edges: IdMap<Edge, u64>,
    pub early: IdMap<Site, i64>,
}

fn truth(entries: u64, blocks: Vec<u64>, edges: Vec<u64>, early: Vec<i64>) -> Truth {
    Truth { entries, blocks: blocks.into(), edges: edges.into(), early: early.into() }
}

fn edge(src: u32, dst: u32, kind: EdgeKind, successor: u32) -> EdgeFacts {
    EdgeFacts { src: Block(src), dst: Block(dst), kind, successor }
}

fn site(block: u32, callee: &str) -> Call {
    Call { no_return: callee == "exit", probe: 1, ..Call::site(Block(block), Callee::Symbol(callee.into())) }
}

/// Lets each block have the calls that the function lists in it, and one run of at least `most` instructions.
pub fn complete(function: &mut Function, most: u32) {
    for (index, block) in function.blocks.iter_mut().enumerate() {
        let here = |call: &&Call| call.block.index() == index && !call.is_marker();
        let calls = function.calls.iter().filter(here).count() as u32;
        block.instructions = InstructionCounts { total: most.max(calls), calls, ..InstructionCounts::default() };
        block.runs = vec![Run { instructions: block.instructions, ..Run::default() }];
    }
}

fn function(symbol: &str, blocks: usize, edges: Vec<EdgeFacts>, sites: Vec<Call>) -> Function {
    Function {
        symbol: symbol.into(),
        linkage: Linkage::External,
        blocks: vec![BlockFacts::default(); blocks].into(),
        edges: edges.into(),
        calls: sites.into_iter().collect(),
        ..Default::default()
    }
}

/// `main` calls `work` in a loop; `work` calls `exit` the sixth time, from within `leaf`, which was inlined into it.
pub fn facts() -> (ProgramMap, Vec<Truth>) {
    use EdgeKind as K;
    let main = function(
        "main",
        4,
        vec![
            edge(0, 1, K::Jump, 0),
            edge(1, 2, K::True, 0),
            edge(1, 3, K::False, 1),
            edge(2, 1, K::Jump, 0),
            edge(3, 4, K::Return, 0),
        ],
        vec![site(2, "work")],
    );
    let main_truth = truth(1, vec![1, 6, 6, 0], vec![1, 6, 0, 5, 0], vec![1]);
    let work = function(
        "work",
        3,
        vec![edge(0, 1, K::True, 0), edge(0, 2, K::False, 1), edge(1, 2, K::Jump, 0), edge(2, 3, K::Return, 0)],
        vec![site(1, "leaf")],
    );
    let work_truth = truth(6, vec![6, 2, 5], vec![2, 4, 1, 5], vec![1]);
    let leaf = function("leaf", 2, vec![edge(0, 1, K::Jump, 0), edge(1, 2, K::Return, 0)], vec![site(0, "exit")]);
    let leaf_truth = truth(2, vec![2, 1], vec![1, 1], vec![1]);
    let mut invokes = function(
        "invokes",
        3,
        vec![
            edge(0, 1, K::InvokeNormal, 0),
            edge(0, 2, K::InvokeUnwind, 1),
            edge(1, 3, K::Return, 0),
            edge(2, 3, K::Resume, 0),
        ],
        vec![site(0, "thrower"), site(2, "__cotree_resuming")],
    );
    invokes.calls.update(|id, call| {
        call.terminator = id.0 == 0;
        call.resume_marker = id.0 == 1;
    });
    let mut functions = [main, work, leaf, invokes];
    functions.iter_mut().for_each(|function| complete(function, 3));
    let [main, work, leaf, invokes] = functions;
    let invokes_truth = truth(0, vec![0; 3], vec![0; 4], vec![0, 0]);
    let program = ProgramMap {
        name: "prog".into(),
        target: "x86_64-unknown-linux-gnu".into(),
        build: Default::default(),
        files: vec![],
        checksums: Default::default(),
        modules: vec![
            Module { name: "a.o".into(), functions: vec![main, work, leaf], ..Module::default() },
            Module { name: "b.o".into(), functions: vec![invokes], ..Module::default() },
        ],
    };
    (program, vec![main_truth, work_truth, leaf_truth, invokes_truth])
}

pub const MAIN_AT: u64 = 0x40_1000;
pub const WORK_AT: u64 = 0x40_1040;
pub const INVOKES_AT: u64 = 0x40_1100;

/// Machine code: `main`, `work` with `leaf` inlined (its call of `exit` is the last instruction), `invokes` with a
/// throwing `leaf` inlined. `leaf` has no code of its own.
pub fn code() -> CodeMap {
    let point = |offset, chain: &[(u32, u32)]| ReturnPoint {
        offset,
        chain: chain.iter().map(|&(f, s)| (FunctionId(f), Site(s))).collect(),
        registers: Vec::new(),
    };
    CodeMap {
        functions: vec![
            CodeFunction { size: 0x40, returns: vec![point(0x20, &[(0, 0)])] },
            CodeFunction { size: 0x30, returns: vec![point(0x30, &[(2, 0), (1, 0)])] },
            CodeFunction { size: 0x50, returns: vec![point(0x10, &[(2, 0), (3, 0)]), point(0x20, &[(3, 1)])] },
            CodeFunction { size: 0x10, returns: vec![] },
        ],
    }
}

/// The content of `.cotree.funcs`; the last one was dropped by the linker.
pub fn funcs() -> Vec<u8> {
    let records = [(MAIN_AT, 0u32, 0u32), (WORK_AT, 1, 0), (INVOKES_AT, 2, 1), (0, 3, 1)];
    records.iter().flat_map(|&(a, c, m)| [&a.to_le_bytes()[..], &c.to_le_bytes(), &m.to_le_bytes()].concat()).collect()
}

pub fn map(method: Method, check: bool) -> (BinaryMap, Vec<Truth>) {
    let (program, truth) = facts();
    let plans = |method: CounterMethod| -> Vec<CounterPlan> {
        let functions = program.functions();
        functions
            .map(|(_, f)| {
                let cfg = f.cfg().unwrap();
                counters::plan(method, f, &cfg, &Weighting::uniform(&cfg))
            })
            .collect()
    };
    let method = match method.family() {
        Family::None => MethodPlan::None,
        Family::Counters(method) => {
            MethodPlan::Counters(UnitCounterPlan { method, functions: plans(method), entries: vec![] })
        }
        Family::Paths(_) | Family::Calls | Family::Ipath(_) | Family::Traces | Family::Events(_) => {
            unreachable!("other tests have paths, calls, traces and events")
        }
    };
    let plan = UnitPlan { method, check: check.then(|| plans(CounterMethod::Block)), targets: None };
    (BinaryMap { program, plan, code: code(), threaded: false }, truth)
}

/// What the counters would hold.
pub fn counters(map: &BinaryMap, truth: &[Truth]) -> Vec<u64> {
    let exit_edge = |f: usize| Edge::new(truth[f].edges.len());
    let check = map.plan.check.iter().flatten().map(FunctionPlan::from);
    let plans = map.plan.method.functions().zip(0..).chain(check.zip(0..));
    plans
        .flat_map(|(plan, f)| {
            plan.measures.iter().map(move |m| match *m {
                Measure::Edge(e) if e == exit_edge(f) => truth[f].entries,
                Measure::Edge(e) => truth[f].edges[e],
                Measure::Block(b) => truth[f].blocks[b],
            })
        })
        .collect()
}

pub fn binary(map: BinaryMap) -> BinaryFile {
    BinaryFile::from_parts("/build/prog".into(), UNIT, map, &funcs()).unwrap()
}

/// The early exits of the run: three activations at two return addresses.
pub fn early() -> Vec<(u64, i64)> {
    vec![(MAIN_AT + 0x20, 1), (WORK_AT + 0x30, 1)]
}

/// A raw profile.
#[derive(Clone)]
pub struct Raw {
    pub unit: UnitId,
    pub state: u32,
    pub flags: Flags,
    pub threads_alive: u32,
    pub slabs: Vec<Vec<u64>>,
    pub early: Vec<(u64, i64)>,
    /// The buckets of the tables of paths, behind the slabs, the newest segment last; with the paths' numbers.
    pub segments: Vec<Vec<[u64; 4]>>,
    /// What is added up along paths, by number, and what it comes to by function and path.
    pub metric: u32,
    pub sums: BTreeMap<(u32, u64), u64>,
    pub binary: PathBuf,
}

impl Raw {
    pub fn new(counters: Vec<u64>) -> Self {
        Self {
            unit: UNIT,
            state: State::FINISHED,
            flags: Flags::NONE,
            threads_alive: 0,
            slabs: vec![counters],
            early: early(),
            segments: vec![],
            metric: 0,
            sums: BTreeMap::new(),
            binary: "/build/prog".into(),
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let capacity = (2 * self.early.len() as u64).next_power_of_two().max(16);
        let count = self.slabs[0].len() as u64;
        let early_offset = layout::PAGE;
        let slabs_offset = early_offset + (capacity * 16).next_multiple_of(layout::PAGE);
        let stride = (count * 8).next_multiple_of(layout::PAGE);
        let mut bytes = vec![0u8; (slabs_offset + stride * self.slabs.len() as u64) as usize];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &layout::MAGIC);
        put(8, &layout::VERSION.to_le_bytes());
        put(12, &self.state.to_le_bytes());
        put(16, &self.unit.0);
        put(32, &4711u32.to_le_bytes());
        put(36, &self.threads_alive.to_le_bytes());
        put(40, &1_000_000u64.to_le_bytes());
        put(48, &2_000_000u64.to_le_bytes());
        put(56, &self.flags.bits().to_le_bytes());
        put(64, &count.to_le_bytes());
        put(72, &slabs_offset.to_le_bytes());
        put(80, &stride.to_le_bytes());
        put(88, &(self.slabs.len() as u64).to_le_bytes());
        put(96, &early_offset.to_le_bytes());
        put(104, &capacity.to_le_bytes());
        let path = self.binary.to_str().unwrap().as_bytes();
        put(128, &(path.len() as u32).to_le_bytes());
        put(132, &7u32.to_le_bytes());
        put(136, path);
        put(136 + 2048, b"prog\0-x");
        for &(address, number) in &self.early {
            let mut slot = layout::early_slot(address, capacity);
            while bytes_at(&bytes, early_offset + slot * 16) != 0 {
                slot = (slot + 1) % capacity;
            }
            let at = (early_offset + slot * 16) as usize;
            bytes[at..at + 8].copy_from_slice(&address.to_le_bytes());
            bytes[at + 8..at + 16].copy_from_slice(&number.to_le_bytes());
        }
        for (number, slab) in self.slabs.iter().enumerate() {
            let at = (slabs_offset + stride * number as u64) as usize;
            for (index, counter) in slab.iter().enumerate() {
                bytes[at + index * 8..at + index * 8 + 8].copy_from_slice(&counter.to_le_bytes());
            }
        }
        let mut head = 0u64;
        for buckets in &self.segments {
            let next = head;
            head = bytes.len() as u64;
            let capacity = buckets.len().next_power_of_two();
            // Buckets have 32 bytes; the owner is slab 0.
            let kind = u64::from(layout::SegmentKind::PATHS) | 32 << 32;
            bytes.extend_from_slice(&layout::SEGMENT_MAGIC);
            for word in [kind, capacity as u64, next, buckets.len() as u64, slabs_offset, head, 0] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            for &[function, path, count, sum] in buckets {
                let counts_a_path = function & layout::ABANDONED == 0;
                let key = if counts_a_path { path.wrapping_add(1) } else { path };
                for word in [function, key, count, sum] {
                    bytes.extend_from_slice(&word.to_le_bytes());
                }
            }
            bytes.resize((head as usize + 64 + 32 * capacity).next_multiple_of(layout::PAGE as usize), 0);
        }
        bytes[SEGMENT_HEAD..SEGMENT_HEAD + 8].copy_from_slice(&head.to_le_bytes());
        bytes[SEGMENT_HEAD + 8..SEGMENT_HEAD + 12].copy_from_slice(&self.metric.to_le_bytes());
        seal(&mut bytes);
        bytes
    }

    pub fn write(&self, path: &Path) {
        std::fs::write(path, self.bytes()).unwrap();
    }
}

/// Where the header says where the newest segment is.
pub const SEGMENT_HEAD: usize = 3208;

fn bytes_at(bytes: &[u8], at: u64) -> u64 {
    u64::from_le_bytes(bytes[at as usize..at as usize + 8].try_into().unwrap())
}

/// Puts the right checksums into a raw profile.
pub fn seal(bytes: &mut [u8]) {
    if bytes.len() < 4096 {
        return;
    }
    let mut body = layout::BodyChecksum::new(bytes.len() as u64 - 4096);
    body.add(&bytes[4096..]);
    bytes[112..120].copy_from_slice(&body.finish().to_le_bytes());
    bytes[120..128].fill(0);
    let header = layout::checksum(&bytes[..4096]);
    bytes[120..128].copy_from_slice(&header.to_le_bytes());
}

/// A 64-bit ELF file with these sections and nothing else.
pub fn elf(kind: u16, sections: &[(&str, &[u8])]) -> Vec<u8> {
    let mut names = vec![0u8];
    let mut data = Vec::new();
    let mut headers = vec![[0u8; 64]];
    let base = 64u64;
    let mut add = |name: &str, bytes: &[u8], section_kind: u32, names: &mut Vec<u8>| {
        let mut header = [0u8; 64];
        header[0..4].copy_from_slice(&(names.len() as u32).to_le_bytes());
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        header[4..8].copy_from_slice(&section_kind.to_le_bytes());
        header[24..32].copy_from_slice(&(base + data.len() as u64).to_le_bytes());
        header[32..40].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
        header[48..56].copy_from_slice(&1u64.to_le_bytes());
        data.extend_from_slice(bytes);
        headers.push(header);
    };
    for (name, bytes) in sections {
        add(name, bytes, 1, &mut names);
    }
    let table = {
        let mut with_own = names.clone();
        with_own.extend_from_slice(b".shstrtab\0");
        with_own
    };
    add(".shstrtab", &table, 3, &mut names);
    let mut file = vec![0u8; 64];
    file[..8].copy_from_slice(&[0x7F, b'E', b'L', b'F', 2, 1, 1, 0]);
    file[16..18].copy_from_slice(&kind.to_le_bytes());
    file[18..20].copy_from_slice(&62u16.to_le_bytes());
    file[20..24].copy_from_slice(&1u32.to_le_bytes());
    file[40..48].copy_from_slice(&(base + data.len() as u64).to_le_bytes());
    file[52..54].copy_from_slice(&64u16.to_le_bytes());
    file[54..56].copy_from_slice(&56u16.to_le_bytes());
    file[58..60].copy_from_slice(&64u16.to_le_bytes());
    file[60..62].copy_from_slice(&(headers.len() as u16).to_le_bytes());
    file[62..64].copy_from_slice(&(headers.len() as u16 - 1).to_le_bytes());
    file.extend_from_slice(&data);
    headers.iter().for_each(|h| file.extend_from_slice(h));
    file
}

/// An executable with a map.
pub fn executable(map: &BinaryMap, unit: UnitId) -> Vec<u8> {
    elf(2, &[(".text", &[0x90; 16]), (".cotree.map", &encode(map, unit)), (".cotree.funcs", &funcs())])
}
