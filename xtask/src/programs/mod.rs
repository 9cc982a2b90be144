//! The C and C++ programs of the suites: what to compile, in one command, and what to run.

pub mod kernels;
mod libraries;

pub use libraries::{cadical, clipper};

use crate::sources::{Sources, files};
use crate::workspace::program_file;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of C or C++.
#[derive(Clone)]
pub struct Program {
    /// The name of the program in tables and folders.
    pub name: &'static str,
    /// Compile with the C++ compiler.
    pub cxx: bool,
    /// Options that stand before the sources, apart from the level.
    pub flags: Vec<String>,
    /// Compiled in this order, in one command.
    pub sources: Vec<PathBuf>,
    /// What stands behind the sources.
    pub libraries: Vec<&'static str>,
    /// Argument lists to run it with.
    pub runs: Vec<Vec<String>>,
}

/// How much the programs shall do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Natively about a twentieth of a second with an optimised build: for measuring time.
    Long,
    /// Natively about a second with a debug build.
    Full,
    /// For tools that run a program some fifty times slower.
    Small,
    /// For a first look at such a tool.
    Tiny,
    /// Next to nothing, by the same code as [`Self::Long`]: for measuring what beginning and end take.
    Start,
}

impl Workload {
    /// What is meant for it.
    pub fn pick<T>(self, full: T, small: T, tiny: T) -> T {
        match self {
            Workload::Long | Workload::Full => full,
            Workload::Small => small,
            Workload::Tiny | Workload::Start => tiny,
        }
    }

    /// What is meant for it where a full workload is short.
    pub fn pick_of_four<T>(self, long: T, full: T, small: T, tiny: T) -> T {
        if self == Workload::Long { long } else { self.pick(full, small, tiny) }
    }
}

