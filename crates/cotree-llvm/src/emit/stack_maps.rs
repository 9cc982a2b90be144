//! Reads from an emitted object where path registers are while a call is under way.
//!
//! LLVM's `.llvm_stackmaps` (version 3) has a record for each call with a `deopt` bundle, at its return address. Its
//! first three locations are constants: flags of no interest and the number of values. The values are triples:
//! function, site, register; or with [`IS_ADDRESS`] in the function's number four: function, site, first word, address;
//! or with [`HAS_NONE`] two: function, site ([`crate::lower`]).
//!
//! Layout: a header (version, three zeros, then the numbers of functions, constants and records, 4 bytes each); per
//! function its address (relocated), frame size and number of records, 8 bytes each; 8 bytes per constant; the records
//! in the order of the functions: an id (8), the offset in the function (4), flags (2), the number of locations (2),
//! the locations (kind, 0, size in 2 bytes, DWARF register in 2, 0 in 2, a signed number in 4), padding to 8 bytes, 2
//! bytes of 0, the number of live registers (2), 4 bytes each, padding to 8 bytes.

use crate::error::Error;
use crate::lower::{HAS_NONE, IS_ADDRESS, NOT_SAID};
use cotree_core::ids::{FunctionId, Site};
use cotree_rt::layout::RegisterValue;
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol, RelocationTarget};
use std::collections::HashMap;

/// The section.
pub(crate) const SECTION: &str = ".llvm_stackmaps";

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// The value is this constant.
    Constant(i64),
    /// In a register or in memory.
    At(RegisterValue),
    /// The place holds the address of a word of slab 0; the value is that word's number minus this.
    Address(RegisterValue, i64),
}

/// A register at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Register {
    /// The activation that it belongs to: the function and the call site.
    pub(crate) link: (FunctionId, Site),
    /// Where it is.
    pub(crate) value: Value,
}

/// The registers at a return address.
pub(crate) struct Point {
    /// Relative to the function.
    pub(crate) offset: u32,
    /// Outermost first. Those that can't be found are left out.
    pub(crate) registers: Vec<Register>,
    /// The calls that are under way, innermost first; `None` if one is of a function without probes.
    pub(crate) chain: Option<Vec<(FunctionId, Site)>>,
}

/// Reads the points of each machine function; `number_at` gives the function at an address of a section.
pub(crate) fn read(
    module: &str,
    file: &ElfFile64<'_, LittleEndian>,
    number_at: impl Fn(usize, u64) -> Option<usize>,
    functions: usize,
) -> Result<Vec<Vec<Point>>, Error> {
    let mut points: Vec<Vec<Point>> = Vec::new();
    points.resize_with(functions, Vec::new);
    let broken = |reason: &str| Error::Internal { module: module.into(), reason: reason.into() };
    for section in file.sections().filter(|s| s.name() == Ok(SECTION)) {
        let data = section.data().map_err(|e| broken(&e.to_string()))?;
        let mut addresses = HashMap::new();
        for (at, relocation) in section.relocations() {
            let RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
            let Ok(symbol) = file.symbol_by_index(symbol) else { continue };
            let address = symbol.address().wrapping_add_signed(relocation.addend());
            if let Some(section) = symbol.section_index() {
                addresses.insert(at, (section.0, address));
            }
        }
        let function_of =
            |at: usize| addresses.get(&(at as u64)).and_then(|&(section, address)| number_at(section, address));
        let found = parse(data, function_of).ok_or_else(|| broken("LLVM wrote a stack map that we cannot read"))?;
        for (function, point) in found {
            points.get_mut(function).ok_or_else(|| broken("a stack map of no function"))?.push(point);
        }
    }
    for points in &mut points {
        points.sort_by_key(|point| point.offset);
    }
    Ok(points)
}

