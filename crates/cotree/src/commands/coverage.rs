//! `cotree coverage`: how much of the sources ran, by the compiler's coverage map.

use super::input::{Input, Loaded, Reader};
use super::output::{Looks, Output};
use super::vouched::Vouched;
use crate::lines;
use clap::Args;
use cotree_profile::coverage::{CounterTable, CoverageMap, name_hash};
use cotree_report::covered::{CoverageCounters, coverage_counters};
use cotree_report::names::Names;
use cotree_report::region_coverage::{CoverageTable, Ratio, RegionCoverage, lcov};
use miette::{IntoDiagnostic, Result, miette};
use regex_lite::Regex;

/// Arguments of `cotree coverage`.
#[derive(Args, Debug)]
pub struct CoverageArgs {
    #[command(flatten)]
    input: Input,
    /// List the lines that did not run
    #[arg(long)]
    show_missing_lines: bool,
    /// Leave out source files whose path matches this regular expression
    #[arg(long, value_name = "PATTERN", value_parser = Regex::new)]
    ignore_filename_regex: Option<Regex>,
    /// End with 1 if less than this share of the lines ran
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    fail_under_lines: Option<f64>,
    /// End with 1 if less than this share of the functions ran
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    fail_under_functions: Option<f64>,
    /// End with 1 if less than this share of the regions ran
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    fail_under_regions: Option<f64>,
    /// End with 1 if less than this share of the outcomes of conditions was seen
    #[arg(long, value_name = "PERCENT", value_parser = share)]
    fail_under_branches: Option<f64>,
    /// Write JSON (cotree-coverage/1)
    #[arg(long)]
    json: bool,
    /// Write a tracefile for lcov, genhtml and services that read it
    #[arg(long, conflicts_with = "json")]
    lcov: bool,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    vouched: Vouched,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// Reads a share in percent.
fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "it must be a number from 0 to 100".to_owned())?;
    if (0.0..=100.0).contains(&share) { Ok(share) } else { Err("it must be a number from 0 to 100".into()) }
}

/// Runs `cotree coverage`.
pub fn run(args: &CoverageArgs) -> Result<()> {
    let loaded = args.input.load(Reader::of(args.json))?;
    args.vouched.check(loaded.recovered())?;
    let programs = read(&loaded)?;
    let programs: Vec<_> = programs.iter().map(|(map, counters)| (map, counters)).collect();
    let coverage = RegionCoverage::new(&programs);
    if !coverage.unusable.is_empty() {
        let count = coverage.unusable.len();
        lines::note(format_args!("note: left out: {count} functions whose counters are of another version of them"));
    }
    let ignored = |path: &str| args.ignore_filename_regex.as_ref().is_some_and(|pattern| pattern.is_match(path));
    let table = CoverageTable::new(&coverage, |path| !ignored(path));
    let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
    if args.json {
        args.output.write(|out| table.write_json(out))?;
    } else if args.lcov {
        args.output.write(|out| lcov::write(&coverage, |path| !ignored(path), names, out))?;
    } else {
        let here = std::env::current_dir().unwrap_or_default().display().to_string();
        let style = args.looks.style(&args.output);
        args.output.write_text(|out| table.write_text(&format!("{here}/"), args.show_missing_lines, style, out))?;
    }
    args.gate(&table)
}

impl CoverageArgs {
    /// Fails if less ran than was asked for.
    fn gate(&self, table: &CoverageTable) -> Result<()> {
        let total = &table.total;
        let gates = [
            ("lines", self.fail_under_lines, total.lines),
            ("functions", self.fail_under_functions, total.functions),
            ("regions", self.fail_under_regions, total.regions),
            ("branches", self.fail_under_branches, total.branches),
        ];
        for (what, least, Ratio { covered, total }) in gates {
            let Some(least) = least else { continue };
            // Without any there is nothing that did not run.
            if (covered as f64) * 100.0 < least * total as f64 {
                return Err(miette!("{covered} of {total} {what} ran, less than {least} %"));
            }
        }
        Ok(())
    }
}

/// The coverage maps of a profile's binaries, and the counters that the profile has for each.
fn read(loaded: &Loaded) -> Result<Vec<(CoverageMap, CounterTable)>> {
    let units = loaded.units_with_blocks()?;
    let mut programs = Vec::new();
    let mut all = CoverageCounters::default();
    for (unit, binary) in units.iter().zip(loaded.binaries()) {
        let counted = coverage_counters(std::slice::from_ref(unit));
        if counted.functions.is_empty() {
            continue;
        }
        all.not_counted += counted.not_counted;
        all.left_in_the_midst += counted.left_in_the_midst;
        let mut table = CounterTable::default();
        for (function, values) in &counted.functions {
            table.add(name_hash(&function.name), function.hash, values).into_diagnostic()?;
        }
        programs.push((CoverageMap::open(binary.path()).into_diagnostic()?, table));
    }
    all.remarks().iter().for_each(|remark| lines::note(format_args!("note: {remark}")));
    if programs.is_empty() {
        return Err(miette!(
            "the program has no coverage map that is counted: build it with `cotree --coverage cc` (docs/coverage-in-ci.md)"
        ));
    }
    Ok(programs)
}
