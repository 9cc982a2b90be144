//! `cotree plan --explain`: explains what is counted in a function, where, and why there.

mod code;
mod method;

use code::Code;
use cotree_core::facts::ProgramMap;
use cotree_core::facts::hints::Hints;
use cotree_core::place::affine::AffineVariable;
use cotree_core::profile::FunctionProfile;
use cotree_core::unit::UnitPlan;
use cotree_core::weight::weighting::Weighting;
use cotree_llvm::options::Options;
use cotree_llvm::standalone::{BitcodeFacts, PlannedFiles, plan_files};
use cotree_options::BuildOptions;
use cotree_profile::binary::BinaryFile;
use cotree_report::names::matches;
use cotree_report::unit::untouched_reason;
use miette::{Result, miette};
use std::fmt::Write;
use std::path::PathBuf;

/// A planned program.
pub struct Planned {
    program: ProgramMap,
    plan: UnitPlan,
    /// What the code of each function says about its branches; empty for a binary.
    hints: Vec<Hints>,
    /// Each function's loop variables that could count; empty for a binary.
    variables: Vec<Vec<AffineVariable>>,
    /// The counts that guided the placement of counters; empty for a binary.
    previous: Vec<Option<FunctionProfile>>,
    /// Are counters that are expected to run rarely kept out of line? A binary does not record this.
    hints_branches: bool,
}

impl Planned {
    /// Reads a profiled binary with its plan, or plans bitcode with these options.
    pub fn open(files: &[PathBuf], options: &BuildOptions) -> Result<Self> {
        if let [only] = files
            && super::is_elf(only)
            && let Ok(binary) = BinaryFile::open(only)
        {
            let map = binary.into_map();
            return Ok(Self {
                program: map.program,
                plan: map.plan,
                hints: Vec::new(),
                variables: Vec::new(),
                previous: Vec::new(),
                hints_branches: false,
            });
        }
        let options = Options::new(options.clone()).map_err(super::into_report)?;
        let PlannedFiles { facts, plan, previous } = plan_files(files, &options).map_err(super::into_report)?;
        let BitcodeFacts { program, hints, variables } = facts;
        Ok(Self { program, plan, hints, variables, previous, hints_branches: options.hints_branches() })
    }

    /// The explanation of all functions that match.
    pub fn explain(&self, pattern: &str) -> Result<String> {
        let mut text = String::new();
        for (number, (_, function)) in self.program.functions().enumerate() {
            let Some(cfg) = function.cfg().ok().filter(|_| matches(pattern, &function.symbol)) else { continue };
            if !text.is_empty() {
                text.push('\n');
            }
            let (blocks, edges) = (function.blocks.len(), function.edges.len());
            writeln!(text, "{}: {blocks} blocks, {edges} edges", function.symbol)
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

    /// How often the function's edges were expected to run when it was planned.
    fn weighting(&self, number: usize, Code { function, cfg }: Code<'_>) -> Weighting {
        let no_hints = Hints::default();
        let hints = self.hints.get(number).unwrap_or(&no_hints);
        let previous = self.previous.get(number).and_then(Option::as_ref);
        Weighting::from_previous(function, cfg, Some(hints), previous)
    }
}
