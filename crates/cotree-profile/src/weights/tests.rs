use super::targets::{BlockTargets, CallTargets, Target, matched};
use super::*;
use cotree_core::facts::{BlockFacts, Call, Callee, EdgeFacts, EdgeKind, LineSpan, Position};
use cotree_core::facts::{Module, ProgramMap};
use cotree_core::ids::{Block, CallId, FunctionId};
use cotree_core::method::targets::SiteTargets;

fn edge(src: u32, dst: u32, successor: u32) -> EdgeFacts {
    EdgeFacts { src: Block(src), dst: Block(dst), kind: EdgeKind::Return, successor }
}

fn function(symbol: &str, successor: u32) -> Function {
    let (blocks, edges) = (vec![BlockFacts::default()], vec![edge(0, 1, successor)]);
    Function { symbol: symbol.into(), blocks: blocks.into(), edges: edges.into(), ..Function::default() }
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
        blocks: lines.map(block).to_vec().into(),
        edges: vec![edge(0, 1, 0), edge(1, 2, 0)].into(),
        calls: std::iter::once(call).collect(),
        ..Function::default()
    }
}

fn file(text: &str) -> Result<Weights, WeightsError> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text).expect("it can be written");
    Weights::open(file.path())
}

const HEAD: &str = "{\"schema\":\"cotree-weights/1\",\"builds\":[]}\n";

/// A function of one block that ran `count` times, as a line of a file.
fn line(module: &str, function: &Function, count: u64) -> String {
    let (symbol, shape) = (&function.symbol, shape(function));
    let outline = serde_json::to_string(&Outline::of(function)).expect("JSON");
    format!(
        r#"{{"symbol":"{symbol}","module":"{module}","shape":{shape},"blocks":[{count}],"edges":[{count}],"build":0,"outline":{outline}}}{}"#,
        "\n"
    )
}

#[test]
fn builds_say_where_they_were_counted() {
    let builds = r#"[{"name":"p","id":"1","runs":2},{"name":"p","id":"2","runs":1,"at":"early"}]"#;
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    // Whoever asks for the builds alone does not wait for the functions.
    std::fs::write(file.path(), format!("{{\"schema\":\"cotree-weights/1\",\"builds\":{builds}}}\nno function\n"))
        .expect("it can be written");
    let builds = super::builds(file.path()).expect("the first line is well-formed");
    assert_eq!(builds.iter().map(|build| build.at.as_deref()).collect::<Vec<_>>(), [None, Some("early")]);
    assert!(Weights::open(file.path()).is_err());
}

#[test]
fn weights_are_found_by_symbol_shape_and_module() {
    let (f, changed) = (function("f", 0), function("f", 1));
    let text = format!("{HEAD}{}{}", line("a/x.o", &f, 1), line("b/y.o", &f, 2));
    let weights = file(&text).expect("it is well-formed");
    assert_eq!(weights.of("elsewhere/y.o", &f).expect("it is there").blocks, [2]);
    assert_eq!(weights.of("z.o", &f).expect("any module will do").blocks, [1]);
    assert!(weights.of("x.o", &changed).is_none(), "another shape has no weights");
    assert!(weights.of("x.o", &function("g", 0)).is_none());
    assert!(weights.same("x.o", &f).is_some());
}

#[test]
fn temporary_objects_have_the_name_of_their_source() {
    let f = function("f", 0);
    let text = format!("{HEAD}{}{}", line("/tmp/x-0a1b2c.o", &f, 1), line("/tmp/y-3d4e5f.o", &f, 2));
    let weights = file(&text).expect("it is well-formed");
    assert_eq!(weights.of("/tmp/y-ffffff.o", &f).expect("it is there").blocks, [2]);
    assert!(!same_module("y-fffffg.o", "y-ffffff.o") && !same_module("y-ffffff.o", "x-ffffff.o"));
}

/// Weights of these builds of `f`, with these counts.
fn of_builds(builds: &[(&Function, [u64; 2])]) -> Weights {
    let mut weights = Weights::default();
    for (build, (function, counts)) in builds.iter().enumerate() {
        let profile = FunctionProfile {
            blocks: counts.to_vec().into(),
            edges: Some(counts.to_vec().into()),
            ..FunctionProfile::default()
        };
        let (module, outline) = (format!("/tmp/a-00000{build}.o"), Outline::of(function));
        let entry =
            Entry { module, shape: shape(function), outline, builds: vec![build], profile, targets: Vec::new() };
        weights.add("f".into(), entry);
    }
    weights
}

#[test]
fn builds_with_the_same_function_are_added_up() {
    let (f, moved, other) = (calling("g", [11, 12]), calling("g", [11, 13]), calling("h", [11, 12]));
    let weights = of_builds(&[(&f, [1, u64::MAX - 1]), (&other, [100, 100]), (&f, [2, 2])]);
    let entry = weights.same("a.o", &f).expect("two builds have it");
    assert_eq!(entry.profile.blocks, [3, u64::MAX]);
    assert_eq!(entry.builds, [0, 2]);
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
    longer.edges = vec![edge(0, 1, 0), edge(0, 2, 1), edge(2, 1, 0), edge(1, 3, 0)].into();
    let weights = of_builds(&[(&f, [5, 5]), (&other, [7, 7])]);
    assert!(weights.of("a.o", &longer).is_none());
    let guess = weights.guess("a.o", &longer).expect("there are versions of it");
    assert_eq!((&*guess.entry.builds, guess.pairs), (&[1][..], 2), "of that which calls the same");
    assert_eq!(guess.profile.blocks, [7, 7, 0]);
    assert_eq!(guess.profile.edges, Some(vec![0, 0, 0, 7].into()), "where the entry leads to is not known");
}

