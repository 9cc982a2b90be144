//! `cotree plan --explain`: what counts each edge of a function, and why.

use crate::driver::options::{Affine, BranchHints, InstrumentOptions, InterproceduralFlow, Promote};
use cotree_core::affine::{AffineVariable, Trades};
use cotree_core::cfg::Cfg;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::hints::Hints;
use cotree_core::ids::{Block, Edge};
use cotree_core::method::counters::edge;
use cotree_core::plan::{CallPoint, CounterPlan, DerivedEntry, FixedEdge, Measure};
use cotree_core::probe::{Place, PlacedProbe, Probe};
use cotree_core::promotion;
use cotree_core::seldom;
use cotree_core::sese::CycleEquivalence;
use cotree_core::weighting::Weighting;
use cotree_report::names::matches;
use miette::{Result, miette};
use std::fmt::Write;

/// A program with what is known of its plans.
pub struct Facts {
    /// The program.
    pub program: ProgramMap,
    /// What the code of each function says about its branches; nothing of a binary.
    pub hints: Vec<Hints>,
    /// The rest.
    pub given: Given,
    /// The functions whose entries follow from their callers.
    pub entries: Vec<DerivedEntry>,
}

/// Where plans come from.
pub enum Given {
    /// They are in the binary.
    Plans(Vec<CounterPlan>),
    /// They are made now, with each function's affine variables.
    Variables(Vec<Vec<AffineVariable>>),
}

/// The explanation of all functions that match.
pub fn explain(facts: &Facts, pattern: &str, options: &InstrumentOptions) -> Result<String> {
    let mut text = String::new();
    for (index, (_, function)) in facts.program.functions().enumerate() {
        let Some(cfg) = function.cfg().ok().filter(|_| matches(pattern, &function.symbol)) else { continue };
        let weighting = super::predicted(function, &cfg, facts.hints.get(index));
        let mut entry = facts.entries.iter().find(|entry| entry.function as usize == index);
        let (plan, trades, variables) = match &facts.given {
            Given::Plans(plans) => (plans.get(index).cloned().unwrap_or_default(), Trades::default(), &[][..]),
            Given::Variables(variables) => {
                entry = entry.filter(|_| options.interprocedural_flow != Some(InterproceduralFlow::Off));
                let variables = if options.affine == Some(Affine::Off) { &[] } else { variables[index].as_slice() };
                let trades = Trades::new(function, &cfg, &weighting, variables);
                let entered = entry.and_then(|_| edge::plan_entered(function, &cfg, &weighting, &trades));
                let alone = || edge::plan_trades(function, &cfg, &weighting, &trades);
                let mut plan = entered.map_or_else(alone, |(plan, _)| plan);
                if options.promote != Some(Promote::Off) {
                    promotion::promote(function, &cfg, &weighting, variables, &mut plan);
                }
                (plan, trades, variables)
            }
        };
        if !text.is_empty() {
            text.push('\n');
        }
        let hints = facts.hints.get(index).filter(|_| options.branch_hints != Some(BranchHints::Off));
        let explanation = Explanation {
            function,
            cfg: &cfg,
            weighting: &weighting,
            plan: &plan,
            trades: &trades,
            variables,
            aside: hints.map(|hints| seldom::seldom(function, &cfg, hints, &plan)).unwrap_or_default(),
        };
        explanation.write(&mut text).and_then(|()| write_callers(&mut text, facts, entry)).expect("writing to memory");
    }
    if text.is_empty() {
        return Err(miette!("no function matches {pattern}"));
    }
    Ok(text)
}

/// Where the entries of a function are counted that has no counter for them.
fn write_callers(out: &mut String, facts: &Facts, entry: Option<&DerivedEntry>) -> std::fmt::Result {
    let Some(DerivedEntry { calls, .. }) = entry else { return Ok(()) };
    let sites = if calls.len() == 1 { "call site" } else { "call sites" };
    writeln!(out, "  entries: derived from {} {sites}", calls.len())?;
    let functions: Vec<&Function> = facts.program.functions().map(|(_, f)| f).collect();
    for CallPoint { function, block, .. } in calls {
        let caller = functions[*function as usize];
        let line = caller.blocks[block.index()].lines.first().map(|span| format!(" (line {})", span.at.line));
        writeln!(out, "    {block}{} of {}", line.unwrap_or_default(), caller.symbol)?;
    }
    Ok(())
}

struct Explanation<'a> {
    function: &'a Function,
    cfg: &'a Cfg,
    weighting: &'a Weighting,
    plan: &'a CounterPlan,
    trades: &'a Trades,
    variables: &'a [AffineVariable],
    /// The edges whose blocks of counters shall stand out of the way.
    aside: Vec<Edge>,
}

