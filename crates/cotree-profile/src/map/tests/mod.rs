//! Tests of maps: round trips of random ones, and hostile bytes.

mod random;

use super::*;
use crate::binary::CodeMap;
use crate::wire::WireError;
use crate::wire::container::checksum;
use crate::wire::sections::split_stream;
use crate::wire::{Tag, varint};
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::ids::{Block, Counter};
use cotree_core::method::MethodPlan;
use cotree_core::method::counters::{CounterMethod, UnitCounterPlan};
use cotree_core::probe::{Probe, Reg};
use cotree_core::unit::UnitPlan;
use proptest::prelude::*;
use random::binary_map;
use std::collections::HashSet;

const HEADER: usize = KIND.header();
const UNIT: UnitId = UnitId(*b"0123456789abcdef");

/// The sections of a map as they stand in the file, each with what it unpacks to.
fn pieces(bytes: &[u8]) -> Vec<(Vec<u8>, u64)> {
    let header = KIND.read(bytes, bytes.len() as u64).unwrap();
    let mut rest = &bytes[HEADER..HEADER + header.packed];
    let mut pieces = Vec::new();
    while rest.first().is_some_and(|&first| first != 0) {
        let mut own = &rest[4..];
        varint::take(&mut own).unwrap();
        let length = varint::take(&mut own).unwrap() as usize;
        let end = rest.len() - own.len() + length;
        let (mut streams, mut left) = (&own[..length], u64::MAX);
        while !streams.is_empty() {
            split_stream(&mut streams, &mut left).unwrap();
        }
        pieces.push((rest[..end].to_vec(), u64::MAX - left));
        rest = &rest[end..];
    }
    pieces
}

