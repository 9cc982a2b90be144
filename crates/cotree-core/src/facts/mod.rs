//! The program map: the facts about a link unit that are known before any probe is planned.
//!
//! The extractor fills it from bitcode; planner, recovery and every report read it. It is stored inside the profiled
//! binary, so it is plain serialisable data, and its shape is part of the map format (`docs/formats.md`).
//!
//! Only blocks that can be reached from the entry are listed; others never run.

mod accesses;
mod blocks;
mod build;
mod calls;
mod covered;
mod edges;
pub mod events;
mod function;
pub mod harness;
pub mod hints;
mod position;
mod program;
pub mod quiet;
pub mod stretches;
mod symbol;

pub use accesses::{Access, AccessKind, Accesses, LeftOut};
pub use blocks::{BlockFacts, Inlined, InstructionCounts, LineSpan, Run};
pub use build::Build;
pub use calls::{Call, CallLine, Callee, Calls, SAFE_POINT};
pub use covered::{Anchor, CoveredFunction};
pub use edges::{EdgeFacts, EdgeKind};
pub use function::{Doubt, Function, Linkage, Untouched};
pub use position::Position;
pub use program::{Checksums, Module, ProgramMap};
pub use symbol::linker_name;
