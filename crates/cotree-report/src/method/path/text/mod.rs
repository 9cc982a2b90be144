//! Path profiles as text for the terminal.

mod cover;
mod doubts;
mod metric;
mod options;
mod predict;
mod rows;
mod spectrum;
mod view;

pub use cover::write as write_cover;
pub(in crate::method) use cover::write_common;
pub(in crate::method) use metric::each;
pub use options::{By, PathsOptions};
pub(in crate::method) use predict::write_score;
pub(in crate::method) use rows::heading as write_heading;
pub use spectrum::write as write_spectrum;

use super::route::{Writer, along};
use super::totals::{Hot, Totals, What, covering, gather};
use super::{PathFunction, PathUnit, Paths, class_name};
use crate::filtered::{self, Shares};
use crate::report::write_head;
use crate::terminal::{grouped, number, percent, text};
use cotree_core::facts::Callee;
use cotree_core::ids::{Block, Site};
use cotree_core::method::path::PathStart;
use rows::Row;
use std::cmp::Reverse;
use std::io::{self, Write};
use view::View;

/// Writes the paths of one unit.
///
/// # Errors
/// If the output can't be written.
pub fn write(unit: &PathUnit<'_>, options: &PathsOptions, out: &mut dyn Write) -> io::Result<()> {
    write_head(unit.unit, options.style, out)?;
    let (mut hot, totals) = gather(unit, |symbol| options.wanted(symbol));
    let mut whole = Totals::default();
    totals.iter().flatten().for_each(|t| whole.add(t));
    let mut run = whole.instructions;
    if let Some(pattern) = &options.function {
        run = gather(unit, |_| true).1.iter().flatten().map(|totals| totals.instructions).sum();
        filtered::write(pattern, [whole.instructions, run], "instructions", Shares::OfRun, options.style, out)?;
    }
    let view = View { unit, options };
    view.totals(&whole, &hot, out)?;
    if hot.is_empty() {
        writeln!(out, "No path was executed.\n")?;
    } else {
        // The sort is stable: equal ones stay in the order of instructions.
        match options.by {
            By::Instructions => {}
            By::Count => hot.sort_by_key(|h| Reverse(h.count)),
            By::Metric => hot.sort_by_key(|h| Reverse(h.sum)),
        }
        view.hottest([whole.instructions, run], &totals, &hot, out)?;
    }
    if options.predicted {
        predict::write(&view, out)?;
    }
    view.by_function(run, &totals, out)?;
    view.unfinished(out)?;
    doubts::write(&view, out)
}

/// What is in a list of the hottest.
fn kinds(hot: &[Hot]) -> &'static str {
    if hot.iter().any(|hot| matches!(hot.what, What::SelfLoop(_))) { "paths and loops of one block" } else { "paths" }
}

