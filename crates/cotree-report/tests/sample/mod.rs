//! A hand-made unit: `main.c` beside this file, a C++ function that throws, and one without probes. `main` calls
//! `classify` six times; the sixth call ends in `exit`.

use cotree_core::facts::*;
use cotree_core::ids::{Block, Edge};
use cotree_core::method::MethodPlan;
use cotree_core::method::counters::{CounterMethod, UnitCounterPlan};
use cotree_core::plan::{CounterKey, CounterPlan, Measure};
use cotree_core::profile::{Flaw, FunctionProfile};
use cotree_core::unit::UnitPlan;
use cotree_profile::binary::{BinaryMap, CodeMap, UnitId};
use cotree_profile::counts::Runs;
use cotree_profile::method::MethodProfile;
use cotree_profile::recover::{Note, UnitProfile};
use cotree_report::source::SourceText;
use std::collections::HashMap;
use std::rc::Rc;

pub const SOURCE: &str = include_str!("main.c");

pub struct Sample {
    pub map: BinaryMap,
    pub profile: UnitProfile,
}

impl Sample {
    pub fn sources(&self) -> HashMap<String, Rc<SourceText>> {
        HashMap::from([("/src/main.c".to_owned(), Rc::new(SourceText::new(SOURCE.as_bytes())))])
    }
}

/// Builds one function block by block.
pub struct Builder {
    pub facts: Function,
    pub profile: FunctionProfile,
}

impl Builder {
    pub fn new(symbol: &str, file: u32, line: u32, entries: u64) -> Self {
        let position = Some(Position { file, line, column: 0 });
        let facts = Function { symbol: symbol.into(), linkage: Linkage::External, position, ..Function::default() };
        Self { facts, profile: FunctionProfile { entries, edges: Some(vec![].into()), ..FunctionProfile::default() } }
    }

    /// A block: instructions, count, lines as (line, column, inlined, after sites).
    pub fn block(mut self, instructions: u32, count: u64, lines: &[(u32, u32, Option<u32>, u32)]) -> Self {
        let file = self.facts.position.map_or(0, |p| p.file);
        let instructions =
            InstructionCounts { total: instructions, loads: instructions / 2, ..InstructionCounts::default() };
        self.facts.blocks.push(BlockFacts {
            instructions,
            runs: vec![Run { instructions, ..Run::default() }],
            lines: lines
                .iter()
                .map(|&(line, column, inlined, after_sites)| LineSpan {
                    at: Position { file, line, column },
                    inlined,
                    after_sites,
                })
                .collect(),
        });
        self.profile.blocks.push(count);
        self
    }

    /// An edge out of the last block.
    pub fn edge(mut self, kind: EdgeKind, to: u32, count: u64) -> Self {
        let src = Block::new(self.facts.blocks.len() - 1);
        let successor = self.facts.edges.iter().filter(|e| e.src == src).count() as u32;
        self.facts.edges.push(EdgeFacts { src, dst: Block(to), kind, successor });
        self.profile.edges.as_mut().unwrap().push(count);
        self
    }

    /// A call in the last block.
    pub fn call(mut self, callee: &str, early: i64) -> Self {
        let block = Block::new(self.facts.blocks.len() - 1);
        let site = Call::site(block, Callee::Symbol(callee.into()));
        let facts = &mut self.facts.blocks[block];
        facts.instructions.calls += 1;
        facts.runs[0].instructions.calls += 1;
        self.facts.calls.push(Call { no_return: callee == "exit", ..site });
        self.profile.early.push(early);
        self
    }
}

