//! What the unit asks of calls while it runs ([`cotree_core::method::events::call_queries`]).

use super::job::Setting;
use super::prepared::Prepared;
use crate::error::Error;
use crate::extract::call_queries::ASKED;
use crate::ir::Value;
use crate::module::Module;
use cotree_core::facts::ProgramMap;
use cotree_core::ids::FunctionId;
use cotree_core::method::Method;
use cotree_core::method::events::call_queries::{CallQueries, CallQuery, UnplacedCall};
use llvm_sys::LLVMOpcode;
use std::ffi::CString;

/// Finds the calls that the unit asks about; none in builds that don't measure calls, where the answer is 0.
pub(super) fn find(setting: &Setting<'_>, modules: &[Prepared], program: &ProgramMap) -> Result<CallQueries, Error> {
    if setting.options.method != Method::EventsCalls {
        return Ok(CallQueries::default());
    }
    if setting.native_references().iter().any(|name| name == ASKED) {
        return Err(Error::CallQueryElsewhere { module: "native code of the link".into() });
    }
    let (mut queries, mut unplaced): (Vec<CallQuery>, Vec<UnplacedCall>) = Default::default();
    let mut first = 0;
    for Prepared { module, extracted } in modules {
        let in_assembly = extracted.named_in_assembly.contains(ASKED);
        if in_assembly || is_used_otherwise(module) {
            return Err(Error::CallQueryElsewhere { module: module.name.clone() });
        }
        let of_unit = |function: FunctionId| FunctionId::new(first + function.index());
        let own = &extracted.call_queries;
        queries.extend(own.queries.iter().map(|&query| CallQuery { function: of_unit(query.function), ..query }));
        let moved = |call: &UnplacedCall| UnplacedCall { function: of_unit(call.function), ..call.clone() };
        unplaced.extend(own.unplaced.iter().map(moved));
        first += extracted.facts.functions.len();
    }
    if queries.is_empty() {
        return Ok(CallQueries::default());
    }
    let preemptible = setting.shared || setting.link.is_none();
    CallQueries::find(program, preemptible, &queries, &unplaced).map_err(|(query, reason)| {
        let (module, function) = program.functions().nth(query.function.index()).expect("it has asked");
        Error::CallQuery { module: module.name.clone(), function: function.symbol.clone(), reason }
    })
}

/// Does the module use the function for anything but to call it, and to see whether it is there?
fn is_used_otherwise(module: &Module) -> bool {
    let name = CString::new(ASKED).expect("a name");
    let Some(function) = module.function(&name).filter(|function| function.is_declaration()) else { return false };
    let function: Value<'_> = function.into();
    let fine = |user: &Value<'_>| {
        let called = user.as_call().map(|call| call.called());
        match called {
            Some(called) => {
                called == function && user.as_call().is_some_and(|call| call.arguments().all(|a| a != function))
            }
            None => user.is(LLVMOpcode::LLVMICmp),
        }
    };
    !function.users().iter().all(fine)
}

/// A sentence for the user about calls that may belong to a line that is asked for.
pub(super) fn warnings(queries: &CallQueries) -> Vec<String> {
    let sentence = |function: &String| {
        format!(
            "the program asks for the events of calls in {function}, where the compiler has made one of several calls (it has no \
             line): what that one leads to is in no answer; compile with -O0, or keep the calls apart with __attribute__((nomerge))"
        )
    };
    queries.unsure.iter().map(sentence).collect()
}
