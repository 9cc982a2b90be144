//! The builds that are measured: a table to which a row is easily added.

use crate::real::Context;
use crate::{command, tools};
use anyhow::Result;
use std::path::PathBuf;
use std::process::Command;

/// Who builds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Tool {
    /// cotree.
    Cotree,
    /// LLVM's own passes, put where cotree puts its probes: between the compiler and cotree's link.
    Passes,
    /// clang or rustc alone.
    Llvm,
    /// clang, then BOLT.
    Bolt,
    /// gcc alone.
    Gcc,
}

impl Tool {
    /// The build without counters that its others are compared with.
    pub fn base(self) -> &'static str {
        match self {
            Tool::Cotree | Tool::Passes => "cotree none",
            Tool::Llvm | Tool::Bolt => "LLVM",
            Tool::Gcc => "gcc",
        }
    }
}

/// One way to build.
#[derive(Clone)]
pub struct Variant {
    /// As the tables name it.
    pub name: &'static str,
    /// Who builds.
    pub tool: Tool,
    /// Options of cotree, of opt, or of the C compiler.
    pub options: Vec<&'static str>,
    /// The same for rustc; cotree's are those above.
    pub rust: Option<Vec<&'static str>>,
    /// Give it the profile of [`EDGE`]'s run as `--weights`.
    pub weights: bool,
    /// Take its time, too.
    pub timed: bool,
    /// Part of `--quick` and `--few`.
    quick: bool,
}

/// cotree's default method.
pub const EDGE: &str = "cotree edge";
/// The same with nothing but counters on a spanning tree.
pub const PLAIN: &str = "cotree edge, plain";
/// The same with an exact profile of the same run.
pub const EDGE_WEIGHTS: &str = "cotree edge, --weights";
/// Path profiles.
pub const PATH: &str = "cotree path";
/// The two forms of the peer that cotree is judged by.
pub const JUDGES: [&str; 2] = ["LLVM -fprofile-generate", "LLVM -fprofile-generate, no promotion"];

fn variant(name: &'static str, tool: Tool, options: &[&'static str]) -> Variant {
    let options = options.to_vec();
    Variant { name, tool, options, rust: None, weights: false, timed: false, quick: false }
}

