//! Affine variables in IR: the programs of Frenot & Pereira 2024, what must be refused, and the code of closings.

mod shifts;
mod steady;

use cotree_core::facts::Function;
use cotree_core::graph::cfg::Cfg;
use cotree_core::graph::dfs::Dfs;
use cotree_core::graph::loops::LoopForest;
use cotree_core::method::counters::chords::ChordMethod;
use cotree_core::place::affine::{Refusal, Replacements};
use cotree_core::plan::CounterPlan;
use cotree_core::probe::{Place, Probe};
use cotree_core::weight::weighting::Weighting;
use cotree_llvm::Module;
use cotree_llvm::extract::{Extracted, Selection, extract, find_affine};
use cotree_llvm::lower::{Access, First, Layer, MethodPart, Unit, lower};

const HEAD: &str = "target triple = \"x86_64-unknown-linux-gnu\"
target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128\"\n";

/// The heuristic's weights as if they had been measured: loops with several exits are taken at their word.
fn weighting(function: &Function, cfg: &Cfg) -> Weighting {
    let expected = Weighting::expected(function, cfg);
    Weighting::new(cfg, cfg.edges().map(|e| expected.edge(e)).collect())
}

struct Seen {
    module: Module,
    extracted: Extracted,
}

impl Seen {
    fn new(body: &str) -> Self {
        let module = Module::parse_text("test", &format!("{HEAD}{body}")).expect("valid IR");
        let mut extracted = extract(&module, &Selection::default());
        find_affine(&module, &mut extracted);
        Self { module, extracted }
    }

    fn function(&self) -> (&Function, Cfg) {
        let function = &self.extracted.facts.functions[0];
        (function, function.cfg().expect("facts of a real function are a graph"))
    }

    /// Each variable with its steps, and what becomes of it.
    fn verdicts(&self) -> Vec<String> {
        let (function, cfg) = self.function();
        let variables = &self.extracted.affine[0];
        let replacements = Replacements::new(function, &cfg, &weighting(function, &cfg), variables);
        let told = variables.iter().zip(&replacements.verdicts).map(|(variable, verdict)| {
            let verdict = match verdict {
                Ok(replacement) => {
                    format!("counts {} in steps of {}", replacement.edge, replacement.closings[0].1.step)
                }
                Err(refusal) => refusal.to_string(),
            };
            format!("{}: {verdict}", variable.name)
        });
        let mut told: Vec<String> = told.collect();
        told.sort();
        told
    }

    fn plan(&self) -> CounterPlan {
        let (function, cfg) = self.function();
        ChordMethod::Edge.plan_affine(function, &cfg, &weighting(function, &cfg), &self.extracted.affine[0])
    }

    fn counts_inside(&self) -> usize {
        let (_, cfg) = self.function();
        let loops = LoopForest::new(&cfg, &Dfs::new(&cfg));
        let inside = |place: Place| match place {
            Place::Start(b) | Place::End(b) => loops.innermost(b).is_some(),
            Place::Edge(e) => loops.innermost(cfg.src(e)).is_some() && loops.innermost(cfg.dst(e)).is_some(),
            Place::Call(call) | Place::After(call) => panic!("edges are not counted at {call}"),
        };
        self.plan().probes.iter().filter(|p| inside(p.place)).count()
    }

    /// The function with its probes, as text.
    fn instrumented(&mut self) -> String {
        let plan = self.plan();
        let layers = vec![vec![Layer { plan: (&plan).into(), base: 0, method: MethodPart::Counters }]];
        let unit = Unit {
            access: Access::Direct,
            spare: plan.key.measures.len() as u64,
            interruptible: &[false],
            foreign: &[true],
            resolving: &[false],
            limits: None,
            targets: None,
            asked_lines: &[],
            registers_at_calls: false,
            fault_paths: false,
        };
        lower(&mut self.module, &self.extracted, &layers, &unit, First::default()).expect("every probe has code");
        let text = self.module.to_text();
        Module::parse_text("again", &text).expect("the instrumented module is valid");
        text
    }
}

