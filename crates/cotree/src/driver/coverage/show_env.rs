//! `cargo cotree coverage show-env`: the variables with which any command that starts cargo builds with coverage, and
//! the programs leave their profiles where `cargo cotree coverage report` looks for them.

use super::line::Asked;
use super::place::{Place, TARGET};
use super::told;
use crate::commands::output::answer;
use crate::driver::cargo_build;
use crate::driver::cargo_line::Line;
use cotree_options::BuildOptions;
use cotree_report::shell::command_line;
use miette::Result;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

/// Prints the variables.
///
/// # Errors
/// If cargo can't say what it would build.
pub fn run(options: &BuildOptions, asked: &Asked, cargo: &Line, place: &Place) -> Result<ExitCode> {
    place.create()?;
    let (options, further) = told::of_build(options, asked, place, true);
    let mut variables: BTreeMap<OsString, OsString> = BTreeMap::new();
    // Both profiles may be built with them.
    for profile in ["dev", "release"] {
        let mut line = cargo.clone();
        line.rest.splice(0..0, ["--profile".into(), profile.into()]);
        let command = cargo_build::command(options.clone(), &line, &further)?;
        let set = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        variables.extend(set);
    }
    variables.insert("CARGO_TARGET_DIR".into(), place.build().into());
    variables.insert("COTREE_FILE".into(), place.pattern());
    variables.insert(TARGET.into(), place.target.clone().into());
    let prefix = if asked.has("export-prefix") || asked.has("sh") { "export " } else { "" };
    for (name, value) in variables {
        answer(format_args!("{prefix}{}={}", name.display(), command_line(&[value.to_string_lossy()])))?;
    }
    Ok(ExitCode::SUCCESS)
}
