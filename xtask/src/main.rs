//! Developer tasks: `cargo xtask test` and `cargo xtask bench`.
//!
//! The end-to-end suites build real programs, fetched by pinned version from the crate registry into `target/xtask`,
//! through cotree and through other compilers, and compare. Nothing fetched or generated is ever part of the
//! repository.

mod bench;
mod benches;
mod browser;
mod by_profile;
mod cargo_steps;
mod command;
mod compiler_tests;
mod coverage_of_crates;
mod coverage_of_decisions;
mod coverage_of_programs;
mod coverage_of_projects;
mod coverage_of_workspace;
mod coverage_readers;
mod cpython;
mod deadline;
mod debian;
mod dependencies;
mod events;
mod fetched;
mod floors;
mod gcov;
mod journal;
mod lto;
mod measure;
mod packaged;
mod packages;
mod pages;
mod programs;
mod progress;
mod projects;
mod real;
mod report_pages;
mod rust_programs;
mod soak;
mod sources;
mod suite;
mod table;
mod tools;
mod traces;
mod valgrind;
mod viewers;
mod web;
mod words;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of cotree")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Install what is missing, then run the lints, every crate's tests, and real programs end to end
    Test(TestArgs),
    /// Measure overhead, build time, memory and sizes against other tools; writes bench/RESULTS.md, and with
    /// `--papers` bench/PAPERS.md
    Bench(bench::Args),
    /// Bundle the program of the pages of `cotree html` from `web/`
    Web(web::Args),
    /// Random programs of what breaks profilers, in every build, against tallies of their own; on and on
    Soak(soak::Args),
    /// Run a command and print time and peak memory of its process tree
    #[command(hide = true)]
    Measure {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
}

/// Arguments of `cargo xtask test`.
#[derive(clap::Args)]
struct TestArgs {
    /// The full matrix: every level, every clang and linker that is installed, static and shared; thousands of random
    /// programs
    #[arg(long)]
    all: bool,
    /// Only cases whose name contains this, such as `cargo clippy`, `cargo test`, `random_loops`, `verify sqlite`
    #[arg(long, value_name = "PART")]
    only: Option<String>,
    /// Leave out cases that have passed before, as long as the sources are the same
    #[arg(long)]
    resume: bool,
    /// Print the names of all cases, and run none
    #[arg(long)]
    list: bool,
    /// Use this cotree and don't build one
    #[arg(long, value_name = "PATH")]
    cotree: Option<PathBuf>,
    /// Install nothing
    #[arg(long)]
    no_install: bool,
}

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Test(args) => test(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Web(args) => web::run(&args).map(|()| true),
        Task::Soak(args) => soak::run(&args),
        Task::Measure { command } => return measure::child(&command),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn test(args: &TestArgs) -> Result<bool> {
    if !(args.no_install || args.list) {
        deadline::within(deadline::COMPILING, || packages::install(args.all))?;
    }
    let mut suite = suite::Suite::new(args.only.clone(), args.resume, journal::Journal::open()?);
    if args.list {
        suite = suite.list();
    }
    let tested = cargo_steps::run(&mut suite, args.all)?;
    let given = args.cotree.as_ref().map(|path| workspace::cotree(Some(path.clone()))).transpose()?;
    let is_there = tested || given.is_some();
    let cotree = given.unwrap_or_else(workspace::built_cotree);
    let context =
        if args.list { real::Context::for_list(cotree, args.all)? } else { real::Context::new(cotree, args.all)? };
    // Those first that take longest.
    rust_programs::add(&mut suite, &context);
    projects::add(&mut suite, &context);
    gcov::add(&mut suite, &context);
    viewers::add(&mut suite, &context);
    report_pages::add(&mut suite, &context);
    web::add(&mut suite);
    valgrind::add(&mut suite, &context);
    events::add(&mut suite, &context);
    soak::add(&mut suite, &context.cotree, args.all);
    if args.all || suite.is_filtered() {
        coverage_readers::add(&mut suite, &context);
        compiler_tests::add(&mut suite, &context);
        coverage_of_crates::add(&mut suite, &context);
        coverage_of_programs::add(&mut suite, &context);
        coverage_of_projects::add(&mut suite, &context);
        coverage_of_workspace::add(&mut suite, &context);
        cpython::add(&mut suite, &context);
        pages::add(&mut suite, &context);
        benches::add(&mut suite, &context);
    }
    real::add(&mut suite, &context);
    lto::add(&mut suite, &context);
    by_profile::add(&mut suite, &context);
    traces::add(&mut suite, &context);
    // Tests of crates build a cotree, too; with other features of other crates, so that asking for one anew would
    // compile nearly all again.
    if suite.has_more() && !is_there {
        deadline::within(deadline::COMPILING, || workspace::cotree(None))?;
    }
    suite.run();
    Ok(suite.finish())
}
