//! Finds the functions that signal handlers may run.
//!
//! A handler may interrupt anywhere. If it bumps a counter that the interrupted code holds in a register, its
//! increments would be overwritten. So functions that both may run get increments of one instruction each. The answer
//! errs on the side of "may". If the unit refers to a function that installs handlers, any function whose address is
//! taken may be a handler (C programs cast all kinds of functions to handlers), and a call through a pointer may reach
//! any of them. In a shared library handlers may run every function, since we do not see those of the program.

use super::callers;
use super::prepared::Prepared;
use crate::extract::installs_handlers;

/// The functions that may run while other code is interrupted.
pub(crate) struct Handlers {
    /// One flag per function of the unit, in order.
    pub may_run: Vec<bool>,
    /// Whether this includes handlers that no visible code installs.
    pub foreseen: bool,
}

impl Handlers {
    /// `natives`: names that native objects refer to.
    pub(crate) fn new(modules: &[Prepared], natives: &[String], shared: bool) -> Self {
        if shared {
            let functions = modules.iter().map(|m| m.extracted.facts.functions.len()).sum();
            return Self { may_run: vec![true; functions], foreseen: true };
        }
        let foreseen =
            modules.iter().any(|m| m.extracted.installs_handlers) || natives.iter().any(|name| installs_handlers(name));
        // Whatever a handler may call through a pointer has its address taken, and is a root already.
        let may_run = callers::reachable(modules, |function| foreseen && function.address_taken);
        Self { may_run, foreseen }
    }
}
