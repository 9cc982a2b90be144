//! Pages of functions: facts, blocks and edges, loops, calls, callers and inlined copies.

use super::costs::CostsJson;
use super::exported::{Export, Function, Source};
use super::lines::Lines;
use super::natural_loops::NaturalLoops;
use super::shown::{FunctionPage, Graph, Place, Table, figure, numbers_of, same, two_figures};
use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeMap, HashSet};

/// What pages of functions are held against.
pub struct Functions<'a> {
    pub export: &'a Export,
    /// The run that this one is compared with, of the same build.
    pub before: Option<&'a Export>,
    /// A profile of calls, of the same sources and input.
    pub calls: Option<&'a Export>,
    pub costs: Option<&'a CostsJson>,
    pub lines: &'a Lines<'a>,
    pub kind: &'a str,
}

/// How much was compared.
#[derive(Default)]
pub struct Compared {
    pub blocks: usize,
    pub edges: usize,
    pub calls: usize,
    pub callers: usize,
    pub inlined: usize,
    pub figures: usize,
}

/// A call: the other function's name if it has a page, file and line, and how often it was made.
type Row = (String, Option<Place>, u128);

impl Functions<'_> {
    /// Checks a page.
    pub fn check(&self, page: &FunctionPage, compared: &mut Compared) -> Result<()> {
        let number = *numbers_of(&page.page).first().context("a number")?;
        let source = self.export.sources.get(number).context("a function that is exported")?;
        self.check_of(page, source, compared).with_context(|| format!("the page of {} ({number})", source.name))
    }

    fn check_of(&self, page: &FunctionPage, source: &Source, compared: &mut Compared) -> Result<()> {
        let sums = self.export.sums(source);
        let fact = |name: &str| page.facts.get(name).map(String::as_str);
        let own = fact(self.kind).map(figure).transpose()?.flatten();
        ensure!(own == Some(sums.instructions), "{own:?} instructions, exported {}", sums.instructions);
        if let Some(entries) = fact("Entries") {
            let (all, inlined) = entries.split_once(" (").unwrap_or((entries, "0 inlined)"));
            let inlined = figure(inlined.strip_suffix(" inlined)").context("inlined copies")?)?;
            ensure!(figure(all)? == Some(sums.entries), "{all} entries, exported {}", sums.entries);
            ensure!(inlined == Some(source.inlined), "{inlined:?} inlined, exported {}", source.inlined);
        }
        let ran = two_figures(fact("Blocks run").context("blocks")?)?;
        ensure!(ran == [sums.ran, sums.blocks], "{ran:?} blocks ran");
        compared.figures += 5;
        let counted: Vec<&Function> =
            self.export.bodies(source).filter(|body| body.not_instrumented.is_none()).collect();
        ensure!(page.graphs.len() == counted.len(), "{} graphs of {} bodies", page.graphs.len(), counted.len());
        let before = self.before.map(|before| {
            before.bodies(&before.sources[self.number(source)]).filter(|body| body.not_instrumented.is_none()).collect()
        });
        let before: Option<Vec<&Function>> = before;
        for (at, (graph, body)) in page.graphs.iter().zip(&counted).enumerate() {
            let then = before.as_ref().and_then(|before| before.get(at).copied());
            self.graph(graph, body, then, compared)?;
        }
        if let Some(at) = self.export.bodies(source).find_map(|body| body.position) {
            compared.figures += self.lines.check(self.export.path(source, at.file), &page.lines)?;
        }
        self.inlined(page, source, &counted, compared)?;
        self.calls(page, source, compared)
    }

    fn number(&self, source: &Source) -> usize {
        self.export.sources.iter().position(|other| std::ptr::eq(other, source)).unwrap_or(usize::MAX)
    }

    fn graph(&self, graph: &Graph, body: &Function, before: Option<&Function>, compared: &mut Compared) -> Result<()> {
        let natural = NaturalLoops::of(body);
        let outermost = natural.loops.iter().filter(|found| !found.nested);
        let loops: HashSet<(u128, u128)> = outermost.map(|found| (found.blocks.len() as u128, found.trips)).collect();
        for lines in &graph.folded {
            let blocks = lines.first().and_then(|line| line.strip_prefix("loop of ")?.strip_suffix(" blocks"));
            let Some(blocks) = blocks.map(figure).transpose()?.flatten() else { continue };
            let trips = lines.iter().find_map(|line| line.strip_prefix("trips: ")).context("trips")?;
            if natural.reducible {
                let trips = figure(trips)?.context("a count")?;
                ensure!(loops.contains(&(blocks, trips)), "no loop of {blocks} blocks has {trips} trips: {loops:?}");
            }
            compared.figures += 2;
        }
        let Some(nodes) = &graph.nodes else { return Ok(()) };
        let mut seen = 0;
        for line in nodes.iter().filter_map(|lines| lines.first()).filter(|line| *line != "exit") {
            let (block, counts) = line.split_once(' ').with_context(|| format!("{line:?} is no block"))?;
            let block: usize = block.trim_start_matches('b').parse()?;
            let then = before.map(|before| before.blocks[block].count);
            self.pair(counts, body.blocks[block].count, then).with_context(|| format!("block {block}"))?;
            seen += 1;
        }
        ensure!(seen == body.blocks.len(), "{seen} of {} blocks are drawn", body.blocks.len());
        type Ends = (usize, Option<usize>);
        let of = |body: &Function| {
            let mut counts: BTreeMap<Ends, Option<u64>> = BTreeMap::new();
            for edge in &body.edges {
                let sum = counts.entry((edge.from, edge.to)).or_insert(Some(0));
                *sum = sum.zip(edge.count).map(|(sum, count)| sum + count);
            }
            counts
        };
        let (now, then) = (of(body), before.map(of));
        for title in &graph.edges {
            let (ends, label) = title.split_once(": ").with_context(|| format!("{title:?} is no edge"))?;
            let (from, to) = ends.split_once(" to ").with_context(|| format!("{title:?} is no edge"))?;
            let ends: Ends = (from[1..].parse()?, if to == "exit" { None } else { Some(to[1..].parse()?) });
            let counts = label.rsplit_once(", ").map_or(label, |(_, counts)| counts);
            // Digits are grouped by commas without a blank.
            let exported = *now.get(&ends).with_context(|| format!("{title:?} is not exported"))?;
            let then = then.as_ref().map(|then| then.get(&ends).copied().flatten());
            self.pair(counts, exported, then).with_context(|| title.clone())?;
        }
        ensure!(graph.edges.len() == now.len(), "{} of {} edges are drawn", graph.edges.len(), now.len());
        compared.blocks += seen;
        compared.edges += now.len();
        Ok(())
    }

    /// Checks a count, and what it was in the other run if that differs: `17 (was 3)`.
    fn pair(&self, text: &str, exported: Option<u64>, then: Option<Option<u64>>) -> Result<()> {
        let (now, was) = text.split_once(" (was ").unwrap_or((text, ""));
        let known = |text: &str| if text.trim() == "?" { Ok(None) } else { figure(text) };
        ensure!(known(now)? == exported.map(u128::from), "{now} is shown, {exported:?} exported");
        let was = figure(was.trim_end_matches(')'))?;
        let differs = then.flatten().filter(|&then| exported.is_some_and(|now| now != then));
        ensure!(was == differs.map(u128::from), "{was:?} was before, exported {then:?}");
        Ok(())
    }

    /// The rows of tables of calls: name, place and amount.
    fn rows(&self, table: &Table, amount: &str, place: &str) -> Result<Vec<(String, Option<usize>, Row)>> {
        let [amount, name, place] = [amount, "Function", place].map(|title| table.column(title));
        let [amount, name, place] = [amount?, name?, place?];
        let mut rows = Vec::new();
        for row in &table.rows {
            let at = row[place].place()?;
            let page = row[name].numbers().first().copied();
            let count = figure(row[amount].text())?;
            let Some(count) = count else {
                ensure!(amount == 0, "{}: no amount", table.caption);
                continue;
            };
            rows.push((row[name].text().to_owned(), page, (row[name].text().to_owned(), at, count)));
        }
        Ok(rows)
    }

    fn inlined(
        &self,
        page: &FunctionPage,
        source: &Source,
        bodies: &[&Function],
        compared: &mut Compared,
    ) -> Result<()> {
        let tables: Vec<&Table> = page.tables.iter().filter(|table| table.caption == "Inlined here").collect();
        let mut shown = Vec::new();
        for table in &tables {
            shown.extend(self.rows(table, "Entries", "Called at")?.into_iter().map(|(_, _, row)| row));
        }
        let all = bodies.iter().flat_map(|body| &body.inlined);
        let exported = all.filter_map(|copy| {
            let at = copy.call.map(|at| (self.export.path(source, at.file).to_owned(), at.line));
            Some((copy.name.clone(), at, u128::from(copy.entries?)))
        });
        if tables.iter().all(|table| table.whole) {
            compared.inlined += same("inlined copies", shown, exported.collect())?;
        }
        Ok(())
    }

    fn calls(&self, page: &FunctionPage, source: &Source, compared: &mut Compared) -> Result<()> {
        let tables = |caption: &str| -> Result<Vec<(String, Option<usize>, Row)>> {
            let mut rows = Vec::new();
            for table in page.tables.iter().filter(|table| table.caption == caption) {
                rows.extend(self.rows(table, "Calls", "Where")?);
            }
            Ok(rows)
        };
        let (made, callers) = (tables("Calls")?, tables("Called by")?);
        let whole = page.tables.iter().all(|table| table.whole);
        // A call is made as often as its line is come to in some block.
        for (name, _, (_, at, count)) in &made {
            ensure!(self.is_at(source, at.as_ref(), |known| known == *count), "a call of {name} at {at:?}: {count}");
        }
        for (name, caller, (_, at, count)) in &callers {
            let caller = caller.and_then(|caller| self.export.sources.get(caller)).context("a caller's page")?;
            ensure!(caller.name == *name, "{name} is {}", caller.name);
            // Where calls through pointers are known, one may have led to others, too.
            let fits = |known| known == *count || self.costs.is_some() && known > *count;
            ensure!(self.is_at(caller, at.as_ref(), fits), "a call by {name} at {at:?}: {count}");
        }
        compared.calls += made.len();
        compared.callers += callers.len();
        let ran = |rows: &[(String, Option<usize>, Row)]| -> Vec<(Option<Place>, u128)> {
            rows.iter().map(|(_, _, (_, at, count))| (at.clone(), *count)).filter(|(_, count)| *count > 0).collect()
        };
        if let Some(calls) = self.calls.filter(|_| whole && !source.bodies.is_empty()) {
            let begins = |export: &Export, source: &Source| {
                let at = export.bodies(source).find_map(|body| body.position)?;
                Some((export.path(source, at.file).to_owned(), at.line))
            };
            let same_source =
                |other: &&Source| other.symbol == source.symbol && begins(calls, other) == begins(self.export, source);
            let other = calls.sources.iter().find(same_source).context("the profile of calls has no such function")?;
            let place = |of: &Source, call: &super::exported::Call| {
                call.position.map(|at| (calls.path(of, at.file).to_owned(), at.line))
            };
            let counted = calls.bodies(other).flat_map(|body| &body.calls).filter(|call| call.count > 0);
            let counted = counted.map(|call| (place(other, call), u128::from(call.count))).collect();
            same("calls", ran(&made), counted)?;
            if self.export.sources.iter().filter(|other| other.symbol == source.symbol).count() == 1 {
                let mut counted = Vec::new();
                for caller in &calls.sources {
                    let of = calls.bodies(caller).flat_map(|body| &body.calls);
                    let of = of.filter(|call| call.count > 0 && call.callee.as_ref() == Some(&source.symbol));
                    counted.extend(of.map(|call| (place(caller, call), u128::from(call.count))));
                }
                same("callers", ran(&callers), counted)?;
            }
        }
        if let Some(costs) = self.costs {
            let sum = |rows: &[(String, Option<usize>, Row)]| -> u128 { rows.iter().map(|(_, _, row)| row.2).sum() };
            if whole && self.export.sources.iter().filter(|other| other.symbol == source.symbol).count() == 1 {
                let told = costs.calls().filter(|call| call.1 == source.symbol).map(|call| call.3).sum::<u128>();
                ensure!(sum(&callers) == told, "called {} times, `cotree costs` has {told}", sum(&callers));
            }
        }
        Ok(())
    }

    /// Whether some block of a function has this line, and came to it as often as it should.
    fn is_at(&self, source: &Source, at: Option<&Place>, fits: impl Fn(u128) -> bool) -> bool {
        let Some((path, number)) = at else { return true };
        self.export.bodies(source).flat_map(|body| &body.blocks).flat_map(|block| &block.lines).any(|line| {
            line.line == *number
                && line.count.is_some_and(|count| fits(count.into()))
                && self.export.path(source, line.file) == path
        })
    }
}
