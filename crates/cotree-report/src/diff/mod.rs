//! Differences of two profiles: functions and lines, and also blocks if both are of one build.
//!
//! Functions are matched by name, without the hash in Rust's symbols, which differs between builds. Functions that
//! share a name are also matched by source file; only they are, because inlined copies do not always have one. Lines
//! are matched by file and number, so profiles of two builds can be compared as long as the sources did not move.

mod calls;
mod change;

pub use calls::CallChange;
pub use change::Change;

use crate::coverage::FileIndex;
use crate::functions::summarize;
use crate::method::{call_profiles, event_sums};
use crate::names::{Names, across_builds};
use crate::source::Sources;
use crate::terminal::{Style, grouped, number, text};
use crate::unit::Unit;
use cotree_core::facts::events::EventKind;
use cotree_core::method::events::call_sums::CallSums;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// The name and version of the JSON form.
pub const SCHEMA: &str = "cotree-diff/1";

/// The difference of two profiles.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Difference {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Both have only exact counts.
    pub exact: bool,
    /// Functions whose entries or instructions differ, by the size of the change in their share.
    pub functions: Vec<FunctionChange>,
    /// Lines whose counts differ.
    pub lines: Vec<LineChange>,
    /// Blocks whose counts differ; `None` if the two are of different builds, or no blocks are counted.
    pub blocks: Option<Vec<BlockChange>>,
    /// Calls whose counts differ, by the size of the change; `None` if no calls are counted by themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<CallChange>>,
    /// Lines are counted.
    #[serde(skip)]
    pub has_lines: bool,
}

/// A function that changed.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionChange {
    /// The symbol of the function.
    pub symbol: String,
    /// The source file of the function.
    pub file: Option<String>,
    /// How.
    pub change: Change,
    /// Entries, inlined copies included.
    pub entries: [u64; 2],
    /// Instructions executed in its bodies.
    pub instructions: [u128; 2],
    /// The instructions as a share of all.
    pub share: [f64; 2],
}

/// A line that changed.
#[derive(Clone, Debug, Serialize)]
pub struct LineChange {
    /// The file of the line.
    pub file: String,
    /// The number of the line.
    pub line: u32,
    /// How.
    pub change: Change,
    /// The counts of the line.
    pub counts: [u64; 2],
}

/// A block that changed.
#[derive(Clone, Debug, Serialize)]
pub struct BlockChange {
    /// The function's symbol.
    pub symbol: String,
    /// The module of the function.
    pub module: String,
    /// The block.
    pub block: usize,
    /// How.
    pub change: Change,
    /// The counts of the edge.
    pub counts: [u64; 2],
}

/// Compares two profiles.
#[must_use]
pub fn compare(before: &[Unit<'_>], after: &[Unit<'_>], sources: &dyn Sources) -> Difference {
    let exact = before.iter().chain(after).all(|u| u.profile.exact());
    let same_builds = before.iter().map(|u| u.profile.unit).eq(after.iter().map(|u| u.profile.unit));
    let has_blocks = before.iter().chain(after).all(|unit| event_sums(unit).is_none() && call_profiles(unit).is_none());
    Difference {
        schema: SCHEMA,
        exact,
        functions: compare_functions(before, after),
        lines: compare_lines(before, after, sources),
        blocks: (same_builds && has_blocks).then(|| compare_blocks(before, after)),
        calls: calls::of(before).zip(calls::of(after)).map(|(before, after)| calls::compare(before, after)),
        has_lines: has_blocks,
    }
}

/// A function's name for comparisons, and its file.
type Key = (String, Option<String>);

/// Entries and instructions of one function, and a symbol of it.
#[derive(Clone, Default)]
struct Total {
    symbol: String,
    entries: u64,
    instructions: u128,
}

type Totals = BTreeMap<Key, Total>;

