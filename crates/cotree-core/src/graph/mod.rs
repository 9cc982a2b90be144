//! Control-flow graphs and analyses of their shape alone: nothing here knows instructions, weights or probes.
//!
//! - [`cfg`](mod@cfg): the graph, with the virtual EXIT and its edge to the entry.
//! - [`dfs`], [`dominators`], [`loops`]: the classical analyses, for irreducible graphs as well.
//! - [`sese`]: regions with a single entry and a single exit.
//! - [`forest`], [`union_find`]: how spanning trees are built.
//! - [`circulation`]: what runs equally often in every execution.
//! - [`arcs`]: acyclic graphs of labelled arcs, on which paths are numbered.
//! - [`prime_paths`]: the longest simple paths, and the automaton that sees them run.
//! - `flow`: flow conservation, which gives the counts of edges without counters.
//! - `strong`: strongly connected components.

pub mod arcs;
pub mod cfg;
pub mod circulation;
pub mod dfs;
pub mod dominators;
pub(crate) mod flow;
pub mod forest;
pub mod loops;
pub mod prime_paths;
pub mod sese;
pub mod strong;
pub mod union_find;