impl Explanation<'_> {
    fn write(&self, out: &mut String) -> std::fmt::Result {
        let (blocks, edges) = (self.function.blocks.len(), self.function.edges.len());
        writeln!(out, "{}: {blocks} blocks, {edges} edges", self.function.symbol)?;
        let regions = CycleEquivalence::new(self.cfg);
        for (number, &measure) in self.plan.key.measures.iter().enumerate() {
            let probes = self.plan.probes.iter().filter(|p| counter_of(p.probe) == Some(number));
            let probes: Vec<&PlacedProbe> = probes.collect();
            writeln!(out, "  counter {number}: {}", self.measured(measure))?;
            self.write_counting(out, measure, &probes)?;
            let Measure::Edge(edge) = measure else { continue };
            let same: Vec<String> = (self.cfg.edges())
                .filter(|&e| e != edge && e != self.cfg.exit_edge() && regions.equivalent(e, edge))
                .map(|e| self.edge(e))
                .collect();
            if !same.is_empty() {
                writeln!(out, "    runs as often (one region): {}", same.join(", "))?;
            }
        }
        for &FixedEdge { edge, times, of, .. } in &self.plan.key.fixed {
            writeln!(out, "  no counter: {} runs {times} times each time that the loop is left", self.edge(edge))?;
            writeln!(out, "    by {}, since the loop always goes around as often", self.edge(of))?;
        }
        let derived = edges.saturating_sub(self.plan.key.measures.len());
        writeln!(out, "  {derived} edges are not counted: their counts follow from these")?;
        self.write_variables(out)
    }

    fn write_counting(&self, out: &mut String, measure: Measure, probes: &[&PlacedProbe]) -> std::fmt::Result {
        for placed in probes {
            let place = self.place(placed.place);
            match placed.probe {
                Probe::Close(_, closing) | Probe::CloseIf(_, closing, _) => {
                    let variable = self.variables.get(closing.variable.index());
                    let name = variable.map_or_else(|| "a loop variable".into(), |v| self.variable(v));
                    write!(out, "    no counter in the loop: {place}, {name} is read where the loop is left from ")?;
                    write!(out, "{}, (value − value at entry", self.block(closing.from))?;
                    if closing.offset != 0 {
                        write!(out, " − {}", closing.offset)?;
                    }
                    write!(out, ") / {}", closing.step)?;
                    if closing.plus != 0 {
                        write!(out, " + {}", closing.plus)?;
                    }
                    if let Probe::CloseIf(_, _, way) = placed.probe {
                        write!(
                            out,
                            ", if the branch went to {}, as it always or never does while the loop runs",
                            self.block(self.cfg.dst(way))
                        )?;
                    }
                    writeln!(out)?;
                }
                Probe::CountIfTaken(..) => writeln!(out, "    counted {place} if the jump goes there")?,
                Probe::AddTo(_, register, _) => {
                    let bumps = |p: &&PlacedProbe| matches!(p.probe, Probe::Add(r, _) if r == register);
                    if let Some(bump) = self.plan.probes.iter().find(bumps) {
                        let bumped = self.place(bump.place);
                        write!(out, "    counted in a register, {bumped}, as the loop would wait for memory; ")?;
                        writeln!(out, "added {place}")?;
                    }
                }
                _ => match placed.place {
                    Place::Edge(edge) if self.aside.contains(&edge) => {
                        writeln!(
                            out,
                            "    counted {place}, out of the other code's way since that is thought to run seldom"
                        )?;
                    }
                    _ => writeln!(out, "    counted {place}")?,
                },
            }
        }
        let expected = match measure {
            Measure::Edge(edge) => self.weighting.edge(edge),
            Measure::Block(block) => self.weighting.block(block),
        };
        match measure {
            Measure::Edge(edge) if let Some((_, trade)) = self.trades.of(edge) => writeln!(
                out,
                "    expected cost {:.1} per call instead of {:.1} for a counter",
                trade.cost, trade.counter_cost
            ),
            _ => writeln!(out, "    expected {expected:.1} times per call"),
        }
    }

    fn write_variables(&self, out: &mut String) -> std::fmt::Result {
        for (variable, verdict) in self.variables.iter().zip(&self.trades.verdicts) {
            let verdict = match verdict {
                Err(refusal) => format!("not used, {refusal}"),
                Ok(trade) => {
                    let used = |p: &PlacedProbe| matches!(p.probe, Probe::Close(_, c) if self.variables.get(c.variable.index()) == Some(variable));
                    let edge = self.edge(trade.edge);
                    if self.plan.probes.iter().any(used) {
                        format!("counts {edge}")
                    } else if trade.cost >= trade.counter_cost {
                        format!(
                            "could count {edge}, but would cost {:.1} per call where a counter costs {:.1}",
                            trade.cost, trade.counter_cost
                        )
                    } else {
                        format!("could count {edge}, which needs no counting or has a cheaper variable")
                    }
                }
            };
            writeln!(out, "  {} of the loop at {}: {verdict}", self.variable(variable), self.block(variable.header))?;
        }
        Ok(())
    }

    fn variable(&self, variable: &AffineVariable) -> String {
        let kind = if variable.pointer { "pointer".into() } else { format!("{}-bit variable", variable.bits) };
        if variable.name.is_empty() { format!("a {kind}") } else { format!("the {kind} {}", variable.name) }
    }

    fn measured(&self, measure: Measure) -> String {
        match measure {
            Measure::Edge(edge) => self.edge(edge),
            Measure::Block(block) => format!("entries into {}", self.block(block)),
        }
    }

    fn edge(&self, edge: Edge) -> String {
        format!("{} → {}", self.block(self.cfg.src(edge)), self.block(self.cfg.dst(edge)))
    }

    fn block(&self, block: Block) -> String {
        if block == self.cfg.exit() {
            return "EXIT".into();
        }
        match self.function.blocks[block.index()].lines.first() {
            Some(span) => format!("{block} (line {})", span.at.line),
            None => block.to_string(),
        }
    }

    fn place(&self, place: Place) -> String {
        match place {
            Place::Start(block) => format!("at the start of {}", self.block(block)),
            Place::End(block) => format!("at the end of {}", self.block(block)),
            Place::Edge(edge) => format!("on the edge {}", self.edge(edge)),
        }
    }
}

fn counter_of(probe: Probe) -> Option<usize> {
    match probe {
        Probe::Count(c)
        | Probe::CountIfTaken(c, _)
        | Probe::Close(c, _)
        | Probe::CloseIf(c, ..)
        | Probe::AddTo(c, ..) => Some(c.index()),
        _ => None,
    }
}
