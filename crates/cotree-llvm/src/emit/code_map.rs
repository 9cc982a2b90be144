//! Reads from an emitted object which call sites are under way when a return address is on the stack.
//!
//! LLVM's `.pseudo_probe` holds, per text section, the address of each numbered call relative to its function, and the
//! chain of numbered calls through which the function was inlined. The return address is that of the next instruction,
//! which we decode. Sections that only served this purpose are then marked so that the linker drops them.
//!
//! Layout per function: GUID (8 bytes), number of probes, number of inlined callees; then the probes (index, a byte
//! with type in bits 0–3, attributes in 4–6 and "address is a delta" in 7, the address, a discriminator if attribute 4
//! is set); then the callees (number of the call site, and the same again). Numbers are LEB128. The first address is
//! relative to the function, unless a sentinel probe with the function's absolute address precedes it.
//!
//! Probes of type 0 stand before instructions that may fault (`lower::callsites`). These are listed like calls, by the
//! address behind their first byte, where no call ends.

use super::stack_maps::{self, Point};
use crate::error::Error;
use crate::lower;
use cotree_core::ids::{FunctionId, Site};
use cotree_profile::binary::{CodeFunction, FUNCS_SECTION, ReturnPoint};
use cotree_rt::layout::{FUNCTION_MAGIC, FunctionPrefix};
use gimli::{EndianSlice, leb128};
use iced_x86::{Decoder, DecoderOptions, FlowControl};
use object::elf;
use object::read::elf::{ElfFile64, FileHeader, SectionHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionFlags, SymbolKind};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem::{offset_of, size_of};

/// Probe number → (function of the unit, site).
pub(crate) type Sites = HashMap<u32, (FunctionId, Site)>;

const INDIRECT_PROBES: &str = ".pseudo_probe";
const DESCRIPTIONS: &str = ".pseudo_probe_desc";
/// The type of probes before instructions that may fault.
const FAULT: u8 = 0;
const SENTINEL: u8 = 2;
const HAS_DISCRIMINATOR: u8 = 4;

/// The call sites of an object.
pub(crate) struct CallSites {
    /// In the order of the machine functions.
    pub(crate) functions: Vec<CodeFunction>,
    /// Where path registers are, in the same order.
    pub(crate) registers: Vec<Vec<Point>>,
    /// Machine functions whose call addresses are ambiguous: with those of another function in a section that their
    /// author named, or among themselves.
    pub(crate) unmapped: Vec<usize>,
}

