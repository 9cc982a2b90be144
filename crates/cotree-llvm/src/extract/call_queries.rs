//! Extracts the calls by which programs ask what other calls have led to
//! ([`cotree_core::method::events::call_queries`]).

use crate::ir::Instruction;
use crate::module::Module;
use cotree_core::ids::{CallId, FunctionId};
use cotree_core::method::events::call_queries::{CallQuery, UnplacedCall};

/// The function that is asked, as the program knows it.
pub(crate) const ASKED: &str = "cotree_event_call_count";

/// Does the instruction ask?
pub(crate) fn asks(instruction: Instruction<'_>) -> bool {
    let callee = instruction.as_call().and_then(|call| call.callee());
    callee.is_some_and(|callee| callee.is_declaration() && callee.name() == ASKED)
}

/// What a module asks for. Functions are numbered in the module.
#[derive(Default)]
pub(crate) struct CallQueriesOfModule {
    pub(crate) queries: Vec<CallQuery>,
    /// Calls that have lost their lines.
    pub(crate) unplaced: Vec<UnplacedCall>,
}

impl CallQueriesOfModule {
    /// Adds a call, if it asks or has lost its line.
    pub(super) fn add(
        &mut self,
        module: &Module,
        (function, call): (FunctionId, CallId),
        instruction: Instruction<'_>,
        has_line: bool,
    ) {
        if asks(instruction) {
            let line = instruction.as_call().and_then(|call| call.arguments().nth(1)?.constant());
            self.queries.push(CallQuery { function, call, line: line.and_then(|line| u32::try_from(line).ok()) });
        } else if !has_line && let Some(location) = instruction.location() {
            let of = location.scope().function_symbol(module);
            self.unplaced.push(UnplacedCall { function, call, of });
        }
    }
}
