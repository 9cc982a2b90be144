//! The page while it is written: a line for each quantity of a paper, and a table of all programs behind it.

use super::program::Program;
use crate::table::Table;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What stands where nothing has been measured.
pub const NOT_MEASURED: &str = "Not measured yet: `cargo xtask bench --papers` does.";

/// What stands in a cell of a program of which something else is known.
const UNKNOWN: &str = "not measured yet";

/// One quantity of a paper, and ours.
pub struct Line {
    /// What is counted.
    pub quantity: &'static str,
    /// The paper's number.
    pub theirs: &'static str,
    /// Ours, if it is known.
    pub ours: Option<String>,
    /// Why they differ.
    pub why: &'static str,
}

/// What a column shows of a program.
type Cell<'a> = Box<dyn Fn(&Program<'_>) -> Option<String> + 'a>;

/// A column of a table of programs.
pub struct Column<'a> {
    title: &'static str,
    cell: Cell<'a>,
}

impl<'a> Column<'a> {
    /// A column that shows this of each program.
    pub fn new(title: &'static str, cell: impl Fn(&Program<'_>) -> Option<String> + 'a) -> Column<'a> {
        Column { title, cell: Box::new(cell) }
    }
}

/// One table or figure of a paper.
pub struct Part<'a> {
    /// The table or figure, such as `Table 2`.
    pub place: &'static str,
    /// What the table of ours has, in a sentence.
    pub about: &'static str,
    /// The quantities.
    pub lines: Vec<Line>,
    /// The columns of the table of programs; none if there is no such table.
    pub columns: Vec<Column<'a>>,
    /// The builds of which the store's instructions, times or sizes are used.
    pub builds: &'a [&'static str],
    /// Whether times are used, too.
    pub timed: bool,
    /// Whether facts that were measured for this page are used.
    pub facts: bool,
    /// Why a Rust program that has no row has none.
    pub lacking: &'static str,
    /// What stands in a cell of a Rust program that is not built so.
    pub empty: &'static str,
}

impl Default for Part<'_> {
    fn default() -> Self {
        Part {
            place: "",
            about: "",
            lines: Vec::new(),
            columns: Vec::new(),
            builds: &[],
            timed: false,
            facts: false,
            lacking: "Rust programs are not built by these methods",
            empty: "not built in Rust",
        }
    }
}

/// The page.
#[derive(Default)]
pub struct Sheet {
    papers: Vec<Paper>,
}

/// What the page has of one paper.
struct Paper {
    name: &'static str,
    title: &'static str,
    /// Table or figure, quantity, the paper's number, ours, and why they differ.
    lines: Vec<[String; 5]>,
    /// The tables of programs.
    tables: String,
}

impl Sheet {
    /// Begins a paper.
    pub fn paper(&mut self, name: &'static str, title: &'static str) {
        self.papers.push(Paper { name, title, lines: Vec::new(), tables: String::new() });
    }

    /// Adds a table or figure of the paper, with what is known of these programs.
    pub fn part(&mut self, programs: &[Program<'_>], part: Part<'_>) {
        let rows: Vec<(&Program<'_>, Vec<Option<String>>)> = programs
            .iter()
            .map(|program| (program, part.columns.iter().map(|column| (column.cell)(program)).collect::<Vec<_>>()))
            .filter(|(_, cells)| cells.iter().any(Option::is_some))
            .collect();
        let Some(paper) = self.papers.last_mut() else { return };
        for line in &part.lines {
            paper.lines.push([
                part.place.to_owned(),
                line.quantity.to_owned(),
                line.theirs.to_owned(),
                line.ours.clone().unwrap_or_else(|| NOT_MEASURED.to_owned()),
                line.why.to_owned(),
            ]);
        }
        let text = &mut paper.tables;
        let _ = writeln!(text, "### {}\n\n{}", part.place, part.about);
        if part.columns.is_empty() {
            let _ = writeln!(text);
            return;
        }
        if rows.is_empty() {
            let _ = writeln!(text, "{NOT_MEASURED}\n");
            return;
        }
        let mut table = Table::new(std::iter::once("program").chain(part.columns.iter().map(|column| column.title)));
        for (program, cells) in &rows {
            let empty = if program.in_rust { part.empty } else { UNKNOWN };
            let cells = cells.iter().map(|cell| cell.clone().unwrap_or_else(|| empty.to_owned()));
            table.row(std::iter::once(program.name().to_owned()).chain(cells));
        }
        let _ = writeln!(text, "\n{table}");
        let _ = write!(text, "{} programs.", rows.len());
        for (in_rust, why) in [(true, part.lacking), (false, UNKNOWN)] {
            let absent = programs.iter().filter(|program| program.in_rust == in_rust).map(Program::name);
            let absent: Vec<&str> = absent.filter(|name| !rows.iter().any(|(row, _)| row.name() == *name)).collect();
            if !absent.is_empty() {
                let _ = write!(text, " Without {}: {why}.", absent.join(", "));
            }
        }
        let mut days: BTreeMap<&str, usize> = BTreeMap::new();
        for (program, _) in &rows {
            let of_builds = part.builds.iter().flat_map(|build| program.days(build, part.timed));
            let of_facts = program.facts.filter(|_| part.facts).map(|facts| facts.from.as_str());
            of_builds.chain(of_facts).for_each(|day| *days.entry(day).or_default() += 1);
        }
        let days: Vec<String> = days.into_iter().map(|(day, count)| format!("{day} ({count})")).collect();
        let _ = writeln!(text, " Measurements are from {}.\n", days.join("; "));
    }

    /// The quantities of each paper, then the tables of programs.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for Paper { name, title, lines, tables } in &self.papers {
            let _ = writeln!(text, "## {name}: {title}\n");
            let _ = writeln!(text, "| table or figure | quantity | the paper | ours | why they differ |");
            let _ = writeln!(text, "| --- | --- | --- | --- | --- |");
            for line in lines {
                let _ = writeln!(text, "| {} |", line.join(" | "));
            }
            let _ = writeln!(text, "\n{}", tables.trim_end());
            text.push('\n');
        }
        wrapped(&text)
    }

    /// The tables and figures of each paper that have a line.
    #[cfg(test)]
    pub fn places(&self) -> Vec<(&str, &str)> {
        self.papers.iter().flat_map(|paper| paper.lines.iter().map(|line| (paper.name, line[0].as_str()))).collect()
    }

    /// All cells of the lines.
    #[cfg(test)]
    pub fn cells(&self) -> impl Iterator<Item = &String> {
        self.papers.iter().flat_map(|paper| paper.lines.iter().flatten())
    }
}

/// Breaks lines of prose where the project's lines end.
fn wrapped(text: &str) -> String {
    const COLUMNS: usize = 120;
    let mut out = String::new();
    for line in text.lines() {
        let mut column = 0;
        for word in line.split(' ') {
            let length = word.chars().count();
            if column > 0 && column + 1 + length > COLUMNS && !line.starts_with('|') {
                out.push('\n');
                column = 0;
            } else if column > 0 {
                out.push(' ');
                column += 1;
            }
            out += word;
            column += length;
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_and_tables_are_not() {
        let word = "seven77";
        let prose = [word; 20].join(" ");
        let lines: Vec<usize> = wrapped(&prose).lines().map(str::len).collect();
        assert_eq!(lines, [119, 39]);
        let row = format!("| {prose} |");
        assert_eq!(wrapped(&row), format!("{row}\n"));
    }
}
