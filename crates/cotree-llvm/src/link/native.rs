//! What the bytes of native objects tell: their source is unknown.

use crate::stacks;
use cotree_lto::protocol::NativeInput;
use memmap2::{Mmap, MmapOptions};
use object::{Object, ObjectSymbol, Symbol};

/// Does the machine code of the object change stacks? What is no x86-64 object, or can't be read, holds no code that we
/// know of: the linker will say what is wrong with it.
pub(super) fn switches_stacks(input: &NativeInput) -> bool {
    map(input).is_some_and(|bytes| stacks::object_switches_stacks(&bytes))
}

/// The names that the object defines for others, and not weakly.
pub(super) fn strong_definitions(input: &NativeInput) -> Vec<String> {
    let Some(bytes) = map(input) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*bytes) else { return Vec::new() };
    let strong = |symbol: &Symbol<'_, '_>| symbol.is_global() && symbol.is_definition() && !symbol.is_weak();
    file.symbols().filter(strong).filter_map(|symbol| Some(symbol.name().ok()?.to_owned())).collect()
}

fn map(input: &NativeInput) -> Option<Mmap> {
    let file = std::fs::File::open(&input.path).ok()?;
    let len = usize::try_from(input.size).ok()?;
    // SAFETY: a file that changes while it is being linked breaks the link in any case.
    unsafe { MmapOptions::new().offset(input.offset).len(len).map(&file) }.ok()
}