impl View<'_> {
    fn totals(&self, whole: &Totals, hot: &[Hot], out: &mut dyn Write) -> io::Result<()> {
        let row = |name: &str, value: String, more: String| [name.to_owned(), value, more];
        let part = |part: u128| percent(part, whole.instructions);
        let mut rows = vec![
            row(
                "functions run",
                grouped(whole.run.into()),
                format!("of {}, copies inlined elsewhere apart", grouped(whole.functions.into())),
            ),
            row("paths run", grouped(whole.executed.into()), format!("of {} possible", rows::large(whole.possible))),
            row("executions", grouped(whole.executions), "of paths".into()),
            row(
                "instructions",
                grouped(whole.instructions),
                format!("{} in paths, {} in loops of one block", part(whole.along_paths()), part(whole.in_self_loops)),
            ),
        ];
        if !hot.is_empty() {
            let needed = |share| grouped(covering(hot, whole.instructions, share) as u128);
            rows.push(row(
                "90% of those",
                needed(90.0),
                format!("{} (50% {}, 99% {})", kinds(hot), needed(50.0), needed(99.0)),
            ));
        }
        let ended = whole.pending + whole.cut_short + whole.unresolved;
        if (whole.pending, whole.cut_short, whole.unresolved) != (0, 0, 0) {
            let mut more = format!("{} amid a path, {} where it was decided", whole.pending, whole.cut_short);
            if whole.unresolved != 0 {
                more.push_str(&format!(", {} unknown", whole.unresolved));
            }
            rows.push(row("ended early", ended.to_string(), more));
        }
        metric::totals(self.unit.metric(), whole, &mut rows);
        writeln!(out, "{}", self.options.style.totals(&rows))
    }

    /// `whole` are the instructions of the wanted functions, `run` those of all.
    fn hottest(
        &self,
        [whole, run]: [u128; 2],
        totals: &[Option<Totals>],
        hot: &[Hot],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let metric = self.unit.metric();
        let shown = match self.options.covering {
            Some(share) => covering(hot, whole, share),
            None => self.options.shown(hot.len()),
        };
        let mut so_far = 0;
        let mut numbered: Option<(usize, Paths<'_>)> = None;
        let mut rows = Vec::new();
        for hot in &hot[..shown] {
            so_far += hot.executed();
            let of = &self.unit.functions()[hot.function];
            if numbered.as_ref().is_none_or(|n| n.0 != hot.function) {
                numbered = of.numbered().map(|paths| (hot.function, paths));
            }
            let Some((_, paths)) = &numbered else { continue };
            let doubt = if of.function.flaws().is_empty() { "" } else { "~" };
            let mut cells = vec![grouped(hot.executed()), percent(hot.executed(), run)];
            if self.options.by == By::Instructions {
                cells.push(percent(so_far, run));
            }
            cells.push(format!("{doubt}{}", grouped(hot.count.into())));
            cells.push(grouped(hot.instructions.into()));
            if metric.is_summed() {
                let of_function = totals[hot.function].map_or(0, |t| t.sum);
                cells.extend(metric::cells(hot, of_function));
            } else {
                cells.extend([grouped(hot.blocks as u128), grouped(hot.edges as u128)]);
            }
            cells.push(match hot.what {
                What::Path(_, class) => class_name(class).into(),
                What::SelfLoop(_) => "one block".into(),
            });
            rows.push(Row::new(cells, self.described(paths, &hot.what)));
        }
        let by = match self.options.by {
            By::Instructions => "instructions",
            By::Count => "count",
            By::Metric => metric.of_what(),
        };
        rows::heading(self.options, &format!("Hottest {}, by {by}", kinds(hot)), shown, hot.len(), out)?;
        let mut columns = vec![number("instructions"), number("share")];
        if self.options.by == By::Instructions {
            columns.push(number("so far"));
        }
        columns.extend([number("count"), number("each")]);
        if metric.is_summed() {
            columns.extend([metric.of_what(), "each", "of function"].map(number));
        } else {
            columns.extend([number("blocks"), number("edges")]);
        }
        columns.push(text("from→to"));
        rows::write(self.options, &columns, &rows, out)
    }

    fn by_function(&self, run: u128, totals: &[Option<Totals>], out: &mut dyn Write) -> io::Result<()> {
        let functions = self.unit.functions().iter().zip(totals);
        let mut ran: Vec<_> = functions.filter_map(|(of, t)| Some((of, t.filter(|t| t.run > 0)?))).collect();
        if ran.is_empty() {
            return Ok(());
        }
        ran.sort_by_key(|(of, t)| (std::cmp::Reverse(t.instructions), of.function.index));
        let shown = self.options.shown(ran.len());
        rows::heading(self.options, "Paths by function", shown, ran.len(), out)?;
        let metric = self.unit.metric();
        let rows = ran[..shown].iter().map(|(of, t)| {
            let doubt = if of.function.flaws().is_empty() { "" } else { "~" };
            let mut cells = vec![
                grouped(t.instructions),
                percent(t.instructions, run),
                format!("{doubt}{}", grouped(t.executions)),
                grouped(t.executed.into()),
                rows::large(t.possible),
                percent(t.executed.into(), t.possible),
            ];
            if metric.is_summed() {
                cells.push(grouped(t.sum));
            }
            cells.push(self.name(of));
            cells
        });
        let mut columns = vec![
            number("instructions"),
            number("share"),
            number("executions"),
            number("paths"),
            number("possible").spare(1),
            number("covered").spare(2),
        ];
        if metric.is_summed() {
            columns.push(number(metric.of_what()));
        }
        columns.push(text("function"));
        writeln!(out, "{}", self.options.style.table(&columns, rows.collect()))
    }

    fn unfinished(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut rows = Vec::new();
        for of in self.wanted() {
            let profile = of.profile;
            if profile.pending.is_empty() && profile.cut_short.is_empty() && profile.unresolved.is_empty() {
                continue;
            }
            let Some(paths) = of.numbered() else { continue };
            let name = self.name(of);
            let writer = self.writer(of);
            let mut row = |count: i64, blocks: &[Block], rest: String| {
                let each = paths.instructions(blocks);
                let cells = vec![
                    signed(count),
                    if blocks.is_empty() { String::new() } else { grouped(each.into()) },
                    if blocks.is_empty() { String::new() } else { grouped(blocks.len() as u128) },
                ];
                rows.push((count.unsigned_abs(), Row::new(cells, format!("{name}: {rest}"))));
            };
            for pending in &profile.pending {
                let call = call(of, &writer, pending.site);
                let Some(path) = paths.pending(pending) else { continue };
                let from = if path.start == PathStart::Entry { "from the entry, " } else { "" };
                let route = self.route(&paths, &path, Some(pending.site));
                row(pending.count, &path.blocks, format!("{from}{route}, in the call of {call}"));
            }
            for &(site, count) in &profile.cut_short {
                let call = call(of, &writer, site);
                row(count, &[], format!("in the call of {call}, after the path was counted"));
            }
            for &(site, count) in &profile.unresolved {
                row(count, &[], format!("in the call of {}, by an unknown path", call(of, &writer, site)));
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_by_key(|r| std::cmp::Reverse(r.0));
        let shown = self.options.shown(rows.len());
        rows::heading(self.options, "Paths that ended early", shown, rows.len(), out)?;
        let rows: Vec<Row> = rows.into_iter().take(shown).map(|r| r.1).collect();
        rows::write(self.options, &[number("count"), number("each"), number("blocks")], &rows, out)
    }
}

/// A count of activations, negative if more were revived than ended.
fn signed(count: i64) -> String {
    format!("{}{}", if count < 0 { "-" } else { "" }, grouped(count.unsigned_abs().into()))
}

/// A call, by callee and line.
fn call(of: &PathFunction<'_>, writer: &Writer<'_>, site: Site) -> String {
    let Some(facts) = of.function.facts.calls.site(site) else { return "?".into() };
    let callee = match &facts.callee {
        Callee::Symbol(symbol) => super::route::short(&crate::names::demangle(symbol)),
        Callee::Indirect => "a pointer".into(),
        Callee::Assembly => "assembly".into(),
        Callee::Fault => "a fault".into(),
    };
    let lines = along(of.function.facts, &[facts.block], Some(site));
    match lines.last() {
        Some(&stop) => format!("{callee} at {}", writer.write(&[stop])),
        None => callee,
    }
}