fn function_totals(units: &[Unit<'_>]) -> Totals {
    let mut totals = Totals::new();
    for unit in units {
        if let Some((kinds, sums, _)) = event_sums(unit) {
            add_sums(&mut totals, unit, kinds, sums);
            continue;
        }
        if call_profiles(unit).is_some() {
            continue;
        }
        for function in summarize(unit) {
            let file = function.position.map(|p| unit.file(p.file).to_owned());
            let sum = totals.entry((across_builds(&function.symbol), file)).or_default();
            sum.entries = sum.entries.saturating_add(function.entries());
            sum.instructions += function.instructions.total;
            sum.symbol = function.symbol;
        }
    }
    totals
}

/// Adds what functions did themselves where no blocks are counted, but events.
fn add_sums(totals: &mut Totals, unit: &Unit<'_>, kinds: &[EventKind], sums: &CallSums) {
    let instructions = kinds.iter().position(|&kind| kind == EventKind::Instructions);
    for function in unit.functions() {
        let Some(own) = sums.functions.get(function.index.index()).and_then(Option::as_ref) else { continue };
        let file = function.facts.position.map(|p| unit.file(p.file).to_owned());
        let sum = totals.entry((across_builds(&function.facts.symbol), file)).or_default();
        sum.entries = sum.entries.saturating_add(own.entries);
        let amount = instructions.and_then(|kind| own.exclusive.get(kind)).copied().unwrap_or(0);
        sum.instructions += u128::from(amount);
        sum.symbol.clone_from(&function.facts.symbol);
    }
}

/// Where a name is known from one file only, gives that file to all functions of the name: inlined copies may have
/// none.
fn without_needless_files(totals: Totals, files: &BTreeMap<String, BTreeSet<String>>) -> Totals {
    let mut result = Totals::new();
    for ((name, file), total) in totals {
        let only = files.get(&name).filter(|known| known.len() == 1).and_then(|known| known.first().cloned());
        let sum = result.entry((name, only.or(file))).or_default();
        sum.entries = sum.entries.saturating_add(total.entries);
        sum.instructions += total.instructions;
        sum.symbol = total.symbol;
    }
    result
}

fn compare_functions(before: &[Unit<'_>], after: &[Unit<'_>]) -> Vec<FunctionChange> {
    let (before, after) = (function_totals(before), function_totals(after));
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, file) in before.keys().chain(after.keys()) {
        files.entry(name.clone()).or_default().extend(file.clone());
    }
    let [before, after] = [before, after].map(|totals| without_needless_files(totals, &files));
    let whole = |totals: &Totals| totals.values().map(|t| t.instructions).sum::<u128>();
    let wholes = [whole(&before), whole(&after)];
    let keys: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut changes: Vec<FunctionChange> = keys
        .into_iter()
        .filter_map(|key| {
            let [a, b] = [&before, &after].map(|t| t.get(key).cloned().unwrap_or_default());
            let share = |n: u128, whole: u128| if whole == 0 { 0.0 } else { n as f64 / whole as f64 };
            let differ = a.instructions != b.instructions;
            let change = Change::of(a.entries, b.entries).or(differ.then_some(Change::Changed))?;
            Some(FunctionChange {
                symbol: if b.symbol.is_empty() { a.symbol } else { b.symbol },
                file: key.1.clone(),
                change,
                entries: [a.entries, b.entries],
                instructions: [a.instructions, b.instructions],
                share: [share(a.instructions, wholes[0]), share(b.instructions, wholes[1])],
            })
        })
        .collect();
    let shift = |c: &FunctionChange| (c.share[1] - c.share[0]).abs();
    changes.sort_by(|a, b| shift(b).total_cmp(&shift(a)).then_with(|| a.symbol.cmp(&b.symbol)));
    changes
}

fn compare_lines(before: &[Unit<'_>], after: &[Unit<'_>], sources: &dyn Sources) -> Vec<LineChange> {
    let indices = [FileIndex::new(before, |_| true), FileIndex::new(after, |_| true)];
    let paths: BTreeSet<&str> = indices.iter().flat_map(FileIndex::paths).collect();
    let mut changes = Vec::new();
    for path in paths {
        let text = sources.text(path);
        let a = indices[0].count(before, path, text.as_deref());
        let b = indices[1].count(after, path, text.as_deref());
        let lines: BTreeSet<u32> = a.lines.keys().chain(b.lines.keys()).copied().collect();
        for line in lines {
            let counts = [&a, &b].map(|c| c.lines.get(&line).map_or(0, |l| l.count));
            if let Some(change) = Change::of(counts[0], counts[1]) {
                changes.push(LineChange { file: path.to_owned(), line, change, counts });
            }
        }
    }
    changes
}

