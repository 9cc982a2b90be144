//! The object that every profiled link unit gets besides its code: counters, descriptor, map.

use crate::apply::{Access, COUNTERS, SLAB};
use crate::error::Error;
use crate::stack_maps::RegisterTable;
use cotree_core::plan::{Layout, PathMetric};
use cotree_profile::binary::{BinaryMap, MAP_SECTION, UnitId};
use cotree_rt::layout::{self, ABI, PAGE, UnitDescriptor, slab_stride};
use object::write::{Object, Relocation, StandardSection, Symbol, SymbolSection};
use object::{
    Architecture, BinaryFormat, Endianness, RelocationEncoding, RelocationFlags, RelocationKind, SectionFlags,
    SectionKind, SymbolFlags, SymbolKind, SymbolScope,
};
use std::mem::{offset_of, size_of};

/// What kind of unit it is.
#[derive(Clone, Copy)]
pub(crate) struct Nature {
    /// How its code reaches counters.
    pub access: Access,
    /// Or a shared library.
    pub executable: bool,
    /// See [`UnitDescriptor::handlers_foreseen`].
    pub handlers_foreseen: bool,
}

/// What the unit object says.
struct Unit<'a> {
    id: UnitId,
    name: &'a str,
    /// Counters that recovery reads.
    counters: u64,
    /// The first of them that counts paths.
    path_words: u64,
    /// Words of the slab behind them: the caches of path tables.
    caches: u64,
    counts_paths: bool,
    path_metric: PathMetric,
    /// Call sites, for the size of the table of early exits.
    sites: u64,
    nature: Nature,
    /// Where path registers are at calls.
    registers: &'a RegisterTable,
    /// See [`UnitDescriptor::announcing`].
    announcing: &'a [u64],
    /// The encoded map.
    map: &'a [u8],
}

/// The object of a link unit with this map. Its id is a hash of the map and of the `contents` that it goes with.
pub(crate) fn of_map(
    map: &BinaryMap,
    contents: &[&[u8]],
    layout: &Layout,
    registers: &RegisterTable,
    announcing: &[u64],
    sites: u64,
    nature: Nature,
) -> Result<Vec<u8>, Error> {
    let mut id = UnitId::default();
    let encoded = cotree_profile::map::encode_as(map, |streams| {
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for content in contents.iter().copied().chain(streams.iter().map(Vec::as_slice)) {
            hasher.update(content);
        }
        id = UnitId(hasher.digest128().to_le_bytes());
        id
    });
    let name = &map.program.name;
    let (counters, path_words, caches) = (layout.counter_count, layout.path_words, layout.cache_count);
    let counts_paths = map.plan.method.counts_paths();
    let path_metric = map.plan.path_metric;
    let map = &encoded;
    write(&Unit {
        id,
        name,
        counters,
        path_words,
        caches,
        counts_paths,
        path_metric,
        registers,
        announcing,
        sites,
        nature,
        map,
    })
}

/// The ELF file.
fn write(unit: &Unit<'_>) -> Result<Vec<u8>, Error> {
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

    let bytes = slab_stride(unit.counters, unit.caches);
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
    let failed = |e: object::write::Error| Error::Internal { module: unit.name.into(), reason: e.to_string() };

    let tls = object.section_id(StandardSection::Tls);
    object.append_section_data(tls, &[0; 8], 8);
    object.add_relocation(tls, pointer_to(counters, 0, 0)).map_err(failed)?;
    object.add_symbol(hidden(SLAB, 0, 8, SymbolKind::Tls, tls));

    let rodata = object.section_id(StandardSection::ReadOnlyData);
    let mut name: Vec<u8> = unit.name.bytes().filter(|&b| b != 0).collect();
    name.push(0);
    let name_at = object.append_section_data(rodata, &name, 1);
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let pairs = |pairs: &[(u32, u32)]| pairs.iter().flat_map(|p| [p.0, p.1]).flat_map(u32::to_le_bytes).collect();
    let index: Vec<u8> = unit.registers.index.iter().flat_map(|n| n.to_le_bytes()).collect();
    let returns: Vec<u8> = pairs(&unit.registers.returns);
    let tables = [
        (offset_of!(UnitDescriptor, name), name_at),
        (offset_of!(UnitDescriptor, register_index), object.append_section_data(rodata, &index, 8)),
        (offset_of!(UnitDescriptor, register_returns), object.append_section_data(rodata, &returns, 8)),
        (
            offset_of!(UnitDescriptor, register_values),
            object.append_section_data(rodata, &words(&unit.registers.values), 8),
        ),
        (offset_of!(UnitDescriptor, announcing), object.append_section_data(rodata, &words(unit.announcing), 8)),
    ];
    let rodata_symbol = object.section_symbol(rodata);

    let relro = object.section_id(StandardSection::ReadOnlyDataWithRel);
    let mut descriptor = vec![0u8; size_of::<UnitDescriptor>()];
    let mut put = |at: usize, value: &[u8]| descriptor[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(UnitDescriptor, abi), &ABI.to_le_bytes());
    put(offset_of!(UnitDescriptor, threaded), &number(unit.nature.access).to_le_bytes());
    put(offset_of!(UnitDescriptor, id), &unit.id.0);
    put(offset_of!(UnitDescriptor, counter_count), &unit.counters.to_le_bytes());
    let capacity = (unit.sites * 2).clamp(1024, 65536).next_power_of_two();
    put(offset_of!(UnitDescriptor, early_capacity), &capacity.to_le_bytes());
    put(offset_of!(UnitDescriptor, executable), &u32::from(unit.nature.executable).to_le_bytes());
    let foreseen = u32::from(unit.nature.handlers_foreseen);
    put(offset_of!(UnitDescriptor, handlers_foreseen), &foreseen.to_le_bytes());
    put(offset_of!(UnitDescriptor, counts_paths), &u32::from(unit.counts_paths).to_le_bytes());
    put(offset_of!(UnitDescriptor, path_metric), &unit.path_metric.number().to_le_bytes());
    put(offset_of!(UnitDescriptor, path_words), &unit.path_words.to_le_bytes());
    put(offset_of!(UnitDescriptor, cache_count), &unit.caches.to_le_bytes());
    let functions = unit.registers.index.len().saturating_sub(1) as u64;
    put(offset_of!(UnitDescriptor, register_functions), &functions.to_le_bytes());
    put(offset_of!(UnitDescriptor, announcing_count), &(unit.announcing.len() as u64).to_le_bytes());
    let at = object.append_section_data(relro, &descriptor, 8);
    object
        .add_relocation(relro, pointer_to(counters, at + offset_of!(UnitDescriptor, counters) as u64, 0))
        .map_err(failed)?;
    for (field, place) in tables {
        let relocation = pointer_to(rodata_symbol, at + field as u64, place.cast_signed());
        object.add_relocation(relro, relocation).map_err(failed)?;
    }
    object.add_symbol(hidden("__cotree_unit", at, descriptor.len() as u64, SymbolKind::Data, relro));

    let map = object.add_section(Vec::new(), MAP_SECTION.as_bytes().to_vec(), SectionKind::Other);
    object.append_section_data(map, unit.map, 8);
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
