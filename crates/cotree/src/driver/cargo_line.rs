//! The command line of `cargo cotree`: options of ours, a verb of cargo's, and the verb's own arguments.

use super::Error;
use super::cargo_config::Settings;
use super::cargo_verbs::{self, Verb};
use clap::{Arg, Args, Command as ClapCommand, FromArgMatches, value_parser};
use cotree_options::{BuildOptions, shape, shape_for_one_screen};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

/// Our own options, then a cargo verb, then the verb's arguments.
#[derive(Clone, Debug)]
pub struct Line {
    /// `+nightly`
    pub toolchain: Option<String>,
    pub verb: String,
    /// What cargo does for this verb.
    pub kind: Verb,
    pub rest: Vec<OsString>,
}

impl Line {
    /// Reads a command line; what stands in front of the verb goes into `options`.
    pub fn parse(options: &mut BuildOptions, mut arguments: Vec<OsString>) -> Result<Line, Error> {
        let toolchain = arguments.first().and_then(|first| first.to_str()?.strip_prefix('+').map(str::to_owned));
        if toolchain.is_some() {
            arguments.remove(0);
        }
        let words = Arg::new("words").value_parser(value_parser!(OsString)).num_args(1..).hide(true);
        // The environment has been read already. It must not win over the options in front of `cargo`.
        let command = shape(BuildOptions::augment_args(ClapCommand::new("cargo cotree")))
            .about("Build a Rust package, profiled: cargo does the work, what follows the verb is for cargo")
            .version(env!("CARGO_PKG_VERSION"))
            .arg_required_else_help(true)
            .override_usage(
                "cargo cotree [OPTIONS] build|run|test|bench|check|rustc|nextest|coverage|pgo [ARGUMENTS OF CARGO]...",
            )
            .arg(words.required(true).trailing_var_arg(true).allow_hyphen_values(true));
        let command = if arguments.iter().any(|word| word == "-h") { shape_for_one_screen(command) } else { command };
        let mut matches = command.get_matches_from(std::iter::once("cargo cotree".into()).chain(arguments));
        options.update_from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let mut words = matches.remove_many::<OsString>("words").into_iter().flatten();
        let mut verb = words.next().unwrap_or_default().to_string_lossy().into_owned();
        let mut line = Line { toolchain, verb: String::new(), kind: Verb::Build, rest: words.collect() };
        let settings = Settings::read(&current_folder()?, &line.values("--config"), None)?;
        line.kind = cargo_verbs::resolve(&mut verb, &mut line.rest, &settings)?;
        line.verb = verb;
        Ok(line)
    }

    /// Cargo, of the toolchain that is asked for.
    pub fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        self.choose_toolchain(&mut command);
        command
    }

    /// Has a command of rustup's run the toolchain that is asked for.
    pub fn choose_toolchain(&self, command: &mut Command) {
        if let Some(toolchain) = &self.toolchain {
            // `CARGO` names the cargo of one toolchain; the proxy of that name picks by the variable.
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
    }

    /// Cargo's own arguments, without those of the program that it runs.
    pub fn own(&self) -> impl Iterator<Item = &OsStr> {
        self.rest.iter().map(OsString::as_os_str).take_while(|argument| *argument != "--")
    }

    /// The values of an option of cargo's.
    pub fn values(&self, option: &str) -> Vec<String> {
        let mut values = Vec::new();
        let mut own = self.own();
        while let Some(argument) = own.next() {
            let text = argument.to_string_lossy();
            if text == option {
                values.extend(own.next().map(|value| value.to_string_lossy().into_owned()));
            } else if let Some(value) = text.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
                values.push(value.to_owned());
            }
        }
        values
    }

    /// The profile that cargo will build with.
    pub fn profile(&self) -> String {
        let named = self.values(self.kind.profile_option()).pop();
        let release = self.own().any(|argument| argument == "--release" || argument == "-r");
        named.unwrap_or_else(|| if release { "release" } else { self.kind.profile() }.to_owned())
    }
}

/// The folder that the user stands in.
pub fn current_folder() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(Error::file("find", "the current folder"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotree_core::method::Method;
    use cotree_options::{At, Detail, Profile};

    fn parse(line: &str) -> (BuildOptions, Line) {
        let mut options =
            BuildOptions { profile: Some(Profile(Method::Block, Detail::None)), ..BuildOptions::default() };
        let line = Line::parse(&mut options, line.split(' ').map(OsString::from).collect()).unwrap();
        (options, line)
    }

    #[test]
    fn options_stand_before_the_verb() {
        let (options, line) = parse("+nightly --at early run --release --target=x -- --target y");
        assert_eq!((options.at, options.profile), (Some(At::Early), Some(Profile(Method::Block, Detail::None))));
        assert_eq!(line.toolchain.as_deref(), Some("nightly"));
        assert_eq!((&*line.verb, line.rest.len()), ("run", 5));
        assert_eq!(line.values("--target"), ["x"]);
        assert_eq!(line.profile(), "release");
    }

    #[test]
    fn profiles_follow_the_verb() {
        assert_eq!(parse("build").1.profile(), "dev");
        assert_eq!(parse("test --lib").1.profile(), "test");
        assert_eq!(parse("bench --profile mine").1.profile(), "mine");
        assert_eq!(parse("nextest run --profile ci").1.profile(), "test", "nextest has profiles of its own");
        assert_eq!(parse("nextest run --cargo-profile ci").1.profile(), "ci");
        let mut options = BuildOptions::default();
        assert!(Line::parse(&mut options, vec!["publish".into()]).is_err());
    }
}
