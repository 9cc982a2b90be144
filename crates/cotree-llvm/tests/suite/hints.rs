//! Hints at the likely outcomes of branches, read from bitcode.

use cotree_core::facts::hints::{Hints, Test};
use cotree_llvm::Module;
use cotree_llvm::extract::{Selection, extract};

const HEAD: &str = "target triple = \"x86_64-unknown-linux-gnu\"\ndeclare void @rare() cold\ndeclare void @usual()\n";

fn hints(text: &str) -> Hints {
    let module = Module::parse_text("test", &format!("{HEAD}{text}")).expect("valid IR");
    extract(&module, &Selection::default()).hints.remove(0)
}

/// What a branch on the condition tests, and whether that holds if it is true.
fn tested(arguments: &str, condition: &str) -> Option<(Test, bool)> {
    let hints = hints(&format!(
        "define void @f({arguments}) {{
           {condition}
           br i1 %c, label %yes, label %no
         yes:
           call void @usual()
           ret void
         no:
           ret void
         }}"
    ));
    hints.branches.first().map(|branch| (branch.test, branch.on_true))
}

#[test]
fn comparisons() {
    let pointers = |predicate: &str| tested("ptr %a, ptr %b", &format!("%c = icmp {predicate} ptr %a, %b"));
    assert_eq!(pointers("eq"), Some((Test::SamePointer, true)));
    assert_eq!(pointers("ne"), Some((Test::SamePointer, false)));
    assert_eq!(pointers("ult"), None);
    assert_eq!(tested("ptr %a", "%c = icmp eq ptr %a, null"), Some((Test::SamePointer, true)));

    let integers = |comparison: &str| tested("i32 %a, i32 %b", &format!("%c = icmp {comparison}"));
    assert_eq!(integers("slt i32 %a, 0"), Some((Test::Negative, true)));
    assert_eq!(integers("sgt i32 %a, -1"), Some((Test::Negative, false)));
    assert_eq!(integers("sgt i32 %a, 0"), Some((Test::Positive, true)));
    assert_eq!(integers("slt i32 %a, 1"), Some((Test::Positive, false)));
    assert_eq!(integers("ult i32 %a, 7"), Some((Test::BelowConstant, true)));
    assert_eq!(integers("sgt i32 %a, 7"), Some((Test::BelowConstant, false)));
    assert_eq!(integers("sle i32 %a, %b"), Some((Test::Below, true)));
    assert_eq!(integers("uge i32 %a, %b"), Some((Test::Below, false)));
    assert_eq!(integers("eq i32 %a, 0"), None);
    assert_eq!(integers("ne i32 %a, %b"), None);
    let masked = |predicate: &str| tested("i32 %a", &format!("%m = and i32 %a, 4\n%c = icmp {predicate} i32 %m, 0"));
    assert_eq!(masked("eq"), Some((Test::BitsClear, true)));
    assert_eq!(masked("ne"), Some((Test::BitsClear, false)));

    let floats = |predicate: &str| tested("double %a", &format!("%c = fcmp {predicate} double %a, 1.0"));
    assert_eq!(floats("oeq"), Some((Test::SameFloat, true)));
    assert_eq!(floats("une"), Some((Test::SameFloat, false)));
    assert_eq!(floats("uno"), Some((Test::Unordered, true)));
    assert_eq!(floats("ord"), Some((Test::Unordered, false)));
    assert_eq!(floats("olt"), None);
    assert_eq!(tested("i1 %c", ""), None, "no comparison");
    assert_eq!(
        tested("i128 %a", "%c = icmp ult i128 %a, 170141183460469231731687303715884105728"),
        Some((Test::Below, true))
    );
}

/// What a branch inside a loop tests, of whose variable there are some numbers: `%i`, `%next` of the next turn,
/// `%half`, `%last` of the turn before, or zero.
fn tested_in_loop(condition: &str) -> Option<(Test, bool)> {
    let hints = hints(&format!(
        "define void @f(i64 %n, ptr %p) {{
         entry:
           br label %head
         head:
           %i = phi i64 [ 0, %entry ], [ %moved, %latch ]
           %last = phi i64 [ 0, %entry ], [ %half, %latch ]
           %half = lshr i64 %i, 1
           %narrow = trunc i64 %i to i32
           %before = add i32 %narrow, -1
           {condition}
           br i1 %c, label %yes, label %no
         yes:
           %next = add i64 %i, 1
           br label %latch
         no:
           %skipped = add i64 %i, 2
           br label %latch
         latch:
           %moved = phi i64 [ %next, %yes ], [ %skipped, %no ]
           %more = icmp ne i64 %moved, %n
           br i1 %more, label %head, label %out
         out:
           ret void
         }}"
    ));
    hints.branches.first().map(|branch| (branch.test, branch.on_true))
}

