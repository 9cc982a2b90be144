//! `cargo cotree`: runs cargo with flags that make rustc leave code generation to the link, where the plugin is.
//!
//! Flags go where cargo's own rules join them with the user's: into the environment variable if one is set, else
//! as `--config` to the table of flags that is in force. We always name a `--target`, because cargo then keeps
//! the flags from build scripts and procedural macros. The flags hold all our options, so cargo rebuilds when
//! one changes; a separate target folder protects ordinary builds from that.

use super::cargo_config::{Debug, Settings};
use super::cargo_verbs::{self, Verb};
use super::unpack::{Toolkit, driver_option};
use super::{Error, KEEP_CODE, cargo_host_tests, linker, pgo, weights};
use crate::lines;
use clap::{Arg, Args, Command as ClapCommand, FromArgMatches, value_parser};
use cotree_core::method::Method;
use cotree_options::{BuildOptions, shape, shape_for_one_screen};
use miette::IntoDiagnostic;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Separates flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// Runs cargo, and ends as it ends.
pub fn run(mut options: BuildOptions, arguments: Vec<OsString>) -> miette::Result<ExitCode> {
    let line = Line::parse(&mut options, arguments)?;
    // Options may stand in front of `cargo`, or between it and the verb. Only now all of them are known.
    let _made = weights::resolve_all(&mut options)?;
    super::check(&options)?;
    // Cargo does all steps of the build.
    options.check_all().into_diagnostic()?;
    if line.kind == Verb::Pgo {
        if line.toolchain.is_some() {
            return Err(Error::PgoToolchain.into());
        }
        pgo::run(&options, line.rest, target_folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(build(options, &line)?)
}

fn build(mut options: BuildOptions, line: &Line) -> Result<ExitCode, Error> {
    let toolkit = Toolkit::unpack()?;
    let rustc = Rustc::ask(line)?;
    let folder = current_folder()?;
    let workspace = Workspace::ask(line, &folder)?;
    let manifest = workspace.workspace_root.join("Cargo.toml");
    let settings = Settings::read(&folder, &line.values("--config"), Some(&manifest))?;

    let mut cargo = line.cargo();
    let (before, after) = line.rest.split_at(line.kind.arguments_before_options(&line.rest)?);
    let mut after = after.to_vec();
    cargo.arg(&line.verb).args(before);
    let target = line.values("--target").pop().or_else(|| std::env::var("CARGO_BUILD_TARGET").ok());
    if target.is_none() && !settings.has_target() {
        cargo.args(["--target", &rustc.host]);
    }
    if line.values("--target-dir").is_empty() {
        cargo.arg("--target-dir").arg(workspace.target_directory.join("cotree"));
    }
    let target = target.unwrap_or_else(|| rustc.host.clone());
    let profile = line.profile();
    // rustc leaves thin optimisation to the linker. That of the modules of each crate, which it does unasked, is part
    // of what a build by a profile is compared with.
    let by_flag = lto_of_flags(&settings, &target);
    // `cargo rustc -- FLAGS`
    let behind = line.rest.iter().skip_while(|word| *word != "--").filter_map(|word| word.to_str());
    let by_argument = line.verb == "rustc" && asks_for_lto(behind);
    let joins = by_flag
        || by_argument
        || settings.lto_of(&profile)
        || (options.use_profile.is_some() && !settings.forbids_lto(&profile));
    options.lto = options.lto.or(joins.then_some(true));
    if line.kind.runs_tests() && options.profile_file.is_none() {
        // Tests start programs with an environment of their own, in folders of theirs. What is built in reaches these,
        // too.
        let root = workspace.workspace_root.display().to_string().replace('%', "%%");
        options.profile_file = Some(format!("{root}/%n.%p.cotree").into());
    }
    let mut flags = flags(&options, &toolkit, &rustc, &target);
    if by_flag {
        // As for profiles; of several such flags the last one counts.
        flags.push("-Clto=off".into());
    }
    // Documentation tests are built by rustdoc and link the same bitcode.
    for (variable, key) in [("RUSTFLAGS", "rustflags"), ("RUSTDOCFLAGS", "rustdocflags")] {
        give(&mut cargo, variable, key, &flags, &settings, &target);
    }
    if settings.lto_of(&profile) {
        // The link does it. rustc would not leave `lto = "fat"` to it, and would vectorise and unroll loops before the
        // counters come.
        cargo.env(format!("CARGO_PROFILE_{}_LTO", profile.to_uppercase().replace('-', "_")), "off");
        // What stands on the command line beats the environment, and the last of several wins.
        if let Some(at) = behind_last_config(&after) {
            let off = format!("profile.{profile}.lto=\"off\"");
            after.splice(at..at, ["--config".into(), off.into()]);
        }
    }
    if settings.debug_of(&profile) == Debug::None {
        let variable = format!("CARGO_PROFILE_{}_DEBUG", profile.to_uppercase().replace('-', "_"));
        cargo.env(variable, "line-tables-only");
    }
    if workspace.has_macros() {
        let flags = self::flags(&options, &toolkit, &rustc, &rustc.host);
        cargo_host_tests::give(&mut cargo, &flags, &settings, &toolkit);
    }
    let said = options.profile_file.is_some() || std::env::var_os("COTREE_FILE").is_some();
    if line.kind.runs_tests() && !said {
        // Cargo runs tests in the folder of their package, and they start programs in folders of theirs, which are
        // looked into.
        let folder = folder.display().to_string().replace('%', "%%");
        cargo.env("COTREE_FILE", format!("{folder}/%n.%p.cotree"));
    }
    if by_argument {
        after.push("-Clto=off".into());
    }
    cargo.args(after);
    let ended = super::run(cargo)?;
    if ended != ExitCode::SUCCESS && Method::from_name(&profile).is_some() {
        lines::note(format_args!(
            "cotree: help: what stands behind `{}` is for cargo: the method is named before, as in `cargo cotree --profile {profile} {0}`",
            line.verb
        ));
    }
    Ok(ended)
}

/// Where the last `--config` of cargo's own arguments ends; those behind `--` are the program's.
fn behind_last_config(arguments: &[OsString]) -> Option<usize> {
    let own = arguments.iter().take_while(|argument| *argument != "--");
    let ends = own.enumerate().filter_map(|(at, argument)| match argument.to_str()? {
        "--config" => Some(at + 2),
        word => word.starts_with("--config=").then_some(at + 1),
    });
    ends.last().filter(|&end| end <= arguments.len())
}

fn current_folder() -> Result<PathBuf, Error> {
    std::env::current_dir().map_err(Error::file("find", "the current folder"))
}

/// Our own options, then a cargo verb, then the verb's arguments.
#[derive(Debug)]
struct Line {
    /// `+nightly`
    toolchain: Option<String>,
    verb: String,
    /// What cargo does for this verb.
    kind: Verb,
    rest: Vec<OsString>,
}

impl Line {
    fn parse(options: &mut BuildOptions, mut arguments: Vec<OsString>) -> Result<Line, Error> {
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
                "cargo cotree [OPTIONS] build|run|test|bench|check|rustc|nextest|pgo [ARGUMENTS OF CARGO]...",
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

    fn cargo(&self) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        self.choose_toolchain(&mut command);
        command
    }

    fn choose_toolchain(&self, command: &mut Command) {
        if let Some(toolchain) = &self.toolchain {
            // `CARGO` names the cargo of one toolchain; the proxy of that name picks by the variable.
            command.env("RUSTUP_TOOLCHAIN", toolchain);
        }
    }

    /// Cargo's own arguments, without those of the program that it runs.
    fn own(&self) -> impl Iterator<Item = &OsStr> {
        self.rest.iter().map(OsString::as_os_str).take_while(|argument| *argument != "--")
    }

    /// The values of an option of cargo's.
    fn values(&self, option: &str) -> Vec<String> {
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
    fn profile(&self) -> String {
        let named = self.values(self.kind.profile_option()).pop();
        let release = self.own().any(|argument| argument == "--release" || argument == "-r");
        named.unwrap_or_else(|| if release { "release" } else { self.kind.profile() }.to_owned())
    }
}

/// The compiler that cargo will use.
struct Rustc {
    host: String,
    /// Major and minor version.
    version: (u32, u32),
}

impl Rustc {
    fn ask(line: &Line) -> Result<Rustc, Error> {
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        line.choose_toolchain(&mut command);
        let text = answer(command.arg("-vV"))?;
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let version = |release: &str| {
            let mut numbers = release.split('.').map_while(|number| number.parse().ok());
            Some((numbers.next()?, numbers.next()?))
        };
        let rustc = field("host").zip(field("release").and_then(version));
        let rustc = rustc.map(|(host, version)| Rustc { host: host.to_owned(), version });
        rustc.ok_or_else(|| Error::Answer { command: "rustc -vV".into(), reason: "no host or no release".into() })
    }
}

/// The parts of `cargo metadata`'s answer that we need.
#[derive(Deserialize)]
struct Workspace {
    workspace_root: PathBuf,
    target_directory: PathBuf,
    /// The members of the workspace.
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

impl Workspace {
    /// Is a member a procedural macro?
    fn has_macros(&self) -> bool {
        let targets = self.packages.iter().flat_map(|package| &package.targets);
        targets.flat_map(|target| &target.kind).any(|kind| kind == "proc-macro")
    }

    fn ask(line: &Line, folder: &Path) -> Result<Workspace, Error> {
        let mut command = line.cargo();
        command.args(["metadata", "--no-deps", "--format-version=1"]);
        for option in ["--manifest-path", "--config"] {
            for value in line.values(option) {
                command.args([option, &value]);
            }
        }
        // Cargo would report this too, but without what it means for cotree.
        let named = !line.values("--manifest-path").is_empty();
        if !named && !folder.ancestors().any(|folder| folder.join("Cargo.toml").exists()) {
            return Err(Error::NoPackage { folder: folder.to_owned() });
        }
        let text = answer(&mut command)?;
        serde_json::from_str(&text)
            .map_err(|error| Error::Answer { command: "cargo metadata".into(), reason: error.to_string() })
    }
}

/// Runs a command and returns what it prints. Its messages go to our standard error.
fn answer(command: &mut Command) -> Result<String, Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| Error::Start { tool: name.clone(), error })?;
    let fail = |reason: String| Error::Answer { command: name, reason };
    if !output.status.success() {
        return Err(fail(format!("{}; its messages, if any, stand above", output.status)));
    }
    String::from_utf8(output.stdout).map_err(|error| fail(error.to_string()))
}

/// The target folder that cargo would use with these arguments.
fn target_folder(arguments: &[OsString]) -> Result<PathBuf, Error> {
    let line = Line { toolchain: None, verb: "build".into(), kind: Verb::Build, rest: arguments.to_vec() };
    Ok(Workspace::ask(&line, &current_folder()?)?.target_directory)
}

/// The flags for rustc.
fn flags(options: &BuildOptions, toolkit: &Toolkit, rustc: &Rustc, target: &str) -> Vec<String> {
    let linker = std::env::var(linker::CHOICE).unwrap_or_default();
    let linker = if linker.is_empty() { "bfd" } else { &linker };
    let mut flags = vec![
        "--cfg=cotree".into(),
        format!("-Clinker-plugin-lto={}", toolkit.plugin().display()),
        format!("-Clink-arg=-fuse-ld={linker}"),
        // gcc and clang look here for the linker of that name, and find us in front of it.
        format!("-Clink-arg=-B{}", toolkit.tools().display()),
    ];
    // Since 1.90 rustc links with its own lld unless told otherwise, on this target only.
    if rustc.version >= (1, 90) && target == "x86_64-unknown-linux-gnu" {
        flags.push("-Clinker-features=-lld".into());
    }
    // What links say of profiles that do not fit, and of options and patterns that change nothing, is for the user.
    // Since 1.86 rustc keeps it to itself unless told otherwise.
    let has_patterns = [&options.include, &options.exclude, &options.exclude_file].iter().any(|all| !all.is_empty());
    let may_be_told = options.use_profile.is_some() || has_patterns || !options.idle().is_empty();
    if may_be_told && rustc.version >= (1, 86) {
        flags.push("-Wlinker-messages".into());
    }
    if options.early() {
        flags.push("-Cno-prepopulate-passes".into());
        if options.coverage == Some(true) {
            flags.push("-Cinstrument-coverage".into());
        }
    } else {
        flags.push(format!("-Cllvm-args={}", KEEP_CODE.join(" ")));
    }
    // `-Wl,` would not do: patterns may hold commas.
    for option in std::iter::once(driver_option(toolkit.cotree())).chain(options.plugin_option()) {
        flags.extend(["-Clink-arg=-Xlinker".into(), format!("-Clink-arg=-plugin-opt={option}")]);
    }
    flags
}

/// Do the user's own flags ask rustc for optimisation across crates?
fn lto_of_flags(settings: &Settings, target: &str) -> bool {
    let flags = match flags_in_environment("RUSTFLAGS") {
        Some(flags) => flags,
        None => settings.flags(&table_of_flags(settings, "rustflags", target), "rustflags"),
    };
    asks_for_lto(flags.iter().map(String::as_str))
}

/// Do these flags of rustc ask for optimisation across crates? The last one counts.
fn asks_for_lto<'a>(mut words: impl Iterator<Item = &'a str>) -> bool {
    let mut asks = false;
    while let Some(word) = words.next() {
        let code = match word {
            "-C" | "--codegen" => words.next(),
            word => word.strip_prefix("-C").or_else(|| word.strip_prefix("--codegen=")),
        };
        if let Some(value) = code.and_then(|code| code.strip_prefix("lto")) {
            asks = !matches!(value, "=off" | "=no" | "=n" | "=false");
        }
    }
    asks
}

/// The flags in the environment, which beat those in files.
fn flags_in_environment(variable: &str) -> Option<Vec<String>> {
    let words = |theirs: String| theirs.split_whitespace().map(str::to_owned).collect();
    match std::env::var(format!("CARGO_ENCODED_{variable}")) {
        Ok(theirs) => Some(theirs.split(SEPARATOR).map(str::to_owned).collect()),
        Err(_) => std::env::var(variable).ok().map(words),
    }
}

/// The table of flags in files that is in force.
fn table_of_flags<'a>(settings: &Settings, key: &str, target: &'a str) -> Vec<&'a str> {
    if settings.has_target_flags(target, key) { vec!["target", target] } else { vec!["build"] }
}

