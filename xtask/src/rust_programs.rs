//! The Rust programs of the suites: ripgrep as it was published, and one of ours that lives in regex and serde_json.

use crate::programs::Workload;
use crate::real::{self, Context, Expected};
use crate::sources::Sources;
use crate::suite::Suite;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The machine that everything is built for: named, so that build scripts are not.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A Rust package with a Cargo.lock.
#[derive(Clone)]
pub struct Package {
    /// The name of the package in tables and folders.
    pub name: &'static str,
    /// The executable.
    pub executable: &'static str,
    /// Where it is.
    pub source: PathBuf,
    /// Argument lists to run it with, and whether the order of output lines means anything.
    pub runs: Vec<(Vec<String>, bool)>,
}

fn strings(all: &[&str]) -> Vec<String> {
    all.iter().map(|&text| text.to_owned()).collect()
}

/// ripgrep, over the sources that were fetched.
pub fn ripgrep(sources: &Sources) -> Package {
    let tree = sources.lua().parent().expect("it is in a package").display().to_string();
    let zstd = sources.zstd().display().to_string();
    let sqlite = sources.sqlite().display().to_string();
    let one = |arguments: &[&str]| (strings(arguments), true);
    Package {
        name: "ripgrep",
        executable: "rg",
        source: sources.ripgrep(),
        runs: vec![
            one(&["--sort", "path", "--line-number", r"lua_(push\w+|to(integer|number))\(", &tree]),
            one(&["--sort", "path", "--ignore-case", "--count-matches", "--glob", "*.h", "zstd_[a-z]+", &zstd]),
            one(&["--threads=1", "--word-regexp", "--only-matching", "--max-count=20", "sqlite3_[a-z]*64", &sqlite]),
            (strings(&["--threads", "4", "--files-with-matches", "static", &tree, &zstd]), false),
            one(&["--json", "--sort", "path", "-e", "setjmp", "-e", "longjmp", &tree]),
            one(&["no such text (", &tree]),
        ],
    }
}

/// Ours.
pub fn json_regex(sources: &Sources, workload: Workload) -> Package {
    let header = |name: &str| sources.sqlite().join(name).display().to_string();
    let (rounds, file) = match workload {
        Workload::Long => ("1", header("sqlite3.h")),
        Workload::Full => ("3", header("sqlite3.h")),
        Workload::Small => ("1", header("sqlite3ext.h")),
        Workload::Tiny | Workload::Start => ("1", sources.lua().join("lua.h").display().to_string()),
    };
    Package {
        name: "json-regex",
        executable: "json-regex",
        source: workspace::program_file("json-regex"),
        runs: vec![(strings(&[rounds, &file]), true)],
    }
}

/// Ours, of the standard library alone.
pub fn iterators(workload: Workload) -> Package {
    Package {
        name: "iterators",
        executable: "iterators",
        source: workspace::program_file("iterators"),
        runs: vec![(strings(&[workload.pick_of_four("300000", "1000000", "60000", "10000")]), true)],
    }
}

/// Ours, whose benches are of two harnesses.
pub fn harnesses() -> Package {
    Package {
        name: "harnesses",
        executable: "harnesses",
        source: workspace::program_file("harnesses"),
        runs: Vec::new(),
    }
}

/// Ours, with threads.
pub fn threads(workload: Workload) -> Package {
    Package {
        name: "threads",
        executable: "threads",
        source: workspace::program_file("threads"),
        runs: vec![(strings(&[workload.pick_of_four("30000", "100000", "6000", "1000")]), true)],
    }
}

impl Package {
    /// Copies the package to a folder of its own: cargo must not take it for a member of our workspace.
    pub fn unpack(&self, folder: &Path) -> Result<()> {
        copy(&self.source, folder)?;
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest)?;
        if !text.contains("[workspace]") {
            fs::write(&manifest, text + "\n[workspace]\n")?;
        }
        Ok(())
    }

    /// `… build --release --locked --target=…` in that folder, and where the executable will be.
    pub fn build(&self, mut cargo: Command, folder: &Path, target: &Path, level: &str) -> (Command, PathBuf) {
        cargo.args(["build", "--release", "--locked", "--target", TARGET]);
        cargo.current_dir(folder).env("CARGO_TARGET_DIR", target).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", level);
        for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            cargo.env_remove(name);
        }
        (cargo, target.join(TARGET).join("release").join(self.executable))
    }

    /// Builds through `cotree cargo`, which keeps what it builds apart, in a folder of its own below the target folder.
    pub fn build_profiled(&self, cotree: Command, folder: &Path, target: &Path, level: &str) -> (Command, PathBuf) {
        let (command, _) = self.build(cotree, folder, target, level);
        (command, target.join("cotree").join(TARGET).join("release").join(self.executable))
    }

    /// Runs it with the arguments of that number, in a folder; what it writes is without what differs from run to run.
    pub fn run(&self, executable: &Path, index: usize, folder: &Path, profile: &Path) -> Result<Output> {
        let (arguments, ordered) = &self.runs[index];
        let mut command = Command::new(executable);
        command.args(arguments).current_dir(folder).env("RUST_BACKTRACE", "0").env("COTREE_FILE", profile);
        let mut output = command::output(&mut command)?;
        // Times of its own run that ripgrep tells.
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines: Vec<&str> = text.lines().filter(|line| !line.contains("\"elapsed")).collect();
        if !ordered {
            lines.sort_unstable();
        }
        output.stdout = lines.join("\n").into_bytes();
        Ok(output)
    }
}

