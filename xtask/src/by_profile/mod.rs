//! Real programs compiled by profiles (`--use`): they do the same by the profile of the same work, by that of other
//! work, by a stale one, and by one whose counts make no sense. A damaged profile, and that of another program, are
//! refused, and make no program.

mod damage;
mod package;
mod subject;

use crate::programs::{self, Workload};
use crate::real::{self, Context};
use crate::suite::Suite;
use crate::{command, rust_programs, workspace};
use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use subject::{Builder, Version, Work};

/// What is checked each time; all others with `--all`.
const USUALLY: [&str; 4] = ["lua", "bzip2", "clipper", "iterators"];

/// Programs of fewer functions are not refused the profile of another one.
const JUDGED: usize = 40;

/// Adds all cases.
pub fn add(suite: &mut Suite, context: &Context) {
    let all = match works(context) {
        Ok(all) => all,
        Err(error) => return suite.add("use", move || Err(error)),
    };
    if context.all {
        let name = "pgo ripgrep";
        let context = context.clone();
        suite.add(name, move || package::check(&rust_programs::ripgrep(&context.sources), &context, name));
    }
    for [work, other] in all {
        let usual = USUALLY.contains(&work.name());
        let joined = context.all && matches!(work, Work::C(_));
        let flags = [("", usual || context.all), ("-flto", joined)];
        for (flag, _) in flags.into_iter().filter(|(_, wanted)| *wanted) {
            let name = format!("use {} {flag}", work.name()).trim_end().to_owned();
            let (work, other, context) = (work.clone(), other.clone(), context.clone());
            suite.add(name.clone(), move || check(&work, &other, flag, &context, &name));
        }
    }
}

/// All programs: each with the work that is to be the same, and with other work.
fn works(context: &Context) -> Result<Vec<[Work; 2]>> {
    let sources = &context.sources;
    let of = |workload| -> Result<Vec<Work>> {
        let mut all: Vec<Work> = programs::all(sources, workload)?.into_iter().map(Work::C).collect();
        all.push(Work::Rust(rust_programs::json_regex(sources, workload)));
        all.push(Work::Rust(rust_programs::iterators(workload)));
        Ok(all)
    };
    let mut all: Vec<[Work; 2]> =
        of(Workload::Small)?.into_iter().zip(of(Workload::Tiny)?).map(<[Work; 2]>::from).collect();
    let ripgrep = rust_programs::ripgrep(sources);
    let mut other = ripgrep.clone();
    other.runs.drain(1..);
    all.push([ripgrep, other].map(Work::Rust));
    Ok(all)
}

/// One program while it is checked.
struct Case<'a> {
    work: &'a Work,
    builder: Builder<'a>,
    folder: PathBuf,
    /// What it does without cotree.
    expected: Vec<Output>,
}

fn check(work: &Work, other: &Work, flag: &str, context: &Context, name: &str) -> Result<String> {
    let folder = workspace::scratch().join("use").join(name.replace(' ', "_"));
    workspace::fresh(&folder)?;
    let builder = Builder::new(context, work, flag, &folder)?;
    let plain = builder.plain()?;
    let nothing = folder.join("none.cotree");
    let expected = (0..work.runs()).map(|index| work.run(&plain, index, &folder, &nothing)).collect::<Result<_>>()?;
    let case = Case { work, builder, folder: folder.clone(), expected };

    let counted = case.counted(Version::Published, "counted")?;
    let right = case.profiles(work, &counted, "right")?;
    let said = case.same_by("the right profile", &right)?;
    ensure!(!said.contains("since the profile"), "by the profile of this very program: {said}");
    let of_other = case.profiles(other, &counted, "other")?;
    let merged = folder.join("merged.cotree");
    command::succeed(context.cotree().arg("merge").arg("-o").arg(&merged).arg(&of_other))?;
    case.same_by("the profile of other work", &merged)?;
    let changed = case.counted(Version::Changed, "changed")?;
    let stale = case.profiles(work, &changed, "stale")?;
    let said = case.same_by("a stale profile", &stale)?;
    let stale = said.lines().find_map(|line| line.split_once(": of ")).map(|(_, sentence)| sentence.trim().to_owned());
    let stale = stale.filter(|sentence| sentence.contains("have changed since the profile"));
    let stale = stale.with_context(|| format!("nothing is said of a stale profile: {said}"))?;

    let weights = command::text(context.cotree().args(["export", "--format", "weights"]).arg(&merged))?;
    let hostile = folder.join("hostile.weights");
    fs::write(&hostile, damage::hostile_counts(&weights)?)?;
    case.same_by("counts that no run has", &hostile)?;
    let mut refused = 0;
    let first = fs::read(right.join("0.cotree")).context("the first run leaves a profile")?;
    for (what, bytes) in damage::damaged_profiles(&first) {
        refused += usize::from(case.refuses_or_does_the_same(&format!("a profile {what}"), &bytes)?);
    }
    let functions = weights.lines().count() - 1;
    let strangers = folder.join("strangers.weights");
    fs::write(&strangers, another_programs(&weights)?)?;
    let said = case.same_by("the profile of another program", &strangers)?;
    let is_told = said.contains("is a profile of other programs");
    ensure!(is_told || functions < JUDGED, "nothing is said of the profile of another program: {said}");
    fs::remove_dir_all(&folder)?;
    Ok(format!("stale: of {stale}; {refused} damaged profiles refused"))
}

