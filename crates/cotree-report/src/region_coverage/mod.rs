//! Coverage by the compiler's own map: regions with their counts, and lines, functions and branches by LLVM's rules.
//!
//! The numbers are those of `llvm-cov report` and `llvm-cov export`, of the same map and counters: denominators that
//! every user of clang or rustc knows. Where executions left early, counts are lower ([`cuts`](mod@cuts)).
//! [`crate::coverage`] counts lines without such a map.
//!
//! | question | module |
//! | --- | --- |
//! | how often each region of each function ran | [`functions`] |
//! | from where to where in a file which count holds | [`segments`] |
//! | where executions left regions early | [`cuts`](mod@cuts) |
//! | how often each line ran | [`line_runs`] |
//! | how often each condition was true and false | [`conditions`] |
//! | which outcomes of conditions led to which decisions | [`decisions`] |
//! | how much there is of a file, and how much of it ran | [`summary`] |
//! | all files for people and programs | [`table`] |
//! | all files for lcov's tools | [`lcov`] |
//! | all files for readers of other formats | [`cobertura`], [`codecov`], [`llvm_json`] |
//! | what programs of documentation tests have of their own | [`doc_tests`] |
//! | all files as pages for browsers | [`html`] |
//! | which tests ran a line or a function | [`mod@by_test`] |
//! | which lines of a change ran | [`changes`] |
//! | what is covered that was not before, or is no more | [`against`] |
//! | what is not known | [`unsure`] |

pub mod against;
pub mod by_test;
pub mod changes;
pub mod cobertura;
pub mod codecov;
pub mod conditions;
pub mod cuts;
pub mod decision;
mod decision_json;
pub mod decision_records;
pub mod decision_text;
pub mod decisions;
pub mod doc_tests;
pub mod functions;
mod github;
pub mod html;
pub mod lcov;
pub mod line_runs;
pub mod llvm_json;
pub mod program;
pub mod ratio;
pub mod records;
pub mod segments;
pub mod source_decisions;
pub mod summary;
pub mod table;
pub mod unsure;
mod uses;

pub use by_test::{CoverageByTest, TestTotals, TestedLines};
pub use changes::{ChangedLines, ChangedLinesOfFile};
pub use conditions::Condition;
pub use cuts::{Cuts, certain_cuts, cuts};
pub use decision::{CountedDecision, DecisionCondition};
pub use decisions::Decisions;
pub use functions::{CountedBranch, CountedFunction, CountedRegion, Cut};
pub use line_runs::{LineRun, LineRuns};
pub use program::{FileView, Group, RegionCoverage, Unusable, UnusableReason};
pub use segments::Segment;
pub use summary::{FileSummary, FunctionSummary, Ratio};
pub use table::{CoverageTable, FileCoverage};
pub use unsure::{More, Unsure};
