//! `cotree coverage`: how much of the sources ran, by the compiler's coverage map.

mod against;
mod by_test;
mod changed;
mod changes;
mod collected;
mod excluded;
mod git_texts;
mod here;
mod line_maps;
mod old_coverage;
mod pairs;
mod prime_paths;
mod programs;
mod questions;
mod share;

use super::coverage_html::{HtmlArgs, Shown};
use super::edited::Edited;
use super::input::file_pattern;
use super::output::{Looks, Output};
use super::sources::{FileSources, SourceArgs};
use super::vouched::Vouched;
use crate::lines;
use against::AgainstArgs;
use changes::Annotations;
use clap::Args;
use cotree_report::files::FilePattern;
use cotree_report::names::Names;
use cotree_report::region_coverage::cobertura::{self, CoberturaOptions};
use cotree_report::region_coverage::records::records;
use cotree_report::region_coverage::{CoverageTable, Ratio, RegionCoverage, codecov, decision_text, lcov, llvm_json};
use cotree_report::tracefile::Untold;
use excluded::exclude;
use here::here;
use miette::{Result, miette};
use old_coverage::OldCoverage;
use prime_paths::PrimePathArgs;
use programs::{Given, Programs, Unused};
use questions::Questions;
use regex_lite::Regex;
use share::share;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::SystemTime;

