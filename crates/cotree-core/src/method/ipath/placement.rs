//! Puts the probes that keep the numbers of paths where they belong (Melski & Reps 1998, §5.5 and §6.3).
//!
//! A caller writes the number of its path so far and numValidCompsFromExit of its callee into two words of the thread's
//! slab, just before the call; the callee reads them first of all. Before it returns, it writes the number with which
//! the path comes back, and the caller reads that just behind the call. What other code enters in between gives the
//! words back. At other calls of that callee the caller writes where the paths of Entry_global to it begin, and counts
//! the path that comes back. A callee that other code may call ([`Entry::Open`]) does both by itself where no caller
//! names it in a third word.
//!
//! Before each call in which the activation may end, a register gets the number of the path that ends there
//! ([`super::NOTED`]), for whoever walks the dying stack.
//!
//! In a piecewise profile the callee also says whether the path that comes back is the one that it was called with
//! (cntOpenLfParens is not 0): one bit per activation is enough, since a path that begins in an activation, or in a
//! callee of it, is never one that the activation was called with.
//!
//! Where a metric is added up, the total when the path began is a register of its own, which goes the way of the
//! number.

use super::graph::{Arc, ENTRY, FlowGraph, GENTRY, Node, Role};
use super::increments::{Increments, Sums, value};
use super::numbering::{FunctionNumbers, Numbering, only_paths};
use super::supergraph::FunctionInput;
use super::types::{
    ADDRESSEE, ANY, AtCall, BEGAN, CAME_BACK, COMPLETIONS, Entry, FunctionKey, IN_ARRAY, NOTED, NUMBER, SoFar, Target,
    address_plus, mark,
};
use crate::facts::EdgeKind;
use crate::ids::{Block, CallId, Edge, FunctionId, IdMap, Table, Word};
use crate::method::path::classes::{Class, EdgeClasses};
use crate::probe::{Place, PlacedProbe, Probe, Reg};

const SUM: Reg = Reg::CallPathSum;
const FACTOR: Reg = Reg::CallPathFactor;
const CLAIMED: Reg = Reg::CallClaimed;

/// The words that are kept for code that is interrupted; the last one where a metric is added up.
const KEPT: [Word; 4] = [NUMBER, COMPLETIONS, ADDRESSEE, BEGAN];

/// Reads how much was added up along the activation's path, and begins the next one.
const METER: Probe = Probe::Meter { amount: Reg::CallAmount, since: Reg::CallBegan };
/// Reads that for a path which is not the activation's own.
const METER_OTHERS: Probe = Probe::Meter { amount: Reg::CallAmount, since: Reg::CallOthersBegan };

