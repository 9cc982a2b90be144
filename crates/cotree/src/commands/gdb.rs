//! `cotree gdb`: the debugger at an event of a number (Mellor-Crummey & LeBlanc 1989 used such a counter to go back to
//! a moment of a run), and with the paths that are under way.
//!
//! The work is done by a script in gdb's Python, which asks the program's own runtime: it has the program set itself a
//! limit, or write a copy of its profile.

use super::output::Output;
use crate::driver::Error;
use clap::Args;
use cotree_profile::regular;
use miette::{IntoDiagnostic, Result, WrapErr};
use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The commands for gdb.
const SCRIPT: &str = include_str!("gdb.py");

/// Arguments of `cotree gdb`.
#[derive(Args, Debug)]
pub struct GdbArgs {
    /// Print the script that gives gdb its commands, for `gdb -x` or a .gdbinit
    #[arg(long, conflicts_with = "command")]
    script: bool,
    /// A gdb command to run once the program is loaded; may be repeated
    #[arg(short, long, value_name = "COMMAND", conflicts_with = "script")]
    execute: Vec<OsString>,
    /// Exit after these commands
    #[arg(long, conflicts_with = "script")]
    batch: bool,
    /// Attach to this process
    #[arg(short, long, conflicts_with_all = ["script", "command"])]
    pid: Option<u32>,
    /// A program that was built with cotree, and its arguments
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required_unless_present_any = ["script", "pid"],
        value_name = "COMMAND"
    )]
    command: Vec<OsString>,
}

/// Runs `cotree gdb`, which ends as gdb ends.
pub fn run(args: &GdbArgs) -> Result<ExitCode> {
    if args.script {
        Output::default().write(|out| out.write_all(script().as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    // gdb only complains of a program that it can't read, and ends well.
    if let Some(program) = args.command.first() {
        check(program)?;
    }
    let mut script = tempfile::Builder::new().prefix("cotree-").suffix(".py").tempfile().into_diagnostic()?;
    script.write_all(self::script().as_bytes()).into_diagnostic().wrap_err("cannot write gdb's script")?;
    let mut gdb = Command::new("gdb");
    gdb.arg("-q").args(args.batch.then_some("-batch")).arg("-x").arg(script.path());
    for command in &args.execute {
        gdb.arg("-ex").arg(command);
    }
    match args.pid {
        Some(pid) => gdb.arg("-p").arg(pid.to_string()),
        None => gdb.arg("--args").args(&args.command),
    };
    // The interrupt is for gdb and the program.
    let _ignored = signal_hook::flag::register(signal_hook::consts::SIGINT, Default::default()).into_diagnostic()?;
    let status = gdb.status().map_err(|error| Error::Start { tool: "gdb".into(), error })?;
    Ok(crate::driver::exit_code(status))
}

/// The commands, with the way to this executable before them.
fn script() -> String {
    let own = env::current_exe().ok();
    // What JSON escapes in a path, Python reads as it is meant.
    let literal = own.and_then(|path| serde_json::to_string(path.to_str()?).ok());
    format!("COTREE = {}\n{SCRIPT}", literal.as_deref().unwrap_or("\"cotree\""))
}

/// Can the program be read that gdb will look for: here, or by its name alone in `PATH`?
fn check(program: &OsString) -> Result<()> {
    let path = Path::new(program);
    let in_path =
        || env::var_os("PATH").is_some_and(|all| env::split_paths(&all).any(|folder| folder.join(path).is_file()));
    if !path.exists() && path.components().count() == 1 && in_path() {
        return Ok(());
    }
    let opened = regular::open(path).map(drop);
    opened.into_diagnostic().wrap_err_with(|| format!("cannot read the program {}", path.display()))
}
