//! Explains what counts each edge or block of a function, and why.

use super::super::code::Code;
use cotree_core::graph::sese::CycleEquivalence;
use cotree_core::ids::Edge;
use cotree_core::place::affine::{AffineVariable, Replacements};
use cotree_core::plan::{FixedEdge, FunctionPlan, Measure};
use cotree_core::probe::{Place, PlacedProbe, Probe};
use cotree_core::weight::weighting::Weighting;
use std::fmt::Write;

/// The counters of one function.
pub(super) struct Counters<'a> {
    pub(super) code: Code<'a>,
    pub(super) weighting: &'a Weighting,
    pub(super) plan: FunctionPlan<'a>,
    pub(super) replacements: &'a Replacements,
    pub(super) variables: &'a [AffineVariable],
    /// The edges whose counter blocks are kept out of line.
    pub(super) aside: Vec<Edge>,
}

impl Counters<'_> {
    /// One entry per counter.
    pub(super) fn write(&self, out: &mut String) -> std::fmt::Result {
        let cfg = self.code.cfg;
        let regions = CycleEquivalence::new(cfg);
        for (number, &measure) in self.plan.measures.iter().enumerate() {
            let probes = self.plan.probes.iter().filter(|p| counter_of(p.probe) == Some(number));
            let probes: Vec<&PlacedProbe> = probes.collect();
            writeln!(out, "  counter {number}: {}", self.measured(measure))?;
            self.write_counting(out, measure, &probes)?;
            let Measure::Edge(edge) = measure else { continue };
            let same: Vec<String> = (cfg.edges())
                .filter(|&e| e != edge && e != cfg.exit_edge() && regions.equivalent(e, edge))
                .map(|e| self.code.edge(e))
                .collect();
            if !same.is_empty() {
                writeln!(out, "    runs as often (one region): {}", same.join(", "))?;
            }
        }
        for &FixedEdge { edge, times, of, .. } in self.plan.fixed {
            let (edge, exit) = (self.code.edge(edge), self.code.edge(of));
            writeln!(out, "  no counter: {edge} runs {times} times each time that the loop is left")?;
            writeln!(out, "    by {exit}, since the loop always goes around as often")?;
        }
        Ok(())
    }

    /// What has no counter: edges under a method that counts edges, blocks under one that counts only blocks.
    pub(super) fn write_rest(&self, counts_edges: bool, out: &mut String) -> std::fmt::Result {
        let function = self.code.function;
        let (all, what) =
            if counts_edges { (function.edges.len(), "edges") } else { (function.blocks.len(), "blocks") };
        let derived = all.saturating_sub(self.plan.counters);
        writeln!(out, "  {derived} {what} are not counted: their counts follow from these")
    }

    fn write_counting(&self, out: &mut String, measure: Measure, probes: &[&PlacedProbe]) -> std::fmt::Result {
        for placed in probes {
            let place = self.code.place(placed.place);
            match placed.probe {
                Probe::Close(_, closing) | Probe::CloseIf(_, closing, _) => {
                    let variable = self.variables.get(closing.variable.index());
                    let name = variable.map_or_else(|| "a loop variable".into(), |v| self.variable(v));
                    write!(out, "    no counter in the loop: {place}, {name} is read where the loop is left from ")?;
                    write!(out, "{}, (value − value at entry", self.code.block(closing.from))?;
                    if closing.offset != 0 {
                        write!(out, " − {}", closing.offset)?;
                    }
                    write!(out, ") / {}", closing.step)?;
                    if closing.plus != 0 {
                        write!(out, " + {}", closing.plus)?;
                    }
                    if let Probe::CloseIf(_, _, branch) = placed.probe {
                        write!(
                            out,
                            ", if the branch went to {}, as it always or never does while the loop runs",
                            self.code.block(self.code.cfg.dst(branch))
                        )?;
                    }
                    writeln!(out)?;
                }
                Probe::CountIfTaken(..) => writeln!(out, "    counted {place} if the jump goes there")?,
                Probe::AddTo(_, register, _) => {
                    let bumps = |p: &&PlacedProbe| matches!(p.probe, Probe::Add(r, _) if r == register);
                    if let Some(bump) = self.plan.probes.iter().find(bumps) {
                        let bumped = self.code.place(bump.place);
                        write!(out, "    counted in a register, {bumped}, as the loop would wait for memory; ")?;
                        writeln!(out, "added {place}")?;
                    }
                }
                _ => match placed.place {
                    Place::Edge(edge) if self.aside.contains(&edge) => {
                        writeln!(out, "    counted {place}, out of line since that is expected to run rarely")?;
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
            Measure::Edge(edge) if let Some((_, replacement)) = self.replacements.of(edge) => writeln!(
                out,
                "    expected cost {:.1} per call instead of {:.1} for a counter",
                replacement.cost, replacement.counter_cost
            ),
            _ => writeln!(out, "    expected {expected:.1} times per call"),
        }
    }

    /// Why each loop variable counts or does not.
    pub(super) fn write_variables(&self, out: &mut String) -> std::fmt::Result {
        for (variable, verdict) in self.variables.iter().zip(&self.replacements.verdicts) {
            let verdict = match verdict {
                Err(refusal) => format!("not used, {refusal}"),
                Ok(replacement) => {
                    let used = |p: &PlacedProbe| matches!(p.probe, Probe::Close(_, c) if self.variables.get(c.variable.index()) == Some(variable));
                    let edge = self.code.edge(replacement.edge);
                    if self.plan.probes.iter().any(used) {
                        format!("counts {edge}")
                    } else if replacement.cost >= replacement.counter_cost {
                        format!(
                            "could count {edge}, but would cost {:.1} per call where a counter costs {:.1}",
                            replacement.cost, replacement.counter_cost
                        )
                    } else {
                        format!("could count {edge}, which needs no counting or has a cheaper variable")
                    }
                }
            };
            writeln!(
                out,
                "  {} of the loop at {}: {verdict}",
                self.variable(variable),
                self.code.block(variable.header)
            )?;
        }
        Ok(())
    }

    fn variable(&self, variable: &AffineVariable) -> String {
        let kind = if variable.pointer { "pointer".into() } else { format!("{}-bit variable", variable.bits) };
        if variable.name.is_empty() { format!("a {kind}") } else { format!("the {kind} {}", variable.name) }
    }

    fn measured(&self, measure: Measure) -> String {
        match measure {
            Measure::Edge(edge) => self.code.edge(edge),
            Measure::Block(block) => format!("entries into {}", self.code.block(block)),
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
