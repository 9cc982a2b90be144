//! The comparison for people: how much is of each category, each file that is not as it was, and the lines.

use super::category::Category;
use super::comparison::{Comparison, NamedFile};
use crate::region_coverage::line_runs::span;
use crate::region_coverage::ratio::Ratio;
use crate::terminal::{Style, grouped, number, percent, text};
use std::io::{self, Write};

/// The categories whose lines are listed.
const LISTED: [Category; 6] =
    [Category::Lbc, Category::Unc, Category::Uic, Category::Gbc, Category::Gic, Category::Gnc];

/// Writes the comparison. `prefix` is left out of paths.
///
/// # Errors
/// If the output can't be written.
pub fn write(comparison: &Comparison, prefix: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    write_categories(comparison, style, out)?;
    if !comparison.files.iter().any(NamedFile::any_change) {
        return writeln!(out, "\nNothing is covered otherwise than before.");
    }
    let short = |path: &str| path.strip_prefix(prefix).map_or(path, |rest| rest.trim_start_matches('/')).to_owned();
    writeln!(out)?;
    write_files(comparison, &short, style, out)?;
    for category in LISTED {
        write_lines(comparison, category, &short, style, out)?;
    }
    Ok(())
}

fn write_categories(comparison: &Comparison, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let row = |category: Category| {
        let [lines, functions, branches] = comparison.of(category).map(|count| grouped(count.into()));
        vec![category.code().to_owned(), lines, functions, branches, category.meaning().to_owned()]
    };
    let there = |category: &Category| *category == Category::Lbc || comparison.of(*category) != [0; 3];
    let columns = [text(""), number("lines"), number("functions"), number("branches"), text("code that")];
    write!(out, "{}", style.table(&columns, Category::all().filter(there).map(row).collect()))
}

fn write_files(
    comparison: &Comparison,
    short: &dyn Fn(&str) -> String,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let share = |ratio: Ratio| percent(ratio.covered.into(), ratio.total.into());
    let row = |categories: [&super::Categories; 3], name: String| {
        let [lines, ..] = categories;
        let shares = categories.into_iter().flat_map(|of| [share(of.before), share(of.now)]);
        let gained = [Category::Gbc, Category::Gic, Category::Gnc].map(|category| lines.of(category));
        let lost = grouped(lines.of(Category::Lbc).into());
        let gained = grouped(gained.iter().sum::<u64>().into());
        shares.chain([lost, gained, name]).collect::<Vec<_>>()
    };
    let changed = comparison.files.iter().filter(|file| file.any_change());
    let mut rows: Vec<_> = changed
        .map(|NamedFile { path, file, .. }| row([&file.lines, &file.functions, &file.branches], short(path)))
        .collect();
    rows.push(row([&comparison.lines, &comparison.functions, &comparison.branches], "total".into()));
    let columns = [
        number("lines"),
        number("now"),
        number("functions").spare(1),
        number("now").spare(1),
        number("branches").spare(2),
        number("now").spare(2),
        number("lost"),
        number("gained"),
        text("file"),
    ];
    write!(out, "{}", style.table(&columns, rows))
}

fn write_lines(
    comparison: &Comparison,
    category: Category,
    short: &dyn Fn(&str) -> String,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut is_first = true;
    for named in &comparison.files {
        let spans = |parts: Vec<(u32, u32)>| {
            parts.into_iter().map(|(first, last)| span(first, last)).collect::<Vec<_>>().join(", ")
        };
        let mut said = vec![spans(named.lines(category))];
        let branches = named.lines_of_branches(category);
        // Of what was lost on lines that still run, only outcomes tell.
        if category == Category::Lbc && !branches.is_empty() {
            said.push(format!("outcomes of conditions on {}", spans(branches)));
        }
        said.retain(|text| !text.is_empty());
        if said.is_empty() {
            continue;
        }
        if std::mem::take(&mut is_first) {
            let heading = format!("{}: {}", category.code(), category.name());
            writeln!(out, "\n{}", style.heading(&heading))?;
        }
        let line = format!("{}: {}", short(&named.path), said.join("; "));
        writeln!(out, "  {}", style.wrap(&line, 4))?;
    }
    Ok(())
}
