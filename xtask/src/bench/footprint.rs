//! What the build of the SQLite amalgamation costs, how large the embedded map is, and how long its readers take.

use crate::measure::{self, Cost};
use crate::programs::{self, Workload};
use crate::real::Context;
use crate::table::Table;
use crate::{command, workspace};
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Each build and reader runs so many times, of which the best counts.
const REPETITIONS: usize = 3;

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footprint {
    /// `cotree edge`.
    edge: Step,
    /// `cotree none`.
    none: Step,
    /// clang with LLVM's own plugin, where that is usable.
    peer: Option<Step>,
    /// Bytes of sections.
    sections: Sections,
    /// By command line.
    readers: Vec<(String, Step)>,
    /// The day of the measurement.
    pub from: String,
}

/// What one command takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Step {
    seconds: f64,
    /// The peak of the largest process.
    peak_mib: u64,
}

/// Bytes of an executable's sections.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sections {
    map: u64,
    /// Other sections of cotree's.
    others: u64,
    text: u64,
    /// `.text` of the build without counters.
    text_of_none: u64,
}

impl Footprint {
    /// Measures it; the machine should have no other work.
    pub fn measure(context: &Context, from: String) -> Result<Footprint> {
        let folder = workspace::scratch().join("bench/footprint");
        workspace::fresh(&folder)?;
        let program = programs::sqlite(&context.sources, Workload::Full);
        let ours = folder.join("ours");
        let edge = best(&program.build(context.cotree_cc(&[], false), &["-O2"], &ours))?;
        let plain = folder.join("none");
        let none = best(&program.build(context.cotree_cc(&["--profile", "none"], false), &["-O2"], &plain))?;
        let options = ["-O2", "-gline-tables-only", "-flto", "-fuse-ld=bfd"];
        let peer = best(&program.build(context.plain(false), &options, &folder.join("peer"))).ok();
        let profile = folder.join("sqlite.cotree");
        command::output(Command::new(&ours).args(&program.runs[0]).current_dir(&folder).env("COTREE_FILE", &profile))?;
        let commands: [(&str, &[&str]); 3] = [
            ("cotree report", &["report"]),
            ("cotree export --format json", &["export", "--format", "json", "-o", "out.json"]),
            ("cotree export --format lcov", &["export", "--format", "lcov", "-o", "out.lcov"]),
        ];
        let mut readers = Vec::new();
        for (name, arguments) in commands {
            let step = best(context.cotree().args(arguments).arg(&profile).current_dir(&folder))?;
            readers.push((name.to_owned(), step));
        }
        let sections = Sections::of(&ours, &plain)?;
        std::fs::remove_dir_all(&folder)?;
        Ok(Footprint { edge, none, peer, sections, readers, from })
    }

    /// Writes its part of the page.
    pub fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "## Building the SQLite amalgamation with its driver at -O2\n\nMeasured on {}.\n", self.from)?;
        let mut table = Table::new(["build", "seconds", "peak of the largest process, MiB"]);
        let builds = [("cotree edge", Some(self.edge)), ("cotree none", Some(self.none)), (PEER, self.peer)];
        for (name, step) in builds {
            if let Some(step) = step {
                table.row([name.to_owned(), format!("{:.1}", step.seconds), step.peak_mib.to_string()]);
            }
        }
        writeln!(text, "{table}")?;
        match self.peer {
            Some(peer) => writeln!(
                text,
                "cotree takes {:.2} times the time and {:.2} times the memory (wanted: at most 1.5).\n",
                self.edge.seconds / peer.seconds,
                self.edge.peak_mib as f64 / peer.peak_mib as f64
            )?,
            None => writeln!(text, "Not compared with LLVM's own plugin, which is not usable here.\n")?,
        }
        let Sections { map, others, text: code, text_of_none } = self.sections;
        writeln!(
            text,
            "The map is {:.1} KiB, {:.1} % of .text with counters ({:.1} KiB) and {:.1} % of .text without; other sections of \
             cotree are {:.1} KiB.\n",
            map as f64 / 1024.0,
            map as f64 / code.max(1) as f64 * 100.0,
            code as f64 / 1024.0,
            map as f64 / text_of_none.max(1) as f64 * 100.0,
            others as f64 / 1024.0
        )?;
        let mut table = Table::new(["command", "seconds", "MiB"]);
        for (name, step) in &self.readers {
            table.row([name.clone(), format!("{:.2}", step.seconds), step.peak_mib.to_string()]);
        }
        writeln!(text, "{table}")
    }
}

/// As the table names it.
const PEER: &str = "clang -flto, LLVM's plugin";

fn best(command: &Command) -> Result<Step> {
    let costs = (0..REPETITIONS).map(|_| measure::run(command)).collect::<Result<Vec<Cost>>>()?;
    let cost = costs.into_iter().min_by_key(|cost| cost.elapsed).context("there is a repetition")?;
    Ok(Step { seconds: cost.elapsed.as_secs_f64(), peak_mib: cost.peak_kib / 1024 })
}

impl Sections {
    fn of(ours: &Path, plain: &Path) -> Result<Sections> {
        let (ours, plain) = (sizes(ours)?, sizes(plain)?);
        let sum = |sizes: &[(String, u64)], wanted: &dyn Fn(&str) -> bool| -> u64 {
            sizes.iter().filter(|(name, _)| wanted(name)).map(|(_, size)| size).sum()
        };
        let map = sum(&ours, &|name| name == ".cotree.map");
        Ok(Sections {
            map,
            others: sum(&ours, &|name| name.starts_with(".cotree")) - map,
            text: sum(&ours, &|name| name == ".text"),
            text_of_none: sum(&plain, &|name| name == ".text"),
        })
    }
}

/// Bytes of an executable's code.
pub fn text_size(executable: &Path) -> Result<u64> {
    sizes(executable)?.into_iter().find(|(name, _)| name == ".text").map(|(_, size)| size).context("no .text")
}

/// Names and sizes of an executable's sections.
fn sizes(executable: &Path) -> Result<Vec<(String, u64)>> {
    let text = command::text(Command::new("size").arg("-A").arg(executable))?;
    let section = |line: &str| {
        let mut columns = line.split_whitespace();
        Some((columns.next()?.to_owned(), columns.next()?.parse().ok()?))
    };
    Ok(text.lines().filter_map(section).collect())
}
