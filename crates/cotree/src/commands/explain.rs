//! `cotree explain`: what codes of reports and errors mean.

use super::output::{Looks, Output};
use clap::Args;
use clap_complete::{ArgValueCandidates, CompletionCandidate};
use cotree_report::explain::{self, Explanation, GROUPS};
use cotree_report::names::similar_names;
use cotree_report::terminal::text;
use miette::{Result, miette};

/// Arguments of `cotree explain`.
#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// Codes, which stand in brackets in reports and errors; without one, all are listed
    #[arg(value_name = "CODE", add = ArgValueCandidates::new(candidates))]
    codes: Vec<String>,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// What a shell may offer.
fn candidates() -> Vec<CompletionCandidate> {
    let candidate =
        |explanation: &Explanation| CompletionCandidate::new(explanation.code).help(Some(explanation.what.into()));
    explain::all().map(candidate).collect()
}

/// Runs `cotree explain`.
pub fn run(args: &ExplainArgs) -> Result<()> {
    let style = args.looks.style(&args.output);
    let found: Vec<&Explanation> = args.codes.iter().map(|code| find(code)).collect::<Result<_>>()?;
    args.output.write_text(|out| {
        for (index, explanation) in found.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            explanation.write(style, out)?;
        }
        if found.is_empty() {
            for group in GROUPS {
                writeln!(out, "{}", style.heading(group.title))?;
                let row = |explanation: &&Explanation| vec![explanation.code.to_owned(), explanation.what.to_owned()];
                let rows = group.explanations.iter().map(row).collect();
                writeln!(out, "{}", style.table(&[text("code"), text("what")], rows))?;
            }
        }
        Ok(())
    })
}

fn find(code: &str) -> Result<&'static Explanation> {
    explain::find(code).ok_or_else(|| {
        let similar = similar_names(code, explain::all().map(|explanation| explanation.code));
        let meant =
            if similar.is_empty() { String::new() } else { format!(": did you mean {}?", similar.join(" or ")) };
        miette!(help = "`cotree explain` lists all codes", "there is no code {code}{meant}")
    })
}
