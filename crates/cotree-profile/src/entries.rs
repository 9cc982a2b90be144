//! Functions of an executable by name, and how a process is told to end where they are entered.

use crate::binary::UnitId;
use crate::elf::{BinaryError, BinaryFile, damaged, with_linked};
use crate::source_names::demangle;
use cotree_rt::layout::until;
use object::SymbolKind;
use object::read::{Object, ObjectSymbol};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The status of a process that has ended where it was told to.
pub const STATUS: i32 = until::STATUS;

/// The variable that tells it.
pub const VARIABLE: &str = "COTREE_UNTIL";

/// A value of [`VARIABLE`] that no executable heeds: it has the id of none.
pub const WHOLE: &str = "0:0";

/// The functions of an executable that was built with cotree, those of other compilers included.
#[derive(Debug)]
pub struct Entries {
    unit: UnitId,
    /// By address, names as the linker and as the source has them.
    functions: BTreeMap<u64, Vec<Name>>,
    /// Symbols of functions that are inlined somewhere, as far as debug information says so.
    inlined: BTreeSet<String>,
}

/// A name of a function.
#[derive(Debug)]
struct Name {
    symbol: String,
    source: String,
}

impl Name {
    fn new(symbol: &str) -> Self {
        Self { symbol: symbol.to_owned(), source: demangle(symbol) }
    }

    fn is(&self, name: &str) -> bool {
        self.symbol == name || self.source == name || without_parameters(&self.source) == name
    }
}

/// Why a process can't be told to end at a function.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// The executable has no part of the runtime that counts parts.
    #[error("the program counts its runs as wholes: build it with --parts")]
    Wholes,
    /// No function has the name.
    #[error("no function of the program is called '{name}': it may have been inlined, or be in a shared library")]
    None {
        /// What was asked for.
        name: String,
    },
    /// The function is inlined, too: nothing is entered there.
    #[error("the function '{name}' is inlined in places, where it is not entered: keep it from that (noinline)")]
    Inlined {
        /// What was asked for.
        name: String,
    },
    /// Several have it.
    #[error("several functions of the program are called '{name}': {}; give all of the name", .all.join(", "))]
    Several {
        /// What was asked for.
        name: String,
        /// The first few of them.
        all: Vec<String>,
    },
    /// The next one begins too soon.
    #[error("the function '{name}' is too small: it needs {} bytes for a call in its place", until::SMALLEST)]
    Small {
        /// What was asked for.
        name: String,
    },
    /// Two of the same in a row, or too many.
    #[error("{} functions at most can be entered one after another, and not the same twice in a row", until::MOST)]
    Order,
}

