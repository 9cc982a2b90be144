//! Plans: what each counter measures and where its probe stands.
//!
//! Nearly every plan is a list of counters with one probe each, at a place that follows from what it measures: such a
//! plan is two small numbers per counter. Any other plan is kept in full (postcard).

use super::MapError;
use super::streams::{Reader, Stream, Writer};
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::ids::{Block, Counter, Edge};
use cotree_core::plan::{FunctionPlan, Measure, Method, UnitPlan};
use cotree_core::probe::{Place, PlacedProbe, Probe};

const METHODS: [Method; 5] = [Method::None, Method::Edge, Method::Block, Method::Vertex, Method::VertexEdge];

pub(super) fn write(plan: &UnitPlan, program: &ProgramMap, w: &mut Writer) {
    w.put(Stream::Unit, METHODS.iter().position(|&m| m == plan.method).expect("all are listed") as u64);
    w.put(Stream::Unit, u64::from(plan.check.is_some()));
    for plans in std::iter::once(&plan.functions).chain(plan.check.as_ref()) {
        w.put(Stream::Unit, plans.len() as u64);
        let mut functions = program.functions();
        for plan in plans {
            write_plan(plan, functions.next().map(|(_, f)| f), w);
        }
    }
}

pub(super) fn read(r: &mut Reader<'_>, program: &ProgramMap) -> Result<UnitPlan, MapError> {
    let method = usize::try_from(r.get(Stream::Unit)?).ok().and_then(|m| METHODS.get(m)).copied();
    let method = method.ok_or(MapError::Invalid("no such method"))?;
    let checked = match r.get(Stream::Unit)? {
        0 => false,
        1 => true,
        _ => return Err(MapError::Invalid("a flag is neither 0 nor 1")),
    };
    let functions = read_plans(r, program)?;
    let check = if checked { Some(read_plans(r, program)?) } else { None };
    Ok(UnitPlan { method, functions, check })
}

fn read_plans(r: &mut Reader<'_>, program: &ProgramMap) -> Result<Vec<FunctionPlan>, MapError> {
    let count = r.get_count(Stream::Unit, Stream::ProbeKind)?;
    if count != program.functions().count() {
        return Err(MapError::Invalid("there is not one plan per function"));
    }
    program.functions().map(|(_, f)| read_plan(f, r)).collect()
}

/// A counter whose probe is where one expects it, given what it measures.
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
    fn of_edge(self) -> bool {
        !matches!(self, Self::AtBlockStart | Self::AtBlockEnd)
    }

    /// The counter's measure and probe, for the edge or block number `id`.
    fn expand(self, counter: Counter, id: u32, function: &Function) -> Option<(Measure, PlacedProbe)> {
        let edge = || {
            let exit_edge = Edge::new(function.edges.len());
            match function.edges.get(id as usize) {
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

fn write_plan(plan: &FunctionPlan, function: Option<&Function>, w: &mut Writer) {
    let usual = function.filter(|_| plan.probes.len() == plan.measures.len()).and_then(|function| {
        let counters = plan.measures.iter().zip(&plan.probes).enumerate();
        counters.map(|(i, (&measure, &probe))| Usual::find(Counter::new(i), measure, probe, function)).collect::<Option<Vec<_>>>()
    });
    let Some(usual) = usual else {
        w.put(Stream::ProbeKind, 1);
        let bytes = postcard::to_stdvec(plan).expect("plain data in memory");
        w.put(Stream::OddPlan, bytes.len() as u64);
        w.put_bytes(Stream::OddPlan, &bytes);
        return;
    };
    w.put(Stream::ProbeKind, usual.len() as u64 * 2);
    let (mut edge, mut block) = (0, 0);
    for (kind, id) in usual {
        w.put(Stream::ProbeKind, USUAL.iter().position(|&u| u == kind).expect("all are listed") as u64);
        let last = if kind.of_edge() { &mut edge } else { &mut block };
        w.put_step(Stream::ProbeId, *last, id);
        *last = id;
    }
}

fn read_plan(function: &Function, r: &mut Reader<'_>) -> Result<FunctionPlan, MapError> {
    let count = r.get(Stream::ProbeKind)?;
    if count == 1 {
        let length = r.get_count(Stream::OddPlan, Stream::OddPlan)?;
        let bytes = r.get_bytes(Stream::OddPlan, length)?;
        return postcard::from_bytes(bytes).map_err(|_| MapError::Invalid("a plan does not unpack"));
    }
    let count = usize::try_from(count / 2).ok().filter(|&n| count % 2 == 0 && n <= r.left(Stream::ProbeId));
    let count = count.ok_or(MapError::Invalid("a plan has more counters than its stream"))?;
    let mut plan = FunctionPlan { probes: Vec::with_capacity(count), measures: Vec::with_capacity(count) };
    let (mut edge, mut block) = (0, 0);
    for index in 0..count {
        let kind = usize::try_from(r.get(Stream::ProbeKind)?).ok().and_then(|k| USUAL.get(k)).copied();
        let kind = kind.ok_or(MapError::Invalid("no such kind of probe"))?;
        let last = if kind.of_edge() { &mut edge } else { &mut block };
        *last = r.get_step(Stream::ProbeId, *last)?;
        let counter = kind.expand(Counter::new(index), *last, function);
        let (measure, probe) = counter.ok_or(MapError::Invalid("a counter measures no edge"))?;
        plan.measures.push(measure);
        plan.probes.push(probe);
    }
    Ok(plan)
}
