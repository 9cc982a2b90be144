//! The builds that are measured: one per method in cotree's list of them, then options, then other tools.

use crate::real::Context;
use crate::{command, tools};
use anyhow::Result;
use cotree_core::method::METHODS;
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
            Tool::Cotree | Tool::Passes => NONE,
            Tool::Llvm | Tool::Bolt => "LLVM",
            Tool::Gcc => "gcc",
        }
    }
}

/// One set of build options.
#[derive(Clone)]
pub struct Variant {
    /// As the tables name it.
    pub name: String,
    /// Who builds.
    pub tool: Tool,
    /// Options of cotree, of opt, or of the C compiler.
    pub options: Vec<&'static str>,
    /// Options of the C compiler where it links for cotree.
    pub linking: Vec<&'static str>,
    /// Options of rustc; cotree's are those above.
    pub rust: Option<Vec<&'static str>>,
    /// Give it the profile of [`EDGE`]'s run as `--weights`.
    pub weights: bool,
    /// Part of `--time`.
    pub timed: bool,
    /// Part of `--quick`.
    pub quick: bool,
    /// One of cotree's methods as it is by default, no option of it.
    pub method: bool,
}

/// The methods that Rust programs are built with, too. They take long to build.
const OF_RUST: [&str; 3] = ["none", "edge", "path"];
/// The builds that `--time` measures.
const TIMED: [&str; 4] = ["none", "block", "edge", "path"];
/// The builds that `--quick` measures.
const QUICK: [&str; 3] = ["none", "edge", "path"];

/// What cotree's builds are compared with.
pub const NONE: &str = "cotree none";
/// cotree's default method.
pub const EDGE: &str = "cotree edge";
/// A counter for every block and edge.
pub const BLOCK: &str = "cotree block";
/// Edge counters, and loop variables in place of some.
pub const AFFINE: &str = "cotree edge, affine alone";
/// Edge counters by the counts of the very run.
pub const WEIGHTED: &str = "cotree edge, --weights";
/// Paths across functions.
pub const ACROSS: &str = "cotree ipath";
/// Edge counters with nothing but counters on a spanning tree.
pub const PLAIN: &str = "cotree edge, plain";
/// One counter of events, on the chords of spanning trees.
pub const EVENTS: &str = "cotree events";
/// Counters of events by an addition at every stretch of code.
pub const NAIVE_EVENTS: &str = "cotree events, naive";
/// The first, with limits.
pub const EVENT_LIMITS: &str = "cotree events, --event-limit";
/// Whole executions, each function by the cheapest encoding.
pub const TRACE: &str = "cotree trace";
/// The newest part of them.
pub const TRACE_RING: &str = "cotree trace, --trace-ring 16M";
/// By one encoding for all functions.
pub const TRACE_BY: [&str; 3] =
    ["cotree trace, --trace-by witness", "cotree trace, --trace-by bits", "cotree trace, --trace-by paths"];
/// With a record of each branch, as before there were witnesses.
pub const TRACE_BRANCHES: &str = "cotree trace, a record per branch";
/// Path profiles.
pub const PATH: &str = "cotree path";
/// The two forms of the peer that cotree is judged by.
pub const JUDGES: [&str; 2] = ["LLVM -fprofile-generate", "LLVM -fprofile-generate, no promotion"];

fn variant(name: &str, tool: Tool, options: &[&'static str]) -> Variant {
    Variant {
        name: name.to_owned(),
        tool,
        options: options.to_vec(),
        linking: Vec::new(),
        rust: None,
        weights: false,
        timed: false,
        quick: false,
        method: false,
    }
}

/// cotree's build by a method, without further options: a new method is measured and has its column without any change
/// here.
fn method(method: &'static str) -> Variant {
    let plain = variant(&format!("cotree {method}"), Tool::Cotree, &["--profile", method]);
    Variant {
        rust: OF_RUST.contains(&method).then(Vec::new),
        timed: TIMED.contains(&method),
        quick: QUICK.contains(&method),
        method: true,
        ..plain
    }
}

fn cotree(name: &str, method: &'static str, options: &[&'static str]) -> Variant {
    variant(&format!("cotree {name}"), Tool::Cotree, &[&["--profile", method], options].concat())
}

