//! Modules and functions: graphs, instruction counts, source lines, calls.
//!
//! What was inlined many times repeats itself: see [`super::lines`].

use super::lines::{History, LastPosition, LineReader, LineWriter, read_position, write_position};
use super::sections::Stream;
use super::text::{TextCursor, TextWriter};
use super::{MapError, calls, edges};
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{
    BlockFacts, Build, Checksums, Doubt, Function, InstructionCounts, Linkage, Module, ProgramMap, Untouched,
};

pub(super) fn write<'a>(program: &'a ProgramMap, w: &mut Writer, text: &mut TextWriter<'a>) {
    text.put(w, Stream::TextRef, &program.name);
    text.put(w, Stream::TextRef, &program.target);
    w.put(Stream::Unit, program.files.len() as u64);
    for file in &program.files {
        text.put(w, Stream::TextRef, file);
    }
    w.put(Stream::Unit, program.modules.len() as u64);
    let mut history = History::default();
    for module in &program.modules {
        text.put(w, Stream::TextRef, &module.name);
        w.put(Stream::Unit, module.functions.len() as u64);
        let mut context = Context::default();
        for function in &module.functions {
            write_function(function, w, text, &mut context, &mut history);
        }
    }
}

pub(super) fn read(r: &mut Reader<'_>, text: &mut TextCursor) -> Result<ProgramMap, MapError> {
    let name = text.get(r, Stream::TextRef)?;
    let target = text.get(r, Stream::TextRef)?;
    let files = (0..r.get_count(Stream::Unit, Stream::TextRef)?)
        .map(|_| text.get(r, Stream::TextRef))
        .collect::<Result<_, _>>()?;
    let mut modules = Vec::new();
    let mut history = History::default();
    for _ in 0..r.get_count(Stream::Unit, Stream::TextRef)? {
        let name = text.get(r, Stream::TextRef)?;
        let count = r.get_count(Stream::Unit, Stream::Function)?;
        let mut context = Context::default();
        let functions =
            (0..count).map(|_| read_function(r, text, &mut context, &mut history)).collect::<Result<_, _>>()?;
        modules.push(Module { name, functions, covered: Vec::new() });
    }
    Ok(ProgramMap { name, target, build: Build::default(), files, checksums: Checksums::new(), modules })
}

/// What is carried from one function of a module to the next.
#[derive(Default)]
struct Context {
    position: LastPosition,
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
    w: &mut Writer,
    text: &mut TextWriter<'a>,
    context: &mut Context,
    history: &mut History,
) {
    let regular = edges::are_regular(function);
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
                    Doubt::OptimisedBefore => 3,
                },
            );
        }
    }
    w.put(Stream::Function, function.blocks.len() as u64);
    w.put(Stream::Function, function.sites().len() as u64);
    w.put(Stream::Function, function.inlined.len() as u64);
    let mut lines = LineWriter::new(symbol, context.position, history);
    for copy in &function.inlined {
        lines.write_copy(copy, w, text);
    }
    calls::write_sites(function.sites(), w, text, &mut context.probe);
    write_blocks(function, &calls::sites_per_block(function.blocks.len(), function.sites()), &mut lines, w);
    calls::write_others(function, w, text);
    if regular {
        edges::write(function, w);
    } else {
        edges::write_odd(&function.edges, w);
    }
}

fn read_function(
    r: &mut Reader<'_>,
    text: &mut TextCursor,
    context: &mut Context,
    history: &mut History,
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
                3 => Doubt::OptimisedBefore,
                _ => return Err(MapError::Invalid("no such doubt")),
            });
        }
    }
    let block_count = r.get_count(Stream::Function, Stream::Plain)?;
    let site_count = r.get_count(Stream::Function, Stream::SiteFlags)?;
    let inlined_count = r.get_count(Stream::Function, Stream::Inlined)?;
    let mut lines = LineReader::new(number, context.position, history);
    let inlined = (0..inlined_count).map(|_| lines.read_copy(r, text)).collect::<Result<_, _>>()?;
    let sites = calls::read_sites(site_count, r, text, &mut context.probe)?;
    if sites.iter().any(|s| s.block.index() >= block_count) {
        return Err(MapError::Invalid("a call site stands in no block"));
    }
    let blocks = read_blocks(&calls::sites_per_block(block_count, sites.iter()), &mut lines, r)?;
    let calls = calls::read_others(sites, &blocks, r, text)?;
    let edges = if flags & ODD_EDGES == 0 { edges::read(block_count, r)? } else { edges::read_odd(r)? };
    let address_taken = flags & ADDRESS_TAKEN != 0;
    Ok(Function {
        symbol,
        linkage,
        address_taken,
        position,
        blocks: blocks.into(),
        edges: edges.into(),
        calls,
        accesses: Vec::new(),
        left_out: Vec::new(),
        anchors: Vec::new(),
        inlined,
        untouched,
        doubts,
    })
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
        blocks.push(BlockFacts { instructions, lines: lines.read_block(r)?, runs: Vec::new() });
    }
    Ok(blocks)
}
