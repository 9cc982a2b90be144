//! Figures of the pages of large programs: SQLite by several methods, ripgrep, CaDiCaL, and a map of 100,000 functions.

use super::figures::{self, Profiles};
use super::subject::{self, Subject};
use crate::programs::{self, Program, Workload};
use crate::real::Context;
use crate::rust_programs;
use crate::suite::Suite;
use anyhow::Result;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// How many functions a program of C++ has at least, and the generated one in its files.
const OF_CXX: usize = 5_000;
const GENERATED: usize = 100_000;
const FILES: usize = 50;

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let sqlite = |workload, method| Subject::new(programs::sqlite(&context.sources, workload), method);
    let shorter = Workload::Tiny;
    for subject in [
        Subject { calls: true, ..sqlite(shorter, "edge") },
        sqlite(shorter, "path"),
        sqlite(shorter, "ipath"),
        // Some 60 million blocks: a tenth of a second. Exports follow each of them anew.
        sqlite(Workload::Long, "trace"),
    ] {
        subject::add(suite, subject, context);
    }
    match programs::cadical(&context.sources, Workload::Small) {
        Ok(program) => {
            let least = OF_CXX;
            subject::add(suite, Subject { level: "-O0", least, ..Subject::new(program, "edge") }, context);
        }
        Err(error) => suite.add("figures of pages: cadical edge", move || Err(error)),
    }
    let with = context.clone();
    suite.add("figures of pages: ripgrep edge", move || ripgrep(&with));
    let with = context.clone();
    suite.add("figures of pages: 100,000 functions", move || generated(&with));
}

fn ripgrep(context: &Context) -> Result<String> {
    let folder = subject::fresh("report-pages-ripgrep")?;
    let profile = rust_programs::profile(&rust_programs::ripgrep(&context.sources), context, &folder)?;
    let said = figures::check(&Profiles::of(&profile), &folder.join("pages"), context)?;
    fs::remove_dir_all(&folder)?;
    Ok(said.text)
}

fn generated(context: &Context) -> Result<String> {
    let folder = subject::fresh("report-pages-generated")?;
    let program = write(&folder)?;
    let subject = Subject { level: "-O0", least: GENERATED, ..Subject::new(program, "edge") };
    subject::check_in(&subject, &folder, context)
}

/// Writes a program of many functions that call each other, of which one call reaches a few.
fn write(folder: &Path) -> Result<Program> {
    let each = GENERATED / FILES;
    let mut sources = Vec::new();
    for file in 0..FILES {
        let mut text = String::new();
        for function in file * each..(file + 1) * each {
            let callee = function / 2;
            writeln!(text, "int f{callee}(int);")?;
            writeln!(
                text,
                "int f{function}(int n) {{\n  int sum = 0;\n  for (int i = 0; i < n % 3; i++) sum += i;\n  \
                 return {function} < 2 || n == 0 ? sum : f{callee}(n - 1) + sum;\n}}"
            )?;
        }
        let path = folder.join(format!("f{file}.c"));
        fs::write(&path, text)?;
        sources.push(path);
    }
    let main = folder.join("main.c");
    let last = GENERATED - 1;
    let calls: String = (0..200).map(|call| format!("  sum += f{}({call});\n", last - 331 * call)).collect();
    let declared: String = (0..200).map(|call| format!("int f{}(int);\n", last - 331 * call)).collect();
    fs::write(&main, format!("{declared}int main(void) {{\n  int sum = 0;\n{calls}  return sum == 0;\n}}\n"))?;
    sources.push(main);
    Ok(Program {
        name: "generated",
        cxx: false,
        flags: Vec::new(),
        sources,
        libraries: Vec::new(),
        runs: vec![Vec::new()],
    })
}
