//! The builds that are measured.

use crate::real::Context;
use crate::{rust_programs::Package, workspace};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Who builds; each has a build without counters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tool {
    /// cotree, whose base is `--profile none`.
    Cotree,
    /// clang or rustc alone.
    Llvm,
    /// gcc alone.
    Gcc,
}

/// One way to build.
#[derive(Clone, Copy)]
pub struct Variant {
    /// As the table names it.
    pub name: &'static str,
    /// Who builds.
    pub tool: Tool,
    /// Options of cotree or of the C compiler.
    options: &'static [&'static str],
    /// The same for rustc, where there is such a thing.
    rust: Option<&'static [&'static str]>,
}

const fn cotree(name: &'static str, options: &'static [&'static str]) -> Variant {
    Variant { name, tool: Tool::Cotree, options, rust: Some(&[]) }
}

/// cotree's default method.
pub const EDGE: &str = "cotree edge";
/// The two forms of the peer that cotree is judged by.
pub const JUDGES: [&str; 2] = ["LLVM -fprofile-generate", "LLVM -fprofile-generate, no promotion"];

/// All builds; the first of each tool is its base.
pub const ALL: [Variant; 12] = [
    cotree("cotree none", &["--profile", "none"]),
    cotree(EDGE, &["--profile", "edge"]),
    cotree("cotree edge, --threads on", &["--profile", "edge", "--threads", "on"]),
    cotree("cotree vertex", &["--profile", "vertex"]),
    cotree("cotree vertex-edge", &["--profile", "vertex-edge"]),
    cotree("cotree block", &["--profile", "block"]),
    Variant { name: "LLVM", tool: Tool::Llvm, options: &[], rust: Some(&[]) },
    Variant {
        name: JUDGES[0],
        tool: Tool::Llvm,
        options: &["-fprofile-generate", "-mllvm", "-disable-vp"],
        rust: Some(&["-Cprofile-generate", "-Cllvm-args=-disable-vp"]),
    },
    Variant {
        name: JUDGES[1],
        tool: Tool::Llvm,
        options: &["-fprofile-generate", "-mllvm", "-disable-vp", "-mllvm", "-do-counter-promotion=false"],
        rust: Some(&["-Cprofile-generate", "-Cllvm-args=-disable-vp -do-counter-promotion=false"]),
    },
    Variant {
        name: "LLVM -fprofile-instr-generate",
        tool: Tool::Llvm,
        options: &["-fprofile-instr-generate"],
        rust: Some(&["-Cinstrument-coverage"]),
    },
    Variant { name: "gcc", tool: Tool::Gcc, options: &[], rust: None },
    Variant { name: "gcc --coverage", tool: Tool::Gcc, options: &["--coverage"], rust: None },
];

impl Variant {
    /// Is this what its tool's others are compared with?
    pub fn is_base(&self) -> bool {
        ALL.iter().find(|variant| variant.tool == self.tool).is_some_and(|base| base.name == self.name)
    }

    /// A name for folders.
    pub fn slug(&self) -> String {
        self.name.replace([' ', ','], "_")
    }

    /// The command that builds a C program, at -O2.
    pub fn c(&self, program: &crate::programs::Program, context: &Context, output: &Path) -> Command {
        let options = [&["-O2"], self.options].concat();
        match self.tool {
            Tool::Cotree => program.build(context.cotree_cc(self.options, program.cxx), &["-O2"], output),
            Tool::Llvm => program.build(context.plain(program.cxx), &options, output),
            Tool::Gcc => program.build(Command::new(if program.cxx { "g++" } else { "gcc" }), &options, output),
        }
    }

    /// The command that builds a Rust package with its release profile, and the executable that it makes.
    pub fn rust(
        &self,
        package: &Package,
        context: &Context,
        source: &Path,
        target: &Path,
    ) -> Option<(Command, PathBuf)> {
        let flags = self.rust?;
        let (mut command, executable) = if self.tool == Tool::Cotree {
            let mut cotree = context.cotree();
            cotree.args(self.options).arg("cargo");
            package.build_profiled(cotree, source, target, "3")
        } else {
            package.build(workspace::cargo(), source, target, "3")
        };
        if !flags.is_empty() {
            command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        }
        Some((command, executable))
    }
}