/// Arguments of `cotree coverage`.
#[derive(Args, Debug)]
pub struct CoverageArgs {
    /// Profiles and folders of profiles, of one build or of several; by default the newest *.cotree in the current
    /// directory
    #[arg(value_name = "PROFILE")]
    profiles: Vec<PathBuf>,
    /// A program or a folder of programs: for those that are no longer where they ran, and those that never ran
    #[arg(long = "binary", value_name = "FILE", hide_short_help = true)]
    binaries: Vec<PathBuf>,
    /// Only this source file (parser.c, src/parser.c), those of this folder, or those that match ('*/src/*.h')
    #[arg(long = "file", value_name = "FILE", value_parser = file_pattern)]
    files: Vec<FilePattern>,
    /// List the lines that did not run
    #[arg(long)]
    show_missing_lines: bool,
    /// Show each decision of several conditions: which outcomes of them occurred, and which conditions these show to be
    /// independent (MC/DC; build with --coverage --mcdc)
    #[arg(long)]
    show_mcdc: bool,
    /// Leave out source files whose path matches this regular expression (several times)
    #[arg(long, value_name = "PATTERN", value_parser = Regex::new)]
    ignore_filename_regex: Vec<Regex>,
    /// End with 1 if less of the lines ran (also: functions, regions, branches, mcdc)
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    fail_under_lines: Option<f64>,
    /// End with 1 if less than this share of the functions ran
    #[arg(long, value_name = "PERCENT", value_parser = share, hide_short_help = true)]
    fail_under_functions: Option<f64>,
    /// End with 1 if less than this share of the regions ran
    #[arg(long, value_name = "PERCENT", value_parser = share, hide_short_help = true)]
    fail_under_regions: Option<f64>,
    /// End with 1 if less than this share of the outcomes of conditions was seen
    #[arg(long, value_name = "PERCENT", value_parser = share, hide_short_help = true)]
    fail_under_branches: Option<f64>,
    /// End with 1 if less than this share of the conditions of decisions is shown to be independent (MC/DC)
    #[arg(long, value_name = "PERCENT", value_parser = share, hide_short_help = true)]
    fail_under_mcdc: Option<f64>,
    /// Write JSON (cotree-coverage/1)
    #[arg(long)]
    json: bool,
    /// Write a tracefile for lcov, genhtml and services that read it
    #[arg(long, conflicts_with = "json")]
    lcov: bool,
    /// Write Cobertura's XML, for Jenkins, GitLab and others
    #[arg(long, conflicts_with_all = ["json", "lcov"])]
    cobertura: bool,
    /// Write codecov's JSON, with lines that ran in part
    #[arg(long, conflicts_with_all = ["json", "lcov", "cobertura"], hide_short_help = true)]
    codecov: bool,
    /// Write what `llvm-cov export` writes (llvm.coverage.json.export)
    #[arg(long, conflicts_with_all = ["json", "lcov", "cobertura", "codecov"], hide_short_help = true)]
    llvm_json: bool,
    /// Write the last lines of functions, too, as only lcov 2 reads them
    #[arg(long, requires = "lcov", hide_short_help = true)]
    function_ends: bool,
    /// Count what markers in the sources exclude, too (LCOV_EXCL_LINE, GCOVR_EXCL_START and the like)
    #[arg(long, hide_short_help = true)]
    no_markers: bool,
    #[command(flatten)]
    prime_paths: PrimePathArgs,
    #[command(flatten)]
    html: HtmlArgs,
    #[command(flatten)]
    questions: Questions,
    #[command(flatten)]
    against: AgainstArgs,
    /// Show linker symbols as they are
    #[arg(long, hide_short_help = true)]
    no_demangle: bool,
    #[command(flatten)]
    vouched: Vouched,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// Runs `cotree coverage`.
pub fn run(args: &CoverageArgs) -> Result<()> {
    let by_test = args.questions.by_test && args.html.wanted();
    if (args.questions.by_test && !by_test) || !args.questions.tests_for.is_empty() {
        return args.tell_tests();
    }
    if args.prime_paths.prime_paths {
        return args.tell_prime_paths();
    }
    let old = args.against.read(&args.binaries, &args.sources)?;
    let unused = |unit| old.as_ref().is_none_or(|old| !old.units().contains(&unit));
    let mut programs = Programs::read(args.given(&unused, by_test), args.vouched)?;
    let mut ran = std::mem::take(&mut programs.ran);
    let mut coverage = RegionCoverage::between(&programs.counted(), programs.possible().as_deref());
    if !coverage.unusable.is_empty() {
        let count = coverage.unusable.len();
        let note = format!("left out: {count} functions whose counters are of another version of them");
        lines::note(format_args!("note: {note}"));
        ran.notes.push(note);
    }
    if !args.no_markers {
        let remarks = exclude(&mut coverage, &FileSources::default(), |path| args.wants(path));
        remarks.iter().for_each(|remark| lines::note(format_args!("note: {remark}")));
        ran.notes.extend(remarks);
    }
    let files: BTreeSet<&str> = coverage.paths().filter(|path| args.wants(path)).collect();
    programs.edited().note(|path| files.contains(path));
    ran.notes.extend(programs.edited().remarks(|path| files.contains(path)));
    if let Some(old) = &old {
        return args.tell_against(old, &coverage, programs.edited());
    }
    if let Some(change) = &args.questions.diff {
        return args.tell_change(change, &coverage);
    }
    let table = CoverageTable::new(&coverage, |path| args.wants(path));
    if let Some(remark) = table.more.remark() {
        lines::note(format_args!("note: {remark}"));
        ran.notes.push(remark);
    }
    let here = here();
    let names = args.names();
    if args.html.wanted() {
        let (edited, wanted) = (programs.edited(), |path: &str| args.wants(path));
        let by_test = by_test.then(|| by_test::of_tests(&programs, &coverage, wanted));
        let by_test = by_test.as_ref();
        args.html.write(&Shown { coverage: &coverage, wanted: &wanted, names, ran: &ran, by_test, edited })?;
    } else if args.json {
        args.output.write(|out| table.write_json(out))?;
    } else if args.lcov {
        let mut untold = Untold::default();
        args.output.write(|out| {
            let (wanted, sources) = (|path: &str| args.wants(path), FileSources::default());
            untold = lcov::write(&coverage, wanted, &sources, names, args.function_ends, out)?;
            Ok(())
        })?;
        untold.remarks().iter().for_each(|remark| lines::note(format_args!("note: {remark}")));
    } else if args.cobertura {
        let options = CoberturaOptions { root: here.trim_end_matches('/').to_owned(), timestamp: timestamp()?, names };
        args.output.write(|out| cobertura::write(&coverage, |path| args.wants(path), &options, out))?;
    } else if args.codecov {
        args.output.write(|out| codecov::write(&coverage, |path| args.wants(path), &here, out))?;
    } else if args.llvm_json {
        args.output.write(|out| llvm_json::write(&coverage, |path| args.wants(path), &FileSources::default(), out))?;
    } else {
        let style = args.looks.style(&args.output);
        args.output.write_text(|out| {
            table.write_text(&here, args.show_missing_lines, style, out)?;
            if args.show_mcdc {
                decision_text::write(&table, &here, &FileSources::default(), names, style, out)?;
            }
            Ok(())
        })?;
    }
    args.check_decisions(&coverage, &table)?;
    args.gate(&table)
}

/// The time that documents bear, in seconds: that of SOURCE_DATE_EPOCH, or else now.
fn timestamp() -> Result<u64> {
    match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text.parse().map_err(|_| miette!("SOURCE_DATE_EPOCH is no number of seconds: {text}")),
        Err(_) => Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs())),
    }
}

impl CoverageArgs {
    /// Tells which tests ran the code.
    fn tell_tests(&self) -> Result<()> {
        let programs = Programs::read(self.given(&|_| true, true), self.vouched)?;
        let all = RegionCoverage::new(&programs.counted());
        let by_test = by_test::of_tests(&programs, &all, |path| self.wants(path));
        if !self.questions.tests_for.is_empty() {
            by_test::write_tests_for(&by_test, &self.questions.tests_for, &self.output)
        } else if self.json {
            self.output.write(|out| by_test.write_json(self.names(), out))
        } else {
            let style = self.looks.style(&self.output);
            self.output.write_text(|out| by_test.write_text(&here(), style, out))
        }
    }