#[test]
fn variables_of_loops_within_borders() {
    assert_eq!(tested_in_loop("%c = icmp slt i64 %i, %n"), Some((Test::StepBelow, true)));
    assert_eq!(tested_in_loop("%c = icmp ult i64 %n, %i"), Some((Test::StepBelow, false)));
    assert_eq!(tested_in_loop("%c = icmp uge i64 %i, %n"), Some((Test::StepBelow, false)));
    let near = "%b = load i32, ptr %p\n%c = icmp sgt i32 %b, %before";
    assert_eq!(tested_in_loop(near), Some((Test::StepBelow, true)), "a number next to it");
    assert_eq!(tested_in_loop("%c = icmp sgt i64 %i, 0"), Some((Test::Positive, true)), "a lower border");
    assert_eq!(tested_in_loop("%c = icmp eq i64 %i, %n"), None);
    assert_eq!(tested_in_loop("%c = icmp slt i64 %half, %n"), Some((Test::Below, true)), "no constant steps");
    assert_eq!(tested_in_loop("%c = icmp slt i64 %last, %n"), Some((Test::Below, true)));
    assert_eq!(tested_in_loop("%d = add i64 %i, 1\n%c = icmp slt i64 %d, %i"), Some((Test::Below, true)), "both are");
}

#[test]
fn what_the_compiler_was_told() {
    let hints = hints(
        "define void @f(i1 %c, i32 %x) {
           br i1 %c, label %a, label %b, !prof !0
         a:
           switch i32 %x, label %b [ i32 1, label %d i32 2, label %e i32 3, label %d ], !prof !1
         b:
           ret void
         d:
           ret void
         e:
           br i1 %c, label %a, label %b, !prof !2
         }
         !0 = !{!\"branch_weights\", !\"expected\", i32 1, i32 -2}
         !1 = !{!\"branch_weights\", i32 5, i32 10, i32 20, i32 40}
         !2 = !{!\"unknown\", !\"test\"}",
    );
    let told: Vec<(u32, f64)> = hints.weights.iter().map(|&(edge, weight)| (edge.0, weight)).collect();
    assert_eq!(told, [(0, 1.0), (1, 4_294_967_294.0), (2, 5.0), (3, 50.0), (4, 20.0)]);
}

#[test]
fn cold_calls() {
    let hints = hints(
        "define void @f(i1 %c) {
           br i1 %c, label %a, label %b
         a:
           call void @usual()
           br label %d
         b:
           call void @rare()
           br label %d
         d:
           call void @usual() cold
           ret void
         }",
    );
    assert_eq!(hints.cold.iter().map(|block| block.0).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn returned_constants() {
    let hints = hints(
        "define i32 @f(i1 %c, i32 %x) {
           br i1 %c, label %a, label %out
         a:
           br i1 %c, label %b, label %out
         b:
           br i1 %c, label %hop, label %one
         hop:
           br label %out
         one:
           ret i32 %x
         out:
           %r = phi i32 [ -1, %0 ], [ %x, %a ], [ 3, %hop ]
           ret i32 %r
         }",
    );
    let returns: Vec<(u32, i64)> = hints.returns.iter().map(|&(edge, value)| (edge.0, value)).collect();
    assert_eq!(returns, [(1, -1), (4, 3)]);
}

#[test]
fn null_is_a_constant() {
    let hints = hints(
        "define ptr @f(i1 %c, ptr %x) {
           br i1 %c, label %a, label %b
         a:
           ret ptr null
         b:
           ret ptr %x
         }",
    );
    assert_eq!(hints.returns.iter().map(|&(edge, value)| (edge.0, value)).collect::<Vec<_>>(), [(0, 0)]);
}