/// Puts the right checksum back after an edit, so that the edit reaches the decoder.
fn reseal(bytes: &mut [u8]) {
    if bytes.len() >= HEADER {
        let packed = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
        let end = (packed as usize).saturating_add(HEADER).min(bytes.len());
        let sum = checksum(&bytes[..HEADER - 8], &bytes[HEADER..end]);
        bytes[48..56].copy_from_slice(&sum.to_le_bytes());
    }
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(map in binary_map()) {
        prop_assert_eq!(validate(&map), Ok(()));
        let bytes = encode(&map, UNIT);
        prop_assert_eq!(decode(&bytes), Ok((map, UNIT)));
        prop_assert_eq!(decode_unit(&bytes), Ok(UNIT));
    }

    /// A reader that does not know a section refuses the map, so a section is there only if it says something.
    #[test]
    fn sections_are_there_where_they_say_something(map in binary_map()) {
        let bytes = encode(&map, UNIT);
        let header = KIND.read(&bytes, bytes.len() as u64).unwrap();
        let sections = split(&bytes[KIND.header()..], header.unpacked).unwrap();
        let has = |tag: &[u8; 4]| sections.iter().any(|section| section.tag.0 == *tag);
        let functions = || map.program.functions().map(|(_, function)| function);
        prop_assert!(has(b"unit") && has(b"plan") && has(b"code"));
        let calls = matches!(map.plan.method, MethodPlan::Calls(_));
        let ipath = matches!(map.plan.method, MethodPlan::Ipath(_));
        let summed = matches!(&map.plan.method, MethodPlan::Ipath(unit) if unit.metric.is_summed());
        prop_assert_eq!(has(b"ipat"), ipath);
        prop_assert_eq!(has(b"cnca"), calls && functions().count() > 0);
        let traces = matches!(map.plan.method, MethodPlan::Traces(_));
        prop_assert_eq!(has(b"trac"), traces && functions().count() > 0);
        let events = matches!(map.plan.method, MethodPlan::Events(_));
        prop_assert_eq!(has(b"even"), events);
        prop_assert_eq!(has(b"cntr"), !calls && !ipath && !traces && !events || map.plan.check.is_some());
        prop_assert_eq!(has(b"site"), functions().any(|f| f.sites().len() > 0));
        let counted = |f: &Function| f.calls.iter().any(|call| !call.resume_marker);
        prop_assert_eq!(has(b"call"), functions().any(counted));
        prop_assert_eq!(has(b"addr"), functions().any(|f| !f.accesses.is_empty()));
        prop_assert_eq!(has(b"left"), functions().any(|f| !f.left_out.is_empty()));
        let mut blocks = functions().flat_map(|function| &function.blocks).peekable();
        prop_assert_eq!(has(b"runs"), blocks.peek().is_some());
        prop_assert_eq!(has(b"cost"), blocks.flat_map(|block| &block.runs).any(|run| run.cost > 0));
        let method = &map.plan.method;
        prop_assert_eq!(has(b"entr"), !method.entries().is_empty());
        prop_assert_eq!(has(b"fixd"), method.functions().any(|plan| !plan.fixed.is_empty()));
        prop_assert_eq!(has(b"path"), method.paths().is_some() || summed);
        let returns = map.code.functions.iter().any(|code| !code.returns.is_empty());
        prop_assert_eq!(has(b"regs"), method.paths().is_some() && returns);
    }

    #[test]
    fn padding_after_a_map_is_no_second_map(map in binary_map()) {
        let mut bytes = encode(&map, UNIT);
        bytes.extend_from_slice(&[0; 7]);
        prop_assert!(decode(&bytes).is_ok());
        let second = encode(&map, UNIT);
        bytes.extend_from_slice(&second);
        prop_assert_eq!(decode(&bytes), Err(MapError::SeveralMaps));
    }

    #[test]
    fn a_cut_map_is_refused(map in binary_map(), cut in any::<prop::sample::Index>()) {
        let bytes = encode(&map, UNIT);
        prop_assert!(decode(&bytes[..cut.index(bytes.len())]).is_err());
    }

    #[test]
    fn a_flipped_bit_is_noticed(map in binary_map(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = encode(&map, UNIT);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(decode(&bytes).is_err());
    }

    #[test]
    fn a_hostile_map_is_an_error_or_a_valid_map(map in binary_map(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = encode(&map, UNIT);
        for (at, value) in edits {
            let at = 32 + at.index(bytes.len() - 32);
            bytes[at] = value;
        }
        reseal(&mut bytes);
        if let Ok((map, _)) = decode(&bytes) {
            prop_assert_eq!(validate(&map), Ok(()));
        }
    }

    #[test]
    fn hostile_streams_are_an_error_or_a_valid_map(map in binary_map(), edits in prop::collection::vec((0..SECTIONS.slots(), any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let Unpacked { mut streams, unit } = unpack(&encode(&map, UNIT)).unwrap();
        for (stream, at, value) in edits {
            if !streams[stream].is_empty() {
                let at = at.index(streams[stream].len());
                streams[stream][at] = value;
            }
        }
        if let Ok((map, _)) = decode(&pack(&streams, unit)) {
            prop_assert_eq!(validate(&map), Ok(()));
        }
    }

    #[test]
    fn sections_that_are_missing_or_twice_are_an_error_or_a_valid_map(map in binary_map(), chosen in prop::collection::vec(0usize..12, 0..14)) {
        let pieces = pieces(&encode(&map, UNIT));
        let chosen: Vec<_> = chosen.into_iter().map(|at| &pieces[at % pieces.len()]).collect();
        let payload: Vec<u8> = chosen.iter().flat_map(|(bytes, _)| bytes).copied().collect();
        let result = decode(&KIND.seal(&UNIT.0, chosen.iter().map(|piece| piece.1).sum(), &payload));
        let tags: HashSet<&[u8]> = chosen.iter().map(|(bytes, _)| &bytes[..4]).collect();
        prop_assert!(tags.len() == chosen.len() || result.is_err());
        if let Ok((map, _)) = result {
            prop_assert_eq!(validate(&map), Ok(()));
        }
    }

    #[test]
    fn the_order_of_sections_does_not_matter(map in binary_map()) {
        let mut pieces = pieces(&encode(&map, UNIT));
        pieces.reverse();
        let payload: Vec<u8> = pieces.iter().flat_map(|(bytes, _)| bytes).copied().collect();
        let bytes = KIND.seal(&UNIT.0, pieces.iter().map(|piece| piece.1).sum(), &payload);
        prop_assert_eq!(decode(&bytes), Ok((map, UNIT)));
    }

    #[test]
    fn random_bytes_are_no_map(mut bytes in prop::collection::vec(any::<u8>(), 0..300), seal in any::<bool>()) {
        if seal && bytes.len() >= HEADER {
            bytes[..8].copy_from_slice(&MAGIC);
            bytes[8..16].copy_from_slice(&[VERSION as u8, 0, 0, 0, 0, 0, 0, 0]);
            let packed = (bytes.len() - HEADER) as u64;
            bytes[40..48].copy_from_slice(&packed.to_le_bytes());
            reseal(&mut bytes);
        }
        prop_assert!(decode(&bytes).is_err());
    }
}

fn empty_map() -> BinaryMap {
    BinaryMap {
        program: ProgramMap::default(),
        plan: UnitPlan::new(MethodPlan::Counters(UnitCounterPlan {
            method: CounterMethod::Edge,
            functions: vec![],
            entries: vec![],
        })),
        code: CodeMap::default(),
        threaded: false,
    }
}

#[test]
fn every_byte_of_the_header_matters() {
    let bytes = encode(&empty_map(), UNIT);
    for at in 0..HEADER {
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            assert!(decode(&bytes).is_err(), "byte {at}, bit {bit}");
        }
    }
}

#[test]
fn a_bomb_is_refused_before_it_unpacks() {
    let mut streams = vec![Vec::new(); SECTIONS.slots()];
    streams[Slot::from(Stream::Text).0] = vec![b'x'; 64 << 20];
    let mut bytes = pack(&streams, UNIT);
    // The writer pads what compresses too well; a bomb would not.
    let (packed, keep) = (bytes.len() - HEADER, 8 << 10);
    assert!(packed > 900 << 10, "{packed}");
    bytes.truncate(HEADER + keep);
    bytes[40..48].copy_from_slice(&(keep as u64).to_le_bytes());
    reseal(&mut bytes);
    assert_eq!(decode(&bytes), Err(MapError::Wire(WireError::TooLarge(64 << 20))));
}

#[test]
fn other_versions_are_named() {
    let mut bytes = encode(&empty_map(), UNIT);
    for found in [0, 2] {
        bytes[8] = found;
        let version = WireError::Version { found: found.into(), expected: VERSION };
        assert_eq!(decode(&bytes), Err(MapError::Wire(version)));
    }
}

#[test]
fn a_section_of_a_later_cotree_is_named() {
    let mut bytes = encode(&empty_map(), UNIT);
    let plan = bytes.windows(4).position(|window| window == b"plan").expect("its section");
    bytes[plan..plan + 4].copy_from_slice(b"late");
    reseal(&mut bytes);
    assert_eq!(decode(&bytes), Err(MapError::Wire(WireError::NewerSection(Tag(*b"late")))));
}

/// A random map of each version of the format is kept (`tests/suite/golden.rs`). That of a new version is written here,
/// once.
#[test]
fn this_version_has_a_golden_map() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let path = format!("{}/tests/golden/map-{VERSION}.bin", env!("CARGO_MANIFEST_DIR"));
    if let Ok(kept) = std::fs::read(&path) {
        assert_eq!(u32::from(kept[8]), VERSION, "{path}");
        return;
    }
    let mut runner = TestRunner::deterministic();
    let maps = (0..20_000).map(|_| binary_map().new_tree(&mut runner).expect("a map").current());
    let telling = |map: &BinaryMap| {
        (2..=5).contains(&map.program.functions().count()) && map.code.functions.iter().any(|f| !f.returns.is_empty())
    };
    let encoded = maps.filter(telling).map(|map| encode(&map, UNIT));
    let best = encoded.filter(|bytes| bytes.len() < 1100).max_by_key(Vec::len);
    std::fs::write(&path, best.expect("one of them is that small")).expect("it can be written");
    panic!("{path} was missing and has been written: review the text that it decodes to, and commit both");
}

#[test]
fn registers_are_numbers_in_files() {
    let probe = Probe::AddTo(Counter(2), Reg::Promoted(300), -1);
    let bytes = [5, 2, 0xAC, 0x02, 1];
    assert_eq!(postcard::to_stdvec(&probe).unwrap(), bytes);
    assert_eq!(postcard::from_bytes::<Probe>(&bytes).unwrap(), probe);
    for register in [Reg::Promoted(u32::MAX), Reg::PathSum, Reg::LoopContext(Block(9))] {
        let bytes = postcard::to_stdvec(&register).unwrap();
        assert_eq!(postcard::from_bytes::<Reg>(&bytes).unwrap(), register);
    }
    for number in [1 << 32 | 1, 9 << 32, u64::MAX] {
        assert!(postcard::from_bytes::<Reg>(&postcard::to_stdvec(&number).unwrap()).is_err());
    }
}