    /// Tells how many prime paths of each function ran.
    fn tell_prime_paths(&self) -> Result<()> {
        let wanted = |path: &str| self.wants(path);
        let table =
            self.prime_paths.read(&self.profiles, &self.binaries, &self.sources, wanted, self.names(), self.vouched)?;
        if self.json {
            self.output.write(|out| table.write_json(out))?;
        } else {
            let style = self.looks.style(&self.output);
            self.output.write_text(|out| table.write_text(&here(), style, out))?;
        }
        gate("prime paths ran", self.prime_paths.fail_under_paths, table.total)
    }

    /// Tells how much ran of what a change adds.
    fn tell_change(&self, change: &str, coverage: &RegionCoverage<'_>) -> Result<()> {
        let changed = changes::changed_lines(changes::read(change)?, coverage, |path| self.wants(path));
        let style = self.looks.style(&self.output);
        match self.questions.annotations {
            Some(Annotations::Github) => self.output.write_text(|out| changed.write_github(out))?,
            None if self.json => self.output.write(|out| changed.write_json(out))?,
            None => self.output.write_text(|out| changed.write_text(style, out))?,
        }
        gate("changed lines ran", self.fail_under_lines, changed.total)
    }

    /// Tells what ran that did not before, and the other way round.
    fn tell_against(&self, old: &OldCoverage, coverage: &RegionCoverage<'_>, edited: &Edited) -> Result<()> {
        let now: Vec<_> = records(coverage, |path| self.wants(path), self.names()).collect();
        let shown = against::Shown { json: self.json, annotations: self.questions.annotations, looks: &self.looks };
        let asked = against::Asked {
            change: self.questions.diff.as_deref(),
            markers: !self.no_markers,
            names: self.names(),
            wanted: &|path| self.wants(path),
        };
        self.against.tell(old, &now, edited, &asked, &shown, &self.output)
    }

    /// What is read.
    fn given<'a>(&'a self, unused: Unused<'a>, by_test: bool) -> Given<'a> {
        Given { profiles: &self.profiles, binaries: &self.binaries, unused, sources: &self.sources, by_test }
    }

    fn names(&self) -> Names {
        if self.no_demangle { Names::Raw } else { Names::Demangled }
    }

    /// Whether a source file is to be shown.
    fn wants(&self, path: &str) -> bool {
        let ignored = self.ignore_filename_regex.iter().any(|pattern| pattern.is_match(path));
        !ignored && (self.files.is_empty() || self.files.iter().any(|file| file.matches(path)))
    }

    /// Says what is not known of decisions. Fails if they are asked for, and nothing has been counted.
    fn check_decisions(&self, coverage: &RegionCoverage<'_>, table: &CoverageTable) -> Result<()> {
        let unreadable: u64 = coverage.functions.iter().map(|function| function.decisions().unreadable).sum();
        if unreadable > 0 {
            lines::note(format_args!(
                "note: left out: {unreadable} decisions that the coverage map does not tell whole"
            ));
        }
        if let Some(remark) = coverage.source_decisions.remark(|path| self.wants(path)) {
            lines::note(format_args!("note: {remark}"));
        }
        if let Some(remark) = decision_text::remark_on_uncounted(table) {
            lines::note(format_args!("note: {remark}"));
        }
        if let Some(remark) = decision_text::remark_on_negated(table, &FileSources::default()) {
            lines::note(format_args!("note: {remark}"));
        }
        let is_asked = self.show_mcdc || self.fail_under_mcdc.is_some();
        if is_asked && table.total.mcdc.total == 0 && !table.counts_decisions {
            return Err(miette!("no decisions are counted: build with `cotree --coverage --mcdc` (docs/coverage.md)"));
        }
        Ok(())
    }

    /// Fails if less ran than was asked for.
    fn gate(&self, table: &CoverageTable) -> Result<()> {
        let total = &table.total;
        let gates = [
            ("lines ran", self.fail_under_lines, total.lines, table.more.lines),
            ("functions ran", self.fail_under_functions, total.functions, table.more.functions),
            ("regions ran", self.fail_under_regions, total.regions, table.more.regions),
            ("branches ran", self.fail_under_branches, total.branches, table.more.branches),
            ("conditions are shown to be independent", self.fail_under_mcdc, total.mcdc, table.more.mcdc),
        ];
        gates.into_iter().try_for_each(|(what, least, share, more)| {
            gate(what, least, share).map_err(|error| match more {
                0 => error,
                more => miette!("{error} (it is not known whether {more} more are so)"),
            })
        })
    }
}

/// Fails if less of it than was asked for is so. Without any there is nothing that is not.
fn gate(what: &str, least: Option<f64>, Ratio { covered, total }: Ratio) -> Result<()> {
    match least {
        Some(least) if (covered as f64) * 100.0 < least * total as f64 => {
            Err(miette!("{covered} of {total} {what}, less than {least} %"))
        }
        _ => Ok(()),
    }
}
