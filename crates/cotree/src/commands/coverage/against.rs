//! `cotree coverage --against`: what is covered that was not before, and what is no more.

use super::super::edited::Edited;
use super::super::output::{Looks, Output};
use super::super::sources::SourceArgs;
use super::changed::{covered_path, roots};
use super::changes::Annotations;
use super::git_texts::{self, Texts};
use super::here::here;
use super::line_maps::{self, EditedFile};
use super::old_coverage::OldCoverage;
use super::pairs::{Pairs, pairs};
use super::questions::{GATES, WHOLE};
use crate::lines;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use cotree_report::names::Names;
use cotree_report::region_coverage::against::{
    Category, Comparable, Comparison, FileOfBoth, LineMap, Matched, json, remarks, text,
};
use cotree_report::terminal::{counted, grouped};
use cotree_report::tracefile::FileRecords;
use miette::{Result, miette};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A category of genhtml's, as a word of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailOn(Category);

impl ValueEnum for FailOn {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [FailOn; 7] = [
            FailOn(Category::Lbc),
            FailOn(Category::Unc),
            FailOn(Category::Uic),
            FailOn(Category::Ubc),
            FailOn(Category::Ecb),
            FailOn(Category::Dcb),
            FailOn(Category::Eub),
        ];
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.code()).help(self.0.name()))
    }
}

/// Options of the comparison.
#[derive(Args, Debug)]
pub struct AgainstArgs {
    /// Compare with what ran before: older profiles, or tracefiles of lcov
    ///
    /// --diff says how the sources have changed since, where that is not known.
    #[arg(
        long,
        value_name = "OLD",
        conflicts_with_all = GATES,
        conflicts_with_all = WHOLE,
        conflicts_with_all = ["by_test", "tests_for", "fail_under_lines"],
        group = "remarked",
    )]
    against: Vec<PathBuf>,
    /// End with 1 if a line, a function or an outcome of a condition is of one of these categories of genhtml: LBC (ran
    /// before, does not now), UNC (new, does not run), UIC, UBC, ECB, DCB, EUB
    #[arg(
        long,
        value_enum,
        value_name = "CATEGORY",
        value_delimiter = ',',
        ignore_case = true,
        requires = "against",
        hide_possible_values = true,
        hide_short_help = true
    )]
    fail_on: Vec<FailOn>,
}

/// What is compared.
pub struct Asked<'a> {
    /// How the sources have changed since (`--diff`).
    pub change: Option<&'a str>,
    /// Whether markers in the sources count.
    pub markers: bool,
    /// How names of functions are shown.
    pub names: Names,
    /// Which files are shown.
    pub wanted: &'a dyn Fn(&str) -> bool,
}

/// How it is told.
pub struct Shown<'a> {
    /// As JSON.
    pub json: bool,
    /// As remarks for a service.
    pub annotations: Option<Annotations>,
    /// Else how text looks.
    pub looks: &'a Looks,
}

