//! `cotree costs`: what functions and calls have cost.

use super::edited;
use super::input::{Input, Reader, means_a_function, no_such_function};
use super::output::{Looks, Output};
use super::vouched::Vouched;
use clap::Args;
use cotree_core::facts::events::EventKind;
use cotree_report::costs::view::{self, CostsOptions};
use cotree_report::names::Names;
use miette::{Result, miette};

/// Arguments of `cotree costs`.
#[derive(Args, Debug)]
pub struct CostsArgs {
    #[command(flatten)]
    input: Input,
    /// The kind of event: instructions, or without these the first kind that the profile counts
    #[arg(long, value_name = "KIND", value_parser = super::export::event_kind)]
    event: Option<EventKind>,
    /// Rows per list; 0 shows all
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    top: usize,
    /// Only functions whose symbol or name contains PATTERN (`=NAME`: is exactly NAME), and calls from and to them
    #[arg(short, long, value_name = "PATTERN")]
    function: Option<String>,
    /// Show linker symbols as they are
    #[arg(long)]
    no_demangle: bool,
    /// Write all functions, calls and kinds as JSON, as described in docs/json.md
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    vouched: Vouched,
    #[command(flatten)]
    looks: Looks,
    #[command(flatten)]
    output: Output,
}

/// Runs `cotree costs`.
pub fn run(args: &CostsArgs) -> Result<()> {
    let loaded = args.input.load(Reader::of(args.json))?;
    edited::note(loaded.binaries(), None);
    if args.vouched.strict {
        args.vouched.check(loaded.recovered())?;
    }
    loaded.with_costs(|costs| {
        if let Some(pattern) = args.function.as_ref().filter(|pattern| !means_a_function(costs.units, pattern)) {
            return Err(no_such_function(costs.units, pattern));
        }
        if args.vouched.strict && costs.missing {
            return Err(miette!("the trace does not have the whole execution: what is not in it is not counted"));
        }
        if args.vouched.strict && !costs.inclusive_exact() {
            return Err(miette!("activations ended where what they had done by then is not known"));
        }
        let usual = Some(EventKind::Instructions).filter(|kind| costs.kinds.contains(kind));
        let usual = usual.or(costs.kinds.first().copied()).unwrap_or(EventKind::Instructions);
        let kind = args.event.unwrap_or(usual);
        if let Some(why) = costs.why_unknown(kind) {
            return Err(miette!("{why}"));
        }
        if args.json {
            return args.output.write(|out| view::write_json(costs, out));
        }
        let options = CostsOptions {
            kind,
            top: args.top,
            function: args.function.clone(),
            names: if args.no_demangle { Names::Raw } else { Names::Demangled },
            style: args.looks.style(&args.output),
        };
        args.output.write_text(|out| view::write(costs, &options, out))
    })?;
    args.vouched.check(loaded.recovered())
}
