//! Measuring what the store lacks for the page: a few builds of each program, and what cotree says of them.

use super::addresses;
use super::facts::{Facts, LoopsOfFile, OtherRun, Paths, Placement, Size};
use super::request::Request;
use super::structure;
use crate::bench::build::{Builder, Parts};
use crate::bench::campaign::profiles;
use crate::bench::footprint::text_size;
use crate::bench::plans::{field, json, list, real, whole};
use crate::bench::store::Store;
use crate::bench::subject::Workloads;
use crate::bench::variants::{self, Variant};
use crate::real::Context;
use crate::{command, workspace};
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// The builds whose sizes the page has.
const BUILDS: [&str; 6] =
    [variants::NONE, variants::BLOCK, variants::EDGE, variants::PLAIN, variants::AFFINE, variants::PATH];
/// The builds whose executed instructions are told apart.
const TRACED: [&str; 3] = [variants::NONE, variants::PLAIN, variants::AFFINE];

/// Asks for the facts of a program that the store does not have. Says what failed.
pub fn missing(request: &Request<'_>, program: &Workloads, store: &mut Store) -> Result<Option<String>> {
    let subject = &program.counted;
    let inputs = subject.inputs(named(request.variants, variants::EDGE)?)?;
    if !request.again && store.facts(subject).is_some_and(|facts| facts.inputs == inputs) {
        return Ok(None);
    }
    let start = Instant::now();
    let measured = measure(request.context, request.variants, program);
    eprintln!("{}: facts for the papers, {:.0} s", program.name(), start.elapsed().as_secs_f64());
    match measured {
        Ok(facts) => {
            store.keep_facts(subject, Facts { inputs, from: request.today.clone(), ..facts })?;
            Ok(None)
        }
        Err(error) => Ok(Some(format!("{}: {error:#}", program.name()))),
    }
}

fn named<'v>(variants: &'v [Variant], name: &str) -> Result<&'v Variant> {
    variants.iter().find(|variant| variant.name == name).with_context(|| format!("{name} can't be built"))
}

fn measure(context: &Context, variants: &[Variant], program: &Workloads) -> Result<Facts> {
    let subject = &program.counted;
    let folder = workspace::scratch().join("papers").join(subject.name());
    workspace::fresh(&folder)?;
    let builder = Builder::new(context, subject, true, &folder, 1)?;
    let mut facts = Facts::default();
    let mut executables = BTreeMap::new();
    for name in BUILDS {
        let variant = named(variants, name)?;
        if !subject.has(variant) {
            continue;
        }
        let made = builder.build(variant, None, Parts::Dropped, &folder.join(variant.slug()))?;
        let distinct = TRACED
            .contains(&name)
            .then(|| addresses::distinct(&made.executable, subject, &folder.join(variant.slug())))
            .transpose()?;
        let size = Size {
            bytes: std::fs::metadata(&made.executable)?.len(),
            text: text_size(&made.executable)?,
            link_ms: u64::try_from((made.cost - builder.compiled()).as_millis())?,
            distinct,
        };
        facts.builds.insert(name.to_owned(), size);
        executables.insert(name, made.executable);
    }
    let (edge, path) = (&executables[variants::EDGE], &executables[variants::PATH]);
    let profile = profiles(context, subject, edge)?;
    let ask = |more: &[&str]| {
        json(context.cotree().args(["plan", "--json"]).args(more).arg("--judge").arg(&profile).arg(edge))
    };
    let (heuristic, exact) = (ask(&[])?, ask(&["--exact"])?);
    facts.graph = [whole(&heuristic, "/blocks")?, whole(&heuristic, "/edges")?];
    (facts.heuristic, facts.exact) = (placements(&heuristic)?, placements(&exact)?);
    facts.paths = paths(context, &profiles(context, subject, path)?, &heuristic)?;
    facts.other_run = other_run(context, program, path)?;
    facts.files =
        builder.bitcode()?.iter().filter_map(|file| loops(context, file).transpose()).collect::<Result<_>>()?;
    let (events, across) = structure::of(edge)?;
    (facts.events, facts.across) = (Some(events), Some(across));
    std::fs::remove_dir_all(&folder)?;
    Ok(facts)
}

