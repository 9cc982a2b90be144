//! Files import downwards only: a check that no two files of a crate lead to each other by what they name.
//!
//! A file leads to the file that *defines* what it names, however the name was handed on. What a method call or an
//! inherent `impl` in another file leads to is not seen.
//!
//! What is of the machine stands in one folder of the runtime: a check that nothing outside speaks of it.

mod modules;

use crate::workspace;
use anyhow::{Context, Result, bail};
use modules::Modules;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// How many files of a crate may stand in circles, all in all. These figures may only shrink.
const ALLOWED: [(&str, usize); 9] = [
    ("cotree", 0),
    ("cotree-api", 0),
    ("cotree-core", 4),
    ("cotree-llvm", 6),
    ("cotree-lto", 0),
    ("cotree-options", 0),
    ("cotree-profile", 0),
    ("cotree-report", 0),
    ("cotree-rt", 0),
];

/// Fails if more files of a crate stand in circles than are allowed, or fewer, so that the figure is taken down.
pub fn check() -> Result<String> {
    let mut wrong = String::new();
    for (name, allowed) in ALLOWED {
        let circles = circles(name)?;
        let files: usize = circles.iter().map(Vec::len).sum();
        if files != allowed {
            let _ = writeln!(wrong, "{name}: {files} files stand in circles, and {allowed} are allowed");
            for circle in circles {
                let _ = writeln!(wrong, "  {} files: {}", circle.len(), circle.join(" "));
            }
        }
    }
    for arrow in upward()? {
        let _ = writeln!(wrong, "{arrow}: that is a floor above (FLOORS)");
    }
    for file in of_a_machine(&runtime())? {
        let _ = writeln!(wrong, "{file}: what is of the machine stands in arch/");
    }
    if wrong.is_empty() { Ok(String::new()) } else { bail!("files import downwards only (floors/mod.rs)\n{wrong}") }
}

/// The floors of the runtime, lowest first, by the beginnings of their files' paths. Other files are above all of them.
const FLOORS: [&[&str]; 11] = [
    &["arch/"],
    &["zeros", "checksum", "layout/", "pool", "expression"],
    &["runtime/os/"],
    &["runtime/unit", "runtime/thread", "runtime/joined"],
    &["runtime/file/"],
    &["runtime/slabs/"],
    &["runtime/stack/"],
    &["runtime/record/"],
    &["runtime/profile/"],
    &["runtime/process/"],
    &["runtime/hooks/"],
];

/// The arrows of the runtime that lead from a floor to a higher one.
fn upward() -> Result<Vec<String>> {
    let modules = Modules::read(&runtime().join("lib.rs"))?;
    let file = |index: usize| {
        let file = &modules.files[index];
        file.strip_prefix(runtime()).unwrap_or(file).display().to_string()
    };
    let floor = |file: &str| {
        let is_of = |floor: &&[&str]| floor.iter().any(|beginning| file.starts_with(beginning));
        FLOORS.iter().position(is_of).unwrap_or(FLOORS.len())
    };
    let arrows = modules.arrows().into_iter().flat_map(|(from, to)| to.into_iter().map(move |to| (from, to)));
    let named = arrows.map(|(from, to)| (file(from), file(to)));
    Ok(named.filter(|(from, to)| floor(from) < floor(to)).map(|(from, to)| format!("{from} uses {to}")).collect())
}

/// Words that only what is of the machine has: assembly, and registers of a context.
const OF_A_MACHINE: [&str; 4] = ["asm!", "naked", "gregs", "REG_R"];

/// The sources of the runtime.
fn runtime() -> PathBuf {
    workspace::root().join("crates/cotree-rt/src")
}

/// The files below a folder, but for those of the runtime's `arch`, in which such a word stands.
fn of_a_machine(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("no folder {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            if path != runtime().join("arch") {
                found.extend(of_a_machine(&path)?);
            }
            continue;
        }
        let text = std::fs::read_to_string(&path).with_context(|| format!("can't read {}", path.display()))?;
        if OF_A_MACHINE.iter().any(|word| text.contains(word)) {
            found.push(path.display().to_string());
        }
    }
    Ok(found)
}

/// The sets of files that all lead to each other, largest first.
fn circles(name: &str) -> Result<Vec<Vec<String>>> {
    let sources = workspace::root().join("crates").join(name).join("src");
    let mut circles = Vec::new();
    for root in ["lib.rs", "main.rs"].map(|root| sources.join(root)).iter().filter(|root| root.exists()) {
        let modules = Modules::read(root)?;
        let arrows = modules.arrows();
        let graph =
            DiGraphMap::<usize, ()>::from_edges(arrows.iter().flat_map(|(&a, to)| to.iter().map(move |&b| (a, b))));
        let file = |index: &usize| {
            let file = &modules.files[*index];
            file.strip_prefix(&sources).unwrap_or(file).display().to_string()
        };
        let of_several = tarjan_scc(&graph).into_iter().filter(|files| files.len() > 1);
        circles.extend(of_several.map(|files| {
            let mut files: Vec<String> = files.iter().map(file).collect();
            files.sort();
            files
        }));
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    Ok(circles)
}
