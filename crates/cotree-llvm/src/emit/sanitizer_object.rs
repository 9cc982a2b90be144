//! The object that ties the runtime to a sanitizer in the same executable.
//!
//! Functions that both stand in front of go to the runtime first; its slot `cotree_rt_behind_X` has the
//! address of the sanitizer's own. What is to know before the sanitizer ends the process is registered by a function
//! whose address is in another slot. Slots are weak zeros in the runtime. (Undefined weak references would not do: what
//! sanitizers keep hidden takes hidden ones, and of these gold makes addresses that are not zero.)

use crate::error::Error;
use object::elf::R_X86_64_64;
use object::read::{Object as _, ObjectSymbol};
use object::write::{Object, Relocation, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use std::collections::BTreeSet;

/// What sanitizers put before the names of functions that they intercept.
pub(crate) const INTERCEPTOR: &str = "__interceptor_";

/// The slot for a symbol of a sanitizer.
fn slot(symbol: &str) -> String {
    match symbol.strip_prefix(INTERCEPTOR) {
        Some(name) => format!("cotree_rt_behind_{name}"),
        None => "cotree_rt_add_die_callback".into(),
    }
}

/// The object with the addresses of these symbols in those slots that the runtime has; `None` if that is none.
pub(crate) fn write(runtime: &[u8], symbols: &[String]) -> Result<Option<Vec<u8>>, Error> {
    let failed = |reason: String| Error::Internal { module: "the slots for a sanitizer".into(), reason };
    if symbols.is_empty() {
        return Ok(None);
    }
    let read = object::File::parse(runtime).map_err(|error| failed(error.to_string()))?;
    let has: BTreeSet<&str> = read
        .symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_weak())
        .filter_map(|s| s.name().ok())
        .collect();
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let section = object.add_section(Vec::new(), b".data.rel.ro".to_vec(), SectionKind::ReadOnlyDataWithRel);
    let mut any = false;
    for (name, symbol) in symbols.iter().map(|symbol| (slot(symbol), symbol)).filter(|(slot, _)| has.contains(&**slot))
    {
        let offset = object.append_section_data(section, &[0; 8], 8);
        let mut add = |name: &str, kind, scope, section| {
            let name = name.as_bytes().to_vec();
            object.add_symbol(Symbol {
                name,
                value: offset,
                size: 8,
                kind,
                scope,
                weak: false,
                section,
                flags: SymbolFlags::None,
            })
        };
        add(&name, SymbolKind::Data, SymbolScope::Linkage, SymbolSection::Section(section));
        let target = add(symbol, SymbolKind::Unknown, SymbolScope::Unknown, SymbolSection::Undefined);
        object.symbol_mut(target).value = 0;
        object.symbol_mut(target).size = 0;
        let flags = RelocationFlags::Elf { r_type: R_X86_64_64 };
        object
            .add_relocation(section, Relocation { offset, symbol: target, addend: 0, flags })
            .map_err(|e| failed(e.to_string()))?;
        any = true;
    }
    object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    if any { object.write().map(Some).map_err(|error| failed(error.to_string())) } else { Ok(None) }
}
