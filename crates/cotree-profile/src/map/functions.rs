//! Modules and functions: graphs, instruction counts, source lines, calls.
//!
//! What was inlined many times repeats itself: see [`super::lines`].

use super::MapError;
use super::calls;
use super::lines::{Foresight, LineReader, LineWriter, Place, read_position, write_position};
use super::sections::Stream;
use super::text::{TextCursor, TextWriter};
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{
    BlockFacts, Doubt, EdgeFacts, EdgeKind, Function, InstructionCounts, Linkage, Module, ProgramMap, Untouched,
};
use cotree_core::ids::Block;

pub(super) fn write<'a>(program: &'a ProgramMap, w: &mut Writer, text: &mut TextWriter<'a>) {
    text.put(w, Stream::TextRef, &program.name);
    text.put(w, Stream::TextRef, &program.target);
    w.put(Stream::Unit, program.files.len() as u64);
    for file in &program.files {
        text.put(w, Stream::TextRef, file);
    }
    w.put(Stream::Unit, program.modules.len() as u64);
    let mut foresight = Foresight::default();
    let all_calls = program.all_calls;
    for module in &program.modules {
        text.put(w, Stream::TextRef, &module.name);
        w.put(Stream::Unit, module.functions.len() as u64);
        let mut context = Context::default();
        for function in &module.functions {
            write_function(function, all_calls, w, text, &mut context, &mut foresight);
        }
    }
}

/// `all_calls` is [`ProgramMap::all_calls`].
pub(super) fn read(r: &mut Reader<'_>, text: &mut TextCursor, all_calls: bool) -> Result<ProgramMap, MapError> {
    let name = text.get(r, Stream::TextRef)?;
    let target = text.get(r, Stream::TextRef)?;
    let files = (0..r.get_count(Stream::Unit, Stream::TextRef)?)
        .map(|_| text.get(r, Stream::TextRef))
        .collect::<Result<_, _>>()?;
    let mut modules = Vec::new();
    let mut foresight = Foresight::default();
    for _ in 0..r.get_count(Stream::Unit, Stream::TextRef)? {
        let name = text.get(r, Stream::TextRef)?;
        let count = r.get_count(Stream::Unit, Stream::Function)?;
        let mut context = Context::default();
        let functions = (0..count)
            .map(|_| read_function(r, text, all_calls, &mut context, &mut foresight))
            .collect::<Result<_, _>>()?;
        modules.push(Module { name, functions });
    }
    Ok(ProgramMap { name, target, files, modules, all_calls })
}

/// What is carried from one function of a module to the next.
#[derive(Default)]
struct Context {
    position: Place,
    probe: u16,
}

const LINKAGE: u64 = 0b11;
const ADDRESS_TAKEN: u64 = 1 << 2;
const POSITION: u64 = 1 << 3;
const UNTOUCHED: u64 = 1 << 4;
const DOUBTS: u64 = 1 << 5;
const ODD_EDGES: u64 = 1 << 6;

fn write_function<'a>(
    function: &'a Function,
    all_calls: bool,
    w: &mut Writer,
    text: &mut TextWriter<'a>,
    context: &mut Context,
    foresight: &mut Foresight,
) {
    let regular = edges_are_regular(function);
    let linkage = match function.linkage {
        Linkage::Internal => 0,
        Linkage::External => 1,
        Linkage::Copy => 2,
    };
    let flag = |set: bool, bit: u64| if set { bit } else { 0 };
    let flags = linkage
        | flag(function.address_taken, ADDRESS_TAKEN)
        | flag(function.position.is_some(), POSITION)
        | flag(function.untouched.is_some(), UNTOUCHED)
        | flag(!function.doubts.is_empty(), DOUBTS)
        | flag(!regular, ODD_EDGES);
    w.put(Stream::Function, flags);
    let symbol = text.put(w, Stream::TextRef, &function.symbol);
    if let Some(position) = function.position {
        write_position(position, &mut context.position, w, Stream::Function);
    }
    if let Some(untouched) = function.untouched {
        w.put(Stream::Function, untouched_number(untouched));
    }
    if !function.doubts.is_empty() {
        w.put(Stream::Function, function.doubts.len() as u64);
        for doubt in &function.doubts {
            w.put(
                Stream::Function,
                match doubt {
                    Doubt::UnmappedCallSites => 0,
                    Doubt::BuiltinSetjmp => 1,
                    Doubt::SwitchesStacks => 2,
                },
            );
        }
    }
    w.put(Stream::Function, function.blocks.len() as u64);
    w.put(Stream::Function, function.sites().len() as u64);
    w.put(Stream::Function, function.inlined.len() as u64);
    let mut lines = LineWriter::new(symbol, context.position, foresight);
    for copy in &function.inlined {
        lines.write_copy(copy, w, text);
    }
    calls::write_sites(function.sites(), w, text, &mut context.probe);
    write_blocks(function, &calls::sites_per_block(function.blocks.len(), function.sites()), &mut lines, w);
    if all_calls {
        calls::write_others(function, w, text);
    }
    if regular {
        write_edges(function, w);
    } else {
        w.put(Stream::Function, function.edges.len() as u64);
        for edge in &function.edges {
            w.put(Stream::Case, u64::from(edge.src.0));
            w.put(Stream::Case, u64::from(edge.dst.0));
            w.put(Stream::Case, u64::from(edge.successor));
            write_kind(edge.kind, &mut 0, w);
        }
    }
}

