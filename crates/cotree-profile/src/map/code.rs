//! The code map: return offsets and the call sites under way at them.

use super::MapError;
use super::plan::RegisterPrediction;
use super::sections::Stream;
use crate::binary::{CodeFunction, CodeMap, ReturnPoint};
use crate::wire::streams::{Reader, Writer};
use cotree_core::ids::{FunctionId, Site};
use std::collections::HashMap;

pub(super) fn write(code: &CodeMap, registers: &RegisterPrediction<'_>, w: &mut Writer) {
    w.put(Stream::CodeCount, code.functions.len() as u64);
    let mut steps = Steps::default();
    let listed = registers.are_listed(code);
    for function in &code.functions {
        w.put(Stream::Code, u64::from(function.size));
        w.put(Stream::Code, function.returns.len() as u64);
        let mut offset = 0;
        for point in &function.returns {
            w.put_step(Stream::Return, offset, point.offset);
            offset = point.offset;
            w.put(Stream::Chain, point.chain.len() as u64);
            // Outermost first: it is the function that the code belongs to, and the most predictable.
            for &(function, site) in point.chain.iter().rev() {
                w.put_step(Stream::Chain, steps.function.0, function.0);
                w.put_step(Stream::Chain, steps.expect(function), site.0);
                steps.note(function, site);
            }
            if listed {
                registers.write(point, w);
            }
        }
    }
}

pub(super) fn read(r: &mut Reader<'_>, registers: &RegisterPrediction<'_>) -> Result<CodeMap, MapError> {
    let count = r.get_count(Stream::CodeCount, Stream::Code)?;
    let mut functions = Vec::with_capacity(count);
    let mut steps = Steps::default();
    for _ in 0..count {
        let size = r.get_u32(Stream::Code)?;
        let points = r.get_count(Stream::Code, Stream::Return)?;
        let mut returns = Vec::with_capacity(points);
        let mut offset = 0;
        for _ in 0..points {
            offset = r.get_step(Stream::Return, offset)?;
            let links = r.get_count(Stream::Chain, Stream::Chain)?;
            let mut chain = Vec::with_capacity(links.min(16));
            for _ in 0..links {
                let function = FunctionId(r.get_step(Stream::Chain, steps.function.0)?);
                let site = Site(r.get_step(Stream::Chain, steps.expect(function))?);
                steps.note(function, site);
                chain.push((function, site));
            }
            chain.reverse();
            let registers = registers.read(&chain, r)?;
            returns.push(ReturnPoint { offset, chain, registers });
        }
        functions.push(CodeFunction { size, returns });
    }
    Ok(CodeMap { functions })
}

/// Predicts the next link: the same function, the site after its last one.
#[derive(Default)]
struct Steps {
    function: FunctionId,
    next_site: HashMap<FunctionId, u32>,
}

impl Steps {
    fn expect(&self, function: FunctionId) -> u32 {
        self.next_site.get(&function).copied().unwrap_or(0)
    }

    fn note(&mut self, function: FunctionId, site: Site) {
        self.function = function;
        self.next_site.insert(function, site.0.wrapping_add(1));
    }
}
