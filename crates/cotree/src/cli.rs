//! The command line: the subcommands, and the functions that run them.

use crate::commands;
use crate::driver::{
    self, binutils, cargo, cargo_completed, cargo_host_tests, clang, cmake_toolchain, linker, weights, worker,
};
use crate::{lines, progress, tips};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};
use cotree_options::{BuildOptions, UnknownVariable, read_environment, shape, shape_for_one_screen, unknown_variables};
use miette::miette;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exact control-flow profiles, traces and event counts of your own C, C++ and Rust programs.
///
/// Build with cotree in front of the compiler, run the program as ever, read the profile:
///
///     cotree cc -O2 -o prog prog.c && ./prog && cotree report
///     cargo cotree run --release && cotree report
#[derive(Parser)]
#[command(name = "cotree", version, verbatim_doc_comment)]
pub struct Cli {
    /// Show no progress on the terminal, where something takes long
    #[arg(short, long, hide_short_help = true)]
    quiet: bool,
    #[command(flatten)]
    options: BuildOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Compile and link C with clang, profiled (`CC="cotree cc"`)
    Cc(Passed),
    /// Compile and link C++ with clang++, profiled (`CXX="cotree c++"`)
    #[command(name = "c++", visible_alias = "cxx")]
    Cxx(Passed),
    /// Build a Rust package, profiled: the same as `cargo cotree …`
    Cargo(Passed),
    /// Link with the linker plugin loaded (`LD="cotree ld"`); `cotree cc` links through this by itself
    Ld(Passed),
    /// GNU ar that understands the objects of `cotree cc` (`AR="cotree ar"`)
    Ar(Passed),
    /// GNU nm that understands the objects of `cotree cc` (`NM="cotree nm"`)
    Nm(Passed),
    /// GNU ranlib that understands the objects of `cotree cc` (`RANLIB="cotree ranlib"`)
    Ranlib(Passed),
    /// Create links that name each tool in one word (cotree-cc, cotree-ar, …); completions and manual pages, too
    InstallTools(commands::install_tools::InstallToolsArgs),
    /// Print a script that lets a shell complete this command line
    ///
    /// For bash, in ~/.bashrc: `source <(cotree completions bash)`. For fish, in its config.fish:
    /// `cotree completions fish | source`. For zsh, in ~/.zshrc, behind `compinit`: `source <(cotree completions zsh)`.
    Completions(commands::completions::CompletionsArgs),
    /// Print the path of a CMake toolchain file of these tools
    ///
    /// For `-DCMAKE_TOOLCHAIN_FILE="$(cotree cmake-toolchain)"`.
    CmakeToolchain,
    /// Run a profiled program and print its totals, as `perf stat` does
    Run(commands::run::RunArgs),
    /// Run a profiled program several times, and hold its counts against a baseline
    ///
    /// A gate for CI: see docs/bench-in-ci.md.
    Stat(commands::stat::StatArgs),
    /// Find the commit that made a benchmark dearer
    ///
    /// By exact counts of `cotree stat` or `cargo cotree bench`: see docs/bench-in-ci.md.
    Bisect(commands::bisect::BisectArgs),
    /// Debug with gdb: stop at a chosen event, the same one in each run
    Gdb(commands::gdb::GdbArgs),
    /// Show a profile at a glance: totals, hot code, what never ran
    Report(commands::report::ReportArgs),
    /// Show source lines with their counts and branches
    Annotate(commands::annotate::AnnotateArgs),
    /// Show how much of the sources ran, by the compiler's map (build with --coverage)
    Coverage(commands::coverage::CoverageArgs),
    /// Show the paths through functions that ran (build with --profile path)
    Paths(commands::paths::PathsArgs),
    /// Show what each thread did (build with --profile trace)
    ///
    /// Shows the execution block by block, line by line or call by call, and a summary without options.
    Trace(Box<commands::trace::TraceArgs>),
    /// Add up profiles of many runs
    Merge(commands::merge::MergeArgs),
    /// Show what changed between two profiles
    Diff(commands::diff::DiffArgs),
    /// Show what functions and calls cost, in instructions or other events
    ///
    /// With a trace, also the cost of all that they led to.
    Costs(commands::costs::CostsArgs),
    /// Export a profile: JSON, lcov, callgrind, pprof, flame graphs, …
    Export(commands::export::ExportArgs),
    /// Write pages that show a profile in a browser: functions, their graphs, sources
    Html(commands::html::HtmlArgs),
    /// Write the pages of a profile beside it, and open them in a browser
    Open(commands::html::OpenArgs),
    /// Draw a function's control-flow graph with its counts
    Cfg(commands::cfg::CfgArgs),
    /// Take a snapshot of the profile of a running process
    Dump(commands::dump::DumpArgs),
    /// Check a profile against reference counters (build with --verify)
    Verify(commands::verify::VerifyArgs),
    /// Compare what the methods' counters would cost
    Plan(commands::plan::PlanArgs),
    /// Explain a code that a report or an error shows: why it happens, and what to do
    Explain(commands::explain::ExplainArgs),
    /// Put probes into a bitcode file
    Instrument(commands::instrument::InstrumentArgs),
    /// Build, run and report a bundled example
    Demo(commands::demo::DemoArgs),
    /// Stand in front of rustc; cargo starts this in workspaces with procedural macros
    #[command(hide = true)]
    Rustc(Passed),
    /// Keep the program of a documentation test, and run it; rustdoc starts this
    #[command(hide = true)]
    DocTest(Passed),
    /// Do one link; the linker plugin starts this
    #[command(hide = true)]
    LtoLink {
        /// The request file that the plugin wrote
        request: PathBuf,
    },
    /// Rewrite bitcode with a symbol table for linkers; the linker plugin starts this
    #[command(hide = true)]
    LtoSymtab {
        /// Bitcode
        input: PathBuf,
        /// The rewritten bitcode
        output: PathBuf,
    },
}

