//! Who may call a function, decided on modules as text.

use super::{is_library_name, known_callers};
use crate::extract::{self, Selection};
use crate::link::callers;
use crate::link::prepared::Prepared;
use crate::module::Module;
use cotree_core::facts::{Function, ProgramMap};
use cotree_core::ids::FunctionId;
use cotree_core::unit::call_points;
use cotree_lto::protocol::{ModuleInput, Resolution, SymbolInput};

/// Modules of one link, in which only bitcode refers to anything but what begins with `seen`.
struct Link {
    prepared: Vec<Prepared>,
    modules: Vec<ModuleInput>,
}

impl Link {
    fn new(texts: &[&str]) -> Self {
        let mut link = Self { prepared: Vec::new(), modules: Vec::new() };
        for (number, text) in texts.iter().enumerate() {
            let name = format!("{number}.o");
            let text = format!("target triple = \"x86_64-unknown-linux-gnu\"\n{text}");
            let module = Module::parse_text(&name, &text).expect("it parses");
            let extracted = extract::extract(&module, &Selection::default());
            let symbols = extracted.facts.functions.iter().map(|f| SymbolInput {
                name: f.symbol.clone(),
                ir_name: f.symbol.clone(),
                resolution: if f.symbol.starts_with("seen") {
                    Resolution::Prevailing
                } else {
                    Resolution::PrevailingInternal
                },
            });
            let symbols = symbols.collect();
            link.modules.push(ModuleInput { name, path: "".into(), offset: 0, size: 0, symbols });
            link.prepared.push(Prepared { module, extracted });
        }
        callers::complete(&mut link.prepared, &link.modules);
        link
    }

    /// The functions whose callers are known, with the callers: `callee < caller b<block>+<sites before> …`.
    fn known(&self) -> Vec<String> {
        self.describe(Some(&self.modules), &[])
    }

    fn describe(&self, modules: Option<&[ModuleInput]>, foreign: &[String]) -> Vec<String> {
        let facts = self.prepared.iter().map(|p| p.extracted.facts.clone()).collect();
        let program = ProgramMap { modules: facts, ..ProgramMap::default() };
        let functions: Vec<&Function> = program.functions().map(|(_, function)| function).collect();
        let points = call_points(&program, &known_callers(&self.prepared, modules, foreign));
        let calls = functions.iter().zip(&points).filter(|(_, calls)| !calls.is_empty());
        calls
            .map(|(callee, calls)| {
                let caller = |f: FunctionId| &functions[f.index()].symbol;
                let callers = calls.iter().map(|c| format!(" {} {}+{}", caller(c.function), c.block, c.after_sites));
                format!("{} <{}", callee.symbol, callers.collect::<String>())
            })
            .collect()
    }
}

#[test]
fn calls_are_found_in_order() {
    let text = "
define internal void @quiet() nounwind willreturn { ret void }
define internal void @exits() { ret void }
define void @seen(i1 %c) personality ptr @seen {
  call void @quiet()
  call void @exits()
  call void @quiet()
  invoke void @exits() to label %next unwind label %pad
next:
  call void @exits()
  musttail call void @seen_tail(i1 %c)
  ret void
pad:
  %p = landingpad { ptr, i32 } cleanup
  call void @exits()
  ret void
unreached:
  call void @exits()
  ret void
}
define hidden void @seen_tail(i1 %c) { ret void }";
    assert_eq!(
        Link::new(&[text]).known(),
        ["quiet < seen b0+0 seen b0+1", "exits < seen b0+0 seen b0+1 seen b1+0 seen b2+0"]
    );
}

#[test]
fn hidden_functions_are_called_from_other_modules() {
    let a = "define hidden void @f() { ret void }\n define hidden void @g() { ret void }
        define hidden void @odd() { ret void }\n define internal void @own() { ret void }
        define void @seen_a() { call void @own()\n ret void }";
    let b = "declare void @f()\n declare void @g()\n declare void @\"\\01odd\"()
        define void @own() { ret void }
        define ptr @seen_b() { call void @f()\n call void @\"\\01odd\"()\n call void @own()\n ret ptr @g }
        define void @seen_c() { call void @g()\n ret void }";
    // `own` of the second module has default visibility: the linker's word is missing in this test.
    assert_eq!(Link::new(&[a, b]).known(), ["f < seen_b b0+0", "odd < seen_b b0+1", "own < seen_a b0+0"]);
    // Without a linker only internal functions are certain.
    let link = Link::new(&[a, b]);
    assert_eq!(link.describe(None, &[]), ["own < seen_a b0+0"]);
    assert_eq!(link.describe(Some(&link.modules), &["f".into(), "odd".into()]), ["own < seen_a b0+0"]);
}

#[test]
fn what_else_may_call_keeps_counters() {
    let call = "define void @seen() { call void @f()\n ret void }";
    let known = |rest: &str| !Link::new(&[&format!("{call}\n{rest}")]).known().is_empty();
    let f = "define internal void @f() { ret void }";
    assert!(known(f));
    for more in [
        "@table = global ptr @f",
        "@other = alias void (), ptr @f",
        "@llvm.used = appending global [1 x ptr] [ptr @f], section \"llvm.metadata\"",
        "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr @f, ptr null }]",
        "module asm \"call f\"",
        "define void @seen_too() { call void asm sideeffect \"call f@PLT\", \"\"()\n ret void }",
        "define void @seen_too() { call void asm sideeffect \"call ${0:P}\", \"i\"(ptr @f)\n ret void }",
        "define void @seen_too() naked { call void @f()\n ret void }",
        "define void @seen_too() noprofile { call void @f()\n ret void }",
        "define void @seen_too(ptr %p) { call void @f() [ \"deopt\"(ptr @f) ]\n ret void }",
        "define void @seen_too() { call fastcc void @f()\n ret void }",
    ] {
        assert!(!known(&format!("{f}\n{more}")), "{more}");
    }
    assert!(!known("define linkonce_odr hidden void @f() { ret void }"), "there may be copies");
    assert!(!known("define internal void @f() noprofile { ret void }"), "it is not measured");
    assert!(!known("define void @f() { ret void }"), "it is visible");
    let copies = ["define hidden void @f() { ret void }", "define available_externally hidden void @f() { ret void }"];
    assert_eq!(Link::new(&[copies[0], &format!("{call}\n{}", copies[1])]).known(), [""; 0]);
}

#[test]
fn names_that_llvm_calls() {
    for name in [
        "memcpy",
        "puts",
        "sqrt",
        "__divti3",
        "_Znwm",
        "_ZdaPv",
        "_Unwind_Resume",
        "calloc",
        "bcmp",
        "fork",
        "_exit",
        "_Exit",
        "_IO_putc",
    ] {
        assert!(is_library_name(name), "{name}");
    }
    for name in ["main_loop", "_ZN3foo3barEv", "_RNvCs_3foo", "step", "_PyObject_Free", "_ZneRK1AS1_", "copy.llvm.123"]
    {
        assert!(!is_library_name(name), "{name}");
    }
}