/// Fig. 2.
const COUNT_ZEROS: &str = "
define i32 @count_zeros(ptr noundef %v, i32 noundef %N) {
L0:
  br label %L2
L2:
  %i1 = phi i32 [ 0, %L0 ], [ %i2, %LA ]
  %sum1 = phi i32 [ 0, %L0 ], [ %sum3, %LA ]
  %more = icmp ult i32 %i1, %N
  br i1 %more, label %L6, label %LD
L6:
  %at = getelementptr i32, ptr %v, i32 %i1
  %x = load i32, ptr %at
  %zero = icmp eq i32 %x, 0
  br i1 %zero, label %L9, label %LA
L9:
  %sum2 = add nsw i32 %sum1, 1
  br label %LA
LA:
  %sum3 = phi i32 [ %sum1, %L6 ], [ %sum2, %L9 ]
  %i2 = add i32 %i1, 1
  br label %L2
LD:
  ret i32 %sum1
}";

#[test]
fn count_zeros_has_no_counter_in_its_loop() {
    let mut seen = Seen::new(COUNT_ZEROS);
    assert_eq!(seen.verdicts(), ["i1: counts e1 in steps of 1", "sum1: counts e3 in steps of 1"]);
    assert_eq!(seen.counts_inside(), 0);
    let text = seen.instrumented();
    assert!(text.contains("%sum2 = add i32 %sum1, 1"), "nobody else would notice that it is poison: {text}");
}

#[test]
fn the_sum_of_non_sese_is_refused() {
    // Fig. 5 and 6: one step each time, and another sometimes.
    let twice = COUNT_ZEROS
        .replace("%at =", "%sum0 = add i32 %sum1, 1\n  %at =")
        .replace("add nsw i32 %sum1, 1", "add i32 %sum0, 1")
        .replace("[ %sum1, %L6 ]", "[ %sum0, %L6 ]");
    let refusal = format!("sum1: {}", Refusal::NoEdge);
    assert_eq!(Seen::new(&twice).verdicts(), ["i1: counts e1 in steps of 1", &refusal]);
}

#[test]
fn an_assignment_is_no_increment() {
    // if (x) sum = 0; else sum++; meets Definition 3.5 as printed.
    let assigned = COUNT_ZEROS.replace("[ %sum1, %L6 ]", "[ 0, %L6 ]");
    assert_eq!(Seen::new(&assigned).verdicts(), ["i1: counts e1 in steps of 1"]);
}

/// Fig. 7.
const FIRST_OCCURRENCE: &str = "
define ptr @first_occurrence(ptr %v, i64 %q) {
entry:
  br label %loop
loop:
  %p = phi ptr [ %v, %entry ], [ %next, %body ]
  %x = load i64, ptr %p
  %found = icmp eq i64 %x, %q
  br i1 %found, label %out, label %body
body:
  %next = getelementptr inbounds i64, ptr %p, i64 1
  br label %loop
out:
  ret ptr %p
}";