/// The probes of a function, and what registers say of the path in each stretch of its blocks. `keeps`: the function
/// keeps the words ([`super::supergraph::keeps_words`]). `direct` says per function whether all paths that end there
/// have a word of the slab, `metered` whether a metric is added up.
pub(super) fn place(
    numbering: &Numbering,
    function: FunctionId,
    (at, keeps): (&FunctionInput<'_>, bool),
    key: &FunctionKey,
    (direct, metered): (&[bool], bool),
) -> (Vec<PlacedProbe>, Vec<SoFar>) {
    let Some(numbers) = numbering.of(function) else { return Default::default() };
    let classes = EdgeClasses::new(at.function, &at.cfg);
    let increments = Increments::new(numbers, &classes, &at.weighting);
    let placer = Placer {
        numbering,
        function,
        numbers,
        at,
        increments,
        arcs: Arcs::new(&numbers.graph, at),
        known: only_paths(numbers),
        keeps,
        probes: Vec::new(),
        direct,
        metered,
    };
    let so_far = placer.so_far();
    (placer.run(&classes, key), so_far)
}

/// Arcs by what they stand for.
struct Arcs {
    enter: Option<Arc>,
    /// On the edge itself, of any kind.
    on_edge: IdMap<Edge, Option<Arc>>,
    begin_after_edge: IdMap<Block, Option<Arc>>,
    /// In front of a block's body: the end, then the beginning.
    at_start: IdMap<Block, Vec<Arc>>,
    /// Per call: on which a path ends before it or crosses it, and on which one begins behind it or it descends.
    at_call: IdMap<CallId, [Option<Arc>; 2]>,
}

impl Arcs {
    fn new(graph: &FlowGraph, at: &FunctionInput<'_>) -> Self {
        let mut arcs = Self {
            enter: None,
            on_edge: at.cfg.per_edge(None),
            begin_after_edge: at.cfg.per_block(None),
            at_start: at.cfg.per_block(Vec::new()),
            at_call: IdMap::filled([None; 2], at.function.calls.len()),
        };
        for arc in 0..graph.arc_count() {
            match graph.role(arc) {
                Role::Enter => arcs.enter = Some(arc),
                Role::Real(edge) | Role::Return(edge) | Role::EndOnEdge(edge) | Role::BeginOnEdge(edge) => {
                    arcs.on_edge[edge] = Some(arc);
                }
                Role::BeginAfterEdge(block) => arcs.begin_after_edge[block] = Some(arc),
                Role::Inside(block) | Role::EndAtBlock(block) | Role::BeginAtBlock(block) => {
                    arcs.at_start[block].push(arc);
                }
                Role::Cross(call, _) | Role::EndAtCall(call) => arcs.at_call[call][0] = Some(arc),
                Role::BeginAfterCall(call) | Role::Descend(call, _) => arcs.at_call[call][1] = Some(arc),
                Role::ToDispatch(_) | Role::FromDispatch(_) => {}
            }
        }
        arcs
    }
}

struct Placer<'a> {
    numbering: &'a Numbering,
    function: FunctionId,
    numbers: &'a FunctionNumbers,
    at: &'a FunctionInput<'a>,
    increments: Increments,
    arcs: Arcs,
    /// Per node, the number of the only path to there, if there is but one.
    known: Vec<Option<u64>>,
    /// Saves the words, and gives them back.
    keeps: bool,
    probes: Vec<PlacedProbe>,
    /// Per function, whether all paths that end there have a word of the slab.
    direct: &'a [bool],
    /// Is a metric added up?
    metered: bool,
}

