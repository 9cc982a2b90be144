//! Decodes the record of a function: its files, expressions and regions.

use super::bytes::Bytes;
use super::counters::{Counter, Expression, Expressions, Operation};
use super::error::CoverageFault;
use super::expansions;
use super::function::{Region, RegionKind, SourceFile, VirtualFile};
use super::place::Place;

/// The two lowest bits of an encoded counter say what it is.
const TAG_BITS: u32 = 2;
/// Set beside the tag of zero: the region is an expansion.
const EXPANSION: u32 = 1 << TAG_BITS;
/// Set in the last column: the region is a gap.
const GAP: u32 = 1 << 31;
/// Numbers of conditions, plus one, are smaller.
const CONDITIONS: u32 = i16::MAX as u32;

/// What a record has decoded to.
pub(super) struct Decoded {
    pub(super) files: Vec<SourceFile>,
    pub(super) expressions: Expressions,
    pub(super) regions: Vec<Region>,
}

/// Decodes a record whose compilation has these files.
pub(super) fn decode(mapping: &[u8], of_compilation: &[SourceFile]) -> Result<Decoded, CoverageFault> {
    let mut bytes = Bytes::new(mapping, true, "the record");
    let mut files = Vec::new();
    for _ in 0..bytes.count()? {
        let index = bytes.below(u32::MAX, "a file is not there")?;
        files.push(*of_compilation.get(index as usize).ok_or(CoverageFault::Invalid("a file is not there"))?);
    }
    let count = bytes.count()?;
    let mut decoder = Decoder { bytes, files: files.len(), operations: vec![None; count] };
    let mut operands = Vec::new();
    for _ in 0..count {
        operands.push((decoder.counter()?, decoder.counter()?));
    }
    let mut regions = Vec::new();
    for file in (0..).map(VirtualFile).take(files.len()) {
        let mut line = 0;
        for _ in 0..decoder.bytes.count()? {
            let region = decoder.region(file, line)?;
            line = region.start.line;
            regions.push(region);
        }
    }
    // Whether an expression is a sum or a difference is told where it is used; what nobody uses may be either.
    let expressions = decoder.operations.iter().zip(operands).map(|(operation, (left, right))| Expression {
        operation: operation.unwrap_or(Operation::Subtract),
        left,
        right,
    });
    let expressions = Expressions::new(expressions.collect())?;
    expansions::count(&mut regions, files.len())?;
    Ok(Decoded { files, expressions, regions })
}

struct Decoder<'d> {
    bytes: Bytes<'d>,
    /// How many files the function has.
    files: usize,
    /// What each expression is, as far as it has been used.
    operations: Vec<Option<Operation>>,
}

impl Decoder<'_> {
    fn counter(&mut self) -> Result<Counter, CoverageFault> {
        let encoded = self.bytes.below(u32::MAX, "a counter is too large")?;
        self.decoded(encoded)
    }

    fn decoded(&mut self, encoded: u32) -> Result<Counter, CoverageFault> {
        let number = encoded >> TAG_BITS;
        let operation = match encoded & ((1 << TAG_BITS) - 1) {
            0 => return Ok(Counter::Zero),
            1 => return Ok(Counter::Value(number)),
            2 => Operation::Subtract,
            _ => Operation::Add,
        };
        let known =
            self.operations.get_mut(number as usize).ok_or(CoverageFault::Invalid("an expression is not there"))?;
        if *known.get_or_insert(operation) != operation {
            return Err(CoverageFault::Invalid("an expression is both a sum and a difference"));
        }
        Ok(Counter::Expression(number))
    }

    /// Decodes a region; `line` is that of the region before.
    fn region(&mut self, file: VirtualFile, line: u32) -> Result<Region, CoverageFault> {
        const TOO_FAR: CoverageFault = CoverageFault::Invalid("a region is in no line that a file can have");
        let mut kind = self.kind()?;
        let line = line.checked_add(self.bytes.below(u32::MAX, "a line is too large")?).ok_or(TOO_FAR)?;
        let mut start = Place { line, column: self.bytes.below(u32::MAX, "a column is too large")? };
        let lines = self.bytes.below(u32::MAX, "a line is too large")?;
        let end_column = self.bytes.below(u32::MAX, "a column is too large")?;
        let mut end = Place { line: line.checked_add(lines).ok_or(TOO_FAR)?, column: end_column & !GAP };
        if end_column & GAP != 0 {
            kind = RegionKind::Gap(match kind {
                RegionKind::Code(counter) => counter,
                RegionKind::Branch { taken, .. } | RegionKind::Condition { taken, .. } => taken,
                _ => Counter::Zero,
            });
        }
        // Whole lines.
        if start.column == 0 && end.column == 0 {
            (start.column, end.column) = (1, u32::MAX);
        }
        if end < start {
            return Err(CoverageFault::Invalid("a region ends before it begins"));
        }
        Ok(Region { file, start, end, kind })
    }

    fn kind(&mut self) -> Result<RegionKind, CoverageFault> {
        let encoded = self.bytes.below(u32::MAX, "a counter is too large")?;
        if encoded & ((1 << TAG_BITS) - 1) != 0 {
            return Ok(RegionKind::Code(self.decoded(encoded)?));
        }
        let what = encoded >> (TAG_BITS + 1);
        if encoded & EXPANSION != 0 {
            if what as usize >= self.files {
                return Err(CoverageFault::Invalid("an expansion leads to a file that is not there"));
            }
            return Ok(RegionKind::Expansion { into: VirtualFile(what), count: Counter::Zero });
        }
        Ok(match what {
            0 => RegionKind::Code(Counter::Zero),
            2 => RegionKind::Skipped,
            4 => RegionKind::Branch { taken: self.counter()?, not_taken: self.counter()? },
            5 => RegionKind::Decision {
                bitmap: self.bytes.below(u32::MAX, "a bitmap is too large")?,
                conditions: self.condition()?,
            },
            6 => {
                let (taken, not_taken) = (self.counter()?, self.counter()?);
                let number = self.condition()?.checked_sub(1);
                RegionKind::Condition {
                    taken,
                    not_taken,
                    number: number.ok_or(CoverageFault::Invalid("a condition has no number"))?,
                    if_true: self.condition()?.checked_sub(1),
                    if_false: self.condition()?.checked_sub(1),
                }
            }
            _ => return Err(CoverageFault::Invalid("a region is of no known kind")),
        })
    }

    fn condition(&mut self) -> Result<u16, CoverageFault> {
        let number = self.bytes.below(CONDITIONS, "a decision has too many conditions")?;
        Ok(u16::try_from(number).expect("it is below 2^15"))
    }
}
