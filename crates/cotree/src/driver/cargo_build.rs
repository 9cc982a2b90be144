//! A build by cargo: cargo runs with flags that make rustc leave code generation to the link, where the plugin is.
//!
//! Flags go where cargo's own rules join them with the user's: into the environment variable if one is set, else
//! as `--config` to the table of flags that is in force. We always name a `--target`, because cargo then keeps
//! the flags from build scripts and procedural macros. The flags hold all our options, so cargo rebuilds when
//! one changes; a separate target folder protects ordinary builds from that.

use super::cargo_config::{Debug, Settings};
use super::cargo_host_tests::Chosen;
use super::cargo_line::{Line, current_folder};
use super::cargo_workspace::{Rustc, Workspace};
use super::unpack::{Toolkit, driver_option};
use super::{Error, KEEP_CODE, linker};
use crate::lines;
use cotree_core::method::Method;
use cotree_options::BuildOptions;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Separates flags in `CARGO_ENCODED_RUSTFLAGS`.
const SEPARATOR: &str = "\x1f";

/// Tells sources that they are profiled.
const PROFILED: &str = "--cfg=cotree";

/// What a build gets besides the options of ours.
#[derive(Clone, Debug, Default)]
pub struct Further {
    /// Only packages of the workspace are counted; others are built as ever.
    pub members_only: bool,
    /// Sources are told by `cfg(coverage)` that their coverage is counted.
    pub coverage_cfg: bool,
    /// The folder in which the programs of documentation tests are kept.
    pub doc_tests: Option<PathBuf>,
    /// Everything is said by variables of the environment, for commands of a shell.
    pub for_shell: bool,
}

/// Builds, and ends as cargo ends.
pub fn build(options: BuildOptions, line: &Line) -> Result<ExitCode, Error> {
    let ended = super::run(command(options, line, &Further::default())?)?;
    let profile = line.profile();
    if ended != ExitCode::SUCCESS && Method::from_name(&profile).is_some() {
        lines::note(format_args!(
            "cotree: help: what stands behind `{}` is for cargo: the method is named before, as in `cargo cotree --profile {profile} {0}`",
            line.verb
        ));
    }
    Ok(ended)
}

