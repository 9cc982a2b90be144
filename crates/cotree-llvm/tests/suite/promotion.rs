//! Counters in registers in IR: variables that the optimiser promotes, and one addition where the loop is left.

use cotree_core::method::counters::edge;
use cotree_core::place::promotion::promote;
use cotree_core::plan::CounterPlan;
use cotree_core::weight::weighting::Weighting;
use cotree_llvm::Module;
use cotree_llvm::extract::{Selection, extract};
use cotree_llvm::lower::{Access, First, Layer, MethodPart, Unit, lower};

const HEAD: &str = "target triple = \"x86_64-unknown-linux-gnu\"
target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128\"\n";

/// A list is followed to its end, and its odd numbers are marked.
const LIST: &str = "
define i64 @mark(ptr %list) {
entry:
  %none = icmp eq ptr %list, null
  br i1 %none, label %done, label %loop
loop:
  %node = phi ptr [ %list, %entry ], [ %next, %on ]
  %value = load i64, ptr %node
  %odd = trunc i64 %value to i1
  br i1 %odd, label %yes, label %on
yes:
  store i64 0, ptr %node
  br label %on
on:
  %at = getelementptr i8, ptr %node, i64 8
  %next = load ptr, ptr %at
  %end = icmp eq ptr %next, null
  br i1 %end, label %done, label %loop
done:
  ret i64 0
}";

/// The function with its probes, as text, and its plan.
fn instrumented(body: &str, promoted: bool, interruptible: bool) -> (String, CounterPlan) {
    let mut module = Module::parse_text("test", &format!("{HEAD}{body}")).expect("valid IR");
    let extracted = extract(&module, &Selection::default());
    let function = &extracted.facts.functions[0];
    let cfg = function.cfg().expect("a graph");
    let guess = Weighting::expected(function, &cfg);
    // As if it had been counted.
    let weighting = Weighting::new(&cfg, cfg.edges().map(|e| guess.edge(e)).collect());
    let mut plan = edge::plan(function, &cfg, &weighting);
    if promoted {
        promote(function, &cfg, &weighting, &[], &mut plan);
    }
    let layers = vec![vec![Layer { plan: (&plan).into(), base: 0, method: MethodPart::Counters }]];
    let unit = Unit {
        access: Access::Direct,
        spare: plan.key.measures.len() as u64,
        interruptible: &[interruptible],
        foreign: &[true],
        resolving: &[false],
        limits: None,
        targets: None,
        asked_lines: &[],
        registers_at_calls: false,
        fault_paths: false,
    };
    lower(&mut module, &extracted, &layers, &unit, First::default()).expect("every probe has code");
    let text = module.to_text();
    Module::parse_text("again", &text).expect("the instrumented module is valid");
    (text, plan)
}

/// The part of the text between the loop's label and the block behind it.
fn body_of_loop(text: &str) -> &str {
    let start = text.find("\nloop:").expect("the loop");
    let end = text[start..].find("%end =").expect("its end");
    &text[start..start + end]
}

#[test]
fn the_loop_does_not_touch_memory() {
    for interruptible in [false, true] {
        let (text, _) = instrumented(LIST, false, interruptible);
        assert!(body_of_loop(&text).contains("@__cotree_counters"), "{text}");
        let (text, plan) = instrumented(LIST, true, interruptible);
        assert!(!body_of_loop(&text).contains("@__cotree_counters"), "{text}");
        let registers = text.matches("= alloca i64").count();
        assert!(registers > 0 && registers <= plan.key.measures.len(), "{text}");
        let entry = &text[text.find("entry:").expect("the entry")..text.find("\nloop:").expect("the loop")];
        assert_eq!(entry.matches("store i64 0, ptr %").count(), registers, "they begin at 0: {text}");
        // Signal handlers may run the function: what is added in the end is one instruction each.
        assert!(text.matches("asm sideeffect \"addq").count() >= registers, "{text}");
    }
}

#[test]
fn a_call_keeps_counters_in_memory() {
    let calling = LIST.replace("  store i64 0, ptr %node\n", "  call void @f()\n") + "\ndeclare void @f()\n";
    let (text, _) = instrumented(&calling, true, false);
    assert!(!text.contains("alloca"), "{text}");
    // What certainly comes back does no harm.
    let fence =
        LIST.replace("  store i64 0, ptr %node\n", "  call void @llvm.assume(i1 true)\n  store i64 0, ptr %node\n");
    let (text, _) = instrumented(&(fence + "\ndeclare void @llvm.assume(i1)\n"), true, false);
    assert!(text.contains("alloca"), "{text}");
}
