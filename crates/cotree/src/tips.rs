//! What somebody may have meant whose command line is wrong: a sentence below clap's own message.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Command};
use cotree_options::{BuildOptions, environment_variables};
use cotree_report::export::FORMATS;
use std::error::Error;

/// Subcommands that show one profile, which `Input` takes.
const VIEWS: [&str; 8] = ["report", "annotate", "costs", "paths", "trace", "cfg", "verify", "export"];

/// The tip for an error, given the words of the command line.
pub fn tip(error: &clap::Error, words: &[String]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidArg) else { return None };
    let at = words.iter().position(|word| VIEWS.contains(&word.as_str()))?;
    let (view, rest) = (words[at].as_str(), &words[at + 1..]);
    let option = wrong.split('=').next().unwrap_or(wrong).trim_start_matches("--");
    let is_format = |word: &str| FORMATS.iter().any(|format| format.name == word);
    if is_format(option) || option == "format" && view != "export" {
        let format = if option == "format" { "FORMAT" } else { option };
        return Some(format!("`cotree export --format {format}` writes a profile for other programs"));
    }
    if wrong.starts_with('-') {
        return None;
    }
    let profiles: Vec<&str> = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    if let Some(format) = profiles.iter().find(|word| view == "export" && is_format(word)) {
        return Some(format!("a format is named by an option: `cotree export --format {format}`"));
    }
    Some(format!(
        "{view} takes one profile: `cotree merge -o all.cotree A B` adds up several, and of a folder it takes all"
    ))
}

/// clap's message about a number, without the words of the standard library's parser.
pub fn in_plain_words(message: &str) -> String {
    [
        ("invalid digit found in string", "a whole number is expected"),
        ("cannot parse integer from empty string", "a whole number is expected"),
        ("number too large to fit in target type", "the number is too large"),
    ]
    .into_iter()
    .fold(message.to_owned(), |message, (theirs, ours)| message.replace(theirs, ours))
}

/// What is wrong with an option of builds that stands in the environment, which clap would take for one of the command
/// line. `words` are those of the command line, which win.
pub fn from_environment(words: &[String]) -> Option<String> {
    let variables = environment_variables().into_iter();
    let given = variables.filter_map(|(option, variable)| {
        let value = std::env::var(&variable).ok()?;
        let named = words.iter().any(|word| word.strip_prefix("--").is_some_and(|word| word.starts_with(&option)));
        (!named).then_some((option, variable, value))
    });
    given.filter_map(|(option, variable, value)| wrong_value(&option, &variable, &value)).next()
}

fn wrong_value(option: &str, variable: &str, value: &str) -> Option<String> {
    let command = BuildOptions::augment_args(Command::new("cotree"));
    let error = command.try_get_matches_from(["cotree".to_owned(), format!("--{option}={value}")]).err()?;
    let values = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => values.join(", "),
        _ => String::new(),
    };
    let why = match error.source().map(ToString::to_string) {
        _ if !values.is_empty() => format!("expected one of {values}"),
        Some(why) => in_plain_words(&why),
        None => in_plain_words(&error.to_string())
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ")
            .to_owned(),
    };
    Some(format!("{variable}={value} in the environment says nothing that --{option} knows: {why}"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn wrong_variables_are_named() {
        let said = |option: &str, variable: &str, value: &str| super::wrong_value(option, variable, value);
        let method = said("profile", "COTREE_PROFILE", "pth").expect("no method");
        assert!(method.starts_with("COTREE_PROFILE=pth in the environment") && method.contains("edge, "), "{method}");
        let strategy = said("profile", "COTREE_PROFILE", "ipath-hybrid=x").expect("no strategy");
        assert!(strategy.contains("invalid strategy 'x' of ipath-hybrid"), "{strategy}");
        let size = said("trace-ring", "COTREE_TRACE_RING", "1").expect("too small");
        assert!(size.contains("from 1M to 64G"), "{size}");
        assert_eq!(said("at", "COTREE_AT", "early"), None);
    }

    fn tip(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let error = crate::cli::command().try_get_matches_from(&words).expect_err("it is wrong");
        super::tip(&error, &words)
    }

    #[test]
    fn common_mistakes_are_answered() {
        let says = |line: &str, what: &str| {
            assert!(tip(line).is_some_and(|tip| tip.contains(what)), "{line}: {:?}", tip(line))
        };
        says("cotree export a b", "cotree merge -o all.cotree");
        says("cotree report a b c", "report takes one profile");
        says("cotree report --json", "cotree export --format json");
        says("cotree annotate --lcov a", "cotree export --format lcov");
        says("cotree report --format json", "cotree export --format FORMAT");
        says("cotree export json a", "cotree export --format json");
        says("cotree export a json", "cotree export --format json");
        assert_eq!(tip("cotree report --nonsense"), None);
        assert_eq!(tip("cotree merge --nonsense"), None);
    }
}
