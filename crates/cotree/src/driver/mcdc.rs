//! MC/DC of C and C++: clang's option for it, and which clang has it.

use super::Error;
use cotree_options::BuildOptions;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// The first clang whose numbers of test vectors are read here.
const FIRST: u32 = 19;
/// clang's own option. It wants others beside it that we give to the front end, so it goes there as well.
const OPTION: &str = "-fcoverage-mcdc";

/// Takes clang's option out of its arguments, where coverage is counted by us: it is `--mcdc` then.
pub(super) fn take_option(options: &mut BuildOptions, user: &mut Vec<OsString>) {
    let end = user.iter().position(|argument| argument == "--").unwrap_or(user.len());
    if options.coverage == Some(true) && user[..end].iter().any(|argument| argument == OPTION) {
        let mut index = 0;
        user.retain(|argument| {
            index += 1;
            index > end || argument != OPTION
        });
        options.mcdc = Some(true);
    }
}

/// Whether a compiler can write what `--mcdc` needs. One that does not tell its version passes: to run it will show.
pub(super) fn check(clang: &Path) -> Result<(), Error> {
    let Ok(answer) = Command::new(clang).arg("--version").stderr(Stdio::null()).output() else { return Ok(()) };
    let answer = String::from_utf8_lossy(&answer.stdout);
    let version = answer.split_once("clang version ").and_then(|(_, version)| version.split('.').next());
    match version.and_then(|version| version.parse().ok()) {
        Some(version) if version < FIRST => {
            Err(Error::NoMcdc { tool: clang.display().to_string(), version, first: FIRST })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clangs_option_becomes_ours() {
        let words = ["-O2", OPTION, "a.c", "--", OPTION].map(OsString::from).to_vec();
        let (mut options, mut user) = (BuildOptions::default(), words.clone());
        take_option(&mut options, &mut user);
        assert_eq!((options.mcdc, &user), (None, &words));
        options.coverage = Some(true);
        take_option(&mut options, &mut user);
        assert_eq!((options.mcdc, user), (Some(true), ["-O2", "a.c", "--", OPTION].map(OsString::from).to_vec()));
    }
}
