//! Real libraries with drivers of ours: compression, regular expressions, parsing, and geometry in C++.

use super::{Program, Workload, include, strings};
use crate::sources::Sources;
use crate::workspace::program_file;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// All of them.
pub fn all(sources: &Sources, workload: Workload) -> Result<Vec<Program>> {
    Ok(vec![
        zlib(sources, workload),
        oniguruma(sources, workload),
        tree_sitter(sources, workload),
        clipper(sources, workload),
        meshoptimizer(sources, workload)?,
    ])
}

fn parts(folder: &Path, names: &[&str]) -> impl Iterator<Item = PathBuf> {
    names.iter().map(|name| folder.join(format!("{name}.c")))
}

/// A text of the size that the workload asks for.
fn text(sources: &Sources, workload: Workload) -> String {
    let sqlite = sources.sqlite();
    let path = workload.pick(sqlite.join("sqlite3.h"), sqlite.join("sqlite3ext.h"), sources.lua().join("lua.h"));
    path.display().to_string()
}

fn zlib(sources: &Sources, workload: Workload) -> Program {
    let folder = sources.zlib();
    let mut all = vec![program_file("zlib_driver.c")];
    all.extend(parts(&folder, &["adler32", "crc32", "deflate", "inffast", "inflate", "inftrees", "trees", "zutil"]));
    let levels: &[&str] = match workload {
        Workload::Long | Workload::Start => &["3", "6"],
        _ => &["1", "3", "6", "9"],
    };
    Program {
        name: "zlib",
        cxx: false,
        flags: vec![include(&folder)],
        sources: all,
        libraries: vec![],
        runs: vec![strings(&[&[&*text(sources, workload)], levels].concat())],
    }
}

fn oniguruma(sources: &Sources, workload: Workload) -> Program {
    let (folder, ours) = (sources.oniguruma(), program_file("onig"));
    let mut all = vec![ours.join("driver.c")];
    let names = "regcomp regenc regerror regexec regext regparse regsyntax regtrav regversion st onig_init unicode ascii utf8 \
                 unicode_unfold_key unicode_fold1_key unicode_fold2_key unicode_fold3_key";
    all.extend(parts(&folder, &names.split(' ').collect::<Vec<_>>()));
    Program {
        name: "oniguruma",
        cxx: false,
        flags: vec![include(&ours), include(&folder)],
        sources: all,
        libraries: vec![],
        runs: vec![vec![text(sources, workload)]],
    }
}

fn tree_sitter(sources: &Sources, workload: Workload) -> Program {
    let (folder, grammar) = (sources.tree_sitter(), sources.tree_sitter_c());
    Program {
        name: "tree-sitter",
        cxx: false,
        flags: vec![
            "-D_DEFAULT_SOURCE".into(),
            include(&folder.join("include")),
            include(&folder.join("src")),
            include(&grammar),
        ],
        sources: vec![program_file("tree_sitter_driver.c"), folder.join("src/lib.c"), grammar.join("parser.c")],
        libraries: vec![],
        runs: vec![vec![text(sources, workload), workload.pick_of_four("4", "3", "3", "3").into()]],
    }
}

/// C++ with exceptions: coordinates that are out of range are refused, which the driver prints.
pub fn clipper(sources: &Sources, workload: Workload) -> Program {
    let folder = sources.clipper();
    Program {
        name: "clipper",
        cxx: true,
        flags: vec![include(&folder)],
        sources: vec![program_file("clipper_driver.cpp"), folder.join("clipper.cpp")],
        libraries: vec![],
        runs: vec![strings(workload.pick_of_four(&["100", "4"], &["200", "6"], &["60", "2"], &["40", "1"]))],
    }
}

/// C++ that calculates.
fn meshoptimizer(sources: &Sources, workload: Workload) -> Result<Program> {
    let folder = sources.meshoptimizer();
    let mut all = vec![program_file("meshopt_driver.cpp")];
    all.extend(sources.files(&folder, &["cpp"])?);
    Ok(Program {
        name: "meshoptimizer",
        cxx: true,
        flags: vec![include(&folder)],
        sources: all,
        libraries: vec![],
        runs: vec![vec![workload.pick_of_four("200", "250", "80", "40").to_owned()]],
    })
}

/// C++ of many small functions, as those of containers are without an optimiser: some 5,600 in all at `-O0`.
pub fn cadical(sources: &Sources, workload: Workload) -> Result<Program> {
    let folder = sources.cadical();
    let mut all = vec![program_file("cadical_driver.cpp")];
    // The solver without its two programs.
    let own = |path: &PathBuf| path.file_name().is_some_and(|name| name != "cadical.cpp" && name != "mobical.cpp");
    all.extend(sources.files(&folder, &["cpp"])?.into_iter().filter(own));
    Ok(Program {
        name: "cadical",
        cxx: true,
        flags: strings(&["-DNBUILD", "-DNUNLOCKED", "-DNCLOSEFROM", "-DNDEBUG", &include(&folder)]),
        sources: all,
        libraries: vec![],
        runs: vec![vec![workload.pick_of_four("6", "8", "6", "5").to_owned()]],
    })
}
