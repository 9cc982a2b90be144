//! Every kind of terminator and edge: its facts, and probes on all of it that leave a valid module.

use cotree_core::facts::{Call, Callee, Doubt, Function, Untouched};
use cotree_core::ids::{Block, CallId, Counter, Edge, Site};
use cotree_core::method::counters::chords::ChordMethod;
use cotree_core::method::counters::{self, CounterMethod};
use cotree_core::place::affine::Replacements;
use cotree_core::plan::{CounterKey, CounterPlan, FunctionPlan, Measure};
use cotree_core::probe::{Place, PlacedProbe, Probe};
use cotree_core::weight::weighting::Weighting;
use cotree_llvm::emit::{Level, Target, compile};
use cotree_llvm::extract::{Selection, extract};
use cotree_llvm::lower::{Access, First, Layer, MethodPart, Unit, lower};
use cotree_llvm::{Error, Module};

const HEAD: &str = "target triple = \"x86_64-unknown-linux-gnu\"\ndeclare i32 @g(i32)\ndeclare i32 @personality(...)\n";

fn facts(body: &str) -> Function {
    let module = Module::parse_text("test", &format!("{HEAD}{body}")).expect("valid IR");
    let mut functions = extract(&module, &Selection::default()).facts.functions;
    functions.remove(0)
}

/// Blocks and edges as text: `0>1 True`.
fn edges(function: &Function) -> Vec<String> {
    function.edges.iter().map(|e| format!("{}>{} {:?}", e.src.0, e.dst.0, e.kind)).collect()
}

/// Puts the probes of the edge and the block method on the first function, optimises and compiles it.
fn instrument(body: &str, access: Access, level: Level) -> String {
    let mut module = Module::parse_text("test", &format!("{HEAD}{body}")).expect("valid IR");
    let extracted = extract(&module, &Selection::default());
    let plans: Vec<_> = extracted
        .facts
        .functions
        .iter()
        .map(|f| {
            let cfg = f.cfg().expect("facts of a real function are a graph");
            [CounterMethod::Edge, CounterMethod::Block].map(|m| counters::plan(m, f, &cfg, &Weighting::heuristic(&cfg)))
        })
        .collect();
    let mut base = 0;
    let layers: Vec<Vec<Layer<'_>>> = plans
        .iter()
        .map(|plans| {
            let mut layer = |plan| {
                let layer = Layer { plan: FunctionPlan::from(plan), base, method: MethodPart::Counters };
                base += layer.plan.counters as u64;
                layer
            };
            plans.iter().map(&mut layer).collect()
        })
        .collect();
    let unit = Unit {
        access,
        spare: base,
        interruptible: &vec![false; plans.len()],
        foreign: &vec![true; plans.len()],
        resolving: &vec![true; plans.len()],
        limits: None,
        targets: None,
        asked_lines: &[],
        registers_at_calls: false,
        fault_paths: false,
    };
    lower(&mut module, &extracted, &layers, &unit, First::default()).expect("every probe has code");
    let text = module.to_text();
    // The verifier runs when the text is read again.
    Module::parse_text("again", &text).expect("the instrumented module is valid");
    let target = Target::new(level);
    compile(&mut module, &target, &|_| 0).expect("it compiles");
    text
}

fn instrument_everywhere(body: &str) {
    for access in [Access::Direct, Access::ThreadInExecutable, Access::ThreadInLibrary, Access::Segment] {
        for level in [Level::O0, Level::O2] {
            instrument(body, access, level);
        }
    }
}

/// Events are known between calls, whether or not an activation can end at them; debug information is not needed.
#[test]
fn instructions_are_told_between_calls() {
    use cotree_core::facts::events::EventKind;
    let function = facts(
        "declare double @llvm.fmuladd.f64(double, double, double)\n\
         define double @f(ptr %p, double %x) {\n\
         %a = load double, ptr %p\n\
         %m = call double @llvm.fmuladd.f64(double %a, double %x, double %x)\n\
         call i32 @g(i32 1)\n\
         call i32 @g(i32 2) nounwind willreturn\n\
         store double %m, ptr %p\n\
         %n = fadd double %m, %x\n\
         ret double %n\n}",
    );
    assert_eq!(function.calls.len(), 2);
    let events = |kind| {
        let events = function.events(kind);
        (events.through(CallId(0)), events.through(CallId(1)), events.runs(Block(0)).to_vec())
    };
    assert_eq!(events(EventKind::Instructions), (3, 4, vec![3, 1, 3]));
    assert_eq!(events(EventKind::Loads), (1, 1, vec![1, 0, 0]));
    assert_eq!(events(EventKind::Stores), (0, 0, vec![0, 0, 1]));
    assert_eq!(events(EventKind::Calls), (1, 2, vec![1, 1, 0]));
    assert_eq!(events(EventKind::Float), (1, 1, vec![1, 0, 1]));
}

