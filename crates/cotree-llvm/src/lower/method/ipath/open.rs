//! Counts a path where an activation returns that its caller may have called with a path of its own: then the caller
//! goes on with that path, and nothing is counted.
//!
//! Code is emitted in the midst of blocks, and a branch needs blocks of its own. So there is a function for it, which
//! is inlined wherever it is called.

use super::fast_path;
use crate::ir::{At, Value};
use crate::lower::counters::Counters;
use llvm_sys::{LLVMIntPredicate, LLVMLinkage};

/// The functions that count in a word of the slab, and those that count anywhere; the second of each for functions that
/// signal handlers may run.
const NAMES: [[&str; 2]; 2] = [
    ["__cotree_count_word_unless", "__cotree_count_word_unless_at_once"],
    ["__cotree_count_path_unless", "__cotree_count_path_unless_at_once"],
];

/// Where a path is counted.
pub(super) enum Counted<'m> {
    /// In the word of the slab with this index.
    Word(Value<'m>),
    /// Anywhere: what [`fast_path`] needs to know besides the pointers.
    Anywhere([Value<'m>; 7]),
}

/// Counts the path if `flag` is 0.
pub(super) fn count_unless<'m>(counters: &Counters<'m>, flag: Value<'m>, counted: &Counted<'m>) {
    let (module, words) = (counters.module, counted.words());
    let anywhere = matches!(counted, Counted::Anywhere(_));
    let pointers = counters.pointers();
    let mut parameters: Vec<_> = pointers.map(Value::ty).to_vec();
    parameters.resize(3 + words.len(), module.int64());
    let ty = module.void().function(&parameters);
    let name = NAMES[usize::from(anywhere)][usize::from(counters.interruptible)];
    let function = module.function_or_declare(name, ty, |function| {
        function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        for attribute in ["alwaysinline", "nounwind"] {
            function.add_attribute(At::Function, module.attribute(attribute));
        }
        let parameter = |index| function.parameter(index).expect("a parameter of its type");
        let [entry, count, done] = [(); 3].map(|()| module.append_block(function));
        let inside = counters.in_block(entry, [0, 1].map(parameter));
        let builder = &inside.builder;
        let begun = builder.compare(LLVMIntPredicate::LLVMIntEQ, parameter(2), inside.int64.constant(0));
        builder.branch(begun, count, done);
        builder.move_to_end(count);
        if anywhere {
            let (fast, ty) = fast_path(&inside, false);
            let arguments: Vec<_> = (0..2).chain(3..10).map(parameter).collect();
            builder.call(ty, fast, &arguments);
        } else {
            inside.add(parameter(3), inside.int64.constant(1));
        }
        builder.jump(done);
        builder.move_to_end(done);
        builder.return_nothing();
    });
    let arguments: Vec<_> = pointers.into_iter().chain([flag]).chain(words.iter().copied()).collect();
    counters.builder.call(ty, function, &arguments);
}

impl<'m> Counted<'m> {
    fn words(&self) -> &[Value<'m>] {
        match self {
            Self::Word(index) => std::slice::from_ref(index),
            Self::Anywhere(words) => words,
        }
    }
}
