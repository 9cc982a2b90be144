//! Every view of one hand-made unit, as text.

mod costs;
mod paths;
mod sample;

use cotree_core::ids::{Edge, FunctionId};
use cotree_core::method::MethodPlan;
use cotree_core::profile::{Flaw, FunctionProfile};
use cotree_report::files::FilePattern;
use cotree_report::flow::Flow;
use cotree_report::names::Names;
use cotree_report::source::{NoSources, Sources};
use cotree_report::terminal::Style;
use cotree_report::unit::Unit;
use cotree_report::{annotate, coverage::FileIndex, diff, dot, json, lcov, report};
use sample::{Sample, cut_off, sample};
use std::path::Path;

fn text(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn unit(sample: &Sample) -> Unit<'_> {
    Unit::new(&sample.map, &sample.profile)
}

#[test]
fn the_sample_is_a_possible_binary() {
    cotree_profile::map::validate(&sample().map).unwrap();
}

#[test]
fn report() {
    let sample = sample();
    insta::assert_snapshot!(text(|out| report::write(&unit(&sample), &report::ReportOptions::default(), out)));
}

#[test]
fn report_of_a_killed_run() {
    let sample = cut_off();
    let options =
        report::ReportOptions { verbose: true, style: Style { width: Some(72), colour: false }, ..Default::default() };
    insta::assert_snapshot!(text(|out| report::write(&unit(&sample), &options, out)));
}

#[test]
fn functions_that_never_ran_may_not_be_vouched_for() {
    let mut sample = sample();
    let idle = |function: &mut FunctionProfile| {
        function.entries = 0;
        function.blocks.fill(0);
        if let Some(edges) = &mut function.edges {
            edges.fill(0);
        }
    };
    sample.profile.functions.iter_mut().flatten().for_each(idle);
    let last_line = |sample: &Sample, verbose: bool| {
        let options = report::ReportOptions { verbose, ..Default::default() };
        let report = text(|out| report::write(&unit(sample), &options, out));
        report.split_once("Never reached:").unwrap().1.to_owned()
    };
    let vouched = last_line(&sample, true);
    assert!(vouched.starts_with(" 4 functions; besides") && !vouched.contains('~'), "{vouched}");
    sample.profile.functions[1].as_mut().unwrap().flaws.push(Flaw::Damaged);
    // One that is inlined there is in doubt with it.
    let some = last_line(&sample, true);
    assert!(some.starts_with(" 4 functions (~ 2 of them not vouched for); besides"), "{some}");
    assert!(some.contains("\n  ~classify ") && some.contains("\n  ~square ") && some.contains("\n  main "), "{some}");
    for function in sample.profile.functions.iter_mut().flatten() {
        function.flaws = vec![Flaw::Damaged];
    }
    let all = last_line(&sample, false);
    assert!(all.starts_with(" 4 functions (~ not vouched for); besides"), "{all}");
}

#[test]
fn report_of_one_function_by_its_source_name() {
    let sample = sample();
    let options = report::ReportOptions { function: Some("foo::".into()), names: Names::Raw, ..Default::default() };
    insta::assert_snapshot!(text(|out| report::write(&unit(&sample), &options, out)));
}

#[test]
fn annotate() {
    let sample = sample();
    let sources = sample.sources();
    let write = |out: &mut Vec<u8>| {
        annotate::write(&[unit(&sample)], &sources, &annotate::AnnotateOptions::default(), out).map(drop)
    };
    insta::assert_snapshot!(text(write));
}

#[test]
fn annotate_without_sources_with_exceptions_in_colour() {
    let sample = cut_off();
    let style = Style { width: Some(80), colour: true };
    let options = annotate::AnnotateOptions { exceptions: true, style, ..Default::default() };
    insta::assert_snapshot!(text(|out| annotate::write(&[unit(&sample)], &NoSources, &options, out).map(drop)));
}

fn tracefile(sample: &Sample, sources: &dyn Sources, options: &lcov::LcovOptions) -> String {
    let units = [unit(sample)];
    text(|out| lcov::Tracefile::new(&units, sources, options).write(out).map(drop))
}

#[test]
fn lcov() {
    let sample = sample();
    let sources = sample.sources();
    insta::assert_snapshot!(tracefile(&sample, &sources, &lcov::LcovOptions::default()));
    let options = lcov::LcovOptions { absent: false, ..Default::default() };
    let there = tracefile(&sample, &sources, &options);
    assert!(there.contains("SF:/src/main.c") && !there.contains("foo.cpp"), "{there}");
    let units = [unit(&sample)];
    assert_eq!(lcov::Tracefile::new(&units, &sources, &options).left_out(), ["/src/foo.cpp"]);
}

