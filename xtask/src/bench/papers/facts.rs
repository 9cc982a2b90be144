//! What the papers' tables need of a program beyond its instructions: kept in `bench/results.json` like those.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All facts of one program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Blocks and edges of all functions.
    pub graph: [u64; 2],
    /// What each placement of counters costs, by its name in `cotree plan --json`, placed by the static heuristic and
    /// judged by the counts of the run.
    pub heuristic: BTreeMap<String, Placement>,
    /// The costs of placements by the counts of the very run.
    pub exact: BTreeMap<String, Placement>,
    /// Executed paths.
    pub paths: Paths,
    /// Paths of another run.
    pub other_run: Option<OtherRun>,
    /// Loops of each source file that is bitcode.
    pub files: Vec<LoopsOfFile>,
    /// Builds, by name.
    pub builds: BTreeMap<String, Size>,
    /// Chords and query increments of an event counter.
    pub events: Option<super::structure::Events>,
    /// The numbering of paths across functions.
    pub across: Option<super::structure::Across>,
    /// A hash of sources, workload and options.
    pub inputs: String,
    /// The day of the measurement.
    pub from: String,
}

/// What the counters of one placement cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Counters in the program.
    pub counters: u64,
    /// Counters that need a block of their own, and so perhaps a jump.
    pub jumps: u64,
    /// Increments that the run executes.
    pub increments: f64,
    /// Jumps that the run executes, if each block of its own needs one.
    pub jumps_executed: f64,
}

/// The acyclic paths that ran (Ball & Larus 1996, Tables 1 and 2).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paths {
    /// Functions that ran.
    pub functions: u64,
    /// Different paths that ran.
    pub different: u64,
    /// Paths that the functions could take.
    pub possible: f64,
    /// Executions of paths.
    pub executions: u64,
    /// Edges and instructions of a path, averaged over executions.
    pub average: [f64; 2],
    /// Edges and instructions of the longest path.
    pub longest: [u64; 2],
    /// The most paths of one function that ran.
    pub most: u64,
    /// Increments of path tables, those of loops of one block among them.
    pub increments: f64,
    /// Increments in hash tables.
    pub hashed: f64,
    /// Different paths that edge counts foretell wholly, and all.
    pub foretold: [u64; 2],
    /// Executions of paths that edge counts foretell wholly, and all.
    pub foretold_executions: [f64; 2],
    /// Edges and instructions up to the first edge that was foretold wrongly, averaged over executions.
    pub foretold_average: [f64; 2],
}

/// The paths of this run that a shorter run took, too (Ball & Larus 1996, Table 3). Pairs are those, and all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OtherRun {
    /// Different paths.
    pub paths: [f64; 2],
    /// Executions.
    pub executions: [f64; 2],
    /// Instructions.
    pub instructions: [f64; 2],
}

/// Loops of one source file (Frenot & Pereira 2024, Fig. 11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoopsOfFile {
    /// Loops.
    pub loops: u64,
    /// Counters on the spanning tree's chords.
    pub counters: u64,
    /// Affine variables that could take the place of a counter.
    pub usable: u64,
    /// Counters that they take the place of.
    pub used: u64,
}

/// What one build takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// Bytes of the executable without debug information.
    pub bytes: u64,
    /// Bytes of code.
    pub text: u64,
    /// Processor time of the link in which counters are placed, in milliseconds: for Rust the whole build.
    pub link_ms: u64,
    /// Different instructions of the program that were executed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct: Option<u64>,
}