/// Reads the call sites of an object with these machine functions; `symbol_of` names a function of the unit.
pub(crate) fn read<'a>(
    module: &str,
    bytes: &[u8],
    functions: &[String],
    sites: &Sites,
    symbol_of: impl Fn(FunctionId) -> Option<&'a str>,
) -> Result<CallSites, Error> {
    let broken = |reason: String| Error::Internal { module: module.into(), reason };
    let file: ElfFile64<'_, LittleEndian> = ElfFile64::parse(bytes).map_err(|e| broken(e.to_string()))?;
    let number_of: HashMap<&str, usize> = functions.iter().enumerate().map(|(i, n)| (n.as_str(), i)).collect();
    let mut result = vec![CodeFunction::default(); functions.len()];
    // Functions by text section: (address in the section, size, number).
    let mut in_section: HashMap<usize, Vec<(u64, u64, usize)>> = HashMap::new();
    for symbol in file.symbols().filter(|s| s.kind() == SymbolKind::Text) {
        let (Ok(name), Some(section)) = (symbol.name(), symbol.section_index()) else { continue };
        let Some(&number) = number_of.get(name) else { continue };
        result[number].size = u32::try_from(symbol.size()).unwrap_or(u32::MAX);
        in_section.entry(section.0).or_default().push((symbol.address(), symbol.size(), number));
    }
    let number_at = |section: usize, address: u64| {
        in_section.get(&section)?.iter().find(|owner| owner.0 == address).map(|owner| owner.2)
    };
    let registers = stack_maps::read(module, &file, number_at, result.len())?;
    let mut unmapped = Vec::new();
    let endian = LittleEndian;
    for section in file.sections().filter(|s| s.name() == Ok(INDIRECT_PROBES)) {
        let header = section.elf_section_header();
        let text = header.sh_link(endian) as usize;
        let Some(owners) = in_section.get(&text) else { continue };
        let code = file
            .section_by_index(object::SectionIndex(text))
            .and_then(|s| s.data())
            .map_err(|e| broken(e.to_string()))?;
        let data = section.data().map_err(|e| broken(e.to_string()))?;
        let groups = decode(data).ok_or_else(|| broken("LLVM wrote call addresses that we cannot read".into()))?;
        let mut probes_of: BTreeMap<usize, (u64, u64, Vec<Probe>)> = BTreeMap::new();
        for group in groups {
            // Functions may share a section that their author or LLVM named. The function of the outermost call then
            // says which function a probe belongs to. Probes before faults name no function, and are left out there.
            let outermost = |probe: &Probe| probe.chain.iter().rev().find_map(|n| sites.get(n));
            let owner = match owners[..] {
                [only] => Some(only),
                _ => group.iter().filter(|probe| probe.kind != FAULT).find_map(outermost).and_then(|&(function, _)| {
                    let number = number_of.get(symbol_of(function)?)?;
                    owners.iter().copied().find(|o| o.2 == *number)
                }),
            };
            if let Some((start, size, number)) = owner {
                probes_of.entry(number).or_insert((start, size, Vec::new())).2.extend(group);
            } else if group.iter().any(|probe| probe.kind != FAULT && outermost(probe).is_some()) {
                unmapped.extend(owners.iter().map(|&(_, _, number)| number));
            }
        }
        for (number, (start, size, probes)) in probes_of {
            let end = usize::try_from(start + size).unwrap_or(usize::MAX).min(code.len());
            let code = &code[usize::try_from(start).unwrap_or(usize::MAX).min(end)..end];
            let found = &mut result[number].returns;
            faults(code, &probes, sites, found);
            let calls = probes.into_iter().filter(|probe| probe.kind != FAULT).collect();
            if !returns(code, calls, sites, &registers[number], found) {
                unmapped.push(number);
            }
        }
    }
    resumes(&file, &in_section, &mut result);
    for (function, points) in result.iter_mut().zip(&registers) {
        function.returns.sort_by_key(|r| r.offset);
        keep_certain(&mut function.returns);
        let unknown: Vec<ReturnPoint> = points.iter().filter_map(|point| without_probe(function, point)).collect();
        function.returns.extend(unknown);
        function.returns.sort_by_key(|r| r.offset);
        for point in points {
            let Ok(at) = function.returns.binary_search_by_key(&point.offset, |r| r.offset) else { continue };
            function.returns[at].registers = point.registers.iter().map(|register| register.link).collect();
        }
    }
    Ok(CallSites { functions: result, registers, unmapped })
}

/// The call of a point without a probe: LLVM drops the probes of blocks that hold only calls with a `deopt` bundle.
/// Such a bundle itself says which calls are under way.
fn without_probe(function: &CodeFunction, point: &Point) -> Option<ReturnPoint> {
    let chain = point.chain.clone()?;
    let known = function.returns.binary_search_by_key(&point.offset, |r| r.offset).is_ok();
    (!known).then_some(ReturnPoint { offset: point.offset, chain, registers: Vec::new() })
}

/// The return addresses of one function's numbered calls. False if some can't be assigned with certainty.
///
/// LLVM puts a probe before the last real instruction up to the call, and does not yet count a call with a `deopt`
/// bundle as one. So calls that follow each other directly have the same address. The bundle of a return address says
/// which call it belongs to. Calls that have lost their bundles are assigned by their order, which is that of the
/// probes of one inlined copy.
fn returns(code: &[u8], mut probes: Vec<Probe>, sites: &Sites, points: &[Point], found: &mut Vec<ReturnPoint>) -> bool {
    probes.sort_by_key(|probe| probe.address);
    let mut certain = true;
    for run in probes.chunk_by(|a, b| a.address == b.address) {
        let mut waiting: Vec<&Probe> = run.iter().collect();
        let mut from = run[0].address;
        while !waiting.is_empty() {
            let Some(offset) = return_offset(code, from) else { break };
            from = i64::from(offset);
            let point = points.binary_search_by_key(&offset, |p| p.offset).map(|at| &points[at]).ok();
            let registers = point.map_or(&[][..], |point| &point.registers);
            let chain = |probe: &Probe| -> Vec<(FunctionId, Site)> {
                probe.chain.iter().filter_map(|n| sites.get(n)).copied().collect()
            };
            let noted = point.and_then(|point| point.chain.as_ref());
            if let Some(at) = noted.and_then(|noted| waiting.iter().position(|probe| chain(probe) == *noted)) {
                found.push(ReturnPoint { offset, chain: chain(waiting.remove(at)), registers: Vec::new() });
                continue;
            }
            let fits = |probe: &Probe| {
                let chain = chain(probe);
                registers.iter().all(|register| chain.contains(&register.link))
            };
            let candidates: Vec<usize> = (0..waiting.len()).filter(|&at| fits(waiting[at])).collect();
            let Some(&first) = candidates.first() else {
                certain = false;
                break;
            };
            certain &= candidates.iter().all(|&at| waiting[at].chain[1..] == waiting[first].chain[1..]);
            let chain = chain(waiting.remove(first));
            found.push(ReturnPoint { offset, chain, registers: Vec::new() });
        }
    }
    certain
}

