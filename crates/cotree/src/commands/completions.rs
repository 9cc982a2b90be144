//! `cotree completions`: what a shell must know to complete our command line.
//!
//! The script that is printed asks cotree at each press of the key, through an environment variable. So completion
//! knows what the command line knows: `trace` behind `--profile` is a method, and a subcommand elsewhere.

use super::output::Output;
use clap::{Arg, Args, Command, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;
use miette::{IntoDiagnostic, Result, WrapErr};
use std::ffi::OsString;
use std::io::Write;

/// The variable by which the script asks: it names the shell.
const VARIABLE: &str = "_COTREE_COMPLETE";

/// Whose command line it is.
const NAME: &str = "cotree";

/// The last lines for zsh. A file of `site-functions` is the body of a function, which the first completion calls.
const FOR_ZSH: &str = "\nif [ \"${funcstack[1]-}\" = _cotree ]; then _clap_dynamic_completer_cotree \"$@\"; fi\n";

/// A shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// The Bourne-again shell, 4.4 or newer
    Bash,
    /// The Z shell
    Zsh,
    /// The friendly interactive shell
    Fish,
    /// Elvish
    Elvish,
    /// PowerShell
    Powershell,
}

/// Arguments of `cotree completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs `cotree completions`.
pub fn run(args: &CompletionsArgs) -> Result<()> {
    let script = script(args.shell)?;
    Output::default().write(|out| out.write_all(&script))
}

/// The script for a shell.
pub fn script(shell: Shell) -> Result<Vec<u8>> {
    let value = shell.to_possible_value().expect("all shells have names");
    let shells = Shells::builtins();
    let known = shells.completer(value.get_name()).expect("all shells are known");
    let mut script = Vec::new();
    known
        .write_registration(VARIABLE, NAME, NAME, NAME, &mut script)
        .and_then(|()| if shell == Shell::Zsh { script.write_all(FOR_ZSH.as_bytes()) } else { Ok(()) })
        .into_diagnostic()
        .wrap_err("cannot write the script")?;
    Ok(script)
}

/// Answers a shell that asks what may stand at a place of a command line. `false` if none has asked.
pub fn answer_shell(command: impl Fn() -> clap::Command) -> Result<bool> {
    if std::env::var_os(VARIABLE).is_none() {
        return Ok(false);
    }
    let here = std::env::current_dir().ok();
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let mut wants_options = true;
    if let Some(begin) = words.iter().position(|word| word == "--") {
        let line = &mut words[begin + 1..];
        // Shells that do not say which word it is ask for the last.
        let asked = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
        let asked = asked.unwrap_or(line.len().saturating_sub(1)).min(line.len());
        hide_values(&command(), &mut line[..asked]);
        wants_options = line.get(asked).is_some_and(|word| word.as_encoded_bytes().starts_with(b"-"));
    }
    CompleteEnv::with_factory(|| if wants_options { command() } else { without_options(command()) })
        .var(VARIABLE)
        .bin(NAME)
        .completer(NAME)
        .try_complete(words, here.as_deref())
        .into_diagnostic()
        .wrap_err("cannot complete a command line")
}

/// Hides all options: they are many, and stand in the way of what else there is. clap's engine offers what is hidden
/// where there is nothing else.
fn without_options(command: Command) -> Command {
    command
        .disable_help_flag(true)
        .disable_version_flag(true)
        .mut_args(|arg| if arg.is_positional() { arg } else { arg.hide(true) })
        .mut_subcommands(without_options)
}

/// Replaces values of options that stand before subcommands. clap's engine would take a value for a subcommand of that
/// name, such as `trace` behind `--profile`; it does not look at values themselves.
fn hide_values(command: &Command, words: &mut [OsString]) {
    let mut command = command.clone();
    command.build();
    let mut command = &command;
    let mut is_value = false;
    for word in words.iter_mut().skip(1) {
        if std::mem::take(&mut is_value) {
            *word = OsString::from("value");
            continue;
        }
        let text = word.to_string_lossy();
        if text == "--" {
            return;
        }
        let named = |arg: &&Arg| match text.strip_prefix("--") {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short().is_some_and(|short| text.strip_prefix('-') == Some(&*short.to_string())),
        };
        if text.starts_with('-') {
            let takes = |arg: &Arg| arg.get_num_args().is_some_and(|values| values.min_values() > 0);
            is_value = command.get_arguments().find(named).is_some_and(takes);
        } else if let Some(next) = command.find_subcommand(&*text) {
            command = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_no_subcommands() {
        let method = Arg::new("profile").long("profile").num_args(1);
        let optional = Arg::new("verify").long("verify").num_args(0..=1);
        let sub = Command::new("cargo").arg(method.clone()).subcommand(Command::new("run"));
        let command = Command::new("cotree").args([method, optional]).subcommand(sub).subcommand(Command::new("trace"));
        for (line, expected) in [
            ("cotree --profile trace cargo", "cotree --profile value cargo"),
            ("cotree --profile=trace trace", "cotree --profile=trace trace"),
            ("cotree --verify trace", "cotree --verify trace"),
            ("cotree cargo --profile run run", "cotree cargo --profile value run"),
            ("cotree -- --profile trace", "cotree -- --profile trace"),
        ] {
            let mut words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            hide_values(&command, &mut words);
            let expected: Vec<OsString> = expected.split(' ').map(OsString::from).collect();
            assert_eq!(words, expected, "{line}");
        }
    }
}