fn read_function(
    r: &mut Reader<'_>,
    text: &mut TextCursor,
    all_calls: bool,
    context: &mut Context,
    foresight: &mut Foresight,
) -> Result<Function, MapError> {
    let flags = r.get(Stream::Function)?;
    let linkage = match flags & LINKAGE {
        0 => Linkage::Internal,
        1 => Linkage::External,
        2 => Linkage::Copy,
        _ => return Err(MapError::Invalid("no such linkage")),
    };
    let (number, symbol) = text.get_numbered(r, Stream::TextRef)?;
    let position =
        if flags & POSITION != 0 { Some(read_position(r, &mut context.position, Stream::Function)?) } else { None };
    let untouched = if flags & UNTOUCHED != 0 { Some(untouched_of(r.get(Stream::Function)?)?) } else { None };
    let mut doubts = Vec::new();
    if flags & DOUBTS != 0 {
        for _ in 0..r.get_count(Stream::Function, Stream::Function)? {
            doubts.push(match r.get(Stream::Function)? {
                0 => Doubt::UnmappedCallSites,
                1 => Doubt::BuiltinSetjmp,
                2 => Doubt::SwitchesStacks,
                _ => return Err(MapError::Invalid("no such doubt")),
            });
        }
    }
    let block_count = r.get_count(Stream::Function, Stream::Plain)?;
    let site_count = r.get_count(Stream::Function, Stream::SiteFlags)?;
    let inlined_count = r.get_count(Stream::Function, Stream::Inlined)?;
    let mut lines = LineReader::new(number, context.position, foresight);
    let inlined = (0..inlined_count).map(|_| lines.read_copy(r, text)).collect::<Result<_, _>>()?;
    let sites = calls::read_sites(site_count, r, text, &mut context.probe)?;
    if sites.iter().any(|s| s.block.index() >= block_count) {
        return Err(MapError::Invalid("a call site stands in no block"));
    }
    let blocks = read_blocks(&calls::sites_per_block(block_count, sites.iter()), &mut lines, r)?;
    let calls = if all_calls { calls::read_others(sites, &blocks, r, text)? } else { sites.into_iter().collect() };
    let edges = if flags & ODD_EDGES == 0 {
        read_edges(block_count, r)?
    } else {
        let count = r.get_count(Stream::Function, Stream::Case)?;
        let mut edges = Vec::with_capacity(count);
        for _ in 0..count {
            let src = Block(r.get_u32(Stream::Case)?);
            let dst = Block(r.get_u32(Stream::Case)?);
            let successor = r.get_u32(Stream::Case)?;
            edges.push(EdgeFacts { src, dst, kind: read_kind(&mut 0, r)?, successor });
        }
        edges
    };
    let address_taken = flags & ADDRESS_TAKEN != 0;
    Ok(Function { symbol, linkage, address_taken, position, blocks, edges, calls, inlined, untouched, doubts })
}

const UNTOUCHED_NUMBERS: [Untouched; 7] = [
    Untouched::Naked,
    Untouched::Excluded,
    Untouched::IfuncResolver,
    Untouched::Coroutine,
    Untouched::NotAsked,
    Untouched::AuthorForbids,
    Untouched::UnmodelledControlFlow,
];

fn untouched_number(untouched: Untouched) -> u64 {
    UNTOUCHED_NUMBERS.iter().position(|&u| u == untouched).expect("all are listed") as u64
}

fn untouched_of(number: u64) -> Result<Untouched, MapError> {
    let index = usize::try_from(number).ok();
    index.and_then(|i| UNTOUCHED_NUMBERS.get(i)).copied().ok_or(MapError::Invalid("no such reason for no probes"))
}

