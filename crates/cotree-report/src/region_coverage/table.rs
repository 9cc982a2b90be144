//! Coverage per file: as a table, and as JSON (`cotree-coverage/1`, docs/json.md).

use super::decision::CountedDecision;
use super::decision_json::DecisionDocument;
use super::line_runs::span;
use super::program::RegionCoverage;
use super::summary::{FileSummary, Ratio};
use super::unsure::{More, Unsure};
use crate::terminal::{Style, grouped, number, percent, text};
use serde::Serialize;
use std::io::{self, Write};

/// The coverage of some files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageTable {
    /// Each file, in the order of their paths.
    pub files: Vec<FileCoverage>,
    /// The sums over all files.
    pub total: FileSummary,
    /// How much more may have run.
    pub more: More,
    /// Whether decisions are counted, if there are any.
    pub counts_decisions: bool,
}

/// The coverage of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCoverage {
    /// The path, as the compiler has it.
    pub path: String,
    /// How much there is of it, and how much ran.
    pub summary: FileSummary,
    /// The lines that did not run: first and last of each part.
    pub missing: Vec<(u32, u32)>,
    /// What is not known.
    pub unsure: Unsure,
    /// The decisions of its functions.
    pub decisions: Vec<CountedDecision>,
    /// Lines about decisions of Rust that were not followed: where, and why.
    pub not_followed: Vec<String>,
}

impl CoverageTable {
    /// The coverage of the files whose paths are wanted and that have functions.
    #[must_use]
    pub fn new(coverage: &RegionCoverage<'_>, wanted: impl Fn(&str) -> bool) -> Self {
        let mut paths: Vec<&str> = coverage.paths().filter(|path| wanted(path)).collect();
        paths.sort_unstable();
        paths.dedup();
        let counts_decisions = coverage.source_decisions.are_counted;
        let (total, more) = (FileSummary::default(), More::default());
        let mut table = Self { files: Vec::new(), total, more, counts_decisions };
        for path in paths {
            let summary = coverage.summary(path);
            if summary.functions.total == 0 && summary.lines.total == 0 {
                continue;
            }
            table.total.add(&summary);
            let unsure = coverage.unsure(path, &summary);
            table.more.add(unsure.more);
            let missing = missing(coverage, path, &unsure);
            let decisions = decisions(coverage, path);
            let not_followed = coverage.source_decisions.not_followed(path).map(|found| found.to_string()).collect();
            table.files.push(FileCoverage { path: path.into(), summary, missing, unsure, decisions, not_followed });
        }
        table
    }

    /// Writes the table for people, paths without what `prefix` says.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_text(&self, prefix: &str, missing: bool, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let short = |path: &str| path.strip_prefix(prefix).map_or(path, |rest| rest.trim_start_matches('/')).to_owned();
        let has_decisions = self.counts_decisions || self.total.mcdc.total > 0;
        let has_unsure = self.more.lines > 0;
        let row = |name: String, summary: &FileSummary, unsure: u64| {
            let ratio =
                |ratio: Ratio| [percent(ratio.covered.into(), ratio.total.into()), grouped(ratio.missed().into())];
            let FileSummary { lines, functions, regions, branches, mcdc, .. } = *summary;
            let ratios = [lines, functions, regions, branches].into_iter().chain(has_decisions.then_some(mcdc));
            let mut cells: Vec<String> = ratios.flat_map(ratio).chain([name]).collect();
            if has_unsure {
                cells.insert(2, grouped(unsure.into()));
            }
            cells
        };
        let mut rows: Vec<_> =
            self.files.iter().map(|file| row(short(&file.path), &file.summary, file.unsure.more.lines)).collect();
        rows.push(row("total".into(), &self.total, self.more.lines));
        let of_decisions = [number("mcdc"), number("missed").spare(2)];
        let columns: Vec<_> = [number("lines"), number("missed")]
            .into_iter()
            .chain(has_unsure.then(|| number("unknown")))
            .chain([
                number("functions"),
                number("missed").spare(2),
                number("regions").spare(1),
                number("missed").spare(3),
                number("branches"),
                number("missed").spare(2),
            ])
            .chain(of_decisions.into_iter().filter(|_| has_decisions))
            .chain([text("file")])
            .collect();
        write!(out, "{}", style.table(&columns, rows))?;
        type Lines = fn(&FileCoverage) -> &[(u32, u32)];
        let lists: [(&str, Lines); 3] = [
            ("Lines that did not run", |file| &file.missing),
            ("Lines that may have run", |file| &file.unsure.may_have_run),
            ("Lines that ran, and may have run more often than is certain", |file| &file.unsure.ran_more),
        ];
        for (heading, lines) in lists.into_iter().filter(|_| missing) {
            let mut files = self.files.iter().filter(|file| !lines(file).is_empty()).peekable();
            if files.peek().is_some() {
                writeln!(out, "\n{}", style.heading(heading))?;
            }
            for file in files {
                let parts: Vec<String> = lines(file).iter().map(|&(first, last)| span(first, last)).collect();
                let line = format!("{}: {}", short(&file.path), parts.join(", "));
                writeln!(out, "  {}", style.wrap(&line, 4))?;
            }
        }
        Ok(())
    }

    /// Writes the table for programs.
    ///
    /// # Errors
    /// If the output can't be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let parts = |parts: &[(u32, u32)]| parts.iter().map(|&(first, last)| [first, last]).collect();
        let files = self.files.iter().map(|file| FileDocument {
            path: &file.path,
            summary: Summary::from(&file.summary),
            missing_lines: parts(&file.missing),
            may_have_run_lines: parts(&file.unsure.may_have_run),
            uncertain_counts: parts(&file.unsure.ran_more),
            may_have_run: file.unsure.more.into(),
            decisions: file.decisions.iter().map(DecisionDocument::from).collect(),
            decisions_not_followed: &file.not_followed,
        });
        let document = Document {
            schema: "cotree-coverage/1",
            total: Summary::from(&self.total),
            may_have_run: self.more.into(),
            files: files.collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }
}

