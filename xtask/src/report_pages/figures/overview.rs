//! The overview: totals, and the tables of functions, loops and files.

use super::costs::CostsJson;
use super::exported::Export;
use super::natural_loops::NaturalLoops;
use super::shown::{Cell, Shown, Table, figure, mean, same, share, two_figures};
use super::spent::Spent;
use super::tracefile::Tracefile;
use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeMap, HashMap};

/// Checks the totals against the export, and against the head of `cotree report`.
pub fn totals(shown: &Shown, export: &Export, report: &str) -> Result<()> {
    let measured = || {
        export.sources.iter().filter(|source| {
            !source.bodies.is_empty() && export.bodies(source).all(|body| body.not_instrumented.is_none())
        })
    };
    let [mut run, mut all, mut ran, mut blocks, mut entries, mut executions] = [0u128; 6];
    for source in &export.sources {
        let sums = export.sums(source);
        entries += sums.entries - source.inlined;
        executions += sums.executions;
    }
    for source in measured() {
        let sums = export.sums(source);
        all += 1;
        run += u128::from(sums.entries > 0 || sums.executions > 0);
        ran += sums.ran;
        blocks += sums.blocks;
    }
    let mut expected = BTreeMap::from([
        ("functions run", (run, Some(all))),
        ("blocks run", (ran, Some(blocks))),
        ("function entries", (entries, None)),
        ("block executions", (executions, None)),
        ("instructions", (export.whole(), None)),
    ]);
    for [name, amount, remark] in shown.units.iter().flatten() {
        let amount = figure(amount)?.with_context(|| format!("{name}: no amount"))?;
        if let Some((exported, of)) = expected.remove(name.as_str()) {
            ensure!(amount == exported, "{name}: {amount} are shown, {exported} exported");
            let told = remark.strip_prefix("of ").map(figure).transpose()?.flatten();
            ensure!(told == of, "{name}: {remark:?}, exported {of:?}");
        }
        let line = report.lines().map(str::trim).find_map(|line| line.strip_prefix(name.as_str()));
        let line = line.with_context(|| format!("`cotree report` has no {name}"))?.trim();
        let (digits, rest) = line.split_once(' ').unwrap_or((line, ""));
        ensure!(figure(digits)? == Some(amount), "{name}: {amount} are shown, {digits} are reported");
        ensure!(rest.trim().starts_with(remark), "{name}: {remark:?} is shown, {rest:?} reported");
    }
    ensure!(expected.is_empty(), "no totals of {:?}", expected.keys());
    Ok(())
}

/// Checks the table of functions. Gives how many there are.
pub fn functions(table: &Table, kind: &str, export: &Export, costs: Option<&CostsJson>) -> Result<usize> {
    let column = |title: &str| table.column(title);
    let [own, part, entries, inlined, ran, name] =
        [kind, "Share", "Entries", "Inlined", "Blocks run", "Function"].map(column);
    let [own, part, entries, inlined, ran, name] = [own?, part?, entries?, inlined?, ran?, name?];
    let inclusive = column("Inclusive").ok();
    let inclusive_of = costs.map(CostsJson::inclusive).transpose()?;
    let whole = export.whole();
    let mut last = u128::MAX;
    for row in &table.rows {
        let text = |column: usize| row.get(column).map_or("", Cell::text);
        let number = *row.get(name).map(Cell::numbers).unwrap_or_default().first().context("a function's page")?;
        let source = export.sources.get(number).with_context(|| format!("no function {number} is exported"))?;
        let sums = export.sums(source);
        let what = || format!("{} ({number})", source.name);
        ensure!(text(name) == source.name, "{} is shown as {}", source.name, text(name));
        let differs = |column: usize, exported: u128| -> Result<()> {
            let amount = figure(text(column))?;
            ensure!(amount.unwrap_or(0) == exported, "{}: {amount:?} is shown, {exported} exported", what());
            Ok(())
        };
        differs(own, sums.instructions).context("what it did itself")?;
        differs(entries, sums.entries).context("entries")?;
        differs(inlined, source.inlined).context("inlined")?;
        share(text(part), sums.instructions, whole).with_context(what)?;
        let doubtful = export.bodies(source).any(|body| !body.flaws.is_empty());
        ensure!(!doubtful || text(own).starts_with('~'), "{}: {} is not marked as doubtful", what(), text(own));
        if !text(ran).is_empty() {
            ensure!(two_figures(text(ran))? == [sums.ran, sums.blocks], "{}: {} blocks ran", what(), text(ran));
        }
        if let (Some(column), Some(exported)) = (inclusive, &inclusive_of) {
            let exported = exported.get(source.symbol.as_str()).copied().unwrap_or(0);
            let unique = export.sources.iter().filter(|other| other.symbol == source.symbol).count() == 1;
            if unique {
                differs(column, exported).context("inclusive")?;
            }
        }
        let now = figure(text(own))?.unwrap_or(0);
        ensure!(now <= last, "{} stands behind a function of less", what());
        last = now;
    }
    if table.whole {
        ensure!(table.rows.len() == export.sources.len(), "{} of {}", table.rows.len(), export.sources.len());
    }
    Ok(table.rows.len())
}

