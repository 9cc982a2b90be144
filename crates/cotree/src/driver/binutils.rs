//! `ar`, `nm` and `ranlib` with the plugin loaded: without one, GNU's tools find no symbols in bitcode, and an archive
//! without an index of its members' symbols is of no use to a linker.

use super::unpack::Toolkit;
use super::{Error, search};
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// Runs a tool of binutils.
pub fn run(tool: &str, arguments: Vec<OsString>) -> Result<ExitCode, Error> {
    let toolkit = Toolkit::unpack()?;
    let path = search::in_path(tool)
        .ok_or_else(|| Error::Missing { tool: tool.into(), remedy: "install GNU binutils".into() })?;
    let mut command = Command::new(path);
    command.arg("--plugin").arg(toolkit.plugin()).args(arguments);
    super::run(command)
}
