//! Makes the object that every profiled link unit gets besides its code: counters, descriptor, map.

use super::method;
use super::stack_maps::RegisterTable;
use crate::error::Error;
use crate::lower::{Access, COUNTERS, SLAB};
use cotree_core::ids::Word;
use cotree_core::unit::Layout;
use cotree_profile::binary::{BinaryMap, MAP_SECTION, UnitId};
use cotree_rt::layout::{self, ABI, PAGE, UnitDescriptor, slab_stride};
use object::write::{Object, Relocation, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind, SectionFlags,
    SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use std::mem::{offset_of, size_of};

/// What the object is made from.
pub(crate) struct UnitParts<'a> {
    pub(crate) map: &'a BinaryMap,
    /// The layout of the map's plan.
    pub(crate) layout: &'a Layout,
    /// The objects that it is linked with.
    pub(crate) contents: &'a [&'a [u8]],
    /// How the code reaches the counters.
    pub(crate) access: Access,
    /// The unit is an executable, not of a shared library.
    pub(crate) executable: bool,
    /// See [`UnitDescriptor::handlers_foreseen`].
    pub(crate) handlers_foreseen: bool,
    /// Where path registers are at calls.
    pub(crate) registers: &'a RegisterTable,
    /// See [`UnitDescriptor::thread_word_counters`].
    pub(crate) thread_word_counters: &'a [u64],
    /// See [`UnitDescriptor::trace_ring`].
    pub(crate) trace_ring: u64,
    /// See [`UnitDescriptor::trace_off`].
    pub(crate) trace_off: bool,
    /// Debug information says which path was under way at a fault.
    pub(crate) fault_paths: bool,
    /// See [`UnitDescriptor::event_limits`].
    pub(crate) event_limits: bool,
    /// See [`UnitDescriptor::queried_words`].
    pub(crate) asked_lines: &'a [Vec<Word>],
    /// See [`UnitDescriptor::file_pattern`].
    pub(crate) file_pattern: Option<&'a str>,
}

impl UnitParts<'_> {
    /// The encoded map, and the unit's id: a hash of the map and of the contents that it goes with.
    fn encode_map(&self) -> (Vec<u8>, UnitId) {
        let mut id = UnitId::default();
        let encoded = cotree_profile::map::encode_as(self.map, |streams| {
            let mut hasher = xxhash_rust::xxh3::Xxh3::new();
            for content in self.contents.iter().copied().chain(streams.iter().map(Vec::as_slice)) {
                hasher.update(content);
            }
            id = UnitId(hasher.digest128().to_le_bytes());
            id
        });
        (encoded, id)
    }
}