impl AgainstArgs {
    /// Reads what ran before. `None`: it is not asked for.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn read(&self, binaries: &[PathBuf], sources: &SourceArgs) -> Result<Option<OldCoverage>> {
        if self.against.is_empty() { Ok(None) } else { OldCoverage::read(&self.against, binaries, sources).map(Some) }
    }

    /// Tells the difference.
    ///
    /// # Errors
    /// If there is nothing to compare, or something is of a category that it must not be of.
    pub fn tell(
        &self,
        old: &OldCoverage,
        now: &[FileRecords],
        edited: &Edited,
        asked: &Asked<'_>,
        shown: &Shown<'_>,
        output: &Output,
    ) -> Result<()> {
        let change = asked.change.map(line_maps::of_change).transpose()?;
        let texts = texts(old, now, edited);
        let before = old.records(asked.names, asked.markers, &texts);
        let pairs = pairs(&before, now, change.as_deref().unwrap_or_default());
        if pairs.before.is_empty() && !now.is_empty() {
            return Err(miette!(
                "no file of {} is one of those that are counted now: --source-prefix OLD=NEW says where its sources are",
                self.against.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
            ));
        }
        note_ends(&pairs, &before, now);
        let matcher = Matcher { old: old.edited(), now: edited, texts: &texts, change: change.as_deref() };
        let files = files(&pairs, &before, now, &matcher, asked.wanted);
        matcher.note(&files);
        let comparison = Comparison::new(files, comparable(old, &before, now));
        let here = here();
        match shown.annotations {
            Some(Annotations::Github) => {
                let root = roots().first().map(|root| format!("{}/", root.display())).unwrap_or_default();
                output.write_text(|out| remarks::write_github(&comparison, &root, out))?;
            }
            None if shown.json => output.write(|out| json::write(&comparison, out))?,
            None => {
                let style = shown.looks.style(output);
                output.write_text(|out| text::write(&comparison, &here, style, out))?;
            }
        }
        self.fail_on.iter().try_for_each(|&FailOn(category)| gate(&comparison, category))
    }
}

/// Fails if anything is of a category.
fn gate(comparison: &Comparison, category: Category) -> Result<()> {
    let [lines, functions, outcomes] = comparison.of(category);
    let all = [(lines, "line"), (functions, "function"), (outcomes, "outcome")];
    let found: Vec<String> =
        all.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| counted(count.into(), what)).collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(miette!("{} ({}), which --fail-on refuses: {}", category.code(), category.name(), found.join(", ")))
}

/// The texts of sources that are no longer what was built, then or now.
fn texts(old: &OldCoverage, now: &[FileRecords], edited: &Edited) -> Texts {
    let Some(old_edited) = old.edited() else { return Texts::new() };
    let mut wanted: BTreeMap<String, BTreeSet<[u8; 16]>> = BTreeMap::new();
    let of_old = old.paths().into_iter().filter_map(|path| Some((old_edited.checksum(&path)?, path)));
    let of_now = now.iter().filter_map(|file| Some((edited.checksum(&file.path)?, file.path.clone())));
    for (sum, path) in of_old.chain(of_now) {
        if git_texts::text(&Texts::new(), &path, sum).is_none() {
            wanted.entry(path).or_default().insert(sum);
        }
    }
    if wanted.is_empty() { Texts::new() } else { git_texts::find(&wanted) }
}

/// What both coverages know. Says what is left out.
fn comparable(old: &OldCoverage, before: &[FileRecords], now: &[FileRecords]) -> Comparable {
    let both = |what: &str, any: fn(&FileRecords) -> bool| {
        let (before, now) = (before.iter().any(any), now.iter().any(any));
        if before != now {
            let which = if before { "now" } else { "before" };
            lines::note(format_args!("note: {what} are not compared: the coverage {which} has none"));
        }
        before && now
    };
    Comparable {
        functions: both("functions", |file| !file.functions.is_empty()),
        branches: both("branches", |file| !file.branches.is_empty()),
        by_lines: old.edited().is_none(),
    }
}

/// The files of both coverages. A file that is only in the one before is taken if it is wanted.
fn files<'r>(
    pairs: &Pairs,
    before: &'r [FileRecords],
    now: &'r [FileRecords],
    matcher: &Matcher<'_>,
    wanted: &dyn Fn(&str) -> bool,
) -> Vec<FileOfBoth<'r>> {
    let mut files = Vec::new();
    for (index, file) in now.iter().enumerate() {
        let old = pairs.before.get(&index).map(|&index| &before[index]);
        let (lines, matched) = match old {
            Some(old) => matcher.lines(&old.path, &file.path),
            None => matcher.added(&file.path),
        };
        files.push(FileOfBoth { before: old, now: Some(file), lines, matched });
    }
    let paired: BTreeSet<usize> = pairs.before.values().copied().collect();
    let gone = before.iter().enumerate().filter(|(index, file)| !paired.contains(index) && wanted(&file.path));
    for (_, file) in gone {
        let lines = if Path::new(&file.path).exists() { LineMap::default() } else { LineMap::deleted() };
        files.push(FileOfBoth { before: Some(file), now: None, lines, matched: Matched::Same });
    }
    files
}