/// Cargo, with all that makes it build what `options` ask for.
pub fn command(mut options: BuildOptions, line: &Line, further: &Further) -> Result<Command, Error> {
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
        if further.for_shell {
            cargo.env("CARGO_BUILD_TARGET", &rustc.host);
        } else {
            cargo.args(["--target", &rustc.host]);
        }
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
    let mut flags = configuration(further, &rustc);
    flags.extend(self::flags(&options, &toolkit, &rustc, &target));
    if by_flag {
        // As for profiles; of several such flags the last one counts.
        flags.push("-Clto=off".into());
    }
    let host_flags = || {
        let mut flags = configuration(further, &rustc);
        flags.extend(self::flags(&options, &toolkit, &rustc, &rustc.host));
        flags
    };
    let mut chosen = Chosen {
        host_tests: workspace.has_macros().then(host_flags),
        members: further.members_only.then(|| (flags.clone(), workspace.folders())),
    };
    let wrapped = chosen.give(&mut cargo, &settings, &toolkit);
    if !wrapped {
        chosen.members = None;
    }
    // Documentation tests are built by rustdoc and link the same bitcode.
    for (variable, key) in [("RUSTFLAGS", "rustflags"), ("RUSTDOCFLAGS", "rustdocflags")] {
        // What asks whether it is profiled may stand in any package.
        let all = variable == "RUSTDOCFLAGS" || chosen.members.is_none();
        let mut flags = if all { flags.clone() } else { vec![PROFILED.to_owned()] };
        if variable == "RUSTDOCFLAGS" {
            // rustdoc has no profile of cargo's, and would leave the instances in a test without lines.
            flags.push("-Cdebuginfo=line-tables-only".to_owned());
            flags.extend(doc_test_flags(further, &toolkit, &rustc, &settings, &target));
        }
        let flags = Flags { variable, key, flags: &flags };
        flags.give(&mut cargo, &settings, &target, further.for_shell);
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
    Ok(cargo)
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

/// The flags for rustc.
fn flags(options: &BuildOptions, toolkit: &Toolkit, rustc: &Rustc, target: &str) -> Vec<String> {
    let linker = std::env::var(linker::CHOICE).unwrap_or_default();
    let linker = if linker.is_empty() { "bfd" } else { &linker };
    let mut flags = vec![
        PROFILED.into(),
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

/// The names that sources can ask for with `cfg`, as with cargo-llvm-cov.
fn configuration(further: &Further, rustc: &Rustc) -> Vec<String> {
    let mut flags = Vec::new();
    if further.coverage_cfg {
        flags.push("--cfg=coverage".to_owned());
        if rustc.nightly {
            // For attributes that only such a compiler knows: `#[coverage(off)]`.
            flags.push("--cfg=coverage_nightly".into());
        }
        if rustc.version >= (1, 80) {
            flags.push("--check-cfg=cfg(coverage,coverage_nightly)".into());
        }
    }
    flags
}

/// The flags that have rustdoc start the programs of documentation tests through us, so that they can be kept. Nothing
/// if it can't, or if the user has them started by a program of theirs.
fn doc_test_flags(
    further: &Further,
    toolkit: &Toolkit,
    rustc: &Rustc,
    settings: &Settings,
    target: &str,
) -> Vec<String> {
    let variable = format!("CARGO_TARGET_{}_RUNNER", target.to_uppercase().replace('-', "_"));
    let has_runner = std::env::var_os(variable).is_some() || settings.has_target_flags(target, "runner");
    let Some(folder) = further.doc_tests.as_ref().filter(|_| rustc.version >= (1, 89) && !has_runner) else {
        return Vec::new();
    };
    let words = ["doc-test".to_owned(), folder.display().to_string()];
    let arguments = words.into_iter().map(|word| format!("--test-runtool-arg={word}"));
    std::iter::once(format!("--test-runtool={}", toolkit.cotree().display())).chain(arguments).collect()
}

/// Flags of ours for one of cargo's tools.
struct Flags<'a> {
    /// The variable that has the user's: `RUSTFLAGS`.
    variable: &'a str,
    /// The key that has them in files: `rustflags`.
    key: &'a str,
    /// Our own.
    flags: &'a [String],
}

impl Flags<'_> {
    /// Adds flags to those that cargo would take from one of: `CARGO_ENCODED_RUSTFLAGS`, `RUSTFLAGS`,
    /// `target.….rustflags`, `build.rustflags`. The first that is set wins, so ours have to go there. Those `for_shell`
    /// go into a variable in any case.
    fn give(&self, cargo: &mut Command, settings: &Settings, target: &str, for_shell: bool) {
        let encoded = format!("CARGO_ENCODED_{}", self.variable);
        let words = |theirs: String| theirs.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let table = table_of_flags(settings, self.key, target);
        // A string in a file and an array of ours can't be joined by cargo.
        let theirs = flags_in_environment(self.variable)
            .or_else(|| for_shell.then(|| settings.flags(&table, self.key)))
            .or_else(|| settings.flags_as_string(&table, self.key).map(words));
        if let Some(theirs) = theirs {
            let theirs = theirs.into_iter().filter(|flag| !flag.is_empty());
            let all: Vec<_> = theirs.chain(self.flags.iter().cloned()).collect();
            let has_space = all.iter().any(|flag| flag.contains(char::is_whitespace));
            if for_shell && !has_space && std::env::var_os(&encoded).is_none() {
                cargo.env(self.variable, all.join(" "));
            } else {
                cargo.env(encoded, all.join(SEPARATOR));
            }
            return;
        }
        let table = table.join(".");
        // Strings of JSON are strings of TOML.
        let array = serde_json::Value::from(self.flags);
        cargo.arg("--config").arg(format!("{table}.{}={array}", self.key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
