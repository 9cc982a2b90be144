//! What `cotree coverage` and `export --format lcov` write is read by the programs that it is for, without a warning:
//! lcov 1 of this machine, lcov 2 of a newer Debian, gcovr, pycobertura and lcov_cobertura.

use crate::fetched::{self, once};
use crate::programs::{self, Workload};
use crate::real::Context;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The readers from PyPI.
const PYTHON: [&str; 3] = ["gcovr==8.8", "pycobertura==4.1.0", "lcov_cobertura==2.1.1"];
/// The Debian whose lcov is version 2, and that version.
const DEBIAN: &str = "trixie";
const LCOV_2: &str = "lcov=2.3.1-1";

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    for language in ["C", "C++", "Rust"] {
        let context = context.clone();
        suite.add(format!("coverage readers {language}"), move || check(language, &context));
    }
}

/// lcov 2, unpacked from the mirror that apt uses.
fn lcov_2() -> Result<PathBuf> {
    once("coverage-readers-lcov-2", LCOV_2, |folder| {
        for part in ["lists/partial", "cache/archives/partial", "root"] {
            fs::create_dir_all(folder.join(part))?;
        }
        let sources = fs::read_to_string("/etc/apt/sources.list.d/debian.sources").unwrap_or_default();
        let mirror =
            sources.lines().find_map(|line| line.strip_prefix("URIs: ")).unwrap_or("http://deb.debian.org/debian");
        let key = "/usr/share/keyrings/debian-archive-keyring.gpg";
        fs::write(folder.join("newer.list"), format!("deb [signed-by={key}] {mirror} {DEBIAN} main\n"))?;
        let at = folder.display();
        let configuration = format!(
            "Dir::Etc::sourcelist \"{at}/newer.list\";\nDir::Etc::sourceparts \"/dev/null\";\n\
             Dir::State::lists \"{at}/lists\";\nDir::Cache \"{at}/cache\";\nAPT::Sandbox::User \"root\";\n"
        );
        fs::write(folder.join("apt.conf"), configuration)?;
        let apt = |arguments: &[&str]| {
            let mut apt = Command::new("apt-get");
            apt.args(arguments).current_dir(folder).env("APT_CONFIG", folder.join("apt.conf"));
            command::succeed(&mut apt)
        };
        apt(&["update"])?;
        apt(&["download", LCOV_2])?;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "deb") {
                command::succeed(Command::new("dpkg").arg("-x").arg(&path).arg(folder.join("root")))?;
            }
        }
        Ok(())
    })
}

/// A program that was run: its profile, and where its sources are.
fn profile(language: &str, context: &Context, folder: &Path) -> Result<(PathBuf, PathBuf)> {
    let run = folder.join("run.cotree");
    let sources = workspace::root().join("crates/cotree/tests/programs/coverage");
    if language == "Rust" {
        let package = folder.join("package");
        fs::create_dir_all(package.join("src"))?;
        let manifest = "[package]\nname = \"m\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n";
        fs::write(package.join("Cargo.toml"), manifest)?;
        fs::copy(sources.join("generics.rs"), package.join("src/main.rs"))?;
        let mut cargo = context.cotree();
        cargo.args(["--coverage", "--mcdc", "cargo", "run", "--quiet"]).current_dir(&package).env("COTREE_FILE", &run);
        command::succeed(&mut cargo)?;
        return Ok((run, package));
    }
    let program = folder.join("program");
    if language == "C" {
        let lua = programs::lua(&context.sources, Workload::Small)?;
        command::succeed(&mut lua.build(
            context.cotree_cc(&["--coverage", "--mcdc"], false),
            &["-O0", "-g"],
            &program,
        ))?;
        let mut lua_run = Command::new(&program);
        command::output(lua_run.args(&lua.runs[0]).current_dir(folder).env("COTREE_FILE", &run))?;
        let home = lua.sources.first().and_then(|source| source.parent()).unwrap_or(folder).to_owned();
        return Ok((run, home));
    }
    let mut build = context.cotree_cc(&["--coverage", "--mcdc"], true);
    build.args(["-O0", "-g", "a.cc", "b.cc", "-o"]).arg(&program).current_dir(&sources);
    command::succeed(&mut build)?;
    command::succeed(Command::new(&program).current_dir(folder).env("COTREE_FILE", &run))?;
    Ok((run, sources))
}

