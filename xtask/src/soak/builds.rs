//! The variants in which programs of the soak test are built.

use super::recipe::Recipe;
use crate::tools::{Clang, find};

/// How the sources are compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// `-O2` and its like.
    pub level: &'static str,
    /// Before or after the compiler's own optimisations.
    pub at: &'static str,
    /// The clang that compiles C, if it is not the newest. C++ is always the newest's.
    pub clang: Option<Clang>,
}

impl Level {
    /// The compiler may have merged lines before counters came, and such lines have no counts (docs/exactness.md).
    pub fn merges_lines(self) -> bool {
        self.at == "late" && self.level != "-O0"
    }

    /// No call becomes a jump unless the source demands it: methods don't differ in when an activation ends.
    pub fn keeps_frames(self) -> bool {
        matches!(self.level, "-O0" | "-O1")
    }

    fn name(self) -> String {
        let clang = self.clang.map_or(String::new(), |clang| format!(" {}", clang.c()));
        format!("{} {}{clang}", self.level, self.at)
    }
}

/// Once per program and level the sources are compiled.
const LEVELS: [Level; 5] = [
    Level { level: "-O0", at: "late", clang: None },
    Level { level: "-O2", at: "late", clang: None },
    Level { level: "-O2", at: "early", clang: None },
    Level { level: "-O1", at: "early", clang: None },
    Level { level: "-O2", at: "late", clang: Some(Clang(14)) },
];

/// What a link is told, and what is done with the profiles.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// A method, and what is switched on or off. `own.cotree` is an edge profile of the program at the same level, and
    /// `other.cotree` one of the next seed's program.
    pub options: &'static str,
    /// What the compiler's driver is told when it links.
    pub driver: &'static str,
    /// The program runs twice, and the profiles of both runs are merged.
    pub merged: bool,
}

impl Variant {
    /// What is there by default.
    pub const EDGE: Variant = variant("--profile edge");
}

const fn variant(options: &'static str) -> Variant {
    Variant { options, driver: "", merged: false }
}

const fn linked(options: &'static str, driver: &'static str) -> Variant {
    Variant { options, driver, merged: false }
}

const fn merged(options: &'static str) -> Variant {
    Variant { options, driver: "", merged: true }
}

/// What a link is told: a method, and what is switched on or off.
pub const OPTIONS: [&str; 35] = [
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
    "--profile ipath-piecewise=file --verify",
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
    "--profile trace --trace-by witness",
    "--profile trace --trace-by bits",
];

/// Variants besides those.
const MORE: [Variant; 20] = [
    variant("--use own.cotree"),
    variant("--use other.cotree"),
    variant("--weights own.cotree"),
    variant("--weights other.cotree --profile path --verify"),
    variant("--threads off"),
    variant("--threads off --profile path --verify"),
    variant("--profile path --path-metric events --verify"),
    variant("--profile path --path-metric cycles"),
    variant("--profile path --path-limit 20"),
    variant("--profile path --fault-paths"),
    variant("--profile events-calls --lto on"),
    linked("--profile edge", "-fuse-ld=mold"),
    linked("--profile edge", "-fuse-ld=gold"),
    linked("--profile ipath", "-fuse-ld=mold"),
    linked("--profile trace", "-static-pie"),
    linked("--profile path", "-static"),
    merged("--profile edge"),
    merged("--profile path"),
    merged("--profile ipath-hybrid=file"),
    merged("--profile trace"),
];

/// One build of a program.
#[derive(Clone, Copy)]
pub struct Build {
    pub level: Level,
    pub variant: Variant,
}

impl Build {
    /// All of them, for which the tools are there.
    pub fn all() -> Vec<Build> {
        let levels = LEVELS.iter().filter(|level| level.clang.is_none_or(|clang| find(&clang.c()).is_some()));
        let is_there = |variant: &Variant| variant.driver.strip_prefix("-fuse-ld=").is_none_or(|ld| find(ld).is_some());
        let variants: Vec<Variant> = OPTIONS.iter().copied().map(variant).chain(MORE).filter(is_there).collect();
        let builds = levels.flat_map(|&level| variants.iter().map(move |&variant| Build { level, variant }));
        builds.filter(|build| build.is_accepted()).collect()
    }

    /// cotree takes these options together: where code lies is LLVM's choice alone in builds with early counters, and
    /// `--branch-hints` is refused there.
    fn is_accepted(self) -> bool {
        !(self.level.at == "early" && self.variant.options.contains("--branch-hints"))
    }

    /// The recipe's program can be built so: one that is linked statically loads no libraries, and a profile that has
    /// no function of a library, which may never have been loaded, is refused for it.
    pub fn suits(self, recipe: &Recipe) -> bool {
        let excludes_libraries = self.variant.driver.contains("-static") || self.variant.options.contains(".cotree");
        !(excludes_libraries && recipe.has_library())
    }

    pub fn name(self) -> String {
        let Variant { options, driver, merged } = self.variant;
        let parts = [&*self.level.name(), options, driver, if merged { "merged" } else { "" }];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::Build;
    use clap::Parser;
    use cotree_options::BuildOptions;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: BuildOptions,
    }

    #[test]
    fn cotree_refuses_the_options_of_no_build() {
        for build in Build::all() {
            let words = ["cotree", "--at", build.level.at].into_iter().chain(build.variant.options.split_whitespace());
            let line = Line::try_parse_from(words).unwrap_or_else(|error| panic!("{}: {error}", build.name()));
            line.options.check_all().unwrap_or_else(|misfit| panic!("{}: {misfit}", build.name()));
        }
    }
}
