//! Options of cargo and of nextest, as far as it matters here what they are: whether a value follows, and whether they
//! say what is built.

use std::ffi::OsString;

/// Options with a value that say what is built, as both have them.
const VALUES_OF_BUILDS: [&str; 14] = [
    "-p",
    "--package",
    "--exclude",
    "--bin",
    "--example",
    "--test",
    "--bench",
    "-F",
    "--features",
    "--target",
    "--manifest-path",
    "--config",
    "-Z",
    "--lockfile-path",
];

/// Options of nextest's with a value that say what is built, and what cargo calls them: `--profile` and `--jobs` say
/// how nextest runs.
const RENAMED: [(&str, &str); 2] = [("--cargo-profile", "--profile"), ("--build-jobs", "--jobs")];

/// Other options with a value.
const OTHER_VALUES: [&str; 8] =
    ["-j", "--jobs", "--profile", "--target-dir", "--message-format", "-E", "--filterset", "-P"];

/// Options without a value that say what is built, as both have them.
const SWITCHES_OF_BUILDS: [&str; 18] = [
    "--workspace",
    "--all",
    "--lib",
    "--bins",
    "--examples",
    "--tests",
    "--benches",
    "--all-targets",
    "--all-features",
    "--no-default-features",
    "--release",
    "-r",
    "--locked",
    "--offline",
    "--frozen",
    "--ignore-rust-version",
    "--unit-graph",
    "--future-incompat-report",
];

/// Whether the value of an option may be the word behind it.
pub fn has_value(option: &str) -> bool {
    VALUES_OF_BUILDS.contains(&option)
        || OTHER_VALUES.contains(&option)
        || RENAMED.iter().any(|(of_nextest, _)| *of_nextest == option)
}

/// Selects the options of nextest that say what is built, in cargo's words.
pub fn options_of_builds(words: &[OsString]) -> Vec<OsString> {
    let mut options = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let name = text.split_once('=').map_or(&*text, |(name, _)| name);
        let renamed = RENAMED.iter().find(|(of_nextest, _)| *of_nextest == name).map(|(_, in_cargo)| *in_cargo);
        if SWITCHES_OF_BUILDS.contains(&&*text) {
            options.push(word.clone());
        } else if let Some(in_cargo) = renamed.or(Some(name).filter(|name| VALUES_OF_BUILDS.contains(name))) {
            options.push(text.replacen(name, in_cargo, 1).into());
            if name == text {
                options.extend(words.next().cloned());
            }
        } else if has_value(&text) {
            // The value is no option, whatever it looks like.
            words.next();
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_builds_by_cargos_options() {
        let words = "-p a --retries 2 --cargo-profile=ci --features x --no-capture name -j 4 --build-jobs 3";
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let wanted = "-p a --profile=ci --features x --jobs 3";
        assert_eq!(options_of_builds(&words), wanted.split(' ').map(OsString::from).collect::<Vec<_>>());
    }
}
