//! Instructions of each build over its base.

use super::instructions::Counter;
use super::variants::{ALL, EDGE, JUDGES, Variant};
use crate::programs::Program;
use crate::real::Context;
use crate::rust_programs::Package;
use crate::table::Table;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::{Display, Formatter};
use std::path::Path;
use std::sync::Mutex;

/// Instructions by program and build.
#[derive(Default)]
pub struct Overheads {
    programs: Vec<(&'static str, BTreeMap<&'static str, u64>)>,
}

/// What one build executed, and all output of it.
type Measured = (u64, Vec<u8>);

impl Overheads {
    /// Builds and runs a C program in all variants.
    pub fn measure_c(&mut self, program: &Program, context: &Context, counter: Counter) -> Result<()> {
        self.measure(program.name, |variant, folder| {
            let executable = folder.join("program");
            command::succeed(&mut variant.c(program, context, &executable))?;
            run(&executable, program.runs.iter(), folder, counter).map(Some)
        })
    }

    /// Builds and runs a Rust program in all variants that rustc has.
    pub fn measure_rust(&mut self, package: &Package, context: &Context, counter: Counter) -> Result<()> {
        self.measure(package.name, |variant, folder| {
            let source = folder.join("source");
            package.unpack(&source)?;
            let Some((mut build, executable)) = variant.rust(package, context, &source, &folder.join("target")) else {
                return Ok(None);
            };
            command::succeed(&mut build)?;
            run(&executable, package.runs.iter().map(|(arguments, _)| arguments), folder, counter).map(Some)
        })
    }

    fn measure(
        &mut self,
        name: &'static str,
        one: impl Fn(&Variant, &Path) -> Result<Option<Measured>> + Sync,
    ) -> Result<()> {
        eprint!("{name}:");
        let folder = workspace::scratch().join("bench").join(name);
        let waiting = Mutex::new(ALL.iter());
        let results = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(|| {
                    loop {
                        let Some(variant) = waiting.lock().expect("nothing panics here").next() else { break };
                        let folder = folder.join(variant.slug());
                        let result = workspace::fresh(&folder).and_then(|()| one(variant, &folder));
                        eprint!(" {}", variant.slug());
                        results.lock().expect("nothing panics here").push((variant, result));
                    }
                });
            }
        });
        eprintln!();
        let mut counts = BTreeMap::new();
        let mut outputs: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        for (variant, result) in results.into_inner().expect("nothing panics here") {
            let measured = result.with_context(|| format!("{name}, {}", variant.name))?;
            if let Some((count, output)) = measured {
                counts.insert(variant.name, count);
                outputs.insert(variant.name, output);
            }
        }
        let reference = outputs.values().next().context("some variant ran")?;
        for (variant, output) in &outputs {
            ensure!(output == reference, "{name} printed something else when built by {variant}");
        }
        self.programs.push((name, counts));
        Ok(())
    }

    /// Instructions over those of the base, for one program.
    fn ratio(counts: &BTreeMap<&str, u64>, variant: &Variant) -> Option<f64> {
        let base = ALL.iter().find(|base| base.tool == variant.tool)?;
        Some(*counts.get(variant.name)? as f64 / *counts.get(base.name)? as f64)
    }

    /// The total over all programs that the variant exists for, and the geometric mean.
    fn summary(&self, variant: &Variant) -> Option<(f64, f64)> {
        let base = ALL.iter().find(|base| base.tool == variant.tool)?;
        let (mut all, mut bases, mut logarithms, mut count) = (0u64, 0u64, 0.0, 0.0);
        for (_, counts) in &self.programs {
            let Some(ratio) = Self::ratio(counts, variant) else { continue };
            all += counts[variant.name];
            bases += counts[base.name];
            logarithms += ratio.ln();
            count += 1.0;
        }
        (count > 0.0).then(|| (all as f64 / bases as f64, (logarithms / count).exp()))
    }
}

/// All runs of one executable.
fn run<'a>(
    executable: &Path,
    runs: impl Iterator<Item = &'a Vec<String>>,
    folder: &Path,
    counter: Counter,
) -> Result<Measured> {
    let profile = |name: &str| -> OsString { folder.join(name).into() };
    let environment = [
        ("COTREE_FILE", profile("profile.cotree")),
        ("LLVM_PROFILE_FILE", profile("profile.profraw")),
        ("RUST_BACKTRACE", "0".into()),
    ];
    let (mut total, mut all) = (0, Vec::new());
    for arguments in runs {
        let (count, output) = counter.run(executable, arguments, folder, &environment)?;
        total += count;
        all.extend(&output.stdout);
        all.extend(command::ending(&output).to_string().into_bytes());
    }
    Ok((total, all))
}

fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "–".into(), |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0))
}

impl Display for Overheads {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "## Instructions over each tool's own build without counters, at -O2 (Rust: release)\n")?;
        let names = self.programs.iter().map(|(name, _)| *name);
        let mut table = Table::new(["build"].into_iter().chain(names.clone()).chain(["total", "geometric mean"]));
        for variant in ALL.iter().filter(|variant| !variant.is_base()) {
            let summary = self.summary(variant);
            let mut row = vec![variant.name.to_owned()];
            row.extend(self.programs.iter().map(|(_, counts)| percent(Self::ratio(counts, variant))));
            row.extend([percent(summary.map(|s| s.0)), percent(summary.map(|s| s.1))]);
            table.row(row);
        }
        writeln!(f, "{table}")?;
        writeln!(f, "Millions of instructions without counters:\n")?;
        let mut table = Table::new(["build"].into_iter().chain(names));
        for variant in ALL.iter().filter(|variant| variant.is_base()) {
            let mut row = vec![variant.name.to_owned()];
            let millions = |counts: &BTreeMap<&str, u64>| counts.get(variant.name).map(|c| *c as f64 / 1e6);
            row.extend(self.programs.iter().map(|(_, c)| millions(c).map_or("–".into(), |m| format!("{m:.1}"))));
            table.row(row);
        }
        writeln!(f, "{table}")?;
        self.judge(f)
    }
}

impl Overheads {
    /// cotree against the better of the peer's two forms.
    fn judge(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let named = |name: &str| ALL.iter().find(|variant| variant.name == name);
        let (Some(ours), judges) = (named(EDGE), JUDGES.map(named)) else { return Ok(()) };
        let best =
            |ratio: &dyn Fn(&Variant) -> Option<f64>| judges.iter().flatten().filter_map(|v| ratio(v)).reduce(f64::min);
        let mut table = Table::new(["", "cotree edge", "better -fprofile-generate", "cotree / peer"]);
        let mut row = |name: &str, ours: Option<f64>, peer: Option<f64>| {
            let relation = ours.zip(peer).map_or("–".into(), |(ours, peer)| format!("{:.3}", ours / peer));
            table.row([name.to_owned(), percent(ours), percent(peer), relation]);
        };
        for (name, counts) in &self.programs {
            row(name, Self::ratio(counts, ours), best(&|v| Self::ratio(counts, v)));
        }
        row("total", self.summary(ours).map(|s| s.0), best(&|v| self.summary(v).map(|s| s.0)));
        writeln!(
            f,
            "Against the better of counter promotion on and off (wanted: at most 1 in total, 1.1 for each):\n\n{table}"
        )
    }
}
