//! Probe planning and profile recovery on control-flow graphs.
//!
//! This crate is the heart of cotree: plain facts about a program go in ([`facts`]), probes come out ([`plan`],
//! in the language of [`probe`]), and after a run the raw counts become a full profile again ([`profile`]).
//! Each method of the papers is one module below [`method`], with its `plan` beside its `recover`.
//!
//! It knows no LLVM, no files and no unsafe code: a JIT or a Wasm engine could use it as it is.
//!
//! From the ground up:
//!
//! - **What is given.** [`ids`], [`facts`] about the program, and per function its [graph](mod@cfg).
//! - **Analyses.** [`dfs`], [`dominators`] and [`loops`]; [`heuristic`] and [`prediction`] guess from them, and from
//!   [`hints`] that code gives, how often edges run, which is a [`weighting`]. All are (almost) linear and none recurses over the graph.
//! - **Planning.** [`spanning`] chooses what to count, [`placement`] where to count it, [`seldom`] what may stand out of the way.
//!   [`affine`] finds counts that the program itself keeps in loop variables, [`supergraph`] the functions whose entries
//!   their callers have counted already.
//! - **Methods.** [`method`] puts these together, and takes counts apart again by the law of flow.
//!   [`method::path`] is a world of its own: it counts paths, from which blocks and edges follow.
//! - **Link units.** [`mod@unit`] plans functions together that are linked together.
//! - **Judgement.** [`statistics`] tells what each method costs, [`interpret`] runs plans over walks of the graph.
//!
//! ```
//! use cotree_core::facts::{BlockFacts, EdgeFacts, EdgeKind, Function};
//! use cotree_core::ids::{Block, Edge};
//! use cotree_core::interpret::{self, From, Until, Walk};
//! use cotree_core::method::counters::edge;
//! use cotree_core::weighting::Weighting;
//!
//! // while (b1: …) { b2 } b3
//! let edge = |src, dst, kind| EdgeFacts { src: Block(src), dst: Block(dst), kind, successor: 0 };
//! let function = Function {
//!     blocks: vec![BlockFacts::default(); 4],
//!     edges: vec![
//!         edge(0, 1, EdgeKind::Jump),
//!         edge(1, 2, EdgeKind::True),
//!         edge(1, 3, EdgeKind::False),
//!         edge(2, 1, EdgeKind::Jump),
//!         edge(3, 4, EdgeKind::Return),
//!     ],
//!     ..Function::default()
//! };
//! let cfg = function.cfg()?;
//! let plan = edge::plan(&function, &cfg, &Weighting::expected(&function, &cfg));
//! assert_eq!(plan.key.measures.len(), 2, "five edges and four blocks, yet two counters");
//!
//! let run = [0, 1, 3, 1, 3, 2, 4].map(Edge); // twice around the loop
//! let walk = Walk { from: From::Entry, edges: run.to_vec(), until: Until::Exit };
//! let counts = interpret::run(&function, &cfg, &plan, &[walk])?;
//! let profile = edge::recover(&function, &cfg, &plan.key, &counts, &Default::default())?;
//! assert_eq!(profile.blocks, [1, 3, 2, 1]);
//! assert_eq!(profile.edges, Some(vec![1, 2, 1, 2, 1]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod affine;
pub mod cfg;
pub mod dfs;
pub mod dominators;
pub mod facts;
mod flow;
pub mod forest;
pub mod heuristic;
pub mod hints;
pub mod ids;
pub mod interpret;
pub mod likelihood;
pub mod loops;
pub mod method;
pub mod placement;
pub mod plan;
pub mod prediction;
pub mod probe;
pub mod profile;
pub mod promotion;
pub mod seldom;
pub mod sese;
pub mod slab;
pub mod spanning;
pub mod statistics;
pub mod supergraph;
pub mod union_find;
pub mod unit;
pub mod weighting;
