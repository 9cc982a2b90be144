//! Plans of counters: what each counter measures and where its probe is.
//!
//! Nearly every plan has one probe per counter, at a place that follows from what it measures, and measures edges in
//! their order: a bit per edge and a small number per counter say it all. Edges of one kind are measured about equally
//! often, so the bits are grouped by kind, over all functions. If the counters have another order, each is two small
//! numbers. Any other plan is kept in full (postcard).

use crate::map::MapError;
use crate::map::sections::Stream;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::{EdgeKind, Function, ProgramMap};
use cotree_core::ids::{Block, Counter, Edge};
use cotree_core::plan::{CounterKey, CounterPlan, Measure};
use cotree_core::probe::{Place, PlacedProbe, Probe};

/// How a plan is written.
mod form {
    /// A bit per edge.
    pub(super) const BITS: u64 = 0;
    /// A list of counters; their number follows.
    pub(super) const LIST: u64 = 1;
    /// In full.
    pub(super) const ODD: u64 = 2;
}

pub(super) fn write(plans: &[CounterPlan], program: &ProgramMap, w: &mut Writer) {
    w.put(Stream::PlanCount, plans.len() as u64);
    let mut functions = program.functions();
    let mut bits: Vec<Vec<bool>> = vec![Vec::new(); CLASSES];
    for plan in plans {
        write_plan(plan, functions.next().map(|(_, f)| f), &mut bits, w);
    }
    for class in bits {
        let byte = |bits: &[bool]| (0..).zip(bits).fold(0, |byte, (at, &bit)| byte | u8::from(bit) << at);
        let bytes: Vec<u8> = class.chunks(8).map(byte).collect();
        w.put_bytes(Stream::ProbeBits, &bytes);
    }
}

pub(super) fn read(r: &mut Reader<'_>, program: &ProgramMap) -> Result<Vec<CounterPlan>, MapError> {
    let count = r.get_count(Stream::PlanCount, Stream::PlanForm)?;
    if count != program.functions().count() {
        return Err(MapError::Invalid("there is not one plan per function"));
    }
    let forms: Vec<u64> = (0..count).map(|_| r.get(Stream::PlanForm)).collect::<Result<_, _>>()?;
    let mut sizes = [0usize; CLASSES];
    for ((_, function), _) in program.functions().zip(&forms).filter(|(_, form)| **form == form::BITS) {
        for edge in 0..=function.edges.len() {
            sizes[class(function, edge)] += 1;
        }
    }
    let mut bits = Vec::with_capacity(CLASSES);
    for size in sizes {
        let bytes = r.get_bytes(Stream::ProbeBits, size.div_ceil(8))?;
        bits.push((0..size).map(move |at| bytes[at / 8] >> (at % 8) & 1 == 1));
    }
    let plans = program.functions().zip(forms).map(|((_, function), form)| match form {
        form::BITS => read_bits(function, &mut bits, r),
        form::LIST => read_list(function, r),
        form::ODD => read_odd(r),
        _ => Err(MapError::Invalid("no such form of plan")),
    });
    plans.collect()
}

/// Classes of edges by kind, each for edges forward and backward.
const CLASSES: usize = 22;

fn class(function: &Function, edge: usize) -> usize {
    use EdgeKind as K;
    let Some(facts) = function.edges.get(Edge::new(edge)) else { return 20 };
    let kind = match facts.kind {
        K::Jump => 0,
        K::True => 1,
        K::False => 2,
        K::Case(_) | K::Cases(..) => 3,
        K::Default => 4,
        K::InvokeNormal => 5,
        K::InvokeUnwind => 6,
        K::Return => 7,
        K::Resume | K::Unreachable => 8,
        K::IndirectBranch | K::CallBrFallthrough | K::CallBrIndirect => 9,
    };
    2 * kind + usize::from(facts.dst <= facts.src)
}

/// The usual places of a counter's probe. Each follows from what the counter measures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Usual {
    OnEdge,
    AtTarget,
    BeforeTerminator,
    IfTaken,
    AtBlockStart,
    AtBlockEnd,
}

const USUAL: [Usual; 6] =
    [Usual::OnEdge, Usual::AtTarget, Usual::BeforeTerminator, Usual::IfTaken, Usual::AtBlockStart, Usual::AtBlockEnd];

impl Usual {
    fn number(self) -> u64 {
        USUAL.iter().position(|&u| u == self).expect("all are listed") as u64
    }

