//! Modules and functions: graphs, instruction counts, source lines, call sites.

use super::MapError;
use super::streams::{Reader, Stream, Writer};
use super::text::{TextCursor, TextWriter};
use cotree_core::facts::{
    BlockFacts, CallSite, Callee, Doubt, EdgeFacts, EdgeKind, Function, Inlined, InstructionCounts, LineSpan, Linkage, Module,
    Position, ProgramMap, Untouched,
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
    for module in &program.modules {
        text.put(w, Stream::TextRef, &module.name);
        w.put(Stream::Unit, module.functions.len() as u64);
        let mut context = Context::default();
        for function in &module.functions {
            write_function(function, w, text, &mut context);
        }
    }
}

pub(super) fn read(r: &mut Reader<'_>, text: &mut TextCursor) -> Result<ProgramMap, MapError> {
    let name = text.get(r, Stream::TextRef)?;
    let target = text.get(r, Stream::TextRef)?;
    let files = (0..r.get_count(Stream::Unit, Stream::TextRef)?).map(|_| text.get(r, Stream::TextRef)).collect::<Result<_, _>>()?;
    let mut modules = Vec::new();
    for _ in 0..r.get_count(Stream::Unit, Stream::TextRef)? {
        let name = text.get(r, Stream::TextRef)?;
        let count = r.get_count(Stream::Unit, Stream::Function)?;
        let mut context = Context::default();
        let functions = (0..count).map(|_| read_function(r, text, &mut context)).collect::<Result<_, _>>()?;
        modules.push(Module { name, functions });
    }
    Ok(ProgramMap { name, target, files, modules })
}

/// What is carried from one function of a module to the next.
#[derive(Default)]
struct Context {
    position: Place,
    probe: u16,
}

/// A position to write the next one relative to.
#[derive(Clone, Copy, Default)]
struct Place {
    file: u32,
    line: u32,
}

const LINKAGE: u64 = 0b11;
const ADDRESS_TAKEN: u64 = 1 << 2;
const POSITION: u64 = 1 << 3;
const UNTOUCHED: u64 = 1 << 4;
const DOUBTS: u64 = 1 << 5;
const ODD_EDGES: u64 = 1 << 6;

fn write_function<'a>(function: &'a Function, w: &mut Writer, text: &mut TextWriter<'a>, context: &mut Context) {
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
    text.put(w, Stream::TextRef, &function.symbol);
    if let Some(position) = function.position {
        write_position(position, &mut context.position, w, Stream::Function);
    }
    if let Some(untouched) = function.untouched {
        w.put(Stream::Function, untouched_number(untouched));
    }
    if !function.doubts.is_empty() {
        w.put(Stream::Function, function.doubts.len() as u64);
        for doubt in &function.doubts {
            w.put(Stream::Function, match doubt {
                Doubt::UnmappedCallSites => 0,
                Doubt::BuiltinSetjmp => 1,
            });
        }
    }
    w.put(Stream::Function, function.blocks.len() as u64);
    w.put(Stream::Function, function.sites.len() as u64);
    w.put(Stream::Function, function.inlined.len() as u64);
    for copy in &function.inlined {
        text.put(w, Stream::TextRef, &copy.symbol);
        w.put(Stream::Inlined, copy.parent.map_or(0, |p| u64::from(p) + 1));
        w.put(Stream::Inlined, u64::from(copy.call.is_some()));
        if let Some(call) = copy.call {
            write_position(call, &mut context.position, w, Stream::Inlined);
        }
    }
    write_sites(&function.sites, w, text, &mut context.probe);
    let calls = calls_of_sites(function.blocks.len(), &function.sites);
    write_blocks(function, &calls, context.position, w);
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