pub fn sample() -> Sample {
    use EdgeKind as K;
    let square = Builder::new("square", 0, 2, 0).block(2, 0, &[(3, 12, None, 0)]).edge(K::Return, 1, 0);
    let mut classify = Builder::new("classify", 0, 5, 6)
        .block(3, 6, &[(6, 9, None, 0)])
        .edge(K::True, 1, 1)
        .edge(K::False, 2, 5)
        .block(2, 1, &[(7, 5, None, 0)])
        .call("exit", 1)
        .edge(K::Unreachable, 7, 0)
        .block(2, 5, &[(8, 11, None, 0)])
        .edge(K::Default, 5, 3)
        .edge(K::Case(0), 3, 1)
        .edge(K::Case(1), 4, 1)
        .block(1, 1, &[(9, 13, None, 0)])
        .edge(K::Jump, 6, 1)
        .block(1, 1, &[(10, 13, None, 0)])
        .edge(K::Jump, 6, 1)
        .block(3, 3, &[(3, 12, Some(0), 0), (11, 14, None, 0)])
        .edge(K::Jump, 6, 3)
        .block(1, 5, &[(13, 1, None, 0)])
        .edge(K::Return, 7, 5);
    classify.facts.inlined.push(Inlined {
        symbol: "square".into(),
        call: Some(Position { file: 0, line: 11, column: 21 }),
        parent: None,
    });
    let main = Builder::new("main", 0, 14, 1)
        .block(2, 1, &[(15, 7, None, 0), (16, 12, None, 0)])
        .edge(K::Jump, 1, 1)
        .block(3, 6, &[(16, 19, None, 0)])
        .edge(K::True, 2, 6)
        .edge(K::False, 4, 0)
        .block(4, 6, &[(17, 12, None, 0), (17, 9, None, 1), (18, 3, None, 1)])
        .call("classify", 1)
        .edge(K::Jump, 3, 5)
        .block(2, 5, &[(16, 35, None, 0)])
        .edge(K::Jump, 1, 5)
        .block(1, 0, &[(19, 10, None, 0)])
        .edge(K::Return, 5, 0);
    let mut throws = Builder::new("_ZN3foo3barEi", 1, 3, 4)
        .block(2, 4, &[(4, 5, None, 0)])
        .call("may_throw", 0)
        .edge(K::InvokeNormal, 1, 3)
        .edge(K::InvokeUnwind, 2, 1)
        .block(1, 3, &[(5, 3, None, 0)])
        .edge(K::Return, 3, 3)
        .block(2, 1, &[(6, 1, None, 0)])
        .edge(K::Resume, 3, 1);
    throws.facts.linkage = Linkage::Copy;
    throws.facts.calls.update(|_, call| call.terminator = true);
    let mut naked = Builder::new("switch_stacks", 1, 20, 0).block(1, 0, &[(21, 1, None, 0)]).edge(K::Return, 1, 0);
    naked.facts.untouched = Some(Untouched::Naked);

    let edges = |list: &[u32]| CounterPlan {
        probes: vec![],
        key: CounterKey { measures: list.iter().map(|&e| Measure::Edge(Edge(e))).collect(), ..CounterKey::default() },
    };
    let plans = vec![edges(&[]), edges(&[0, 3, 4, 5]), edges(&[1, 3]), edges(&[1]), edges(&[])];
    let c = [square, classify, main];
    let (c_facts, c_profiles): (Vec<_>, Vec<_>) = c.into_iter().map(|b| (b.facts, Some(b.profile))).unzip();
    let modules = vec![
        Module { name: "main.o".into(), functions: c_facts, ..Module::default() },
        Module { name: "libfoo.a(foo.o)".into(), functions: vec![throws.facts, naked.facts], ..Module::default() },
    ];
    let program = ProgramMap {
        name: "prog".into(),
        target: "x86_64-unknown-linux-gnu".into(),
        build: Default::default(),
        files: vec!["/src/main.c".into(), "/src/foo.cpp".into()],
        checksums: Default::default(),
        modules,
    };
    let unit = UnitId([0xAB; 16]);
    let map = BinaryMap {
        program,
        plan: UnitPlan::new(MethodPlan::Counters(UnitCounterPlan {
            method: CounterMethod::Edge,
            functions: plans,
            entries: vec![],
        })),
        code: CodeMap::default(),
        threaded: false,
    };
    let profile = UnitProfile {
        unit,
        binary: "/build/prog".into(),
        command: vec!["./prog".into(), "-x".into()],
        tests: Default::default(),
        method: MethodProfile::Counters(CounterMethod::Edge),
        functions: c_profiles.into_iter().chain([Some(throws.profile), None]).collect(),
        failures: vec![],
        runs: Runs { finished: 1, ..Runs::default() },
        weight: 1,
        flags: Default::default(),
        targets: None,
        notes: vec![],
        stack: Vec::new(),
        bound: Default::default(),
    };
    Sample { map, profile }
}

/// The sample, but killed.
pub fn cut_off() -> Sample {
    let mut sample = sample();
    sample.profile.runs = Runs { cut_off: 1, ..Runs::default() };
    sample.profile.notes.push(Note::CutOff(1));
    for function in sample.profile.functions.iter_mut().flatten() {
        function.flaws.push(Flaw::LiveFrames);
    }
    sample
}

/// The sample, with the instructions of blocks told by line: one for each line, the first line has the others.
pub fn with_runs() -> Sample {
    let mut sample = sample();
    for function in sample.map.program.modules.iter_mut().flat_map(|module| &mut module.functions) {
        for block in &mut function.blocks {
            let mut rest = block.instructions;
            let spans = block.lines.iter().zip(0..).skip(1);
            let later = spans.map(|(line, span)| Run {
                span: Some(span),
                after_calls: line.after_sites,
                instructions: InstructionCounts { total: 1, ..InstructionCounts::default() },
                cost: 0,
            });
            let later: Vec<Run> = later.collect();
            later.iter().for_each(|run| rest = rest.without(run.instructions).expect("a part"));
            block.runs.clear();
            block.runs.push(Run { span: Some(0), after_calls: 0, instructions: rest, cost: 0 });
            block.runs.extend(later);
        }
    }
    sample
}
