//! The tests of this crate, one program: each links all below it, and linking is what takes long.

mod affine;
mod attacks;
mod callers;
mod calls;
mod cargo_verbs;
mod clones;
mod coroutines;
mod costs;
mod counted_runs;
mod crashes;
mod drivers;
mod edited;
mod endings;
mod event_calls;
mod event_faults;
mod event_queries;
mod events_in_rust;
mod explain;
mod exports;
mod findings;
mod foreign_code;
mod ipath;
mod killed_children;
#[path = "../lines/mod.rs"]
mod lines;

mod lto;
mod methods;
mod newcomer;
mod pages;
mod path_metrics;
mod paths;
mod pending;
mod pgo;
mod plain_links;
mod pools;
mod profile_use;
mod profiles;
mod project;
mod promotion;
mod random;
mod raw_calls;
mod reproducible;
mod sandboxes;
mod sanitizers;
mod sizes;
mod spawned;
mod stacks;
mod targets;
mod traces;
mod turns;
mod unfinished;
#[path = "../../../cotree-profile/tests/suite/unit/mod.rs"]
mod unit;
mod unusual;
mod versions;
