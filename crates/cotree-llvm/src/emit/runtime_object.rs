//! Prepares the runtime's object for a link.

use object::elf::{STB_GLOBAL, STB_WEAK, Sym64};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{LittleEndian, elf};
use std::mem::{offset_of, size_of};

/// The object with a weak `__wrap_X` for each of the `yielding` names: the user's own `--wrap=X` refers to a function
/// of the program, which then comes before ours.
///
/// Each of the `fronted` names, which is weak so that a definition of the program's counts, becomes strong: there is
/// another weak one, of a sanitizer, and linkers would take the first of the two.
///
/// # Errors
/// If it is no ELF object: then the built runtime is broken.
pub(crate) fn prepared(runtime: &[u8], yielding: &[String], fronted: &[&str]) -> object::Result<Vec<u8>> {
    let mut prepared = runtime.to_vec();
    if yielding.is_empty() && fronted.is_empty() {
        return Ok(prepared);
    }
    let header = elf::FileHeader64::<LittleEndian>::parse(runtime)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, runtime)?;
    let symbols = sections.symbols(endian, runtime, elf::SHT_SYMTAB)?;
    let table = sections.section(symbols.section())?.sh_offset(endian);
    for (index, symbol) in symbols.enumerate() {
        if symbol.is_undefined(endian) {
            continue;
        }
        let name = symbol.name(endian, symbols.strings())?;
        let wrapped = name.strip_prefix(b"__wrap_");
        let binding = if wrapped.is_some_and(|name| yielding.iter().any(|n| n.as_bytes() == name)) {
            STB_WEAK
        } else if symbol.st_bind() == STB_WEAK && fronted.iter().any(|n| n.as_bytes() == name) {
            STB_GLOBAL
        } else {
            continue;
        };
        let at = table + (index.0 * size_of::<Sym64<LittleEndian>>()) as u64;
        let info = usize::try_from(at).unwrap_or(usize::MAX) + offset_of!(Sym64<LittleEndian>, st_info);
        prepared[info] = (binding << 4) | symbol.st_type();
    }
    Ok(prepared)
}

#[cfg(test)]
mod tests {
    use super::prepared;
    use object::write::{Object, Symbol, SymbolSection};
    use object::{
        Architecture, BinaryFormat, Endianness, Object as _, ObjectSymbol, SymbolFlags, SymbolKind, SymbolScope,
    };

    #[test]
    fn only_these_names_change() {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let text = object.section_id(object::write::StandardSection::Text);
        for name in ["__wrap_exit", "__wrap_exits", "exit", "fork", "write", "__wrap_abort"] {
            object.add_symbol(Symbol {
                name: name.as_bytes().to_vec(),
                value: 0,
                size: 0,
                kind: SymbolKind::Text,
                scope: SymbolScope::Dynamic,
                weak: matches!(name, "exit" | "fork"),
                section: SymbolSection::Section(text),
                flags: SymbolFlags::None,
            });
        }
        let before = object.write().expect("an object");
        let after = prepared(&before, &["exit".to_owned(), "write".to_owned()], &["fork"]).expect("an object");
        let read = object::File::parse(&*after).expect("an object");
        let weak: Vec<_> = read.symbols().filter(ObjectSymbol::is_weak).map(|symbol| symbol.name().unwrap()).collect();
        assert_eq!(weak, ["__wrap_exit", "exit"]);
        assert_eq!(prepared(&before, &[], &[]).expect("a copy"), before);
        assert!(prepared(b"no object", &["exit".to_owned()], &[]).is_err());
    }
}