/// The instructions behind probes that may fault: the first one, or where one of the program's takes several in machine
/// code, all up to the next probe. The call that an instruction was compiled to is listed as a call.
fn faults(code: &[u8], probes: &[Probe], sites: &Sites, found: &mut Vec<ReturnPoint>) {
    let mut addresses: Vec<i64> = probes.iter().map(|probe| probe.address).collect();
    addresses.sort_unstable();
    for probe in probes.iter().filter(|probe| probe.kind == FAULT) {
        let next = addresses.get(addresses.partition_point(|&address| address <= probe.address)).copied();
        let (Ok(start), Ok(end)) = (usize::try_from(probe.address), usize::try_from(next.unwrap_or(i64::MAX))) else {
            continue;
        };
        let Some(rest) = code.get(start..end.min(code.len())) else { continue };
        let chain: Vec<_> = probe.chain.iter().filter_map(|number| sites.get(number)).copied().collect();
        let mut add = |offset: u64| {
            let offset = u32::try_from(offset).unwrap_or(u32::MAX);
            found.push(ReturnPoint { offset, chain: chain.clone(), registers: Vec::new() });
        };
        let several = u32::from(probe.attributes) & lower::SEVERAL != 0;
        for instruction in Decoder::with_ip(64, rest, start as u64, DecoderOptions::NONE).iter() {
            match instruction.flow_control() {
                FlowControl::Next if !may_fault(&instruction) => continue,
                FlowControl::Next | FlowControl::Exception | FlowControl::Interrupt => add(instruction.ip() + 1),
                FlowControl::Call | FlowControl::IndirectCall if several => add(instruction.next_ip()),
                _ => break,
            }
            if !several {
                break;
            }
        }
    }
}

/// What two of them claim is neither's.
fn keep_certain(sorted: &mut Vec<ReturnPoint>) {
    let doubtful: HashSet<u32> =
        sorted.windows(2).filter(|pair| pair[0].offset == pair[1].offset).map(|pair| pair[0].offset).collect();
    sorted.retain(|point| !doubtful.contains(&point.offset));
}

/// Does the instruction divide, or use memory other than the frame and the program's variables?
fn may_fault(instruction: &iced_x86::Instruction) -> bool {
    use iced_x86::{Mnemonic, OpKind, Register};
    if matches!(instruction.mnemonic(), Mnemonic::Div | Mnemonic::Idiv) || instruction.is_string_instruction() {
        return true;
    }
    let own = matches!(instruction.memory_base(), Register::RBP | Register::RSP | Register::RIP)
        || matches!(instruction.segment_prefix(), Register::FS | Register::GS)
        || matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop);
    !own && (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory)
}

/// The calls that `resume` was compiled to. They are known, but no call site is under way at them: the marker before
/// the `resume` has accounted for the frame.
fn resumes(
    file: &ElfFile64<'_, LittleEndian>,
    in_section: &HashMap<usize, Vec<(u64, u64, usize)>>,
    functions: &mut [CodeFunction],
) {
    for (section, owners) in in_section {
        let Ok(section) = file.section_by_index(object::SectionIndex(*section)) else { continue };
        for (at, relocation) in section.relocations() {
            let RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
            let is_resume = file.symbol_by_index(symbol).is_ok_and(|s| s.name() == Ok("_Unwind_Resume"));
            let owner = owners.iter().find(|(start, size, _)| (*start..start + size).contains(&at));
            if let (true, Some(&(start, _, number))) = (is_resume, owner) {
                // The displacement is the last field of the call, direct or through the GOT.
                let offset = u32::try_from(at + 4 - start).unwrap_or(u32::MAX);
                functions[number].returns.push(ReturnPoint { offset, chain: Vec::new(), registers: Vec::new() });
            }
        }
    }
}

