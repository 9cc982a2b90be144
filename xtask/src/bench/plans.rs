//! What plans and path profiles tell: how many increments which placement of counters executes, how many paths there
//! are and how long they are, how many loops count by themselves.

use crate::command;
use crate::real::Context;
use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What is known of one program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plans {
    /// By the profile of an edge build.
    pub increments: Option<Increments>,
    /// By the profile of a path build.
    pub paths: Option<Paths>,
    /// For C programs, facts of their bitcode.
    pub loops: Option<Loops>,
    /// The hashes of the edge build's code and of the path build's, which made the profiles.
    pub code: [String; 2],
}

/// Increments that placements of counters execute, in one run (Ball & Larus 1994, Graph 4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Increments {
    /// A counter in every block.
    pub redundant: f64,
    /// By the static heuristic, on the maximum and the minimum spanning tree.
    pub heuristic: [f64; 2],
    /// By the counts of the very run.
    pub exact: [f64; 2],
    /// Increments of path tables, by the heuristic, the counters of loops of one block among them.
    pub paths: f64,
    /// Increments in hash tables.
    pub hashed: f64,
}

/// Executed paths (Ball & Larus 1996, Tables 1 and 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paths {
    /// How many different ones.
    pub different: u64,
    /// How often any ran.
    pub executions: u64,
    /// Blocks and instructions of a path, averaged over executions.
    pub average: [f64; 2],
    /// The length of the longest.
    pub longest: [u64; 2],
    /// The most paths of one function that ran.
    pub most: u64,
}

/// How many loops have variables that can count (Frenot & Pereira 2024, Fig. 11).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loops {
    /// Loops.
    pub loops: u64,
    /// Counters on the spanning tree's chords.
    pub counters: u64,
    /// Affine variables.
    pub variables: u64,
    /// Variables that could take the place of a counter.
    pub usable: u64,
    /// Counters that they take the place of.
    pub used: u64,
}

impl Plans {
    /// Asks cotree: `edge` is a profile and the binary that it is of, `path` a path profile.
    pub fn new(
        context: &Context,
        (edge, binary): (&Path, &Path),
        path: &Path,
        bitcode: &[PathBuf],
        code: [String; 2],
    ) -> Result<Plans> {
        let increments = Some(Increments::new(context, edge, binary)?);
        let paths = Some(Paths::new(context, path)?);
        let loops = (!bitcode.is_empty()).then(|| Loops::new(context, bitcode)).transpose()?;
        Ok(Plans { increments, paths, loops, code })
    }
}

/// What a command prints as JSON.
pub fn json(command: &mut std::process::Command) -> Result<Value> {
    Ok(serde_json::from_slice(&command::succeed(command)?)?)
}

/// The field at a path, as `/units/0/paths`.
pub fn field<'a>(value: &'a Value, path: &str) -> Result<&'a Value> {
    value.pointer(path).with_context(|| format!("no field {path}"))
}

/// A number at a path.
pub fn real(value: &Value, path: &str) -> Result<f64> {
    field(value, path)?.as_f64().with_context(|| format!("{path} is no number"))
}

/// A whole number at a path.
pub fn whole(value: &Value, path: &str) -> Result<u64> {
    field(value, path)?.as_u64().with_context(|| format!("{path} is no whole number"))
}

/// A list at a path.
pub fn list<'a>(value: &'a Value, path: &str) -> Result<&'a Vec<Value>> {
    field(value, path)?.as_array().with_context(|| format!("{path} is no list"))
}

impl Increments {
    fn new(context: &Context, profile: &Path, binary: &Path) -> Result<Increments> {
        let ask = |more: &[&str]| {
            json(context.cotree().args(["plan", "--json"]).args(more).arg("--judge").arg(profile).arg(binary))
        };
        let (heuristic, exact) = (ask(&[])?, ask(&["--exact"])?);
        let trees = |plan: &Value| -> Result<[f64; 2]> {
            Ok([real(plan, "/methods/edge/increments")?, real(plan, "/methods/edge_minimum/increments")?])
        };
        Ok(Increments {
            redundant: real(&heuristic, "/methods/redundant/increments")?,
            heuristic: trees(&heuristic)?,
            exact: trees(&exact)?,
            paths: real(&heuristic, "/paths/path/increments")? + real(&heuristic, "/paths/path/self_loop_increments")?,
            hashed: real(&heuristic, "/paths/path/hashed_increments")?,
        })
    }
}

impl Paths {
    fn new(context: &Context, profile: &Path) -> Result<Paths> {
        let answer = json(context.cotree().args(["paths", "--json"]).arg(profile))?;
        let mut paths = Paths { different: 0, executions: 0, average: [0.0; 2], longest: [0; 2], most: 0 };
        for unit in list(&answer, "/units")? {
            for function in list(unit, "/functions")? {
                let executed = list(function, "/paths")?;
                paths.different += executed.len() as u64;
                paths.most = paths.most.max(executed.len() as u64);
                for path in executed {
                    let count = whole(path, "/count")?;
                    let lengths = [list(path, "/blocks")?.len() as u64, whole(path, "/instructions")?];
                    paths.executions += count;
                    for (index, length) in lengths.into_iter().enumerate() {
                        paths.average[index] += count as f64 * length as f64;
                        paths.longest[index] = paths.longest[index].max(length);
                    }
                }
            }
        }
        paths.average = paths.average.map(|sum| sum / (paths.executions.max(1) as f64));
        Ok(paths)
    }
}

impl Loops {
    fn new(context: &Context, bitcode: &[PathBuf]) -> Result<Loops> {
        let plan = json(context.cotree().args(["plan", "--json"]).args(bitcode))?;
        Ok(Loops {
            loops: whole(&plan, "/affine/loops")?,
            counters: whole(&plan, "/methods/edge/counters")?,
            variables: whole(&plan, "/affine/variables")?,
            usable: whole(&plan, "/affine/usable")?,
            used: whole(&plan, "/affine/used")?,
        })
    }
}