/// Copies a tree of files and folders.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("no folder {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "target" {
                copy(&entry.path(), &target)?;
            }
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let sources = &context.sources;
    for package in [ripgrep(sources), json_regex(sources, Workload::Full), iterators(Workload::Full)] {
        let levels: &[&'static str] = match (context.all, package.name) {
            (true, _) => &["0", "1", "2", "3", "s"],
            (false, "ripgrep") => &["3"],
            (false, "iterators") => &["0"],
            (false, _) => &[],
        };
        let usual = Build { level: "3", method: "edge", lto: None };
        let mut builds: Vec<Build> = levels.iter().map(|&level| Build { level, ..usual }).collect();
        if context.all && package.name != "ripgrep" {
            let across = ["0", "2"].into_iter().flat_map(|level| real::ACROSS.map(|method| (level, method)));
            builds.extend(across.map(|(level, method)| Build { level, method, ..usual }));
        }
        for lto in ["thin", "fat"] {
            if context.all || (package.name, lto) == ("iterators", "thin") {
                builds.push(Build { lto: Some(lto), ..usual });
            }
        }
        add_builds(suite, context, &package, builds);
    }
    // Of traces every block is followed: these are short.
    let json_regex = json_regex(sources, Workload::Tiny);
    for package in [ripgrep(sources), json_regex, iterators(Workload::Tiny), threads(Workload::Tiny)] {
        let levels: &[&'static str] = match (context.all, package.name) {
            (true, "ripgrep") => &["3"],
            (true, _) => &["0", "2"],
            (false, "threads") => &["2"],
            (false, _) => &[],
        };
        let builds = levels.iter().map(|&level| Build { level, method: "trace", lto: None });
        add_builds(suite, context, &package, builds.collect());
    }
}

fn add_builds(suite: &mut Suite, context: &Context, package: &Package, builds: Vec<Build>) {
    let expected = Expected::default();
    for build in builds {
        let (package, context, expected) = (package.clone(), context.clone(), expected.clone());
        suite.add(build.name(&package), move || check(&package, build, &context, &expected));
    }
}

/// The profile of a package's first run, built in a folder with counters for edges.
pub fn profile(package: &Package, context: &Context, folder: &Path) -> Result<PathBuf> {
    let source = folder.join("source");
    package.unpack(&source)?;
    let mut cotree = context.cotree();
    cotree.arg("cargo");
    let (mut build, ours) = package.build_profiled(cotree, &source, &folder.join("ours"), "3");
    command::succeed(&mut build)?;
    let profile = folder.join("run.cotree");
    package.run(&ours, 0, folder, &profile)?;
    Ok(profile)
}

/// How a package is built.
#[derive(Clone, Copy)]
struct Build {
    level: &'static str,
    method: &'static str,
    /// `lto` of the cargo profile, if it is not the package's own.
    lto: Option<&'static str>,
}

impl Build {
    fn name(self, package: &Package) -> String {
        let lto = self.lto.map(|lto| format!(" lto={lto}")).unwrap_or_default();
        format!("verify {} opt-level={} {}{lto}", package.name, self.level, self.method)
    }
}

fn check(package: &Package, how: Build, context: &Context, expected: &Expected) -> Result<String> {
    let folder = workspace::scratch().join("rust").join(how.name(package).replace([' ', '='], "-"));
    let source = folder.join("source");
    workspace::fresh(&folder)?;
    package.unpack(&source)?;
    let run = |executable: &Path, index: usize| {
        package.run(executable, index, &folder, &folder.join(format!("{index}.cotree")))
    };
    let expected = expected.or_find(|| {
        let (mut build, plain) = package.build(workspace::cargo(), &source, &folder.join("plain"), "0");
        command::succeed(build.arg("--quiet"))?;
        (0..package.runs.len()).map(|index| run(&plain, index)).collect()
    })?;
    let mut cotree = context.cotree();
    cotree.args(["--verify", "--profile", how.method, "cargo"]);
    if let Some(lto) = how.lto {
        cotree.env("CARGO_PROFILE_RELEASE_LTO", lto);
    }
    let (mut build, ours) = package.build_profiled(cotree, &source, &folder.join("ours"), how.level);
    command::succeed(&mut build)?;
    ensure!(ours.exists(), "{} was not built at {}", package.name, ours.display());
    let mut notes = BTreeSet::new();
    for (index, expected) in expected.iter().enumerate() {
        let what = || format!("{:?}", package.runs[index].0);
        real::same(expected, &run(&ours, index)?).with_context(what)?;
        notes.insert(real::verified(context, &folder.join(format!("{index}.cotree"))).with_context(what)?);
    }
    fs::remove_dir_all(&folder)?;
    Ok(notes.into_iter().collect::<Vec<_>>().join("; "))
}
