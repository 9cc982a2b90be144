//! `cotree trace`: shows what each thread did.

use super::edited;
use super::input::{Input, Reader, file_pattern, name_sources};
use super::into_report;
use super::output::{Looks, Output};
use super::source_names::SourceNames;
use crate::{lines, progress};
use clap::{Args, ValueEnum};
use cotree_profile::binary::BinaryFile;
use cotree_profile::file::{ProfileFile, ProfileFormat};
use cotree_profile::method::MethodNote;
use cotree_profile::method::trace::count::count;
use cotree_profile::method::trace::streams::{Ring, Streams};
use cotree_profile::method::trace::{TraceNote, UnitTables};
use cotree_profile::recover::{Note, UnitProfile, open_binary, recover, unknown_exits};
use cotree_report::files::FilePattern;
use cotree_report::method::trace::Traced;
use cotree_report::method::trace::cache::{self, CacheForm, Cached};
use cotree_report::method::trace::rows::{By, Rows, SourceLine};
use cotree_report::method::trace::text::{BlockRange, Form};
use cotree_report::method::trace::timeline::chrome::Chrome;
use cotree_report::method::trace::timeline::perfetto::Perfetto;
use cotree_report::method::trace::{addresses, compare, timeline, vectors};
use cotree_report::names::Names;
use cotree_report::shell::command_line;
use cotree_report::unit::Unit;
use cotree_report::{json, report};
use miette::{IntoDiagnostic, Result, miette};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Arguments of `cotree trace`.
#[derive(Args, Debug)]
pub struct TraceArgs {
    #[command(flatten)]
    input: Input,
    /// Show every block, every line, only calls, or memory accesses; without this or an option below, a summary is
    /// shown
    #[arg(long, value_enum, value_name = "WHAT")]
    by: Option<Granularity>,
    /// Start at this block: its number, or FUNCTION or FUNCTION#K, the first or K-th time that the function begins
    #[arg(long, value_name = "POINT", value_parser = point)]
    from: Option<Point>,
    /// Stop at this block, given as for --from
    #[arg(long, value_name = "POINT", value_parser = point)]
    to: Option<Point>,
    /// Show the last blocks first
    #[arg(long, conflicts_with_all = ["last", "first", "nth", "count"])]
    backwards: bool,
    /// Show the last N blocks before the end, and the stack there
    #[arg(long, value_name = "N", conflicts_with_all = ["from", "to", "first", "nth", "count", "json"])]
    last: Option<u64>,
    /// Show how this line (FILE:LINE) was reached for the first time, and the stack then
    #[arg(long, value_name = "LINE", value_parser = source_line, conflicts_with_all = ["from", "to", "nth", "count", "json"])]
    first: Option<SourceLine>,
    /// Show how LINE was reached for the K-th time, and the stack then
    #[arg(long, num_args = 2, value_names = ["K", "LINE"], conflicts_with_all = ["from", "to", "count", "json"])]
    nth: Vec<String>,
    /// How many rows --first and --nth show before that moment
    #[arg(long, value_name = "N", default_value_t = 20)]
    context: usize,
    /// Count what ran, in the whole trace or from --from to --to, and show a report of these counts (with --json:
    /// export them)
    #[arg(long = "profile", id = "count", conflicts_with_all = ["by", "function", "file"])]
    count: bool,
    /// Write the trace in the format of another program
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["by", "backwards", "last", "first", "nth", "count", "json"])]
    format: Option<Format>,
    /// Run all accesses of memory through a model of data caches, and show what misses them, by function or --by line
    /// (build with --trace-addresses)
    #[arg(long, conflicts_with_all = ["backwards", "last", "first", "nth", "count", "format", "function", "file"])]
    cache: bool,
    /// The first-level cache of --cache: bytes, ways, bytes of a line
    #[arg(long, value_name = "FORM", default_value = "32K,8,64", requires = "cache", hide_short_help = true)]
    cache_l1: CacheForm,
    /// The last-level cache of --cache
    #[arg(long, value_name = "FORM", default_value = "8M,16,64", requires = "cache", hide_short_help = true)]
    cache_ll: CacheForm,
    /// Rows of --cache; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20, requires = "cache", hide_short_help = true)]
    top: usize,
    /// bbv: how many instructions an interval has
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    interval: u64,
    /// Only this thread
    #[arg(long, value_name = "N")]
    thread: Option<u64>,
    /// Only functions whose symbol or name contains PATTERN (`=NAME`: is exactly NAME)
    #[arg(short, long, value_name = "PATTERN")]
    function: Option<String>,
    /// Only this source file (parser.c, src/parser.c), those in this folder, or those that match a pattern
    /// ('*/src/*.h')
    #[arg(long, value_name = "FILE", value_parser = file_pattern)]
    file: Option<FilePattern>,
    /// Write JSON: the summary, or one object per row
    #[arg(long)]
    json: bool,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Granularity {
    /// Every block
    Block,
    /// Every line
    Line,
    /// Functions as they begin, and calls of functions without probes
    Call,
    /// Every memory access (build with --trace-addresses)
    Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Basic-block vectors of one thread, for SimPoint
    Bbv,
    /// A timeline of calls, for Perfetto and chrome://tracing; its clock is instructions
    Chrome,
    /// The addresses of one thread, for Dinero IV and other simulators of caches
    Din,
    /// The timeline of chrome in Perfetto's own format, which is smaller, and exact in long traces
    Perfetto,
}

