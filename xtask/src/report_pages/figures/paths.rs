//! The table of paths, and the story of each, against `cotree paths --json`.

use super::exported::Export;
use super::shown::{Cell, PathsPage, Stretch, figure, numbers_of, share};
use crate::command;
use crate::real::Context;
use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The most paths that the page has, and the most stretches of one.
const MOST: usize = 1000;
const MOST_STRETCHES: usize = 12;

#[derive(Deserialize)]
struct Json {
    units: Vec<Unit>,
}

#[derive(Deserialize)]
struct Unit {
    files: Vec<String>,
    functions: Vec<Function>,
    /// Across functions.
    #[serde(default)]
    paths: Vec<Across>,
}

/// A function with its paths, or the symbol of one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Function {
    Symbol(String),
    Paths { symbol: String, module: String, paths: Vec<Within> },
}

#[derive(Deserialize)]
struct Within {
    number: u64,
    count: u64,
    instructions: u64,
    lines: Vec<Line>,
    #[serde(default)]
    context_lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Across {
    number: u64,
    count: u64,
    instructions: u64,
    context: Vec<Part>,
    active: Vec<Part>,
}

#[derive(Deserialize)]
struct Part {
    function: usize,
    depth: u32,
    lines: Vec<Line>,
}

/// File, line, and perhaps an inlined copy.
type Line = Vec<usize>;

/// A path that ran.
#[derive(Clone)]
pub struct Exported {
    /// What all its executions executed.
    instructions: u128,
    count: u128,
    /// Symbol, whether it is context, depth, and lines in short.
    story: Vec<(String, bool, u32, String)>,
}

/// The paths of a profile: by module and symbol of their function where they are within one, and number.
pub type Paths = BTreeMap<(String, u64), Exported>;

/// Asks for the paths of a profile.
pub fn of(profile: &Path, context: &Context) -> Result<Paths> {
    let text = command::succeed(context.cotree().args(["paths", "--json"]).arg(profile))?;
    let json: Json = serde_json::from_slice(&text).context("the paths")?;
    let mut paths = Paths::new();
    for (unit_number, unit) in json.units.iter().enumerate() {
        let symbol = |number: usize| match unit.functions.get(number) {
            Some(Function::Symbol(symbol) | Function::Paths { symbol, .. }) => symbol.clone(),
            None => "?".to_owned(),
        };
        for function in &unit.functions {
            let Function::Paths { symbol, module, paths: all } = function else { continue };
            for path in all.iter().filter(|path| path.count > 0) {
                let stretches = [(&path.context_lines, true), (&path.lines, false)];
                let stretches = stretches.into_iter().filter(|(lines, context)| !(*context && lines.is_empty()));
                let exported = Exported {
                    instructions: u128::from(path.instructions) * u128::from(path.count),
                    count: path.count.into(),
                    story: stretches
                        .map(|(lines, context)| (symbol.clone(), context, 0, route(&unit.files, lines)))
                        .collect(),
                };
                paths.insert((format!("{unit_number} {module} {symbol}"), path.number), exported);
            }
        }
        for path in unit.paths.iter().filter(|path| path.count > 0) {
            let parts =
                path.context.iter().map(|part| (part, true)).chain(path.active.iter().map(|part| (part, false)));
            let exported = Exported {
                instructions: u128::from(path.instructions) * u128::from(path.count),
                count: path.count.into(),
                story: parts
                    .map(|(part, context)| {
                        (symbol(part.function), context, part.depth, route(&unit.files, &part.lines))
                    })
                    .collect(),
            };
            paths.insert((unit_number.to_string(), path.number), exported);
        }
    }
    Ok(paths)
}

/// Lines in short: `lvm.c:4-6 9`.
fn route(files: &[String], lines: &[Line]) -> String {
    let mut text = String::new();
    let mut current: Option<(usize, usize, usize)> = None;
    for line in lines {
        let [file, line] = line[..2] else { continue };
        if let Some((of, first, last)) = current
            && of == file
            && (line == last || line == last + 1)
        {
            current = Some((of, first, line));
            continue;
        }
        end(&mut text, current);
        if !text.is_empty() {
            text.push(' ');
        }
        if current.is_none_or(|(of, ..)| of != file) {
            let path = files.get(file).map_or("?", String::as_str);
            text += &format!("{}:", path.rsplit('/').next().unwrap_or(path));
        }
        text += &line.to_string();
        current = Some((file, line, line));
    }
    end(&mut text, current);
    text
}

fn end(text: &mut String, current: Option<(usize, usize, usize)>) {
    if let Some((.., last)) = current.filter(|(_, first, last)| last > first) {
        *text += &format!("-{last}");
    }
}

/// What is known of a row: instructions, times, times before, and the story as text.
type Row = (u128, u128, Option<u128>, String);

/// Checks the page of paths. Gives how many there are.
pub fn check(shown: &PathsPage, export: &Export, paths: &Paths, before: Option<&Paths>) -> Result<usize> {
    let said = shown.said.split_once(" paths ran").and_then(|(count, _)| figure(count).ok()).flatten();
    ensure!(said == Some(paths.len() as u128), "{:?}, and {} are exported", shown.said, paths.len());
    let [instructions, part, times] = ["Instructions", "Share", "Times"].map(|title| shown.table.column(title));
    let [instructions, part, times] = [instructions?, part?, times?];
    let then = shown.table.column("Before").ok();
    ensure!(then.is_some() == before.is_some(), "counts of the other run: {:?}", shown.table.head);
    ensure!(shown.table.whole, "the table of paths is cut");
    let mut expected: HashMap<Row, usize> = HashMap::new();
    let mut weights: Vec<u128> = Vec::new();
    let mut add = |path: &Exported, now: u128, executed: u128, was: Option<u128>, weight: u128| {
        *expected.entry((executed, now, was, story(&path.story))).or_default() += 1;
        weights.push(weight);
    };
    for (key, path) in paths {
        let other = before.map(|before| before.get(key));
        let was = other.map(|other| other.map_or(0, |other| other.count));
        let weight = path.instructions.max(other.flatten().map_or(0, |other| other.instructions));
        add(path, path.count, path.instructions, was, weight);
    }
    for (_, path) in before.into_iter().flatten().filter(|(key, _)| !paths.contains_key(*key)) {
        add(path, 0, 0, Some(path.count), path.instructions);
    }
    let all = weights.len();
    ensure!(shown.table.rows.len() == all.min(MOST), "{} of {all} paths are shown", shown.table.rows.len());
    let mut least = u128::MAX;
    for (row, stretches) in shown.table.rows.iter().zip(&shown.stories) {
        let text = |column: usize| row.get(column).map_or("", Cell::text);
        let amount = |column: usize| figure(text(column))?.context("an amount");
        let (executed, now) = (amount(instructions)?, amount(times)?);
        let was = then.map(|then| figure(text(then).split(" only").next().unwrap_or_default())).transpose()?.flatten();
        share(text(part), executed, export.whole())?;
        let row = (executed, now, was, shown_story(stretches, export)?);
        let Some(left) = expected.get_mut(&row).filter(|left| **left > 0) else {
            anyhow::bail!("{row:?} is shown, and not exported");
        };
        *left -= 1;
        least = least.min(executed);
    }
    // Without another run the rows are the hottest.
    if before.is_none() {
        let hotter = weights.iter().filter(|&&weight| weight > least).count();
        ensure!(all <= MOST || hotter < MOST, "{hotter} paths are hotter than one that is shown");
    }
    Ok(shown.table.rows.len())
}

fn story(parts: &[(String, bool, u32, String)]) -> String {
    let shown = parts.iter().take(MOST_STRETCHES);
    let mut text: String = shown
        .map(|(symbol, context, depth, route)| {
            format!(
                "{}{}{symbol} {route}\n",
                " ".repeat((*depth).min(12) as usize),
                if *context { "after " } else { "" }
            )
        })
        .collect();
    if parts.len() > MOST_STRETCHES {
        text += &format!("and {} more parts", parts.len() - MOST_STRETCHES);
    }
    text
}

fn shown_story(stretches: &[Stretch], export: &Export) -> Result<String> {
    let mut text = String::new();
    for stretch in stretches {
        let Some(link) = &stretch.link else {
            text += &stretch.route;
            continue;
        };
        let number = *numbers_of(link).first().context("a function's page")?;
        let source = export.sources.get(number).context("a function that is exported")?;
        let context = if stretch.context { "after " } else { "" };
        text += &format!("{}{context}{} {}\n", " ".repeat(stretch.depth as usize), source.symbol, stretch.route);
    }
    Ok(text)
}