impl Command {
    /// Whether other commands of ours start it, or build systems do at every turn. What is wrong with the environment
    /// was said before.
    fn is_started_by_builds(&self) -> bool {
        matches!(
            self,
            Self::Rustc(_)
                | Self::DocTest(_)
                | Self::Ld(_)
                | Self::Ar(_)
                | Self::Nm(_)
                | Self::Ranlib(_)
                | Self::LtoLink { .. }
                | Self::LtoSymtab { .. }
        )
    }

    /// Whether options of builds mean something to it, or may stand before it as before others that a build system
    /// starts.
    fn is_part_of_builds(&self) -> bool {
        matches!(
            self,
            Self::Cc(_)
                | Self::Cxx(_)
                | Self::Cargo(_)
                | Self::Rustc(_)
                | Self::DocTest(_)
                | Self::Ld(_)
                | Self::Ar(_)
                | Self::Nm(_)
                | Self::Ranlib(_)
                | Self::Plan(_)
                | Self::Instrument(_)
                | Self::LtoLink { .. }
                | Self::LtoSymtab { .. }
        )
    }
}

/// Everything after the subcommand goes to the tool that it runs.
#[derive(Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
struct Passed {
    /// Arguments of the tool itself
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS",
        value_hint = ValueHint::AnyPath
    )]
    arguments: Vec<OsString>,
}

/// The whole command line, with what the environment says of options of builds.
pub fn command() -> clap::Command {
    read_environment(definition())
}

/// The command line without the environment.
fn definition() -> clap::Command {
    shape(Cli::command())
}

/// Whether a shell has asked what may stand at a place of a command line. Then it has been told.
///
/// # Errors
/// If standard output cannot be written, or the shell is not known.
pub fn complete() -> miette::Result<bool> {
    commands::completions::answer_shell(|| with_cargo(definition()))
}

/// The command line with that of `cotree cargo`, which is read apart.
fn with_cargo(command: clap::Command) -> clap::Command {
    // `mut_subcommand` would put it behind all others.
    command.mut_subcommands(|passed| match passed.get_name() {
        "cargo" => cargo_completed::command().about(passed.get_about().cloned().unwrap_or_default()),
        _ => passed,
    })
}

