//! Files import downwards only: a check that no two files of a crate lead to each other by what they name.
//!
//! A file leads to the file that *defines* what it names, however the name was handed on. What a method call or an
//! inherent `impl` in another file leads to is not seen.

mod modules;

use crate::workspace;
use anyhow::{Result, bail};
use modules::Modules;
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;
use std::fmt::Write;

/// How many files of a crate may stand in circles, all in all. These figures may only shrink.
const ALLOWED: [(&str, usize); 9] = [
    ("cotree", 0),
    ("cotree-api", 0),
    ("cotree-core", 8),
    ("cotree-llvm", 6),
    ("cotree-lto", 0),
    ("cotree-options", 0),
    ("cotree-profile", 0),
    ("cotree-report", 0),
    ("cotree-rt", 48),
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
    if wrong.is_empty() { Ok(String::new()) } else { bail!("files import downwards only (floors/mod.rs)\n{wrong}") }
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
