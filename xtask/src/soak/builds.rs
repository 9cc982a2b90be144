//! The ways in which programs of the soak test are built.

/// How the sources are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// `-O2` and its like.
    pub level: &'static str,
    /// Before or after the compiler's own optimisations.
    pub at: &'static str,
}

impl Level {
    /// Counts are of the source as it is written: of each line.
    pub fn as_written(self) -> bool {
        self.at == "early" || self.level == "-O0"
    }
}

/// Once per program and level the sources are compiled.
pub const LEVELS: [Level; 4] = [
    Level { level: "-O0", at: "late" },
    Level { level: "-O2", at: "late" },
    Level { level: "-O2", at: "early" },
    Level { level: "-O1", at: "early" },
];

/// What a link is told: a method, and what is switched on or off.
pub const OPTIONS: [&str; 34] = [
    "--profile edge",
    "--profile edge --verify",
    "--profile block",
    "--profile vertex --verify",
    "--profile vertex-edge --verify",
    "--profile path",
    "--profile path --verify",
    "--profile path-context --verify",
    "--profile calls",
    "--profile ipath --verify",
    "--profile ipath-piecewise --verify",
    "--profile ipath-hybrid=leaf --verify",
    "--profile trace",
    "--profile trace --verify",
    "--profile trace --trace-ring 1M",
    "--profile events --verify",
    "--profile events-calls",
    "--profile none",
    "--affine off",
    "--promote off --verify",
    "--affine off --promote off --interprocedural-flow off",
    "--interprocedural-flow off",
    "--threads word",
    "--threads on --verify",
    "--threads on --profile path",
    "--lto on",
    "--lto on --profile path",
    "--lto on --profile trace",
    "--targets",
    "--branch-hints off",
    "--spanning-tree min",
    "--profile path --path-array 0 --verify",
    "--profile ipath --pending",
    "--profile trace --trace-by witness",
];