/// Runs what the arguments ask for.
pub fn run(mut arguments: Vec<OsString>) -> miette::Result<ExitCode> {
    if let Some(subcommand) = arguments.first().and_then(|name| subcommand_of(name)) {
        arguments.insert(1, subcommand.into());
    }
    let parser = if arguments.iter().any(|word| word == "-h") { on_one_screen(command()) } else { command() };
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let parsed = parser.try_get_matches_from(arguments).and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        Ok((cli, named_options(&matches)))
    });
    let (Cli { mut options, quiet, command }, named) = match parsed {
        Ok(parsed) => parsed,
        Err(answer) => {
            if let Some(wrong) = tips::from_environment(&words) {
                return Err(miette!("{wrong}"));
            }
            if answer.kind() == ErrorKind::MissingSubcommand {
                return Err(miette!(
                    "a command is missing, such as cc, c++, cargo, run or report: `cotree -h` lists all, and options of builds stand \
                     before it, as in `cotree --profile path cc -O2 -o prog prog.c`"
                ));
            }
            let ended = print_answer(&answer);
            if let Some(tip) = tips::tip(&answer, &words) {
                lines::note(format_args!(""));
                lines::note(format_args!("  tip: {tip}"));
            }
            return ended;
        }
    };
    if quiet {
        progress::forbid();
    }
    if !command.is_started_by_builds() {
        note_unknown_variables();
    }
    if let Command::Plan(args) = &command {
        args.note_idle(&named);
    }
    if let Some(option) = named.first().filter(|_| !command.is_part_of_builds()) {
        return Err(miette!(
            "--{option} says how to build, and this subcommand builds nothing: put it before cc, c++, cargo or ld, and run the program again"
        ));
    }
    // More options may follow `cargo`, which therefore does this by itself. The files stay until the tools that are
    // driven below have ended.
    let _made = match command {
        Command::Cargo(_) => weights::Made::default(),
        _ => weights::resolve_all(&mut options)?,
    };
    if matches!(command, Command::Cc(_) | Command::Cxx(_) | Command::Ld(_) | Command::Instrument(_)) {
        driver::check(&options)?;
    }
    Ok(match command {
        Command::Cc(passed) => clang::run(clang::Language::C, &options, passed.arguments)?,
        Command::Cxx(passed) => clang::run(clang::Language::Cxx, &options, passed.arguments)?,
        Command::Cargo(passed) => cargo::run(options, passed.arguments)?,
        Command::DocTest(passed) => driver::coverage::run_doc_test(&passed.arguments)?,
        Command::Rustc(passed) => cargo_host_tests::rustc(&passed.arguments)?,
        Command::Ld(passed) => linker::run(&options, passed.arguments)?,
        Command::Ar(passed) => binutils::run("ar", passed.arguments)?,
        Command::Nm(passed) => binutils::run("nm", passed.arguments)?,
        Command::Ranlib(passed) => binutils::run("ranlib", passed.arguments)?,
        Command::InstallTools(args) => done(commands::install_tools::run(&args, definition()))?,
        Command::Completions(args) => done(commands::completions::run(&args))?,
        Command::CmakeToolchain => cmake_toolchain()?,
        Command::Run(args) => commands::run::run(&args)?,
        Command::Stat(args) => commands::stat::run(&args)?,
        Command::Bisect(args) => commands::bisect::run(&args)?,
        Command::Gdb(args) => commands::gdb::run(&args)?,
        Command::Report(args) => done(commands::report::run(&args))?,
        Command::Annotate(args) => done(commands::annotate::run(&args))?,
        Command::Paths(args) => done(commands::paths::run(&args))?,
        Command::Trace(args) => done(commands::trace::run(&args))?,
        Command::Merge(args) => done(commands::merge::run(&args))?,
        Command::Coverage(args) => done(commands::coverage::run(&args))?,
        Command::Diff(args) => done(commands::diff::run(&args))?,
        Command::Costs(args) => done(commands::costs::run(&args))?,
        Command::Export(args) => done(commands::export::run(&args))?,
        Command::Html(args) => done(commands::html::run(&args))?,
        Command::Open(args) => done(commands::html::open(&args))?,
        Command::Cfg(args) => done(commands::cfg::run(&args))?,
        Command::Dump(args) => done(commands::dump::run(&args))?,
        Command::Verify(args) => done(commands::verify::run(&args))?,
        Command::Plan(args) => done(commands::plan::run(&args, &options))?,
        Command::Instrument(args) => done(commands::instrument::run(&args, &options))?,
        Command::Explain(args) => done(commands::explain::run(&args))?,
        Command::Demo(args) => done(commands::demo::run(&args))?,
        Command::LtoLink { request } => worker::link(&request)?,
        Command::LtoSymtab { input, output } => worker::symtab(&input, &output)?,
    })
}

