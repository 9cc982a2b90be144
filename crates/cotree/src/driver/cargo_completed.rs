//! The command line of `cotree cargo` for shells that complete it: verbs, with the options that people give most.
//!
//! [`super::cargo_line`] reads it, and leaves to cargo what is cargo's.

use super::coverage::line::{SWITCHES, VALUES};
use crate::commands::coverage::CoverageArgs;
use clap::{Arg, ArgAction, Args, Command, ValueHint};
use cotree_options::{BuildOptions, shape};

/// Verbs, and what they do.
const VERBS: [(&str, &str); 9] = [
    ("build", "Build, profiled"),
    ("run", "Build and run, profiled"),
    ("test", "Build and run tests, profiled"),
    ("bench", "Build and run benchmarks, profiled"),
    ("check", "Check without building"),
    ("rustc", "Build with more options for rustc, profiled"),
    ("nextest", "Build and run tests by cargo-nextest, profiled"),
    ("coverage", "Build, run the tests, and show what of the sources ran"),
    ("pgo", "Build, measure, and build again by the profile"),
];

/// Verbs of `cargo cotree coverage`.
const COVERAGE_VERBS: [&str; 7] = ["test", "nextest", "bench", "run", "report", "clean", "show-env"];

/// Cargo's options without values.
const CARGO_SWITCHES: [&str; 13] = [
    "release",
    "workspace",
    "all-features",
    "no-default-features",
    "all-targets",
    "lib",
    "bins",
    "examples",
    "tests",
    "benches",
    "locked",
    "offline",
    "frozen",
];

/// Cargo's options with values.
const CARGO_VALUES: [&str; 11] =
    ["package", "exclude", "bin", "example", "test", "bench", "features", "profile", "target", "jobs", "config"];

/// Cargo's options with paths.
const CARGO_PATHS: [&str; 2] = ["manifest-path", "target-dir"];

/// The command line.
pub fn command() -> Command {
    let verbs = VERBS.map(|(name, about)| {
        let verb = Command::new(name).about(about);
        if name == "coverage" { coverage(verb) } else { with_cargos(verb) }
    });
    let own = shape(BuildOptions::augment_args(Command::new("cargo")));
    own.subcommands(verbs).disable_help_subcommand(true)
}

/// Adds the options of `cargo cotree coverage`.
fn coverage(verb: Command) -> Command {
    let switches = SWITCHES.iter().filter(|(_, help)| !help.is_empty());
    let switches = switches.map(|&(name, help)| switch(name).help(help));
    let values = VALUES.map(|(name, help)| value(name).help(help));
    let verb = CoverageArgs::augment_args(verb).args(switches).args(values);
    let verb = verb.mut_args(|arg| if arg.is_positional() { arg.hide(true).value_hint(ValueHint::Other) } else { arg });
    let verbs = COVERAGE_VERBS.map(|name| with_cargos(Command::new(name)));
    with_cargos(verb).subcommands(verbs).disable_help_subcommand(true)
}

/// Adds cargo's options that the verb has not.
fn with_cargos(verb: Command) -> Command {
    let paths = CARGO_PATHS.map(|name| value(name).value_hint(ValueHint::AnyPath));
    let all = CARGO_SWITCHES.map(switch).into_iter().chain(CARGO_VALUES.map(value)).chain(paths);
    let has: Vec<String> = verb.get_arguments().filter_map(Arg::get_long).map(str::to_owned).collect();
    verb.args(all.filter(|arg| !has.iter().any(|has| arg.get_long() == Some(has))))
}

fn switch(name: &'static str) -> Arg {
    Arg::new(format!("cargo-{name}")).long(name).action(ArgAction::SetTrue)
}

fn value(name: &'static str) -> Arg {
    Arg::new(format!("cargo-{name}")).long(name).num_args(1)
}

#[cfg(test)]
mod tests {
    use crate::driver::cargo_verbs::Verb;

    #[test]
    fn the_definition_is_sound_and_its_verbs_are_known() {
        super::command().debug_assert();
        for (name, _) in super::VERBS {
            assert!(Verb::of(name).is_some(), "{name}");
        }
    }
}
