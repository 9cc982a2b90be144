//! Views of path profiles: of the hand-made unit of `sample` and a loop whose two branches exclude each other, walked
//! by the interpreter and recovered from what the probes counted.

use crate::sample::{Builder, Sample, sample};
use cotree_core::facts::{EdgeKind as K, Function, Inlined, Position};
use cotree_core::graph::cfg::Cfg;
use cotree_core::ids::{Edge, Site};
use cotree_core::interpret::{From, GraphWalk, Machine, Until};
use cotree_core::method::MethodPlan;
use cotree_core::method::path::{
    self, Abandoned, AtCalls, PATH_ARRAY, PathMethod, PathMetric, PathOptions, PathPlan, PathProfile, UnitPathPlan,
};
use cotree_core::probe::Reg;
use cotree_core::unit::UnitPlan;
use cotree_core::weight::weighting::Weighting;
use cotree_profile::method::MethodProfile;
use cotree_report::method::path::{PathUnit, cover, json, predict, spectrum, text, totals};
use cotree_report::names::Names;
use cotree_report::terminal::Style;
use cotree_report::unit::Unit;

/// What a function did: blocks, and the call in which the activation ended.
type Activation = (Vec<u32>, Option<u32>);

fn unit(sample: &Sample) -> Unit<'_> {
    Unit::new(&sample.map, &sample.profile)
}

fn paths<'a>(unit: &'a Unit<'a>) -> PathUnit<'a> {
    PathUnit::new(unit).unwrap()
}

fn walk(function: &Function, cfg: &Cfg, (blocks, ended): &Activation) -> GraphWalk {
    let exit = function.exit().0;
    let onward = blocks.iter().skip(1).copied().chain(ended.is_none().then_some(exit));
    let step = |(from, to): (&u32, u32)| -> Edge {
        let leads = |e: &&Edge| cfg.src(**e).0 == *from && cfg.dst(**e).0 == to;
        *cfg.succs(cotree_core::ids::Block(*from)).iter().find(leads).unwrap_or_else(|| panic!("b{from} to b{to}"))
    };
    let edges = blocks.iter().zip(onward).map(step).collect();
    GraphWalk { from: From::Entry, edges, until: ended.map_or(Until::Exit, |site| Until::Site(Site(site))) }
}

/// Plans, runs and recovers one function.
fn profile(
    function: &Function,
    context: bool,
    metric: PathMetric,
    activations: &[(u64, Activation)],
) -> (PathPlan, PathProfile) {
    let cfg = function.cfg().unwrap();
    let plan = if context { path::plan_context } else { path::plan };
    let plan = plan(
        function,
        &cfg,
        &Weighting::heuristic(&cfg),
        PathOptions { metric, array: 0, window: 0, ..PathOptions::default() },
    )
    .unwrap();
    // Three events in each block before its end, and as many after it if it ends in a call.
    let mut events = || 3;
    let mut machine = Machine::new(function, &cfg, &plan).with_events(&mut events);
    let mut abandoned = Vec::new();
    for (times, activation) in activations {
        for _ in 0..*times {
            let registers = machine.run(&walk(function, &cfg, activation)).unwrap();
            if let Some(site) = activation.1.map(Site) {
                let block = function.calls[site].block;
                let needed = matches!(plan.key.at_calls(block), Some(AtCalls::Query(_)));
                let register = needed.then(|| registers.get(Reg::PathSum));
                abandoned.push(Abandoned { site, register, count: 1 });
            }
        }
    }
    let effects = machine.into_effects();
    let table: Vec<(u64, u64)> = effects.paths.iter().map(|(k, &n)| (k.1.cast_unsigned(), n)).collect();
    let mut profile = path::recover(function, &cfg, &plan.key, &effects.counters, &table, &abandoned).unwrap();
    if metric.is_summed() {
        let sums = effects.sums.iter().map(|(key, &sum)| (key.1.cast_unsigned(), sum.cast_unsigned()));
        profile.sums = sums.collect();
    }
    assert!(profile.counts.flaws.is_empty());
    (plan, profile)
}

