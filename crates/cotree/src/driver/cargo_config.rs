//! Reads cargo's settings for a build: configuration files, `--config` arguments and the workspace's manifest.
//!
//! Cargo has no stable way to print the settings in force (`cargo config` is unstable). We have few questions, so we
//! read the files ourselves, nearest first, as cargo does.

use super::Error;
use cotree_profile::regular;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// All sources of settings, in order of precedence.
pub struct Settings {
    tables: Vec<Table>,
    /// How many of them are of `--config` arguments, which beat variables.
    arguments: usize,
}

impl Settings {
    /// Reads what a cargo run in `folder` with such `--config` arguments would read.
    pub fn read(folder: &Path, config_arguments: &[String], manifest: Option<&Path>) -> Result<Settings, Error> {
        let mut tables = Vec::new();
        for argument in config_arguments.iter().rev() {
            match argument.parse::<Table>() {
                Ok(table) => tables.push(table),
                Err(_) => tables.extend(table(Path::new(argument))?),
            }
        }
        let arguments = tables.len();
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
        let folders = folder.ancestors().map(|folder| folder.join(".cargo")).chain(home);
        for folder in folders {
            // Both names are read, the one without an ending is the older.
            let file = ["config", "config.toml"].map(|name| folder.join(name)).into_iter().find(|file| file.exists());
            tables.extend(file.map(|file| table(&file)).transpose()?.flatten());
        }
        // Profiles in configuration files take precedence over those of the manifest.
        tables.extend(manifest.map(table).transpose()?.flatten());
        Ok(Settings { tables, arguments })
    }

    /// Settings of these texts.
    #[cfg(test)]
    pub fn of(texts: &[&str]) -> Settings {
        Settings { tables: texts.iter().map(|text| text.parse().unwrap()).collect(), arguments: 0 }
    }

    /// The values at a path, in order of precedence.
    fn get(&self, path: &[&str]) -> Vec<&Value> {
        Self::get_in(&self.tables, path)
    }