/// The last rule that matches an instruction says what it costs, whatever else it says.
#[test]
fn instructions_cost_what_a_file_says() {
    use cotree_core::facts::events::EventKind;
    use cotree_llvm::extract::{CostFile, add_costs};
    let body = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n\
         define i32 @fuel(ptr %p, ptr %f) {\n\
         %a = load i32, ptr %p\n\
         %b = call i32 @g(i32 %a)\n\
         %c = call i32 %f(i32 %b)\n\
         call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 4, i1 false)\n\
         store i32 %c, ptr %p\n\
         ret i32 %c\n}";
    let costs = |file: &str| {
        let module = Module::parse_text("test", &format!("{HEAD}{body}")).expect("valid IR");
        let mut extracted = extract(&module, &Selection::default());
        add_costs(&module, &mut extracted, &CostFile::parse(file).expect("a file of costs"));
        let function = &extracted.facts.functions[0];
        function.events(EventKind::Cost).runs(Block(0)).to_vec()
    };
    // Load and first call; second call; the rest.
    assert_eq!(costs(""), [2, 1, 3]);
    assert_eq!(costs("default 0\nopcode load,st* 5"), [5, 0, 5]);
    assert_eq!(costs("default 0\ncall g 100\ncall llvm.mem* 7"), [100, 0, 7]);
    assert_eq!(costs("call g 100\nopcode call 10"), [11, 10, 12]);
    assert_eq!(costs("function f?el 2\nfunction other 9\nopcode ret 0"), [4, 2, 4]);
    // There is no debug information.
    assert_eq!(costs("line *:1-1000 9"), [2, 1, 3]);
}

/// Where counters are reached by segment, a function that others may call counts its entries by the thread's word, and
/// so needs no other mark.
#[test]
fn entries_tell_whose_thread_it_is() {
    let branch = "define i32 @f(i1 %c) {\n  br i1 %c, label %a, label %b\na:\n  ret i32 1\nb:\n  ret i32 2\n}";
    let mut module = Module::parse_text("test", &format!("{HEAD}{branch}")).expect("valid IR");
    let extracted = extract(&module, &Selection::default());
    let function = &extracted.facts.functions[0];
    let cfg = function.cfg().expect("a graph");
    let plan =
        ChordMethod::Edge.plan_counting_entries(function, &cfg, &Weighting::heuristic(&cfg), &Replacements::default());
    assert_eq!(plan.key.measures.len(), 2);
    let unit = Unit {
        access: Access::Segment,
        spare: 2,
        interruptible: &[false],
        foreign: &[true],
        resolving: &[false],
        limits: None,
        targets: None,
        asked_lines: &[],
        registers_at_calls: false,
        fault_paths: false,
    };
    lower(
        &mut module,
        &extracted,
        &[vec![Layer { plan: (&plan).into(), base: 0, method: MethodPart::Counters }]],
        &unit,
        First::default(),
    )
    .expect("it has code");
    let text = module.to_text();
    assert_eq!(text.matches("load ptr, ptr @__cotree_slab").count(), 1, "{text}");
    assert_eq!(text.matches("store atomic i64").count(), 2, "{text}");
    let by_segment = text.matches("load atomic i64, ptr addrspace(256)").count();
    assert_eq!(by_segment, 1, "the other counter: {text}");
    assert!(!text.contains("store i8"), "{text}");
}

const SWITCH: &str = "
define i32 @f(i32 %x) {
entry:
  switch i32 %x, label %other [ i32 1, label %low
                                i32 2, label %low
                                i32 7, label %seven
                                i32 9, label %other
                                i32 3, label %low ]
low:
  br label %out
seven:
  br label %out
other:
  %c = icmp sgt i32 %x, 100
  br i1 %c, label %out, label %out
out:
  %r = phi i32 [ 1, %low ], [ 7, %seven ], [ 0, %other ], [ 0, %other ]
  ret i32 %r
}";

