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
    /// In the word of the slab with this index. With a metric also how far behind that its sum is, and what is added to
    /// it.
    Word(Vec<Value<'m>>),
    /// Anywhere: what [`fast_path`] needs to know besides the pointers.
    Anywhere(Vec<Value<'m>>),
}

/// Counts the path.
pub(super) fn count<'m>(counters: &Counters<'m>, counted: &Counted<'m>) {
    match counted {
        Counted::Word(words) => {
            counters.add(words[0], counters.int64.constant(1));
            if let &[index, behind, amount] = &words[..] {
                counters.add(counters.builder.add(index, behind), amount);
            }
        }
        Counted::Anywhere(words) => {
            let (fast, ty) = fast_path(counters, words.len() > WITHOUT_METRIC);
            let arguments: Vec<_> = counters.pointers().into_iter().chain(words.iter().copied()).collect();
            counters.builder.call(ty, fast, &arguments);
        }
    }
}

/// How many words tell [`fast_path`] where a path is counted, without a metric.
const WITHOUT_METRIC: usize = 7;

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
        let words: Vec<_> = (3..).take(words.len()).map(parameter).collect();
        let counted = if anywhere { Counted::Anywhere(words) } else { Counted::Word(words) };
        self::count(&inside, &counted);
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
            Self::Word(words) | Self::Anywhere(words) => words,
        }
    }
}