#[test]
fn lcov_without_exceptions() {
    let sample = sample();
    let options = lcov::LcovOptions {
        exceptions: false,
        file: Some(FilePattern::new("foo.cpp", Path::new("/")).unwrap()),
        names: Names::Demangled,
        ..Default::default()
    };
    insta::assert_snapshot!(tracefile(&sample, &NoSources, &options));
}

#[test]
fn json() {
    let sample = cut_off();
    let text = text(|out| json::write(&[unit(&sample), unit(&sample)], out));
    let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(value["units"][0], value["units"][1]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&value["units"][0]["functions"][1]).unwrap());
    insta::assert_snapshot!("json_head", text.lines().take(2).collect::<Vec<_>>().join("\n"));
}

#[test]
fn cfg() {
    let sample = sample();
    let unit = unit(&sample);
    let function = unit.function(FunctionId(1)).unwrap();
    insta::assert_snapshot!(text(|out| dot::write(&unit, &function, "classify", out)));
}

#[test]
fn differences() {
    let before = sample();
    let mut after = sample();
    let main = after.profile.functions[2].as_mut().unwrap();
    main.blocks = vec![1, 11, 10, 10, 1].into();
    main.edges = Some(vec![1, 10, 1, 10, 10, 1].into());
    main.early = vec![].into();
    let square = after.profile.functions[0].as_mut().unwrap();
    (square.entries, square.blocks, square.edges) = (7, vec![7].into(), Some(vec![7].into()));
    let difference = diff::compare(&[unit(&before)], &[unit(&after)], &before.sources());
    let options = diff::DiffOptions { top: 0, names: Names::Demangled, style: Style::default() };
    insta::assert_snapshot!(text(|out| diff::write_text(&difference, &options, out)));
    insta::assert_snapshot!(text(|out| diff::write_json(&difference, out)));
    let same = diff::compare(&[unit(&before)], &[unit(&before)], &NoSources);
    assert_eq!(text(|out| diff::write_text(&same, &options, out)), "No count differs.\n");
}

#[test]
fn edges_follow_from_blocks_as_far_as_they_do() {
    let sample = sample();
    for function in unit(&sample).functions() {
        let Some(full) = function.profile else { continue };
        let blocks_only = FunctionProfile { edges: None, ..full.clone() };
        let flow = Flow::new(function.facts, &blocks_only).unwrap();
        for (index, &count) in full.edges.as_ref().unwrap().iter().enumerate() {
            assert_eq!(flow.edge(Edge::new(index)), Some(count), "{} e{index}", function.facts.symbol);
        }
    }
}

/// `} else if (b) {`: clang's jump out of the first body has the position of the brace.
#[test]
fn a_jump_at_a_closing_brace_does_not_run_the_line() {
    use cotree_core::facts::EdgeKind as K;
    let mut sample = sample();
    let function = sample::Builder::new("chain", 0, 1, 10)
        .block(2, 10, &[(2, 7, None, 0)])
        .edge(K::True, 1, 8)
        .edge(K::False, 2, 2)
        .block(2, 8, &[(3, 5, None, 0), (4, 3, None, 0)])
        .edge(K::Jump, 4, 8)
        .block(2, 2, &[(4, 14, None, 0)])
        .edge(K::True, 3, 1)
        .edge(K::False, 4, 1)
        .block(1, 1, &[(5, 5, None, 0)])
        .edge(K::Jump, 4, 1)
        .block(1, 10, &[(6, 3, None, 0)])
        .edge(K::Return, 5, 10);
    sample.map.program.modules[0].functions = vec![function.facts];
    sample.map.program.modules[1].functions.clear();
    sample.profile.functions = vec![Some(function.profile)];
    let units = [unit(&sample)];
    let count = |text: Option<&str>| {
        let text = text.map(|t| cotree_report::source::SourceText::new(t.as_bytes()));
        let coverage = FileIndex::new(&units, |_| true).count(&units, "/src/main.c", text.as_ref());
        coverage.lines.iter().map(|(&line, facts)| (line, facts.count)).collect::<Vec<_>>()
    };
    let expected = [(1, 10), (2, 10), (3, 8), (4, 2), (5, 1), (6, 10)];
    assert_eq!(count(None), expected);
    assert_eq!(count(Some("void chain() {\n  if (a) {\n    x();\n  } else if (b) {\n    y();\n  }\n}\n")), expected);
    // A statement there is an execution of the line.
    let statement = "void chain() {\n  if (a) {\n    x();\n  z(); } if (b) {\n    y();\n  }\n}\n";
    assert_eq!(count(Some(statement))[3], (4, 10));
}

