//! The command line of `cargo cotree coverage`, which is that of cargo-llvm-cov: a verb, options of the build, and
//! options of what is shown of it, in any order. What is neither ours nor an option of `cotree coverage` is for cargo.

use crate::commands::coverage::CoverageArgs;
use crate::driver::cargo_options::has_value;
use clap::{Arg, Args, Command as ClapCommand};
use miette::{Result, miette};
use std::ffi::OsString;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Build, run, and show: what cargo runs.
    Run(Runs),
    /// Show what has been run.
    Report,
    /// Remove what has been built and run.
    Clean,
    /// Print the variables with which a shell builds and runs.
    ShowEnv,
    /// Print what can be said.
    Help,
}

/// What cargo runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// `cargo test`
    Test,
    /// `cargo nextest run`
    Nextest,
    /// `cargo bench`
    Bench,
    /// `cargo run`
    Program,
}

/// A command line, taken apart.
#[derive(Debug)]
pub struct Asked {
    /// What is to be done.
    pub step: Step,
    /// Options of ours, by name, with values.
    own: Vec<(&'static str, String)>,
    /// Options of `cotree coverage`.
    pub shown: Vec<String>,
    /// What is for cargo, with what is for the programs behind `--`.
    pub cargo: Vec<OsString>,
}

/// Options of ours without a value, and what they do.
pub const SWITCHES: [(&str, &str); 11] = [
    ("no-report", "Run, and show nothing yet; what ran before still counts"),
    ("no-clean", "Let what ran before still count"),
    ("no-run", "Run nothing: the same as the verb report"),
    ("ignore-run-fail", "Show what ran even if tests fail, and end with 0"),
    ("no-cfg-coverage", "Do not set cfg(coverage)"),
    ("no-default-ignore-filename-regex", "Show files of other packages, of tests, examples and benches, too"),
    ("disable-default-ignore-filename-regex", ""),
    ("doctests", ""),
    ("profraw-only", "clean: remove profiles alone"),
    ("export-prefix", "show-env: write `export` before each variable"),
    ("sh", ""),
];

/// Options of ours with a value, and what they do.
pub const VALUES: [(&str, &str); 3] = [
    ("dep-coverage", "Show these packages, which others depend on, instead of the workspace's"),
    ("exclude-from-report", "Do not show this package of the workspace"),
    ("exclude-from-test", "Do not test this package of the workspace"),
];

impl Asked {
    /// Takes a command line apart.
    ///
    /// # Errors
    /// If an option has no value.
    pub fn parse(words: &[OsString]) -> Result<Self> {
        let view = CoverageArgs::augment_args(ClapCommand::new(""));
        let mut asked = Self { step: Step::Run(Runs::Test), own: Vec::new(), shown: Vec::new(), cargo: Vec::new() };
        let mut verb = None;
        let mut words = words.iter().cloned();
        while let Some(word) = words.next() {
            let Some(text) = word.to_str().map(str::to_owned) else {
                asked.cargo.push(word);
                continue;
            };
            if text == "--" {
                asked.cargo.push(word);
                asked.cargo.extend(words.by_ref());
                break;
            }
            let mut value_of = |name: &str, value: Option<&str>| match value {
                Some(value) => Ok(value.to_owned()),
                None => words
                    .next()
                    .map(|value| value.to_string_lossy().into_owned())
                    .ok_or_else(|| miette!("--{name} needs a value")),
            };
            let (name, value) = match text.strip_prefix("--").map(|option| option.split_once('=')) {
                Some(Some((name, value))) => (name.to_owned(), Some(value)),
                Some(None) => (text[2..].to_owned(), None),
                None => (String::new(), None),
            };
            if text == "-o" {
                asked.shown.extend(["--output".into(), value_of("output", None)?]);
            } else if text == "-h" || text == "--help" {
                verb = Some(Step::Help);
            } else if let Some((name, _)) = SWITCHES.iter().find(|(switch, _)| *switch == name && value.is_none()) {
                asked.own.push((name, String::new()));
            } else if let Some((name, _)) = VALUES.iter().find(|(option, _)| *option == name) {
                asked.own.push((name, value_of(name, value)?));
            } else if let Some(option) = view.get_arguments().find(|option| has_name(option, &name)) {
                asked.shown.push(format!("--{name}"));
                if option.get_action().takes_values() {
                    asked.shown.push(value_of(&name, value)?);
                }
                if name == "color" {
                    asked.cargo.extend(asked.shown[asked.shown.len() - 2..].iter().map(OsString::from));
                }
            } else if has_value(&text) {
                asked.cargo.push(word);
                asked.cargo.extend(words.next());
            } else if let Some(step) = step(&text).filter(|_| verb.is_none()) {
                verb = Some(step);
            } else {
                asked.cargo.push(word);
            }
        }
        asked.step = verb.unwrap_or(asked.step);
        if asked.has("no-run") && matches!(asked.step, Step::Run(_)) {
            asked.step = Step::Report;
        }
        Ok(asked)
    }

    /// Is this option of ours there?
    pub fn has(&self, name: &str) -> bool {
        self.own.iter().any(|(own, _)| *own == name)
    }

    /// The values of an option of ours, which may be lists.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let of_name = self.own.iter().filter(move |(own, _)| *own == name);
        of_name.flat_map(|(_, value)| value.split(',')).filter(|value| !value.is_empty())
    }
}

/// Is it an option's name, or another one of it?
fn has_name(option: &Arg, name: &str) -> bool {
    let others = || option.get_all_aliases().into_iter().flatten();
    !name.is_empty() && (option.get_long() == Some(name) || others().any(|other| other == name))
}

fn step(word: &str) -> Option<Step> {
    Some(match word {
        "test" | "t" => Step::Run(Runs::Test),
        "nextest" => Step::Run(Runs::Nextest),
        "bench" => Step::Run(Runs::Bench),
        "run" | "r" => Step::Run(Runs::Program),
        "report" => Step::Report,
        "clean" => Step::Clean,
        "show-env" => Step::ShowEnv,
        "help" => Step::Help,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Asked {
        Asked::parse(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn verbs_stand_before_or_behind_options() {
        for (line, step, cargo) in [
            ("--workspace -p run", Step::Run(Runs::Test), vec!["--workspace", "-p", "run"]),
            ("--no-report --features report", Step::Run(Runs::Test), vec!["--features", "report"]),
            ("--no-report run --bin x -- test", Step::Run(Runs::Program), vec!["--bin", "x", "--", "test"]),
            ("nextest --lcov --all-features", Step::Run(Runs::Nextest), vec!["--all-features"]),
            ("--no-run", Step::Report, vec![]),
            ("test report", Step::Run(Runs::Test), vec!["report"]),
            ("-- --help", Step::Run(Runs::Test), vec!["--", "--help"]),
            ("run --help", Step::Help, vec![]),
        ] {
            let asked = parse(line);
            assert_eq!((asked.step, asked.cargo), (step, cargo.into_iter().map(OsString::from).collect()), "{line}");
        }
    }

    #[test]
    fn options_go_where_they_belong() {
        let asked =
            parse("--lcov --output-path x.info --fail-under-lines=90 --exclude-from-report a,b --no-clean --lib");
        assert_eq!(asked.shown, ["--lcov", "--output-path", "x.info", "--fail-under-lines", "90"]);
        assert_eq!(asked.values("exclude-from-report").collect::<Vec<_>>(), ["a", "b"]);
        assert!(asked.has("no-clean") && !asked.has("no-report"));
        assert_eq!(asked.cargo, ["--lib"]);
        assert!(Asked::parse(&["--fail-under-lines".into()]).is_err());
    }
}
