//! `bench/results.json`: every measurement that counts, kept until what it depends on changes.
//!
//! The file has a section per kind of measurement and a line per measurement, sorted, so that `git diff` shows what a
//! change did. A measurement is found by program, build, and versions of the tools. Whether it still holds is told by
//! its hashes: of what the build was made from (`inputs`), and for cotree's own builds of the machine code that was
//! made (`code`).

use super::subject::Subject;
use super::variants::{Tool, Variant};
use crate::real::Context;
use crate::{command, tools, workspace};
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What one build of one program executes, and what it takes to make it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// Instructions of all runs, by callgrind.
    pub instructions: u64,
    /// Bytes of the executable without debug information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Processor time that it took to compile and link, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_ms: Option<u64>,
    /// A hash of all output and exit codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// A hash of sources, workload and options.
    pub inputs: String,
    /// A hash of what the executable loads: of cotree's builds, whose compiler changes from day to day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What its paths are, and what they take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub across: Option<super::across::Across>,
    /// What its trace takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traced: Option<super::traces::Traced>,
    /// The day of the measurement, or where else the number is from.
    pub from: String,
}

/// How long one build of one program runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Processor time of the work over that of the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_base: Option<f64>,
    /// The work itself, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_ms: Option<f64>,
    /// Beginning and end, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends_ms: Option<f64>,
    /// The day of the measurement, or where else the number is from.
    pub from: String,
}

/// All that is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measurements {
    /// By program, build and versions.
    pub instructions: BTreeMap<String, Counted>,
    /// By program, build and versions.
    pub times: BTreeMap<String, Timed>,
    /// What plans and path profiles tell, by program and versions.
    pub plans: BTreeMap<String, super::plans::Plans>,
    /// Programs compiled by profiles, by program and versions.
    pub pgo: BTreeMap<String, super::pgo::Pgo>,
    /// What it takes to build SQLite, by versions.
    pub footprint: BTreeMap<String, super::footprint::Footprint>,
    /// What the papers' tables need beyond instructions, by program and versions.
    pub papers: BTreeMap<String, super::papers::Facts>,
}

impl Measurements {
    /// As a file: sections of sorted lines.
    fn text(&self) -> Result<String> {
        fn section<T: Serialize>(text: &mut String, name: &str, lines: &BTreeMap<String, T>) -> Result<()> {
            write!(text, "{}\"{name}\": {{", if text.is_empty() { "{\n" } else { ",\n" })?;
            for (index, (key, line)) in lines.iter().enumerate() {
                let comma = if index == 0 { "" } else { "," };
                write!(text, "{comma}\n  {}: {}", serde_json::to_string(key)?, serde_json::to_string(line)?)?;
            }
            *text += if lines.is_empty() { "}" } else { "\n}" };
            Ok(())
        }
        let mut text = String::new();
        section(&mut text, "instructions", &self.instructions)?;
        section(&mut text, "times", &self.times)?;
        section(&mut text, "plans", &self.plans)?;
        section(&mut text, "pgo", &self.pgo)?;
        section(&mut text, "footprint", &self.footprint)?;
        section(&mut text, "papers", &self.papers)?;
        text += "\n}\n";
        Ok(text)
    }
}

/// The file, and the versions that this machine measures with.
pub struct Store {
    file: PathBuf,
    versions: Versions,
    measurements: Measurements,
}

impl Store {
    /// Reads the file that is committed; with `quick`, one of this machine's own.
    pub fn open(context: &Context, quick: bool) -> Result<Store> {
        let file = if quick { workspace::scratch().join("bench-quick.json") } else { results_file() };
        let measurements = match fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text).with_context(|| format!("in {}", file.display()))?,
            Err(_) => Measurements::default(),
        };
        Ok(Store { file, versions: Versions::new(context), measurements })
    }

    /// The store with what a revision of the repository has in the file; `None` if it has no such file.
    pub fn at(&self, revision: &str) -> Result<Option<Store>> {
        let mut git = Command::new("git");
        git.current_dir(workspace::root()).arg("show").arg(format!("{revision}:./bench/results.json"));
        let output = command::output(&mut git)?;
        if !output.status.success() {
            return Ok(None);
        }
        let measurements =
            serde_json::from_slice(&output.stdout).with_context(|| format!("in bench/results.json of {revision}"))?;
        Ok(Some(Store { file: self.file.clone(), versions: self.versions.clone(), measurements }))
    }

    /// The instructions of a build, whether they still hold or not.
    pub fn counted(&self, subject: &Subject, variant: &Variant) -> Option<&Counted> {
        self.measurements.instructions.get(&self.versions.key(subject, Some(variant)))
    }

    /// The times of a build.
    pub fn timed(&self, subject: &Subject, variant: &Variant) -> Option<&Timed> {
        self.measurements.times.get(&self.versions.key(subject, Some(variant)))
    }

    /// What plans and path profiles tell of a program.
    pub fn plans(&self, subject: &Subject) -> Option<&super::plans::Plans> {
        self.measurements.plans.get(&self.versions.key(subject, None))
    }

    /// What a program executes that was compiled by a profile.
    pub fn pgo(&self, subject: &Subject) -> Option<&super::pgo::Pgo> {
        self.measurements.pgo.get(&self.versions.key(subject, None))
    }

    /// What it takes to build SQLite.
    pub fn footprint(&self) -> Option<&super::footprint::Footprint> {
        self.measurements.footprint.get(&self.versions.c)
    }

    /// What the papers' tables need of a program beyond instructions.
    pub fn facts(&self, subject: &Subject) -> Option<&super::papers::Facts> {
        self.measurements.papers.get(&self.versions.key(subject, None))
    }

    /// Where the numbers of instructions are from, and how many of them.
    pub fn origins(&self) -> BTreeMap<&str, usize> {
        let mut origins = BTreeMap::new();
        for counted in self.measurements.instructions.values() {
            *origins.entry(counted.from.as_str()).or_default() += 1;
        }
        origins
    }

    /// Keeps instructions, and writes the file.
    pub fn keep_counted(&mut self, subject: &Subject, variant: &Variant, counted: Counted) -> Result<()> {
        self.measurements.instructions.insert(self.versions.key(subject, Some(variant)), counted);
        self.save()
    }

    /// Keeps times, and writes the file.
    pub fn keep_timed(&mut self, subject: &Subject, variant: &Variant, timed: Timed) -> Result<()> {
        self.measurements.times.insert(self.versions.key(subject, Some(variant)), timed);
        self.save()
    }

    /// Keeps what plans and path profiles tell, and writes the file.
    pub fn keep_plans(&mut self, subject: &Subject, plans: super::plans::Plans) -> Result<()> {
        self.measurements.plans.insert(self.versions.key(subject, None), plans);
        self.save()
    }

    /// Keeps what a program executes that was compiled by a profile, and writes the file.
    pub fn keep_pgo(&mut self, subject: &Subject, pgo: super::pgo::Pgo) -> Result<()> {
        self.measurements.pgo.insert(self.versions.key(subject, None), pgo);
        self.save()
    }

    /// Keeps what it takes to build SQLite, and writes the file.
    pub fn keep_footprint(&mut self, footprint: super::footprint::Footprint) -> Result<()> {
        self.measurements.footprint.insert(self.versions.c.clone(), footprint);
        self.save()
    }

    /// Keeps what the papers' tables need, and writes the file.
    pub fn keep_facts(&mut self, subject: &Subject, facts: super::papers::Facts) -> Result<()> {
        self.measurements.papers.insert(self.versions.key(subject, None), facts);
        self.save()
    }

    fn save(&self) -> Result<()> {
        replace(&self.file, self.measurements.text()?.as_bytes())
    }
}

