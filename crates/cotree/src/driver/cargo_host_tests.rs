//! Crates that get flags of ours by our standing in front of rustc: unit tests of procedural macros, and members.
//!
//! Cargo builds a procedural macro for the machine that builds, and keeps our flags from it: the compiler loads it, and
//! nothing of ours belongs there. Its unit tests are an ordinary program, but cargo keeps the flags from them as well.
//! So we stand in front of rustc (`RUSTC_WRAPPER`) and add the flags to these tests. A wrapper of the user's is started
//! behind ours.
//!
//! `cargo cotree coverage` gives its flags to the packages of the workspace in the same manner, and to no other
//! package: those that others have made are built as ever, once, and take no part in what each link does.
//!
//! `RUSTC_WORKSPACE_WRAPPER` would not do: its path becomes part of the names of symbols, by which a build finds its
//! profile.
//!
//! Cargo asks for no new build when the flags change, since they are in a variable of the environment that it knows
//! nothing of. We name one in the file of dependencies that rustc has written, as rustc does for `env!`, and cargo
//! compares its value.

use super::cargo_config::Settings;
use super::unpack::Toolkit;
use super::{Error, exit_code};
use crate::lines;
use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The variable that holds the flags, with [`SEPARATOR`] between them.
const FLAGS: &str = "COTREE_HOST_TEST_FLAGS";
const SEPARATOR: &str = "\x1f";
/// The variable that changes with the flags.
const KEY: &str = "COTREE_HOST_TEST_KEY";
/// The variable that holds the flags of members, and that of the members' folders, with [`SEPARATOR`] between them.
const MEMBER_FLAGS: &str = "COTREE_MEMBER_FLAGS";
const MEMBERS: &str = "COTREE_MEMBERS";
/// The variable that holds the user's own wrapper.
const THEIRS: &str = "COTREE_RUSTC_WRAPPER";

/// Flags for crates that are known one by one.
#[derive(Debug, Default)]
pub struct Chosen {
    /// For unit tests of procedural macros, if the workspace has any.
    pub host_tests: Option<Vec<String>>,
    /// For the packages in these folders.
    pub members: Option<(Vec<String>, Vec<PathBuf>)>,
}

impl Chosen {
    /// Makes cargo build these crates with the flags; tells whether that can be done.
    pub fn give(&self, cargo: &mut Command, settings: &Settings, toolkit: &Toolkit) -> bool {
        if self.host_tests.is_none() && self.members.is_none() {
            return true;
        }
        let variables = ["RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WRAPPER"];
        let from_environment = variables.iter().find_map(std::env::var_os).map(PathBuf::from);
        let theirs = from_environment.or_else(|| settings.rustc_wrapper().map(PathBuf::from));
        // The variables of a shell may name us already.
        let ours = toolkit.rustc_wrapper();
        let theirs = theirs.filter(|path| !path.as_os_str().is_empty() && *path != ours);
        // Only cargo knows which folder a relative path in a file starts from.
        if let Some(path) = theirs.as_ref().filter(|path| path.is_relative() && path.components().count() > 1) {
            if self.host_tests.is_some() {
                lines::note(format_args!(
                    "cotree: the unit tests of procedural macros are not counted, since {} stands in front of rustc: name it \
                     by an absolute path, or unset RUSTC_WRAPPER and build.rustc-wrapper",
                    path.display()
                ));
            }
            return false;
        }
        cargo.env("RUSTC_WRAPPER", ours);
        if let Some(theirs) = theirs {
            cargo.env(THEIRS, theirs);
        }
        let mut hasher = DefaultHasher::new();
        if let Some(flags) = &self.host_tests {
            flags.hash(&mut hasher);
            cargo.env(FLAGS, flags.join(SEPARATOR));
        }
        if let Some((flags, folders)) = &self.members {
            flags.hash(&mut hasher);
            let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
            cargo.env(MEMBER_FLAGS, flags.join(SEPARATOR)).env(MEMBERS, folders.join(SEPARATOR));
        }
        cargo.env(KEY, format!("{:016x}", hasher.finish()));
        true
    }
}

