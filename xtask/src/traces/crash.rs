//! The crash that `docs/tracing.md` explains: Lua runs a precompiled chunk of which one byte has changed.

use crate::programs::{self, Workload};
use crate::real::Context;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

/// What is compiled: a function that reads a field of each element of a list.
const COMPILE: &str = "
local function sum(list)
  local sum = 0
  for i = 1, #list do
    sum = sum + list[i].n
  end
  return sum
end
io.open('sum.luac', 'wb'):write(string.dump(sum, true))
";

/// What runs it.
const RUN: &str = "
local sum = loadfile('sum.luac', 'b')
print(sum { { n = 1 }, { n = 2 }, { n = 3 } })
";

/// In the chunk: the instruction that reads the field, as this version of Lua has it (`GETFIELD`). Its last byte is the
/// number of the constant that names the field.
const READS_FIELD: [u8; 4] = [0x0e, 0x03, 0x06, 0x00];

/// Where it is executed, and where the name of a field is read, of which there is none.
const EXECUTES: &str = "luaV_execute b";
const CRASHES: &str = "interrupted by a signal  ltable.c:774";

/// The trace of the crash ends where it came, and is the same as that of a run without it up to the instruction.
pub fn check(context: &Context, name: &str) -> Result<String> {
    let folder = workspace::scratch().join("traces").join(name.replace(' ', "_"));
    workspace::fresh(&folder)?;
    let lua = programs::lua(&context.sources, Workload::Tiny)?;
    let ours = folder.join("lua");
    let recorder = context.cotree_cc(&["--profile", "trace", "--trace-ring", "16M"], false);
    command::succeed(&mut lua.build(recorder, &["-O2", "-g"], &ours))?;
    fs::write(folder.join("compile.lua"), COMPILE)?;
    fs::write(folder.join("run.lua"), RUN)?;
    let script = |script: &str, profile: &str| {
        // Else a hash of an address would part the runs before the crash does.
        let mut run = Command::new("setarch");
        run.arg("-R").arg(&ours).args(["1", script]).current_dir(&folder).env("COTREE_FILE", profile);
        run
    };
    command::succeed(&mut script("compile.lua", ""))?;
    let printed = command::text(&mut script("run.lua", "good.cotree"))?;
    ensure!(printed == "6\n", "Lua printed {printed}");
    damage(&folder.join("sum.luac"))?;
    let crashed = command::output(&mut script("run.lua", "bad.cotree"))?;
    ensure!(crashed.status.signal() == Some(11), "a damaged chunk ended with {}", command::ending(&crashed));

    let last = command::text(context.cotree().current_dir(&folder).args([
        "trace",
        "--by",
        "line",
        "--last",
        "12",
        "bad.cotree",
    ]))?;
    ensure!(last.contains(CRASHES), "the end of the trace: {last}");
    let parted =
        command::text(context.cotree().current_dir(&folder).args(["diff", "--trace", "good.cotree", "bad.cotree"]))?;
    let (before, after) = parted.split_once("the first trace goes on:").context("nothing of the first trace")?;
    let (first, second) = after.split_once("the second trace goes on:").context("nothing of the second trace")?;
    let executing = before.split_once("under way there, innermost first:").is_some_and(|(_, stack)| {
        let innermost = stack.trim_start();
        innermost.starts_with(EXECUTES) && innermost.lines().next().is_some_and(|line| line.contains("lvm.c:1293"))
    });
    ensure!(executing, "they part elsewhere: {parted}");
    ensure!(!first.contains("without a return") && second.contains(CRASHES), "how they go on: {parted}");
    let same = before.lines().next().context("an empty comparison")?.to_owned();
    fs::remove_dir_all(&folder)?;
    Ok(same)
}

/// The field's name becomes a constant that the chunk does not have.
fn damage(chunk: &Path) -> Result<()> {
    let mut bytes = fs::read(chunk)?;
    let at = bytes.windows(READS_FIELD.len()).position(|window| window == READS_FIELD);
    bytes[at.context("the chunk reads no field")? + 3] += 1;
    fs::write(chunk, bytes)?;
    Ok(())
}