fn compare_blocks(before: &[Unit<'_>], after: &[Unit<'_>]) -> Vec<BlockChange> {
    let mut changes = Vec::new();
    for (a, b) in before.iter().zip(after) {
        for (a, b) in a.functions().zip(b.functions()) {
            let (Some(p), Some(q)) = (a.profile, b.profile) else { continue };
            for (block, (&x, &y)) in p.blocks.iter().zip(&q.blocks).enumerate() {
                if let Some(change) = Change::of(x, y) {
                    let (symbol, module) = (a.facts.symbol.clone(), a.module.name.clone());
                    changes.push(BlockChange { symbol, module, block, change, counts: [x, y] });
                }
            }
        }
    }
    changes
}

/// How to show a difference.
#[derive(Clone, Copy, Debug)]
pub struct DiffOptions {
    /// Rows per list; 0: all.
    pub top: usize,
    /// How to show names.
    pub names: Names,
    /// The terminal.
    pub style: Style,
}

/// Writes a difference for people.
///
/// # Errors
/// If the output can't be written.
pub fn write_text(difference: &Difference, options: &DiffOptions, out: &mut dyn Write) -> io::Result<()> {
    let style = options.style;
    if !difference.exact {
        writeln!(out, "{}", style.warning("Not all counts are exact: `cotree report` says which."))?;
    }
    if difference.functions.is_empty()
        && difference.lines.is_empty()
        && difference.blocks.as_ref().is_none_or(Vec::is_empty)
        && difference.calls.as_ref().is_none_or(Vec::is_empty)
    {
        return writeln!(out, "No count differs.");
    }
    let cut = |n: usize| if options.top == 0 { n } else { n.min(options.top) };
    let signed = |[a, b]: [u128; 2]| {
        if b >= a { format!("+{}", grouped(b - a)) } else { format!("-{}", grouped(a - b)) }
    };
    let lists = [
        (Change::NewlyRun, "Functions that run now and did not"),
        (Change::NoLongerRun, "Functions that ran and no longer do"),
        (Change::Changed, "Functions that changed, by the shift of their share"),
    ];
    for (change, title) in lists {
        let functions: Vec<_> = difference.functions.iter().filter(|f| f.change == change).collect();
        if functions.is_empty() {
            continue;
        }
        writeln!(out, "{} ({})", style.heading(title), grouped(functions.len() as u128))?;
        let rows = functions[..cut(functions.len())].iter().map(|f| {
            vec![
                signed(f.entries.map(u128::from)),
                signed(f.instructions),
                format!("{:.1}%", f.share[0] * 100.0),
                format!("{:.1}%", f.share[1] * 100.0),
                options.names.show(&f.symbol),
            ]
        });
        let columns = [number("entries"), number("instructions"), number("share"), number("now"), text("function")];
        writeln!(out, "{}", style.table(&columns, rows.collect()))?;
    }
    let lists = [
        (Change::NewlyRun, "Lines that run now and did not"),
        (Change::NoLongerRun, "Lines that ran and no longer do"),
    ];
    for (change, title) in lists {
        let lines: Vec<_> = difference.lines.iter().filter(|l| l.change == change).collect();
        if lines.is_empty() {
            continue;
        }
        writeln!(out, "{} ({})", style.heading(title), grouped(lines.len() as u128))?;
        for line in &lines[..cut(lines.len())] {
            writeln!(out, "  {}:{}", line.file, line.line)?;
        }
        writeln!(out)?;
    }
    if let Some(calls) = &difference.calls {
        calls::write_text(calls, options.top, options.names, style, out)?;
    }
    if !difference.has_lines {
        return Ok(());
    }
    let changed = difference.lines.iter().filter(|l| l.change == Change::Changed).count();
    writeln!(out, "{} lines run more or less often.", grouped(changed as u128))?;
    match &difference.blocks {
        Some(blocks) => writeln!(out, "{} blocks have other counts.", grouped(blocks.len() as u128)),
        None => writeln!(out, "The two are of different builds: blocks are not compared."),
    }
}

/// Writes a difference for programs.
///
/// # Errors
/// If the output can't be written.
pub fn write_json(difference: &Difference, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, difference)?;
    writeln!(out)
}