fn cotree(name: &'static str, method: &'static str, options: &[&'static str]) -> Variant {
    variant(name, Tool::Cotree, &[&["--profile", method], options].concat())
}

/// cotree's edge profile with its optimisations as told, and all others off.
fn edge(name: &'static str, affine: &'static str, flow: &'static str) -> Variant {
    let others = ["--promote", "off", "--branch-hints", "off"];
    cotree(name, "edge", &[&["--affine", affine, "--interprocedural-flow", flow], &others[..]].concat())
}

impl Variant {
    fn quick(self) -> Variant {
        Variant { quick: true, ..self }
    }

    fn timed(self) -> Variant {
        Variant { timed: true, ..self }
    }

    fn weighted(self) -> Variant {
        Variant { weights: true, ..self }
    }

    fn rust(self, options: &[&'static str]) -> Variant {
        Variant { rust: Some(options.to_vec()), ..self }
    }

    /// Is this what its tool's others are compared with?
    pub fn is_base(&self) -> bool {
        self.name == self.tool.base()
    }

    /// A name for folders.
    pub fn slug(&self) -> String {
        self.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
    }
}

/// All rows.
fn table() -> Vec<Variant> {
    use Tool::{Bolt, Gcc, Llvm, Passes};
    let generate = ["-fprofile-generate", "-mllvm", "-disable-vp"];
    vec![
        cotree("cotree none", "none", &[]).rust(&[]).quick().timed(),
        cotree("cotree block", "block", &[]).timed(),
        cotree("cotree vertex", "vertex", &[]),
        cotree("cotree vertex-edge", "vertex-edge", &[]),
        cotree(EDGE, "edge", &[]).rust(&[]).quick().timed(),
        edge(PLAIN, "off", "off").rust(&[]).quick().timed(),
        edge("cotree edge, affine alone", "on", "off"),
        edge("cotree edge, flow alone", "off", "on"),
        edge("cotree edge, affine and flow", "on", "on"),
        cotree("cotree edge, --promote off", "edge", &["--promote", "off"]),
        cotree("cotree edge, --branch-hints off", "edge", &["--branch-hints", "off"]),
        cotree(EDGE_WEIGHTS, "edge", &[]).weighted().rust(&[]).timed(),
        cotree("cotree edge, --threads on", "edge", &["--threads", "on"]),
        cotree(PATH, "path", &[]).rust(&[]).quick().timed(),
        cotree("cotree path, --weights", "path", &[]).weighted(),
        // With 65536, the counters of SQLite and of zstd lie where valgrind itself wants to be.
        cotree("cotree path, --path-array 16384", "path", &["--path-array", "16384"]),
        cotree("cotree path-context", "path-context", &[]),
        variant("LLVM's passes in our place", Passes, &["-do-counter-promotion"]),
        variant("LLVM's passes in our place, no promotion", Passes, &[]),
        variant("LLVM", Llvm, &[]).rust(&[]).quick().timed(),
        variant(JUDGES[0], Llvm, &generate).rust(&["-Cprofile-generate", "-Cllvm-args=-disable-vp"]).quick().timed(),
        variant(JUDGES[1], Llvm, &[&generate[..], &["-mllvm", "-do-counter-promotion=false"]].concat())
            .rust(&["-Cprofile-generate", "-Cllvm-args=-disable-vp -do-counter-promotion=false"])
            .timed(),
        variant("LLVM -fprofile-instr-generate", Llvm, &["-fprofile-instr-generate"]),
        variant("LLVM coverage", Llvm, &["-fprofile-instr-generate", "-fcoverage-mapping"])
            .rust(&["-Cinstrument-coverage"]),
        variant("BOLT -instrument", Bolt, &["-Wl,--emit-relocs"]),
        variant("gcc", Gcc, &[]).quick().timed(),
        variant("gcc --coverage", Gcc, &["--coverage"]).quick().timed(),
        variant("gcc -fprofile-generate", Gcc, &["-fprofile-generate", "-fno-profile-values"]).timed(),
    ]
}

/// The rows that can be built here, and sentences about the others.
pub fn available(context: &Context, few: bool) -> Result<(Vec<Variant>, Vec<String>)> {
    let help = command::text(context.cotree().arg("--help"))?;
    let (mut variants, mut missing) = (Vec::new(), Vec::new());
    for mut variant in table().into_iter().filter(|variant| variant.quick || !few) {
        let lacks = match variant.tool {
            Tool::Cotree => unknown(&mut variant, &help).map(|option| format!("this cotree has no `{option}`")),
            Tool::Passes if tools::find(&context.clang.llvm("opt")).is_none() => Some("there is no opt".into()),
            Tool::Passes if !profile_runtime(context)?.exists() => Some("there is no libclang_rt.profile".into()),
            Tool::Bolt if bolt(context).is_none() => Some("there is no llvm-bolt".into()),
            Tool::Gcc if tools::find("g++").is_none() => Some("there is no g++".into()),
            _ => None,
        };
        match lacks {
            Some(reason) => missing.push(format!("{}: not measured, {reason}.", variant.name)),
            None => variants.push(variant),
        }
    }
    Ok((variants, missing))
}

/// An option that this cotree doesn't know. One that would switch off what it doesn't have is left out instead.
fn unknown(variant: &mut Variant, help: &str) -> Option<&'static str> {
    let mut kept = Vec::new();
    for pair in variant.options.chunks(2) {
        let known = help.split_whitespace().any(|word| word == pair[0]);
        if known {
            kept.extend(pair);
        } else if pair.get(1) != Some(&"off") {
            return Some(pair[0]);
        }
    }
    variant.options = kept;
    None
}

/// The runtime that LLVM's counters need.
pub fn profile_runtime(context: &Context) -> Result<PathBuf> {
    let folder = command::text(Command::new(context.clang.c()).arg("--print-resource-dir"))?;
    Ok(PathBuf::from(folder.trim()).join("lib/linux/libclang_rt.profile-x86_64.a"))
}

/// The BOLT of the compiler's version.
pub fn bolt(context: &Context) -> Option<PathBuf> {
    tools::find(&context.clang.llvm("llvm-bolt"))
}