/// A loop over `for (…) { if (a) x(); square(); if (b) y(); }` and then a loop of one block.
fn scan() -> Function {
    let mut scan = Builder::new("scan", 0, 30, 0)
        .block(2, 0, &[(31, 7, None, 0)])
        .edge(K::Jump, 1, 0)
        .block(3, 0, &[(32, 10, None, 0)])
        .edge(K::True, 2, 0)
        .edge(K::False, 6, 0)
        .block(2, 0, &[(33, 9, None, 0)])
        .edge(K::True, 3, 0)
        .edge(K::False, 4, 0)
        .block(4, 0, &[(34, 7, None, 0)])
        .edge(K::Jump, 4, 0)
        .block(5, 0, &[(36, 5, None, 0), (3, 12, Some(0), 0), (37, 9, None, 0)])
        .edge(K::True, 5, 0)
        .edge(K::False, 1, 0)
        .block(6, 0, &[(38, 7, None, 0), (38, 20, None, 1), (39, 7, None, 1)])
        .call("check", 0)
        .edge(K::Jump, 1, 0)
        .block(2, 0, &[(41, 3, None, 0)])
        .edge(K::True, 6, 0)
        .edge(K::False, 7, 0)
        .block(1, 0, &[(42, 3, None, 0)])
        .edge(K::Return, 8, 0);
    let call = Some(Position { file: 0, line: 36, column: 9 });
    scan.facts.inlined.push(Inlined { symbol: "square".into(), call, parent: None });
    scan.facts
}

/// Turns of the loop: `a` takes the first branch, `b` the second.
fn turns(turns: &[char]) -> Activation {
    let mut blocks = vec![0, 1];
    for turn in turns {
        blocks.extend(match turn {
            'a' => &[2, 3, 4, 1][..],
            'b' => &[2, 4, 5, 1],
            '2' => &[2, 3, 4, 5, 1],
            _ => &[2, 4, 1],
        });
    }
    blocks.extend([6, 6, 6, 7]);
    (blocks, None)
}

fn path_sample(context: bool, metric: PathMetric, scan_activations: &[(u64, Activation)]) -> Sample {
    let mut sample = sample();
    sample.map.program.modules[1].functions.truncate(1);
    sample.map.program.modules[1].functions.push(scan());
    let done = |blocks: &[u32]| (blocks.to_vec(), None);
    let main = [0].into_iter().chain([1, 2, 3].repeat(5)).chain([1, 2]).collect::<Vec<u32>>();
    let activations = [
        vec![],
        vec![(3, done(&[0, 2, 5, 6])), (1, done(&[0, 2, 3, 6])), (1, done(&[0, 2, 4, 6])), (1, (vec![0, 1], Some(0)))],
        vec![(1, (main, Some(0)))],
        vec![(3, done(&[0, 1])), (1, done(&[0, 2]))],
        scan_activations.to_vec(),
    ];
    let functions: Vec<_> = sample.map.program.functions().map(|(_, f)| f).collect();
    let recovered = functions.iter().zip(&activations).map(|(f, a)| profile(f, context, metric, a));
    let (plans, profiles): (Vec<PathPlan>, Vec<PathProfile>) = recovered.unzip();
    let method = if context { PathMethod::Context } else { PathMethod::Plain };
    let paths = UnitPathPlan { method, functions: plans, array: PATH_ARRAY, metric };
    sample.map.plan = UnitPlan::new(MethodPlan::Paths(paths));
    sample.profile.functions = profiles.iter().map(|p| Some(p.counts.clone())).collect();
    sample.profile.method = MethodProfile::Paths { method, functions: profiles.into_iter().map(Some).collect() };
    sample
}

fn before() -> Sample {
    path_sample(false, PathMetric::Count, &[(3, turns(&['a', 'b', 'a', 'b', 'a', '-'])), (1, turns(&['a', 'b', 'b']))])
}

fn after() -> Sample {
    after_with(PathMetric::Count)
}