/// What is known of edits of the sources.
struct Matcher<'a> {
    /// The sources of the builds before; `None` for a tracefile.
    old: Option<&'a Edited>,
    now: &'a Edited,
    texts: &'a Texts,
    /// What the user says.
    change: Option<&'a [EditedFile]>,
}

impl Matcher<'_> {
    /// Which line of a file is which.
    fn lines(&self, before: &str, now: &str) -> (LineMap, Matched) {
        let sums = self.old.and_then(|old| old.checksum(before)).zip(self.now.checksum(now));
        if let Some((old, new)) = sums
            && old == new
        {
            return (LineMap::default(), Matched::Same);
        }
        if self.change.is_some() {
            return match self.changed(now) {
                Some(file) => (file.lines.clone(), Matched::Edited),
                // The diff does not have it, but it was edited.
                None if sums.is_some() => (LineMap::default(), Matched::ByNumber),
                None => (LineMap::default(), Matched::Same),
            };
        }
        let both = sums
            .and_then(|(old, new)| git_texts::text(self.texts, before, old).zip(git_texts::text(self.texts, now, new)));
        match both {
            Some((old, new)) => (line_maps::of_texts(&old, &new), Matched::Edited),
            None => (LineMap::default(), Matched::ByNumber),
        }
    }

    /// The lines of a file that was not counted before.
    fn added(&self, now: &str) -> (LineMap, Matched) {
        match self.changed(now) {
            Some(file) => (file.lines.clone(), Matched::Edited),
            None => (LineMap::default(), Matched::Same),
        }
    }

    fn changed(&self, now: &str) -> Option<&EditedFile> {
        let roots = roots();
        let is_it = |after: &str| covered_path(&roots, std::iter::once(now), after).is_some();
        let found = self.change?.iter().filter(|file| file.after.as_deref().is_some_and(is_it));
        // The whole path, if there are several.
        found.max_by_key(|file| file.after.as_ref().map(String::len))
    }

    /// Says which lines were matched by their numbers alone.
    fn note(&self, files: &[FileOfBoth<'_>]) {
        /// More than these are only counted.
        const NAMED: usize = 3;
        let by_number = files.iter().filter(|file| file.matched == Matched::ByNumber).filter_map(|file| file.now);
        let paths: Vec<&str> = by_number.map(|file| file.path.as_str()).collect();
        let [first, ..] = paths.as_slice() else { return };
        let why = match self.old {
            None => "a tracefile does not say of which sources it is".to_owned(),
            Some(_) => {
                let named = paths.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
                let more = paths.len().saturating_sub(NAMED);
                let more = if more > 0 { format!(" and {} more", grouped(more as u128)) } else { String::new() };
                let what =
                    if self.now.checksum(first).is_some() { "were edited since" } else { "may have been edited" };
                format!("{named}{more} {what}, and the text before is not found in git's history")
            }
        };
        let files = counted(paths.len() as u128, "file");
        lines::note(format_args!(
            "warning: lines of {files} are compared by their numbers: {why}; `--diff REVISION`, or a file with a diff, \
             says what has changed"
        ));
    }
}

/// Says that files of other folders are taken for those of now.
fn note_ends(pairs: &Pairs, before: &[FileRecords], now: &[FileRecords]) {
    if let Some(&(new, old)) = pairs.by_ends.first() {
        lines::note(format_args!(
            "note: {} compared with files of other folders that end like them, such as {} with {}",
            counted(pairs.by_ends.len() as u128, "file"),
            now[new].path,
            before[old].path
        ));
    }
}
