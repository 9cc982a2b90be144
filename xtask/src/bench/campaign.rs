//! Which builds have to be measured again, and measuring them: programs side by side, the builds of one program in
//! order.
//!
//! Peers are measured once for each version of theirs and of the program. cotree's builds are made again whenever
//! cotree has changed; their instructions are counted again only if the machine code has changed.

use super::across::{self, Across};
use super::build::{Builder, Parts};
use super::built::Built;
use super::code;
use super::instructions::{self, environment, profile};
use super::plans::Plans;
use super::store::{Counted, Store};
use super::subject::{Subject, Workloads};
use super::traces::{self, Traced};
use super::variants::{self, Variant};
use super::workers;
use crate::real::Context;
use crate::{command, workspace};
use anyhow::{Context as _, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// How to measure.
pub struct Campaign<'a> {
    /// Tools and sources.
    pub context: &'a Context,
    /// All builds that can be made here.
    pub variants: &'a [Variant],
    /// The builds that are wanted.
    pub wanted: &'a (dyn Fn(&Variant) -> bool + Sync),
    /// Measure peers again.
    pub peers: bool,
    /// How many builds go on at once.
    pub jobs: usize,
    /// The day, as measurements are marked with it.
    pub today: String,
}

/// A campaign while it measures.
struct Running<'a> {
    campaign: &'a Campaign<'a>,
    store: Mutex<&'a mut Store>,
    built: Mutex<Built>,
    progress: Progress,
    /// How many builds of one program go on at once.
    jobs: usize,
}

/// A build that has to be made, and why.
struct Stale<'a> {
    variant: &'a Variant,
    inputs: String,
}

impl Campaign<'_> {
    /// Counts the instructions of all builds that need it. Says what failed.
    pub fn count(&self, programs: &[&Workloads], store: &mut Store) -> Result<Vec<String>> {
        let mut programs = programs.to_vec();
        // What takes longest begins first, so that no processor waits for it at the end.
        programs.sort_by_cached_key(|program| std::cmp::Reverse(effort(&program.counted)));
        let builds = programs.iter().flat_map(|program| self.builds(&program.counted)).count();
        let running = Running {
            campaign: self,
            store: Mutex::new(store),
            built: Mutex::new(Built::open(self.context)?),
            progress: Progress::new(builds),
            jobs: self.jobs.div_ceil(programs.len().max(1)),
        };
        let failures = workers::each(self.jobs, &programs, |program| {
            running.program(program).unwrap_or_else(|error| vec![format!("{}: {error:#}", program.name())])
        });
        Ok(failures.into_iter().flatten().collect())
    }

    /// The builds of a program that are wanted.
    fn builds(&self, subject: &Subject) -> impl Iterator<Item = &Variant> {
        self.variants.iter().filter(|variant| subject.has(variant) && (self.wanted)(variant))
    }

    fn named(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }
}

/// About how long it takes to build a program: Rust programs take longest, with what they depend on.
pub fn effort(subject: &Subject) -> u64 {
    match subject {
        Subject::C(program) => {
            program.sources.iter().filter_map(|source| Some(std::fs::metadata(source).ok()?.len())).sum()
        }
        Subject::Rust(_) => u64::MAX,
    }
}

/// Whether more than instructions is wanted of a build, and not known.
fn lacks(subject: &Subject, variant: &Variant, counted: &Counted) -> bool {
    (across::wanted(subject, variant) && counted.across.is_none())
        || (traces::wanted(variant) && counted.traced.is_none())
}

impl<'a> Running<'a> {
    fn store(&self) -> MutexGuard<'_, &'a mut Store> {
        self.store.lock().expect("nothing panics with the store")
    }

