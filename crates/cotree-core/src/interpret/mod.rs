//! An interpreter of programs and their probes: test support, here so that every crate can check plans without running
//! machine code.
//!
//! A [`Process`] runs a program of several functions. Its threads have stacks of activations, which call, return, are
//! abandoned, jumped over, thrown over, interrupted by signal handlers, and revived ([`process`], [`execute`]). The run
//! follows a script of [`Action`]s, written by hand or drawn at random ([`random`]). It yields the output of the probes
//! ([`state`]) and the [`Truth`], which is found without probes and is the oracle of every method. For all
//! programs and scripts, `recover` must turn the one into the other.
//!
//! The simple case is one function. A [`GraphWalk`] is what one activation does between two points at which it is seen
//! from outside. It begins at the entry, or is revived at a call site (the second return of `setjmp`, a frame that a
//! forked child inherits). It takes edges, and ends at EXIT or is abandoned at a call site. [`Machine`] runs a plan's
//! probes over walks; [`observe`] counts the same walks directly. For every method and all walks, `recover(plan,
//! run(plan, walks)) == observe(walks)`.

mod code;
mod execute;
mod frames;
mod machine;
mod process;
mod random;
mod state;
mod truth;
mod variables;
mod walk;

pub use frames::Frames;
pub use machine::{Effects, Machine, run};
pub use process::{Action, ActionError, Outcome, Position, Process, Thread};
pub use random::{Conduct, script};
pub use state::{Counts, Registers, ThreadState};
pub use truth::{Activation, ActivationFacts, EarlyExit, FunctionTruth, Step, Truth};
pub use walk::{From, GraphWalk, GraphWalkError, Until, observe};