#[test]
fn cases_with_the_same_target_are_one_edge() {
    let f = facts(SWITCH);
    assert_eq!(
        edges(&f),
        [
            "0>3 Default",
            "0>1 Cases(3, 1)",
            "0>2 Case(7)",
            "1>4 Jump",
            "2>4 Jump",
            "3>4 True",
            "3>4 False",
            "4>5 Return"
        ]
    );
    instrument_everywhere(SWITCH);
}

/// Two edges of one switch and a conditional branch with equal targets into a phi that names itself.
#[test]
fn phis_keep_one_entry_per_edge() {
    let body = "
define i32 @f(i32 %x, i1 %c) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i, %head ], [ %i, %head ], [ %n, %body ]
  switch i32 %x, label %body [ i32 1, label %head
                               i32 2, label %head
                               i32 3, label %out ]
body:
  %n = add i32 %i, 1
  br i1 %c, label %head, label %out
out:
  %r = phi i32 [ %i, %head ], [ %n, %body ]
  ret i32 %r
}";
    instrument_everywhere(body);
}

const INVOKES: &str = "
define i32 @f(i32 %x) personality ptr @personality {
entry:
  %a = invoke i32 @g(i32 %x) to label %more unwind label %pad
more:
  %b = invoke i32 @g(i32 %a) to label %done unwind label %pad
done:
  ret i32 %b
pad:
  %which = phi i32 [ 1, %entry ], [ 2, %more ]
  %e = landingpad { ptr, i32 } cleanup
  %t = icmp eq i32 %which, %x
  br i1 %t, label %caught, label %on
caught:
  ret i32 %which
on:
  resume { ptr, i32 } %e
}";

#[test]
fn invokes_and_shared_landing_pads() {
    let f = facts(INVOKES);
    assert_eq!(
        edges(&f),
        [
            "0>1 InvokeNormal",
            "0>3 InvokeUnwind",
            "1>2 InvokeNormal",
            "1>3 InvokeUnwind",
            "2>6 Return",
            "3>4 True",
            "3>5 False",
            "4>6 Return",
            "5>6 Resume"
        ]
    );
    let sites: Vec<_> = f.sites().map(|s| (s.block.0, s.terminator, s.resume_marker, s.probe)).collect();
    assert_eq!(sites, [(0, true, false, 1), (1, true, false, 2), (5, false, true, 3)]);
    instrument_everywhere(INVOKES);
    let text = instrument(INVOKES, Access::Direct, Level::O2);
    assert!(text.contains("call void @__cotree_resuming()"), "a marker stands before the resume:\n{text}");
    assert_eq!(text.matches("landingpad").count(), 1, "the pad stays one:\n{text}");
}

/// Counts at these places of the first function; the counter of each is its number.
fn count_at(body: &str, places: &[Place]) -> Result<String, Error> {
    let mut module = Module::parse_text("test", &format!("{HEAD}{body}")).expect("valid IR");
    let extracted = extract(&module, &Selection::default());
    let probes = (0..).zip(places).map(|(i, &place)| PlacedProbe { place, probe: Probe::Count(Counter(i)) }).collect();
    let key = CounterKey { measures: vec![Measure::Block(Block(0)); places.len()], ..CounterKey::default() };
    let plan = CounterPlan { probes, key };
    let layers = vec![vec![Layer { plan: (&plan).into(), base: 0, method: MethodPart::Counters }]];
    let unit = Unit {
        access: Access::Direct,
        spare: 100,
        interruptible: &[false],
        foreign: &[false],
        resolving: &[false],
        limits: None,
        targets: None,
        asked_lines: &[],
        registers_at_calls: false,
        fault_paths: false,
    };
    lower(&mut module, &extracted, &layers, &unit, First::default())?;
    Module::parse_text("again", &module.to_text())?;
    Ok(module.to_text())
}

