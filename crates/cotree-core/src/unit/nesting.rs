//! Functions of which no two activations are ever live at once in a process.
//!
//! That is so where a function does not call itself, however far around, and where nothing that the unit does not see
//! calls it: no thread begins in it or above it, no signal handler and no callback comes to it. `main` is called once.

use crate::facts::{Callee, Function, ProgramMap, linker_name};
use crate::graph::strong;
use std::collections::HashMap;

/// Per function of the unit, whether at most one activation of it is live at any time.
#[must_use]
pub fn live_once(program: &ProgramMap) -> Vec<bool> {
    let functions: Vec<&Function> = program.functions().map(|(_, function)| function).collect();
    let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, function) in functions.iter().enumerate() {
        named.entry(linker_name(&function.symbol)).or_default().push(index);
    }
    let from_outside = |function: &Function| function.address_taken && linker_name(&function.symbol) != "main";
    let callees: Vec<Vec<usize>> = functions.iter().map(|function| callees(function, &named)).collect();
    let mut outside: Vec<bool> = functions.iter().map(|function| from_outside(function)).collect();
    let mut work: Vec<usize> = (0..functions.len()).filter(|&index| outside[index]).collect();
    while let Some(index) = work.pop() {
        for &callee in &callees[index] {
            if !std::mem::replace(&mut outside[callee], true) {
                work.push(callee);
            }
        }
    }
    let components = strong::components(functions.len(), |index, n| callees[index].get(n).map(|&to| Some(to)));
    let mut members: HashMap<u32, u32> = HashMap::new();
    components.iter().for_each(|&component| *members.entry(component).or_default() += 1);
    let alone = |index: usize| members[&components[index]] == 1 && !callees[index].contains(&index);
    (0..functions.len()).map(|index| !outside[index] && alone(index)).collect()
}

/// The functions of the unit that a function may call by name. (What it calls otherwise has its address taken.)
fn callees(function: &Function, named: &HashMap<&str, Vec<usize>>) -> Vec<usize> {
    let mut callees: Vec<usize> = function
        .calls
        .iter()
        .filter_map(|call| match &call.callee {
            Callee::Symbol(symbol) => named.get(linker_name(symbol)),
            _ => None,
        })
        .flatten()
        .copied()
        .collect();
    callees.sort_unstable();
    callees.dedup();
    callees
}

#[cfg(test)]
mod tests {
    use super::live_once;
    use crate::facts::{Call, Callee, Function, Module, ProgramMap};
    use crate::ids::Block;

    fn function(symbol: &str, callees: &[&str], address_taken: bool) -> Function {
        let mut function = Function { symbol: symbol.into(), address_taken, ..Function::default() };
        for callee in callees {
            function.calls.push(Call::site(Block(0), Callee::Symbol((*callee).into())));
        }
        function
    }

    #[test]
    fn recursion_and_callers_out_of_sight_nest() {
        let functions = vec![
            function("main", &["step", "qsort"], true),
            function("step", &["leaf", "around"], false),
            function("leaf", &["puts"], false),
            function("around", &["and_back"], false),
            function("and_back", &["around"], false),
            function("compare", &["below"], true),
            function("below", &[], false),
        ];
        let program = ProgramMap { modules: vec![Module { functions, ..Module::default() }], ..ProgramMap::default() };
        assert_eq!(live_once(&program), [true, true, true, false, false, false, false]);
    }
}
