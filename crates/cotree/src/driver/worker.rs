//! The two jobs that the linker plugin starts `cotree` for: to do one link, and to rewrite bitcode.

use super::embedded;
use crate::coded;
use cotree_core::method::Method;
use cotree_llvm::{LinkJob, Module};
use cotree_lto::protocol::{LinkOutput, LinkRequest, LinkResponse, OutputKind};
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
    let response: LinkResponse = perform(&request).map_err(|error| sentence(&error));
    let path = request.work_dir.join("response.json");
    let json = serde_json::to_vec(&response).into_diagnostic()?;
    fs::write(&path, json).into_diagnostic().wrap_err_with(|| format!("can't write {}", path.display()))?;
    Ok(if response.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the linker says.
fn sentence(error: &cotree_llvm::Error) -> String {
    format!("{error} [{}]", coded::of_link_error(error).code)
}

fn perform(request: &LinkRequest) -> Result<LinkOutput, cotree_llvm::Error> {
    let mut options = cotree_llvm::options::LinkOptions::parse(&request.options)?;
    let mut warnings = Vec::new();
    if request.kind == OutputKind::Relocatable && !options.method.is_none() {
        // Two such objects in one program would be two link units that define the same names.
        options.method = Method::None;
        warnings.push(format!(
            "{} is a partial link (-r): its code is compiled without counters and is not in the profile",
            request.output.display()
        ));
    }
    let runtime = embedded::runtime(request.kind, request.is_static, options.has_counters_alone());
    let mut output = cotree_llvm::link_unit(&LinkJob { request, options, runtime })?;
    output.warnings.splice(..0, warnings);
    Ok(output)
}

/// `cotree lto-symtab IN OUT`: the plugin says why it fails, in terms of a file that the user knows.
pub fn symtab(input: &Path, output: &Path) -> Result<ExitCode> {
    let bitcode = fs::read(input).into_diagnostic().wrap_err_with(|| format!("can't read {}", input.display()))?;
    let (path, content, status) = match Module::parse("this", &bitcode) {
        Ok(module) => (output.to_owned(), module.to_bitcode(), ExitCode::SUCCESS),
        Err(error) => (reason_file(output), sentence(&error).into_bytes(), ExitCode::FAILURE),
    };
    fs::write(&path, content).into_diagnostic().wrap_err_with(|| format!("can't write {}", path.display()))?;
    Ok(status)
}
