//! `cotree cfg`: draws one function's control-flow graph.

use super::input::{Input, Reader, no_such_function};
use super::output::Output;
use super::vouched::Vouched;
use clap::{Args, ValueEnum};
use cotree_report::dot;
use cotree_report::names::{Names, matches};
use cotree_report::unit::{Unit, UnitFunction};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Arguments of `cotree cfg`.
#[derive(Args, Debug)]
pub struct CfgArgs {
    /// The function: part of its symbol or name, or all of it
    function: String,
    #[command(flatten)]
    input: Input,
    /// The format
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    #[command(flatten)]
    vouched: Vouched,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For Graphviz
    #[default]
    Dot,
    /// A picture, drawn by Graphviz
    Svg,
}

/// Runs `cotree cfg`.
pub fn run(args: &CfgArgs) -> Result<()> {
    if let Some(profile) = args.input.profile.as_ref().filter(|profile| !profile.exists()) {
        let (first, second) = (&args.function, profile.display());
        if Path::new(first).is_file() {
            return Err(miette!(
                "there is no profile {second}: the function comes first, as in `cotree cfg {second} {first}`"
            ));
        }
    }
    let loaded = args.input.load(Reader::Person)?;
    let units = loaded.units_with_blocks()?;
    args.vouched.check(loaded.recovered())?;
    let names = if args.no_demangle { Names::Raw } else { Names::Demangled };
    let (unit, function) = find(&units, &args.function, names)?;
    let name = names.show(&function.facts.symbol);
    let mut graph = Vec::new();
    dot::write(unit, &function, &name, &mut graph).into_diagnostic()?;
    let picture = match args.format {
        Format::Dot => graph,
        Format::Svg => draw(&graph)?,
    };
    args.output.write(|out| out.write_all(&picture))
}

/// The function that the pattern means. A match of the whole name wins over a match of a part.
fn find<'a, 'b>(units: &'b [Unit<'a>], pattern: &str, names: Names) -> Result<(&'b Unit<'a>, UnitFunction<'a>)> {
    let all = || units.iter().flat_map(|u| u.functions().map(move |f| (u, f)));
    let whole = format!("={}", pattern.strip_prefix('=').unwrap_or(pattern));
    let mut found: Vec<_> = all().filter(|(_, f)| matches(&whole, &f.facts.symbol)).collect();
    if found.is_empty() {
        found = all().filter(|(_, f)| matches(pattern, &f.facts.symbol)).collect();
    }
    // Of several copies of one function, draw the one that ran most.
    found.sort_by_key(|(_, f)| std::cmp::Reverse(f.profile.map_or(0, |p| p.entries)));
    let Some(&(unit, first)) = found.first() else {
        return Err(no_such_function(units, pattern));
    };
    let others: Vec<String> = found
        .iter()
        .filter(|(_, f)| f.facts.symbol != first.facts.symbol)
        .map(|(_, f)| names.show(&f.facts.symbol))
        .collect();
    if others.is_empty() {
        return Ok((unit, first));
    }
    let shown: Vec<&str> = others.iter().take(5).map(String::as_str).collect();
    let more = if others.len() > 5 { ", …" } else { "" };
    Err(miette!(
        "{} functions match {pattern} ({}, {}{more}): say more of the name, or =NAME",
        found.len(),
        names.show(&first.facts.symbol),
        shown.join(", ")
    ))
}

fn draw(graph: &[u8]) -> Result<Vec<u8>> {
    let mut child = Command::new("dot")
        .arg("-Tsvg")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| miette!("cannot run `dot` ({e}): install Graphviz, or use --format dot"))?;
    let mut input = child.stdin.take().expect("piped");
    let graph = graph.to_vec();
    // `dot` may begin to write before it has read all its input.
    let feeder = std::thread::spawn(move || input.write_all(&graph));
    let done = child.wait_with_output().into_diagnostic().wrap_err("`dot` failed")?;
    let fed = feeder.join().is_ok_and(|r| r.is_ok());
    if done.status.success() && fed { Ok(done.stdout) } else { Err(miette!("`dot` failed: {}", done.status)) }
}