/// The order of calls and counted counters in the text: `g` a call, a number a counter.
fn order(text: &str) -> String {
    let item = |line: &str| match line {
        _ if line.contains("call i32 @g") || line.contains("invoke i32 @g") => Some("g".to_owned()),
        _ if line.contains("store atomic") => {
            Some(match line.split_once("i64 ").and_then(|(_, rest)| rest.rsplit_once("@__cotree_counters")) {
                Some((_, rest)) if rest.starts_with(", i64 ") => {
                    rest.trim_start_matches(", i64 ").chars().take_while(char::is_ascii_digit).collect()
                }
                _ => "0".to_owned(),
            })
        }
        _ => None,
    };
    text.lines().filter_map(item).collect::<Vec<_>>().join(" ")
}

#[test]
fn probes_behind_calls_come_first_of_all_that_follows() {
    let after = |call| Place::After(CallId(call));
    let calls = "
define i32 @f(i32 %x) {
  %a = call i32 @g(i32 %x)
  %b = call i32 @g(i32 %a)
  ret i32 %b
}";
    let places = [Place::End(Block(0)), Place::Call(CallId(1)), after(0), after(1), Place::Start(Block(0))];
    let text = count_at(calls, &places).expect("all have code");
    assert_eq!(order(&text), "4 g 2 1 g 3 0", "{text}");
    let places = [Place::Edge(Edge(0)), after(0), Place::Start(Block(1)), after(1)];
    let text = count_at(INVOKES, &places).expect("all have code");
    assert_eq!(order(&text), "g 1 0 2 g 3", "{text}");
    for dead in ["call i32 @g(i32 %x) noreturn\n  unreachable", "musttail call i32 @g(i32 %x)\n  ret i32 %a"] {
        let body = format!("define i32 @f(i32 %x) {{\n  %a = {dead}\n}}");
        assert!(count_at(&body, &[after(0)]).is_err(), "{body}");
    }
    let goto = "define void @f() {\n  callbr void asm \"\", \"!i\"() to label %a [label %a]\na:\n  ret void\n}";
    assert!(count_at(goto, &[after(0)]).is_err());
}

const GOTO: &str = "
@labels = constant [3 x ptr] [ptr blockaddress(@f, %a), ptr blockaddress(@f, %b), ptr blockaddress(@f, %a)]
define i32 @f(ptr %p, i32 %x) {
entry:
  indirectbr ptr %p, [label %a, label %b, label %a]
a:
  %i = phi i32 [ 0, %entry ], [ 0, %entry ], [ %j, %b ], [ %j, %b ]
  %k = add i32 %i, 1
  %c = icmp eq i32 %k, %x
  br i1 %c, label %out, label %b
b:
  %j = phi i32 [ 5, %entry ], [ %k, %a ]
  indirectbr ptr %p, [label %a, label %a, label %out]
out:
  ret i32 %x
}";

#[test]
fn computed_gotos() {
    let f = facts(GOTO);
    assert_eq!(
        edges(&f),
        [
            "0>1 IndirectBranch",
            "0>2 IndirectBranch",
            "1>3 True",
            "1>2 False",
            "2>1 IndirectBranch",
            "2>3 IndirectBranch",
            "3>4 Return"
        ]
    );
    instrument_everywhere(GOTO);
    let text = instrument(GOTO, Access::Direct, Level::O0);
    assert!(text.contains("icmp eq ptr %p, blockaddress(@f, %a)"), "the block method compares addresses:\n{text}");
}

#[test]
fn asm_goto() {
    let body = "
define i32 @f(i32 %x) {
entry:
  callbr void asm \"testl $0, $0; jne ${1:l}\", \"r,!i,~{dirflag},~{fpsr},~{flags}\"(i32 %x) to label %zero [label %some]
zero:
  br label %some
some:
  %r = phi i32 [ 1, %entry ], [ 0, %zero ]
  ret i32 %r
}";
    assert_eq!(edges(&facts(body)), ["0>1 CallBrFallthrough", "0>2 CallBrIndirect", "1>2 Jump", "2>3 Return"]);
    instrument_everywhere(body);
}

#[test]
fn nothing_comes_between_a_musttail_call_and_its_return() {
    let body = "
define i32 @f(i32 %x) {
  %c = icmp eq i32 %x, 0
  br i1 %c, label %a, label %b
a:
  %r = musttail call i32 @g(i32 %x)
  ret i32 %r
b:
  ret i32 1
}";
    assert!(facts(body).sites().len() == 0, "its frame is gone before the callee runs");
    instrument_everywhere(body);
}

