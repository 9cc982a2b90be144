//! `bench/RESULTS.md`: the measurements that are kept, as tables, and `bench/NOTES.md` below them.

use super::results::Results;
use super::store::Store;
use super::subject::Workloads;
use super::variants::{self, Variant};
use super::{pgo, tables, timing};
use crate::real::Context;
use crate::sources::PINNED;
use crate::{command, tools, workspace};
use anyhow::{Context as _, Result};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;

/// What the page is made of.
pub struct Page<'a> {
    /// Tools and sources.
    pub context: &'a Context,
    /// All builds.
    pub variants: &'a [Variant],
    /// The programs that are shown.
    pub programs: &'a [&'a Workloads],
    /// The measurements.
    pub store: &'a Store,
}

impl Page<'_> {
    /// Writes bench/RESULTS.md.
    pub fn save(&self) -> Result<PathBuf> {
        let notes = workspace::root().join("bench/NOTES.md");
        let notes = std::fs::read_to_string(&notes).with_context(|| format!("can't read {}", notes.display()))?;
        // Titles of sections come one level below that of the notes.
        let body = notes.split_once("\n\n").context("no title in bench/NOTES.md")?.1.replace("\n##", "\n###");
        let file = workspace::root().join("bench/RESULTS.md");
        std::fs::write(&file, format!("{}\n\n## Notes\n\n{body}", self.text()?.trim_end()))?;
        Ok(file)
    }

    /// Programs, and those of their builds that print or return something else than most.
    pub fn different(&self) -> Vec<String> {
        let programs = Results::new(self.programs, self.variants, self.store).programs;
        let different = programs.iter().filter(|program| !program.different().is_empty());
        different.map(|program| format!("{} ({})", program.name, program.different().join(", "))).collect()
    }

    /// All tables, without the notes.
    pub fn text(&self) -> Result<String> {
        let (sets, programs): (Vec<&Workloads>, Vec<&Workloads>) =
            self.programs.iter().partition(|program| program.is_set());
        let results = Results::new(&programs, self.variants, self.store);
        let sets = Results::new(&sets, self.variants, self.store);
        let mut text = self.heading()?;
        let different = self.different();
        if different.is_empty() {
            text += "All builds of a program printed the same and ended with the same status.\n\n";
        } else {
            writeln!(text, "**Printed something else** than most builds of the program: {}.\n", different.join("; "))?;
        }
        if !results.programs.is_empty() {
            results.write(&mut text)?;
            if let Some(noise) = timing::describe_noise(self.store, &programs) {
                writeln!(text, "{noise}\n")?;
            }
            results.write_columns(&mut text)?;
        }
        sets.write_sets(&mut text)?;
        if !results.programs.is_empty() {
            tables::write(&results, &mut text)?;
            let subjects: Vec<_> = programs.iter().map(|program| &program.counted).collect();
            pgo::write(self.store, &subjects, &mut text)?;
            if let Some(footprint) = self.store.footprint() {
                footprint.write(&mut text)?;
            }
        }
        Ok(text)
    }

    fn heading(&self) -> Result<String> {
        let mut text = String::from("# Measurements\n\n");
        text += "Written by `cargo xtask bench` from `bench/results.json`, where each measurement is kept until what it depends on \
                 changes. Instructions are counted by valgrind's callgrind. Measurements of instructions are from: ";
        let origins = self.store.origins();
        let origins: Vec<String> = origins.into_iter().map(|(from, count)| format!("{from} ({count})")).collect();
        writeln!(text, "{}.\n", origins.join("; "))?;
        for tool in [&*self.context.clang.c(), "gcc", "ld", "rustc", "valgrind"] {
            writeln!(text, "- {}", tools::version(tool))?;
        }
        if let Some(bolt) = variants::bolt(self.context) {
            let version = command::text(Command::new(bolt).arg("--version"))?;
            writeln!(text, "- BOLT, {}", version.lines().find(|l| l.contains("version")).unwrap_or_default().trim())?;
        }
        let sources: Vec<String> =
            PINNED.iter().map(|(name, version)| format!("{name} {}", version.trim_start_matches('='))).collect();
        writeln!(text, "- sources: {}\n", sources.join(", "))?;
        Ok(text)
    }
}