#[test]
fn other_files_are_refused() {
    let (later, damaged) = (HEAD.replace("weights/1", "weights/2"), format!("{HEAD}{{\"symbol\":1}}\n"));
    for text in ["", "COTREERW", &later, &damaged] {
        assert!(matches!(file(text), Err(WeightsError::Malformed { .. })), "{text:?}");
    }
    let said = file(&later).expect_err("it is refused").to_string();
    assert!(said.contains("its schema is cotree-weights/2, not cotree-weights/1"), "{said}");
}

fn target(symbol: &str, module: Option<&str>, count: u64) -> Target {
    Target { symbol: symbol.into(), module: module.map(str::to_owned), count }
}

/// A function of two blocks, of which the second makes indirect calls.
fn dispatching(calls: usize, lines: [u32; 2]) -> Function {
    let mut function = calling("g", lines);
    function.calls.extend((0..calls).map(|_| Call::site(Block(1), Callee::Indirect)));
    function
}

#[test]
fn targets_of_other_modules_are_known_by_these_too() {
    let module = |name: &str, functions| Module { name: name.into(), functions, ..Module::default() };
    let program = ProgramMap {
        modules: vec![
            module("/tmp/a-00000f.o", vec![dispatching(3, [11, 12]), function("h", 0)]),
            module("/tmp/b-00000f.o", vec![function("h", 0)]),
        ],
        ..ProgramMap::default()
    };
    let ids = [0, 1, 2, 9].map(FunctionId);
    let site = |call, functions: &[(usize, u64)], others| SiteTargets {
        call: CallId(call),
        functions: functions.iter().map(|&(function, count)| (ids[function], count)).collect(),
        others,
    };
    // In file order it need not be.
    let sites = [site(3, &[(2, 7), (1, 5), (3, 4)], 1), site(1, &[(0, 2)], 0)];
    let (module, facts) = program.functions().next().expect("a function");
    let targets = targets::Names::of(&program).targets(&module.name, facts, &sites);
    let expected = [
        CallTargets { functions: vec![target("f", None, 2)], others: 0 },
        CallTargets::default(),
        CallTargets { functions: vec![target("h", Some("b"), 7), target("h", None, 5)], others: 5 },
    ];
    let expected = vec![BlockTargets { block: 1, calls: expected.to_vec() }];
    assert_eq!(targets, expected);
    let text = serde_json::to_string(&targets[0]).expect("JSON");
    assert_eq!(
        text,
        r#"{"block":1,"calls":[{"functions":[{"symbol":"f","count":2}]},{},{"functions":[{"symbol":"h","module":"b","count":7},{"symbol":"h","count":5}],"others":5}]}"#
    );
    assert_eq!(serde_json::from_str::<BlockTargets>(&text).expect("it was written so"), targets[0]);
    let of_calls: Vec<(u32, u64)> = matched(facts, &targets).map(|(call, targets)| (call.0, targets.total())).collect();
    assert_eq!(of_calls, [(1, 2), (3, 17)]);
    assert_eq!(matched(&dispatching(2, [11, 12]), &targets).count(), 0, "it has fewer such calls");
    let twice = [targets.clone(), targets].concat();
    assert_eq!(matched(facts, &twice).count(), 2, "a block is heard once");
}

#[test]
fn targets_of_several_builds_add_up() {
    let f = dispatching(2, [11, 12]);
    let of_build = |build: usize, calls: Vec<CallTargets>| {
        let profile =
            FunctionProfile { blocks: vec![1, 1].into(), edges: Some(vec![1, 1].into()), ..FunctionProfile::default() };
        let targets = vec![BlockTargets { block: 1, calls }];
        let outline = Outline::of(&f);
        Entry { module: "a.o".into(), shape: shape(&f), outline, builds: vec![build], profile, targets }
    };
    let call = |functions, others| CallTargets { functions, others };
    let mut weights = Weights::default();
    let first = call(vec![target("g", None, 5), target("g", Some("b"), 1), target("g", None, 2)], 1);
    weights.add("f".into(), of_build(0, vec![first, call(vec![], 3)]));
    let second = call(vec![target("h", None, u64::MAX), target("g", None, 3)], u64::MAX);
    weights.add("f".into(), of_build(1, vec![second, call(vec![target("h", None, 4)], 0)]));
    // As if the calls of this block were others.
    weights.add("f".into(), of_build(2, vec![call(vec![target("i", None, 9)], 0)]));
    let entry = weights.same("a.o", &f).expect("all builds have it");
    let [g, other, h] = [target("g", None, 10), target("g", Some("b"), 1), target("h", None, u64::MAX)];
    let expected = [call(vec![g, other, h], u64::MAX), call(vec![target("h", None, 4)], 3)];
    assert_eq!((entry.builds.len(), &entry.targets[0].calls[..]), (3, &expected[..]));

    // Another version has them where its blocks are the same.
    let mut longer = dispatching(2, [11, 14]);
    longer.blocks.insert(1, BlockFacts::default());
    longer.calls.update(|_, call| call.block = Block(2));
    longer.edges = vec![edge(0, 2, 0), edge(0, 1, 1), edge(1, 2, 0), edge(2, 3, 0)].into();
    let guess = weights.guess("a.o", &longer).expect("a version of it was counted");
    assert_eq!(guess.targets.iter().map(|block| block.block).collect::<Vec<_>>(), [2]);
    assert_eq!(matched(&longer, &guess.targets).count(), 2);
}