#[test]
fn functions_without_optimisation_count_in_one_instruction() {
    let function = |attributes: &str| {
        format!(
            "define i32 @f(i1 %c) {attributes} {{\n  br i1 %c, label %a, label %b\na:\n  ret i32 1\nb:\n  ret i32 2\n}}"
        )
    };
    for access in [Access::Direct, Access::ThreadInExecutable, Access::ThreadInLibrary, Access::Segment] {
        let left = instrument(&function("noinline optnone"), access, Level::O2);
        assert!(left.contains("addq $2, "), "{left}");
        let optimised = instrument(&function("noinline"), access, Level::O2);
        assert!(!optimised.contains("addq $2, "), "{optimised}");
    }
}

#[test]
fn endless_loops_and_unreachable_code() {
    let body = "
define void @f(i32 %x) {
entry:
  br label %loop
loop:
  %r = call i32 @g(i32 %x)
  br label %loop
dead:
  %p = phi i32 [ 0, %dead2 ]
  br label %loop
dead2:
  br label %dead
}";
    let f = facts(body);
    assert_eq!(edges(&f), ["0>1 Jump", "1>1 Jump"], "what can't be reached is not listed");
    instrument_everywhere(body);
}

#[test]
fn functions_that_are_left_alone_say_why() {
    let untouched = |attributes: &str| facts(&format!("define void @f() {attributes} {{ ret void }}")).untouched;
    assert_eq!(untouched("naked"), Some(Untouched::Naked));
    assert_eq!(untouched("noprofile"), Some(Untouched::AuthorForbids));
    assert_eq!(untouched("presplitcoroutine"), Some(Untouched::Coroutine));
    assert_eq!(untouched("nounwind"), None);
    let resolver = "
@i = ifunc void (), ptr @f
define ptr @f() { ret ptr null }";
    assert_eq!(facts(resolver).untouched, Some(Untouched::IfuncResolver));
}

#[test]
fn patterns_choose_functions() {
    let body = format!("{HEAD}define void @one() {{ ret void }}\ndefine void @_ZN3two5threeEv() {{ ret void }}");
    let chosen = |include: &[&str], exclude: &[&str]| {
        let own = |patterns: &[&str]| patterns.iter().map(ToString::to_string).collect::<Vec<_>>();
        let selection = Selection::new(&own(include), &own(exclude), &[]).expect("these are globs");
        let module = Module::parse_text("test", &body).expect("valid IR");
        let functions = extract(&module, &selection).facts.functions;
        functions.into_iter().filter(|f| f.untouched.is_none()).map(|f| f.symbol).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&[], &[]), ["one", "_ZN3two5threeEv"]);
    assert_eq!(chosen(&["two::*"], &[]), ["_ZN3two5threeEv"]);
    assert_eq!(chosen(&[], &["o*"]), ["_ZN3two5threeEv"]);
    assert!(matches!(Selection::new(&["[".into()], &[], &[]), Err(Error::Option { .. })));
}

#[test]
fn calls_that_always_return_are_no_sites_and_others_are() {
    let body = "
declare i64 @strlen(ptr) nounwind willreturn
declare void @exit(i32) noreturn
declare i32 @setjmp(ptr) returns_twice
define void @f(ptr %p) {
  %n = call i64 @strlen(ptr %p)
  %s = call i32 @setjmp(ptr %p)
  call void %p()
  call void asm sideeffect \"nop\", \"\"()
  call void @exit(i32 1)
  unreachable
}";
    let f = facts(body);
    let sites: Vec<_> = f.sites().map(|s| (format!("{:?}", s.callee), s.returns_twice, s.no_return)).collect();
    assert_eq!(
        sites,
        [
            ("Symbol(\"setjmp\")".to_owned(), true, false),
            ("Indirect".to_owned(), false, false),
            ("Symbol(\"exit\")".to_owned(), false, true)
        ]
    );
}