/// The decisions of the functions of a file.
fn decisions(coverage: &RegionCoverage<'_>, path: &str) -> Vec<CountedDecision> {
    let groups = coverage.groups(path);
    let of_map = groups.iter().flat_map(|group| &group.functions).flat_map(|function| function.decisions().decisions);
    of_map.chain(coverage.source_decisions.decisions(path)).collect()
}

/// The lines of a file that did not run, but for those that may have. Lines without code join parts that are all
/// missing.
fn missing(coverage: &RegionCoverage<'_>, path: &str, unsure: &Unsure) -> Vec<(u32, u32)> {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    let mut ran_since = true;
    for (line, count) in coverage.file(path).lines().lines() {
        let may = count == 0 && unsure.has(line);
        match parts.last_mut() {
            _ if count > 0 || may => {}
            Some((_, last)) if !ran_since => *last = line,
            _ => parts.push((line, line)),
        }
        ran_since = count > 0 || may;
    }
    parts
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    total: Summary,
    #[serde(skip_serializing_if = "MoreDocument::is_nothing")]
    may_have_run: MoreDocument,
    files: Vec<FileDocument<'a>>,
}

#[derive(Serialize)]
struct FileDocument<'a> {
    path: &'a str,
    #[serde(flatten)]
    summary: Summary,
    missing_lines: Vec<[u32; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    may_have_run_lines: Vec<[u32; 2]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncertain_counts: Vec<[u32; 2]>,
    #[serde(skip_serializing_if = "MoreDocument::is_nothing")]
    may_have_run: MoreDocument,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    decisions: Vec<DecisionDocument<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    decisions_not_followed: &'a [String],
}

/// How much more than is certain may have run.
#[derive(Serialize)]
struct MoreDocument {
    lines: u64,
    functions: u64,
    regions: u64,
    branches: u64,
    #[serde(skip_serializing_if = "is_zero")]
    mcdc: u64,
    #[serde(skip)]
    counts: u64,
}

impl MoreDocument {
    fn is_nothing(&self) -> bool {
        [self.lines, self.functions, self.regions, self.branches, self.mcdc, self.counts].iter().all(|&more| more == 0)
    }
}

impl From<More> for MoreDocument {
    fn from(More { lines, functions, regions, branches, mcdc, counts }: More) -> Self {
        Self { lines, functions, regions, branches, mcdc, counts }
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct Summary {
    lines: Share,
    functions: Share,
    instantiations: Share,
    regions: Share,
    branches: Share,
    #[serde(skip_serializing_if = "Share::is_of_nothing")]
    mcdc: Share,
}

#[derive(Serialize)]
struct Share {
    covered: u64,
    total: u64,
}

impl Share {
    fn is_of_nothing(&self) -> bool {
        self.total == 0
    }
}

impl From<&FileSummary> for Summary {
    fn from(summary: &FileSummary) -> Self {
        let share = |ratio: Ratio| Share { covered: ratio.covered, total: ratio.total };
        Self {
            lines: share(summary.lines),
            functions: share(summary.functions),
            instantiations: share(summary.instantiations),
            regions: share(summary.regions),
            branches: share(summary.branches),
            mcdc: share(summary.mcdc),
        }
    }
}
