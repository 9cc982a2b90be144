use super::*;
use cotree_core::facts::{BlockFacts, Call, Callee, EdgeFacts, EdgeKind, LineSpan, Position};
use cotree_core::ids::Block;

fn edge(src: u32, dst: u32, successor: u32) -> EdgeFacts {
    EdgeFacts { src: Block(src), dst: Block(dst), kind: EdgeKind::Return, successor }
}

fn function(symbol: &str, successor: u32) -> Function {
    let (blocks, edges) = (vec![BlockFacts::default()], vec![edge(0, 1, successor)]);
    Function { symbol: symbol.into(), blocks, edges, ..Function::default() }
}

/// Two blocks, of which the second calls somebody, in those lines of a function that begins in line 10.
fn calling(callee: &str, lines: [u32; 2]) -> Function {
    let at = |line| Position { file: 0, line, column: 1 };
    let block = |line| BlockFacts {
        lines: vec![LineSpan { at: at(line), inlined: None, after_sites: 0 }],
        ..BlockFacts::default()
    };
    let call = Call { block: Block(1), callee: Callee::Symbol(callee.into()), ..Call::default() };
    Function {
        symbol: "f".into(),
        position: Some(at(10)),
        blocks: lines.map(block).to_vec(),
        edges: vec![edge(0, 1, 0), edge(1, 2, 0)],
        calls: std::iter::once(call).collect(),
        ..Function::default()
    }
}

fn file(text: &str) -> Result<Weights, WeightsError> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text).expect("it can be written");
    Weights::open(file.path())
}

/// A line as versions before outlines wrote them.
fn line(module: &str, function: &Function, count: u64) -> String {
    let (symbol, shape) = (&function.symbol, shape(function));
    format!(
        r#"{{"symbol":"{symbol}","module":"{module}","shape":{shape},"blocks":[{count}],"edges":[{count}]}}{}"#,
        "\n"
    )
}

#[test]
fn weights_are_found_by_symbol_shape_and_module() {
    let (f, changed) = (function("f", 0), function("f", 1));
    let text = format!("{{\"schema\":\"cotree-weights/1\"}}\n{}{}", line("a/x.o", &f, 1), line("b/y.o", &f, 2));
    let weights = file(&text).expect("it is well-formed");
    assert_eq!(weights.of("elsewhere/y.o", &f).expect("it is there").blocks, [2]);
    assert_eq!(weights.of("z.o", &f).expect("any module will do").blocks, [1]);
    assert!(weights.of("x.o", &changed).is_none(), "another shape has no weights");
    assert!(weights.of("x.o", &function("g", 0)).is_none());
    assert!(weights.same("x.o", &f).is_some(), "nothing else is known of it");
    assert!(weights.guess("x.o", &changed).is_none(), "nothing is known of its blocks");
}

#[test]
fn temporary_objects_have_the_name_of_their_source() {
    let f = function("f", 0);
    let text = format!(
        "{{\"schema\":\"cotree-weights/1\"}}\n{}{}",
        line("/tmp/x-0a1b2c.o", &f, 1),
        line("/tmp/y-3d4e5f.o", &f, 2)
    );
    let weights = file(&text).expect("it is well-formed");
    assert_eq!(weights.of("/tmp/y-ffffff.o", &f).expect("it is there").blocks, [2]);
    assert!(!same_module("y-fffffg.o", "y-ffffff.o") && !same_module("y-ffffff.o", "x-ffffff.o"));
}

/// Weights of these builds of `f`, with these counts.
fn of_builds(builds: &[(&Function, [u64; 2])]) -> Weights {
    let mut weights = Weights::default();
    for (build, (function, counts)) in builds.iter().enumerate() {
        let profile =
            FunctionProfile { blocks: counts.to_vec(), edges: Some(counts.to_vec()), ..FunctionProfile::default() };
        let (module, outline) = (format!("/tmp/a-00000{build}.o"), Some(Outline::of(function)));
        let entry = Entry { module, shape: shape(function), outline, builds: vec![build], profile };
        weights.add("f".into(), entry);
    }
    weights
}

#[test]
fn builds_with_the_same_function_are_added_up() {
    let (f, moved, other) = (calling("g", [11, 12]), calling("g", [11, 13]), calling("h", [11, 12]));
    let weights = of_builds(&[(&f, [1, u64::MAX - 1]), (&other, [100, 100]), (&f, [2, 2])]);
    let entry = weights.same("a.o", &f).expect("two builds have it");
    assert_eq!((&*entry.profile.blocks, &*entry.builds), (&[3, u64::MAX][..], &[0, 2][..]));
    assert_eq!(weights.same("a.o", &other).expect("one has it").builds, [1]);
    // What places counters need not be the very function.
    assert!(weights.same("a.o", &moved).is_none());
    assert_eq!(weights.of("a.o", &moved).expect("it has this graph").blocks, [3, u64::MAX]);
}

#[test]
fn a_line_that_goes_on_behind_a_call_site_is_the_same_line() {
    let f = calling("g", [11, 12]);
    let mut counted = f.clone();
    for block in &mut counted.blocks {
        let behind = LineSpan { after_sites: 1, ..block.lines[0] };
        block.lines.push(behind);
    }
    let weights = of_builds(&[(&counted, [1, 2])]);
    assert_eq!(weights.same("a.o", &f).expect("it is the same function").profile.blocks, [1, 2]);
}

#[test]
fn functions_that_have_changed_are_guessed_by_what_is_most_like_them() {
    let (f, other) = (calling("g", [11, 12]), calling("h", [11, 12]));
    let mut longer = calling("h", [11, 14]);
    longer.blocks.push(BlockFacts::default());
    longer.edges = vec![edge(0, 1, 0), edge(0, 2, 1), edge(2, 1, 0), edge(1, 3, 0)];
    let weights = of_builds(&[(&f, [5, 5]), (&other, [7, 7])]);
    assert!(weights.of("a.o", &longer).is_none());
    let guess = weights.guess("a.o", &longer).expect("there are versions of it");
    assert_eq!((&*guess.entry.builds, guess.pairs), (&[1][..], 2), "of that which calls the same");
    assert_eq!(guess.profile.blocks, [7, 7, 0]);
    assert_eq!(guess.profile.edges, Some(vec![0, 0, 0, 7]), "where the entry leads to is not known");
}

#[test]
fn other_files_are_refused() {
    for text in
        ["", "COTREERW", "{\"schema\":\"cotree-weights/9\"}\n", "{\"schema\":\"cotree-weights/1\"}\n{\"symbol\":1}\n"]
    {
        assert!(matches!(file(text), Err(WeightsError::Malformed { .. })), "{text:?}");
    }
}
