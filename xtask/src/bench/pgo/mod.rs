//! `cargo xtask bench --pgo`: programs compiled by the profile of the very work that is measured, by cotree (`--use`)
//! and by clang's and rustc's own instrumentation (`-fprofile-use`, with values), each also with its modules compiled
//! as one (`-flto`).

mod builds;

use super::store::Store;
use super::subject::{Subject, Workloads};
use super::variants;
use super::{Args, workers};
use crate::real::Context;
use crate::table::Table;
use anyhow::{Context as _, Result, ensure};
use builds::Builds;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::sync::Mutex;

/// Instructions of a program's four builds by one compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Without a profile.
    pub plain: u64,
    /// Without a profile, modules compiled as one.
    pub joined: u64,
    /// By the profile.
    pub by_profile: u64,
    /// By the profile, modules compiled as one.
    pub by_profile_joined: u64,
}

/// What was measured of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pgo {
    /// By clang or rustc alone.
    pub peer: Figures,
    /// By cotree.
    pub ours: Figures,
    /// A hash of sources and workload.
    pub inputs: String,
    /// The day of the measurement.
    pub from: String,
}

/// Above this ratio of instructions a program is named below the table.
const NAMED: f64 = 1.05;

/// Measures programs and keeps the figures; says what failed. Peers are measured again when a program changes, or by
/// `--peers`.
pub fn measure(
    args: &Args,
    context: &Context,
    programs: &[&Workloads],
    store: &mut Store,
    today: &str,
) -> Result<Vec<String>> {
    let base = variants::table().into_iter().find(|variant| variant.name == variants::Tool::Llvm.base());
    let base = base.context("LLVM's own build is in the table")?;
    let programs: Vec<&&Workloads> = programs.iter().filter(|program| !program.is_set()).collect();
    let jobs = args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(2, usize::from));
    let store = Mutex::new(store);
    let results = workers::each(jobs, &programs, |program| -> Result<()> {
        let subject = &program.counted;
        let inputs = subject.inputs(&base)?;
        let known = store.lock().expect("nothing panics with the store").pgo(subject).cloned();
        let known = known.filter(|known| known.inputs == inputs && !args.peers).map(|known| known.peer);
        let builds = Builds::new(context, subject)?;
        let (ours, printed) = builds.ours()?;
        let peer = match known {
            Some(peer) => peer,
            None => {
                let (peer, by_peer) = builds.peer()?;
                ensure!(printed == by_peer, "it prints something else than with clang or rustc alone");
                peer
            }
        };
        builds.remove()?;
        let line = |figures: Figures| {
            let Figures { plain, joined, by_profile, by_profile_joined } = figures;
            [plain, joined, by_profile, by_profile_joined].map(millions).join(", ")
        };
        eprintln!("{}: {} M; alone {} M", subject.name(), line(ours), line(peer));
        let pgo = Pgo { peer, ours, inputs, from: today.to_owned() };
        store.lock().expect("nothing panics with the store").keep_pgo(subject, pgo)
    });
    let failed = |(program, result): (&&&Workloads, Result<()>)| {
        result.err().map(|error| format!("{}, by its profile: {error:#}", program.name()))
    };
    Ok(programs.iter().zip(results).filter_map(failed).collect())
}

fn millions(instructions: u64) -> String {
    format!("{:.2}", instructions as f64 / 1e6)
}

/// One pair of columns, and their ratio.
type Column = (&'static str, fn(&Figures) -> u64);

const COLUMNS: [Column; 4] = [
    ("plain", |figures| figures.plain),
    ("-flto", |figures| figures.joined),
    ("profile", |figures| figures.by_profile),
    ("profile, -flto", |figures| figures.by_profile_joined),
];

/// The table of all programs that were measured.
pub fn write(store: &Store, subjects: &[&Subject], out: &mut String) -> std::fmt::Result {
    let measured: Vec<(&str, &Pgo)> =
        subjects.iter().filter_map(|subject| Some((subject.name(), store.pgo(subject)?))).collect();
    if measured.is_empty() {
        return Ok(());
    }
    let titles =
        COLUMNS.iter().flat_map(|(title, _)| [format!("alone, {title}"), format!("cotree, {title}"), "ratio".into()]);
    let mut table = Table::new(std::iter::once("program".to_owned()).chain(titles));
    let ratio = |ours: u64, peer: u64| ours as f64 / peer.max(1) as f64;
    let cells = |of: &dyn Fn(fn(&Figures) -> u64) -> [u64; 2]| -> Vec<String> {
        let cells = COLUMNS.iter().flat_map(|(_, column)| {
            let [peer, ours] = of(*column);
            [millions(peer), millions(ours), format!("{:.3}", ratio(ours, peer))]
        });
        cells.collect()
    };
    for (name, pgo) in &measured {
        let of = |column: fn(&Figures) -> u64| [column(&pgo.peer), column(&pgo.ours)];
        table.row(std::iter::once((*name).to_owned()).chain(cells(&of)));
    }
    let sum = |column: fn(&Figures) -> u64| {
        [
            measured.iter().map(|(_, pgo)| column(&pgo.peer)).sum::<u64>(),
            measured.iter().map(|(_, pgo)| column(&pgo.ours)).sum::<u64>(),
        ]
    };
    table.row(std::iter::once("total".to_owned()).chain(cells(&sum)));
    writeln!(
        out,
        "## Compiled by a profile\n\nMillions of instructions of programs that are compiled by the profile of this very work: by clang or rustc alone \
         (`-fprofile-use`, with the values that it profiles by default) and by cotree (`--use` of an edge profile), with and without `-flto` \
         (Rust: `lto = \"fat\"`). Ratios are cotree's over the other's.\n\n{table}"
    )?;
    for (title, column) in &COLUMNS[1..] {
        let above: Vec<String> = measured
            .iter()
            .map(|(name, pgo)| (name, ratio(column(&pgo.ours), column(&pgo.peer))))
            .filter(|(_, ratio)| *ratio > NAMED)
            .map(|(name, ratio)| format!("{name} {ratio:.3}"))
            .collect();
        let above = if above.is_empty() { "none".to_owned() } else { above.join(", ") };
        writeln!(out, "- Above {NAMED}, {title}: {above}.")?;
    }
    writeln!(out)
}
