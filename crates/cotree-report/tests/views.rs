//! Every view of one hand-made unit, as text.

mod paths;
mod sample;

use cotree_core::ids::Edge;
use cotree_core::profile::FunctionProfile;
use cotree_report::flow::Flow;
use cotree_report::names::Names;
use cotree_report::source::NoSources;
use cotree_report::terminal::Style;
use cotree_report::unit::Unit;
use cotree_report::{annotate, coverage::FileIndex, diff, dot, json, lcov, report};
use sample::{Sample, cut_off, sample};

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
    insta::assert_snapshot!(text(|out| report::write(&unit(&sample), &report::Options::default(), out)));
}

#[test]
fn report_of_a_killed_run() {
    let sample = cut_off();
    let options = report::Options { verbose: true, style: Style { width: 72, colour: false }, ..Default::default() };
    insta::assert_snapshot!(text(|out| report::write(&unit(&sample), &options, out)));
}

#[test]
fn report_of_one_function_by_its_source_name() {
    let sample = sample();
    let options = report::Options { function: Some("foo::".into()), names: Names::Raw, ..Default::default() };
    insta::assert_snapshot!(text(|out| report::write(&unit(&sample), &options, out)));
}

#[test]
fn annotate() {
    let sample = sample();
    let sources = sample.sources();
    let write =
        |out: &mut Vec<u8>| annotate::write(&[unit(&sample)], &sources, &annotate::Options::default(), out).map(drop);
    insta::assert_snapshot!(text(write));
}

#[test]
fn annotate_without_sources_with_exceptions_in_colour() {
    let sample = cut_off();
    let style = Style { width: 80, colour: true };
    let options = annotate::Options { exceptions: true, style, ..Default::default() };
    insta::assert_snapshot!(text(|out| annotate::write(&[unit(&sample)], &NoSources, &options, out).map(drop)));
}

#[test]
fn lcov() {
    let sample = sample();
    let sources = sample.sources();
    insta::assert_snapshot!(text(|out| lcov::write(&[unit(&sample)], &sources, &lcov::Options::default(), out)));
}

#[test]
fn lcov_without_exceptions() {
    let sample = sample();
    let options = lcov::Options {
        exceptions: false,
        file: Some("foo.cpp".into()),
        names: Names::Demangled,
        ..Default::default()
    };
    insta::assert_snapshot!(text(|out| lcov::write(&[unit(&sample)], &NoSources, &options, out)));
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
    let function = unit.function(1).unwrap();
    insta::assert_snapshot!(text(|out| dot::write(&unit, &function, "classify", out)));
}

#[test]
fn differences() {
    let before = sample();
    let mut after = sample();
    let main = after.profile.functions[2].as_mut().unwrap();
    main.blocks = vec![1, 11, 10, 10, 1];
    main.edges = Some(vec![1, 10, 1, 10, 10, 1]);
    main.early = vec![];
    let square = after.profile.functions[0].as_mut().unwrap();
    (square.entries, square.blocks, square.edges) = (7, vec![7], Some(vec![7]));
    let difference = diff::compare(&[unit(&before)], &[unit(&after)], &before.sources());
    let options = diff::Options { top: 0, names: Names::Demangled, style: Style::default() };
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