/// `while ((c = get()) > 0) …` with `get` inlined in the header, and a loop of `find` that was inlined as a whole.
fn loops_with_copies() -> Sample {
    use cotree_core::facts::{EdgeKind as K, Inlined, Position};
    let mut sample = sample();
    let at = |line| Some(Position { file: 0, line, column: 1 });
    let mut function = sample::Builder::new("reads", 0, 14, 1)
        .block(1, 1, &[(15, 3, None, 0)])
        .edge(K::Jump, 1, 1)
        .block(2, 4, &[(3, 12, Some(0), 0)])
        .edge(K::True, 2, 3)
        .edge(K::False, 3, 1)
        .block(2, 3, &[(17, 5, None, 0)])
        .edge(K::Jump, 1, 3)
        .block(2, 9, &[(6, 9, Some(1), 0), (3, 12, Some(2), 0)])
        .edge(K::True, 3, 8)
        .edge(K::False, 4, 1)
        .block(1, 1, &[(19, 3, None, 0)])
        .edge(K::Return, 5, 1);
    for (symbol, line, parent) in [("get", 16, None), ("find", 18, None), ("get", 7, Some(1))] {
        function.facts.inlined.push(Inlined { symbol: symbol.into(), call: at(line), parent });
    }
    sample.map.program.modules[0].functions = vec![function.facts];
    sample.map.program.modules[1].functions.clear();
    let MethodPlan::Counters(plan) = &mut sample.map.plan.method else { unreachable!("edges are counted") };
    plan.functions.truncate(1);
    sample.profile.functions = vec![Some(function.profile)];
    sample
}

#[test]
fn loops_stand_where_they_were_written() {
    let sample = loops_with_copies();
    let report = text(|out| report::write(&unit(&sample), &report::ReportOptions::default(), out));
    let row = |instructions: &str| {
        let loops = &report[report.find("Hottest loops").unwrap()..];
        let row = loops.lines().find(|l| l.trim_start().starts_with(instructions)).unwrap();
        row.split_whitespace().skip(4).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("14 "), "reads main.c:16", "the line of the call, not of what was inlined: {report}");
    assert_eq!(row("18 "), "find in reads main.c:6", "{report}");
}

#[test]
fn annotate_of_a_function_shows_its_own_lines() {
    let sample = loops_with_copies();
    let sources = sample.sources();
    let shown = |pattern: &str| {
        let options = annotate::AnnotateOptions { function: Some(pattern.into()), ..Default::default() };
        text(|out| annotate::write(&[unit(&sample)], &sources, &options, out).map(drop))
    };
    insta::assert_snapshot!(shown("=find"));
    insta::assert_snapshot!(shown("=reads"));
    // Two functions with others between them.
    assert!(shown("e").contains("…"), "{}", shown("e"));
}

#[test]
fn branches_that_say_the_same_are_one_row() {
    use cotree_core::facts::EdgeKind as K;
    let mut sample = sample();
    let function = sample::Builder::new("twice", 0, 1, 0)
        .block(2, 0, &[(2, 7, None, 0)])
        .edge(K::True, 1, 0)
        .edge(K::False, 2, 0)
        .block(2, 0, &[(2, 7, None, 0)])
        .edge(K::Default, 2, 0)
        .edge(K::Cases(3, 7), 3, 0)
        .block(1, 0, &[(3, 1, None, 0)])
        .edge(K::Jump, 3, 0)
        .block(1, 0, &[(4, 1, None, 0)])
        .edge(K::Return, 4, 0);
    sample.map.program.modules[0].functions = vec![function.facts];
    sample.map.program.modules[1].functions.clear();
    sample.profile.functions = vec![Some(function.profile)];
    let text =
        text(|out| annotate::write(&[unit(&sample)], &NoSources, &annotate::AnnotateOptions::default(), out).map(drop));
    assert_eq!(text.matches("branch at column 7: never reached (2 of them)").count(), 1, "{text}");
    assert_eq!(text.matches("branch").count(), 1, "{text}");
    assert_eq!(cotree_report::branches::outcome_name(K::Cases(3, 7)), "case 7 and 2 more");
}

#[test]
fn rust_functions_are_the_same_in_another_build() {
    let mut before = sample();
    let mut after = sample();
    before.map.program.modules[0].functions[0].symbol = "_ZN4demo6square17h0123456789abcdefE".into();
    after.map.program.modules[0].functions[0].symbol = "_ZN4demo6square17hfedcba9876543210E".into();
    // A copy that was inlined does not know its file.
    after.map.program.modules[0].functions[2].position = None;
    let difference = diff::compare(&[unit(&before)], &[unit(&after)], &NoSources);
    assert!(difference.functions.is_empty(), "{:?}", difference.functions);
}
