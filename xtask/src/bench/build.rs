//! Building one program in one variant.
//!
//! cotree's builds of C programs share their objects: these are bitcode, in which nothing is measured yet. Compiler and
//! linker run in the root of the workspace and get all paths relative to it, since objects and the map contain them:
//! the same sources become the same executable wherever the workspace lies.

use super::subject::Subject;
use super::variants::{self, Tool, Variant};
use super::workers;
use crate::programs::Program;
use crate::real::Context;
use crate::rust_programs::Package;
use crate::{command, measure, workspace};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Whether a link keeps the machine code that it was made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// For [`Builder::moved`].
    Kept,
    /// As usual.
    Dropped,
}

/// What came of a build.
pub struct Built {
    /// The stripped executable.
    pub executable: PathBuf,
    /// Processor time of compiler and linker.
    pub cost: Duration,
}

/// Builds one subject in all variants.
pub struct Builder<'a> {
    context: &'a Context,
    subject: &'a Subject,
    /// What cotree's links start from, and what it took to compile.
    objects: Vec<PathBuf>,
    compiled: Duration,
}

impl<'a> Builder<'a> {
    /// Compiles the objects that the builds of cotree and of LLVM's passes share, where they are wanted, `jobs` files
    /// at a time.
    pub fn new(
        context: &'a Context,
        subject: &'a Subject,
        shared: bool,
        folder: &Path,
        jobs: usize,
    ) -> Result<Builder<'a>> {
        let mut builder = Builder { context, subject, objects: Vec::new(), compiled: Duration::ZERO };
        let Subject::C(program) = subject else { return Ok(builder) };
        if !shared {
            return Ok(builder);
        }
        let folder = folder.join("objects");
        workspace::fresh(&folder)?;
        let root = format!("{}/", workspace::root().display());
        let flags = program.flags.iter().map(|flag| flag.replace(&root, "")).collect();
        let program = Program { flags, ..program.clone() };
        let numbered: Vec<(usize, &PathBuf)> = program.sources.iter().enumerate().collect();
        let compiled = workers::each(jobs, &numbered, |(index, source)| -> Result<(PathBuf, Duration)> {
            let object = folder.join(format!("{index}.o"));
            let mut compiler = context.cotree_cc(&[], program.cxx);
            compiler.current_dir(workspace::root());
            let options = ["-O2", "-ffile-compilation-dir=."];
            let command = program.compile(compiler, &options, relative(source), relative(&object));
            let cost = measure::run(&command)?;
            Ok((object, cost.processor))
        });
        for result in compiled {
            let (object, cost) = result?;
            builder.objects.push(object);
            builder.compiled += cost;
        }
        Ok(builder)
    }

    /// Processor time that it took to compile the objects that builds share.
    pub fn compiled(&self) -> Duration {
        self.compiled
    }

    /// The bitcode of a C program.
    pub fn bitcode(&self) -> Result<Vec<PathBuf>> {
        let mut bitcode = Vec::new();
        for object in &self.objects {
            if is_bitcode(object)? {
                bitcode.push(object.clone());
            }
        }
        Ok(bitcode)
    }

    /// Builds a variant in an empty folder, and strips the executable of what nobody loads.
    pub fn build(&self, variant: &Variant, weights: Option<&Path>, parts: Parts, folder: &Path) -> Result<Built> {
        workspace::fresh(folder)?;
        let built = match self.subject {
            Subject::C(program) => self.build_c(program, variant, weights, parts, folder)?,
            Subject::Rust(package) => self.build_rust(package, variant, weights, folder)?,
        };
        let executable = folder.join("stripped");
        match variant.tool {
            // Old versions of valgrind fail on recent debug information,
            Tool::Cotree | Tool::Passes if !variant.has_coverage_map() => {
                strip("-g", &built.executable, &executable)?;
            }
            // and on symbols in the sections of clang's coverage;
            Tool::Cotree | Tool::Passes | Tool::Llvm | Tool::Gcc => strip("-s", &built.executable, &executable)?,
            // strip doesn't understand what BOLT wrote.
            Tool::Bolt => drop(fs::copy(&built.executable, &executable)?),
        }
        fs::remove_file(&built.executable)?;
        Ok(Built { executable, ..built })
    }

    /// Links cotree's build of a C program once more, its code moved by so many bytes; `None` for other builds. It must
    /// have been built in `folder` with [`Parts::Kept`].
    pub fn moved(&self, variant: &Variant, folder: &Path, bytes: usize) -> Result<Option<PathBuf>> {
        let Subject::C(program) = self.subject else { return Ok(None) };
        if variant.tool != Tool::Cotree {
            return Ok(None);
        }
        let (source, object) = (folder.join(format!("{bytes}.s")), folder.join(format!("{bytes}.o")));
        // The linker puts such sections in front of all others.
        let text = format!(
            ".section .text.unlikely,\"ax\",@progbits\n.p2align 4\n.skip {bytes}, 0xcc\n.section .note.GNU-stack,\"\",@progbits\n"
        );
        fs::write(&source, text).with_context(|| format!("can't write {}", source.display()))?;
        command::succeed(self.context.plain(false).arg("-c").arg(&source).arg("-o").arg(&object))?;
        let mut objects = vec![object];
        for own in &self.objects {
            if !is_bitcode(own)? {
                objects.push(own.clone());
            }
        }
        objects.append(&mut parts(folder)?);
        let executable = folder.join(format!("moved-{bytes}"));
        command::succeed(&mut self.link(program, variant, None, &objects, &executable))?;
        let stripped = folder.join(format!("stripped-{bytes}"));
        strip("-g", &executable, &stripped)?;
        fs::remove_file(&executable)?;
        Ok(Some(stripped))
    }

    /// cotree's link of a C program.
    fn link(
        &self,
        program: &Program,
        variant: &Variant,
        weights: Option<&Path>,
        objects: &[PathBuf],
        executable: &Path,
    ) -> Command {
        let mut linker = self.cotree(variant, weights);
        linker.arg(if program.cxx { "c++" } else { "cc" }).current_dir(workspace::root());
        let objects: Vec<PathBuf> = objects.iter().map(|object| relative(object).to_owned()).collect();
        let options = [&["-O2"], variant.linking.as_slice()].concat();
        program.link(linker, &options, &objects, relative(executable))
    }

    fn cotree(&self, variant: &Variant, weights: Option<&Path>) -> Command {
        let mut cotree = self.context.cotree();
        cotree.args(&variant.options);
        if let Some(weights) = weights.filter(|_| variant.weights) {
            cotree.arg("--weights").arg(weights);
        }
        cotree
    }

    fn build_c(
        &self,
        program: &Program,
        variant: &Variant,
        weights: Option<&Path>,
        parts: Parts,
        folder: &Path,
    ) -> Result<Built> {
        let executable = folder.join("program");
        let options = [&["-O2"], variant.options.as_slice()].concat();
        let run = |command: Command| anyhow::Ok(measure::run(&command)?.processor);
        let cost = match variant.tool {
            Tool::Cotree if variant.concerns_compiler() => {
                let mut compiler = self.cotree(variant, weights);
                compiler.arg(if program.cxx { "c++" } else { "cc" });
                run(program.build(compiler, &[&["-O2"], variant.linking.as_slice()].concat(), &executable))?
            }
            Tool::Cotree => {
                let mut link = self.link(program, variant, weights, &self.objects, &executable);
                if parts == Parts::Kept {
                    let folder = folder.join(PARTS);
                    workspace::fresh(&folder)?;
                    link.env("TMPDIR", folder).env("COTREE_KEEP_TEMPS", "1");
                }
                self.compiled + run(link)?
            }
            Tool::Passes => {
                let (mut objects, mut cost) = (Vec::new(), self.compiled);
                for object in &self.objects {
                    if !is_bitcode(object)? {
                        objects.push(object.clone());
                        continue;
                    }
                    let counted = folder.join(object.file_name().context("an object has a name")?);
                    let mut opt = Command::new(self.context.clang.llvm("opt"));
                    opt.args(["-passes=pgo-instr-gen,instrprof", "-disable-vp"]).args(&variant.options);
                    cost += run({
                        opt.arg(object).arg("-o").arg(&counted);
                        opt
                    })?;
                    objects.push(counted);
                }
                objects.push(variants::profile_runtime(self.context)?);
                let linker = self.context.cotree_cc(&["--profile", "none"], program.cxx);
                cost + run(program.link(linker, &["-O2", "-u__llvm_profile_runtime"], &objects, &executable))?
            }
            Tool::Llvm => run(program.build(self.context.plain(program.cxx), &options, &executable))?,
            Tool::Gcc => {
                run(program.build(Command::new(if program.cxx { "g++" } else { "gcc" }), &options, &executable))?
            }
            Tool::Bolt => {
                let plain = folder.join("plain");
                let cost = run(program.build(self.context.plain(program.cxx), &options, &plain))?;
                let mut bolt = Command::new(variants::bolt(self.context).context("it was found before")?);
                bolt.arg(&plain).args(["-instrument", "-o"]).arg(&executable);
                bolt.arg(format!("--instrumentation-file={}", folder.join("bolt.fdata").display()));
                cost + run(bolt)?
            }
        };
        Ok(Built { executable, cost })
    }

    fn build_rust(&self, package: &Package, variant: &Variant, weights: Option<&Path>, folder: &Path) -> Result<Built> {
        let (source, target) = (folder.join("source"), folder.join("target"));
        package.unpack(&source)?;
        let (mut command, built) = if variant.tool == Tool::Cotree {
            let mut cotree = self.cotree(variant, weights);
            cotree.arg("cargo");
            package.build_profiled(cotree, &source, &target, "3")
        } else {
            package.build(workspace::cargo(), &source, &target, "3")
        };
        if let Some(flags) = variant.rust.as_ref().filter(|flags| !flags.is_empty()) {
            command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        }
        let cost = measure::run(&command)?.processor;
        let executable = folder.join("program");
        fs::copy(&built, &executable).with_context(|| format!("{} was not built", built.display()))?;
        fs::remove_dir_all(&target)?;
        Ok(Built { executable, cost })
    }
}

