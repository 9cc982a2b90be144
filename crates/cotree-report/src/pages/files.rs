//! Source files: their lines with counts, costs and outcomes of branches.

use super::content::Pages;
use super::data::{Add, Amount, script};
use super::hot_loops::LoopRow;
use super::numbering::Numbering;
use crate::branches::outcome_name;
use crate::coverage::FileIndex;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::io;

/// What a file had in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileTotals {
    /// Lines with code.
    pub lines: u32,
    /// Lines that ran.
    pub ran: u32,
    /// What they cost.
    pub cost: u128,
    /// Why the lines may not be those that were built.
    pub fault: Option<&'static str>,
}

#[derive(Serialize)]
struct File<'a> {
    /// The source; `None` if it is not at hand.
    text: Option<Vec<&'a str>>,
    /// Why the lines may not be those that were built.
    fault: Option<&'static str>,
    /// By line, in order.
    lines: Vec<Line>,
    /// Functions that begin here: line and number.
    functions: Vec<(u32, usize)>,
}

#[derive(Default, Serialize)]
struct Line {
    line: u32,
    /// How often it ran; `None` where only its costs are known.
    count: Option<Amount>,
    cost: Amount,
    doubtful: bool,
    branches: Vec<BranchData>,
    /// Entries and trips of the loops that begin here, the hottest first.
    loops: Vec<(Amount, Amount)>,
}

#[derive(Serialize)]
struct BranchData {
    column: u32,
    reached: bool,
    /// What it is called, how often it was taken, and the line that it leads to.
    outcomes: Vec<(String, Option<Amount>, Option<u32>)>,
}

/// Writes all files, each as a script of its own; gives what each had in all.
///
/// # Errors
/// If one can't be written.
pub(super) fn write(
    pages: &Pages<'_>,
    numbering: &Numbering<'_>,
    loops: &[LoopRow],
    add: &mut Add<'_>,
) -> io::Result<Vec<FileTotals>> {
    let mut loops_at: HashMap<(usize, u32), Vec<(Amount, Amount)>> = HashMap::new();
    for row in loops {
        if let Some(place) = row.place {
            loops_at.entry(place).or_default().push((row.entries, row.trips));
        }
    }
    let costs = costs_by_line(pages, numbering);
    let mut functions: Vec<Vec<(u32, usize)>> = vec![Vec::new(); numbering.files.len()];
    for (number, function) in numbering.functions.iter().enumerate() {
        if let Some((file, line)) = numbering.place(function.unit, function.summary.position) {
            functions[file].push((line, number));
        }
    }
    let index = FileIndex::new(pages.units(), |_| true);
    let mut totals = vec![FileTotals::default(); numbering.files.len()];
    for (number, &path) in numbering.files.iter().enumerate() {
        let text = pages.sources.text(path);
        let coverage = index.count(pages.units(), path, text.as_deref());
        if coverage.lines.is_empty() && functions[number].is_empty() && costs[number].is_empty() {
            continue;
        }
        let of_line = &costs[number];
        let total = &mut totals[number];
        let fault = text.as_ref().and_then(|_| (pages.fault)(path));
        *total = FileTotals {
            lines: coverage.lines.len() as u32,
            ran: coverage.run() as u32,
            cost: of_line.values().sum(),
            fault,
        };
        functions[number].sort_unstable();
        let uncounted = of_line.iter().filter(|(line, _)| !coverage.lines.contains_key(line));
        let uncounted = uncounted.map(|(&line, &cost)| Line { line, cost: Amount(cost), ..Line::default() });
        let mut lines: Vec<Line> = uncounted.collect();
        lines.extend(coverage.lines.into_iter().map(|(line, facts)| {
            Line {
                line,
                loops: Vec::new(),
                count: Some(facts.count.into()),
                cost: Amount(of_line.get(&line).copied().unwrap_or(0)),
                doubtful: facts.doubtful,
                branches: (facts.branches.sorted().into_iter())
                    .map(|branch| BranchData {
                        column: branch.column,
                        reached: branch.reached,
                        outcomes: (branch.outcomes.iter().zip(&branch.leads_to))
                            .map(|(&(kind, count), &line)| (outcome_name(kind), count.map(Into::into), line))
                            .collect(),
                    })
                    .collect(),
            }
        }));
        lines.sort_by_key(|line| line.line);
        for line in &mut lines {
            line.loops = loops_at.remove(&(number, line.line)).unwrap_or_default();
        }
        let file = File {
            text: text.as_ref().map(|text| (1..=text.len()).map(|line| text.line(line).unwrap_or_default()).collect()),
            fault,
            lines,
            functions: std::mem::take(&mut functions[number]),
        };
        let name = format!("files/{number}");
        add(name.clone(), script(&name, &file)?)?;
    }
    Ok(totals)
}

/// By file: what each line cost.
fn costs_by_line(pages: &Pages<'_>, numbering: &Numbering<'_>) -> Vec<BTreeMap<u32, u128>> {
    let mut files = vec![BTreeMap::new(); numbering.files.len()];
    for costs in &pages.costs.functions {
        for (line, cost) in &costs.lines {
            let Some((file, line)) = line.at else { continue };
            if let Some(file) = numbering.of_path(pages.costs.file(costs, file)) {
                *files[file].entry(line).or_default() += cost.of(pages.kind());
            }
        }
    }
    files
}
