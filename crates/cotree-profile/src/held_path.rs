//! On which path the code was that a signal interrupted: by the notes of the build in the debug information
//! ([`crate::path_notes`]) and what was in registers and on the stack.
//!
//! Debug information of optimised code can be wrong about variables, where instructions have moved or were merged. So
//! the path is believed only where the variables say the very stretch that the line table says of the instruction.

use crate::path_notes::{
    self, ADDRESS_SHIFT, COMPLETIONS, COMPLETIONS_REGISTER, FACTOR, FACTOR_REGISTER, HALVES, HIGH_SHIFT, Note, REGISTER,
};
use addr2line::gimli::{
    AttributeValue, DW_AT_abstract_origin, DW_AT_const_value, DW_AT_frame_base, DW_AT_location, DW_AT_name,
    DebuggingInformationEntry, Dwarf, EndianSlice, EvaluationResult, Expression, Location, RunTimeEndian, Unit,
    UnitOffset, Value, constants,
};
use cotree_core::ids::FunctionId;
use cotree_rt::layout::{COUNTERS_ADDRESS, FIRST_ADDRESS, MACHINE_REGISTER, StackEntry};

type Reader<'a> = EndianSlice<'a, RunTimeEndian>;
type Entry<'a, 'u> = DebuggingInformationEntry<'u, 'u, Reader<'a>>;

/// An expression of more steps is none of ours.
const MOST_STEPS: u32 = 1000;
/// The registers that DWARF numbers in a frame.
const REGISTERS: u64 = 16;

/// Where an instruction is from, and the path that led there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldPath {
    /// The function that was profiled, which may have been inlined.
    pub function: FunctionId,
    /// The number of the stretch among those of the function ([`cotree_core::facts::stretches`]).
    pub stretch: usize,
    /// The number of the beginning of the path that ends with the stretch; `None` where the path has been counted.
    pub beginning: Option<u64>,
}

/// What the code had in registers and on its stack, as the runtime has written it down.
#[derive(Clone, Copy)]
pub(crate) struct Machine<'a>(pub &'a [StackEntry]);

impl Machine<'_> {
    fn get(self, register: u64) -> Option<u64> {
        self.0.iter().find(|entry| entry.register == register).map(|entry| entry.value)
    }

    fn register(self, number: u16) -> Option<u64> {
        let number = u64::from(number);
        if number < REGISTERS { self.get(MACHINE_REGISTER + number) } else { None }
    }

    fn word(self, address: u64) -> Option<u64> {
        if address < FIRST_ADDRESS { None } else { self.get(address) }
    }
}

/// The path of the code at an instruction; `None` where the machine code does not hold it.
pub(crate) fn find(dwarf: &Dwarf<Reader<'_>>, address: u64, machine: Machine<'_>) -> Option<HeldPath> {
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        if let Some(row) = row_at(&unit, address) {
            let block = path_notes::block_of(row)?;
            return in_unit(dwarf, &unit, address, block, machine);
        }
    }
    None
}

/// The discriminator of the row of an instruction, if the unit has one.
fn row_at(unit: &Unit<Reader<'_>>, address: u64) -> Option<u64> {
    let mut rows = unit.line_program.clone()?.rows();
    let mut before: Option<(u64, u64)> = None;
    while let Ok(Some((_, row))) = rows.next_row() {
        if let Some((start, discriminator)) = before
            && start <= address
            && address < row.address()
        {
            return Some(discriminator);
        }
        before = (!row.end_sequence()).then(|| (row.address(), row.discriminator()));
    }
    None
}

/// A function around the instruction, or one that is inlined there.
struct Scope {
    /// The entry that says what the scope is of.
    origin: UnitOffset,
    /// The notes among its variables, with their offsets.
    notes: Vec<(UnitOffset, String)>,
}