#[test]
fn first_occurrence_has_no_counter_in_its_loop() {
    let mut seen = Seen::new(FIRST_OCCURRENCE);
    assert_eq!(seen.verdicts(), ["p: counts e2 in steps of 8"]);
    assert_eq!(seen.counts_inside(), 0);
    let text = seen.instrumented();
    for expected in [
        "freeze ptr %v",
        "%p = phi ptr [ %0, %entry ]",
        "asm \"\", \"=r,0\"(ptr %p)",
        "ptrtoint ptr %",
        "lshr i64",
        ", 3",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn an_initial_value_that_is_defined_needs_no_freeze() {
    let text = Seen::new(&FIRST_OCCURRENCE.replace("ptr %v,", "ptr noundef %v,")).instrumented();
    assert!(!text.contains("freeze"), "{text}");
}

/// A search, and a loop that goes back over what was searched.
const MOVE_TO_FRONT: &str = "
define void @move_to_front(ptr %a, i8 %x) {
entry:
  br label %search
search:
  %i = phi i64 [ 0, %entry ], [ %i1, %search ]
  %at = getelementptr inbounds i8, ptr %a, i64 %i
  %y = load i8, ptr %at
  %i1 = add nuw nsw i64 %i, 1
  %found = icmp eq i8 %y, %x
  br i1 %found, label %between, label %search
between:
  %none = icmp eq i64 %i, 0
  br i1 %none, label %out, label %back
back:
  %k = phi i64 [ %i, %between ], [ %k1, %back ]
  %k1 = add nsw i64 %k, -1
  %from = getelementptr inbounds i8, ptr %a, i64 %k1
  %z = load i8, ptr %from
  %to = getelementptr inbounds i8, ptr %a, i64 %k
  store i8 %z, ptr %to
  %more = icmp sgt i64 %k, 1
  br i1 %more, label %back, label %out
out:
  ret void
}";

#[test]
fn what_the_program_would_notice_needs_no_freeze() {
    let mut seen = Seen::new(MOVE_TO_FRONT);
    assert_eq!(seen.counts_inside(), 0);
    let text = seen.instrumented();
    // The second loop begins with what a branch has depended on.
    assert!(!text.contains("freeze"), "{text}");
    assert!(text.contains("add nuw nsw i64 %i, 1") && text.contains("add nsw i64 %k, -1"), "{text}");
    // The program goes on with the number that it found, and nobody needs the next.
    assert!(text.contains("asm \"\", \"=r,0\"(i64 %i)"), "{text}");
    // An undefined value may look like another one to each branch.
    for leaf in ["undef", "poison"] {
        let text = Seen::new(&MOVE_TO_FRONT.replace("[ 0, %entry ]", &format!("[ {leaf}, %entry ]"))).instrumented();
        assert!(text.contains("freeze i64 %i"), "{text}");
    }
    // Only what is asked on every path counts.
    let unasked = MOVE_TO_FRONT
        .replace("%none = icmp eq i64 %i, 0", "%none = icmp eq i8 %y, 0")
        .replace("getelementptr inbounds i8, ptr %a, i64 %i\n", "getelementptr inbounds i8, ptr %a, i64 0\n");
    let text = Seen::new(&unasked).instrumented();
    assert!(text.contains("freeze i64 %i"), "{text}");
}

#[test]
fn flags_stay_where_wrapping_takes_years_or_is_noticed() {
    let sum = |start: &str, step: &str| {
        let body = COUNT_ZEROS
            .replace("i32 [ 0, %L0 ], [ %sum3", &format!("i64 [ {start}, %L0 ], [ %sum3"))
            .replace("%sum3 = phi i32", "%sum3 = phi i64")
            .replace("add nsw i32 %sum1, 1", step)
            .replace("ret i32 %sum1", "ret i32 0")
            .replace("i32 noundef %N)", "i32 noundef %N, i64 noundef %from)");
        Seen::new(&body).instrumented().contains(step)
    };
    assert!(sum("0", "add nuw nsw i64 %sum1, 1"));
    assert!(sum("-7", "add nsw i64 %sum1, -16"));
    // Too near to its end, too large a step, a start that nobody knows, and a sign that is crossed.
    assert!(!sum("9223372036854775800", "add nsw i64 %sum1, 1"));
    assert!(!sum("0", "add nsw i64 %sum1, 17"));
    assert!(!sum("%from", "add nsw i64 %sum1, 1"));
    assert!(!sum("3", "sub nuw i64 %sum1, 1"));
    assert!(!sum("-3", "add nuw i64 %sum1, 1"));
    // An address is as good as a branch.
    let indexed = COUNT_ZEROS.replace("i32 %i1\n", "i32 %sum1\n");
    assert!(!Seen::new(&indexed).instrumented().contains("add nsw i32 %sum1, 1"), "not where the loop is left");
    let everywhere = COUNT_ZEROS.replace(
        "%more =",
        "%here = getelementptr i32, ptr %v, i32 %sum1\n  store volatile i32 1, ptr %here\n  %more =",
    );
    assert!(Seen::new(&everywhere).instrumented().contains("add nsw i32 %sum1, 1"));
}

#[test]
fn what_may_wrap_is_refused() {
    let wraps = [format!("p: {}", Refusal::Wraps)];
    let narrow = |step: &str, test: &str| {
        let body = FIRST_OCCURRENCE
            .replace("phi ptr [ %v,", "phi i8 [ 7,")
            .replace("load i64, ptr %p", "load volatile i64, ptr %v")
            .replace("getelementptr inbounds i64, ptr %p, i64 1", step)
            .replace("icmp eq i64 %x, %q", test)
            .replace("ret ptr %p", "ret ptr null");
        Seen::new(&body).verdicts()
    };
    // Nothing bounds it.
    assert_eq!(narrow("add i8 %p, 1", "icmp eq i64 %x, %q"), wraps);
    // It meets 9 before it meets 7 again, whatever its step, if that is odd.
    assert_eq!(narrow("add i8 %p, 1", "icmp eq i8 %p, 9"), ["p: counts e2 in steps of 1"]);
    assert_eq!(narrow("add i8 %p, -5", "icmp eq i8 9, %p"), ["p: counts e2 in steps of -5"]);
    assert_eq!(narrow("add i8 %p, 2", "icmp eq i8 %p, 9"), wraps);
    // It may go on and on.
    assert_eq!(narrow("add i8 %p, 1", "icmp ne i8 %p, 9"), wraps);
    assert_eq!(narrow("add i8 %p, 1", "icmp ugt i8 %p, -1"), wraps);
    // Poison would be noticed, or not.
    assert_eq!(narrow("add nsw i8 %p, 2", "icmp sgt i8 %p, 100"), ["p: counts e2 in steps of 2"]);
    assert_eq!(narrow("add nsw i8 %p, 2", "icmp eq i64 %x, %q"), wraps);
}

#[test]
fn a_narrow_count_is_bounded_by_a_wide_variable() {
    let body = "
define i32 @f(ptr noundef %v, i32 noundef %N) {
entry:
  %none = icmp eq i32 %N, 0
  br i1 %none, label %out, label %before
before:
  %n = zext i32 %N to i64
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %i2, %next ]
  %sum = phi i32 [ 0, %before ], [ %sum3, %next ]
  %at = getelementptr inbounds i32, ptr %v, i64 %i
  %x = load i32, ptr %at
  %zero = icmp eq i32 %x, 0
  br i1 %zero, label %yes, label %next
yes:
  %sum2 = add nsw i32 %sum, 1
  br label %next
next:
  %sum3 = phi i32 [ %sum, %loop ], [ %sum2, %yes ]
  %i2 = add nuw nsw i64 %i, 1
  %last = icmp eq i64 %i2, %n
  br i1 %last, label %out, label %loop
out:
  %r = phi i32 [ 0, %entry ], [ %sum3, %next ]
  ret i32 %r
}";
    let seen = Seen::new(body);
    assert_eq!(seen.verdicts(), ["i: counts e7 in steps of 1", "sum: counts e3 in steps of 1"]);
    assert_eq!(seen.counts_inside(), 0);
    // Without the test a bound of 0 means 2^64.
    for unguarded in [body.replace("i1 %none", "i1 true"), body.replace("icmp eq i32 %N, 0", "icmp eq i32 %N, 7")] {
        assert_eq!(Seen::new(&unguarded).verdicts()[1], format!("sum: {}", Refusal::Wraps));
    }
}

#[test]
fn loops_that_may_be_abandoned_are_refused() {
    let called = FIRST_OCCURRENCE.replace("%next =", "call void @g()\n  %next =");
    assert!(Seen::new(&format!("{called}\ndeclare void @g()")).verdicts().is_empty());
}

#[test]
fn several_entries_and_exits() {
    let body = "
define i64 @f(i64 %n, i1 %c, ptr %a) {
entry:
  br i1 %c, label %low, label %high
low:
  br label %loop
high:
  br label %loop
loop:
  %i = phi i64 [ 3, %low ], [ %n, %high ], [ %first, %again ], [ %second, %more ]
  %x = load i8, ptr %a
  switch i8 %x, label %again [ i8 1, label %more
                               i8 2, label %out
                               i8 3, label %out
                               i8 4, label %other ]
again:
  %first = add i64 %i, 12
  br label %loop
more:
  %second = add i64 %i, 12
  %stop = icmp eq i64 %second, %n
  br i1 %stop, label %out, label %loop
other:
  br label %out
out:
  %r = phi i64 [ 1, %loop ], [ 1, %loop ], [ %second, %more ], [ %i, %other ]
  ret i64 %r
}";
    let seen = Seen::new(body);
    // Its circuits are two edges' passages: no single edge.
    assert_eq!(seen.verdicts(), [format!("i: {}", Refusal::NoEdge)]);
    let one_path = body.replace("label %again [", "label %more [").replace("[ %first, %again ], ", "");
    let one_path = one_path.replace("again:\n  %first = add i64 %i, 12\n  br label %loop\n", "");
    let mut seen = Seen::new(&one_path);
    assert_eq!(seen.counts_inside(), 0, "{:?}", seen.plan());
    let closings = seen.plan().probes.iter().filter(|p| matches!(p.probe, Probe::Close(..))).count();
    assert_eq!(closings, 3);
    let text = seen.instrumented();
    let frozen = text.lines().find_map(|line| line.trim().strip_suffix(" = freeze i64 %n")).expect("what comes in");
    let entered = format!("phi i64 [ 3, %low ], [ {frozen}, %high ]");
    assert_eq!(text.matches(&entered).count(), 2, "a phi for the value at entry: {text}");
    assert!(text.contains("mul i64"), "{text}");
}

/// How often the loop of this shape goes around, if nothing needs to count that.
fn rounds(kind: &str, first: &str, step: &str, test: &str) -> Option<u64> {
    let body = format!(
        "define i32 @f(ptr %a, {kind} %n, i1 %c) {{
entry:
  br label %loop
loop:
  %i = phi {kind} [ {first}, %entry ], [ %next, %loop ]
  %p = getelementptr i8, ptr %a, {kind} %i
  store volatile i8 1, ptr %p
  %next = add {kind} %i, {step}
  %more = icmp {test}
  br i1 %more, label %loop, label %done
done:
  ret i32 0
}}"
    );
    let plan = Seen::new(&body).plan();
    plan.key.fixed.first().map(|fixed| {
        assert_eq!((plan.key.fixed.len(), plan.key.measures.len()), (1, 1), "{plan:?}");
        fixed.times
    })
}