fn strings<S: ToString>(all: &[S]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

fn include(folder: &Path) -> String {
    format!("-I{}", folder.display())
}

/// SQLite's amalgamation with a driver that runs SQL.
pub fn sqlite(sources: &Sources, workload: Workload) -> Program {
    let folder = sources.sqlite();
    let rows = workload.pick_of_four("12000", "100000", "6000", "500");
    Program {
        name: "sqlite",
        cxx: false,
        flags: vec![include(&folder)],
        sources: vec![program_file("sqlite_driver.c"), folder.join("sqlite3.c")],
        libraries: vec!["-lm", "-lpthread", "-ldl"],
        runs: vec![strings(&[rows, ":memory:"])],
    }
}

/// The interpreter with all of its libraries, over scripts of ours. As C it leaves errors by `longjmp`.
pub fn lua(sources: &Sources, workload: Workload) -> Result<Program> {
    let folder = sources.lua();
    let mut arguments = vec![workload.pick_of_four("110", "200", "25", "5").to_owned()];
    let scripts = files(&program_file("lua"), &["lua"])?;
    arguments.extend(scripts.iter().map(|script| script.display().to_string()));
    let mut all = vec![program_file("lua_driver.c")];
    all.extend(sources.files(&folder, &["c"])?);
    Ok(Program {
        name: "lua",
        cxx: false,
        // The seed would otherwise depend on time and addresses, and with it the shape of hash tables.
        flags: vec!["-DLUA_USE_LINUX".into(), "-Dluai_makeseed(L)=42".into(), include(&folder)],
        sources: all,
        libraries: vec!["-lm", "-ldl"],
        runs: vec![arguments],
    })
}

/// Lua as C++, where Lua throws exceptions.
pub fn lua_cxx(sources: &Sources, workload: Workload) -> Result<Program> {
    let mut program = lua(sources, workload)?;
    program.name = "lua-c++";
    program.cxx = true;
    program.flags.splice(0..0, ["-x".to_owned(), "c++".to_owned()]);
    Ok(program)
}

/// zstd, its assembly included, compressing and decompressing SQLite's header.
pub fn zstd(sources: &Sources, workload: Workload) -> Result<Program> {
    let folder = sources.zstd();
    let mut all = vec![program_file("zstd_driver.c")];
    for part in ["common", "compress", "decompress", "dictBuilder"] {
        all.extend(sources.files(&folder.join(part), &["c", "S"])?);
    }
    let data = sources.sqlite().join("sqlite3.h").display().to_string();
    let small = sources.bzip2().join("compress.c").display().to_string();
    let [long, start] = [&data, &small].map(|file| strings(&["0", file, "1", "3", "6"]));
    let mut runs = vec![workload.pick_of_four(
        long,
        strings(&["0", &data, "-5", "1", "3", "6", "9", "13", "17", "19", "22"]),
        strings(&["0", &data, "1", "3"]),
        strings(&["0", &small, "1", "3", "9"]),
    )];
    if workload == Workload::Start {
        runs = vec![start];
    }
    if workload == Workload::Full {
        runs.push(strings(&["4", &data, "1", "3", "9"]));
    }
    Ok(Program {
        name: "zstd",
        cxx: false,
        flags: vec!["-DZSTD_MULTITHREAD".into(), include(&folder)],
        sources: all,
        libraries: vec!["-lpthread"],
        runs,
    })
}

/// The bzip2 command itself.
pub fn bzip2(sources: &Sources, workload: Workload) -> Program {
    let folder = sources.bzip2();
    let parts = ["bzip2", "blocksort", "huffman", "crctable", "randtable", "compress", "decompress", "bzlib"];
    let data = workload.pick("sqlite3.h", "sqlite3ext.h", "sqlite3ext.h");
    let [data, small] =
        [sources.sqlite().join(data), sources.lua().join("lua.h")].map(|file| file.display().to_string());
    let [packed, short] = ["sample2.bz2", "sample3.bz2"].map(|file| folder.join(file).display().to_string());
    let mut runs = match workload {
        Workload::Long => vec![strings(&["-kc9", &data]), strings(&["-dkc", &packed, &packed, &packed])],
        Workload::Start => vec![strings(&["-kc9", &small]), strings(&["-dkc", &short])],
        _ => vec![strings(&["-kc9", &data]), strings(&["-dkc", &packed])],
    };
    if workload == Workload::Full {
        runs.push(strings(&["-t", &data])); // not bzip2 data: it fails
    }
    Program {
        name: "bzip2",
        cxx: false,
        flags: vec!["-D_FILE_OFFSET_BITS=64".into(), include(&folder)],
        sources: parts.iter().map(|part| folder.join(format!("{part}.c"))).collect(),
        libraries: vec![],
        runs,
    }
}

/// All of C, which gcov can measure too.
pub fn all_c(sources: &Sources, workload: Workload) -> Result<Vec<Program>> {
    Ok(vec![sqlite(sources, workload), lua(sources, workload)?, zstd(sources, workload)?, bzip2(sources, workload)])
}

/// The programs whose modules are compiled as one (`-flto`): of C and of C++.
pub fn joined(sources: &Sources, workload: Workload) -> Result<Vec<Program>> {
    Ok(vec![
        sqlite(sources, workload),
        lua(sources, workload)?,
        zstd(sources, workload)?,
        lua_cxx(sources, workload)?,
        libraries::clipper(sources, workload),
    ])
}

/// All that is measured: real programs of many kinds, and kernels of ours.
pub fn all(sources: &Sources, workload: Workload) -> Result<Vec<Program>> {
    let mut all = all_c(sources, workload)?;
    all.push(lua_cxx(sources, workload)?);
    all.extend(libraries::all(sources, workload)?);
    all.extend(kernels::all(workload));
    Ok(all)
}

impl Program {
    /// The one command that builds it: `COMPILER OPTIONS FLAGS SOURCES LIBRARIES -o OUTPUT`. Warnings of other people's
    /// sources are not ours.
    pub fn build(&self, mut compiler: Command, options: &[&str], output: &Path) -> Command {
        compiler.arg("-w").args(options).args(&self.flags).args(&self.sources).args(&self.libraries);
        compiler.arg("-o").arg(output);
        compiler
    }

    /// The command that compiles one of its sources.
    pub fn compile(&self, mut compiler: Command, options: &[&str], source: &Path, object: &Path) -> Command {
        compiler.arg("-w").args(options).args(&self.flags).arg("-c").arg(source).arg("-o").arg(object);
        compiler
    }

    /// The command that links what was compiled so.
    pub fn link(&self, mut compiler: Command, options: &[&str], objects: &[PathBuf], output: &Path) -> Command {
        // Of the options only the level concerns the linker, and it is the last one that counts.
        let level = self.flags.iter().filter(|flag| flag.starts_with("-O"));
        compiler.args(options).args(level).args(objects).args(&self.libraries).arg("-o").arg(output);
        compiler
    }
}
