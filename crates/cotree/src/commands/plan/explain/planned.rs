//! What is explained: a program and its plan.

use super::code::Code;
use crate::commands::into_report;
use crate::commands::plan::files::is_elf;
use cotree_core::facts::ProgramMap;
use cotree_core::facts::hints::Hints;
use cotree_core::place::affine::AffineVariable;
use cotree_core::profile::FunctionProfile;
use cotree_core::unit::UnitPlan;
use cotree_core::weight::weighting::Weighting;
use cotree_llvm::options::LinkOptions;
use cotree_llvm::standalone::{BitcodeFacts, PlannedFiles, plan_files, refuse_damaged_files};
use cotree_options::BuildOptions;
use cotree_profile::binary::BinaryFile;
use cotree_report::visible;
use miette::Result;
use std::path::PathBuf;

/// A planned program.
pub struct Planned {
    pub(super) program: ProgramMap,
    pub(super) plan: UnitPlan,
    /// What the code of each function says about its branches; empty for a binary.
    pub(super) hints: Vec<Hints>,
    /// Each function's loop variables that could count; empty for a binary.
    pub(super) variables: Vec<Vec<AffineVariable>>,
    /// The counts that guided the placement of counters; empty for a binary.
    pub(super) previous: Vec<Option<FunctionProfile>>,
    /// Are counters that are expected to run rarely kept out of line? A binary does not record this.
    pub(super) hints_branches: bool,
}

impl Planned {
    /// Reads a profiled binary with its plan, or plans bitcode with these options.
    pub fn open(files: &[PathBuf], options: &BuildOptions) -> Result<Self> {
        if let [only] = files
            && is_elf(only)
            && let Ok(binary) = BinaryFile::open(only)
        {
            let mut map = binary.into_map();
            map.program.for_each_text(visible::show);
            return Ok(Self {
                program: map.program,
                plan: map.plan,
                hints: Vec::new(),
                variables: Vec::new(),
                previous: Vec::new(),
                hints_branches: false,
            });
        }
        let options = LinkOptions::new(options.clone()).map_err(into_report)?;
        refuse_damaged_files(files).map_err(into_report)?;
        let PlannedFiles { facts, plan, previous } = plan_files(files, &options).map_err(into_report)?;
        let BitcodeFacts { mut program, hints, variables } = facts;
        program.for_each_text(visible::show);
        Ok(Self { program, plan, hints, variables, previous, hints_branches: options.hints_branches() })
    }

    /// How often the function's edges were expected to run when it was planned.
    pub(super) fn weighting(&self, number: usize, Code { function, cfg }: Code<'_>) -> Weighting {
        let no_hints = Hints::default();
        let hints = self.hints.get(number).unwrap_or(&no_hints);
        let previous = self.previous.get(number).and_then(Option::as_ref);
        Weighting::from_previous(function, cfg, Some(hints), previous)
    }
}