#[test]
fn loops_of_known_length_need_nothing() {
    assert_eq!(rounds("i64", "0", "1", "ult i64 %next, 100"), Some(99));
    assert_eq!(rounds("i64", "0", "1", "ult i64 %i, 100"), Some(100));
    assert_eq!(rounds("i64", "0", "1", "ne i64 %next, 7"), Some(6));
    assert_eq!(rounds("i64", "0", "1", "ugt i64 7, %next"), Some(6));
    assert_eq!(rounds("i32", "10", "-3", "sgt i32 %next, -5"), Some(4));
    assert_eq!(rounds("i32", "10", "-3", "sge i32 %next, -5"), Some(5));
    assert_eq!(rounds("i32", "5", "1", "eq i32 %next, 6"), Some(1));
    assert_eq!(rounds("i32", "5", "1", "slt i32 %next, 0"), Some(0));
    // Around the end of its width.
    assert_eq!(rounds("i8", "250", "3", "ne i8 %next, 0"), Some(1));
    assert_eq!(rounds("i8", "250", "3", "ne i8 %next, 1"), Some(172), "253 + 3 × 172 is 3 × 256 + 1");
    assert_eq!(rounds("i8", "-100", "1", "ule i8 %next, -90"), Some(10));
    assert_eq!(rounds("i8", "120", "1", "sgt i8 %next, 0"), Some(7));
    // Longer than anybody would count, never ending, and not from constant to constant.
    assert_eq!(rounds("i64", "0", "1", "ult i64 %next, 100000"), None);
    assert_eq!(rounds("i32", "0", "2", "ne i32 %next, 7"), None);
    assert_eq!(rounds("i32", "%n", "1", "ult i32 %next, 7"), None);
    assert_eq!(rounds("i32", "0", "1", "ult i32 %next, %n"), None);
    assert_eq!(rounds("i32", "undef", "1", "ult i32 %next, 7"), None);
    assert_eq!(rounds("i32", "0", "%n", "ult i32 %next, 7"), None);
}