    fn from_number(number: u64) -> Result<Self, MapError> {
        let usual = usize::try_from(number).ok().and_then(|n| USUAL.get(n)).copied();
        usual.ok_or(MapError::Invalid("no such kind of probe"))
    }

    fn of_edge(self) -> bool {
        !matches!(self, Self::AtBlockStart | Self::AtBlockEnd)
    }

    /// The counter's measure and probe, for the edge or block number `id`.
    fn expand(self, counter: Counter, id: u32, function: &Function) -> Option<(Measure, PlacedProbe)> {
        let edge = || {
            let exit_edge = Edge::new(function.edges.len());
            match function.edges.get(Edge(id)) {
                Some(facts) => Some((facts.src, facts.dst)),
                None => (Edge(id) == exit_edge).then_some((function.exit(), Block(0))),
            }
        };
        let count = |place| PlacedProbe { place, probe: Probe::Count(counter) };
        Some(match self {
            Self::OnEdge => (Measure::Edge(Edge(id)), count(Place::Edge(Edge(id)))),
            Self::AtTarget => (Measure::Edge(Edge(id)), count(Place::Start(edge()?.1))),
            Self::BeforeTerminator => (Measure::Edge(Edge(id)), count(Place::End(edge()?.0))),
            Self::IfTaken => {
                let probe = Probe::CountIfTaken(counter, Edge(id));
                (Measure::Edge(Edge(id)), PlacedProbe { place: Place::End(edge()?.0), probe })
            }
            Self::AtBlockStart => (Measure::Block(Block(id)), count(Place::Start(Block(id)))),
            Self::AtBlockEnd => (Measure::Block(Block(id)), count(Place::End(Block(id)))),
        })
    }

    fn find(counter: Counter, measure: Measure, probe: PlacedProbe, function: &Function) -> Option<(Self, u32)> {
        let id = match measure {
            Measure::Edge(edge) => edge.0,
            Measure::Block(block) => block.0,
        };
        let usual = USUAL.into_iter().find(|u| u.expand(counter, id, function) == Some((measure, probe)));
        usual.map(|u| (u, id))
    }
}

/// The facts that decide the usual place of an edge's counter.
struct Surroundings<'a> {
    function: &'a Function,
    edges_out: Vec<u32>,
    edges_in: Vec<u32>,
    /// The block ends in a call (an invoke).
    calls_last: Vec<bool>,
    /// The block's first edge out.
    first_out: Vec<u32>,
}

impl<'a> Surroundings<'a> {
    fn new(function: &'a Function) -> Self {
        let blocks = function.blocks.len() + 1;
        let mut around = Self {
            function,
            edges_out: vec![0; blocks],
            edges_in: vec![0; blocks],
            calls_last: vec![false; blocks],
            first_out: vec![u32::MAX; blocks],
        };
        // The virtual edge from EXIT to the entry.
        around.edges_in[0] += 1;
        for (edge, index) in function.edges.iter().zip(0u32..) {
            if edge.src.index() < blocks && edge.dst.index() < blocks {
                around.edges_out[edge.src.index()] += 1;
                around.edges_in[edge.dst.index()] += 1;
                let first = &mut around.first_out[edge.src.index()];
                *first = (*first).min(index);
            }
        }
        for site in function.sites().filter(|s| s.terminator && s.block.index() < blocks) {
            around.calls_last[site.block.index()] = true;
        }
        around
    }

    /// Where the counter of an edge stands if nothing is special.
    fn expected(&self, edge: usize) -> Usual {
        let Some(facts) = self.function.edges.get(Edge::new(edge)) else { return Usual::AtTarget };
        let (src, dst) = (facts.src.index(), facts.dst.index());
        if src >= self.edges_out.len() || dst >= self.edges_out.len() {
            Usual::OnEdge
        } else if self.edges_out[src] == 1 && !self.calls_last[src] {
            Usual::BeforeTerminator
        } else if facts.dst != self.function.exit() && self.edges_in[dst] == 1 {
            Usual::AtTarget
        } else if facts.kind.splittable() {
            Usual::OnEdge
        } else {
            Usual::IfTaken
        }
    }

    /// The edge that stands for a counter: of a block it is the first edge out.
    fn edge_of(&self, usual: Usual, id: u32) -> Option<u32> {
        if usual.of_edge() {
            return Some(id);
        }
        self.first_out.get(id as usize).copied().filter(|&e| e != u32::MAX)
    }
}