fn after_with(metric: PathMetric) -> Sample {
    path_sample(false, metric, &[(2, turns(&['a', '2', 'b'])), (1, (vec![0, 1, 2, 3, 4, 5], Some(0)))])
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn narrow() -> text::PathsOptions {
    text::PathsOptions {
        style: Style { width: Some(80), colour: false },
        predicted: true,
        ..text::PathsOptions::default()
    }
}

#[test]
fn hottest_paths() {
    let sample = before();
    let unit = unit(&sample);
    let text = written(|out| text::write(&paths(&unit), &narrow(), out));
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn paths_that_ended_early() {
    let sample = after();
    let unit = unit(&sample);
    let options =
        text::PathsOptions { function: Some("scan".into()), covering: Some(50.0), ..text::PathsOptions::default() };
    insta::assert_snapshot!(written(|out| text::write(&paths(&unit), &options, out)));
}

#[test]
fn paths_with_context_say_how_the_loop_was_reached() {
    let sample = path_sample(true, PathMetric::Count, &[(3, turns(&['a', 'b', 'a', 'b']))]);
    let unit = unit(&sample);
    let options = text::PathsOptions { function: Some("scan".into()), ..text::PathsOptions::default() };
    insta::assert_snapshot!(written(|out| text::write(&paths(&unit), &options, out)));
}

#[test]
fn what_is_added_up_along_paths() {
    let sample = after_with(PathMetric::Events);
    let events = unit(&sample);
    let options = text::PathsOptions { by: text::By::Metric, predicted: false, ..narrow() };
    let text = written(|out| text::write(&paths(&events), &options, out));
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
    let json = written(|out| json::write(&[paths(&events)], |symbol| symbol == "scan", out));
    assert!(json.contains(r#""metric":"events","measured":false"#), "{json}");
    let text = written(|out| text::write_cover(&paths(&events), &paths(&events), &options, out));
    assert!(text.contains("Paths are compared by their counts; events are not."), "{text}");

    let sample = after_with(PathMetric::Cycles);
    let cycles = unit(&sample);
    let text = written(|out| text::write(&paths(&cycles), &options, out));
    assert!(text.contains("measured, not exact") && text.contains("by cycles"), "{text}");
    let json = written(|out| json::write(&[paths(&cycles)], |symbol| symbol == "scan", out));
    assert!(json.contains(r#""metric":"cycles","measured":true"#), "{json}");
}

#[test]
fn sums_are_those_of_blocks() {
    for sample in [before(), after()] {
        let unit = unit(&sample);
        let (_, totals) = totals::gather(&paths(&unit), |_| true);
        for sums in totals.into_iter().flatten() {
            let all = sums.along_paths().cast_signed() + sums.in_self_loops.cast_signed() + sums.in_pending;
            assert_eq!(all, sums.instructions.cast_signed(), "{sums:?}");
        }
    }
}

#[test]
fn edge_counts_predict_a_path_that_never_ran() {
    let sample = before();
    let whole = unit(&sample);
    let unit = paths(&whole);
    let of = unit.functions().iter().find(|f| f.function.facts.symbol == "scan").unwrap();
    let prediction = predict::predict(&of.numbered().unwrap());
    // After 10 of 20 backedges `if (a)` was true, after 8 `if (b)`: neither is predicted.
    let turn = prediction.beginnings.iter().find(|b| b.start != path::PathStart::Entry).unwrap();
    assert_eq!(turn.predicted.0.iter().map(|b| b.0).collect::<Vec<_>>(), [1, 2, 4]);
    assert_eq!((turn.predicted_count, turn.hottest_count), (3, 8));
    // Where each is true as often as not, the edges that are taken make up a path that never ran.
    let sample = path_sample(false, PathMetric::Count, &[(3, turns(&['a', 'b', 'a', 'b', 'b', 'a']))]);
    let whole = self::unit(&sample);
    let unit = paths(&whole);
    let of = unit.functions().iter().find(|f| f.function.facts.symbol == "scan").unwrap();
    let prediction = predict::predict(&of.numbered().unwrap());
    let turn = prediction.beginnings.iter().find(|b| b.start != path::PathStart::Entry).unwrap();
    assert_eq!(turn.predicted.0.iter().map(|b| b.0).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(turn.predicted_count, 0);
    assert!(prediction.score.paths_right < prediction.score.paths);
    assert!(prediction.score.edges_foretold < prediction.score.edges);
}

#[test]
fn one_run_covers_another() {
    let (run, other) = (before(), after());
    let (a, b) = (unit(&run), unit(&other));
    let (a, b) = (paths(&a), paths(&b));
    insta::assert_snapshot!(written(|out| text::write_cover(&b, &a, &narrow(), out)));
    for (x, y) in [(&a, &b), (&b, &a)] {
        for covered in cover::compare(x, y, |_| true) {
            let common = covered.common;
            assert_eq!(common.paths - common.paths_common, covered.missed.len() as u64);
        }
    }
    let same = written(|out| text::write_cover(&a, &a, &narrow(), out));
    assert!(same.contains("Every path of this run was taken by the other one."), "{same}");
}

#[test]
fn spectra_differ() {
    let (before, after) = (before(), after());
    let (a, b) = (unit(&before), unit(&after));
    let (a, b) = (paths(&a), paths(&b));
    insta::assert_snapshot!(written(|out| text::write_spectrum(&a, &b, &narrow(), out)));
    assert_eq!(written(|out| text::write_spectrum(&a, &a, &narrow(), out)), "Both runs took the same paths.\n");
    // The neighbour by number is the nearest by brute force.
    for spectrum in spectrum::compare(&a, &b, |_| true) {
        let of =
            |unit: &PathUnit<'_>| unit.functions().iter().position(|f| f.function.index == spectrum.index).unwrap();
        for (only, here, there) in [(&spectrum.gone, &a, &b), (&spectrum.new, &b, &a)] {
            let (here, there) = (here.functions()[of(here)].numbered().unwrap(), there.functions()[of(there)]);
            for path in only {
                let arcs = |n| here.numbering.arcs(n).unwrap();
                let mine = arcs(path.executed.number);
                let shared = |n| arcs(n).iter().zip(&mine).take_while(|(a, b)| a == b).count();
                let best = there.profile.paths.iter().map(|p| shared(p.0)).max().unwrap();
                assert_eq!(path.nearest.as_ref().map_or(0, |f| shared(f.number)), best);
            }
        }
    }
}

#[test]
fn json() {
    let (before, after) = (before(), after());
    let (a, b) = (unit(&before), unit(&after));
    let (a, b) = (paths(&a), paths(&b));
    let scan = |symbol: &str| symbol == "scan";
    let text = written(|out| json::write(std::slice::from_ref(&b), scan, out));
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(value["schema"], json::SCHEMA);
    assert_eq!(
        value["units"][0]["functions"][0]["paths"].as_array().unwrap().len(),
        after.profile.method.paths()[4].as_ref().unwrap().paths.len()
    );
    insta::assert_snapshot!(text);
    let pairs = [(b, a)];
    insta::assert_snapshot!("json_cover", written(|out| json::write_cover(&pairs, scan, out)));
    insta::assert_snapshot!("json_diff", written(|out| json::write_spectrum(&pairs, scan, out)));
}

#[test]
fn a_function_that_never_ran_has_paths_all_the_same() {
    let sample = path_sample(false, PathMetric::Count, &[]);
    let whole = unit(&sample);
    let unit = paths(&whole);
    let (_, sums) = totals::gather(&unit, |symbol| symbol == "scan");
    let sums = sums.into_iter().flatten().next().unwrap();
    assert_eq!((sums.run, sums.executed), (0, 0));
    assert!(sums.possible > 0);
    let options =
        text::PathsOptions { function: Some("scan".into()), names: Names::Raw, ..text::PathsOptions::default() };
    assert!(written(|out| text::write(&unit, &options, out)).contains("No path was executed."));
}