#[test]
fn loops_that_only_look_like_it_are_counted() {
    const BODY: &str = "define void @f(ptr %a, i1 %c) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %j1, %inner ]
  store volatile i32 %j, ptr %a
  %j1 = add i32 %j, 1
  %again = icmp ult i32 %j1, 4
  br i1 %again, label %inner, label %latch
latch:
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, 3
  br i1 %more, label %outer, label %done
done:
  ret void
}";
    let fixed = |body: &str| {
        let fixed = Seen::new(body).plan().key.fixed;
        fixed.iter().map(|fixed| (fixed.times, fixed.depth)).collect::<Vec<_>>()
    };
    assert_eq!(fixed(BODY), [(2, 0), (3, 1)]);
    // Another way out, a second backedge, a step that is not always made, a call that may not come back.
    let leaves = BODY.replace(
        "br i1 %again, label %inner, label %latch",
        "%x = and i1 %again, %c\n  br i1 %x, label %inner, label %latch",
    );
    assert_eq!(fixed(&leaves), [(2, 0)]);
    let exit = BODY
        .replace("  %i1 = add", "  br i1 %c, label %on, label %done\non:\n  %i1 = add")
        .replace("[ %i1, %latch ]", "[ %i1, %on ]");
    assert_eq!(fixed(&exit), [(3, 0)]);
    let twice = BODY
        .replace("  %i1 = add", "  br i1 %c, label %on, label %outer\non:\n  %i1 = add")
        .replace("[ %i1, %latch ]", "[ %i, %latch ], [ %i1, %on ]");
    assert_eq!(fixed(&twice), [(3, 0)]);
    let sometimes = BODY.replace(
        "  %i1 = add i32 %i, 1",
        "  br i1 %c, label %step, label %on\nstep:\n  %s = add i32 %i, 1\n  br label %on\non:\n  %i1 = phi i32 [ %i, %latch ], [ %s, %step ]",
    ).replace("[ %i1, %latch ]", "[ %i1, %on ]");
    assert_eq!(fixed(&sometimes), [(3, 0)]);
    let calls = BODY.replace("  %i1 = add", "  call void @g()\n  %i1 = add");
    assert_eq!(fixed(&format!("{calls}\ndeclare void @g()")), [(3, 0)]);
    // The test of the outer loop is made by the inner one.
    let within = BODY
        .replace("label %inner, label %latch", "label %inner, label %done")
        .replace(
            "%again = icmp ult i32 %j1, 4",
            "br i1 %c, label %latch, label %on\non:\n  %again = icmp ult i32 %i, 3",
        )
        .replace("[ %j1, %inner ]", "[ %j1, %on ]")
        .replace("br i1 %more, label %outer, label %done", "br label %outer");
    assert_eq!(fixed(&within), []);
}

