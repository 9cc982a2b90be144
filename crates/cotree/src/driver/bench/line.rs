//! The command line of `cargo cotree bench`: options of ours and of cargo's in any order, and filters.

use crate::commands::stat::gate::Gate;
use crate::driver::cargo_options::has_value;
use clap::{Arg, CommandFactory, Parser};
use std::ffi::OsString;
use std::path::PathBuf;

/// Build the benchmarks of a Rust package with exact counters, run each in a process of its own, and hold them against
/// a baseline
#[derive(Parser, Debug)]
#[command(
    name = "cargo cotree bench",
    override_usage = "cargo cotree bench [OPTIONS] [OPTIONS OF CARGO] [-- FILTER...]"
)]
pub struct BenchArgs {
    #[command(flatten)]
    pub gate: Gate,
    /// Measure whole processes: the harness and what prepares a benchmark, too
    #[arg(long)]
    pub whole: bool,
    /// Let addresses and the seeds of hash tables differ from run to run
    #[arg(long, conflicts_with = "pin")]
    pub no_pin: bool,
    /// Keep the profile of the first run of each benchmark in this folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Print the names of the benchmarks, and run none
    #[arg(long)]
    pub list: bool,
}

/// A command line, taken apart.
#[derive(Debug, Default)]
pub struct Words {
    /// Options of ours.
    pub own: Vec<OsString>,
    /// What is for cargo.
    pub cargo: Vec<OsString>,
    /// What stands behind `--`, or alone: parts of names.
    pub filters: Vec<OsString>,
}

impl Words {
    /// Takes a command line apart.
    pub fn of(words: &[OsString]) -> Self {
        let view = BenchArgs::command();
        let mut all = Self::default();
        let mut words = words.iter().cloned();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            if text == "--" {
                all.filters.extend(words.by_ref());
            } else if text == "-h" || text == "--help" {
                all.own.push(word);
            } else if let Some(option) = view.get_arguments().find(|option| is_named(option, &text)) {
                let needs_value = option.get_action().takes_values() && is_bare(&text);
                all.own.push(word);
                if needs_value {
                    all.own.extend(words.next());
                }
            } else if has_value(&text) {
                all.cargo.push(word);
                all.cargo.extend(words.next());
            } else if text.starts_with('-') {
                all.cargo.push(word);
            } else {
                all.filters.push(word);
            }
        }
        all
    }
}

/// Does the word name the option, whatever follows in it?
fn is_named(option: &Arg, word: &str) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        let name = long.split_once('=').map_or(long, |(name, _)| name);
        let others = option.get_all_aliases().into_iter().flatten();
        return option.get_long().into_iter().chain(others).any(|known| known == name);
    }
    let mut signs = word.strip_prefix('-').unwrap_or_default().chars();
    signs.next().is_some_and(|sign| option.get_short() == Some(sign))
}

/// Is the value in the next word?
fn is_bare(word: &str) -> bool {
    if word.starts_with("--") { !word.contains('=') } else { word.len() == 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_go_where_they_belong() {
        let line =
            "--bench parse -n 1 --features x -n5 --baseline b.json --fail-above=1% --release --pin small -- 'a b'";
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let Words { own, cargo, filters } = Words::of(&words);
        assert_eq!(own.join(" ".as_ref()), "-n 1 -n5 --baseline b.json --fail-above=1% --pin");
        assert_eq!(cargo.join(" ".as_ref()), "--bench parse --features x --release");
        assert_eq!(filters.join(" ".as_ref()), "small 'a b'");
    }

    #[test]
    fn the_definition_is_sound() {
        BenchArgs::command().debug_assert();
    }
}
