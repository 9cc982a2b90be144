//! The coverage map that clang and rustc put into an executable: which regions of the source there are, and which
//! counters say how often each has run.
//!
//! The format is LLVM's (<https://llvm.org/docs/CoverageMappingFormat.html>), versions 6 and 7, as clang 14 to 22 and
//! rustc write them. Three sections hold it:
//!
//! | section | what is in it | module |
//! | --- | --- | --- |
//! | `__llvm_covmap` | per compilation, the names of its source files | [`files`] |
//! | `__llvm_covfun` | per function, a record: hashes and encoded regions | [`records`], [`regions`] |
//! | `__llvm_prf_names` | the names of functions, which records refer to by hash | [`names`] |
//!
//! A region's count is a counter of its function, or sums and differences of several ([`Expressions`]). This room
//! knows nothing of how the counters were counted: a [`CounterTable`] brings their values.
//!
//! **The sections are hostile.** Nothing is allocated before there are bytes to back it. Expressions and expansions
//! that would never end are refused, so whoever walks them need not look.

mod bytes;
mod corrections;
mod counters;
mod decisions;
mod error;
mod expansions;
mod files;
mod function;
mod map;
mod map_decisions;
mod names;
mod outcomes;
mod place;
mod records;
mod regions;
mod table;

pub use corrections::{Corrections, Excess};
pub use counters::{Counter, Expression, Expressions, Operation, Values};
pub use decisions::{DECISIONS, NotFollowed, SourceCondition, SourceDecision, decision_hash, decision_name, md5};
pub use error::{CoverageFault, CoverageMapError};
pub use function::{MappedFunction, Region, RegionCount, RegionKind, SourceFile, VirtualFile};
pub use map::{CoverageMap, Sections};
pub use map_decisions::{MappedDecision, MappedDecisions, decisions_of_record};
pub use names::name_hash;
pub use outcomes::{Outcomes, outcomes_line};
pub use place::Place;
pub use table::{CounterTable, Counters, LengthMismatch};