impl From<Granularity> for By {
    fn from(granularity: Granularity) -> Self {
        match granularity {
            Granularity::Block => Self::Block,
            Granularity::Line => Self::Line,
            Granularity::Call => Self::Call,
            Granularity::Address => Self::Address,
        }
    }
}

/// A point of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Point {
    Block(u64),
    Begin(String, u64),
}

fn point(text: &str) -> Result<Point, String> {
    if let Ok(block) = text.parse() {
        return Ok(Point::Block(block));
    }
    let (function, nth) = match text.rsplit_once('#') {
        Some((function, nth)) => (function, nth.parse().map_err(|_| "behind # stands a number".to_owned())?),
        None => (text, 1),
    };
    if function.is_empty() || nth == 0 {
        return Err("it is the number of a block, or FUNCTION, or FUNCTION#K with K from 1".into());
    }
    Ok(Point::Begin(function.to_owned(), nth))
}

fn source_line(text: &str) -> Result<SourceLine, String> {
    let parts = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    let (file, line) = parts.ok_or("a line is FILE:LINE")?;
    Ok(SourceLine { file: file_pattern(file)?, line })
}

/// Opens the traces of a raw profile.
pub(super) fn open(file: &ProfileFile, binaries: &[PathBuf], reader: Reader) -> Result<(BinaryFile, Streams)> {
    let [counts] = file.units.as_slice() else { return Err(no_traces(&file.path)) };
    if file.kind != ProfileFormat::Raw {
        return Err(no_traces(&file.path));
    }
    let mut binary = open_binary(&file.path, counts, binaries).map_err(into_report)?;
    name_sources(&SourceNames::default(), std::iter::once(&mut binary));
    reader.show_map(&mut binary);
    let streams = Streams::open(&file.path).map_err(into_report)?;
    Ok((binary, streams))
}

fn no_traces(path: &Path) -> miette::Report {
    miette!("{} has no traces: merged profiles have counts only; name the profile of one run", path.display())
}

/// What readers of a binary's traces need to know.
pub(super) fn tables(binary: &BinaryFile) -> Result<UnitTables<'_>> {
    UnitTables::new(binary).map_err(|why| miette!("no trace of {}: {why}", binary.path().display()))
}

