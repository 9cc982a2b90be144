//! The subcommands of cargo that `cargo cotree` takes, how each finds its settings, and why the others are refused.
//!
//! A verb is known by what it does to a build. Aliases from cargo's configuration lead to a verb, as they do for cargo.
//! Everything else is refused before cargo starts: a command that ignores our flags would build a program without
//! counters, silently.

use super::Error;
use super::cargo_config::Settings;
use std::ffi::OsString;

/// A subcommand that builds programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `build`, `check`, `run` and `rustc`, which build with the profile `dev`.
    Build,
    /// `test`
    Test,
    /// `bench`
    Bench,
    /// `nextest`, which is a program of its own: its `run`, `list`, `bench` and `archive` take cargo's options.
    Nextest,
    /// `pgo`, which is ours.
    Pgo,
    /// `coverage`, which is ours.
    Coverage,
}

/// Subcommands of cargo's own that build no program, or keep none.
const WITHOUT_PROGRAMS: [&str; 37] = [
    "add",
    "clean",
    "clippy",
    "config",
    "d",
    "doc",
    "fetch",
    "fix",
    "fmt",
    "generate-lockfile",
    "git-checkout",
    "help",
    "info",
    "init",
    "locate-project",
    "login",
    "logout",
    "metadata",
    "miri",
    "new",
    "owner",
    "package",
    "pkgid",
    "publish",
    "read-manifest",
    "remove",
    "report",
    "rm",
    "rustdoc",
    "search",
    "tree",
    "uninstall",
    "update",
    "vendor",
    "verify-project",
    "version",
    "yank",
];

/// The longest chain of aliases that is followed. Cargo reports circles.
const MOST_ALIASES: usize = 16;

impl Verb {
    /// The verb of this name, if it is one.
    pub fn of(name: &str) -> Option<Verb> {
        Some(match name {
            "build" | "b" | "check" | "c" | "run" | "r" | "rustc" => Verb::Build,
            "test" | "t" => Verb::Test,
            "bench" => Verb::Bench,
            "nextest" => Verb::Nextest,
            "pgo" => Verb::Pgo,
            "coverage" => Verb::Coverage,
            _ => return None,
        })
    }

    /// The profile that cargo builds with unless it is told otherwise.
    pub fn profile(self) -> &'static str {
        match self {
            Verb::Test | Verb::Nextest | Verb::Coverage => "test",
            Verb::Bench => "bench",
            Verb::Build | Verb::Pgo => "dev",
        }
    }

    /// The option that names a profile of cargo's. (nextest has profiles of its own.)
    pub fn profile_option(self) -> &'static str {
        if self == Verb::Nextest { "--cargo-profile" } else { "--profile" }
    }

    /// Does the verb start several programs, and each in the folder of its package?
    pub fn runs_tests(self) -> bool {
        matches!(self, Verb::Test | Verb::Bench | Verb::Nextest)
    }

    /// How many of the arguments come before the place where cargo's options may stand.
    ///
    /// # Errors
    /// If nextest is to do something that builds nothing.
    pub fn arguments_before_options(self, rest: &[OsString]) -> Result<usize, Error> {
        if self != Verb::Nextest {
            return Ok(0);
        }
        let own = || rest.iter().take_while(|word| *word != "--");
        let at = own().position(|word| matches!(word.to_str(), Some("run" | "r" | "list" | "bench" | "archive")));
        let Some(at) = at else { return Err(Error::NextestVerb) };
        let reuses = |word: &OsString| {
            let text = word.to_string_lossy();
            let name = text.split_once('=').map_or(&*text, |(name, _)| name);
            name == "--binaries-metadata" || name == "--archive-file" && rest[at] != "archive"
        };
        if own().any(reuses) { Err(Error::NextestArchive) } else { Ok(at + 1) }
    }
}

/// Replaces an alias of the user's by what it stands for, and returns the verb. Cargo's own names win over aliases.
///
/// # Errors
/// If it is no subcommand that `cargo cotree` takes.
pub fn resolve(verb: &mut String, rest: &mut Vec<OsString>, settings: &Settings) -> Result<Verb, Error> {
    for _ in 0..MOST_ALIASES {
        // nextest is not of cargo's own, so that an alias may have its name.
        let alias = match Verb::of(verb) {
            Some(Verb::Nextest) | None => settings.alias(verb),
            Some(_) => None,
        };
        match (alias, Verb::of(verb)) {
            (Some(alias), _) if alias.first() != Some(verb) => {
                let mut words = alias.into_iter();
                *verb = words.next().unwrap_or_default();
                rest.splice(0..0, words.map(OsString::from));
            }
            (_, Some(known)) => return Ok(known),
            (_, None) => break,
        }
    }
    let name = verb.clone();
    Err(match name.as_str() {
        "install" => Error::CargoInstall,
        _ if WITHOUT_PROGRAMS.contains(&&*name) => Error::BuildsNoProgram(name),
        _ => Error::CargoVerb(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn aliases_lead_to_verbs() {
        let settings = Settings::of(&[
            "[alias]\nwide = 'test --workspace'\nwider = ['wide', '--all-targets']\nrun = 'build'\nloop = 'loop'",
        ]);
        let mut rest = words("--lib");
        let mut verb = "wider".to_owned();
        assert_eq!(resolve(&mut verb, &mut rest, &settings).unwrap(), Verb::Test);
        assert_eq!((&*verb, rest), ("test", words("--workspace --all-targets --lib")));
        let mut verb = "run".to_owned();
        assert_eq!(resolve(&mut verb, &mut Vec::new(), &settings).unwrap(), Verb::Build);
        assert_eq!(verb, "run", "aliases do not hide cargo's own commands");
        let said = |name: &str| resolve(&mut name.to_owned(), &mut Vec::new(), &settings).unwrap_err().to_string();
        assert!(said("loop").contains("does not know"), "{}", said("loop"));
        assert!(said("clippy").contains("builds no program"), "{}", said("clippy"));
        assert!(said("install").contains("does not install"), "{}", said("install"));
    }

    #[test]
    fn nextest_takes_the_options_behind_its_own_verb() {
        let before = |text: &str| Verb::Nextest.arguments_before_options(&words(text));
        assert_eq!(before("run --release").unwrap(), 1);
        assert_eq!(before("--manifest-path x list").unwrap(), 3);
        assert_eq!(before("archive --archive-file x").unwrap(), 1);
        for wrong in ["show-config version", "-- run", "run --archive-file=x", "list --binaries-metadata x"] {
            assert!(before(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Verb::Test.arguments_before_options(&words("run")).unwrap(), 0);
    }
}
