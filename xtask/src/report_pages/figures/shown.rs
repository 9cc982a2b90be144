//! What the pages show, as `programs/report_figures.js` reads it: text of cells, digits and all.

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use std::collections::BTreeMap;

/// All that was read.
#[derive(Deserialize)]
pub struct Shown {
    /// Per link unit: names, amounts and remarks of its totals.
    pub units: Vec<Vec<[String; 3]>>,
    /// The tables of the overview.
    pub tables: Vec<Table>,
    /// Values and largest values of the bars in them.
    pub meters: Vec<[u64; 2]>,
    pub functions: Vec<FunctionPage>,
    pub files: Vec<FilePage>,
    pub paths: Option<PathsPage>,
    pub compare: Option<Vec<Table>>,
    /// Per box of the flame graph: its title, what it cost with all within, and where it stands.
    pub flame: Vec<[String; 3]>,
}

/// The page of a function.
#[derive(Deserialize)]
pub struct FunctionPage {
    pub page: String,
    pub facts: BTreeMap<String, String>,
    pub tables: Vec<Table>,
    pub lines: Vec<ShownLine>,
    pub graphs: Vec<Graph>,
}

/// The graph of a body: lines of text of its nodes, with loops folded and unfolded, and titles of its edges.
#[derive(Deserialize)]
pub struct Graph {
    pub folded: Vec<Vec<String>>,
    /// Absent where there are too many.
    pub nodes: Option<Vec<Vec<String>>>,
    pub edges: Vec<String>,
}

/// The page of a source file.
#[derive(Deserialize)]
pub struct FilePage {
    pub path: String,
    pub lines: Vec<ShownLine>,
}

/// A line of a source file.
#[derive(Deserialize)]
pub struct ShownLine {
    pub line: u32,
    pub runs: String,
    /// How often it ran in the other run.
    pub before: Option<String>,
    pub share: String,
    /// What stands below it, of a loop or a branch: its small print, its text, and outcomes.
    pub below: Vec<(String, String, Vec<String>)>,
}

/// The page of paths.
#[derive(Deserialize)]
pub struct PathsPage {
    pub said: String,
    pub table: Table,
    /// The stretches of each row.
    pub stories: Vec<Vec<Stretch>>,
}

/// A stretch of a path.
#[derive(Clone, Debug, Deserialize, PartialEq, PartialOrd)]
pub struct Stretch {
    pub link: Option<String>,
    pub context: bool,
    pub depth: f64,
    pub route: String,
}

/// A table.
#[derive(Deserialize)]
pub struct Table {
    pub caption: String,
    /// All rows were shown.
    pub whole: bool,
    pub head: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    Text(String),
    /// Text, what it leads to, and the path of the file there.
    Link(String, String, String),
}

impl Cell {
    pub fn text(&self) -> &str {
        match self {
            Cell::Text(text) | Cell::Link(text, ..) => text,
        }
    }

    /// The numbers in the address that the cell leads to.
    pub fn numbers(&self) -> Vec<usize> {
        match self {
            Cell::Text(_) => Vec::new(),
            Cell::Link(_, address, _) => numbers_of(address),
        }
    }

    /// The place that the cell names and leads to, if it does.
    pub fn place(&self) -> Result<Option<Place>> {
        let Cell::Link(text, _, path) = self else { return Ok(None) };
        let [_, line] = self.numbers()[..] else { anyhow::bail!("{text} leads to no line") };
        let name = path.rsplit('/').next().unwrap_or(path);
        ensure!(*text == format!("{name}:{line}"), "{text} leads to {path}:{line}");
        Ok(Some((path.clone(), u32::try_from(line)?)))
    }
}

/// A line of a source file: path and number.
pub type Place = (String, u32);

/// The numbers in an address, such as 3 and 17 in `#/file/3/17`.
pub fn numbers_of(address: &str) -> Vec<usize> {
    address.split('/').filter_map(|part| part.parse().ok()).collect()
}

