//! `cotree plan --explain`: explains what is counted in a function, where, and why there.

mod code;
mod method;
mod planned;

pub use planned::Planned;

use code::Code;
use cotree_report::names::{Names, matches};
use cotree_report::unit::untouched_reason;
use miette::{Result, miette};
use std::fmt::Write;

impl Planned {
    /// The explanation of all functions that match.
    pub fn explain(&self, pattern: &str) -> Result<String> {
        let mut text = String::new();
        for (number, (_, function)) in self.program.functions().enumerate() {
            let Some(cfg) = function.cfg().ok().filter(|_| matches(pattern, &function.symbol)) else { continue };
            if !text.is_empty() {
                text.push('\n');
            }
            let (blocks, edges) = (function.blocks.len(), function.edges.len());
            writeln!(text, "{}: {blocks} blocks, {edges} edges", Names::Demangled.show(&function.symbol))
                .and_then(|()| self.write_function(number, Code { function, cfg: &cfg }, &mut text))
                .expect("writing to memory");
        }
        if text.is_empty() {
            return Err(miette!("no function matches {pattern}"));
        }
        Ok(text)
    }

    fn write_function(&self, number: usize, code: Code<'_>, out: &mut String) -> std::fmt::Result {
        if let Some(untouched) = code.function.untouched {
            return writeln!(out, "  no probes: {}", untouched_reason(untouched));
        }
        method::write(self, number, code, out)
    }
}