/// The flags that a crate gets, by what cargo gives to rustc.
fn flags_of(arguments: &[OsString]) -> Option<String> {
    let variable = if is_for_host(arguments) {
        arguments.iter().any(|word| word == "--test").then_some(FLAGS)?
    } else {
        let folder = std::env::var("CARGO_MANIFEST_DIR").ok()?;
        let members = std::env::var(MEMBERS).ok()?;
        members.split(SEPARATOR).any(|member| member == folder).then_some(MEMBER_FLAGS)?
    };
    std::env::var(variable).ok()
}

/// Stands in front of rustc: `arguments` are its path and what cargo gives to it.
pub fn rustc(arguments: &[OsString]) -> Result<ExitCode, Error> {
    let theirs = std::env::var_os(THEIRS);
    let mut all = theirs.iter().chain(arguments);
    let Some(program) = all.next() else {
        return Err(Error::Answer {
            command: "cotree rustc".into(),
            reason: "cargo starts it, with rustc's path".into(),
        });
    };
    let mut command = Command::new(program);
    command.args(all);
    for variable in [FLAGS, MEMBER_FLAGS, MEMBERS, THEIRS] {
        command.env_remove(variable);
    }
    let flags = flags_of(arguments);
    if let Some(flags) = &flags {
        command.args(flags.split(SEPARATOR).filter(|flag| !flag.is_empty()));
        let has_lines = |word: &OsString| word.to_string_lossy().starts_with("debuginfo");
        if !arguments.iter().any(has_lines) {
            command.arg("-Cdebuginfo=line-tables-only");
        }
    }
    let status = command
        .status()
        .map_err(|error| Error::Start { tool: command.get_program().to_string_lossy().into_owned(), error })?;
    if flags.is_some() && status.success() {
        depend_on_key(arguments)?;
    }
    Ok(exit_code(status))
}

/// Adds the variable to the file of dependencies.
fn depend_on_key(arguments: &[OsString]) -> Result<(), Error> {
    let Some(file) = dependencies(arguments) else { return Ok(()) };
    let key = std::env::var(KEY).unwrap_or_default();
    let opened = File::options().append(true).open(&file);
    opened.and_then(|mut file| write!(file, "\n# env-dep:{KEY}={key}\n")).map_err(Error::file("write", file))
}

/// The file of dependencies that rustc writes for cargo.
fn dependencies(arguments: &[OsString]) -> Option<PathBuf> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let after = |option: &str| arguments.iter().skip_while(|word| *word != option).nth(1).map(text);
    let extra = arguments.iter().map(text).find_map(|word| word.strip_prefix("extra-filename=").map(str::to_owned));
    let name = after("--crate-name")? + &extra.unwrap_or_default() + ".d";
    Some(Path::new(&after("--out-dir")?).join(name))
}

/// Is it for the machine that builds? What we count is built for a target that is named, except for test programs.
fn is_for_host(arguments: &[OsString]) -> bool {
    !arguments.iter().any(|word| word == "--target" || word.to_string_lossy().starts_with("--target="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_named_for_what_is_counted() {
        let is = |line: &str| is_for_host(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(is("--crate-name pm --test -C prefer-dynamic"));
        assert!(!is("--crate-name a --test --target x86_64-unknown-linux-gnu"));
        assert!(!is("--crate-name a --test --target=x86_64-unknown-linux-gnu"));
    }

    #[test]
    fn the_file_of_dependencies_has_the_name_of_the_crate() {
        let words = "--crate-name pm src/lib.rs --emit=dep-info,link --test -C extra-filename=-e91 --out-dir /t/deps";
        let words: Vec<_> = words.split(' ').map(OsString::from).collect();
        assert_eq!(dependencies(&words), Some(PathBuf::from("/t/deps/pm-e91.d")));
        assert_eq!(dependencies(&words[2..]), None);
    }
}