/// Every kind of call: whom, what is special about it, which call site it is, and how many call sites come before it.
#[test]
fn all_calls_are_listed() {
    let body = "
@alias = alias void (), ptr @h
declare void @quick() nounwind willreturn
declare void @exit(i32) noreturn
declare i32 @setjmp(ptr) returns_twice
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.assume(i1)
define i32 @f(ptr %p, i32 %x) personality ptr @personality {
  call void @quick()
  %s = call i32 @setjmp(ptr %p)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %p, i64 8, i1 false)
  call void asm sideeffect \"nop\", \"\"()
  call void @llvm.assume(i1 true)
  call void %p()
  call void @quick()
  call void %p() nounwind willreturn
  invoke i32 @g(i32 %x) to label %a unwind label %pad
a:
  call void @alias()
  call fastcc void @quick()
  callbr void asm \"jmp ${1:l}\", \"r,!i\"(i32 %x) to label %b [label %c]
b:
  %r = musttail call i32 @f(ptr %p, i32 %x)
  ret i32 %r
c:
  call void @exit(i32 1)
  unreachable
pad:
  %e = landingpad { ptr, i32 } cleanup
  invoke void @quick() to label %on unwind label %pad2
on:
  resume { ptr, i32 } %e
pad2:
  %e2 = landingpad { ptr, i32 } cleanup
  unreachable
dead:
  call void @quick()
  unreachable
}
define void @h() { ret void }";
    let f = facts(body);
    let describe = |(id, (call, after)): (usize, (&Call, u32))| {
        let callee = match &call.callee {
            Callee::Symbol(name) => name.clone(),
            other => format!("{other:?}"),
        };
        let flags = [
            (call.callee_uncertain, " uncertain"),
            (call.terminator, " terminator"),
            (call.must_tail, " musttail"),
            (call.no_return, " noreturn"),
            (call.returns_twice, " twice"),
            (call.resume_marker, " marker"),
        ];
        let flags: String = flags.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect();
        let site = f.calls.site_of(CallId::new(id)).map(|site| format!(" {site}")).unwrap_or_default();
        assert_eq!(call.is_site, !site.is_empty());
        format!("{}+{after} {callee}{flags}{site}", call.block)
    };
    assert_eq!(
        f.calls.after_sites().enumerate().map(describe).collect::<Vec<_>>(),
        [
            "b0+0 quick",
            "b0+0 setjmp twice s0",
            "b0+1 Assembly",
            "b0+1 Indirect s1",
            "b0+2 quick",
            "b0+2 Indirect",
            "b0+2 g terminator s2",
            "b1+0 alias uncertain s3",
            "b1+1 quick uncertain",
            "b1+1 Assembly terminator",
            "b2+0 f musttail",
            "b3+0 exit noreturn s4",
            "b4+0 quick terminator",
            "b5+0 __cotree_resuming marker s5",
        ]
    );
    for (block, facts) in f.blocks.iter().enumerate() {
        let listed = f.calls.iter().filter(|call| call.block.index() == block && !call.resume_marker).count();
        assert_eq!(facts.instructions.calls as usize, listed, "b{block}");
    }
    assert_eq!(f.sites().map(|site| site.probe).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
}

