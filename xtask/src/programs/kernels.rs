//! Programs of ours of a file each, for what the real ones don't do: numeric loops, pointer chasing, backtracking, C++
//! templates.

use super::{Program, Workload, strings};
use crate::workspace::program_file;

/// Name, file, and arguments of each workload: long, full, small, tiny.
const KERNELS: [(&str, &str, [&[&str]; 4]); 7] = [
    ("templates", "templates.cpp", [&["2500"], &["4000"], &["300"], &["60"]]),
    ("nbody", "kernels/nbody.c", [&["350000"], &["400000"], &["40000"], &["4000"]]),
    ("fft", "kernels/fft.c", [&["14", "80"], &["14", "60"], &["12", "40"], &["12", "6"]]),
    ("matrix", "kernels/matrix.c", [&["400"], &["400"], &["200"], &["100"]]),
    ("stencil", "kernels/stencil.c", [&["200", "200"], &["200", "60"], &["120", "40"], &["60", "20"]]),
    ("chase", "kernels/chase.c", [&["50000"], &["300000"], &["40000"], &["1000"]]),
    ("puzzle", "kernels/puzzle.c", [&["10", "15"], &["11", "8"], &["9", "2"], &["7", "1"]]),
];

/// Sets of small functions, which are judged by themselves: name, file, and the level that they are built at.
const SETS: [(&str, &str, &str); 2] =
    [("small functions", "loops/small.c", "-O1"), ("numeric kernels", "loops/numeric.c", "-O2")];

/// The sets. They take no arguments.
pub fn sets() -> impl Iterator<Item = Program> {
    SETS.into_iter().map(|(name, file, level)| Program {
        name,
        cxx: false,
        flags: vec![level.into()],
        sources: vec![program_file(file)],
        libraries: vec!["-lm"],
        runs: vec![Vec::new()],
    })
}

/// All of them.
pub fn all(workload: Workload) -> impl Iterator<Item = Program> {
    KERNELS.into_iter().map(move |(name, file, [long, full, small, tiny])| Program {
        name,
        cxx: file.ends_with("pp"),
        flags: Vec::new(),
        sources: vec![program_file(file)],
        libraries: vec!["-lm"],
        runs: vec![strings(workload.pick_of_four(long, full, small, tiny))],
    })
}
