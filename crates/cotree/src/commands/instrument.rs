//! `cotree instrument`: puts probes into a bitcode file that is compiled and linked by other means.

use super::input::expect_bitcode;
use super::into_report;
use super::output::answer;
use crate::driver::embedded;
use crate::lines;
use clap::Args;
use cotree_llvm::options::LinkOptions;
use cotree_lto::protocol::OutputKind;
use cotree_options::BuildOptions;
use cotree_profile::atomic::{self, Over};
use cotree_profile::content::Content;
use cotree_profile::regular;
use miette::{IntoDiagnostic, Result, WrapErr, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Arguments of `cotree instrument`.
#[derive(Args, Debug)]
pub struct InstrumentArgs {
    /// The bitcode file
    input: PathBuf,
    /// Where to write the instrumented bitcode; link your program with OUTPUT.rt.o, which is written beside it
    #[arg(short, long)]
    output: PathBuf,
    /// Overwrite the output even if it is a file of another kind
    #[arg(long, hide_short_help = true)]
    force: bool,
    /// The result will be linked into a shared library
    #[arg(long)]
    shared: bool,
}

/// Runs `cotree instrument`.
pub fn run(args: &InstrumentArgs, options: &BuildOptions) -> Result<()> {
    if options.use_profile.is_some() {
        bail!("cotree instrument puts counters in, and --use counts nothing: give --use to cotree cc, c++ or cargo");
    }
    expect_bitcode(&args.input)?;
    let bitcode = regular::read(&args.input, regular::LARGEST_INPUT)
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {}", args.input.display()))?;
    let options = LinkOptions::new(options.clone()).map_err(into_report)?;
    let name = args.input.display().to_string();
    cotree_llvm::refuse_damaged(&name, &bitcode).map_err(into_report)?;
    let made = cotree_llvm::standalone::instrument(&name, &bitcode, &options, !args.shared).map_err(into_report)?;
    for warning in &made.warnings {
        lines::note(format_args!("cotree: warning: {warning}"));
    }
    let companion = companion(&args.output);
    let kind = if args.shared { OutputKind::Shared } else { OutputKind::Pie };
    let over = Over::forced(args.force);
    atomic::check(&args.output, Content::Bitcode, over).map_err(into_report)?;
    write_companion(&companion, over, &made.unit, embedded::runtime(kind, false, options.has_counters_alone()))?;
    atomic::write_over(&args.output, over, |out| out.write_all(&made.bitcode)).map_err(into_report)?;
    answer(format_args!("link {} with it: it holds the counters and the runtime", companion.display()))?;
    Ok(())
}

fn companion(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".rt.o");
    name.into()
}

/// The unit's counters and the runtime in one object.
fn write_companion(path: &Path, over: Over, unit: &[u8], runtime: &[u8]) -> Result<()> {
    let folder = tempfile::tempdir().into_diagnostic().wrap_err("cannot make a temporary folder")?;
    let (unit_path, runtime_path, joined) =
        (folder.path().join("unit.o"), folder.path().join("runtime.o"), folder.path().join("joined.o"));
    std::fs::write(&unit_path, unit).into_diagnostic()?;
    std::fs::write(&runtime_path, runtime).into_diagnostic()?;
    let linked = Command::new("ld")
        .args(["-r", "-o"])
        .args([&joined, &unit_path, &runtime_path])
        .status()
        .into_diagnostic()
        .wrap_err("cannot start ld: install binutils")?;
    if !linked.success() {
        bail!("ld could not join the runtime and the counters; what it said stands above");
    }
    let bytes = std::fs::read(&joined).into_diagnostic()?;
    atomic::write_over(path, over, |out| out.write_all(&bytes)).map_err(into_report)
}