/// A loop in one that runs from 0 to 9.
const TRIANGLE: &str = "
define void @triangle(ptr %a, i64 noundef %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  br label %inner
inner:
  %j = phi i64 [ %i, %outer ], [ %j1, %inner ]
  store volatile i64 %j, ptr %a
  %j1 = add nuw nsw i64 %j, 1
  %last = icmp eq i64 %j1, 100
  br i1 %last, label %latch, label %inner
latch:
  %i1 = add nuw nsw i64 %i, 1
  %end = icmp eq i64 %i1, 10
  br i1 %end, label %out, label %outer
out:
  ret void
}";

#[test]
fn what_a_loop_ran_up_to_need_not_be_read() {
    let text = Seen::new(TRIANGLE).instrumented();
    assert!(text.contains("sub i64 100, %") && !text.contains("(i64 %j"), "{text}");
    let text = Seen::new(&TRIANGLE.replace("%j1, 100", "%j1, %n")).instrumented();
    assert!(text.contains("sub i64 %n, %"), "{text}");
    // It may be another one each time that it is read, and it may have been passed by.
    for (from, to) in [("noundef %n", "%n"), ("icmp eq i64 %j1, %n", "icmp uge i64 %j1, %n")] {
        let text = Seen::new(&TRIANGLE.replace("%j1, 100", "%j1, %n").replace(from, to)).instrumented();
        assert!(text.contains("asm \"\", \"=r,0\"(i64 %j1)"), "{text}");
    }
}

#[test]
fn where_a_loop_begins_may_be_a_variable_of_another() {
    let trips = |body: &str| {
        let seen = Seen::new(body);
        seen.extracted.affine[0].iter().find(|variable| variable.name == "j").expect("it is there").trips
    };
    assert_eq!(trips(TRIANGLE), Some(95));
    let ahead = TRIANGLE.replace("[ %i, %outer ]", "[ %k, %outer ]");
    let ahead = ahead.replace("  br label %inner\n", "  %k = add i64 %i, 7\n  br label %inner\n");
    assert_eq!(trips(&ahead), Some(88));
    assert_eq!(trips(&TRIANGLE.replace("[ 0, %entry ]", "[ %n, %entry ]")), None);
    assert_eq!(trips(&TRIANGLE.replace("%i1, 10", "%i1, %n")), None);
}