/// The path as seen from the root of the workspace.
fn relative(path: &Path) -> &Path {
    path.strip_prefix(workspace::root()).unwrap_or(path)
}

/// Copies an executable without what `strip` takes away by this option.
pub fn strip(what: &str, from: &Path, to: &Path) -> Result<()> {
    command::succeed(Command::new("strip").arg(what).arg("-o").arg(to).arg(from)).map(drop)
}

/// Below the folder of a build: what cotree's linker made, machine code.
const PARTS: &str = "parts";

/// The machine code that the build in this folder was linked from, modules in order, then what cotree adds.
fn parts(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut parts = Vec::new();
    for made in fs::read_dir(folder.join(PARTS)).with_context(|| format!("no parts of {}", folder.display()))? {
        for part in fs::read_dir(made?.path())? {
            let part = part?.path();
            if part.extension().is_some_and(|extension| extension == "o") {
                let number = part.file_stem().and_then(|stem| stem.to_str()?.parse().ok()).unwrap_or(u32::MAX);
                parts.push((number, part));
            }
        }
    }
    ensure!(!parts.is_empty(), "no parts of {}", folder.display());
    parts.sort();
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

fn is_bitcode(object: &Path) -> Result<bool> {
    let mut magic = [0; 4];
    fs::File::open(object)?.read_exact(&mut magic)?;
    Ok(magic == *b"BC\xC0\xDE" || magic == [0xDE, 0xC0, 0x17, 0x0B])
}
