//! A regression of one percent or two, planted in one function of a crate: the gate closes and names the function, and
//! `cotree bisect` finds the commit among twenty.

use crate::command;
use crate::coverage_of_crates::document;
use crate::real::Context;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What is planted in a crate.
#[derive(Clone, Copy)]
pub struct Planted {
    /// The file.
    pub file: &'static str,
    /// The text behind which it is planted: the head of a function.
    pub behind: &'static str,
    /// How many turns a loop that does nothing has; with none, a value that the optimiser must keep takes its place.
    pub turns: u32,
    /// The function's name.
    pub function: &'static str,
    /// A benchmark that runs it.
    pub benchmark: &'static str,
}

/// The commit that brings it, of as many behind the first.
const FIRST: usize = 13;
const COMMITS: usize = 20;

impl Planted {
    fn plant(&self, package: &Path) -> Result<()> {
        let file = package.join(self.file);
        let text = fs::read_to_string(&file)?;
        ensure!(text.matches(self.behind).count() == 1, "{} has not one {:?}", self.file, self.behind);
        let added = match self.turns {
            0 => " core::hint::black_box(0_u8);".to_owned(),
            turns => format!(" for turn in 0..{turns}_u32 {{ core::hint::black_box(turn); }}"),
        };
        Ok(fs::write(&file, text.replace(self.behind, &format!("{}{added}", self.behind)))?)
    }

    /// Checks that the gate and the search find it; `package` is the root of a workspace with the crate `name`.
    pub fn find(&self, context: &Context, package: &Path, name: &str) -> Result<String> {
        let repository = package.join("repository");
        fs::create_dir(&repository)?;
        for part in [name, "Cargo.toml", "Cargo.lock"] {
            fs::rename(package.join(part), repository.join(part)).with_context(|| format!("no {part}"))?;
        }
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=A. U. Thor", "-c", "user.email=a@example.org"]).args(words);
            command::text(git.current_dir(&repository)).map(|text| text.trim().to_owned())
        };
        git(&["init", "--quiet"])?;
        let mut commits = Vec::new();
        for number in 0..=COMMITS {
            fs::write(repository.join("NUMBER"), number.to_string())?;
            if number == FIRST {
                self.plant(&repository.join(name))?;
            }
            git(&["add", "--all"])?;
            git(&["commit", "--quiet", "-m", &format!("Commit {number}")])?;
            commits.push(git(&["rev-parse", "HEAD"])?);
        }
        let prepared = |words: &[&str]| {
            let mut cotree = context.cotree();
            cotree.args(words).current_dir(&repository).env("CARGO_TARGET_DIR", package.join("target"));
            cotree.env("XDG_CACHE_HOME", package.join("cache")).env("CARGO_PROFILE_BENCH_DEBUG", "1");
            cotree.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
            cotree
        };
        let found = package.join("bisect.json");
        let (out, good) = (found.display().to_string(), format!("HEAD~{COMMITS}"));
        let cotree = context.cotree().get_program().to_string_lossy().into_owned();
        let bench = ["cargo", "bench", "-n", "1", "--", self.benchmark];
        let mut bisect =
            prepared(&["bisect", "--good", &good, "--format", "json", "--force", "-o", &out, "--", &cotree]);
        command::succeed(bisect.args(bench))?;
        let told = document(&found)?;
        let all = told["benchmarks"].as_array().context("no benchmarks")?;
        ensure!(!all.is_empty(), "nothing is dearer");
        let mut notes = Vec::new();
        for one in all {
            let title = one["name"].as_str().context("no name")?;
            ensure!(one["first_bad"] == FIRST && one["last_good"] == FIRST - 1, "{title}: {told}");
            let changed = one["changes"]["functions"].as_array().context("no functions")?;
            let names: Vec<&str> = changed.iter().filter_map(|change| change["name"].as_str()).collect();
            ensure!(names.iter().any(|name| name.contains(self.function)), "{title}: {names:?} changed");
            let of = |at: usize| one["amounts"][at]["amount"].as_u64().context("an amount that differs");
            let (before, now) = (of(0)?, of(one["amounts"].as_array().map_or(0, Vec::len) - 1)?);
            notes.push(format!("{title} {before} to {now}"));
        }

        let base = package.join("base.json").display().to_string();
        git(&["checkout", "--quiet", &commits[FIRST - 1]])?;
        command::succeed(prepared(&bench[..4]).args(["--save-baseline", &base, "--", self.benchmark]))?;
        git(&["checkout", "--quiet", &commits[FIRST]])?;
        let gate = ["--baseline", &base, "--fail-above", "0.5%", "--", self.benchmark];
        let closed = command::output(prepared(&bench[..4]).args(gate))?;
        let (text, said) = (String::from_utf8_lossy(&closed.stdout), String::from_utf8_lossy(&closed.stderr));
        ensure!(command::ending(&closed) == 1 && said.contains("is above the limit"), "the gate is open: {said}");
        ensure!(text.contains(self.function), "the gate does not name {}: {text}", self.function);
        Ok(notes.join(", "))
    }
}