/// Runs `cotree trace`.
pub fn run(args: &TraceArgs) -> Result<()> {
    let file = args.input.open()?;
    let reader = Reader::of(args.json || args.format.is_some());
    let (binary, streams) = open(&file, &args.input.binaries.binaries, reader)?;
    if args.input.profile.is_none() {
        let command = file.units.iter().map(|counts| format!("`{}`", command_line(&counts.command))).next();
        lines::note(format_args!(
            "note: this is {}, of {} ({})",
            file.path.display(),
            command.unwrap_or_default(),
            binary.path().display()
        ));
    }
    edited::note([&binary], args.file.as_ref());
    let tables = tables(&binary)?;
    let reading = progress::phase("reading the trace");
    let traced = match args.last {
        Some(last) => Traced::tail(&tables, &streams, args.thread, last),
        None => Traced::new(&tables, &streams, args.thread),
    };
    drop(reading);
    // A signal ended the program, or part of it, where it was in no call.
    if file.units.iter().any(|counts| unknown_exits(&binary, counts) > 0) {
        lines::note(format_args!(
            "note: a signal ended activations outside of calls: what they did after they last wrote to the trace is not known; blocks that are shown there may not have run, and others may have"
        ));
    }
    say_lost(&traced);
    if let Some(thread) = args.thread.filter(|_| traced.threads.is_empty()) {
        return Err(miette!("there is no thread {thread}: `cotree trace` without options lists them"));
    }
    if args.count {
        return write_profile(args, &file, &traced);
    }
    if let Some(format) = args.format.filter(|format| *format != Format::Din) {
        if args.function.is_some() || args.file.is_some() {
            return Err(miette!("vectors and timelines are of whole threads: leave out --function and --file"));
        }
        return write_format(args, &traced, format);
    }
    let shows_line = args.first.is_some() || !args.nth.is_empty();
    let by = args.by.map(By::from).or(args.format.map(|_| By::Address)).unwrap_or(if shows_line {
        By::Line
    } else {
        By::Block
    });
    if args.cache {
        return write_cache(args, &binary, &traced, by);
    }
    if shows_line && by != By::Line {
        return Err(miette!("--first and --nth show lines: leave --by out"));
    }
    if by == By::Address {
        require_addresses(&binary)?;
    }
    let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
    let mut rows = Rows::new(&tables, by, names);
    rows.fit(args.looks.style(&args.output).width);
    if let Some(pattern) = &args.function
        && rows.only_functions(pattern) == 0
    {
        return Err(miette!("there is no function {pattern}"));
    }
    if let Some(pattern) = &args.file
        && rows.only_files(pattern) == 0
    {
        return Err(miette!("no source file is {}", pattern.text()));
    }
    if by == By::Address {
        say_left_out(&rows);
    }
    if args.format.is_some() {
        let range = window(args, &traced)?;
        let [thread] = traced.threads.as_slice() else {
            return Err(miette!("addresses are of one thread: --thread N says of which"));
        };
        return args.output.write(|out| addresses::write(&traced, thread, &rows, range, out));
    }
    if shows_line {
        return write_nth(args, &traced, &rows);
    }
    if let Some(last) = args.last {
        return args.output.write_text(|out| traced.write_last(&rows, last, out));
    }
    let summary = args.by.is_none()
        && args.from.is_none()
        && args.to.is_none()
        && !args.backwards
        && args.function.is_none()
        && args.file.is_none();
    match (summary, args.json) {
        (true, true) => {
            say_left_out(&rows);
            let json = counted(|out| traced.write_json(&rows, out))?;
            args.output.write(|out| out.write_all(&json))
        }
        (true, false) => {
            let text = counted(|out| traced.write_summary(&rows, out))?;
            args.output.write_text(|out| out.write_all(&text))
        }
        (false, json) => {
            let (from, to) = window(args, &traced)?;
            let form = if json { Form::Json } else { Form::Text };
            let range = BlockRange { from, to, backwards: args.backwards };
            args.output.write_either(json, |out| traced.write_rows(&rows, range, form, out))
        }
    }
}