fn read_function(r: &mut Reader<'_>, text: &mut TextCursor, context: &mut Context) -> Result<Function, MapError> {
    let flags = r.get(Stream::Function)?;
    let linkage = match flags & LINKAGE {
        0 => Linkage::Internal,
        1 => Linkage::External,
        2 => Linkage::Copy,
        _ => return Err(MapError::Invalid("no such linkage")),
    };
    let symbol = text.get(r, Stream::TextRef)?;
    let position = if flags & POSITION != 0 { Some(read_position(r, &mut context.position, Stream::Function)?) } else { None };
    let untouched = if flags & UNTOUCHED != 0 { Some(untouched_of(r.get(Stream::Function)?)?) } else { None };
    let mut doubts = Vec::new();
    if flags & DOUBTS != 0 {
        for _ in 0..r.get_count(Stream::Function, Stream::Function)? {
            doubts.push(match r.get(Stream::Function)? {
                0 => Doubt::UnmappedCallSites,
                1 => Doubt::BuiltinSetjmp,
                _ => return Err(MapError::Invalid("no such doubt")),
            });
        }
    }
    let block_count = r.get_count(Stream::Function, Stream::Plain)?;
    let site_count = r.get_count(Stream::Function, Stream::SiteFlags)?;
    let inlined_count = r.get_count(Stream::Function, Stream::Inlined)?;
    let mut inlined = Vec::with_capacity(inlined_count);
    for _ in 0..inlined_count {
        let symbol = text.get(r, Stream::TextRef)?;
        let parent = r.get_u32(Stream::Inlined)?.checked_sub(1);
        let call = match r.get(Stream::Inlined)? {
            0 => None,
            1 => Some(read_position(r, &mut context.position, Stream::Inlined)?),
            _ => return Err(MapError::Invalid("a flag is neither 0 nor 1")),
        };
        inlined.push(Inlined { symbol, call, parent });
    }
    let sites = read_sites(site_count, r, text, &mut context.probe)?;
    if sites.iter().any(|s| s.block.index() >= block_count) {
        return Err(MapError::Invalid("a call site stands in no block"));
    }
    let calls = calls_of_sites(block_count, &sites);
    let blocks = read_blocks(&calls, inlined_count, context.position, r)?;
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
    Ok(Function { symbol, linkage, address_taken, position, blocks, edges, sites, inlined, untouched, doubts })
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

/// One number holds the file step, if any, and the column; the other the line step.
fn write_position(position: Position, last: &mut Place, w: &mut Writer, stream: Stream) {
    let moved = position.file != last.file;
    w.put(stream, u64::from(position.column) << 1 | u64::from(moved));
    if moved {
        w.put(stream, u64::from(position.file));
    }
    w.put_step(stream, last.line, position.line);
    *last = Place { file: position.file, line: position.line };
}

fn read_position(r: &mut Reader<'_>, last: &mut Place, stream: Stream) -> Result<Position, MapError> {
    let first = r.get(stream)?;
    let column = u32::try_from(first >> 1).map_err(|_| MapError::Invalid("a column has more than 32 bits"))?;
    let file = if first & 1 != 0 { r.get_u32(stream)? } else { last.file };
    let line = r.get_step(stream, last.line)?;
    *last = Place { file, line };
    Ok(Position { file, line, column })
}

const CALLEE: u64 = 0b11;
const TERMINATOR: u64 = 1 << 2;
const NO_RETURN: u64 = 1 << 3;
const RETURNS_TWICE: u64 = 1 << 4;
const RESUME_MARKER: u64 = 1 << 5;
/// The probe number is not the one after the last.
const PROBE: u64 = 1 << 6;

fn write_sites<'a>(sites: &'a [CallSite], w: &mut Writer, text: &mut TextWriter<'a>, probe: &mut u16) {
    let mut block = 0;
    for site in sites {
        let expected = probe.wrapping_add(1);
        let flag = |set: bool, bit: u64| if set { bit } else { 0 };
        let callee = match &site.callee {
            Callee::Symbol(_) => 0,
            Callee::Indirect => 1,
            Callee::Assembly => 2,
        };
        w.put(
            Stream::SiteFlags,
            callee
                | flag(site.terminator, TERMINATOR)
                | flag(site.no_return, NO_RETURN)
                | flag(site.returns_twice, RETURNS_TWICE)
                | flag(site.resume_marker, RESUME_MARKER)
                | flag(site.probe != expected, PROBE),
        );
        w.put_step(Stream::SiteBlock, block, site.block.0);
        block = site.block.0;
        if let Callee::Symbol(symbol) = &site.callee {
            text.put(w, Stream::Callee, symbol);
        }
        if site.probe != expected {
            w.put(Stream::SiteBlock, u64::from(site.probe));
        }
        *probe = site.probe;
    }
}

fn read_sites(count: usize, r: &mut Reader<'_>, text: &mut TextCursor, probe: &mut u16) -> Result<Vec<CallSite>, MapError> {
    let mut sites = Vec::with_capacity(count);
    let mut block = 0;
    for _ in 0..count {
        let flags = r.get(Stream::SiteFlags)?;
        block = r.get_step(Stream::SiteBlock, block)?;
        let callee = match flags & CALLEE {
            0 => Callee::Symbol(text.get(r, Stream::Callee)?),
            1 => Callee::Indirect,
            2 => Callee::Assembly,
            _ => return Err(MapError::Invalid("no such kind of callee")),
        };
        *probe = if flags & PROBE == 0 {
            probe.wrapping_add(1)
        } else {
            u16::try_from(r.get(Stream::SiteBlock)?).map_err(|_| MapError::Invalid("a probe number has more than 16 bits"))?
        };
        sites.push(CallSite {
            block: Block(block),
            callee,
            terminator: flags & TERMINATOR != 0,
            no_return: flags & NO_RETURN != 0,
            returns_twice: flags & RETURNS_TWICE != 0,
            resume_marker: flags & RESUME_MARKER != 0,
            probe: *probe,
        });
    }
    Ok(sites)
}

/// Call sites per block, markers left out: nearly always the number of its calls.
fn calls_of_sites(blocks: usize, sites: &[CallSite]) -> Vec<u32> {
    let mut calls = vec![0; blocks];
    for site in sites.iter().filter(|s| !s.resume_marker) {
        if let Some(calls) = calls.get_mut(site.block.index()) {
            *calls += 1;
        }
    }
    calls
}

const SAME_INLINED: u64 = 1;
const SAME_FILE: u64 = 1 << 1;
const SAME_SITES: u64 = 1 << 2;
const SAME_COLUMN: u64 = 1 << 3;
const NEXT_LINE: u64 = 1 << 4;