/// `function_of` gives the function whose address stands at an offset of the section.
fn parse(data: &[u8], function_of: impl Fn(usize) -> Option<usize>) -> Option<Vec<(usize, Point)>> {
    let mut input = Input { data, at: 0 };
    if input.bytes::<4>()? != [3, 0, 0, 0] {
        return None;
    }
    let [functions, constants, _] = [input.u32()?, input.u32()?, input.u32()?];
    let mut owners = Vec::new();
    for _ in 0..functions {
        let owner = function_of(input.at);
        input.bytes::<16>()?;
        owners.push((owner, input.u64()?));
    }
    let constants: Vec<u64> = (0..constants).map(|_| input.u64()).collect::<Option<_>>()?;
    let mut points = Vec::new();
    for (owner, records) in owners {
        for _ in 0..records {
            input.u64()?;
            let offset = input.u32()?;
            input.u16()?;
            let locations: Vec<Option<Value>> =
                (0..input.u16()?).map(|_| input.location(&constants)).collect::<Option<_>>()?;
            input.align();
            input.u16()?;
            for _ in 0..input.u16()? {
                input.u32()?;
            }
            input.align();
            points.push((owner?, point(offset, &locations)?));
        }
    }
    Some(points)
}

fn point(offset: u32, locations: &[Option<Value>]) -> Option<Point> {
    let [_, _, Some(Value::Constant(count)), values @ ..] = locations else { return None };
    let values = values.get(..usize::try_from(*count).ok()?)?;
    let (mut registers, mut chain) = (Vec::new(), Vec::new());
    let mut values = values.iter().copied();
    while let Some(function) = values.next() {
        let (Some(Value::Constant(function)), Some(Value::Constant(site))) = (function, values.next()?) else {
            return None;
        };
        let function = u32::try_from(function).ok()?;
        let link = (FunctionId(function & !(IS_ADDRESS | HAS_NONE)), Site(u32::try_from(site).ok()?));
        chain.push(link);
        if function & HAS_NONE != 0 {
            continue;
        }
        let value = if function & IS_ADDRESS == 0 {
            values.next()?
        } else {
            let Some(Value::Constant(first)) = values.next()? else { return None };
            match values.next()? {
                Some(Value::At(place)) => Some(Value::Address(place, first)),
                _ => None, // A constant is no address.
            }
        };
        registers.extend(value.map(|value| Register { link, value }));
    }
    chain.reverse();
    let is_said = chain.iter().all(|link| link.0.0 != NOT_SAID);
    Some(Point { offset, registers, chain: is_said.then_some(chain) })
}

struct Input<'a> {
    data: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.data.get(self.at..self.at + N)?.try_into().ok()?;
        self.at += N;
        Some(bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.bytes().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn align(&mut self) {
        self.at = self.at.next_multiple_of(8);
    }

    /// `Some(None)` for a value that the runtime can't find: in a register that callees need not preserve.
    fn location(&mut self, constants: &[u64]) -> Option<Option<Value>> {
        let [kind, _] = self.bytes()?;
        let (_, register) = (self.u16()?, self.u16()?);
        self.u16()?;
        let number = self.u32()?;
        let register = u8::try_from(register).ok();
        let preserved = |r: &u8| [3, 6, 12, 13, 14, 15].contains(r);
        Some(match kind {
            1 => register.filter(preserved).map(|r| Value::At(RegisterValue::Register(r))),
            // The value is an address of the frame (2), where `carry_on_stack` has stored what is meant, or LLVM has
            // stored it (3).
            2 | 3 => register
                .filter(|r| preserved(r) || *r == 7)
                .map(|r| Value::At(RegisterValue::Memory(r, number.cast_signed()))),
            4 => Some(Value::Constant(i64::from(number.cast_signed()))),
            5 => Some(Value::Constant(constants.get(number as usize)?.cast_signed())),
            _ => None,
        })
    }
}

/// The tables of the unit, as the runtime reads them.
#[derive(Default)]
pub(crate) struct RegisterTable {
    /// Per machine function and one more.
    pub(crate) index: Vec<u32>,
    /// Offset and first value; one more at the end.
    pub(crate) returns: Vec<(u32, u32)>,
    /// Packed values, and behind them long constants.
    pub(crate) values: Vec<u64>,
}