fn write_blocks(function: &Function, calls: &[u32], lines: &mut LineWriter<'_>, w: &mut Writer) {
    for (block, &sites) in function.blocks.iter().zip(calls) {
        let n = block.instructions;
        let special = i64::from(n.loads) + i64::from(n.stores) + i64::from(n.calls) + i64::from(n.float);
        w.put_signed(Stream::Plain, i64::from(n.total) - special);
        w.put(Stream::Loads, u64::from(n.loads));
        w.put(Stream::Stores, u64::from(n.stores));
        w.put_step(Stream::Calls, sites, n.calls);
        w.put(Stream::Float, u64::from(n.float));
        lines.write_block(&block.lines, w);
    }
}

fn read_blocks(calls: &[u32], lines: &mut LineReader<'_>, r: &mut Reader<'_>) -> Result<Vec<BlockFacts>, MapError> {
    let mut blocks = Vec::with_capacity(calls.len());
    for &sites in calls {
        let plain = r.get_signed(Stream::Plain)?;
        let loads = r.get_u32(Stream::Loads)?;
        let stores = r.get_u32(Stream::Stores)?;
        let calls = r.get_step(Stream::Calls, sites)?;
        let float = r.get_u32(Stream::Float)?;
        let special = i64::from(loads) + i64::from(stores) + i64::from(calls) + i64::from(float);
        let total = plain.checked_add(special).and_then(|n| u32::try_from(n).ok());
        let total = total.ok_or(MapError::Invalid("a block has no possible number of instructions"))?;
        let instructions = InstructionCounts { total, loads, stores, calls, float };
        blocks.push(BlockFacts { instructions, lines: lines.read_block(r)? });
    }
    Ok(blocks)
}

/// Terminators with their usual edges; see [`shape_of`].
mod shape {
    pub(super) const NONE: u64 = 0;
    pub(super) const JUMP: u64 = 1;
    pub(super) const BRANCH: u64 = 2;
    pub(super) const RETURN: u64 = 3;
    pub(super) const UNREACHABLE: u64 = 4;
    pub(super) const RESUME: u64 = 5;
    pub(super) const INVOKE: u64 = 6;
    /// Default first, then cases; the number of edges follows, and the steps of their successors.
    pub(super) const SWITCH: u64 = 7;
    /// The number of edges follows, and the steps of their successors.
    pub(super) const INDIRECT: u64 = 8;
    /// The number of edges follows, and their kinds and the steps of their successors.
    pub(super) const OTHER: u64 = 9;

    /// Do the number of edges and the steps of their successors follow?
    pub(super) const fn varies(shape: u64) -> bool {
        matches!(shape, SWITCH | INDIRECT | OTHER)
    }
}

/// Are edges grouped by block, in block order, with rising successors?
fn edges_are_regular(function: &Function) -> bool {
    let mut last: Option<&EdgeFacts> = None;
    function.edges.iter().all(|edge| {
        let rising = last.is_none_or(|l| (l.src, l.successor) < (edge.src, edge.successor));
        last = Some(edge);
        rising && edge.src.index() < function.blocks.len()
    })
}

fn shape_of(edges: &[EdgeFacts], exit: Block) -> u64 {
    use EdgeKind as K;
    let kinds = || edges.iter().map(|e| e.kind);
    let consecutive = edges.iter().zip(0..).all(|(e, i)| e.successor == i);
    match edges {
        [] => shape::NONE,
        _ if !consecutive && edges.len() <= 2 => shape::OTHER,
        [EdgeFacts { kind: K::Jump, .. }] => shape::JUMP,
        [EdgeFacts { kind: K::Return, dst, .. }] if *dst == exit => shape::RETURN,
        [EdgeFacts { kind: K::Unreachable, dst, .. }] if *dst == exit => shape::UNREACHABLE,
        [EdgeFacts { kind: K::Resume, dst, .. }] if *dst == exit => shape::RESUME,
        [EdgeFacts { kind: K::True, .. }, EdgeFacts { kind: K::False, .. }] => shape::BRANCH,
        [EdgeFacts { kind: K::InvokeNormal, .. }, EdgeFacts { kind: K::InvokeUnwind, .. }] => shape::INVOKE,
        [EdgeFacts { kind: K::Default, .. }, ..] if kinds().skip(1).all(|k| matches!(k, K::Case(_) | K::Cases(..))) => {
            shape::SWITCH
        }
        _ if kinds().all(|k| k == K::IndirectBranch) => shape::INDIRECT,
        _ => shape::OTHER,
    }
}

