//! `cotree verify`: checks a profile against the reference counters of the same run.

use super::input::{Input, Reader};
use super::into_report;
use super::output::Output;
use clap::Args;
use cotree_profile::recover::open_binary;
use cotree_profile::verify::{Mismatch, Subject, verify_in};
use cotree_report::names::Names;
use cotree_report::terminal::grouped;
use miette::{Result, miette};

/// Arguments of `cotree verify`.
#[derive(Args, Debug)]
pub struct VerifyArgs {
    #[command(flatten)]
    input: Input,
    /// Also fail for differences in functions whose counts may not be exact
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    output: Output,
}

/// Runs `cotree verify`.
pub fn run(args: &VerifyArgs) -> Result<()> {
    let file = args.input.open()?;
    let mut wrong = 0usize;
    for counts in &file.units {
        let mut binary = open_binary(&file.path, counts, &args.input.binaries.binaries).map_err(into_report)?;
        Reader::Person.show_map(&mut binary);
        let result = verify_in(&file, &binary, counts).map_err(into_report)?;
        let fails = |m: &&Mismatch| args.strict || !m.declared;
        let found = result.mismatches.iter().filter(fails).count();
        wrong += found;
        args.output.write_text(|out| {
            for mismatch in &result.mismatches {
                let function = mismatch.function.map(|function| binary.function(function));
                let subject = match mismatch.subject {
                    Subject::Entries => "entries".to_owned(),
                    Subject::Block(block) => format!("block {block}"),
                    Subject::Edge(edge) => {
                        let ends = function.and_then(|function| function.edges.get(edge));
                        ends.map_or_else(|| format!("edge {edge}"), |e| format!("edge {edge} ({} to {})", e.src, e.dst))
                    }
                    Subject::Events(kind) => kind.title().to_owned(),
                    Subject::Call(call) => {
                        let callee = function.and_then(|function| function.calls.get(call));
                        let callee = callee.map_or_else(String::new, |facts| Names::Demangled.callee(facts));
                        format!("calls of {callee} (call {call})")
                    }
                    Subject::Whole => "cannot be recovered".to_owned(),
                };
                let declared = if mismatch.declared { " (declared)" } else { "" };
                let name = function.map_or("all functions".into(), |function| Names::Demangled.show(&function.symbol));
                writeln!(out, "{name}: {subject}: {} instead of {}{declared}", mismatch.recovered, mismatch.reference)?;
            }
            let verdict = match (found, result.mismatches.len()) {
                (0, 0) => "OK",
                (0, _) => "DECLARED",
                _ => "WRONG",
            };
            let count = |n: u64| grouped(u128::from(n));
            let kinds = format!("{} kind{} of events", count(result.events), if result.events == 1 { "" } else { "s" });
            let calls = format!("{} calls", count(result.calls));
            let last = match (result.calls, result.events) {
                (0, 0) => format!("{} edges", count(result.edges)),
                (0, _) => kinds,
                (_, 0) => calls,
                _ => format!("{calls}, {kinds}"),
            };
            writeln!(
                out,
                "{verdict}: {} functions, {} blocks, {last} compared; {} functions not vouched for, {} counts differ",
                count(result.functions),
                count(result.blocks),
                count(result.flawed),
                grouped(result.mismatches.len() as u128)
            )
        })?;
    }
    if wrong == 0 { Ok(()) } else { Err(miette!("{wrong} counts differ from the reference of the same run")) }
}
