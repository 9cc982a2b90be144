//! Which functions signal handlers may run.
//!
//! A handler interrupts anywhere. Where it bumps a counter that the interrupted code holds in a register, its increments
//! would be overwritten; so functions that both may run get increments of one instruction each. The answer errs on the
//! side of "may": where the unit refers to a function that installs handlers, any function whose address is taken may be
//! one (C programs cast all kinds of functions to handlers), and a call through a pointer may reach any of them. In a
//! shared library everything may, since the handlers of whole programs are not seen.

use crate::callers;
use crate::link::Prepared;

/// Functions that install handlers.
pub(crate) const INSTALLERS: [&std::ffi::CStr; 9] = [
    c"signal",
    c"sigaction",
    c"__sigaction",
    c"bsd_signal",
    c"sysv_signal",
    c"__sysv_signal",
    c"ssignal",
    c"sigset",
    c"sigvec",
];

/// What may run while something else is interrupted.
pub(crate) struct Handlers {
    /// One flag per function of the unit, in order.
    pub may_run: Vec<bool>,
    /// Whether that takes account of handlers that nobody in sight installs.
    pub foreseen: bool,
}

impl Handlers {
    /// `natives`: names that native objects refer to.
    pub(crate) fn new(modules: &[Prepared], natives: &[String], shared: bool) -> Self {
        if shared {
            let functions = modules.iter().map(|m| m.extracted.facts.functions.len()).sum();
            return Self { may_run: vec![true; functions], foreseen: true };
        }
        let installer = |name: &String| {
            let name = name.split('@').next().unwrap_or(name);
            INSTALLERS.iter().any(|installer| installer.to_bytes() == name.as_bytes())
        };
        let foreseen = modules.iter().any(|m| m.extracted.installs_handlers) || natives.iter().any(installer);
        // Whatever a handler may call through a pointer has its address taken, and is a root already.
        let may_run = callers::reachable(modules, |function| foreseen && function.address_taken);
        Self { may_run, foreseen }
    }
}