    /// Measures what has to be measured of a program. Says what failed.
    fn program(&self, program: &Workloads) -> Result<Vec<String>> {
        let subject = &program.counted;
        let mut stale = Vec::new();
        for variant in self.campaign.builds(subject) {
            let inputs = subject.inputs(variant)?;
            if self.holds(subject, variant, &inputs) {
                self.progress.tell(subject, variant, "unchanged");
            } else {
                stale.push(Stale { variant, inputs });
            }
        }
        // Nobody asks for the paths of sets.
        let wants_plans = !program.is_set() && self.wants_plans(subject, &stale);
        let weighted = stale.iter().any(|stale| stale.variant.weights);
        if stale.is_empty() && !wants_plans {
            return Ok(Vec::new());
        }
        // Profiles are of these two builds, which may not have to be measured themselves.
        for (name, needed) in [(variants::EDGE, weighted || wants_plans), (variants::PATH, wants_plans)] {
            let known = stale.iter().any(|stale| stale.variant.name == name);
            if let Some(variant) = self.campaign.named(name).filter(|_| needed && !known) {
                stale.push(Stale { variant, inputs: subject.inputs(variant)? });
                self.progress.builds.fetch_add(1, Ordering::Relaxed);
            }
        }
        let folder = workspace::scratch().join("bench").join(subject.name());
        workspace::fresh(&folder)?;
        let shared = stale.iter().any(|stale| stale.variant.shares_objects());
        let builder = Builder::new(self.campaign.context, subject, shared, &folder, self.jobs)?;
        let (second, first): (Vec<Stale<'_>>, Vec<Stale<'_>>) = stale.into_iter().partition(|s| s.variant.weights);
        let mut failures = self.builds(&builder, subject, &first, None, &folder);
        if !second.is_empty() {
            let weights = self.merged(subject, variants::EDGE, &folder)?;
            failures.append(&mut self.builds(&builder, subject, &second, Some(&weights), &folder));
        }
        if wants_plans && failures.is_empty() {
            let binary = self.executable(variants::EDGE, &folder)?;
            let [edge, path] =
                [self.merged(subject, variants::EDGE, &folder)?, self.merged(subject, variants::PATH, &folder)?];
            let code = self.code_of_profiles(subject).context("both builds have been measured")?;
            let plans = Plans::new(self.campaign.context, (&edge, &binary), &path, &builder.bitcode()?, code)?;
            self.store().keep_plans(subject, plans)?;
        }
        std::fs::remove_dir_all(&folder)?;
        Ok(failures)
    }

    /// Whether the number at hand is still that of this build, as far as can be told without building.
    fn holds(&self, subject: &Subject, variant: &Variant, inputs: &str) -> bool {
        let store = self.store();
        let Some(counted) = store.counted(subject, variant).filter(|counted| counted.inputs == inputs) else {
            return false;
        };
        if variant.is_peer() {
            return !self.campaign.peers;
        }
        if lacks(subject, variant, counted) {
            return false;
        }
        let built = self.built.lock().expect("nothing panics with it");
        counted.code.is_some() && built.code(subject, variant, inputs) == counted.code.as_deref()
    }

