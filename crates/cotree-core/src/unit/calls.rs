//! Finds who calls whom in a link unit, as far as that is certain.
//!
//! A call names a symbol. In its own module it means an internal function of that name if there is one; else the
//! function of that name that another module defines.

use crate::facts::{Function, Linkage, ProgramMap, linker_name};
use crate::ids::{CallId, FunctionId, IdMap};
use crate::plan::CallPoint;
use std::collections::HashMap;

/// All calls of each function of the unit, in order; none for a function that may have callers outside of them.
///
/// `callers_known` says per function that only calls by name in the unit's own functions can call it. The unit itself
/// may show that this is not enough: a function without probes calls it, or a call of its name may mean another
/// function.
#[must_use]
pub fn call_points(program: &ProgramMap, callers_known: &[bool]) -> Vec<Vec<CallPoint>> {
    let functions: Vec<&Function> = program.functions().map(|(_, function)| function).collect();
    let after_sites: Vec<IdMap<CallId, u32>> =
        functions.iter().map(|function| function.calls.after_sites().map(|(_, after)| after).collect()).collect();
    let point = |(function, call): (FunctionId, CallId)| CallPoint {
        function,
        block: functions[function.index()].calls[call].block,
        after_sites: after_sites[function.index()][call],
    };
    callers(program, callers_known).into_iter().map(|calls| calls.into_iter().map(point).collect()).collect()
}

/// The callers of each function, as calls; none for a function that may have others.
#[must_use]
pub fn callers(program: &ProgramMap, callers_known: &[bool]) -> Vec<Vec<(FunctionId, CallId)>> {
    let Named { mut certain, uncertain } = Named::new(program, callers_known);
    for (calls, uncertain) in certain.iter_mut().zip(uncertain) {
        if uncertain {
            calls.clear();
        }
    }
    certain
}

/// The calls that reach each function for certain, from functions with probes. Others may call it, too.
///
/// `by_name` says per function that a call by its name in the unit's own functions means it, and no function of that
/// name elsewhere.
#[must_use]
pub fn certain_calls(program: &ProgramMap, by_name: &[bool]) -> Vec<Vec<(FunctionId, CallId)>> {
    Named::new(program, by_name).certain
}

/// The calls by name of some functions.
struct Named {
    /// Calls from functions with probes that surely are calls of the function.
    certain: Vec<Vec<(FunctionId, CallId)>>,
    /// Whether there may be others.
    uncertain: Vec<bool>,
}

impl Named {
    fn new(program: &ProgramMap, wanted: &[bool]) -> Self {
        let functions: Vec<(usize, &Function)> = program
            .modules
            .iter()
            .enumerate()
            .flat_map(|(module, facts)| facts.functions.iter().map(move |function| (module, function)))
            .collect();
        let names = Names::new(&functions);
        let wanted = |callee: usize| {
            let (_, function) = functions[callee];
            wanted.get(callee) == Some(&true)
                && (function.linkage == Linkage::Internal || !names.is_shared(linker_name(&function.symbol)))
        };
        let wanted: Vec<bool> = (0..functions.len()).map(wanted).collect();
        let mut certain = vec![Vec::new(); functions.len()];
        let mut uncertain: Vec<bool> = wanted.iter().map(|wanted| !wanted).collect();
        for (caller, (module, function)) in functions.iter().enumerate() {
            for (id, call) in function.calls.numbered() {
                let Some(name) = call.callee_name() else { continue };
                for &callee in names.find(*module, name) {
                    if function.untouched.is_some() || call.callee_uncertain {
                        uncertain[callee] = true;
                    } else if wanted[callee] {
                        certain[callee].push((FunctionId::new(caller), id));
                    }
                }
            }
        }
        Self { certain, uncertain }
    }
}

/// Which functions a name may stand for.
pub(crate) struct Names<'a> {
    /// By name, then by module.
    internal: HashMap<&'a str, HashMap<usize, Vec<usize>>>,
    others: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Names<'a> {
    /// Collects the names of functions with their modules, in unit order.
    pub(crate) fn new(functions: &[(usize, &'a Function)]) -> Self {
        let mut names = Self { internal: HashMap::new(), others: HashMap::new() };
        for (number, &(module, function)) in functions.iter().enumerate() {
            let name = linker_name(&function.symbol);
            match function.linkage {
                Linkage::Internal => names.internal.entry(name).or_default().entry(module).or_default().push(number),
                Linkage::External | Linkage::Copy => names.others.entry(name).or_default().push(number),
            }
        }
        names
    }

    /// What a call of the name may mean in a module.
    pub(crate) fn find(&self, module: usize, name: &str) -> &[usize] {
        self.internal
            .get(name)
            .and_then(|by_module| by_module.get(&module))
            .or_else(|| self.others.get(name))
            .map_or(&[], Vec::as_slice)
    }

    /// Do several modules define it? They may have copies of an inline function, and a call may reach any of them.
    fn is_shared(&self, name: &str) -> bool {
        self.others.get(name).is_some_and(|functions| functions.len() > 1)
    }
}