impl Placer<'_> {
    fn run(mut self, classes: &EdgeClasses, key: &FunctionKey) -> Vec<PlacedProbe> {
        let cfg = &self.at.cfg;
        let first = self.enter();
        self.put(Place::Start(Block(0)), first);
        for block in cfg.blocks().filter(|&b| b != cfg.exit()) {
            let mut here = Vec::new();
            if let [only] = cfg.preds(block)
                && classes.class(*only) == Class::Placeable(Place::Start(block))
            {
                here.extend(self.on_edge(*only));
            }
            for &arc in &self.arcs.at_start[block] {
                here.extend(self.on_arc(arc));
            }
            self.put(Place::Start(block), here);
        }
        for &(call, at_call) in &key.calls {
            let [before, behind] = self.at_call(call, at_call);
            self.put(Place::Call(call), before);
            if self.at.function.calls.get(call).is_some_and(crate::facts::Call::comes_back) {
                self.put(Place::After(call), behind);
            }
        }
        for edge in cfg.edges().filter(|&e| e != cfg.exit_edge()) {
            if let Class::Placeable(place @ (Place::End(_) | Place::Edge(_))) = classes.class(edge) {
                let here = self.on_edge(edge);
                self.put(place, here);
            }
        }
        self.probes
    }

    /// What registers say of the path in each stretch of the function's blocks.
    fn so_far(&self) -> Vec<SoFar> {
        let nodes = self.numbers.graph.nodes_of_stretches(self.at.function);
        let of = |node: Node| {
            let Sums { factor: times, constant: plus } = self.increments.query[node];
            match self.known[node] {
                Some(number) => SoFar::Known(number),
                None if self.is_called() => SoFar::Product { plus, times },
                None => SoFar::Sum(plus),
            }
        };
        nodes.into_iter().map(of).collect()
    }

    fn put(&mut self, place: Place, probes: Vec<Probe>) {
        self.probes.extend(probes.into_iter().map(|probe| PlacedProbe { place, probe }));
    }

    /// Is numValidCompsFromExit a register, and not 1?
    fn is_called(&self) -> bool {
        self.numbers.entry.is_called()
    }

    /// Does the activation find out whether its caller says with which path it calls?
    fn is_open(&self) -> bool {
        self.numbers.entry == Entry::Open
    }

    /// What an activation does first of all.
    fn enter(&self) -> Vec<Probe> {
        let Some(arc) = self.arcs.enter else { return Vec::new() };
        let Sums { factor, constant } = self.increments.arcs[arc];
        if !self.is_called() {
            let start = self.numbers.from_entry.unwrap_or(0).cast_signed();
            let mut probes: Vec<Probe> = if self.keeps { self.read_kept().collect() } else { Vec::new() };
            probes.push(Probe::constant(SUM, start.wrapping_add(constant)));
            probes.extend(self.meter());
            return probes;
        }
        let context = if self.numbering.piecewise { SUM } else { Reg::CallContext };
        let mut probes = Vec::new();
        if self.is_open() {
            let start = self.numbers.from_entry.unwrap_or(0).cast_signed();
            probes.push(Probe::Claim { to: CLAIMED, word: ADDRESSEE, mark: mark(self.function) });
            let elsewhere = Reg::CallElsewhere;
            if let Some((group, _)) = self.numbers.in_group {
                probes.push(Probe::ClaimByAddress { to: elsewhere, word: ADDRESSEE, plus: address_plus(group) });
                probes.push(Probe::SetUnless(CLAIMED, elsewhere, 1));
            }
            probes.extend(self.read_kept());
            if self.numbers.in_group.is_some() {
                probes.push(Probe::SetUnless(Reg::CallWord(ADDRESSEE), elsewhere, CAME_BACK));
            }
            for (register, word, alone) in
                [(context, NUMBER, start), (Reg::Completions, COMPLETIONS, self.numbers.alone.cast_signed())]
            {
                probes.push(Probe::copy(register, Reg::CallWord(word), 0));
                probes.push(Probe::SetUnless(register, CLAIMED, alone));
            }
            if let Some((_, before @ 1..)) = self.numbers.in_group {
                probes.push(Probe::AddUnless(context, elsewhere, before.cast_signed()));
            }
            if self.metered {
                let (began, others) = (Reg::CallBegan, Reg::CallOthersBegan);
                probes.extend([METER_OTHERS, Probe::copy(began, Reg::CallWord(BEGAN), 0)]);
                probes.push(Probe::CopyUnless { to: began, flag: CLAIMED, from: others });
            }
        } else {
            probes.extend([Probe::Read(context, NUMBER), Probe::Read(Reg::Completions, COMPLETIONS)]);
            probes.extend(self.metered.then_some(Probe::Read(Reg::CallBegan, BEGAN)));
        }
        if self.numbering.piecewise {
            probes.extend(add(SUM, constant));
            probes.push(Probe::constant(Reg::CallOpen, 1));
        } else {
            probes.push(Probe::copy(SUM, context, constant));
        }
        probes.push(Probe::constant(FACTOR, factor));
        probes
    }

    /// Where an activation returns that may have been called with a path, or has begun one.
    fn return_open(&self, plus: i64) -> Vec<Probe> {
        let table = self.table(self.function);
        let unless = |to, word| Probe::CopyUnless { to, flag: CLAIMED, from: Reg::CallWord(word) };
        let mut probes: Vec<Probe> = add(SUM, plus).into_iter().collect();
        if self.metered {
            probes.extend([Probe::copy(Reg::CallOthersBegan, Reg::CallBegan, 0), METER_OTHERS]);
        }
        probes.extend([Probe::CountPathUnless { table, reg: SUM, flag: CLAIMED }, unless(SUM, NUMBER)]);
        if self.metered {
            probes.extend([unless(Reg::CallBegan, BEGAN), write_back(BEGAN, Reg::CallBegan)]);
        }
        probes.push(write_back(NUMBER, SUM));
        if self.numbering.piecewise {
            probes.extend([unless(Reg::CallOpen, COMPLETIONS), write_back(COMPLETIONS, Reg::CallOpen)]);
        } else {
            probes.push(write_back(COMPLETIONS, Reg::CallWord(COMPLETIONS)));
        }
        probes.push(write_back(ADDRESSEE, Reg::CallWord(ADDRESSEE)));
        probes
    }

    /// A path begins with this surrogate.
    fn begin(&self, arc: Arc) -> Vec<Probe> {
        let Sums { factor, constant } = self.increments.arcs[arc];
        let called = self.is_called();
        if !self.numbering.piecewise {
            return match called {
                true => vec![Probe::copy(SUM, Reg::CallContext, constant), Probe::constant(FACTOR, factor)],
                false => {
                    let start = self.numbers.from_entry.unwrap_or(0).cast_signed();
                    vec![Probe::constant(SUM, start.wrapping_add(constant))]
                }
            };
        }
        let start = self.numbers.from_gentry.unwrap_or(0).cast_signed();
        let mut probes = vec![Probe::constant(SUM, start.wrapping_add(constant))];
        if called {
            probes.push(Probe::constant(FACTOR, factor));
            probes.push(Probe::constant(Reg::Completions, self.numbers.paths_from_exit.cast_signed()));
            probes.push(Probe::constant(Reg::CallOpen, 0));
        }
        probes
    }

    /// Sets [`NOTED`] to the sum of both sums and these.
    fn number(&self, Sums { factor, constant }: Sums) -> Vec<Probe> {
        let sum = Probe::copy(NOTED, SUM, constant);
        if !self.is_called() {
            return vec![sum];
        }
        let all = Reg::CallReturned;
        vec![
            sum,
            Probe::copy(all, FACTOR, factor),
            Probe::AddProduct { to: NOTED, factor: all, times: Reg::Completions },
        ]
    }

    /// Adds up both sums, which leaves the number less a constant, which is returned.
    fn add_up(&self, Sums { factor, constant }: Sums) -> (Vec<Probe>, i64) {
        let mut probes = Vec::new();
        if self.is_called() {
            probes.extend(add(FACTOR, factor));
            probes.push(Probe::AddProduct { to: SUM, factor: FACTOR, times: Reg::Completions });
        }
        (probes, constant)
    }

    /// Where a path is counted that ends in a function.
    fn table(&self, function: FunctionId) -> Table {
        if self.direct[function.index()] { IN_ARRAY } else { ANY }
    }

    fn count(&self, sums: Sums) -> Vec<Probe> {
        let (mut probes, constant) = self.add_up(sums);
        probes.extend(self.meter());
        probes.push(Probe::CountPath(self.table(self.function), SUM, constant));
        probes
    }

    /// Reads the metric along the activation's path, if there is one.
    fn meter(&self) -> Option<Probe> {
        self.metered.then_some(METER)
    }

    /// Reads the metric along a callee's path that has come back, if there is one.
    fn meter_returned(&self) -> impl Iterator<Item = Probe> + use<> {
        let probes = [Probe::Read(Reg::CallOthersBegan, BEGAN), METER_OTHERS];
        let metered = self.metered;
        probes.into_iter().filter(move |_| metered)
    }

    /// Lets a path begin now that a callee goes on with.
    fn begin_others(&self) -> impl Iterator<Item = Probe> + use<> {
        let probes = [METER_OTHERS, write_back(BEGAN, Reg::CallOthersBegan)];
        let metered = self.metered;
        probes.into_iter().filter(move |_| metered)
    }

    /// The words that are kept.
    fn kept(&self) -> impl Iterator<Item = Word> + use<> {
        let metered = self.metered;
        KEPT.into_iter().filter(move |&word| metered || word != BEGAN)
    }

    /// Notes what the words hold.
    fn read_kept(&self) -> impl Iterator<Item = Probe> + use<> {
        self.kept().map(|word| Probe::Read(Reg::CallWord(word), word))
    }

    fn on_arc(&self, arc: Arc) -> Vec<Probe> {
        let increment = self.increments.arcs[arc];
        let goes_on = || {
            let factor = if self.is_called() { increment.factor } else { 0 };
            add(SUM, increment.constant).into_iter().chain(add(FACTOR, factor)).collect()
        };
        match self.numbers.graph.role(arc) {
            Role::Real(_) | Role::Inside(_) => goes_on(),
            // What led there is known.
            Role::BeginOnEdge(_) if !matches!(self.numbers.graph.src(arc), ENTRY | GENTRY) => {
                let mut probes = goes_on();
                probes.extend(self.meter());
                probes
            }
            Role::EndOnEdge(_) | Role::EndAtBlock(_) | Role::EndAtCall(_) => self.count(increment),
            Role::Return(_) if !self.is_called() => {
                let back = self.kept().map(|word| write_back(word, Reg::CallWord(word)));
                let mut probes = self.count(increment);
                probes.extend(back.filter(|_| self.keeps));
                probes
            }
            Role::Return(_) if self.is_open() => {
                let (mut probes, plus) = self.add_up(increment);
                probes.extend(self.return_open(plus));
                probes
            }
            Role::Return(_) => {
                let (mut probes, plus) = self.add_up(increment);
                probes.push(Probe::Write { word: NUMBER, from: SUM, times: 1, plus });
                probes.extend(self.metered.then_some(write_back(BEGAN, Reg::CallBegan)));
                if self.numbering.piecewise {
                    probes.push(Probe::Write { word: COMPLETIONS, from: Reg::CallOpen, times: 1, plus: 0 });
                }
                probes
            }
            // Other paths have been read where the one before them ended.
            Role::BeginOnEdge(_) => {
                let mut probes = self.begin(arc);
                probes.extend(self.meter());
                probes
            }
            role if role.begins() => self.begin(arc),
            _ => Vec::new(),
        }
    }

    fn on_edge(&self, edge: Edge) -> Vec<Probe> {
        let Some(arc) = self.arcs.on_edge[edge] else { return Vec::new() };
        let mut probes = self.on_arc(arc);
        let (cfg, function) = (&self.at.cfg, self.at.function);
        let leaves =
            matches!(function.edges.get(edge).map(|facts| facts.kind), Some(EdgeKind::Resume | EdgeKind::Unreachable));
        if matches!(self.numbers.graph.role(arc), Role::EndOnEdge(_)) && !leaves {
            let begin = self.arcs.begin_after_edge[cfg.dst(edge)];
            probes.extend(begin.into_iter().flat_map(|begin| self.begin(begin)));
        }
        probes
    }

    /// What is done before and behind a call.
    fn at_call(&self, call: CallId, at_call: AtCall) -> [Vec<Probe>; 2] {
        let [first, begin] = self.arcs.at_call[call];
        match (at_call, first) {
            (AtCall::Cross(_), None) | (AtCall::Cut, None) => Default::default(),
            (AtCall::Cross(_), Some(arc)) => [self.before_crossing(arc), self.behind_crossing(call, arc)],
            (AtCall::Cut, Some(arc)) => {
                let begin = begin.into_iter().flat_map(|begin| self.begin(begin));
                [self.on_arc(arc), begin.chain(self.meter()).collect()]
            }
            (AtCall::Descend(_) | AtCall::Reach(_), end) => {
                begin.map_or_else(Default::default, |arc| self.descend(end, arc))
            }
            (AtCall::Begin(_) | AtCall::Pass, end) => {
                let unknown = end.filter(|&arc| self.known[self.numbers.graph.src(arc)].is_none());
                let mut before = unknown.map_or_else(Vec::new, |arc| self.number(self.increments.arcs[arc]));
                let mut behind = Vec::new();
                if let Some((id, callee)) = at_call.callee().and_then(|id| Some((id, self.numbering.of(id)?))) {
                    let start = callee.from_entry.unwrap_or(0).cast_signed();
                    before.push(write(NUMBER, start));
                    before.push(write(COMPLETIONS, callee.alone.cast_signed()));
                    before.extend(self.begin_others());
                    let returned = Reg::CallReturned;
                    behind.extend(self.meter_returned());
                    behind.extend([Probe::Read(returned, NUMBER), Probe::CountPath(self.table(id), returned, 0)]);
                }
                [before, behind]
            }
        }
    }

    /// What is done before and behind a call by which paths descend along `arc`; `end` is where they end if the
    /// activation does. Behind a call through a pointer it shows whether the callee has come back with a path. If not,
    /// the name may be there still, and goes now.
    fn descend(&self, end: Option<Arc>, arc: Arc) -> [Vec<Probe>; 2] {
        let Role::Descend(_, target) = self.numbers.graph.role(arc) else { return Default::default() };
        let src = self.numbers.graph.src(arc);
        let value = |arc: Arc| value(self.numbers, arc);
        let mut before = Vec::new();
        if let Some(known) = self.known[src] {
            before.push(write(NUMBER, known.cast_signed().wrapping_add(value(arc).constant)));
        } else {
            let noted = end.unwrap_or(arc);
            before.extend(self.number(self.increments.arcs[noted]));
            // Nothing but a path lies between the two: the one that ends there.
            let plus = value(arc).minus(value(noted)).constant;
            before.push(Probe::Write { word: NUMBER, from: NOTED, times: 1, plus });
        }
        before.push(write(COMPLETIONS, 1));
        before.extend(self.begin_others());
        let (returned, elsewhere) = (Reg::CallReturned, Reg::CallElsewhere);
        let mut behind: Vec<Probe> = self.meter_returned().collect();
        behind.push(Probe::Read(returned, NUMBER));
        match target {
            Target::Function(callee) => {
                before.extend(self.name(callee));
                behind.push(Probe::CountPath(self.table(callee), returned, 0));
            }
            Target::Group(group) => {
                before.push(Probe::NameCallee { word: ADDRESSEE, plus: address_plus(group) });
                let all_direct = self.numbering.groups.members(group).iter().all(|member| self.direct[member.index()]);
                let table = if all_direct { IN_ARRAY } else { ANY };
                behind.extend([Probe::Read(elsewhere, ADDRESSEE), Probe::Add(elsewhere, -CAME_BACK)]);
                behind.push(write(ADDRESSEE, 0));
                behind.push(Probe::CountPathUnless { table, reg: returned, flag: elsewhere });
            }
        }
        [before, behind]
    }

    /// Names the callee, if it asks for that.
    fn name(&self, callee: FunctionId) -> Option<Probe> {
        let open = self.numbering.of(callee).is_some_and(|callee| callee.entry == Entry::Open);
        open.then(|| write(ADDRESSEE, mark(callee)))
    }

    fn before_crossing(&self, arc: Arc) -> Vec<Probe> {
        let graph = &self.numbers.graph;
        let mut probes = self.number(self.increments.query[graph.src(arc)].plus(value(self.numbers, arc)));
        probes.push(Probe::Write { word: NUMBER, from: NOTED, times: 1, plus: 0 });
        let psi = self.numbers.linear.psi[graph.dst(arc)];
        let word = |number: u128| i64::try_from(number).unwrap_or(i64::MAX);
        probes.push(match self.is_called() {
            true => {
                Probe::Write { word: COMPLETIONS, from: Reg::Completions, times: word(psi.times), plus: word(psi.plus) }
            }
            false => write(COMPLETIONS, word(psi.at(1))),
        });
        probes.extend(self.metered.then_some(write_back(BEGAN, Reg::CallBegan)));
        if let Role::Cross(_, callee) = graph.role(arc) {
            probes.extend(self.name(callee));
        }
        probes
    }

    fn behind_crossing(&self, call: CallId, arc: Arc) -> Vec<Probe> {
        let graph = &self.numbers.graph;
        let query = Sums::default().minus(self.increments.query[graph.dst(arc)]);
        let mut probes = vec![Probe::Read(SUM, NUMBER)];
        probes.extend(self.metered.then_some(Probe::Read(Reg::CallBegan, BEGAN)));
        probes.extend(add(SUM, query.constant));
        if self.is_called() {
            probes.push(Probe::constant(FACTOR, query.factor));
        }
        if self.numbering.piecewise {
            let Role::Cross(_, callee) = graph.role(arc) else { return probes };
            let returns = self.numbering.of(callee).map(|callee| callee.returns.as_slice()).unwrap_or_default();
            let back = returns.iter().find(|back| (back.caller, back.call) == (self.function, call));
            let returned = Reg::CallReturned;
            probes.push(Probe::Read(returned, COMPLETIONS));
            if let Some(value) = back.map(|back| back.value.cast_signed()).filter(|&value| value != 0) {
                probes.push(Probe::AddUnless(SUM, returned, value));
            }
            if self.is_called() {
                let paths = self.numbers.paths_from_exit.cast_signed();
                probes.push(Probe::SetUnless(Reg::Completions, returned, paths));
                probes.push(Probe::SetUnless(Reg::CallOpen, returned, 0));
            }
        }
        probes
    }
}

fn add(reg: Reg, by: i64) -> Option<Probe> {
    (by != 0).then_some(Probe::Add(reg, by))
}

/// Writes a register to a word.
const fn write_back(word: Word, from: Reg) -> Probe {
    Probe::Write { word, from, times: 1, plus: 0 }
}

/// Writes a constant.
const fn write(word: crate::ids::Word, constant: i64) -> Probe {
    Probe::Write { word, from: SUM, times: 0, plus: constant }
}