struct Probe {
    address: i64,
    kind: u8,
    attributes: u8,
    /// Numbers of call sites, innermost first.
    chain: Vec<u32>,
}

/// Decodes one `.pseudo_probe` section, machine function by machine function; `None` if it is not well-formed.
fn decode(mut data: &[u8]) -> Option<Vec<Vec<Probe>>> {
    let mut groups = Vec::new();
    while !data.is_empty() {
        let mut probes = Vec::new();
        // One top-level function; `open` holds, per inlined level, how many callees are still to come.
        let mut open: Vec<(u32, u64)> = Vec::new();
        let mut address = 0i64;
        let mut callees = level(&mut data, &mut address, &open, &mut probes)?;
        loop {
            if callees > 0 {
                let call = u32::try_from(uleb(&mut data)?).ok()?;
                open.push((call, callees - 1));
                callees = level(&mut data, &mut address, &open, &mut probes)?;
            } else if let Some((_, rest)) = open.pop() {
                callees = rest;
            } else {
                break;
            }
        }
        groups.push(probes);
    }
    Some(groups)
}

/// One function body at some level of inlining; returns how many callees were inlined into it.
fn level(data: &mut &[u8], address: &mut i64, open: &[(u32, u64)], probes: &mut Vec<Probe>) -> Option<u64> {
    take(data, 8)?;
    let count = uleb(data)?;
    let callees = uleb(data)?;
    for _ in 0..count {
        let index = uleb(data)?;
        let kind = take(data, 1)?[0];
        if kind & 0x80 == 0 {
            // Absolute: only the function's own address is written so.
            take(data, 8)?;
            *address = 0;
        } else {
            *address = address.checked_add(sleb(data)?)?;
        }
        let attributes = kind >> 4 & 7;
        if attributes & HAS_DISCRIMINATOR != 0 {
            uleb(data)?;
        }
        if attributes & SENTINEL == 0 {
            let innermost = u32::try_from(index).ok()?;
            let chain = std::iter::once(innermost).chain(open.iter().rev().map(|&(call, _)| call)).collect();
            probes.push(Probe { address: *address, kind: kind & 15, attributes, chain });
        }
    }
    Some(callees)
}

/// The return address of the call at or shortly after `address`; `None` for a tail call.
fn return_offset(code: &[u8], address: i64) -> Option<u32> {
    let start = usize::try_from(address).ok()?;
    let rest = code.get(start..)?;
    let mut decoder = Decoder::with_ip(64, rest, address.cast_unsigned(), DecoderOptions::NONE);
    for instruction in decoder.iter().take(4) {
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => return u32::try_from(instruction.next_ip()).ok(),
            FlowControl::Next => {}
            _ => return None,
        }
    }
    None
}

fn take<'a>(data: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = data.split_at_checked(len)?;
    *data = tail;
    Some(head)
}

fn uleb(data: &mut &[u8]) -> Option<u64> {
    number(data, leb128::read::unsigned)
}

fn sleb(data: &mut &[u8]) -> Option<i64> {
    number(data, leb128::read::signed)
}

fn number<'a, T>(
    data: &mut &'a [u8],
    read: impl FnOnce(&mut EndianSlice<'a, gimli::LittleEndian>) -> gimli::Result<T>,
) -> Option<T> {
    let mut reader = EndianSlice::new(data, gimli::LittleEndian);
    let value = read(&mut reader).ok()?;
    *data = reader.slice();
    Some(value)
}

