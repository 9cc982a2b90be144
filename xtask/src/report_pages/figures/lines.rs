//! Lines of source files: how often they ran, their share, and the branches and loops below them.

use super::exported::{Edge, Export};
use super::natural_loops::NaturalLoops;
use super::shown::{ShownLine, figure, mean, share};
use super::spent::Spent;
use super::tracefile::Tracefile;
use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What the exports say of lines.
pub struct Lines<'a> {
    tracefile: &'a Tracefile,
    /// The tracefile of the run that this one is compared with.
    before: Option<&'a Tracefile>,
    spent: &'a Spent,
    whole: u128,
    /// Per line: how often outcomes were taken, by column and name. `None` where that is not known.
    outcomes: HashMap<(&'a str, u32), Outcomes>,
    /// Entries and trips of loops.
    loops: HashSet<[u128; 2]>,
    /// Loops that ran, where there is no doubt about their line.
    placed: HashMap<(&'a str, u32), Vec<[u128; 2]>>,
    /// Lines at which functions begin.
    beginnings: HashSet<(&'a str, u32)>,
}

/// How often outcomes were taken, by column and name.
type Outcomes = BTreeMap<(u32, String), Option<u128>>;

impl<'a> Lines<'a> {
    /// Collects it.
    pub fn new(
        export: &'a Export,
        tracefile: &'a Tracefile,
        before: Option<&'a Tracefile>,
        spent: &'a Spent,
    ) -> Lines<'a> {
        let whole = export.whole();
        let mut lines = Lines {
            tracefile,
            before,
            spent,
            whole,
            outcomes: HashMap::new(),
            loops: HashSet::new(),
            placed: HashMap::new(),
            beginnings: HashSet::new(),
        };
        for (function, files) in export.functions() {
            if let Some(at) = function.position {
                lines.beginnings.insert((&files[at.file], at.line));
            }
            let mut out: Vec<Vec<&Edge>> = vec![Vec::new(); function.blocks.len()];
            function.edges.iter().for_each(|edge| out[edge.from].push(edge));
            for (block, edges) in function.blocks.iter().zip(out).filter(|(_, edges)| edges.len() > 1) {
                let Some(at) = block.lines.last() else { continue };
                let outcomes = lines.outcomes.entry((&files[at.file], at.line)).or_default();
                for edge in edges {
                    let sum = outcomes.entry((at.column, name(edge))).or_insert(Some(0));
                    *sum = sum.zip(edge.count).map(|(sum, count)| sum + u128::from(count));
                }
            }
            let natural = NaturalLoops::of(function);
            for found in natural.loops.iter().filter(|found| found.trips > 0) {
                lines.loops.insert([found.entries, found.trips]);
                if let Some((file, line)) = found.place.filter(|_| natural.reducible) {
                    lines.placed.entry((&files[file], line)).or_default().push([found.entries, found.trips]);
                }
            }
        }
        lines
    }

    /// Checks lines of a file. Gives how many figures stand at them.
    pub fn check(&self, path: &str, shown: &[ShownLine]) -> Result<usize> {
        let mut figures = 0;
        for line in shown {
            figures += self.line(path, line).with_context(|| format!("{path}:{}", line.line))?;
        }
        Ok(figures)
    }

    fn line(&self, path: &str, shown: &ShownLine) -> Result<usize> {
        let exported = self.tracefile.lines(path).and_then(|lines| lines.get(&shown.line)).copied();
        let runs = figure(&shown.runs)?;
        ensure!(runs == exported, "it ran {runs:?} times, exported {exported:?}");
        if let Some(before) = &shown.before {
            let then = self.before.context("there is no other run")?;
            let then = then.lines(path).and_then(|lines| lines.get(&shown.line)).copied();
            ensure!(figure(before)? == then, "it ran {before} times before, exported {then:?}");
        }
        let spent = self.spent.get(&(path.to_owned(), shown.line)).copied().unwrap_or(0);
        let begins = self.beginnings.contains(&(path, shown.line));
        // Where a function begins stands in the export what has no line.
        if !begins {
            share(&shown.share, spent, self.whole)?;
        }
        let mut figures = usize::from(runs.is_some()) + usize::from(!shown.share.is_empty());
        let (mut taken, mut loops) = (Outcomes::new(), Vec::new());
        let mut left_out = false;
        for (small, text, outcomes) in &shown.below {
            if small == "loop: " {
                loops.push(self.loop_of(text)?);
            } else if small.starts_with("and ") {
                left_out = true;
            } else {
                let column = small.strip_prefix("column ").and_then(|rest| rest.strip_suffix(": ")).unwrap_or("0");
                ensure!(text == "never reached" || !outcomes.is_empty(), "a branch without outcomes: {text}");
                for outcome in outcomes {
                    let outcome = outcome.split_once(" → ").map_or(outcome.as_str(), |(outcome, _)| outcome);
                    let (name, count) = outcome.rsplit_once(' ').with_context(|| format!("{outcome}: no count"))?;
                    let count = if count == "?" { None } else { figure(count)? };
                    let sum = taken.entry((column.parse()?, name.to_owned())).or_insert(Some(0));
                    *sum = sum.zip(count).map(|(sum, count)| sum + count);
                }
            }
        }
        figures += taken.len() + 2 * loops.len();
        let exported = self.outcomes.get(&(path, shown.line));
        for (outcome, count) in &taken {
            let exported = exported.and_then(|outcomes| outcomes.get(outcome));
            ensure!(exported == Some(count), "{outcome:?}: {count:?} is shown, {exported:?} exported");
        }
        let missing =
            exported.into_iter().flatten().find(|(outcome, count)| **count != Some(0) && !taken.contains_key(outcome));
        ensure!(missing.is_none(), "{missing:?} is exported and not shown");
        for placed in self.placed.get(&(path, shown.line)).into_iter().flatten() {
            ensure!(left_out || loops.contains(placed), "a loop of {placed:?} is exported, {loops:?} are shown");
        }
        Ok(figures)
    }

    /// Entries and trips of a loop: `5 entered, 10 trips, 2 each`.
    fn loop_of(&self, text: &str) -> Result<[u128; 2]> {
        let parts: Vec<&str> = text.split(", ").collect();
        let [entries, trips, each] = parts[..] else { anyhow::bail!("{text} is no loop") };
        let amount =
            |text: &str, ending: &str| figure(text.strip_suffix(ending).context("a loop")?)?.context("a count");
        let found = [amount(entries, " entered")?, amount(trips, " trips")?];
        mean(each.strip_suffix(" each").context("a mean")?, found[1], found[0])?;
        ensure!(self.loops.contains(&found), "no loop of {found:?} is exported");
        Ok(found)
    }
}

/// The name of an outcome on pages.
fn name(edge: &Edge) -> String {
    let value = edge.value.unwrap_or(0);
    match edge.kind.as_str() {
        "case" => format!("case {value}"),
        "cases" => format!("case {value} and {} more", edge.cases.unwrap_or(0).saturating_sub(1)),
        "invoke-normal" => "returned".to_owned(),
        "invoke-unwind" => "threw".to_owned(),
        "callbr-fallthrough" => "fell through".to_owned(),
        "callbr-indirect" => "jumped".to_owned(),
        kind => kind.to_owned(),
    }
}