/// Adds flags to those that cargo would take from one of: `CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`, `target.….rustflags`,
/// `build.rustflags`. The first that is set wins, so ours have to go there.
fn give(cargo: &mut Command, variable: &str, key: &str, flags: &[String], settings: &Settings, target: &str) {
    let encoded = format!("CARGO_ENCODED_{variable}");
    let words = |theirs: String| theirs.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let table = table_of_flags(settings, key, target);
    // A string in a file and an array of ours can't be joined by cargo.
    let theirs = flags_in_environment(variable).or_else(|| settings.flags_as_string(&table, key).map(words));
    if let Some(theirs) = theirs {
        let all: Vec<_> = theirs.into_iter().filter(|flag| !flag.is_empty()).chain(flags.iter().cloned()).collect();
        cargo.env(encoded, all.join(SEPARATOR));
        return;
    }
    let table = table.join(".");
    // Strings of JSON are strings of TOML.
    let array = serde_json::Value::from(flags);
    cargo.arg("--config").arg(format!("{table}.{key}={array}"));
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
    fn flags_ask_for_optimisation_across_crates() {
        let asks = |flags: &str| asks_for_lto(flags.split(' '));
        assert!(asks("-Clto") && asks("-g -C lto=fat") && asks("--codegen=lto=thin") && asks("--codegen lto=yes"));
        assert!(!asks("-Copt-level=3 lto") && !asks("-Clto=off") && !asks("-Clto=fat -C lto=no"));
    }

    #[test]
    fn settings_go_behind_those_of_the_user() {
        let end = |line: &str| behind_last_config(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(end("--config a --release --config=b -- --config c"), Some(4));
        assert_eq!(end("--config a -q"), Some(2));
        assert_eq!((end("--release -- --config c"), end("--config")), (None, None));
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
