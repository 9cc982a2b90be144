//! How options travel: `cotree cc` hands them to the linker that clang starts as environment variables, and the linker
//! plugin gets them as one value, as JSON.

use crate::options::{At, BuildOptions};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use thiserror::Error;

/// What names of environment variables of cotree begin with.
pub const PREFIX: &str = "COTREE_";

/// What the value of the plugin begins with.
const PLUGIN: &str = "cotree-options=";

/// The environment variable of the option of this name.
pub(crate) fn variable(option: &str) -> String {
    format!("{PREFIX}{}", option.to_uppercase().replace('-', "_"))
}

/// The options in the value that the linker plugin was given, if it has any.
#[must_use]
pub fn plugin_value(value: &str) -> Option<&str> {
    value.strip_prefix(PLUGIN)
}

/// Variables that name tools and folders, and say nothing of builds or runs.
const OF_TOOLS: [&str; 6] = ["CC", "CXX", "LD", "LLVM", "DRIVER", "KEEP_TEMPS"];

/// Takes what the environment says of builds and runs away from a command: all variables of cotree but those that name
/// tools.
pub fn clear_environment(command: &mut Command) {
    let is_setting = |name: &str| name.strip_prefix(PREFIX).is_some_and(|rest| !OF_TOOLS.contains(&rest));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_setting) {
            command.env_remove(name);
        }
    }
}

/// Options of another version, or no options.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct PluginValueError(#[from] serde_json::Error);

impl BuildOptions {
    /// Where counters go in.
    #[must_use]
    pub fn place(&self) -> At {
        let early = self.coverage == Some(true) || self.for_pgo == Some(true);
        self.at.unwrap_or(if early { At::Early } else { At::Late })
    }

    /// Must the compiler leave the bitcode unoptimised?
    #[must_use]
    pub fn early(&self) -> bool {
        self.place() != At::Late
    }

    /// Are targets of calls through pointers counted? Nothing if that depends on the method.
    #[must_use]
    pub fn asks_for_targets(&self) -> Option<bool> {
        self.targets.or(self.for_pgo.filter(|&is_for| is_for))
    }

    /// What is set, by names of options.
    fn set(&self) -> Map<String, Value> {
        let Ok(Value::Object(all)) = serde_json::to_value(self) else { unreachable!("a struct of texts and numbers") };
        let is_set = |value: &Value| !value.is_null() && value.as_array().is_none_or(|values| !values.is_empty());
        all.into_iter().filter(|(_, value)| is_set(value)).collect()
    }

    /// The names of the options that are set and that the link has to be given, too. `--at` is none: a link that does
    /// not fit is refused.
    #[must_use]
    pub fn asked_of_links(&self) -> Vec<String> {
        self.set().into_iter().map(|(option, _)| option).filter(|option| option != "at").collect()
    }

    /// The options that are set, as the command line spells them, and what `--for-pgo` says of `--at`. Of files there
    /// is the name without folders, and of where profiles go nothing: no count depends on that.
    #[must_use]
    pub fn described(&self) -> BTreeMap<String, String> {
        let base = |path: &Option<PathBuf>| path.as_deref().and_then(Path::file_name).map(PathBuf::from);
        let named = Self {
            weights: base(&self.weights),
            use_profile: base(&self.use_profile),
            event_costs: base(&self.event_costs),
            profile_file: None,
            ..self.clone()
        };
        let mut named: BTreeMap<_, _> =
            named.set().iter().map(|(option, value)| (option.clone(), text(value))).collect();
        if self.for_pgo == Some(true) {
            named.insert("at".to_owned(), self.place().name().to_owned());
        }
        named
    }

    /// As environment variables, which [`read_environment`](crate::read_environment) takes them from.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        self.set().into_iter().map(|(option, value)| (variable(&option), text(&value))).collect()
    }

    /// As what the linker plugin is told; nothing if nothing is set.
    #[must_use]
    pub fn plugin_option(&self) -> Option<String> {
        let set = self.set();
        (!set.is_empty()).then(|| format!("{PLUGIN}{}", Value::Object(set)))
    }

    /// Puts what a value of the plugin sets over what is set here.
    ///
    /// # Errors
    /// The text is not what [`plugin_option`](Self::plugin_option) of this version writes.
    pub fn add_plugin_value(&mut self, json: &str) -> Result<(), PluginValueError> {
        let mut all = self.set();
        all.extend(serde_json::from_str::<Map<String, Value>>(json)?);
        *self = serde_json::from_value(Value::Object(all))?;
        Ok(())
    }
}

