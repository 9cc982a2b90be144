//! Pages of a crash: the way from the overview to the branch that let it happen.

use super::asked::asked;
use crate::browser::Browser;
use crate::real::Context;
use crate::{command, workspace};
use anyhow::{Result, ensure};
use serde::Deserialize;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// What the pages of a crash say (`programs/report_crash.js`).
#[derive(Deserialize)]
struct Crash {
    overview: String,
    end: String,
    said: String,
    stack: Vec<String>,
    back: usize,
    set: String,
    branch: String,
}

/// The walk of docs/finding-a-crash.md: Lua 5.2.4 crashes in `debug.getlocal`.
pub fn check(context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("report-crash");
    workspace::fresh(&folder)?;
    let sources = context.sources.lua_that_crashes();
    let script = folder.join("crash.lua");
    fs::write(&script, include_str!("../../programs/crash.lua"))?;
    let ours = folder.join("lua");
    let mut build = context.cotree_cc(&["--profile", "trace"], false);
    build.args(["-O0", "-g", "-w", "-DLUA_USE_LINUX", "-I"]).arg(&sources).arg("-o").arg(&ours);
    build.arg(workspace::root().join("xtask/programs/lua_driver.c")).args(context.sources.files(&sources, &["c"])?);
    command::succeed(build.args(["-lm", "-ldl"]))?;
    let profile = folder.join("crash.cotree");
    let mut run = Command::new(&ours);
    let ended = run.arg("1").arg(&script).current_dir(&folder).env("COTREE_FILE", &profile).output()?;
    ensure!(ended.status.signal() == Some(SIGSEGV), "it ended with {}", ended.status);
    let pages = folder.join("pages");
    command::succeed(context.cotree().args(["html", "-o"]).arg(&pages).arg(&profile))?;
    let browser = Browser { folder: folder.clone() };
    let crash: Crash = asked(&browser, &pages, include_str!("../../programs/report_crash.js"))?;
    ensure!(crash.overview.contains("a signal ended what was under way at ldebug.c:168"), "{}", crash.overview);
    ensure!(crash.end == "ldebug.c:168", "the trace opens at {}", crash.end);
    ensure!(crash.said.contains("A signal ended the thread here"), "{}", crash.said);
    ensure!(crash.stack[..2] == ["lua_getlocal", "db_getlocal"], "under way: {:?}", crash.stack);
    ensure!(crash.set == "ldebug.c:122" && crash.branch.contains("true 0"), "{}: {}", crash.set, crash.branch);
    ensure!(crash.branch.contains("false 2"), "{}", crash.branch);
    fs::remove_dir_all(&folder)?;
    Ok(format!("{} lines back", crash.back))
}

/// The signal that ends a program which accesses memory that it does not have.
const SIGSEGV: i32 = 11;