fn placements(plan: &Value) -> Result<BTreeMap<String, Placement>> {
    let methods = field(plan, "/methods")?.as_object().context("methods are no object")?;
    let placement = |of: &Value| -> Result<Placement> {
        Ok(Placement {
            counters: whole(of, "/counters")?,
            jumps: whole(of, "/jumps")?,
            increments: real(of, "/increments")?,
            jumps_executed: real(of, "/jumps_executed")?,
        })
    };
    methods.iter().map(|(name, of)| Ok((name.clone(), placement(of)?))).collect()
}

fn paths(context: &Context, profile: &Path, plan: &Value) -> Result<Paths> {
    let answer = json(context.cotree().args(["paths", "--json", "--predicted"]).arg(profile))?;
    let mut paths = Paths {
        increments: real(plan, "/paths/path/increments")? + real(plan, "/paths/path/self_loop_increments")?,
        hashed: real(plan, "/paths/path/hashed_increments")?,
        ..Paths::default()
    };
    for unit in list(&answer, "/units")? {
        paths.functions += whole(unit, "/totals/run")?;
        paths.possible += real(unit, "/totals/possible")?;
        for function in list(unit, "/functions")? {
            let executed = list(function, "/paths")?;
            paths.different += executed.len() as u64;
            paths.most = paths.most.max(executed.len() as u64);
            for path in executed {
                let count = whole(path, "/count")?;
                let lengths = [list(path, "/edges")?.len() as u64, whole(path, "/instructions")?];
                paths.executions += count;
                for (index, length) in lengths.into_iter().enumerate() {
                    paths.average[index] += count as f64 * length as f64;
                    paths.longest[index] = paths.longest[index].max(length);
                }
            }
        }
        for index in 0..2 {
            paths.foretold[index] += whole(unit, &format!("/prediction/paths/{index}"))?;
            paths.foretold_executions[index] += real(unit, &format!("/prediction/executions/{index}"))?;
        }
        paths.foretold_average[0] += real(unit, "/prediction/edges_foretold/0")?;
        paths.foretold_average[1] += real(unit, "/prediction/instructions_foretold/0")?;
    }
    let executions = paths.executions.max(1) as f64;
    paths.average = paths.average.map(|sum| sum / executions);
    paths.foretold_average = paths.foretold_average.map(|sum| sum / executions);
    Ok(paths)
}

/// Compares with the work that is there for taking times: other sizes, and mostly other input.
fn other_run(context: &Context, program: &Workloads, executable: &Path) -> Result<Option<OtherRun>> {
    let Some([long, _]) = &program.timed else { return Ok(None) };
    let folder = executable.parent().context("an executable is in a folder")?;
    let train = folder.join("train.cotree");
    std::fs::rename(profiles(context, &program.counted, executable)?, &train)?;
    let reference = profiles(context, long, executable)?;
    let answer = json(context.cotree().args(["paths", "--json", "--against"]).arg(&train).arg(&reference))?;
    let mut sums = OtherRun::default();
    for unit in list(&answer, "/units")? {
        for index in 0..2 {
            sums.paths[index] += real(unit, &format!("/totals/paths/{index}"))?;
            sums.executions[index] += real(unit, &format!("/totals/executions/{index}"))?;
            sums.instructions[index] += real(unit, &format!("/totals/instructions/{index}"))?;
        }
    }
    Ok(Some(sums))
}

/// The loops of a source file; `None` if it has no functions.
fn loops(context: &Context, bitcode: &Path) -> Result<Option<LoopsOfFile>> {
    let output = command::output(context.cotree().args(["plan", "--json"]).arg(bitcode))?;
    if String::from_utf8_lossy(&output.stderr).contains("no function of the given files") {
        return Ok(None);
    }
    let plan: Value =
        serde_json::from_slice(&output.stdout).with_context(|| format!("plan of {}", bitcode.display()))?;
    Ok(Some(LoopsOfFile {
        loops: whole(&plan, "/affine/loops")?,
        counters: whole(&plan, "/methods/edge/counters")?,
        usable: whole(&plan, "/affine/usable")?,
        used: whole(&plan, "/affine/used")?,
    }))
}