/// Says which variables look like ours and are read by nobody.
fn note_unknown_variables() {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for UnknownVariable { name, meant } in unknown_variables(names) {
        let meant = meant.map(|meant| format!(": did you mean {meant}?")).unwrap_or_default();
        lines::note(format_args!("cotree: warning: {name} in the environment is no variable of cotree{meant}"));
    }
}

/// The options of builds that stand on the command line. (The environment may hold some for all that is started in it.)
fn named_options(matches: &ArgMatches) -> Vec<String> {
    let options = BuildOptions::augment_args(clap::Command::new(""));
    let stands = |option: &&clap::Arg| {
        let known = matches.try_contains_id(option.get_id().as_str()).unwrap_or(false);
        known && matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
    };
    options.get_arguments().filter(stands).filter_map(|option| option.get_long()).map(str::to_owned).collect()
}

/// The help of `-h`: what most people need, on one screen.
fn on_one_screen(mut command: clap::Command) -> clap::Command {
    /// Commands that are for build systems, or for few.
    const RARE: [&str; 13] = [
        "ld",
        "ar",
        "nm",
        "ranlib",
        "install-tools",
        "completions",
        "cmake-toolchain",
        "instrument",
        "dump",
        "gdb",
        "plan",
        "explain",
        "bisect",
    ];
    for name in RARE {
        command = command.mut_subcommand(name, |subcommand| subcommand.hide(true));
    }
    let more = format!("More commands: {}; more options: --help", RARE.join(", "));
    shape_for_one_screen(command).after_help(more)
}

/// Prints help, the version, or what is wrong with the command line. A reader that goes away (`| head`) is no error.
fn print_answer(answer: &clap::Error) -> miette::Result<ExitCode> {
    let open = if answer.use_stderr() { Ok(()) } else { lines::check_standard_output() };
    let text = answer.render().to_string();
    let plain = tips::in_plain_words(&text);
    let print = || if plain == text { answer.print() } else { io::stderr().write_all(plain.as_bytes()) };
    match open.and_then(|()| print()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(miette!("can't write to standard output: {error}"))
        }
        _ => Ok(u8::try_from(answer.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)),
    }
}

fn done(result: miette::Result<()>) -> miette::Result<ExitCode> {
    result.map(|()| ExitCode::SUCCESS)
}

/// The subcommand that the executable's name stands for, if it is started by such a name through a symbolic link.
fn subcommand_of(name: &OsString) -> Option<&'static str> {
    match Path::new(name).file_name()?.to_str()? {
        "cotree-cc" => Some("cc"),
        "cotree-c++" | "cotree-cxx" => Some("c++"),
        "cotree-rustc" => Some("rustc"),
        "cotree-ar" | "ar" => Some("ar"),
        "cotree-nm" | "nm" => Some("nm"),
        "cotree-ranlib" | "ranlib" => Some("ranlib"),
        "cotree-ld" | "ld" | "ld.bfd" | "ld.gold" | "ld.mold" => Some("ld"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        command().debug_assert();
    }

    #[test]
    fn what_follows_a_tool_is_the_tools() {
        let cli =
            Cli::try_parse_from(["cotree", "--profile", "block", "cc", "--help", "--profile", "x", "-c", "--", "a"]);
        let Ok(Cli { command: Command::Cc(passed), .. }) = cli else { panic!("it is cc") };
        assert_eq!(passed.arguments, ["--help", "--profile", "x", "-c", "--", "a"]);
    }
}