/// Weights of functions that have other names.
fn another_programs(weights: &str) -> Result<Vec<u8>> {
    let marked = weights.replace("\"symbol\":\"", "\"symbol\":\"of_another_");
    ensure!(marked != weights, "no symbols in weights");
    Ok(marked.into_bytes())
}

impl Case<'_> {
    fn counted(&self, version: Version, name: &str) -> Result<PathBuf> {
        let (output, executable) = self.builder.build(version, &["--profile", "edge", "--targets"], name)?;
        ensure!(output.status.success(), "{}", command::last_lines(&output, 25));
        Ok(executable)
    }

    /// The profiles of some work, a file per run, in a folder of that name.
    fn profiles(&self, work: &Work, executable: &Path, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        fs::create_dir(&folder)?;
        for index in 0..work.runs() {
            let profile = folder.join(format!("{index}.cotree"));
            work.run(executable, index, &self.folder, &profile)?;
            ensure!(profile.exists(), "run {index} of {} left no profile", executable.display());
        }
        Ok(folder)
    }

    /// Builds by a profile, and compares; gives what the build said.
    fn same_by(&self, what: &str, profile: &Path) -> Result<String> {
        let profile = profile.display().to_string();
        let (output, ours) = self.builder.build(Version::Published, &["--use", &profile], "ours")?;
        let said = command::last_lines(&output, usize::MAX);
        ensure!(output.status.success(), "by {what}: {said}");
        self.does_the_same(&ours).with_context(|| format!("by {what}"))?;
        Ok(said)
    }

    fn does_the_same(&self, ours: &Path) -> Result<()> {
        let nothing = self.folder.join("ours.cotree");
        for (index, expected) in self.expected.iter().enumerate() {
            real::same(expected, &self.work.run(ours, index, &self.folder, &nothing)?)
                .with_context(|| format!("run {index}"))?;
        }
        ensure!(!nothing.exists(), "what is compiled by a profile counts nothing");
        Ok(())
    }

    /// Whether this profile is refused: in a sentence that names it, and without a program. If it is not, it does no
    /// harm.
    fn refuses_or_does_the_same(&self, what: &str, profile: &[u8]) -> Result<bool> {
        let file = self.folder.join("damaged.cotree");
        fs::write(&file, profile)?;
        let path = file.display().to_string();
        let (output, ours) = self.builder.build(Version::Published, &["--use", &path], "ours")?;
        if output.status.success() {
            self.does_the_same(&ours).with_context(|| format!("by {what}"))?;
            return Ok(false);
        }
        let said = command::last_lines(&output, 40);
        if !said.contains("damaged.cotree") || said.contains("panicked") {
            bail!("{what} is not refused by its name: {said}");
        }
        ensure!(!ours.exists(), "{what} is refused, and yet makes a program");
        Ok(true)
    }
}
