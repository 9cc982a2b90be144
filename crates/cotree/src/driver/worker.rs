//! The two jobs that the linker plugin starts `cotree` for: to do one link, and to rewrite bitcode.

use super::embedded;
use cotree_core::method::Method;
use cotree_llvm::{JobModule, JobSymbol, LinkJob, Module, NativeObject, OutputKind, Resolution};
use cotree_lto::protocol::{self, LinkRequest, LinkResponse};
use cotree_lto::worker::reason_file;
use miette::{IntoDiagnostic, Result, WrapErr};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// `cotree lto-link REQUEST`: does the link and writes the answer beside the request. Errors are part of the
/// answer, so that the linker reports them.
pub fn link(request: &Path) -> Result<ExitCode> {
    let json = fs::read(request).into_diagnostic().wrap_err_with(|| format!("can't read {}", request.display()))?;
    let request: LinkRequest =
        serde_json::from_slice(&json).into_diagnostic().wrap_err("the linker plugin is not of this cotree's build")?;
    let (response, status) = match perform(&request) {
        Ok(response) => (response, ExitCode::SUCCESS),
        Err(error) => (LinkResponse { error: Some(error.to_string()), ..LinkResponse::default() }, ExitCode::FAILURE),
    };
    let path = request.work_dir.join("response.json");
    let json = serde_json::to_vec(&response).into_diagnostic()?;
    fs::write(&path, json).into_diagnostic().wrap_err_with(|| format!("can't write {}", path.display()))?;
    Ok(status)
}

fn perform(request: &LinkRequest) -> Result<LinkResponse, cotree_llvm::Error> {
    let mut options = cotree_llvm::options::Options::parse(&request.options)?;
    let mut warnings = Vec::new();
    if request.kind == protocol::OutputKind::Relocatable && !options.method.is_none() {
        // Two such objects in one program would be two link units that define the same names.
        options.method = Method::None;
        warnings.push(format!(
            "{} is a partial link (-r): its code is compiled without counters and is not in the profile",
            request.output.display()
        ));
    }
    let runtime = embedded::runtime(request.kind, request.is_static, options.has_counters_alone());
    let job = LinkJob {
        output: request.output.clone(),
        kind: match request.kind {
            protocol::OutputKind::Relocatable => OutputKind::Relocatable,
            protocol::OutputKind::Executable => OutputKind::Executable,
            protocol::OutputKind::Pie => OutputKind::Pie,
            protocol::OutputKind::Shared => OutputKind::Shared,
        },
        options,
        modules: request.modules.iter().map(module).collect(),
        native_references: request.native_references.clone(),
        of_sanitizers: request.of_sanitizers.clone(),
        natives: request.natives.iter().map(native).collect(),
        work_dir: request.work_dir.clone(),
        runtime,
    };
    let output = cotree_llvm::link_unit(&job)?;
    warnings.extend(output.warnings);
    Ok(LinkResponse { objects: output.objects, warnings, error: None })
}

fn native(input: &protocol::NativeInput) -> NativeObject {
    NativeObject { path: input.path.clone(), offset: input.offset, size: input.size }
}

fn module(input: &protocol::ModuleInput) -> JobModule {
    let symbol = |symbol: &protocol::SymbolInput| JobSymbol {
        name: symbol.name.clone(),
        ir_name: symbol.ir_name.clone(),
        resolution: match symbol.resolution {
            protocol::Resolution::Undefined => Resolution::Undefined,
            protocol::Resolution::Prevailing => Resolution::Prevailing,
            protocol::Resolution::PrevailingInternal => Resolution::PrevailingInternal,
            protocol::Resolution::PrevailingExported => Resolution::PrevailingExported,
            protocol::Resolution::Elsewhere => Resolution::Elsewhere,
        },
    };
    JobModule {
        name: input.name.clone(),
        path: input.path.clone(),
        offset: input.offset,
        size: input.size,
        symbols: input.symbols.iter().map(symbol).collect(),
    }
}

/// `cotree lto-symtab IN OUT`: the plugin says why it fails, in terms of a file that the user knows.
pub fn symtab(input: &Path, output: &Path) -> Result<ExitCode> {
    let bitcode = fs::read(input).into_diagnostic().wrap_err_with(|| format!("can't read {}", input.display()))?;
    let (path, content, status) = match Module::parse("this", &bitcode) {
        Ok(module) => (output.to_owned(), module.to_bitcode(), ExitCode::SUCCESS),
        Err(error) => (reason_file(output), error.to_string().into_bytes(), ExitCode::FAILURE),
    };
    fs::write(&path, content).into_diagnostic().wrap_err_with(|| format!("can't write {}", path.display()))?;
    Ok(status)
}
