//! What the linker plugin starts: one link, or bitcode written anew.

use cotree_lto::protocol::{LinkRequest, LinkResponse};
use miette::{IntoDiagnostic, Result, WrapErr};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// `cotree lto-link REQUEST`: does the link and writes the answer beside the request. Whatever goes wrong is in the
/// answer, so that the linker says it.
pub fn link(request: &Path) -> Result<ExitCode> {
    let json = fs::read(request).into_diagnostic().wrap_err_with(|| format!("can't read {}", request.display()))?;
    let request: LinkRequest =
        serde_json::from_slice(&json).into_diagnostic().wrap_err("the linker plugin is not of this cotree's build")?;
    let (response, status) = match perform(&request) {
        Ok(response) => (response, ExitCode::SUCCESS),
        Err(error) => (LinkResponse { error: Some(error), ..LinkResponse::default() }, ExitCode::FAILURE),
    };
    let path = request.work_dir.join("response.json");
    let json = serde_json::to_vec(&response).into_diagnostic()?;
    fs::write(&path, json).into_diagnostic().wrap_err_with(|| format!("can't write {}", path.display()))?;
    Ok(status)
}

fn perform(_request: &LinkRequest) -> Result<LinkResponse, String> {
    Err("this cotree can't link yet: it was built without its runtime".into())
}

/// `cotree lto-symtab IN OUT`
pub fn symtab(_input: &Path, _output: &Path) -> Result<ExitCode> {
    miette::bail!("this cotree can't write bitcode yet")
}