impl Entries {
    /// Reads the symbols of an executable.
    ///
    /// # Errors
    /// If it can't be read, or was not built with cotree.
    pub fn of(path: &Path) -> Result<Self, BinaryError> {
        let binary = BinaryFile::open(path)?;
        let functions = binary.map().program.functions();
        let inlined = functions.flat_map(|(_, function)| &function.inlined).map(|copy| copy.symbol.clone()).collect();
        let functions = with_linked(path, |elf| {
            let mut functions: BTreeMap<u64, Vec<Name>> = BTreeMap::new();
            for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
                if !symbol.is_definition() || symbol.kind() != SymbolKind::Text {
                    continue;
                }
                let name = symbol.name().map_err(|error| damaged(path, error))?;
                functions.entry(symbol.address()).or_default().push(Name::new(name));
            }
            Ok::<_, BinaryError>(functions)
        })?;
        Ok(Self { unit: binary.unit(), functions, inlined })
    }

    /// What [`VARIABLE`] has to say so that a process counts from where the last function of `from` is entered, and
    /// ends where the last one of `to` is entered after that, each after the one before it was entered. Without `from`
    /// it counts from its start, and without `to` it goes on to its end. A name is a symbol, or a name of the source
    /// with or without parameters.
    ///
    /// # Errors
    /// See [`EntryError`].
    pub fn part(&self, from: &[&str], to: &[&str]) -> Result<String, EntryError> {
        if !self.has("cotree_rt_entered") {
            return Err(EntryError::Wholes);
        }
        let addresses = |names: &[&str]| names.iter().map(|name| self.address(name)).collect::<Result<Vec<u64>, _>>();
        let (from, to) = (addresses(from)?, addresses(to)?);
        let all: Vec<u64> = from.iter().chain(&to).copied().collect();
        if all.len() > until::MOST || all.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(EntryError::Order);
        }
        let list = |addresses: &[u64]| addresses.iter().map(|at| format!("{at:x}")).collect::<Vec<_>>().join(",");
        let begin = if from.is_empty() { String::new() } else { list(&from) + ";" };
        Ok(format!("{}:{begin}{}", self.unit, list(&to)))
    }

    /// Does the name of any function have this part?
    #[must_use]
    pub fn mention(&self, part: &str) -> bool {
        self.functions.values().flatten().any(|name| name.source.contains(part))
    }

    /// Is there a function of this name?
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        !matches!(self.address(name), Err(EntryError::None { .. }))
    }

    /// Where the function of a name begins.
    fn address(&self, name: &str) -> Result<u64, EntryError> {
        let mut found = self.functions.iter().filter(|(_, names)| names.iter().any(|known| known.is(name)));
        let Some((&address, names)) = found.next() else { return Err(EntryError::None { name: name.to_owned() }) };
        let others: Vec<_> = found.take(4).map(|(_, names)| names[0].source.clone()).collect();
        if !others.is_empty() {
            let all = std::iter::once(names[0].source.clone()).chain(others).collect();
            return Err(EntryError::Several { name: name.to_owned(), all });
        }
        if self.functions.range(address + 1..address + until::SMALLEST).next().is_some() {
            return Err(EntryError::Small { name: name.to_owned() });
        }
        if names.iter().any(|name| self.inlined.contains(&name.symbol)) {
            return Err(EntryError::Inlined { name: name.to_owned() });
        }
        Ok(address)
    }
}

/// A name of C++ without the parameters that stand at its end.
fn without_parameters(name: &str) -> &str {
    let name = name.strip_suffix(" const").unwrap_or(name);
    if !name.ends_with(')') {
        return name;
    }
    let mut depth = 0;
    for (at, sign) in name.char_indices().rev() {
        match sign {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &name[..at];
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_symbols_and_of_the_source() {
        let functions = [
            (0x1000, vec!["main"]),
            (0x1010, vec!["_ZN1a1bEi", "alias"]),
            (0x1020, vec!["_ZN1a1cEi"]),
            (0x1030, vec!["_ZN1a1cEv"]),
            (0x1040, vec!["tiny"]),
            (0x1044, vec!["next"]),
            (0x1060, vec!["_ZN1a1dEi"]),
            (0x2000, vec!["cotree_rt_entered"]),
        ];
        let functions =
            functions.into_iter().map(|(at, names)| (at, names.into_iter().map(Name::new).collect())).collect();
        let inlined = BTreeSet::from(["_ZN1a1dEi".to_owned()]);
        let mut entries = Entries { unit: UnitId([0xAB; 16]), functions, inlined };
        let id = "ab".repeat(16);
        let order = entries.part(&["main", "a::b"], &["alias"]).unwrap_err();
        assert_eq!(order.to_string(), EntryError::Order.to_string());
        let part = entries.part(&["main", "a::b(int)"], &["main"]).unwrap();
        assert_eq!(part, format!("{id}:1000,1010;1000"));
        assert_eq!(entries.part(&["main"], &[]).unwrap(), format!("{id}:1000;"));
        let to = |name| entries.part(&[], &[name]);
        assert_eq!(to("_ZN1a1cEv").unwrap(), format!("{id}:1030"));
        assert!(matches!(to("a::c"), Err(EntryError::Several { .. })));
        assert!(matches!(to("a"), Err(EntryError::None { .. })));
        assert!(matches!(to("tiny"), Err(EntryError::Small { .. })));
        assert!(matches!(to("a::d"), Err(EntryError::Inlined { .. })));
        entries.functions.remove(&0x2000);
        assert!(matches!(entries.part(&[], &["main"]), Err(EntryError::Wholes)));
        assert_eq!(without_parameters("f(int (*)(char)) const"), "f");
        assert_eq!(without_parameters("<a as b>::c"), "<a as b>::c");
    }
}