    /// Whether what plans and path profiles tell has to be asked again, when these builds are made.
    fn wants_plans(&self, subject: &Subject, stale: &[Stale<'_>]) -> bool {
        let names = [variants::EDGE, variants::PATH];
        let wanted = names.iter().all(|name| self.campaign.builds(subject).any(|variant| variant.name == *name));
        let changes = stale.iter().any(|stale| names.contains(&stale.variant.name.as_str()));
        let known = self.store().plans(subject).map(|plans| plans.code.clone());
        wanted && (changes || known.is_none() || known != self.code_of_profiles(subject))
    }

    /// The hashes of the code that profiles for the plans are made with.
    fn code_of_profiles(&self, subject: &Subject) -> Option<[String; 2]> {
        let code = |name| self.store().counted(subject, self.campaign.named(name)?)?.code.clone();
        Some([code(variants::EDGE)?, code(variants::PATH)?])
    }

    /// Builds and measures some variants; those without weights of others come first. Says what failed.
    fn builds(
        &self,
        builder: &Builder<'_>,
        subject: &Subject,
        stale: &[Stale<'_>],
        weights: Option<&Path>,
        folder: &Path,
    ) -> Vec<String> {
        let failures = workers::each(self.jobs, stale, |stale| {
            let folder = folder.join(stale.variant.slug());
            let result = self.build(builder, subject, stale, weights, &folder);
            if result.is_err() {
                self.progress.tell(subject, stale.variant, "FAILED");
            }
            result.err().map(|error| format!("{}, {}: {error:#}", subject.name(), stale.variant.name))
        });
        failures.into_iter().flatten().collect()
    }

    /// Builds one variant, and counts its instructions unless the code is the one that was measured.
    fn build(
        &self,
        builder: &Builder<'_>,
        subject: &Subject,
        Stale { variant, inputs }: &Stale<'_>,
        weights: Option<&Path>,
        folder: &Path,
    ) -> Result<()> {
        let start = Instant::now();
        let made = builder.build(variant, weights, Parts::Dropped, folder)?;
        let took = start.elapsed().as_secs_f64();
        let code = (!variant.is_peer()).then(|| code::hash(&made.executable)).transpose()?;
        let known = |counted: &&Counted| code.is_some() && counted.code == code && counted.inputs == *inputs;
        let unchanged = self.store().counted(subject, variant).filter(known).is_some();
        if unchanged {
            self.progress.tell(subject, variant, &format!("the same code, built in {took:.0} s"));
        } else {
            let (instructions, output) = instructions::count(&made.executable, subject, folder)?;
            let counted = Counted {
                instructions,
                bytes: Some(std::fs::metadata(&made.executable)?.len()),
                build_ms: Some(u64::try_from(made.cost.as_millis())?),
                output: Some(output),
                inputs: inputs.clone(),
                code: code.clone(),
                across: None,
                traced: None,
                from: self.campaign.today.clone(),
            };
            self.store().keep_counted(subject, variant, counted)?;
            let counting = start.elapsed().as_secs_f64() - took;
            let text = format!("{:.1} M, built in {took:.0} s, counted in {counting:.0} s", instructions as f64 / 1e6);
            self.progress.tell(subject, variant, &text);
        }
        let lacking =
            self.store().counted(subject, variant).filter(|counted| lacks(subject, variant, counted)).cloned();
        if let Some(mut counted) = lacking {
            let context = self.campaign.context;
            if across::wanted(subject, variant) {
                counted.across = Some(Across::measure(context, subject, variant, &made.executable)?);
            }
            if traces::wanted(variant) {
                counted.traced = Some(Traced::measure(context, subject, &made.executable)?);
            }
            self.store().keep_counted(subject, variant, counted)?;
        }
        if let Some(code) = code {
            self.built.lock().expect("nothing panics with it").keep(subject, variant, inputs, &code)?;
        }
        if ![variants::EDGE, variants::PATH].contains(&variant.name.as_str()) {
            std::fs::remove_dir_all(folder)?;
        }
        Ok(())
    }

    /// The executable of a variant that was built in this folder of the program's.
    fn executable(&self, name: &str, folder: &Path) -> Result<PathBuf> {
        let variant = self.campaign.named(name).with_context(|| format!("{name} can't be built"))?;
        let executable = folder.join(variant.slug()).join("stripped");
        ensure!(executable.exists(), "{name} was not built");
        Ok(executable)
    }

    /// Runs a build natively, and merges the profiles of all runs.
    fn merged(&self, subject: &Subject, name: &str, folder: &Path) -> Result<PathBuf> {
        profiles(self.campaign.context, subject, &self.executable(name, folder)?)
    }
}

/// Runs an executable natively, and merges the profiles of all runs. They are those that it leaves under callgrind,
/// too.
pub fn profiles(context: &Context, subject: &Subject, executable: &Path) -> Result<PathBuf> {
    let folder = executable.parent().context("an executable is in a folder")?;
    let merged = folder.join("merged.cotree");
    let mut merge = context.cotree();
    merge.arg("merge");
    for (index, arguments) in subject.runs().iter().enumerate() {
        let mut run = Command::new(executable);
        command::output(run.args(arguments).current_dir(folder).envs(environment(folder, index)))?;
        merge.arg(folder.join(profile(index)));
    }
    command::succeed(merge.arg("-o").arg(&merged))?;
    Ok(merged)
}

/// A line on the terminal for each build that is done.
struct Progress {
    builds: AtomicUsize,
    done: AtomicUsize,
    start: Instant,
}

impl Progress {
    fn new(builds: usize) -> Progress {
        Progress { builds: AtomicUsize::new(builds), done: AtomicUsize::new(0), start: Instant::now() }
    }

    fn tell(&self, subject: &Subject, variant: &Variant, text: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let builds = self.builds.load(Ordering::Relaxed);
        let seconds = self.start.elapsed().as_secs();
        let (minutes, seconds) = (seconds / 60, seconds % 60);
        eprintln!("[{done}/{builds} {minutes}:{seconds:02}] {}, {}: {text}", subject.name(), variant.name);
    }
}