fn in_unit(
    dwarf: &Dwarf<Reader<'_>>,
    unit: &Unit<Reader<'_>>,
    address: u64,
    block: u32,
    machine: Machine<'_>,
) -> Option<HeldPath> {
    let (scopes, frame_base) = scopes_at(dwarf, unit, address)?;
    for (inner, scope) in scopes.iter().enumerate().rev() {
        let variable = |wanted: &dyn Fn(&str) -> bool| {
            let mut found = scope.notes.iter().filter(|(_, name)| wanted(name));
            found.next().filter(|_| found.next().is_none())
        };
        let Some((at, name)) = variable(&|name| path_notes::parse(name).is_some()) else { continue };
        let (function, first, shift) = path_notes::parse(name)?;
        // Of an inner activation of the function nothing may be left that says its path.
        if scopes[inner + 1..].iter().any(|other| other.origin == scope.origin) {
            return None;
        }
        let evaluator = Evaluator { dwarf, unit, address, machine, frame_base };
        let stretch = usize::try_from(block.checked_sub(first)?).ok()?;
        let named = |wanted: &str| variable(&|name| name == wanted).map(|(at, _)| *at);
        if shift == HALVES {
            let Some(number) = (Halves { evaluator, named: &named, block }).number(name) else { continue };
            return Some(HeldPath { function, stretch, beginning: Some(number) });
        }
        let Some(mut value) = evaluator.variable(*at) else { continue };
        let register = variable(&|name| name == REGISTER);
        if let (Some((Note::Register(_), _)), Some((at, _))) = (Note::unpack(value), register) {
            value = value.wrapping_add(evaluator.variable(*at)? << shift);
        }
        if shift == ADDRESS_SHIFT && value >> 24 & 3 == 0 {
            value = value.wrapping_sub(machine.get(COUNTERS_ADDRESS)? << shift);
        }
        let (note, said) = Note::unpack(value)?;
        if said != block {
            continue;
        }
        let beginning = match note {
            Note::Register(number) => Some(number.cast_unsigned()),
            Note::Known(number) => Some(number),
            Note::Counted => None,
            Note::Product(_) => return None,
        };
        return Some(HeldPath { function, stretch, beginning });
    }
    None
}

/// Notes of numbers in two halves.
struct Halves<'e, 'a, 'u> {
    evaluator: Evaluator<'a, 'u>,
    /// The variable of a name, if there is one.
    named: &'e dyn Fn(&str) -> Option<UnitOffset>,
    /// The stretch that the line table says.
    block: u32,
}

impl Halves<'_, '_, '_> {
    /// The number of the path, by the name of its variable; `None` where not all notes are of this stretch.
    fn number(&self, name: &str) -> Option<u64> {
        match self.noted(name)? {
            Note::Known(number) => Some(number),
            Note::Register(sum) => self.and_register(sum, REGISTER),
            Note::Product(sum) => {
                let factor = |name, register| match self.noted(name)? {
                    Note::Register(factor) => self.and_register(factor, register),
                    _ => None,
                };
                let product = factor(FACTOR, FACTOR_REGISTER)?.wrapping_mul(factor(COMPLETIONS, COMPLETIONS_REGISTER)?);
                Some(self.and_register(sum, REGISTER)?.wrapping_add(product))
            }
            Note::Counted => None,
        }
    }

    /// The note in two halves.
    fn noted(&self, name: &str) -> Option<Note> {
        let half = |name: &str| {
            let (note, stretch) = Note::unpack(self.evaluator.variable((self.named)(name)?)?)?;
            (stretch == self.block).then_some(note)
        };
        let (low, high) = (half(name)?, half(&path_notes::high(name))?);
        (low.with(0) == high.with(0)).then(|| low.with(low.number() | high.number() << HIGH_SHIFT))
    }

    /// A number with the register that belongs to it, in functions that are compiled as they are written.
    fn and_register(&self, number: i64, register: &str) -> Option<u64> {
        let number = number.cast_unsigned();
        match (self.named)(register) {
            Some(at) => Some(number.wrapping_add(self.evaluator.variable(at)?)),
            None => Some(number),
        }
    }
}

/// The functions that the instruction is in, outermost first, and the frame base of the outermost one.
fn scopes_at<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    unit: &Unit<Reader<'a>>,
    address: u64,
) -> Option<(Vec<Scope>, Option<Expression<Reader<'a>>>)> {
    let mut scopes: Vec<Scope> = Vec::new();
    let mut frame_base = None;
    // Per level of the tree from the root on, whether the entry there is around the instruction.
    let mut around: Vec<bool> = Vec::new();
    let mut entries = unit.entries();
    let mut depth = 0isize;
    while let Ok(Some((delta, entry))) = entries.next_dfs() {
        depth += delta;
        let level = usize::try_from(depth).ok()?;
        around.truncate(level);
        let outside = around.last().is_some_and(|&inside| !inside);
        let is_scope = matches!(entry.tag(), constants::DW_TAG_subprogram | constants::DW_TAG_inlined_subroutine);
        let has_code = is_scope || entry.tag() == constants::DW_TAG_lexical_block;
        let inside = if has_code {
            (!outside || entry.tag() == constants::DW_TAG_subprogram) && contains(dwarf, unit, entry, address)
        } else {
            level == 0
        };
        if inside && is_scope {
            if entry.tag() == constants::DW_TAG_subprogram {
                // Functions do not overlap, whatever the file says.
                if !scopes.is_empty() {
                    return None;
                }
                frame_base = entry.attr_value(DW_AT_frame_base).ok()?.and_then(|value| value.exprloc_value());
            }
            let origin = match entry.attr_value(DW_AT_abstract_origin).ok()? {
                Some(AttributeValue::UnitRef(origin)) => origin,
                Some(AttributeValue::DebugInfoRef(origin)) => origin.to_unit_offset(&unit.header)?,
                _ => entry.offset(),
            };
            scopes.push(Scope { origin, notes: Vec::new() });
        }
        if entry.tag() == constants::DW_TAG_variable
            && around.last() == Some(&true)
            && let Some(scope) = scopes.last_mut()
            && let Some(name) = name_of(dwarf, unit, entry)
            && name.starts_with("__cotree_path_")
        {
            scope.notes.push((entry.offset(), name));
        }
        around.push(inside);
    }
    Some((scopes, frame_base))
}