/// The most loops that the overview has.
const MOST_LOOPS: usize = 500;

/// Checks the table of loops against those that dominators find. Gives how many there are.
pub fn loops(table: Option<&Table>, export: &Export) -> Result<usize> {
    type Figures = [u128; 3];
    let mut found: HashMap<usize, Vec<Figures>> = HashMap::new();
    let mut certain: Vec<(usize, Figures)> = Vec::new();
    for (number, source) in export.sources.iter().enumerate() {
        for body in export.bodies(source) {
            let natural = NaturalLoops::of(body);
            let ran = natural.loops.iter().filter(|found| found.trips > 0);
            let figures = ran.map(|found| [found.instructions, found.entries, found.trips]);
            for figures in figures {
                found.entry(number).or_default().push(figures);
                if natural.reducible {
                    certain.push((number, figures));
                }
            }
        }
    }
    let Some(table) = table else {
        ensure!(certain.is_empty(), "no table of loops, and {} ran", certain.len());
        return Ok(0);
    };
    ensure!(table.whole, "the table of loops is cut");
    let [instructions, entries, trips, per, name] =
        ["Instructions", "Entries", "Trips", "Per entry", "Function"].map(|title| table.column(title));
    let [instructions, entries, trips, per, name] = [instructions?, entries?, trips?, per?, name?];
    let mut shown: Vec<(usize, Figures)> = Vec::new();
    for row in &table.rows {
        let amount = |column: usize| figure(row[column].text())?.context("an amount");
        let figures = [amount(instructions)?, amount(entries)?, amount(trips)?];
        mean(row[per].text(), figures[2], figures[1])?;
        let number = *row[name].numbers().first().context("a function's page")?;
        let source = export.sources.get(number).with_context(|| format!("no function {number} is exported"))?;
        let text = row[name].text();
        ensure!(text == source.name || text.ends_with(&format!(" in {}", source.name)), "{text}: {}", source.name);
        let exported = found.get_mut(&number).map(Vec::as_mut_slice).unwrap_or_default();
        ensure!(exported.contains(&figures), "{text}: {figures:?} is shown, {exported:?} exported");
        shown.push((number, figures));
    }
    // The hottest are there, each as often.
    let least = if shown.len() < MOST_LOOPS { 0 } else { shown.last().map_or(0, |(_, figures)| figures[0] + 1) };
    certain.retain(|(_, figures)| figures[0] >= least);
    let count = |list: &[(usize, Figures)]| {
        let mut counts: BTreeMap<(usize, Figures), usize> = BTreeMap::new();
        list.iter().for_each(|one| *counts.entry(*one).or_default() += 1);
        counts
    };
    let counts = count(&shown);
    for (one, times) in count(&certain) {
        let are = counts.get(&one).copied().unwrap_or(0);
        ensure!(are >= times, "{}: {one:?} is exported {times} times, shown {are}", export.sources[one.0].name);
    }
    Ok(shown.len())
}

/// Checks the table of files against the tracefile, and against costs by line. Gives how many there are.
pub fn files(shown: &Shown, kind: &str, tracefile: &Tracefile, spent: &Spent, whole: u128) -> Result<usize> {
    let table = Table::find(&shown.tables, "Source files").context("no table of files")?;
    let [own, part, lines, name] = [kind, "Share", "Lines run", "File"].map(|title| table.column(title));
    let [own, part, lines, name] = [own?, part?, lines?, name?];
    let mut of_files: HashMap<&str, u128> = HashMap::new();
    spent.iter().for_each(|((path, _), amount)| *of_files.entry(path).or_default() += amount);
    let mut meters = shown.meters.iter();
    let (mut told, mut most, mut expected) = (0, 0, Vec::new());
    let mut rows = Vec::new();
    for row in &table.rows {
        let path = row[name].text().split_once(' ').map_or("?", |(_, path)| path);
        let amount = figure(row[own].text())?.context("an amount")?;
        let spent = of_files.remove(path).unwrap_or(0);
        // What has no line is exported with the line where its function begins.
        ensure!(amount <= spent, "{path}: {amount} are shown, {spent} exported");
        told += amount;
        most += spent;
        rows.push((row[part].text(), amount, path));
        if !row[lines].text().is_empty() {
            let [run, all] = two_figures(row[lines].text())?;
            ensure!(meters.next().map(|meter| meter.map(u128::from)) == Some([run, all]), "{path}: its bar");
            expected.push((path.to_owned(), [run, all]));
        }
    }
    for (text, amount, path) in rows {
        share(text, amount, told).with_context(|| path.to_owned())?;
    }
    if table.whole {
        let rest: u128 = of_files.values().sum();
        ensure!(most + rest == whole, "{most} and {rest} instructions of {whole} are exported by lines");
        let exported = tracefile.files().map(|(path, figures)| (path.to_owned(), figures)).collect();
        same("lines of files", expected, exported)?;
    }
    Ok(table.rows.len())
}