/// The file that is committed.
pub fn results_file() -> PathBuf {
    workspace::root().join("bench/results.json")
}

/// What is installed here, as keys of measurements name it.
#[derive(Clone)]
struct Versions {
    c: String,
    rust: String,
    gcc: String,
}

impl Versions {
    fn new(context: &Context) -> Versions {
        let named = |name: &str, tool: &str| format!("{name} {}", number(&tools::version(tool)).unwrap_or("none"));
        let [clang, gcc, rust] = [named("clang", &context.clang.c()), named("gcc", "gcc"), named("rustc", "rustc")];
        let all = [named("ld", "ld"), named("glibc", "ldd"), named("valgrind", "valgrind")].join(", ");
        Versions { c: format!("{clang}, {all}"), rust: format!("{rust}, {clang}, {all}"), gcc: format!("{gcc}, {all}") }
    }

    /// `program | build | versions`, or without a build.
    fn key(&self, subject: &Subject, variant: Option<&Variant>) -> String {
        let versions = match (subject, variant.map(|variant| variant.tool)) {
            (Subject::Rust(_), _) => &self.rust,
            (Subject::C(_), Some(Tool::Gcc)) => &self.gcc,
            (Subject::C(_), _) => &self.c,
        };
        let build = variant.map_or(String::new(), |variant| format!(" | {}", variant.name));
        format!("{}{build} | {versions}", subject.name())
    }
}

/// The version in what a tool says of itself: `22.1.8` of `Debian clang version 22.1.8 (1~deb12u1)`.
fn number(said: &str) -> Option<&str> {
    let words = said.split([' ', '-']).filter(|word| !word.starts_with('('));
    let numbers = words.filter(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()));
    numbers.into_iter().next()
}

/// A hash of any bytes.
pub fn hash(bytes: &[u8]) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}

/// Replaces a file as a whole: whoever is interrupted leaves the old one or the new one.
pub fn replace(file: &Path, content: &[u8]) -> Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, content).with_context(|| format!("can't write {}", new.display()))?;
    fs::rename(&new, file).with_context(|| format!("can't write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_short() {
        let said = [
            ("Debian clang version 22.1.8 (1~deb12u1)", "22.1.8"),
            ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
            ("GNU ld (GNU Binutils for Debian) 2.40", "2.40"),
            ("rustc 1.95.0 (59807616e 2026-04-14)", "1.95.0"),
            ("valgrind-3.19.0", "3.19.0"),
            ("ldd (Debian GLIBC 2.36-9+deb12u13) 2.36", "2.36"),
        ];
        for (text, version) in said {
            assert_eq!(number(text), Some(version), "{text}");
        }
        assert_eq!(number("(not installed)"), None);
    }

    #[test]
    fn the_file_has_a_line_per_measurement_and_is_read_again() -> Result<()> {
        let counted = |instructions| Counted {
            instructions,
            bytes: None,
            build_ms: Some(7),
            output: None,
            inputs: "1f".into(),
            code: None,
            across: None,
            traced: None,
            from: "2026-11-24".into(),
        };
        let mut measurements = Measurements::default();
        measurements.instructions.insert("b | gcc".into(), counted(2));
        measurements.instructions.insert("a | gcc".into(), counted(1));
        let text = measurements.text()?;
        let expected = r#"{
"instructions": {
  "a | gcc": {"instructions":1,"build_ms":7,"inputs":"1f","from":"2026-11-24"},
  "b | gcc": {"instructions":2,"build_ms":7,"inputs":"1f","from":"2026-11-24"}
},
"times": {},
"plans": {},
"pgo": {},
"footprint": {},
"papers": {}
}
"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<Measurements>(&text)?, measurements);
        Ok(())
    }
}
