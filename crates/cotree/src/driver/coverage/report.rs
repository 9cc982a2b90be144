//! Shows what has been run, through `cotree coverage`.

use super::line::{Asked, SWITCHES, VALUES};
use super::packages::{Shown, shown};
use super::place::{Place, TARGET};
use crate::commands::coverage::{self, CoverageArgs};
use crate::driver::cargo_line::Line;
use crate::folder::Folder;
use crate::lines;
use clap::{Args, Command, FromArgMatches};
use miette::{IntoDiagnostic, Result, miette};
use std::ffi::OsString;
use std::process::ExitCode;

/// Shows what has been run.
///
/// # Errors
/// If nothing has been run, a profile can't be read, or less ran than was asked for.
pub fn run(asked: &Asked, cargo: &Line, place: &Place) -> Result<ExitCode> {
    if !place.profiles().is_dir() {
        return Err(miette!(
            "nothing has been run yet: `cargo cotree coverage` builds and runs the tests, and shows what ran"
        ));
    }
    let Shown { folders, ignored } = shown(asked, cargo, place)?;
    let mut words: Vec<OsString> = vec!["cargo cotree coverage".into()];
    let has = |name: &str| asked.shown.iter().any(|word| word == name);
    // Files that are named take the place of all of the workspace.
    for folder in folders.into_iter().filter(|_| !has("--file")) {
        words.extend(["--file".into(), in_pattern(&folder.display().to_string()).into()]);
    }
    if let Some(ignored) = ignored {
        words.extend(["--ignore-filename-regex".into(), ignored.into()]);
    }
    words.extend(asked.shown.iter().map(OsString::from));
    if (has("--html") || has("--open")) && !has("--output-dir") {
        words.extend(["--output-dir".into(), place.pages().into()]);
    }
    // With the variables of `show-env`, programs stay where they are built.
    let built = std::env::var_os(TARGET).map(|_| place.build());
    for folder in built.into_iter().chain([place.programs()]).filter(|folder| folder.is_dir()) {
        words.extend(["--binary".into(), folder.into()]);
    }
    let unfinished = place.unfinished()?;
    if unfinished.is_empty() {
        words.push(place.profiles().into());
    } else {
        // A folder stands for its finished profiles alone, and says so.
        let finished = Folder::read(&place.profiles())?;
        words.extend(finished.files().iter().chain(&unfinished).map(OsString::from));
    }
    let matches = view().try_get_matches_from(words).unwrap_or_else(|error| error.exit());
    coverage::run(&CoverageArgs::from_arg_matches(&matches).into_diagnostic()?)?;
    Ok(ExitCode::SUCCESS)
}

/// A pattern for a folder of any name.
fn in_pattern(folder: &str) -> String {
    if !folder.contains(['*', '?', '[', '{']) {
        return folder.to_owned();
    }
    let escaped: String =
        folder.chars().map(|c| if "*?[{}".contains(c) { format!("[{c}]") } else { c.into() }).collect();
    escaped + "/*"
}

fn view() -> Command {
    CoverageArgs::augment_args(Command::new("cargo cotree coverage"))
}

/// `cargo cotree coverage --help`
///
/// # Errors
/// If it can't be printed.
pub fn help() -> Result<ExitCode> {
    let own = SWITCHES.iter().map(|(name, help)| (format!("--{name}"), help));
    let own = own.chain(VALUES.iter().map(|(name, help)| (format!("--{name} <NAME>"), help)));
    let own: Vec<String> =
        own.filter(|(_, help)| !help.is_empty()).map(|(name, help)| format!("  {name}\n          {help}\n")).collect();
    let text = view()
        .about("Build with coverage, run the tests of a Rust workspace, and show what ran")
        .override_usage(
            "cargo cotree coverage [test|nextest|bench|run] [OPTIONS] [OPTIONS OF CARGO]... [-- ARGUMENTS]\n       \
             cargo cotree coverage report|clean|show-env [OPTIONS]",
        )
        .mut_args(|option| {
            let hidden = option.is_positional() || option.get_long() == Some("binary");
            option.hide(hidden)
        })
        .after_help(format!("Options of this command:\n{}", own.concat()))
        .render_help()
        .to_string();
    lines::answer(format_args!("{}", text.trim_end())).into_diagnostic()?;
    Ok(ExitCode::SUCCESS)
}