fn check(language: &str, context: &Context) -> Result<String> {
    let folder = workspace::scratch().join("coverage-readers").join(language);
    workspace::fresh(&folder)?;
    let (run, sources) = profile(language, context, &folder)?;
    let write = |name: &str, arguments: &[&str]| -> Result<PathBuf> {
        let file = folder.join(name);
        let mut cotree = context.cotree();
        cotree.args(arguments).arg("-o").arg(&file).arg(&run).current_dir(&sources);
        command::succeed(&mut cotree)?;
        Ok(file)
    };
    let own = format!("{}/", sources.display());
    let edge = ["export", "--format", "lcov", "--demangle", "--file", &own];
    let (python, newer) = (fetched::python("coverage-readers-python", &PYTHON)?, lcov_2()?);
    let root = newer.join("root/usr");
    let second = |tool: &str| {
        let mut perl = Command::new("perl");
        perl.env("PERL5LIB", format!("{0}/share/perl5:{0}/lib/lcov", root.display())).arg(root.join("bin").join(tool));
        perl
    };
    let mut readers = 0;
    let mut reads = |command: &mut Command| -> Result<String> {
        let output = command::output(command.current_dir(&folder))?;
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).to_lowercase()).concat();
        let warns = ["warning", "error", "uninitialized"].iter().any(|word| said.contains(word));
        ensure!(output.status.success() && !warns, "{command:?}: {said}");
        readers += 1;
        Ok(said)
    };
    for (name, arguments) in [("map", &["coverage", "--lcov"][..]), ("edge", &edge)] {
        let plain = write(&format!("{name}.info"), arguments)?;
        let ends = write(&format!("{name}.ends.info"), &[arguments, &["--function-ends"]].concat())?;
        reads(Command::new("genhtml").args(["--branch-coverage", "-o", "pages"]).arg(&plain))?;
        reads(Command::new("lcov").args(["--rc", "lcov_branch_coverage=1", "--summary"]).arg(&plain))?;
        reads(Command::new(python.join("lcov_cobertura")).args(["-o", "converted.xml"]).arg(&plain))?;
        // Of C and C++, lcov 2 takes only tracefiles with the ends of functions: it guesses them, and wrongly.
        reads(second("genhtml").args(["--branch-coverage", "--mcdc-coverage", "-o", "pages.2"]).arg(&ends))?;
        let said = reads(second("lcov").args(["--branch-coverage", "--mcdc-coverage", "--summary"]).arg(&ends))?;
        // What lcov counts of MC/DC is what the tracefile, and so the table, has: each condition is true and false.
        let text = fs::read_to_string(&ends)?;
        let sum = |record: &str| text.lines().filter_map(|line| line.strip_prefix(record)?.parse::<u64>().ok()).sum();
        let (found, hit): (u64, u64) = (sum("MCF:"), sum("MCH:"));
        ensure!((name == "map") == (found > 0), "{found} outcomes of conditions in {name}");
        ensure!(found == 0 || said.contains(&format!("({hit} of {found} ")), "{hit} of {found}: {said}");
    }
    let xml = write("cobertura.xml", &["coverage", "--cobertura"])?;
    reads(Command::new(python.join("pycobertura")).arg("show").arg(&xml).arg("--source").arg(&sources))?;
    let mut gcovr = Command::new(python.join("gcovr"));
    reads(gcovr.arg("--root").arg(&sources).arg("--cobertura-add-tracefile").arg(&xml))?;
    fs::remove_dir_all(&folder)?;
    Ok(format!("{readers} readers"))
}