/// Writes the object.
pub(crate) fn write(unit: &UnitParts<'_>) -> Result<Vec<u8>, Error> {
    let (encoded, id) = unit.encode_map();
    let (program, plan, layout) = (&unit.map.program, &unit.map.plan, unit.layout);
    let sites: u64 = program.functions().map(|(_, f)| f.sites().filter(|site| !site.is_fault()).count() as u64).sum();
    let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
    let hidden = |name: &str, value: u64, size: u64, kind: SymbolKind, section| Symbol {
        name: name.as_bytes().to_vec(),
        value,
        size,
        kind,
        scope: SymbolScope::Linkage,
        weak: false,
        section: SymbolSection::Section(section),
        flags: SymbolFlags::None,
    };

    let bytes = slab_stride(layout.counter_count, layout.cache_count);
    let bss = object.add_section(Vec::new(), b".bss.cotree".to_vec(), SectionKind::UninitializedData);
    object.append_section_bss(bss, bytes, PAGE);
    let counters = object.add_symbol(hidden(COUNTERS, 0, bytes, SymbolKind::Data, bss));

    let pointer_to = |symbol, offset, addend| Relocation {
        offset,
        symbol,
        addend,
        flags: RelocationFlags::Generic {
            kind: RelocationKind::Absolute,
            encoding: RelocationEncoding::Generic,
            size: 64,
        },
    };
    let failed = |e: object::write::Error| Error::Internal { module: program.name.clone(), reason: e.to_string() };

    let tls = object.section_id(StandardSection::Tls);
    object.append_section_data(tls, &[0; 8], 8);
    object.add_relocation(tls, pointer_to(counters, 0, 0)).map_err(failed)?;
    object.add_symbol(hidden(SLAB, 0, 8, SymbolKind::Tls, tls));

    let rodata = object.section_id(StandardSection::ReadOnlyData);
    let mut name: Vec<u8> = program.name.bytes().filter(|&b| b != 0).collect();
    name.push(0);
    let name_at = object.append_section_data(rodata, &name, 1);
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let pairs = |pairs: &[(u32, u32)]| pairs.iter().flat_map(|p| [p.0, p.1]).flat_map(u32::to_le_bytes).collect();
    let index: Vec<u8> = unit.registers.index.iter().flat_map(|n| n.to_le_bytes()).collect();
    let returns: Vec<u8> = pairs(&unit.registers.returns);
    let pattern_at = unit.file_pattern.map(|pattern| {
        let pattern: Vec<u8> = pattern.bytes().filter(|&b| b != 0).chain([0]).collect();
        (offset_of!(UnitDescriptor, file_pattern), object.append_section_data(rodata, &pattern, 1))
    });
    let starts = unit.asked_lines.iter().scan(0, |next, words| {
        *next += words.len() as u32;
        Some(*next)
    });
    let asked_index: Vec<u8> = std::iter::once(0).chain(starts).flat_map(u32::to_le_bytes).collect();
    let asked_words: Vec<u8> = unit.asked_lines.iter().flatten().flat_map(|word| word.0.to_le_bytes()).collect();
    let tables = [
        (offset_of!(UnitDescriptor, queried_index), object.append_section_data(rodata, &asked_index, 4)),
        (offset_of!(UnitDescriptor, queried_words), object.append_section_data(rodata, &asked_words, 4)),
        (offset_of!(UnitDescriptor, name), name_at),
        (offset_of!(UnitDescriptor, register_index), object.append_section_data(rodata, &index, 8)),
        (offset_of!(UnitDescriptor, register_returns), object.append_section_data(rodata, &returns, 8)),
        (
            offset_of!(UnitDescriptor, register_values),
            object.append_section_data(rodata, &words(&unit.registers.values), 8),
        ),
        (
            offset_of!(UnitDescriptor, thread_word_counters),
            object.append_section_data(rodata, &words(unit.thread_word_counters), 8),
        ),
    ];
    let rodata_symbol = object.section_symbol(rodata);

    let relro = object.section_id(StandardSection::ReadOnlyDataWithRel);
    let mut descriptor = vec![0u8; size_of::<UnitDescriptor>()];
    let mut put = |at: usize, value: &[u8]| descriptor[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(UnitDescriptor, abi), &ABI.to_le_bytes());
    put(offset_of!(UnitDescriptor, threaded), &number(unit.access).to_le_bytes());
    put(offset_of!(UnitDescriptor, id), &id.0);
    put(offset_of!(UnitDescriptor, counter_count), &layout.counter_count.to_le_bytes());
    // Entries that tell of totals come on top of those of exits.
    let per_site = 2 * (1 + method::totals_per_exit(&plan.method));
    let capacity = (sites * per_site).clamp(1024, 65536).next_power_of_two();
    put(offset_of!(UnitDescriptor, early_capacity), &capacity.to_le_bytes());
    put(offset_of!(UnitDescriptor, executable), &u32::from(unit.executable).to_le_bytes());
    let foreseen = u32::from(unit.handlers_foreseen);
    put(offset_of!(UnitDescriptor, handlers_foreseen), &foreseen.to_le_bytes());
    method::describe(&plan.method, layout, &mut put);
    if layout.targets.is_some() {
        // In the same tables.
        put(offset_of!(UnitDescriptor, counts_paths), &1u32.to_le_bytes());
    }
    if unit.fault_paths {
        put(offset_of!(UnitDescriptor, counts_paths), &2u32.to_le_bytes());
    }
    put(offset_of!(UnitDescriptor, trace_ring), &unit.trace_ring.to_le_bytes());
    put(offset_of!(UnitDescriptor, trace_off), &u64::from(unit.trace_off).to_le_bytes());
    put(offset_of!(UnitDescriptor, event_limits), &u64::from(unit.event_limits).to_le_bytes());
    put(offset_of!(UnitDescriptor, queried_lines), &(unit.asked_lines.len() as u64).to_le_bytes());
    put(offset_of!(UnitDescriptor, cache_count), &layout.cache_count.to_le_bytes());
    let functions = unit.registers.index.len().saturating_sub(1) as u64;
    put(offset_of!(UnitDescriptor, register_functions), &functions.to_le_bytes());
    put(offset_of!(UnitDescriptor, thread_word_counter_count), &(unit.thread_word_counters.len() as u64).to_le_bytes());
    let at = object.append_section_data(relro, &descriptor, 8);
    object
        .add_relocation(relro, pointer_to(counters, at + offset_of!(UnitDescriptor, counters) as u64, 0))
        .map_err(failed)?;
    for (field, place) in tables.into_iter().chain(pattern_at) {
        let relocation = pointer_to(rodata_symbol, at + field as u64, place.cast_signed());
        object.add_relocation(relro, relocation).map_err(failed)?;
    }
    object.add_symbol(hidden("__cotree_unit", at, descriptor.len() as u64, SymbolKind::Data, relro));

    let map = object.add_section(Vec::new(), MAP_SECTION.as_bytes().to_vec(), SectionKind::Other);
    object.append_section_data(map, &encoded, 8);
    object.section_mut(map).flags = SectionFlags::Elf { sh_flags: 0 };
    object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    object.write().map_err(failed)
}

/// As the runtime knows it.
fn number(access: Access) -> u32 {
    match access {
        Access::Direct => layout::Access::DIRECT,
        Access::ThreadInExecutable | Access::ThreadInLibrary => layout::Access::WORD,
        Access::Segment => layout::Access::SEGMENT,
    }
}