/// Where the previous span of the same inlined copy stood.
struct Trail {
    places: Vec<(Place, u32)>,
    inlined: Option<u32>,
}

impl Trail {
    /// Slot 0 is the function itself, slot `i + 1` the inlined copy `i`.
    fn new(inlined: usize, start: Place) -> Self {
        Self { places: vec![(start, 0); inlined + 1], inlined: None }
    }

    fn slot(&mut self, inlined: Option<u32>) -> Option<&mut (Place, u32)> {
        self.places.get_mut(inlined.map_or(0, |i| i as usize + 1))
    }
}

fn write_blocks(function: &Function, calls: &[u32], start: Place, w: &mut Writer) {
    let mut trail = Trail::new(function.inlined.len(), start);
    for (block, &sites) in function.blocks.iter().zip(calls) {
        let n = block.instructions;
        let special = i64::from(n.loads) + i64::from(n.stores) + i64::from(n.calls) + i64::from(n.float);
        w.put_signed(Stream::Plain, i64::from(n.total) - special);
        w.put(Stream::Loads, u64::from(n.loads));
        w.put(Stream::Stores, u64::from(n.stores));
        w.put_step(Stream::Calls, sites, n.calls);
        w.put(Stream::Float, u64::from(n.float));
        w.put(Stream::SpanCount, block.lines.len() as u64);
        let mut after = 0;
        for span in &block.lines {
            write_span(span, &mut trail, &mut after, w);
        }
    }
}

fn write_span(span: &LineSpan, trail: &mut Trail, after: &mut u32, w: &mut Writer) {
    let same_inlined = span.inlined == trail.inlined;
    trail.inlined = span.inlined;
    let mut outside = (Place::default(), 0);
    let (last, last_column) = trail.slot(span.inlined).unwrap_or(&mut outside);
    let same_file = span.at.file == last.file;
    let same_sites = span.after_sites == *after;
    let same_column = span.at.column == *last_column;
    let next_line = last.line.checked_add(1) == Some(span.at.line);
    let flag = |set: bool, bit: u64| if set { bit } else { 0 };
    w.put(
        Stream::SpanFlags,
        flag(same_inlined, SAME_INLINED)
            | flag(same_file, SAME_FILE)
            | flag(same_sites, SAME_SITES)
            | flag(same_column, SAME_COLUMN)
            | flag(next_line, NEXT_LINE),
    );
    if !same_inlined {
        w.put(Stream::SpanContext, span.inlined.map_or(0, |i| u64::from(i) + 1));
    }
    if !same_file {
        w.put(Stream::SpanContext, u64::from(span.at.file));
    }
    if !same_sites {
        w.put_step(Stream::SpanContext, *after, span.after_sites);
    }
    if !same_column {
        w.put(Stream::Column, u64::from(span.at.column));
    }
    if !next_line {
        w.put_step(Stream::Line, last.line, span.at.line);
    }
    *after = span.after_sites;
    (*last, *last_column) = (Place { file: span.at.file, line: span.at.line }, span.at.column);
}

fn read_blocks(calls: &[u32], inlined: usize, start: Place, r: &mut Reader<'_>) -> Result<Vec<BlockFacts>, MapError> {
    let mut trail = Trail::new(inlined, start);
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
        let count = r.get_count(Stream::SpanCount, Stream::SpanFlags)?;
        let mut lines = Vec::with_capacity(count);
        let mut after = 0;
        for _ in 0..count {
            lines.push(read_span(&mut trail, &mut after, r)?);
        }
        blocks.push(BlockFacts { instructions: InstructionCounts { total, loads, stores, calls, float }, lines });
    }
    Ok(blocks)
}

fn read_span(trail: &mut Trail, after: &mut u32, r: &mut Reader<'_>) -> Result<LineSpan, MapError> {
    let flags = r.get(Stream::SpanFlags)?;
    if flags & SAME_INLINED == 0 {
        trail.inlined = r.get_u32(Stream::SpanContext)?.checked_sub(1);
    }
    let inlined = trail.inlined;
    let (last, last_column) = trail.slot(inlined).ok_or(MapError::Invalid("a line belongs to no inlined copy"))?;
    let file = if flags & SAME_FILE != 0 { last.file } else { r.get_u32(Stream::SpanContext)? };
    if flags & SAME_SITES == 0 {
        *after = r.get_step(Stream::SpanContext, *after)?;
    }
    let column = if flags & SAME_COLUMN != 0 { *last_column } else { r.get_u32(Stream::Column)? };
    let line = if flags & NEXT_LINE != 0 {
        last.line.checked_add(1).ok_or(MapError::Invalid("a line is out of range"))?
    } else {
        r.get_step(Stream::Line, last.line)?
    };
    (*last, *last_column) = (Place { file, line }, column);
    Ok(LineSpan { at: Position { file, line, column }, inlined, after_sites: *after })
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
        [EdgeFacts { kind: K::Default, .. }, ..] if kinds().skip(1).all(|k| matches!(k, K::Case(_) | K::Cases(..))) => shape::SWITCH,
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
