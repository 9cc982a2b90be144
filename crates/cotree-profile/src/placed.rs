//! The machine functions of a binary at their final addresses, and the functions of the map that they are of.

use crate::binary::{BinaryMap, Origin};
use cotree_core::facts::{Function, ProgramMap, Untouched};
use cotree_core::ids::FunctionId;
use std::collections::HashMap;

/// A machine function at its final address.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) start: u64,
    pub(crate) code: u32,
    pub(crate) origin: Origin,
    /// Another function with other calls lies at the same address (identical code folding).
    pub(crate) ambiguous: bool,
    /// The function of the map whose body this is, by its ELF symbol or its call sites.
    pub(crate) owner: Option<FunctionId>,
}

/// Reads `.cotree.funcs` and sorts it by address.
pub(crate) fn place(
    records: &[u8],
    little: bool,
    map: &BinaryMap,
    symbols: impl Iterator<Item = (u64, String)>,
) -> Result<Vec<Placed>, &'static str> {
    if !records.len().is_multiple_of(16) {
        return Err("its size is not a multiple of 16");
    }
    let functions = map.program.functions().count();
    let mut placed = Vec::with_capacity(records.len() / 16);
    for record in records.chunks_exact(16) {
        let word = |at: usize| {
            let bytes: [u8; 4] = record[at..at + 4].try_into().expect("four bytes");
            if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
        };
        let start: [u8; 8] = record[..8].try_into().expect("eight bytes");
        let start = if little { u64::from_le_bytes(start) } else { u64::from_be_bytes(start) };
        let (code, origin) = (word(8), Origin::unpack(word(12)));
        if start == 0 {
            continue;
        }
        let function =
            map.code.functions.get(code as usize).ok_or("it names a machine function that the map does not have")?;
        let outermost = || function.returns.iter().find_map(|r| r.chain.last()).map(|&(f, _)| f);
        let owner = match origin {
            Origin::Function(Some(function)) if function.index() >= functions => {
                return Err("it names a function that the map does not have");
            }
            Origin::Function(Some(function)) => Some(function),
            Origin::Module(_) | Origin::Function(None) => outermost(),
        };
        placed.push(Placed { start, code, origin, ambiguous: false, owner });
    }
    placed.sort_by_key(|p| (p.start, p.code));
    placed.dedup_by(|later, earlier| {
        let same_place = later.start == earlier.start;
        if same_place && map.code.functions[later.code as usize] != map.code.functions[earlier.code as usize] {
            earlier.ambiguous = true;
        }
        same_place
    });
    if placed.iter().any(|p| p.owner.is_none()) {
        let by_symbol = BySymbol::new(&map.program);
        for (address, name) in symbols {
            if let Ok(at) = placed.binary_search_by_key(&address, |p| p.start)
                && placed[at].owner.is_none()
            {
                placed[at].owner = by_symbol.owner(&name, placed[at].origin);
            }
        }
    }
    Ok(placed)
}

/// The functions of a map by their symbols. Functions that only their modules see may have the same one.
struct BySymbol<'a> {
    functions: HashMap<&'a str, Vec<(u32, FunctionId, &'a Function)>>,
}

impl<'a> BySymbol<'a> {
    fn new(program: &'a ProgramMap) -> Self {
        let modules = (0..).zip(&program.modules);
        let of_modules = modules.flat_map(|(number, module)| module.functions.iter().map(move |f| (number, f)));
        let mut functions: HashMap<&str, Vec<_>> = HashMap::new();
        for ((module, function), id) in of_modules.zip(FunctionId::all()) {
            functions.entry(&function.symbol).or_default().push((module, id, function));
        }
        Self { functions }
    }

    /// The only function that code of this symbol and origin can be of. LLVM makes several functions of a coroutine,
    /// which it names after it.
    fn owner(&self, symbol: &str, origin: Origin) -> Option<FunctionId> {
        let only = |symbol: &str, is_wanted: &dyn Fn(&Function) -> bool| {
            let named = self.functions.get(symbol).into_iter().flatten();
            let mut named = named.filter(|(module, _, function)| origin.may_be(*module) && is_wanted(function));
            named.next().filter(|_| named.next().is_none()).map(|&(_, id, _)| id)
        };
        let coroutine = || [".resume", ".destroy", ".cleanup"].iter().find_map(|part| symbol.strip_suffix(part));
        let is_coroutine = |function: &Function| function.untouched == Some(Untouched::Coroutine);
        only(symbol, &|_| true).or_else(|| only(coroutine()?, &is_coroutine))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotree_core::facts::Module;

    /// Two modules with functions of the same names; `numbers` is a coroutine, `plain` is none.
    fn program() -> ProgramMap {
        let function = |symbol: &str, untouched| Function { symbol: symbol.into(), untouched, ..Function::default() };
        let module = |functions| Module { functions, ..Module::default() };
        let coroutine = || function("numbers", Some(Untouched::Coroutine));
        let modules = vec![
            module(vec![function("plain", None), coroutine()]),
            module(vec![coroutine(), function("plain", None), function("only", None)]),
        ];
        ProgramMap { modules, ..ProgramMap::default() }
    }

    #[test]
    fn code_without_call_sites_is_of_the_function_that_it_is_named_after() {
        let program = program();
        let by_symbol = BySymbol::new(&program);
        let owner = |symbol: &str, origin| by_symbol.owner(symbol, origin).map(|function| function.0);
        assert_eq!(owner("plain", Origin::Module(0)), Some(0));
        assert_eq!(owner("plain", Origin::Module(1)), Some(3));
        assert_eq!(owner("plain", Origin::Function(None)), None, "one of two");
        assert_eq!(owner("only", Origin::Function(None)), Some(4));
        for part in ["numbers", "numbers.resume", "numbers.destroy", "numbers.cleanup"] {
            assert_eq!(owner(part, Origin::Module(0)), Some(1), "{part}");
            assert_eq!(owner(part, Origin::Module(1)), Some(2), "{part}");
        }
        assert_eq!(owner("plain.resume", Origin::Module(0)), None, "it is no coroutine");
        assert_eq!(owner("numbers.cold", Origin::Module(0)), None);
    }
}