/// Prepares an object for the linker: our probe sections are dropped from the program, function records are not loaded,
/// and their function numbers become numbers of the unit by adding `base`.
pub(crate) fn finish(module: &str, bytes: &mut [u8], base: u32, drops_debug_info: bool) -> Result<(), Error> {
    let broken = |reason: String| Error::Internal { module: module.into(), reason };
    let mut flags: Vec<(usize, u64)> = Vec::new();
    let mut records: Vec<(usize, u32)> = Vec::new();
    let number_at = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    {
        let file: ElfFile64<'_, LittleEndian> = ElfFile64::parse(&*bytes).map_err(|e| broken(e.to_string()))?;
        let headers = usize::try_from(file.elf_header().e_shoff(LittleEndian)).map_err(|e| broken(e.to_string()))?;
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            let header = headers + section.index().0 * 64;
            match section.name() {
                Ok(INDIRECT_PROBES | DESCRIPTIONS | stack_maps::SECTION) => {
                    flags.push((header + 8, sh_flags | u64::from(elf::SHF_EXCLUDE)))
                }
                Ok(name) if drops_debug_info && name.starts_with(".debug_") => {
                    flags.push((header + 8, sh_flags | u64::from(elf::SHF_EXCLUDE)));
                }
                Ok(FUNCS_SECTION) => {
                    flags.push((header + 8, sh_flags & !u64::from(elf::SHF_ALLOC | elf::SHF_WRITE)));
                    let (start, size) = section.file_range().unwrap_or_default();
                    for at in (start..start + size).step_by(16) {
                        let at = usize::try_from(at).map_err(|e| broken(e.to_string()))? + 8;
                        records.push((at, number_at(at) + base));
                    }
                }
                _ => {}
            }
        }
        for symbol in file.symbols().filter(|s| s.kind() == SymbolKind::Text) {
            let place = symbol.section_index().and_then(|s| file.section_by_index(s).ok()?.file_range());
            let Some(prefix) = symbol.address().checked_sub(size_of::<FunctionPrefix>() as u64) else { continue };
            let Some(at) = place.and_then(|(start, _)| usize::try_from(start + prefix).ok()) else { continue };
            if bytes.get(at..at + 8) == Some(&FUNCTION_MAGIC.to_le_bytes()) {
                let at = at + offset_of!(FunctionPrefix, number);
                records.push((at, number_at(at) + base));
            }
        }
        records.sort_unstable();
        records.dedup();
    }
    for (at, value) in flags {
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    for (at, value) in records {
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emit::stack_maps::{Register, Value};

    /// `xor eax, eax`, and two calls at once.
    const CODE: [u8; 12] = [0x31, 0xc0, 0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0];

    fn site(number: u32) -> (FunctionId, Site) {
        (FunctionId(number), Site::new(0))
    }

    fn returns_of(chains: [&[u32]; 2], points: &[Point]) -> (bool, Vec<(u32, u32)>) {
        let sites: Sites = (1..=4).map(|number| (number, site(number))).collect();
        let probes = chains.map(|chain| Probe { address: 0, kind: 2, attributes: 0, chain: chain.to_vec() });
        let mut found = Vec::new();
        let certain = returns(&CODE, probes.into(), &sites, points, &mut found);
        (certain, found.into_iter().map(|point| (point.offset, point.chain[0].0.0)).collect())
    }

    #[test]
    fn calls_at_once_are_told_apart_by_their_order() {
        assert_eq!(returns_of([&[1, 3], &[2, 3]], &[]), (true, vec![(7, 1), (12, 2)]));
    }

    #[test]
    fn calls_without_probes_tell_their_chain() {
        let point = |offset, chain| Point { offset, registers: Vec::new(), chain };
        let mut function = CodeFunction::default();
        function.returns.push(ReturnPoint { offset: 7, chain: vec![site(1)], registers: Vec::new() });
        let chain = |point: &Point| without_probe(&function, point).map(|point| point.chain);
        assert_eq!(chain(&point(12, Some(vec![site(2), site(1)]))), Some(vec![site(2), site(1)]));
        assert_eq!(chain(&point(12, None)), None);
        assert_eq!(chain(&point(7, Some(vec![site(2)]))), None);
    }

    #[test]
    fn calls_of_different_copies_are_told_apart_by_their_registers_or_not_at_all() {
        let known = |offset, number| {
            let register = Register { link: site(number), value: Value::Constant(0) };
            Point { offset, registers: vec![register], chain: None }
        };
        let chains: [&[u32]; 2] = [&[1, 3], &[2, 4]];
        assert_eq!(returns_of(chains, &[known(7, 4), known(12, 3)]), (true, vec![(7, 2), (12, 1)]));
        assert!(!returns_of(chains, &[]).0);
        assert!(!returns_of([&[1, 3], &[2, 3]], &[known(7, 4)]).0);
    }

    #[test]
    fn calls_of_different_copies_are_told_apart_by_what_their_bundles_say() {
        let says =
            |offset, chain: [u32; 2]| Point { offset, registers: Vec::new(), chain: Some(chain.map(site).to_vec()) };
        let chains: [&[u32]; 2] = [&[1, 3], &[2, 4]];
        assert_eq!(returns_of(chains, &[says(7, [2, 4])]), (true, vec![(7, 2), (12, 1)]));
        assert_eq!(returns_of(chains, &[says(7, [2, 4]), says(12, [1, 3])]), (true, vec![(7, 2), (12, 1)]));
        assert!(!returns_of(chains, &[says(7, [2, 3])]).0);
    }
}
