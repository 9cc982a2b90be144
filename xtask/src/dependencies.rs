//! What cotree depends on: a check that `deny.toml` allows the licence and the source of each dependency.
//!
//! The file is cargo-deny's, and is read as it reads it. cargo-deny itself takes minutes to compile; what it knows
//! besides, such as advisories, is for those who have it.

use crate::{command, workspace};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use spdx::{Expression, LicenseReq, ParseMode};
use std::fmt::Write;

/// What `deny.toml` says, as far as it is checked here.
#[derive(Deserialize)]
struct Rules {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    exceptions: Vec<Exception>,
}

/// Licences of one crate.
#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    deny: Vec<Banned>,
}

#[derive(Deserialize)]
struct Banned {
    #[serde(rename = "crate")]
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

/// What `cargo metadata` prints.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    /// Where the package comes from; none for our own.
    source: Option<String>,
}

/// Fails if a dependency may not be one.
pub fn check() -> Result<String> {
    let file = workspace::root().join("deny.toml");
    let text = std::fs::read_to_string(&file).with_context(|| format!("can't read {}", file.display()))?;
    let rules: Rules = toml::from_str(&text).with_context(|| format!("can't read {}", file.display()))?;
    let mut metadata = workspace::cargo();
    metadata.args(["metadata", "--format-version", "1", "--locked", "--all-features"]);
    metadata.args(["--filter-platform", "x86_64-unknown-linux-gnu"]);
    let metadata: Metadata = serde_json::from_str(&command::text(&mut metadata)?)?;
    let mut wrong = String::new();
    for package in &metadata.packages {
        if let Err(why) = rules.judge(package) {
            let _ = writeln!(wrong, "{} {}: {why}", package.name, package.version);
        }
    }
    if wrong.is_empty() { Ok(format!("{} packages", metadata.packages.len())) } else { bail!("deny.toml\n{wrong}") }
}

impl Rules {
    /// Fails with the reason if the package may not be a dependency.
    fn judge(&self, package: &Package) -> Result<()> {
        if self.bans.deny.iter().any(|banned| banned.name == package.name) {
            bail!("the crate is banned");
        }
        if let Some(source) = &package.source
            && !self.sources.allow_registry.iter().any(|registry| *source == format!("registry+{registry}"))
        {
            bail!("the source {source} is not allowed");
        }
        let license = package.license.as_deref().context("there is no licence")?;
        let expression = Expression::parse_mode(license, ParseMode::LAX)
            .map_err(|error| anyhow::anyhow!("the licence can't be read: {error}"))?;
        let exception = self.licenses.exceptions.iter().filter(|exception| exception.name == package.name);
        let allowed: Vec<&String> = self.licenses.allow.iter().chain(exception.flat_map(|one| &one.allow)).collect();
        if !expression.evaluate(|wanted: &LicenseReq| allowed.iter().any(|name| wanted.to_string() == **name)) {
            bail!("the licence {license} is not allowed");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(name: &str, license: Option<&str>, source: Option<&str>) -> Result<(), String> {
        let rules: Rules = toml::from_str(
            r#"
            [licenses]
            allow = ["MIT", "Unicode-3.0"]
            exceptions = [{ crate = "special", allow = ["CDDL-1.0"] }]
            [bans]
            deny = [{ crate = "bad" }]
            [sources]
            allow-registry = ["https://example.org/index"]
            "#,
        )
        .expect("the rules are well-formed");
        let [license, source] = [license, source].map(|text| text.map(str::to_owned));
        let package = Package { name: name.to_owned(), version: "1.0.0".to_owned(), license, source };
        rules.judge(&package).map_err(|error| error.to_string())
    }

    #[test]
    fn licences_are_expressions() {
        for allowed in ["MIT", "MIT OR GPL-3.0-only", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
            assert_eq!(judge("plain", Some(allowed), None), Ok(()), "{allowed}");
        }
        for refused in ["GPL-3.0-only", "MIT AND Apache-2.0", "CDDL-1.0", "nonsense"] {
            assert!(judge("plain", Some(refused), None).is_err(), "{refused}");
        }
        assert!(judge("plain", None, None).is_err());
        assert_eq!(judge("special", Some("CDDL-1.0"), None), Ok(()));
    }

    #[test]
    fn names_and_sources_are_judged() {
        assert_eq!(judge("bad", Some("MIT"), None), Err("the crate is banned".to_owned()));
        assert_eq!(judge("plain", Some("MIT"), Some("registry+https://example.org/index")), Ok(()));
        for source in ["registry+https://example.org/other", "git+https://example.org/index"] {
            assert!(judge("plain", Some("MIT"), Some(source)).is_err(), "{source}");
        }
    }
}
