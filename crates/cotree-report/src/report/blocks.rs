//! What the counts of blocks and edges say: totals, hot functions and loops, what never ran, and what is in doubt.

use super::options::{ReportOptions, SortBy};
use crate::costs::Cost;
use crate::explain;
use crate::filtered::{self, Shares};
use crate::functions::{Executed, FunctionSummary, summarize};
use crate::loops;
use crate::method::totals;
use crate::names::matches;
use crate::terminal::{Style, counted, grouped, mark, mean, number, percent, place, text};
use crate::unit::{LOOP_MISSING, Unit, UnitFunction, flaw_reason, untouched_reason};
use cotree_core::facts::events::EventKind;
use cotree_core::profile::Flaw;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What the counts of blocks and edges say.
pub(crate) fn write(unit: &Unit<'_>, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    let report = Report { unit, options, style: options.style };
    let mut functions = summarize(unit);
    let instructions = |functions: &[FunctionSummary]| functions.iter().map(|f| f.instructions.total).sum::<u128>();
    let whole = instructions(&functions);
    if let Some(pattern) = &options.function {
        functions.retain(|f| matches(pattern, &f.symbol));
        let amounts = [instructions(&functions), whole];
        filtered::write(pattern, amounts, "instructions", Shares::OfRun, options.style, out)?;
    }
    report.totals(&functions, out)?;
    report.hot_functions(&functions, whole, out)?;
    report.hot_loops(out)?;
    report.unreached(&functions, out)?;
    report.doubts(&functions, out)?;
    report.untouched(&functions, out)
}

/// Stands behind the names in tables of those whose counts lack what a note below the table says.
const MISSING: &str = "*";

/// A name in a table, with the mark of a loop that was under way.
fn marked(name: &str, missing: bool) -> String {
    if missing { format!("{name} {MISSING}") } else { name.to_owned() }
}

struct Report<'a> {
    unit: &'a Unit<'a>,
    options: &'a ReportOptions,
    style: Style,
}

