//! Probe planning and profile recovery on control-flow graphs.
//!
//! This crate is the heart of cotree. It turns plain facts about a program ([`facts`]) into probes ([`plan`],
//! in the language of [`probe`]), and after a run the raw counts into a full profile ([`profile`]).
//! Each method of the papers is one module below [`method`], with its `plan` beside its `recover`.
//!
//! The crate has no LLVM, no files and no unsafe code, so a JIT or a Wasm engine could use it as it is.
//!
//! From the ground up:
//!
//! - **Input.** [`ids`], [`facts`] about the program, and per function its [`graph`].
//! - **Analyses.** [`graph`] analyses the graph's shape. [`weight`] estimates from that, and from [`facts::hints`] in
//!   the code, how often edges run. All analyses are (almost) linear and none recurses over the graph.
//! - **Planning.** [`place`] chooses what to count and where, and what need not be counted because the program, or a
//!   caller, has counted it already. [`probe`] is the language of the result.
//! - **Methods.** [`method`] combines these to plans, and recovers profiles from counts: a module per family.
//! - **Link units.** [`mod@unit`] plans functions together that are linked together.
//! - **Assessment.** [`statistics`] says what each method costs, [`interpret`] runs programs with their probes.
//!
//! ```
//! use cotree_core::facts::{BlockFacts, EdgeFacts, EdgeKind, Function};
//! use cotree_core::ids::{Block, Edge};
//! use cotree_core::interpret::{self, From, Until, GraphWalk};
//! use cotree_core::method::counters::{Measured, edge};
//! use cotree_core::weight::weighting::Weighting;
//!
//! // while (b1: …) { b2 } b3
//! let edge = |src, dst, kind| EdgeFacts { src: Block(src), dst: Block(dst), kind, successor: 0 };
//! let function = Function {
//!     blocks: vec![BlockFacts::default(); 4].into(),
//!     edges: vec![
//!         edge(0, 1, EdgeKind::Jump),
//!         edge(1, 2, EdgeKind::True),
//!         edge(1, 3, EdgeKind::False),
//!         edge(2, 1, EdgeKind::Jump),
//!         edge(3, 4, EdgeKind::Return),
//!     ]
//!     .into(),
//!     ..Function::default()
//! };
//! let cfg = function.cfg()?;
//! let plan = edge::plan(&function, &cfg, &Weighting::expected(&function, &cfg));
//! assert_eq!(plan.key.measures.len(), 2, "five edges and four blocks, yet two counters");
//!
//! let run = [0, 1, 3, 1, 3, 2, 4].map(Edge); // twice around the loop
//! let walk = GraphWalk { from: From::Entry, edges: run.to_vec(), until: Until::Exit };
//! let counts = interpret::run(&function, &cfg, &plan, &[walk])?;
//! let measured = Measured { function: &function, key: &plan.key, counts: &counts, early: &Default::default() };
//! let profile = edge::recover(&cfg, measured)?;
//! assert_eq!(profile.blocks, [1, 3, 2, 1]);
//! assert_eq!(profile.edges.unwrap(), [1, 2, 1, 2, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod decision;
pub mod facts;
pub mod graph;
pub mod ids;
pub mod interpret;
pub mod method;
pub mod place;
pub mod plan;
pub mod probe;
pub mod profile;
pub mod slab;
pub mod statistics;
pub mod unit;
pub mod weight;