/// As the command line spells it.
fn text(value: &Value) -> String {
    match value {
        Value::Bool(true) => "on".into(),
        Value::Bool(false) => "off".into(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(";"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{self, Line};
    use crate::shape::{declared, name};
    use clap::Parser;

    fn read(line: &[&str]) -> BuildOptions {
        line::read(line.iter().copied())
    }

    /// Some value for each option that there is.
    fn all() -> Vec<String> {
        let value = |option: &clap::Arg| {
            let first = option.get_possible_values().first().map(|value| value.get_name().to_owned());
            let own = || option.get_value_names().map_or("?", |names| names[0].as_str()).to_owned();
            match first.unwrap_or_else(own).as_str() {
                "PATHS" => "7".to_owned(),
                "SIZE" => "64M".to_owned(),
                "true" => "off".to_owned(),
                word => word.to_owned(),
            }
        };
        declared().iter().map(|option| format!("--{}={}", name(option), value(option))).collect()
    }

    #[test]
    fn every_option_arrives_as_it_was_given() {
        let lines = all();
        let every: Vec<&str> = lines.iter().map(String::as_str).collect();
        for line in lines.iter().map(|line| vec![line.as_str()]).chain([every, Vec::new()]) {
            let options = read(&line);
            let mut arrived = BuildOptions::default();
            if let Some(value) = options.plugin_option() {
                arrived.add_plugin_value(plugin_value(&value).expect("ours")).expect("of this version");
            }
            assert_eq!(arrived, options, "{line:?}");
            assert_eq!(options.environment().len(), line.len(), "{line:?}");
            let again: Vec<String> = options
                .environment()
                .into_iter()
                .map(|(name, value)| format!("--{}={value}", name[PREFIX.len()..].to_lowercase().replace('_', "-")))
                .collect();
            assert_eq!(read(&again.iter().map(String::as_str).collect::<Vec<_>>()), options, "{line:?}");
        }
    }

    #[test]
    fn lists_are_joined_and_switches_are_on_or_off() {
        let options = read(&["--include", "a*", "--include", "b", "--verify", "--affine", "no", "--trace-ring=1M"]);
        let mut environment = options.environment();
        environment.sort();
        let wanted = [("AFFINE", "off"), ("INCLUDE", "a*;b"), ("TRACE_RING", "1048576"), ("VERIFY", "on")];
        assert_eq!(environment, wanted.map(|(name, value)| (format!("{PREFIX}{name}"), value.to_owned())));
        let plugin = options.plugin_option().expect("some are set");
        assert!(plugin.contains(r#""include":["a*","b"]"#) && plugin.contains(r#""affine":false"#), "{plugin}");
    }

    #[test]
    fn later_values_win_and_others_stay() {
        let mut options = read(&["--profile=path", "--threads=off", "--exclude=x"]);
        options.add_plugin_value(r#"{"profile":"events=loads","exclude":["y"]}"#).unwrap();
        assert_eq!(options, read(&["--profile=events=loads", "--threads=off", "--exclude=y"]));
        for wrong in ["", "{", "[]", r#"{"profil":"edge"}"#, r#"{"profile":"edges"}"#, r#"{"affine":"on"}"#] {
            assert!(options.add_plugin_value(wrong).is_err(), "{wrong}");
        }
        assert_eq!(plugin_value("O2"), None);
    }

    #[test]
    fn values_are_checked() {
        for wrong in
            ["ipath-hybrid=", "ipath-piecewise=all", "ipath-hybrid=budget=0", "ipath=leaf", "paths", "events=sheep"]
        {
            assert!(Line::try_parse_from(["x", "--profile", wrong]).is_err(), "{wrong}");
        }
        for wrong in ["--path-limit=0", "--trace-ring=1", "--verify=perhaps", "--at=noon", "--threads="] {
            assert!(Line::try_parse_from(["x", wrong]).is_err(), "{wrong}");
        }
        for (method, strategy) in ["ipath-hybrid", "ipath-piecewise"]
            .into_iter()
            .flat_map(|method| ["leaf", "file", "local", "budget=70000"].map(|strategy| (method, strategy)))
        {
            let profile = format!("{method}={strategy}");
            assert_eq!(read(&["--profile", &profile]).environment(), [("COTREE_PROFILE".to_owned(), profile)]);
        }
    }
}