/// Two calls of a line have each their own column; one that was inlined belongs to its copy.
#[test]
fn calls_know_their_place_in_the_source() {
    let body = "
declare void @quick() nounwind willreturn
define i32 @f(i32 %x) !dbg !4 {
  call void @quick(), !dbg !DILocation(line: 3, column: 5, scope: !4)
  %a = call i32 @g(i32 %x), !dbg !DILocation(line: 3, column: 14, scope: !4)
  %b = add i32 %a, 1, !dbg !DILocation(line: 3, column: 9, scope: !4)
  call void @quick(), !dbg !DILocation(line: 3, column: 21, scope: !4)
  %c = call i32 @g(i32 %b), !dbg !DILocation(line: 8, column: 2, scope: !6, inlinedAt: !7)
  call void @quick()
  ret i32 %c, !dbg !DILocation(line: 0, scope: !4)
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: \"f.c\", directory: \"/src\")
!2 = !{i32 2, !\"Debug Info Version\", i32 3}
!3 = !DISubroutineType(types: !5)
!4 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1, line: 2, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!5 = !{null}
!6 = distinct !DISubprogram(name: \"in\", scope: !1, file: !1, line: 7, type: !3, unit: !0, spFlags: DISPFlagDefinition)
!7 = distinct !DILocation(line: 4, column: 3, scope: !4)";
    let f = facts(body);
    let places: Vec<_> = f
        .calls
        .numbered()
        .map(|(id, call)| {
            let copy =
                f.line_span(call).and_then(|span| span.inlined).map(|copy| f.inlined[copy as usize].symbol.clone());
            f.call_position(id).map(|at| (at.line, at.column, copy))
        })
        .collect();
    let own = |line, column| Some((line, column, None));
    assert_eq!(
        places,
        [own(3, 5), own(3, 14), own(3, 21), Some((8, 2, Some("in".to_owned()))), None],
        "{:?}",
        f.blocks[Block(0)].lines
    );
}

#[test]
fn builtin_longjmp_is_doubted() {
    let body = "
declare void @llvm.eh.sjlj.longjmp(ptr)
define void @f(ptr %p) {
  call void @llvm.eh.sjlj.longjmp(ptr %p)
  unreachable
}";
    assert_eq!(facts(body).doubts, [Doubt::BuiltinSetjmp]);
}

#[test]
fn more_calls_than_numbers_are_doubted() {
    let calls: String = (0..65_540).map(|_| "  call i32 @g(i32 0)\n").collect();
    let f = facts(&format!("define void @f() {{\n{calls}  ret void\n}}"));
    assert_eq!(f.doubts, [Doubt::UnmappedCallSites]);
    assert_eq!(f.sites().last().map(|s| s.probe), Some(0));
    assert_eq!(f.calls[Site(65_533)].probe, 65_534);
    assert_eq!(f.calls[Site(65_534)].probe, 0, "the last number is that of calls that are no call sites");
}

#[test]
fn damaged_and_foreign_bitcode_is_refused_in_a_sentence() {
    let module = Module::parse_text("test", &format!("{HEAD}define void @f() {{ ret void }}")).expect("valid IR");
    let bitcode = module.to_bitcode();
    assert!(Module::parse("whole", &bitcode).is_ok());
    for cut in [0, 3, 8, bitcode.len() / 2, bitcode.len() - 4] {
        let Err(error) = Module::parse("cut.o", &bitcode[..cut]) else { panic!("{cut} bytes are no module") };
        assert!(matches!(error, Error::BadBitcode { .. }), "{error}");
        assert!(error.to_string().starts_with("cut.o is not valid bitcode"), "{error}");
    }
    let arm = "target triple = \"aarch64-unknown-linux-gnu\"\ndefine void @f() { ret void }";
    assert!(matches!(Module::parse_text("arm", arm), Err(Error::Target { .. })));
}

#[test]
fn constructors_keep_their_order_in_init_array() {
    use object::{Object, ObjectSection};
    let body = "
@llvm.global_ctors = appending global [3 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @first, ptr null },
    { i32, ptr, ptr } { i32 300, ptr @early, ptr null }, { i32, ptr, ptr } { i32 65535, ptr @second, ptr null }]
define void @first() { %r = call i32 @g(i32 1) ret void }
define void @second() { %r = call i32 @g(i32 1) ret void }
define void @early() { %r = call i32 @g(i32 1) ret void }";
    let mut module = Module::parse_text("test", &format!("{HEAD}{body}")).expect("valid IR");
    let target = Target::new(Level::O2);
    let object = compile(&mut module, &target, &|_| 0).expect("it compiles");
    let file = object::File::parse(&*object.bytes).expect("an object");
    let targets = |name: &str| -> Vec<String> {
        let section = file.section_by_name(name).expect("the section is there");
        let mut relocations: Vec<_> = section.relocations().collect();
        relocations.sort_by_key(|r| r.0);
        let name_of = |target| match target {
            object::RelocationTarget::Symbol(symbol) => {
                use object::ObjectSymbol;
                file.symbol_by_index(symbol).and_then(|s| s.name().map(str::to_owned)).unwrap_or_default()
            }
            other => format!("{other:?}"),
        };
        relocations.into_iter().map(|(_, r)| name_of(r.target())).collect()
    };
    assert_eq!(targets(".init_array.00300"), ["early"]);
    assert_eq!(targets(".init_array"), ["first", "second"]);
    assert!(file.sections().all(|s| !s.name().unwrap_or_default().starts_with(".ctors")));
}
