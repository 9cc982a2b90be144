//! What the build of the SQLite amalgamation costs, how large the embedded map is, and how long its reader takes.

use crate::measure::{self, Cost};
use crate::programs::{self, Workload};
use crate::real::Context;
use crate::table::Table;
use crate::{command, workspace};
use anyhow::{Context as _, Result};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Each build and reader runs so many times, of which the best counts.
const REPETITIONS: usize = 3;

/// Measures all three.
pub fn measure(context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("bench/footprint");
    workspace::fresh(&folder)?;
    let program = programs::sqlite(&context.sources, Workload::Full);
    let best = |command: &Command| -> Result<Cost> {
        let costs = (0..REPETITIONS).map(|_| measure::run(command)).collect::<Result<Vec<Cost>>>()?;
        costs.into_iter().min_by_key(|cost| cost.elapsed).context("there is a repetition")
    };
    let mut text = String::from("## Building the SQLite amalgamation with its driver at -O2\n\n");
    let ours = folder.join("ours");
    let cotree = best(&program.build(context.cotree_cc(&[], false), &["-O2"], &ours))?;
    let none = best(&program.build(context.cotree_cc(&["--profile", "none"], false), &["-O2"], &folder.join("none")))?;
    let options = ["-O2", "-gline-tables-only", "-flto", "-fuse-ld=bfd"];
    let peer = best(&program.build(context.plain(false), &options, &folder.join("peer")));
    let mut table = Table::new(["build", "seconds", "peak of the largest process, MiB"]);
    let mut row = |name: &str, cost: Cost| {
        table.row([name.to_owned(), format!("{:.1}", cost.elapsed.as_secs_f64()), format!("{}", cost.peak_kib / 1024)]);
    };
    row("cotree edge", cotree);
    row("cotree none", none);
    if let Ok(peer) = &peer {
        row("clang -flto, LLVM's plugin", *peer);
    }
    writeln!(text, "{table}")?;
    match peer {
        Ok(peer) => writeln!(
            text,
            "cotree takes {:.2} times the time and {:.2} times the memory (wanted: at most 1.5).\n",
            cotree.elapsed.as_secs_f64() / peer.elapsed.as_secs_f64(),
            cotree.peak_kib as f64 / peer.peak_kib as f64
        )?,
        Err(error) => writeln!(text, "Not compared with LLVM's own plugin, which is not usable here: {error:#}\n")?,
    }
    let sections = sections(&ours)?;
    let size = |wanted: &dyn Fn(&str) -> bool| -> u64 {
        sections.iter().filter(|(name, _)| wanted(name)).map(|(_, size)| size).sum()
    };
    let (map, code) = (size(&|name| name == ".cotree.map"), size(&|name| name == ".text"));
    let funcs = size(&|name| name.starts_with(".cotree")) - map;
    let plain = self::sections(&folder.join("none"))?;
    let plain = plain.iter().find(|(name, _)| name == ".text").map_or(0, |(_, size)| *size);
    writeln!(
        text,
        "The map is {:.1} KiB, {:.1} % of .text with counters ({:.1} KiB) and {:.1} % of .text without; other sections of \
         ours are {:.1} KiB.\n",
        map as f64 / 1024.0,
        map as f64 / code as f64 * 100.0,
        code as f64 / 1024.0,
        map as f64 / plain.max(1) as f64 * 100.0,
        funcs as f64 / 1024.0
    )?;
    let profile = folder.join("sqlite.cotree");
    command::output(Command::new(&ours).args(&program.runs[0]).current_dir(&folder).env("COTREE_FILE", &profile))?;
    let mut table = Table::new(["command", "seconds", "MiB"]);
    let readers: [(&str, &[&str]); 3] = [
        ("cotree report", &["report"]),
        ("cotree export --format json", &["export", "--format", "json", "-o", "out.json"]),
        ("cotree export --format lcov", &["export", "--format", "lcov", "-o", "out.lcov"]),
    ];
    for (name, arguments) in readers {
        let mut command = context.cotree();
        command.args(arguments).arg(&profile).current_dir(&folder);
        let cost = best(&command)?;
        table.row([name.to_owned(), format!("{:.2}", cost.elapsed.as_secs_f64()), format!("{}", cost.peak_kib / 1024)]);
    }
    writeln!(text, "{table}")?;
    Ok(text)
}

/// Names and sizes of an executable's sections.
fn sections(executable: &Path) -> Result<Vec<(String, u64)>> {
    let text = command::text(Command::new("size").arg("-A").arg(executable))?;
    let section = |line: &str| {
        let mut columns = line.split_whitespace();
        Some((columns.next()?.to_owned(), columns.next()?.parse().ok()?))
    };
    Ok(text.lines().filter_map(section).collect())
}