impl Table {
    /// The table of that caption, or of one that begins so and goes on with a number.
    pub fn find<'a>(tables: &'a [Table], caption: &str) -> Option<&'a Table> {
        let is = |table: &&Table| {
            table.caption.strip_prefix(caption).is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
        };
        tables.iter().find(is)
    }

    /// Where the column of that title is.
    pub fn column(&self, title: &str) -> Result<usize> {
        let found = self.head.iter().position(|head| head == title);
        found.with_context(|| format!("{} has no column {title}, but {:?}", self.caption, self.head))
    }
}

/// A count as text: `1,234`, or `~1,234` where it is not vouched for; `None` where nothing stands.
pub fn figure(text: &str) -> Result<Option<u128>> {
    let digits: String = text.trim().trim_start_matches('~').chars().filter(|c| *c != ',').collect();
    if digits.is_empty() {
        return Ok(None);
    }
    digits.parse().map(Some).with_context(|| format!("{text:?} is no count"))
}

/// Two counts as text: `3 of 17`.
pub fn two_figures(text: &str) -> Result<[u128; 2]> {
    let (part, whole) = text.trim().split_once(" of ").with_context(|| format!("{text:?} is not some of all"))?;
    let known = |text| figure(text)?.context("a count");
    Ok([known(part)?, known(whole)?])
}

/// Fails if a share in percent is not that of the two amounts. Shares have one digit.
pub fn share(text: &str, part: u128, whole: u128) -> Result<()> {
    let exact = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    let fits = match text.trim() {
        "" => part == 0 || whole == 0,
        "<0.1%" => part > 0 && exact < 0.0501,
        text => {
            let shown: f64 = text.trim_end_matches('%').parse().with_context(|| format!("{text} is no share"))?;
            (shown - exact).abs() < 0.0501 || (part < whole && shown == 99.9 && exact > 99.9)
        }
    };
    ensure!(fits, "{text:?} is not the share of {part} in {whole}");
    Ok(())
}

/// Fails if a mean is not that of the two amounts. Means have one digit.
pub fn mean(text: &str, sum: u128, count: u128) -> Result<()> {
    if count == 0 {
        ensure!(text == "-", "{text:?} of none");
        return Ok(());
    }
    let digits: String = text.chars().filter(|c| *c != ',').collect();
    let shown: f64 = digits.parse().with_context(|| format!("{text} is no mean"))?;
    let exact = sum as f64 / count as f64;
    ensure!((shown - exact).abs() <= 0.0501, "{text} is not the mean of {sum} in {count}");
    Ok(())
}

/// Fails if the two do not hold the same, each as often.
pub fn same<T: Ord + std::fmt::Debug>(what: &str, shown: Vec<T>, exported: Vec<T>) -> Result<usize> {
    let (mut shown, mut exported) = (shown, exported);
    shown.sort();
    exported.sort();
    let at = shown.iter().zip(&exported).position(|(a, b)| a != b).unwrap_or(shown.len().min(exported.len()));
    ensure!(
        shown.len() == exported.len() && at == shown.len(),
        "{what}: {} are shown, {} exported; the first that differ are shown {:?}, exported {:?}",
        shown.len(),
        exported.len(),
        shown.get(at),
        exported.get(at)
    );
    Ok(shown.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_and_differences_seen() {
        assert_eq!(figure("~1,234 ").unwrap(), Some(1234));
        assert_eq!(figure("").unwrap(), None);
        assert!(figure("12 of 3").is_err());
        assert_eq!(two_figures("3 of 1,017 ").unwrap(), [3, 1017]);
        for (text, part, whole) in
            [("", 0, 7), ("<0.1%", 1, 3000), ("33.3%", 1, 3), ("99.9%", 99_999, 100_000), ("100.0%", 7, 7)]
        {
            share(text, part, whole).unwrap();
        }
        for (text, part, whole) in [("", 1, 7), ("<0.1%", 0, 3000), ("33.5%", 1, 3), ("99.9%", 7, 7)] {
            share(text, part, whole).unwrap_err();
        }
        mean("2.5", 5, 2).unwrap();
        mean("2.4", 5, 2).unwrap_err();
        same("numbers", vec![2, 1], vec![1, 2]).unwrap();
        same("numbers", vec![1, 1], vec![1, 2]).unwrap_err();
        same("numbers", vec![1], vec![1, 2]).unwrap_err();
    }
}
