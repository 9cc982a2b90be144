//! Edges of functions: per block a shape, which says what its terminator is, and what the shape leaves open.

use super::MapError;
use super::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{EdgeFacts, EdgeKind, Function};
use cotree_core::ids::Block;

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
pub(super) fn are_regular(function: &Function) -> bool {
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

pub(super) fn write(function: &Function, w: &mut Writer) {
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

pub(super) fn read(blocks: usize, r: &mut Reader<'_>) -> Result<Vec<EdgeFacts>, MapError> {
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

/// Edges that are not regular, one by one.
pub(super) fn write_odd(edges: &[EdgeFacts], w: &mut Writer) {
    w.put(Stream::Function, edges.len() as u64);
    for edge in edges {
        w.put(Stream::Case, u64::from(edge.src.0));
        w.put(Stream::Case, u64::from(edge.dst.0));
        w.put(Stream::Case, u64::from(edge.successor));
        write_kind(edge.kind, &mut 0, w);
    }
}

pub(super) fn read_odd(r: &mut Reader<'_>) -> Result<Vec<EdgeFacts>, MapError> {
    let count = r.get_count(Stream::Function, Stream::Case)?;
    let mut edges = Vec::with_capacity(count);
    for _ in 0..count {
        let src = Block(r.get_u32(Stream::Case)?);
        let dst = Block(r.get_u32(Stream::Case)?);
        let successor = r.get_u32(Stream::Case)?;
        edges.push(EdgeFacts { src, dst, kind: read_kind(&mut 0, r)?, successor });
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
