//! A module that is machine code.

use super::instrumented::InstrumentedModule;
use super::job::LinkJob;
use crate::emit::code_map;
use crate::emit::stack_maps::Point;
use crate::emit::{self, Target};
use crate::error::Error;
use cotree_core::ids::FunctionId;
use cotree_profile::binary::{CodeFunction, Origin};
use std::collections::HashMap;

/// A compiled module.
pub(super) struct BuiltModule {
    pub(super) name: String,
    pub(super) object: Vec<u8>,
    pub(super) code: Vec<CodeFunction>,
    /// Where path registers are.
    pub(super) registers: Vec<Vec<Point>>,
    /// Functions whose call addresses are not known.
    pub(super) unmapped: Vec<FunctionId>,
    /// Counters of entries whose increments tell which thread runs.
    pub(super) thread_word_counters: Vec<u64>,
    /// The module's debug information is there for reports only, which have it in the map.
    pub(super) lines_for_reports_only: bool,
    /// Functions whose calls note nothing, because LLVM crashes over that.
    pub(super) without_notes: Vec<String>,
}

impl InstrumentedModule {
    /// Compiles it, and reads back where its calls are.
    pub(super) fn compile(self, job: &LinkJob<'_>, target: &Target) -> Result<BuiltModule, Error> {
        let Self { mut module, contents } = self;
        let number = contents.members[0];
        let function_of: HashMap<&str, FunctionId> =
            contents.symbols.iter().map(|(function, symbol)| (symbol.as_str(), *function)).collect();
        let origin_of = |symbol: &str| match contents.members[..] {
            [only] => Origin::Module(u32::try_from(only).unwrap_or(u32::MAX)),
            _ => Origin::Function(function_of.get(symbol).copied()),
        };
        let object = emit::compile(&mut module, target, &|symbol| origin_of(symbol).pack())?;
        job.keep(&format!("{number}.final.ll"), &module)?;
        let symbols: HashMap<FunctionId, &str> =
            contents.symbols.iter().map(|(function, symbol)| (*function, symbol.as_str())).collect();
        let symbol_of = |function: FunctionId| symbols.get(&function).copied();
        let calls = code_map::read(&module.name, &object.bytes, &object.functions, &contents.sites, symbol_of)?;
        let unmapped: Vec<&str> = calls.unmapped.iter().map(|&n| object.functions[n].as_str()).collect();
        let of_these = |(function, symbol): &(FunctionId, String)| unmapped.contains(&&**symbol).then_some(*function);
        let unmapped = contents.symbols.iter().filter_map(of_these).collect();
        let name = module.name.clone();
        if job.request.modules.len() <= rayon::current_num_threads() || contents.members.len() > 1 {
            // The process ends soon: taking a large module apart piece by piece would cost a tenth of the link.
            std::mem::forget(module);
        }
        let (code, registers, without_notes) = (calls.functions, calls.registers, object.without_notes);
        Ok(BuiltModule {
            name,
            object: object.bytes,
            code,
            registers,
            unmapped,
            thread_word_counters: contents.thread_word_counters,
            lines_for_reports_only: contents.lines_for_reports_only,
            without_notes,
        })
    }
}
