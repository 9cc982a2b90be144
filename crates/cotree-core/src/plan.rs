//! Plans: which probes a function gets and what each counter means.

use crate::ids::{Block, Edge};
use crate::probe::PlacedProbe;
use serde::{Deserialize, Serialize};

/// A profiling method (Ball & Larus 1994, §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Method {
    /// No probes: the reference of every overhead figure.
    None,
    /// Edge profile from edge counters, *Eprof(Ecnt)*: counters on the chords of a maximum spanning tree.
    Edge,
    /// The redundant reference: a counter on every block and every edge.
    Block,
    /// Vertex profile from vertex counters, *Vprof(Vcnt)* (Knuth & Stevenson 1973).
    Vertex,
    /// Vertex profile from edge counters, *Vprof(Ecnt)* (Ball & Larus 1994, Fig. 11).
    VertexEdge,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Measure {
    /// Traversals of the edge (for an edge to EXIT: executions of that terminator).
    Edge(Edge),
    /// Entries into the block, whether or not it was left by one of its edges.
    Block(Block),
}

/// The plan of one function. Counters are numbered from 0 within the function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionPlan {
    /// Probes in the order in which they run at each place.
    pub probes: Vec<PlacedProbe>,
    /// What counter number `i` means.
    pub measures: Vec<Measure>,
}

/// The plan of a link unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitPlan {
    /// The method.
    pub method: Method,
    /// One per function, in the order of [`crate::facts::ProgramMap::functions`]; untouched functions have an empty plan.
    pub functions: Vec<FunctionPlan>,
    /// With `--verify`: the plans of [`Method::Block`] that the same run carries; their counters follow all of the above.
    pub check: Option<Vec<FunctionPlan>>,
}

impl UnitPlan {
    /// Where each function's counters begin in the unit's counter array, first those of `functions`, then those of
    /// `check`, and at the end how many counters there are.
    #[must_use]
    pub fn bases(&self) -> (Vec<u64>, Vec<u64>, u64) {
        let mut next = 0u64;
        let mut lay = |plans: &[FunctionPlan]| {
            plans
                .iter()
                .map(|p| {
                    let base = next;
                    next += p.measures.len() as u64;
                    base
                })
                .collect::<Vec<_>>()
        };
        let main = lay(&self.functions);
        let check = lay(self.check.as_deref().unwrap_or_default());
        (main, check, next)
    }
}