fn write_plan(plan: &CounterPlan, function: Option<&Function>, bits: &mut [Vec<bool>], w: &mut Writer) {
    let usual = function.filter(|_| plan.probes.len() == plan.key.measures.len()).and_then(|function| {
        let counters = plan.key.measures.iter().zip(&plan.probes).enumerate();
        let usual = counters.map(|(i, (&measure, &probe))| Usual::find(Counter::new(i), measure, probe, function));
        Some((function, usual.collect::<Option<Vec<_>>>()?))
    });
    let Some((function, usual)) = usual else {
        w.put(Stream::PlanForm, form::ODD);
        let bytes = postcard::to_stdvec(plan).expect("plain data in memory");
        w.put(Stream::OddPlan, bytes.len() as u64);
        w.put_bytes(Stream::OddPlan, &bytes);
        return;
    };
    let around = Surroundings::new(function);
    let edges: Option<Vec<u32>> = usual.iter().map(|&(kind, id)| around.edge_of(kind, id)).collect();
    if let Some(edges) = edges.filter(|edges| edges.is_sorted_by(|a, b| a < b)) {
        w.put(Stream::PlanForm, form::BITS);
        let mut next = edges.iter().copied().peekable();
        for edge in 0..=function.edges.len() {
            let measured = next.next_if(|&e| e as usize == edge).is_some();
            bits[class(function, edge)].push(measured);
        }
        for (&(kind, _), &edge) in usual.iter().zip(&edges) {
            let expected = kind == around.expected(edge as usize);
            w.put(Stream::ProbeKind, if expected { 0 } else { 1 + kind.number() });
        }
        return;
    }
    w.put(Stream::PlanForm, form::LIST);
    w.put(Stream::ProbeKind, usual.len() as u64);
    let (mut edge, mut block) = (0, 0);
    for (kind, id) in usual {
        w.put(Stream::ProbeKind, kind.number());
        let last = if kind.of_edge() { &mut edge } else { &mut block };
        w.put_step(Stream::ProbeId, *last, id);
        *last = id;
    }
}

fn add(plan: &mut CounterPlan, usual: Usual, id: u32, function: &Function) -> Result<(), MapError> {
    let counter = usual.expand(Counter::new(plan.key.measures.len()), id, function);
    let (measure, probe) = counter.ok_or(MapError::Invalid("a counter measures no edge"))?;
    plan.key.measures.push(measure);
    plan.probes.push(probe);
    Ok(())
}

fn read_bits(
    function: &Function,
    bits: &mut [impl Iterator<Item = bool>],
    r: &mut Reader<'_>,
) -> Result<CounterPlan, MapError> {
    let around = Surroundings::new(function);
    let mut plan = CounterPlan::default();
    for edge in 0..=function.edges.len() {
        if !bits[class(function, edge)].next().expect("as many bits as edges") {
            continue;
        }
        let kind = match r.get(Stream::ProbeKind)? {
            0 => around.expected(edge),
            number => Usual::from_number(number - 1)?,
        };
        let id = if kind.of_edge() {
            u32::try_from(edge).map_err(|_| MapError::Invalid("too many edges"))?
        } else {
            function.edges.get(Edge::new(edge)).ok_or(MapError::Invalid("a counter measures no block"))?.src.0
        };
        add(&mut plan, kind, id, function)?;
    }
    Ok(plan)
}

fn read_list(function: &Function, r: &mut Reader<'_>) -> Result<CounterPlan, MapError> {
    let count = r.get_count(Stream::ProbeKind, Stream::ProbeId)?;
    let key = CounterKey { measures: Vec::with_capacity(count), ..CounterKey::default() };
    let mut plan = CounterPlan { probes: Vec::with_capacity(count), key };
    let (mut edge, mut block) = (0, 0);
    for _ in 0..count {
        let kind = Usual::from_number(r.get(Stream::ProbeKind)?)?;
        let last = if kind.of_edge() { &mut edge } else { &mut block };
        *last = r.get_step(Stream::ProbeId, *last)?;
        add(&mut plan, kind, *last, function)?;
    }
    Ok(plan)
}

fn read_odd(r: &mut Reader<'_>) -> Result<CounterPlan, MapError> {
    let length = r.get_count(Stream::OddPlan, Stream::OddPlan)?;
    let bytes = r.get_bytes(Stream::OddPlan, length)?;
    postcard::from_bytes(bytes).map_err(|_| MapError::Invalid("a plan does not unpack"))
}