    fn get_in<'a>(tables: &'a [Table], path: &[&str]) -> Vec<&'a Value> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        tables
            .iter()
            .filter_map(|table| rest.iter().try_fold(table.get(*first)?, |value, key| value.get(key)))
            .collect()
    }

    /// What an alias of the user's stands for.
    pub fn alias(&self, name: &str) -> Option<Vec<String>> {
        match self.get(&["alias", name]).first()? {
            Value::String(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
            Value::Array(words) => Some(words.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            _ => None,
        }
    }

    /// What the user puts in front of rustc.
    pub fn rustc_wrapper(&self) -> Option<&str> {
        self.get(&["build", "rustc-wrapper"]).first().copied().and_then(Value::as_str)
    }

    /// `build.target`, if there is one.
    pub fn has_target(&self) -> bool {
        !self.get(&["build", "target"]).is_empty()
    }

    /// Are there flags (`rustflags`, `rustdocflags`) for this target, or for a `cfg(…)` that may hold for it? They
    /// override those of `build`.
    pub fn has_target_flags(&self, triple: &str, flags: &str) -> bool {
        self.get(&["target"])
            .into_iter()
            .filter_map(Value::as_table)
            .flatten()
            .any(|(key, value)| (key == triple || key.starts_with("cfg(")) && value.get(flags).is_some())
    }

    /// Flags of a table that the file that counts writes as one string.
    pub fn flags_as_string(&self, table: &[&str], flags: &str) -> Option<String> {
        self.get(&[table, &[flags]].concat()).first().copied().and_then(Value::as_str).map(str::to_owned)
    }

    /// Flags of a table, of all files that write an array: cargo joins these. What one of them writes as a string
    /// counts, too.
    pub fn flags(&self, table: &[&str], flags: &str) -> Vec<String> {
        let words = |value: &Value| match value {
            Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
            Value::Array(words) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        // The file that counts most comes last.
        self.get(&[table, &[flags]].concat()).into_iter().rev().flat_map(words).collect()
    }

    /// The `debug` of a profile or of those that it inherits from.
    pub fn debug_of(&self, profile: &str) -> Debug {
        match self.of_profile(profile, "debug") {
            Ok(Value::Boolean(on)) => Debug::of(on),
            Ok(Value::Integer(level)) => Debug::of(level != 0),
            Ok(Value::String(level)) => Debug::of(!matches!(&*level, "0" | "false" | "none")),
            Ok(_) => Debug::Some,
            Err(root) => Debug::of(root == "dev"),
        }
    }

    /// Does a profile ask for optimisation across crates?
    pub fn lto_of(&self, profile: &str) -> bool {
        match self.of_profile(profile, "lto") {
            Ok(Value::Boolean(on)) => on,
            Ok(Value::String(kind)) => matches!(&*kind, "true" | "fat" | "thin"),
            _ => false,
        }
    }

    /// Does a profile rule out all optimisation across modules? If it says nothing, or `false`, rustc optimises the
    /// modules of a crate as one.
    pub fn forbids_lto(&self, profile: &str) -> bool {
        self.of_profile(profile, "lto").is_ok_and(|value| value.as_str() == Some("off"))
    }

    /// A setting of a profile or of those that it inherits from; if none of them has it, the one that all go back to.
    fn of_profile(&self, profile: &str, key: &str) -> Result<Value, String> {
        let mut name = profile.to_owned();
        // As deep as any chain of profiles can sensibly be; cargo reports loops.
        for _ in 0..16 {
            let path = ["profile", &name, key];
            if let Some(value) = Self::get_in(&self.tables[..self.arguments], &path).first() {
                return Ok((*value).clone());
            }
            let of_name = name.to_uppercase().replace('-', "_");
            if let Ok(value) = std::env::var(format!("CARGO_PROFILE_{of_name}_{}", key.to_uppercase())) {
                return Ok(Value::String(value));
            }
            if let Some(value) = self.get(&path).first() {
                return Ok((*value).clone());
            }
            let parent =
                self.get(&["profile", &name, "inherits"]).first().copied().and_then(Value::as_str).map(str::to_owned);
            name = match (parent, &*name) {
                (Some(parent), _) => parent,
                (None, "test") => "dev".into(),
                (None, "bench") => "release".into(),
                (None, _) => return Err(name),
            };
        }
        Err(name)
    }
}

/// Does a profile make debug information?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Debug {
    /// LTO of some kind.
    Some,
    /// Not any.
    None,
}

impl Debug {
    fn of(on: bool) -> Debug {
        if on { Debug::Some } else { Debug::None }
    }
}

/// Larger files are no configuration, in bytes.
const LARGEST: u64 = 1 << 24;

fn table(path: &Path) -> Result<Option<Table>, Error> {
    let Ok(text) = regular::read_text(path, LARGEST) else { return Ok(None) };
    let fail = |error: toml::de::Error| Error::Toml { path: path.to_owned(), reason: error.message().to_owned() };
    text.parse().map(Some).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(texts: &[&str]) -> Settings {
        Settings::of(texts)
    }

    #[test]
    fn profiles_inherit() {
        let settings = settings(&[
            "profile.release.debug = 0",
            "profile.release.debug = 2\nprofile.mine.inherits = 'release'\nprofile.yours = {inherits='mine', debug=1}",
        ]);
        assert_eq!(settings.debug_of("dev"), Debug::Some);
        assert_eq!(settings.debug_of("test"), Debug::Some);
        assert_eq!(settings.debug_of("release"), Debug::None);
        assert_eq!(settings.debug_of("bench"), Debug::None);
        assert_eq!(settings.debug_of("mine"), Debug::None);
        assert_eq!(settings.debug_of("yours"), Debug::Some);
    }

    #[test]
    fn profiles_ask_for_optimisation_across_crates() {
        let settings = settings(&[
            "profile.release.lto = 'thin'\nprofile.mine.inherits = 'release'\nprofile.off = {inherits='mine', lto=false}",
            "profile.fat = {inherits='dev', lto=true}",
        ]);
        let asks = ["release", "bench", "mine", "off", "fat", "dev", "test"].map(|profile| settings.lto_of(profile));
        assert_eq!(asks, [true, true, true, false, true, false, false]);
        let settings = self::settings(&["profile.release.lto = 'off'\nprofile.mine = {inherits='release', lto=false}"]);
        let forbids = ["release", "bench", "mine", "dev"].map(|profile| settings.forbids_lto(profile));
        assert_eq!(forbids, [true, true, false, false], "`false` leaves the modules of each crate to rustc");
    }

    #[test]
    fn flags_of_targets() {
        let settings = settings(&["[target.'cfg(unix)']\nrustflags = []\n[target.b]\nlinker = 'x'"]);
        assert!(settings.has_target_flags("b", "rustflags"));
        let settings = self::settings(&["[target.a]\nrustflags = []\n[target.b]\nlinker = 'x'"]);
        assert!(!settings.has_target_flags("b", "rustflags"));
        assert!(settings.has_target_flags("a", "rustflags"));
    }
}