/// cotree's edge profile with the given optimisations, and all others off.
fn edge(name: &str, affine: &'static str, flow: &'static str) -> Variant {
    let others = ["--promote", "off", "--branch-hints", "off"];
    cotree(name, "edge", &[&["--affine", affine, "--interprocedural-flow", flow], &others[..]].concat())
}

/// A second copy of [`NONE`]'s executables: how far its times are from those of the first is the noise of `--time`.
pub fn copy_of_none() -> Variant {
    cotree("none, a copy", "none", &[]).rust(&[]).timed()
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

    fn linking(self, options: &[&'static str]) -> Variant {
        Variant { linking: options.to_vec(), ..self }
    }

    fn rust(self, options: &[&'static str]) -> Variant {
        Variant { rust: Some(options.to_vec()), ..self }
    }

    /// Whether its tool's others are compared with this one.
    pub fn is_base(&self) -> bool {
        self.name == self.tool.base()
    }

    /// Whether it is independent of what cotree does.
    pub fn is_peer(&self) -> bool {
        self.tool != Tool::Cotree
    }

    /// Whether it starts from the objects that `cotree cc` compiles.
    pub fn shares_objects(&self) -> bool {
        matches!(self.tool, Tool::Cotree | Tool::Passes)
    }

    /// Whether the compiler must know its options, so that it shares no objects.
    pub fn concerns_compiler(&self) -> bool {
        self.has_coverage_map() || self.options.contains(&"--event-limit")
    }

    /// Whether cotree keeps the compiler's coverage map in it.
    pub fn has_coverage_map(&self) -> bool {
        self.options.contains(&"--coverage")
    }

    /// A name for folders.
    pub fn slug(&self) -> String {
        self.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_")
    }
}

/// All builds, in the order of the tables.
pub fn table() -> Vec<Variant> {
    use Tool::{Bolt, Gcc, Llvm, Passes};
    let generate = ["-fprofile-generate", "-mllvm", "-disable-vp"];
    let mut table: Vec<Variant> = METHODS.iter().map(|entry| method(entry.name)).collect();
    table.extend([
        edge("edge, plain", "off", "off").rust(&[]).quick().timed(),
        edge("edge, affine alone", "on", "off"),
        edge("edge, flow alone", "off", "on"),
        edge("edge, affine and flow", "on", "on"),
        cotree("edge, --promote off", "edge", &["--promote", "off"]),
        cotree("edge, --branch-hints off", "edge", &["--branch-hints", "off"]),
        cotree("edge, --weights", "edge", &[]).weighted().rust(&[]).timed(),
        cotree("edge, --threads on", "edge", &["--threads", "on"]),
        cotree("path, --weights", "path", &[]).weighted(),
        // With 65536, the counters of SQLite and of zstd lie where valgrind itself wants to be.
        cotree("path, --path-array 16384", "path", &["--path-array", "16384"]),
        cotree("events, naive", "events", &[]).linking(&["--cotree-event-placement=blocks"]),
        cotree("events, --event-limit", "events", &["--event-limit"]),
        cotree("trace, --trace-ring 16M", "trace", &["--trace-ring", "16M"]),
        cotree("trace, --trace-by witness", "trace", &["--trace-by", "witness"]),
        cotree("trace, --trace-by bits", "trace", &["--trace-by", "bits"]),
        cotree("trace, --trace-by paths", "trace", &["--trace-by", "paths"]),
        cotree("trace, a record per branch", "trace", &["--trace-by", "paths"])
            .linking(&["--cotree-trace-placement=branches"]),
        cotree("ipath-hybrid=leaf", "ipath-hybrid=leaf", &[]),
        cotree("ipath-hybrid=file", "ipath-hybrid=file", &[]),
        variant("cotree coverage", Tool::Cotree, &["--coverage"]).rust(&[]),
        variant("cotree coverage, --mcdc", Tool::Cotree, &["--coverage", "--mcdc"]).rust(&[]),
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
        // clang has decisions of at most 32,767 vectors; `-fcoverage-mcdc` is its option alone, no longer rustc's.
        variant("LLVM coverage, MC/DC", Llvm, &["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"]),
        variant("BOLT -instrument", Bolt, &["-Wl,--emit-relocs"]),
        variant("gcc", Gcc, &[]).quick().timed(),
        variant("gcc --coverage", Gcc, &["--coverage"]).quick().timed(),
        variant("gcc -fprofile-generate", Gcc, &["-fprofile-generate", "-fno-profile-values"]).timed(),
    ]);
    table
}

/// The builds that can be made here, and sentences about the others.
pub fn available(context: &Context) -> Result<(Vec<Variant>, Vec<String>)> {
    let help = command::text(context.cotree().arg("--help"))?;
    let (mut variants, mut missing) = (Vec::new(), Vec::new());
    for mut variant in table() {
        let lacks = match variant.tool {
            Tool::Cotree => unknown(&mut variant, &help).map(|option| format!("this cotree has no `{option}`")),
            Tool::Passes if tools::find(&context.clang.llvm("opt")).is_none() => Some("there is no opt".into()),
            Tool::Passes if !profile_runtime(context)?.exists() => Some("there is no libclang_rt.profile".into()),
            Tool::Bolt if bolt(context).is_none() => Some("there is no llvm-bolt".into()),
            Tool::Gcc if tools::find("g++").is_none() => Some("there is no g++".into()),
            _ => None,
        };
        match lacks {
            Some(reason) => missing.push(format!("{}: can't be measured here, {reason}.", variant.name)),
            None => variants.push(variant),
        }
    }
    Ok((variants, missing))
}

/// An option or a method that this cotree doesn't know. An option that would switch off what it doesn't have is left
/// out instead.
fn unknown(variant: &mut Variant, help: &str) -> Option<&'static str> {
    let has = |word: &str| help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).any(|part| part == word);
    let mut kept = Vec::new();
    for pair in variant.options.chunks(2) {
        let method = pair.get(1).and_then(|method| method.split('=').next());
        if pair[0] == "--profile" && !method.is_some_and(has) {
            return Some(pair[1]);
        }
        if has(pair[0]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_a_build() {
        let table = table();
        for entry in METHODS {
            let build = table.iter().find(|variant| variant.name == format!("cotree {}", entry.name));
            assert!(build.is_some_and(|variant| variant.method), "{}", entry.name);
        }
        let of_papers = [BLOCK, AFFINE, WEIGHTED, ACROSS];
        let named = [NONE, EDGE, PLAIN, PATH, EVENTS, NAIVE_EVENTS, EVENT_LIMITS, TRACE, TRACE_RING, TRACE_BRANCHES];
        for name in named.iter().chain(&of_papers).chain(&TRACE_BY).chain(&JUDGES) {
            assert!(table.iter().any(|variant| variant.name == *name), "{name}");
        }
        for variant in &table {
            assert!(table.iter().any(|base| base.name == variant.tool.base()), "{} has no base", variant.name);
        }
    }

    #[test]
    fn what_an_older_cotree_lacks_is_left_out_or_named() {
        let help = "--profile <PROFILE> - edge: Edges --affine <AFFINE>";
        let mut known = edge("edge, affine alone", "on", "off");
        assert_eq!(unknown(&mut known, help), None);
        assert_eq!(known.options, ["--profile", "edge", "--affine", "on"]);
        assert_eq!(unknown(&mut method("path"), help), Some("path"));
        assert_eq!(unknown(&mut cotree("edge, --threads on", "edge", &["--threads", "on"]), help), Some("--threads"));
    }
}
