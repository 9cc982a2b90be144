//! Prepares the runtime's object for a link.

use object::elf::{STB_WEAK, Sym64};
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{LittleEndian, elf};
use std::mem::{offset_of, size_of};

/// The object with a weak `__wrap_X` for each of the names: the user's own `--wrap=X` refers to a function of the
/// program, which then comes before ours.
///
/// # Errors
/// If it is no ELF object: then the built runtime is broken.
pub(crate) fn yielding(runtime: &[u8], names: &[String]) -> object::Result<Vec<u8>> {
    let mut yielding = runtime.to_vec();
    if names.is_empty() {
        return Ok(yielding);
    }
    let header = elf::FileHeader64::<LittleEndian>::parse(runtime)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, runtime)?;
    let symbols = sections.symbols(endian, runtime, elf::SHT_SYMTAB)?;
    let table = sections.section(symbols.section())?.sh_offset(endian);
    for (index, symbol) in symbols.enumerate() {
        let name = symbol.name(endian, symbols.strings())?;
        let wrapped = name.strip_prefix(b"__wrap_").is_some_and(|name| names.iter().any(|n| n.as_bytes() == name));
        if wrapped && !symbol.is_undefined(endian) {
            let at = table + (index.0 * size_of::<Sym64<LittleEndian>>()) as u64;
            let info = usize::try_from(at).unwrap_or(usize::MAX) + offset_of!(Sym64<LittleEndian>, st_info);
            yielding[info] = (STB_WEAK << 4) | symbol.st_type();
        }
    }
    Ok(yielding)
}

#[cfg(test)]
mod tests {
    use super::yielding;
    use object::write::{Object, Symbol, SymbolSection};
    use object::{
        Architecture, BinaryFormat, Endianness, Object as _, ObjectSymbol, SymbolFlags, SymbolKind, SymbolScope,
    };

    #[test]
    fn only_wraps_of_these_names_yield() {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let text = object.section_id(object::write::StandardSection::Text);
        for name in ["__wrap_exit", "__wrap_exits", "exit", "__wrap_abort"] {
            object.add_symbol(Symbol {
                name: name.as_bytes().to_vec(),
                value: 0,
                size: 0,
                kind: SymbolKind::Text,
                scope: SymbolScope::Dynamic,
                weak: false,
                section: SymbolSection::Section(text),
                flags: SymbolFlags::None,
            });
        }
        let before = object.write().expect("an object");
        let after = yielding(&before, &["exit".to_owned(), "write".to_owned()]).expect("an object");
        let read = object::File::parse(&*after).expect("an object");
        let weak: Vec<_> = read.symbols().filter(ObjectSymbol::is_weak).map(|symbol| symbol.name().unwrap()).collect();
        assert_eq!(weak, ["__wrap_exit"]);
        assert_eq!(yielding(&before, &[]).expect("a copy"), before);
        assert!(yielding(b"no object", &["exit".to_owned()]).is_err());
    }
}