impl RegisterTable {
    /// The tables of all machine functions in order. Empty if there is nothing to look up.
    pub(crate) fn new(functions: &[Vec<Point>]) -> Self {
        let mut table = Self::default();
        let size = |n: usize| u32::try_from(n).expect("fewer than 2^32 return addresses");
        let registers = functions.iter().flatten().map(|point| point.registers.len()).sum::<usize>();
        if registers == 0 {
            return table;
        }
        let mut long: Vec<u64> = Vec::new();
        for points in functions {
            table.index.push(size(table.returns.len()));
            for point in points {
                table.returns.push((point.offset, size(table.values.len())));
                table.values.extend(point.registers.iter().map(|register| {
                    let value = match register.value {
                        Value::At(value) => value,
                        Value::Address(place, first) => {
                            long.extend([place.pack(), first.cast_unsigned()]);
                            RegisterValue::Address(size(registers + long.len() - 2))
                        }
                        Value::Constant(value) => i32::try_from(value).map_or_else(
                            |_| {
                                long.push(value.cast_unsigned());
                                RegisterValue::LongConstant(size(registers + long.len() - 1))
                            },
                            RegisterValue::Constant,
                        ),
                    };
                    value.pack()
                }));
            }
        }
        table.index.push(size(table.returns.len()));
        table.returns.push((0, size(table.values.len())));
        table.values.extend(long);
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point_of(values: &[Option<Value>]) -> Option<Point> {
        let constant = |n: i64| Some(Value::Constant(n));
        let head = [constant(0), constant(0), constant(values.len() as i64)];
        point(0, &[&head, values].concat())
    }

    fn registers_of(values: &[Option<Value>]) -> Option<Vec<Register>> {
        point_of(values).map(|point| point.registers)
    }

    #[test]
    fn chains_have_links_without_registers() {
        let constant = |n: u32| Some(Value::Constant(n.into()));
        let rbx = Value::At(RegisterValue::Register(3));
        let values = [constant(5 | HAS_NONE), constant(1), constant(6), constant(2), Some(rbx), constant(7 | HAS_NONE)];
        let register = Register { link: (FunctionId(6), Site(2)), value: rbx };
        let chain = vec![(FunctionId(7), Site(0)), (FunctionId(6), Site(2)), (FunctionId(5), Site(1))];
        let point = point_of(&[&values[..], &[constant(0)]].concat()).unwrap();
        assert_eq!((point.registers, point.chain), (vec![register], Some(chain)));
        let unknown = [constant(NOT_SAID | HAS_NONE), constant(0)];
        let point = point_of(&[&values[2..5], &unknown].concat()).unwrap();
        assert_eq!((point.registers, point.chain), (vec![register], None));
        assert!(point_of(&values).is_none());
    }

    #[test]
    fn numbers_and_addresses_stand_side_by_side() {
        let constant = |n: i64| Some(Value::Constant(n));
        let (rbx, stack) = (RegisterValue::Register(3), RegisterValue::Memory(7, 24));
        let address = constant(i64::from(7 | IS_ADDRESS));
        let inlined: [&[Option<Value>]; 3] = [
            &[constant(5), constant(1), Some(Value::At(rbx))],
            &[address, constant(2), constant(4000), Some(Value::At(stack))],
            &[constant(9), constant(3), constant(-1)],
        ];
        let known = |function, site, value| Register { link: (FunctionId(function), Site(site)), value };
        let all =
            [known(5, 1, Value::At(rbx)), known(7, 2, Value::Address(stack, 4000)), known(9, 3, Value::Constant(-1))];
        assert_eq!(registers_of(&inlined.concat()).as_deref(), Some(&all[..]));
        // Values without a place are left out, and so is an address that would be the same in every run.
        assert_eq!(registers_of(&[address, constant(2), constant(4000), None]), Some(Vec::new()));
        assert_eq!(registers_of(&[address, constant(2), constant(4000), constant(0)]), Some(Vec::new()));
        assert_eq!(registers_of(&inlined[1][..3]), None);
        let point = |offset, registers: &[Register]| Point { offset, registers: registers.to_vec(), chain: None };
        let table = RegisterTable::new(&[vec![point(8, &all[..1]), point(16, &all[1..])], Vec::new()]);
        assert_eq!((table.index, table.returns), (vec![0, 2, 2], vec![(8, 0), (16, 1), (0, 3)]));
        let packed = [rbx, RegisterValue::Address(3), RegisterValue::Constant(-1), stack].map(RegisterValue::pack);
        assert_eq!(table.values, [packed.as_slice(), &[4000]].concat());
        assert_eq!(RegisterValue::unpack(packed[1]), Some(RegisterValue::Address(3)));
    }
}
