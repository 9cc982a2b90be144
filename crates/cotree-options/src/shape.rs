//! What follows from the declaration of options: which help shows them, and which environment variables set them.

use crate::options::{BuildOptions, EXPERT, ONE_METHOD, TESTS};
use crate::travel::variable;
use clap::{Arg, Args, Command};
use std::collections::BTreeSet;

/// The declared options.
pub(crate) fn declared() -> Vec<Arg> {
    BuildOptions::augment_args(Command::new("")).get_arguments().cloned().collect()
}

/// The name of an option, without dashes.
pub(crate) fn name(option: &Arg) -> &str {
    option.get_long().expect("options of builds have long names")
}

fn of_builds(command: Command, change: impl Fn(Arg) -> Arg) -> Command {
    let ids: BTreeSet<String> = declared().iter().map(|option| option.get_id().to_string()).collect();
    command.mut_args(|argument| if ids.contains(argument.get_id().as_str()) { change(argument) } else { argument })
}

/// Hides what few people need: options for tests in any help, those of some methods and those for experts in that of
/// `-h`. The command has the options of [`BuildOptions`].
#[must_use]
pub fn shape(command: Command) -> Command {
    of_builds(command, |option| {
        let heading = option.get_help_heading().map(str::to_owned);
        let is_switch = option.get_value_names().is_some_and(|names| names.iter().any(|name| name == "on|off"));
        let option = if is_switch { option.hide_possible_values(true) } else { option };
        match heading.as_deref() {
            Some(TESTS) => option.hide(true),
            Some(ONE_METHOD | EXPERT) => option.hide_short_help(true),
            _ => option,
        }
    })
}

/// Lets each option of builds take its value from its environment variable where the command line is silent.
#[must_use]
pub fn read_environment(command: Command) -> Command {
    of_builds(command, |option| {
        let variable = variable(name(&option));
        option.env(variable).hide_env(true)
    })
}

/// Makes the help of `-h` fit on one screen.
#[must_use]
pub fn shape_for_one_screen(command: Command) -> Command {
    const METHODS: &str = "edge, block, path, calls, trace, events or others, see --help [default: edge]";
    // `mut_arg` would put it behind all others.
    command.mut_args(|argument| match argument.get_id().as_str() {
        "profile" => argument.hide_possible_values(true).help(METHODS),
        _ => argument,
    })
}
