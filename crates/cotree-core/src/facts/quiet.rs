//! Functions of libraries that keep to themselves.
//!
//! A *quiet* function always returns, and neither it nor anything that it does calls code of the program: no callbacks,
//! no handlers that it raises signals for, no exceptions. Who calls one knows all that happens meanwhile.

use super::{Call, EdgeKind, Function};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Is a function of this name, outside of the link unit, known to be quiet?
#[must_use]
pub fn is_quiet(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("quiet_names.txt").split_whitespace().collect());
    NAMES.contains(name)
}

impl Function {
    /// Is this call of it, which leads out of the link unit, one of a quiet function? `name` is the callee's.
    #[must_use]
    pub fn calls_quietly(&self, call: &Call, name: &str) -> bool {
        let unwinds = || {
            let successors = self.edges.iter().filter(|edge| edge.src == call.block);
            call.terminator && successors.into_iter().any(|edge| edge.kind == EdgeKind::InvokeUnwind)
        };
        !call.no_return && !call.returns_twice && is_quiet(name) && !unwinds()
    }
}