fn write_edges(function: &Function, w: &mut Writer) {
    let mut rest = function.edges.as_slice();
    for block in 0..u32::try_from(function.blocks.len()).expect("blocks have 32-bit numbers") {
        let count = rest.iter().take_while(|e| e.src.0 == block).count();
        let (edges, tail) = rest.split_at(count);
        rest = tail;
        let shape = shape_of(edges, function.exit());
        w.put(Stream::Shape, shape);
        if shape::varies(shape) {
            w.put(Stream::Case, edges.len() as u64);
        }
        let (mut value, mut successor) = (0i64, 0);
        for edge in edges {
            if shape::varies(shape) {
                w.put_step(Stream::Case, successor, edge.successor);
                successor = edge.successor.wrapping_add(1);
            }
            if shape == shape::OTHER || shape == shape::SWITCH && edge.successor > 0 {
                write_kind(edge.kind, &mut value, w);
            }
            if !matches!(shape, shape::RETURN | shape::UNREACHABLE | shape::RESUME) {
                w.put_step(Stream::Target, block + 1, edge.dst.0);
            }
        }
    }
}

fn read_edges(blocks: usize, r: &mut Reader<'_>) -> Result<Vec<EdgeFacts>, MapError> {
    use EdgeKind as K;
    let exit = Block::new(blocks);
    let mut edges = Vec::new();
    for block in 0..exit.0 {
        let shape = r.get(Stream::Shape)?;
        let count = match shape {
            shape::NONE => 0,
            shape::JUMP | shape::RETURN | shape::UNREACHABLE | shape::RESUME => 1,
            shape::BRANCH | shape::INVOKE => 2,
            shape::SWITCH | shape::INDIRECT | shape::OTHER => r.get_count(Stream::Case, Stream::Target)?,
            _ => return Err(MapError::Invalid("no such terminator")),
        };
        let (mut value, mut next) = (0i64, 0u32);
        for _ in 0..count {
            let successor = if shape::varies(shape) { r.get_step(Stream::Case, next)? } else { next };
            next = successor.wrapping_add(1);
            let kind = match (shape, successor) {
                (shape::JUMP, _) => K::Jump,
                (shape::RETURN, _) => K::Return,
                (shape::UNREACHABLE, _) => K::Unreachable,
                (shape::RESUME, _) => K::Resume,
                (shape::BRANCH, 0) => K::True,
                (shape::BRANCH, _) => K::False,
                (shape::INVOKE, 0) => K::InvokeNormal,
                (shape::INVOKE, _) => K::InvokeUnwind,
                (shape::SWITCH, 0) => K::Default,
                (shape::INDIRECT, _) => K::IndirectBranch,
                _ => read_kind(&mut value, r)?,
            };
            let dst = match shape {
                shape::RETURN | shape::UNREACHABLE | shape::RESUME => exit,
                _ => Block(r.get_step(Stream::Target, block + 1)?),
            };
            edges.push(EdgeFacts { src: Block(block), dst, kind, successor });
        }
    }
    Ok(edges)
}

/// Cases first: they are nearly all of what is written here. Their values are steps from the case before.
fn write_kind(kind: EdgeKind, value: &mut i64, w: &mut Writer) {
    use EdgeKind as K;
    let number = match kind {
        K::Case(_) => 0,
        K::Cases(..) => 1,
        K::Jump => 2,
        K::True => 3,
        K::False => 4,
        K::Default => 5,
        K::InvokeNormal => 6,
        K::InvokeUnwind => 7,
        K::IndirectBranch => 8,
        K::CallBrFallthrough => 9,
        K::CallBrIndirect => 10,
        K::Return => 11,
        K::Resume => 12,
        K::Unreachable => 13,
    };
    w.put(Stream::Case, number);
    if let K::Cases(count, _) = kind {
        w.put(Stream::Case, u64::from(count));
    }
    if let K::Case(case) | K::Cases(_, case) = kind {
        w.put_signed(Stream::Case, case.wrapping_sub(*value));
        *value = case;
    }
}

fn read_kind(value: &mut i64, r: &mut Reader<'_>) -> Result<EdgeKind, MapError> {
    use EdgeKind as K;
    let mut case = |r: &mut Reader<'_>| -> Result<i64, MapError> {
        *value = value.wrapping_add(r.get_signed(Stream::Case)?);
        Ok(*value)
    };
    Ok(match r.get(Stream::Case)? {
        0 => K::Case(case(r)?),
        1 => {
            let count = r.get_u32(Stream::Case)?;
            K::Cases(count, case(r)?)
        }
        2 => K::Jump,
        3 => K::True,
        4 => K::False,
        5 => K::Default,
        6 => K::InvokeNormal,
        7 => K::InvokeUnwind,
        8 => K::IndirectBranch,
        9 => K::CallBrFallthrough,
        10 => K::CallBrIndirect,
        11 => K::Return,
        12 => K::Resume,
        13 => K::Unreachable,
        _ => return Err(MapError::Invalid("no such kind of edge")),
    })
}