/// What a whole trace is counted for: few lines, which are written when all is read.
fn counted(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Vec<u8>> {
    let _counting = progress::phase("counting the trace");
    let mut content = Vec::new();
    fill(&mut content).into_diagnostic()?;
    Ok(content)
}

/// Says what a ring has lost.
fn say_lost(traced: &Traced<'_>) {
    if let Some(lost) = traced.lost() {
        lines::note(format_args!("note: {lost}"));
    }
}

/// Says which accesses of memory are not told.
fn say_left_out(rows: &Rows<'_>) {
    if let Some(left_out) = rows.left_out() {
        lines::note(format_args!("note: {left_out}"));
    }
}

/// Does the trace tell addresses?
fn require_addresses(binary: &BinaryFile) -> Result<()> {
    let tells = binary.map().program.functions().any(|(_, function)| !function.accesses.is_empty());
    let path = binary.path().display();
    if tells {
        return Ok(());
    }
    Err(miette!(
        "the trace of {path} has no addresses: it was built without --trace-addresses (loads, stores or all), or no function of it \
         has such an access"
    ))
}

/// The blocks that are asked for.
fn window(args: &TraceArgs, traced: &Traced<'_>) -> Result<(u64, u64)> {
    if args.from.is_none() && args.to.is_none() {
        return Ok((0, u64::MAX));
    }
    let [thread] = traced.threads.as_slice() else {
        return Err(miette!("blocks are numbered in each thread: --thread N says of which --from and --to speak"));
    };
    let resolve = |point: &Point| match point {
        Point::Block(block) => Ok(*block),
        Point::Begin(function, nth) => traced.nth_begin(thread, function, *nth).ok_or_else(|| {
            let times = if *nth == 1 { String::new() } else { format!(" {nth} times") };
            let all = "`cotree trace --by call` shows what does";
            miette!("{function} does not begin{times} in thread {}: {all}", thread.stream.number)
        }),
    };
    let from = args.from.as_ref().map_or(Ok(0), resolve)?;
    let to = match args.to.as_ref() {
        // What is between two calls ends before the second one.
        Some(point @ Point::Begin(..)) => resolve(point)?.saturating_sub(1),
        Some(point) => resolve(point)?,
        None => u64::MAX,
    };
    if from > to || from > thread.last() {
        return Err(miette!(
            "there are no blocks from {from} to {to}: thread {} has {}",
            thread.stream.number,
            thread.last()
        ));
    }
    // The first block has before it what leads to it.
    Ok((if from <= 1 { 0 } else { from }, to))
}

fn write_format(args: &TraceArgs, traced: &Traced<'_>, format: Format) -> Result<()> {
    let range = window(args, traced)?;
    match (format, traced.threads.as_slice()) {
        (Format::Bbv, [thread]) => args.output.write(|out| vectors::write(traced, thread, range, args.interval, out)),
        (Format::Bbv, _) => Err(miette!("vectors are of one thread: --thread N says of which")),
        (Format::Din | Format::Chrome | Format::Perfetto, _) => {
            let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
            let rows = Rows::new(traced.tables, By::Call, names);
            args.output.write(|out| match format {
                Format::Perfetto => timeline::write(traced, &rows, range, &mut Perfetto::new(out)),
                _ => timeline::write(traced, &rows, range, &mut Chrome::new(out)),
            })
        }
    }
}

/// Writes what accesses of memory cost under a model of caches.
fn write_cache(args: &TraceArgs, binary: &BinaryFile, traced: &Traced<'_>, by: By) -> Result<()> {
    let by_line = match (args.by, by) {
        (None, _) => false,
        (_, By::Line) => true,
        _ => return Err(miette!("--cache counts by function, or --by line")),
    };
    require_addresses(binary)?;
    let recorded = binary.map().program.build.options.get("trace-addresses");
    if let Some(kind) = recorded.filter(|kind| *kind != "all") {
        lines::note(format_args!(
            "note: the trace has {kind} alone, so the model knows no others: build with --trace-addresses all"
        ));
    }
    let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
    let rows = Rows::new(traced.tables, By::Address, names);
    say_left_out(&rows);
    let range = window(args, traced)?;
    let counting = progress::phase("running the model of caches");
    let cached = Cached::new(traced, &rows, by_line, (args.cache_l1, args.cache_ll), range);
    drop(counting);
    if args.json {
        return args.output.write(|out| cache::write_json(&cached, &rows, out));
    }
    let style = args.looks.style(&args.output);
    args.output.write_text(|out| cache::write(&cached, &rows, args.top, style, out))
}

fn write_nth(args: &TraceArgs, traced: &Traced<'_>, rows: &Rows<'_>) -> Result<()> {
    let (nth, line) = match (&args.first, args.nth.as_slice()) {
        (Some(line), _) => (1, line.clone()),
        (None, [nth, line]) => {
            let nth = nth.parse().ok().filter(|&nth| nth > 0);
            let nth: u64 = nth.ok_or_else(|| miette!("--nth takes a number from 1, and a line"))?;
            (nth, source_line(line).map_err(|why| miette!("{why}"))?)
        }
        (None, _) => return Err(miette!("--nth takes a number and a line")),
    };
    let text = format!("{}:{}", line.file.text(), line.line);
    if !rows.has_line(&line) {
        return Err(miette!("no code is of {text}: {}", what_has_code(rows, &line)));
    }
    let mut times = 0;
    args.output.write_text(|out| {
        times = traced.write_nth(rows, &line, nth, args.context, out)?;
        Ok(())
    })?;
    if times < nth {
        return Err(miette!("{text} ran {times} times, as far as the trace goes"));
    }
    Ok(())
}

/// What may have been meant by a line that has no code.
fn what_has_code(rows: &Rows<'_>, line: &SourceLine) -> String {
    let lines = rows.lines_of(&line.file);
    let (before, after) = lines.iter().partition::<Vec<u32>, _>(|&&known| known < line.line);
    match (before.last(), after.first()) {
        (None, None) => {
            "the traced program has no lines of that file (`cotree annotate` shows those that it has)".into()
        }
        (Some(line), None) | (None, Some(line)) => format!("the nearest line with code is {line}"),
        (Some(before), Some(after)) => format!("the nearest lines with code are {before} and {after}"),
    }
}

/// Writes the counts of a range.
fn write_profile(args: &TraceArgs, file: &ProfileFile, traced: &Traced<'_>) -> Result<()> {
    let range = window(args, traced)?;
    let [counts] = file.units.as_slice() else { return Err(no_traces(&file.path)) };
    let mut profile: UnitProfile = recover(traced.binary, counts).map_err(into_report)?;
    Reader::of(args.json).show_profile(&mut profile);
    let counting = progress::phase("counting the trace");
    let functions = count(traced.tables, traced.streams, &traced.threads, range);
    drop(counting);
    let mut profile = UnitProfile { functions, ..profile };
    let Ring { overwritten, streams_gone: gone, .. } = traced.streams.ring();
    if overwritten {
        profile.notes.push(Note::Method(MethodNote::Trace(TraceNote::NewestOnly { gone })));
    }
    let unit = Unit::new(traced.binary.map(), &profile);
    if args.json {
        return args.output.write(|out| json::write(&[unit], out));
    }
    let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
    let options =
        report::ReportOptions { names, style: args.looks.style(&args.output), ..report::ReportOptions::default() };
    args.output.write_text(|out| report::write(&unit, &options, out))
}

/// Runs `cotree diff --trace`.
pub fn diff(
    (before, binaries_before): (&ProfileFile, &[PathBuf]),
    (after, binaries_after): (&ProfileFile, &[PathBuf]),
    names: Names,
    context: u64,
    output: &Output,
) -> Result<()> {
    let (binary, streams_before) = open(before, binaries_before, Reader::Person)?;
    let (other, streams_after) = open(after, binaries_after, Reader::Person)?;
    if binary.unit() != other.unit() {
        return Err(miette!(
            "the traces are of different builds, {} and {}: blocks can be compared within one build",
            binary.unit(),
            other.unit()
        ));
    }
    let tables = tables(&binary)?;
    let [before, after] = [&streams_before, &streams_after].map(|streams| Traced::new(&tables, streams, None));
    [&before, &after].into_iter().for_each(say_lost);
    let rows = Rows::new(&tables, By::Block, names);
    output.write_text(|out| compare::write(&before, &after, &rows, context, out).map(|_| ()))
}