fn name_of(dwarf: &Dwarf<Reader<'_>>, unit: &Unit<Reader<'_>>, entry: &Entry<'_, '_>) -> Option<String> {
    let text = |value| Some(dwarf.attr_string(unit, value).ok()?.to_string_lossy().into_owned());
    if let Some(name) = entry.attr_value(DW_AT_name).ok()? {
        return text(name);
    }
    let AttributeValue::UnitRef(origin) = entry.attr_value(DW_AT_abstract_origin).ok()?? else { return None };
    text(unit.entry(origin).ok()?.attr_value(DW_AT_name).ok()??)
}

fn contains(dwarf: &Dwarf<Reader<'_>>, unit: &Unit<Reader<'_>>, entry: &Entry<'_, '_>, address: u64) -> bool {
    let Ok(mut ranges) = dwarf.die_ranges(unit, entry) else { return false };
    while let Ok(Some(range)) = ranges.next() {
        if range.begin <= address && address < range.end {
            return true;
        }
    }
    false
}

struct Evaluator<'a, 'u> {
    dwarf: &'u Dwarf<Reader<'a>>,
    unit: &'u Unit<Reader<'a>>,
    address: u64,
    machine: Machine<'u>,
    frame_base: Option<Expression<Reader<'a>>>,
}

impl<'a> Evaluator<'a, '_> {
    /// The value of a variable at the instruction.
    fn variable(&self, at: UnitOffset) -> Option<u64> {
        let entry = self.unit.entry(at).ok()?;
        match entry.attr_value(DW_AT_const_value).ok()? {
            None => {}
            Some(AttributeValue::Sdata(value)) => return Some(value.cast_unsigned()),
            Some(value) => return value.udata_value(),
        }
        let location = entry.attr_value(DW_AT_location).ok()??;
        if let Some(expression) = location.exprloc_value() {
            return self.value(expression, true);
        }
        let mut list = self.dwarf.attr_locations(self.unit, location).ok()??;
        let mut found = None;
        while let Some(entry) = list.next().ok()? {
            if entry.range.begin <= self.address && self.address < entry.range.end {
                // Only one may hold.
                if found.replace(entry.data).is_some() {
                    return None;
                }
            }
        }
        self.value(found?, true)
    }

    /// What an expression says that the value is.
    fn value(&self, expression: Expression<Reader<'a>>, in_frame: bool) -> Option<u64> {
        let mut evaluation = expression.evaluation(self.unit.encoding());
        evaluation.set_max_iterations(MOST_STEPS);
        let mut state = evaluation.evaluate().ok()?;
        loop {
            state = match state {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = self.machine.register(register.0)?;
                    evaluation.resume_with_register(Value::Generic(value)).ok()?
                }
                EvaluationResult::RequiresFrameBase if in_frame => {
                    evaluation.resume_with_frame_base(self.value(self.frame_base?, false)?).ok()?
                }
                EvaluationResult::RequiresMemory { address, size: 8, space: None, .. } => {
                    evaluation.resume_with_memory(Value::Generic(self.machine.word(address)?)).ok()?
                }
                _ => return None,
            };
        }
        let [piece] = evaluation.as_result() else { return None };
        if piece.size_in_bits.is_some() || piece.bit_offset.is_some() {
            return None;
        }
        match piece.location {
            Location::Register { register } => self.machine.register(register.0),
            Location::Address { address } if in_frame => self.machine.word(address),
            Location::Value { value } => value.to_u64(u64::MAX).ok(),
            _ => None,
        }
    }
}