impl Report<'_> {
    fn shown<'b, T>(&self, all: &'b [T]) -> &'b [T] {
        if self.options.top == 0 { all } else { &all[..all.len().min(self.options.top)] }
    }

    fn wanted(&self, symbol: &str) -> bool {
        self.options.function.as_ref().is_none_or(|p| matches(p, symbol))
    }

    fn totals(&self, functions: &[FunctionSummary], out: &mut dyn Write) -> io::Result<()> {
        let mut executed = Executed::default();
        let mut events = Cost::default();
        let (mut entries, mut block_executions) = (0u128, 0u128);
        for function in functions {
            executed.merge(&function.instructions);
            events += function.events.unwrap_or_default();
            entries += u128::from(function.own_entries);
            block_executions += function.block_executions;
        }
        let measured = || functions.iter().filter(|f| f.is_measured());
        let run = measured().filter(|f| f.ran()).count();
        let blocks: u64 = measured().map(|f| f.blocks).sum();
        let unreached: u64 = measured().map(|f| f.unreached).sum();
        // Every sum over functions of which one is in doubt is in doubt itself.
        let doubt = mark(measured().any(|f| !f.flaws.is_empty()));
        let sum = |sum: u128| format!("{doubt}{}", grouped(sum));
        let row = |name: &str, value: String, more: String| [name.to_owned(), value, more];
        let mut rows = vec![
            row("functions run", sum(run as u128), format!("of {}", grouped(measured().count() as u128))),
            row("blocks run", sum(u128::from(blocks - unreached)), format!("of {}", grouped(u128::from(blocks)))),
            row("function entries", sum(entries), String::new()),
            row("block executions", sum(block_executions), String::new()),
            row(
                "instructions",
                sum(executed.total),
                format!(
                    "loads {}, stores {}, calls {}, floating-point {}",
                    sum(executed.loads),
                    sum(executed.stores),
                    sum(executed.calls),
                    sum(executed.float)
                ),
            ),
        ];
        let more = [EventKind::Branches, EventKind::Allocations, EventKind::SystemCalls, EventKind::Cost];
        let more: Vec<String> = more
            .into_iter()
            .filter(|&kind| events.of(kind) > 0)
            .map(|kind| format!("{} {}", kind.title(), sum(events.of(kind))))
            .collect();
        if let Some(instructions) = rows.last_mut().map(|[_, _, more]| more).filter(|_| !more.is_empty()) {
            instructions.push_str(&format!(", {}", more.join(", ")));
        }
        let wanted = self.unit.functions().filter(|f| f.profile.is_some() && self.wanted(&f.facts.symbol));
        let (name, total, remark) = totals::total(self.unit, wanted);
        rows.push(row(name, grouped(total), remark));
        writeln!(out, "{}", self.style.totals(&rows))
    }

    /// `whole`: the instructions of the run.
    fn hot_functions(&self, functions: &[FunctionSummary], whole: u128, out: &mut dyn Write) -> io::Result<()> {
        let mut hot: Vec<(String, &FunctionSummary)> =
            functions.iter().filter(|f| f.ran()).map(|f| (self.options.names.show(&f.symbol), f)).collect();
        hot.sort_by(|(a_name, a), (b_name, b)| {
            let by_name = || a_name.cmp(b_name).then(a.position.cmp(&b.position));
            let by_instructions = || b.instructions.total.cmp(&a.instructions.total);
            match self.options.sort {
                SortBy::Instructions => by_instructions().then(b.entries().cmp(&a.entries())),
                SortBy::Entries => b.entries().cmp(&a.entries()).then_with(by_instructions),
                SortBy::Blocks => b.block_executions.cmp(&a.block_executions),
                SortBy::Name => by_name(),
            }
            .then_with(by_name)
        });
        if !functions.iter().any(FunctionSummary::is_measured) {
            return Ok(());
        }
        if hot.is_empty() {
            return writeln!(out, "No function ran.\n");
        }
        let shown = self.shown(&hot);
        let title = match self.options.sort {
            SortBy::Instructions => "Hottest functions, by instructions",
            SortBy::Entries => "Hottest functions, by entries",
            SortBy::Blocks => "Hottest functions, by block executions",
            SortBy::Name => "Functions",
        };
        let inlined = hot.iter().filter(|(_, f)| f.bodies.is_empty()).count();
        let which = match inlined {
            0 => "that ran".to_owned(),
            inlined => format!("that ran, {} of them only as copies that were inlined", grouped(inlined as u128)),
        };
        self.list_heading(title, shown.len(), hot.len(), &which, out)?;
        let rows = shown.iter().map(|(name, f)| {
            let of = |count: u128| format!("{}{}", mark(!f.flaws.is_empty()), grouped(count));
            let inlined = if f.inlined_entries > 0 { of(u128::from(f.inlined_entries)) } else { String::new() };
            let (instructions, share, blocks) = if f.bodies.is_empty() {
                (String::new(), String::new(), String::new())
            } else {
                (of(f.instructions.total), percent(f.instructions.total, whole), of(f.block_executions))
            };
            vec![
                instructions,
                share,
                blocks,
                of(u128::from(f.entries())),
                inlined,
                marked(name, f.flaws.contains(&Flaw::LoopsUnderWay)),
                self.unit.brief(f.position),
            ]
        });
        let columns = [
            number("instructions"),
            number("share"),
            number("blocks").spare(2),
            number("entries"),
            number("inlined").spare(1),
            text("function"),
            place("where"),
        ];
        write!(out, "{}", self.style.table(&columns, rows.collect()))?;
        self.note_missing(shown.iter().any(|(_, f)| f.flaws.contains(&Flaw::LoopsUnderWay)), out)
    }

    /// Says below a table what its marks mean.
    fn note_missing(&self, any: bool, out: &mut dyn Write) -> io::Result<()> {
        if any {
            writeln!(out, "  {}", self.style.warning(&format!("{MISSING} {LOOP_MISSING}")))?;
        }
        writeln!(out)
    }

    fn hot_loops(&self, out: &mut dyn Write) -> io::Result<()> {
        struct Row {
            function: String,
            doubt: bool,
            /// The loop may have been under way.
            missing: bool,
            found: loops::Loop,
        }
        let mut rows = Vec::new();
        for function in self.unit.functions().filter(|f| self.wanted(&f.facts.symbol)) {
            let Some(flow) = function.flow() else { continue };
            let doubt = !function.flaws().is_empty();
            let found = loops::of_function(&flow).into_iter().filter(|l| l.trips > 0);
            let missing = function.flaws().contains(&Flaw::LoopsUnderWay);
            let row =
                |found: loops::Loop| Row { function: self.loop_in(&function, found.inlined), doubt, missing, found };
            rows.extend(found.map(row));
        }
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_by(|a, b| {
            (b.found.instructions, b.found.trips)
                .cmp(&(a.found.instructions, a.found.trips))
                .then_with(|| a.function.cmp(&b.function))
        });
        let shown = self.shown(&rows);
        self.list_heading("Hottest loops", shown.len(), rows.len(), "that ran", out)?;
        let rows = shown.iter().map(|row| {
            let l = &row.found;
            let of = |count: u128| format!("{}{}", mark(row.doubt), grouped(count));
            vec![
                of(l.instructions),
                of(u128::from(l.entries)),
                of(u128::from(l.trips)),
                l.average().map_or_else(|| "-".into(), |average| format!("{}{}", mark(row.doubt), mean(average))),
                marked(&row.function, row.missing),
                self.unit.brief(l.position),
            ]
        });
        let columns = [
            number("instructions"),
            number("entries"),
            number("trips"),
            number("per entry").spare(1),
            text("function"),
            place("where"),
        ];
        write!(out, "{}", self.style.table(&columns, rows.collect()))?;
        self.note_missing(shown.iter().any(|row| row.missing), out)
    }

    /// The function that a loop is in; of one that was inlined, also the function that the copy is in.
    fn loop_in(&self, function: &UnitFunction<'_>, inlined: Option<u32>) -> String {
        let body = self.options.names.show(&function.facts.symbol);
        match inlined.and_then(|copy| function.facts.inlined.get(copy as usize)) {
            Some(copy) => format!("{} in {body}", self.options.names.show(&copy.symbol)),
            None => body,
        }
    }

    fn unreached(&self, functions: &[FunctionSummary], out: &mut dyn Write) -> io::Result<()> {
        let measured = || functions.iter().filter(|f| f.is_measured());
        let never: Vec<_> = measured().filter(|f| !f.ran()).collect();
        let partly: u64 = measured().filter(|f| f.ran()).map(|f| f.unreached).sum();
        if measured().next().is_none() {
            return Ok(());
        }
        if never.is_empty() && partly == 0 {
            return writeln!(out, "Every block ran.\n");
        }
        let in_those = measured().filter(|f| f.ran() && f.unreached > 0).count();
        let doubtful = never.iter().filter(|f| !f.flaws.is_empty()).count();
        let doubt = match doubtful {
            0 => String::new(),
            n if n == never.len() => " (~ not vouched for)".into(),
            n => format!(" (~ {} of them not vouched for)", grouped(n as u128)),
        };
        let text = format!(
            "Never reached: {}{doubt}; besides, {} in {} that ran{}",
            counted(never.len() as u128, "function"),
            counted(u128::from(partly), "block"),
            counted(in_those as u128, "function"),
            if self.options.verbose { ":" } else { " (-v lists them)." }
        );
        let text = if self.style.width.is_some() { self.style.wrap(&text, 2) } else { text };
        let title = "Never reached:";
        writeln!(out, "{}{}", self.style.heading(title), text.strip_prefix(title).unwrap_or_default())?;
        if self.options.verbose {
            for function in &never {
                writeln!(
                    out,
                    "  {}{} {}",
                    if function.flaws.is_empty() { "" } else { "~" },
                    self.options.names.show(&function.symbol),
                    self.unit.brief(function.position)
                )?;
            }
            for function in self.unit.functions().filter(|f| self.wanted(&f.facts.symbol)) {
                let Some(profile) = function.profile.filter(|p| p.blocks.iter().any(|&c| c > 0)) else { continue };
                let unreached: Vec<String> = profile
                    .blocks
                    .iter()
                    .zip(&function.facts.blocks)
                    .enumerate()
                    .filter(|(_, (count, _))| **count == 0)
                    .map(|(index, (_, block))| match block.lines.first() {
                        Some(span) => format!("b{index} ({})", self.unit.brief(Some(span.at))),
                        None => format!("b{index}"),
                    })
                    .collect();
                if !unreached.is_empty() {
                    let text = format!("{}: {}", self.options.names.show(&function.facts.symbol), unreached.join(", "));
                    writeln!(out, "  {}", self.style.wrap(&text, 4))?;
                }
            }
        }
        writeln!(out)
    }

    fn doubts(&self, functions: &[FunctionSummary], out: &mut dyn Write) -> io::Result<()> {
        const TITLE: &str = "Not vouched for:";
        let mut by_flaw: BTreeMap<Flaw, Vec<&FunctionSummary>> = BTreeMap::new();
        for function in functions.iter().filter(|f| f.is_measured()) {
            for &flaw in &function.own_flaws {
                by_flaw.entry(flaw).or_default().push(function);
            }
        }
        let doubtful = functions.iter().filter(|f| f.is_measured() && f.is_doubtful()).count() as u128;
        if doubtful == 0 {
            return Ok(());
        }
        let several = by_flaw.values().map(|functions| functions.len() as u128).sum::<u128>() > doubtful;
        let several = if several { ", some for several reasons" } else { "" };
        let all = format!("{TITLE} {}{several} ({})", counted(doubtful, "function"), explain::HINT);
        let all = self.style.wrap(&all, 2);
        writeln!(out, "{}{}", self.style.heading(TITLE), all.strip_prefix(TITLE).unwrap_or(&all))?;
        for (flaw, functions) in by_flaw {
            let names = self.names(functions.iter().map(|f| &f.symbol));
            let text = format!(
                "{} [{}]: {}: {names}",
                counted(functions.len() as u128, "function"),
                explain::of_flaw(flaw).code,
                flaw_reason(flaw)
            );
            writeln!(out, "  {}", self.style.wrap(&text, 4))?;
        }
        for (function, error) in &self.unit.profile.failures {
            let symbol = self.unit.function(*function).map_or("?", |f| f.facts.symbol.as_str());
            writeln!(out, "  {}", self.style.wrap(&format!("{}: {error}", self.options.names.show(symbol)), 4))?;
        }
        writeln!(out)
    }

    fn untouched(&self, functions: &[FunctionSummary], out: &mut dyn Write) -> io::Result<()> {
        let mut by_reason: BTreeMap<&str, Vec<&FunctionSummary>> = BTreeMap::new();
        for function in functions {
            if let Some(untouched) = function.untouched {
                by_reason.entry(untouched_reason(untouched)).or_default().push(function);
            }
        }
        if by_reason.is_empty() {
            return Ok(());
        }
        writeln!(out, "{}", self.style.heading("Not instrumented:"))?;
        for (reason, functions) in by_reason {
            let names = self.names(functions.iter().map(|f| &f.symbol));
            let text = format!("{}: {reason}: {names}", counted(functions.len() as u128, "function"));
            writeln!(out, "  {}", self.style.wrap(&text, 4))?;
        }
        writeln!(out)
    }

    /// A few names, or all.
    fn names<'b>(&self, symbols: impl ExactSizeIterator<Item = &'b String>) -> String {
        let all = symbols.len();
        let limit = if self.options.verbose { all } else { 5 };
        let mut names: Vec<String> = symbols.take(limit).map(|s| self.options.names.show(s)).collect();
        if all > limit {
            names.push(format!("and {} more", grouped((all - limit) as u128)));
        }
        names.join(", ")
    }

    fn list_heading(&self, title: &str, shown: usize, all: usize, which: &str, out: &mut dyn Write) -> io::Result<()> {
        let cut = if shown < all { format!(" ({shown} of {} {which})", grouped(all as u128)) } else { String::new() };
        let text = if self.style.width.is_some() {
            self.style.wrap(&format!("{title}{cut}"), 2)
        } else {
            format!("{title}{cut}")
        };
        let rest = text.strip_prefix(title).unwrap_or_default();
        writeln!(out, "{}{}", self.style.heading(title), self.style.faint(rest))
    }
}
