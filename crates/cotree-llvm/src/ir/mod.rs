//! Safe handles to LLVM's objects: modules' functions, blocks, instructions and values, and a builder of new ones.
//!
//! A handle is a pointer that borrows its [`Module`](crate::module::Module), so the type system proves what most of
//! LLVM's C API asks of its callers: the object is alive.
//!
//! - **Nothing dies while a module is borrowed.** No handle deletes a block, a function or a global. An instruction
//!   that is taken out of its block ([`Module::remove`](crate::module::Module::remove)) stays in memory until somebody
//!   borrows the module exclusively and sweeps: a handle to it can be compared, and asked for its operands.
//! - **Kinds are checked once.** `Value::as_instruction` and the like ask LLVM what a value is; an [`Instruction`], a
//!   [`Phi`] or a [`Call`] then offers what is defined for its kind. What depends on an opcode or on a number of
//!   operands is an `Option`.
//! - **One module, one context.** What is built from two values is checked to be of one type, and types are unique in
//!   their context; so values of two modules can't be mixed. Misuse of the builder is a defect of ours, and panics.
//!   (Metadata can't be asked for its context: nothing but the lifetime ties it to its module.)
//!
//! A file per kind of object, as in bpf-linker.

mod alias;
mod attribute;
mod block;
mod builder;
mod call;
mod debug_info;
mod debug_variable;
mod function;
mod global;
mod instruction;
mod metadata;
pub mod phis;
mod types;
mod value;

pub use alias::Alias;
pub use attribute::At;
pub use block::Block;
pub use builder::Builder;
pub use call::{Bundle, Call};
pub use debug_info::{DebugInfoBuilder, FunctionType, LINES_FOR_REPORTS, Location, Scope, SourceFile};
pub use debug_variable::DebugVariable;
pub use function::Function;
pub use global::{Global, Variable};
pub use instruction::{Instruction, Phi};
pub use metadata::{Metadata, MetadataKind, Node};
pub use types::Type;
pub use value::Value;

/// Declares kinds of values: newtypes of [`Value`] that lend its methods.
macro_rules! kind {
    ($(#[$doc:meta])* $name:ident is a $base:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name<'m>(pub(in crate::ir) $base<'m>);

        impl<'m> std::ops::Deref for $name<'m> {
            type Target = $base<'m>;

            fn deref(&self) -> &$base<'m> {
                &self.0
            }
        }

    };
}
use kind;

/// Lets a kind of values be passed where any value may be.
macro_rules! into_value {
    ($($name:ident),*) => {$(
        impl<'m> From<$name<'m>> for Value<'m> {
            fn from(value: $name<'m>) -> Self {
                value.0.into()
            }
        }
    )*};
}
into_value!(Instruction, Phi, Call, Global, Function, Variable, Alias);

/// A string of LLVM's as ours.
///
/// # Safety
/// `start` must be null, or point to `len` bytes.
unsafe fn text(start: *const std::ffi::c_char, len: usize) -> String {
    if start.is_null() || len == 0 {
        return String::new();
    }
    // SAFETY: not null, so as long as the caller says.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(start.cast::<u8>(), len) }).into_owned()
}

/// A list of handles as LLVM wants it: their pointers, and how many there are.
fn count(len: usize) -> u32 {
    u32::try_from(len).expect("LLVM counts operands in 32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::module::Module;
    use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const LOOP: &str = "target triple = \"x86_64-unknown-linux-gnu\"\n\
        define i32 @f(i32 %n, i1 %c) {\nentry:\n  br label %loop\nloop:\n  %i = phi i32 [ 0, %entry ], [ %j, %loop ]\n  \
        %j = add nsw i32 %i, 1\n  br i1 %c, label %loop, label %done\ndone:\n  ret i32 %j\n}\n";

    fn module() -> Module {
        Module::parse_text("test", LOOP).expect("valid IR")
    }

    fn blocks(module: &Module) -> Vec<Block<'_>> {
        module.function(c"f").expect("it is there").blocks().collect()
    }

    /// Does the call fail instead of doing what LLVM's C API leaves undefined?
    fn refused<T>(misuse: impl FnOnce() -> T) -> bool {
        catch_unwind(AssertUnwindSafe(misuse)).is_err()
    }

    #[test]
    fn what_a_kind_lacks_is_none() {
        let module = module();
        let [entry, around, done] = blocks(&module)[..] else { panic!("three blocks") };
        let phi = around.first().and_then(Instruction::as_phi).expect("a phi");
        let add = phi.next().expect("an addition");
        assert_eq!(entry.terminator().successors().collect::<Vec<_>>(), [around]);
        assert_eq!((entry.terminator().successor(1), add.successor(0)), (None, None));
        assert_eq!((entry.terminator().condition(), add.int_predicate(), add.as_call()), (None, None, None));
        assert_eq!(add.operands().map(Value::signed_constant).collect::<Vec<_>>(), [None, Some(1)]);
        assert_eq!((add.operand(2), module.int32().constant(7).operand(0)), (None, None));
        assert_eq!((add.never_wraps(), done.terminator().never_wraps()), ((true, false), (false, false)));
        assert_eq!((phi.incoming(2), phi.incoming_from(done)), (None, None));
        assert_eq!(phi.incoming_from(around), Some(*add));
        assert_eq!((done.terminator().next(), add.is_exact(), phi.ty().address_space()), (None, false, None));
    }

    #[test]
    fn what_was_removed_stays_until_the_module_is_swept() {
        let mut module = module();
        {
            let around = blocks(&module)[1];
            let add = around.instructions().nth(1).expect("an addition");
            let builder = Builder::before(&module, add);
            let new = builder.add(around.first().expect("a phi"), module.int32().constant(2));
            add.replace_uses(new);
            module.remove(add);
            assert_eq!((add.block(), add.next(), add.opcode()), (None, None, LLVMOpcode::LLVMAdd));
            assert!(refused(|| module.remove(add)), "twice");
            assert!(refused(|| builder.add(new, new)), "where nothing is any more");
            assert!(refused(|| Builder::before(&module, add)));
            // What should not use it any more gets another value.
            let frozen = Builder::before(&module, around.terminator()).freeze(add);
            assert_eq!(frozen.operand(0), Some(*add));
        }
        let state = module.state();
        module.sweep();
        assert_ne!(module.state(), state, "handles that were kept are of no use");
        module.verify().expect("nothing refers to what was removed");
        assert!(module.to_text().contains("freeze i32 poison"), "{}", module.to_text());
    }

    #[test]
    fn misuse_of_the_builder_is_refused() {
        let (module, other) = (module(), module());
        let terminator = blocks(&module)[0].terminator();
        let builder = Builder::before(&module, terminator);
        let [narrow, wide] = [module.int8().constant(1), module.int64().constant(1)];
        assert!(refused(|| builder.add(narrow, wide)), "two types");
        assert!(refused(|| builder.load(module.int64(), wide)), "no address");
        assert!(refused(|| builder.widen(wide, module.int8())));
        assert!(refused(|| builder.compare(LLVMIntPredicate::LLVMIntEQ, narrow, wide)));
        assert!(refused(|| builder.branch(wide, blocks(&module)[1], blocks(&module)[2])), "no truth value");
        let foreign = other.int64().constant(1);
        assert!(refused(|| builder.add(foreign, foreign)), "of another module");
        assert!(refused(|| terminator.set_successor(1, blocks(&module)[2])), "there is one successor");
        let ty = module.void().function(&[module.int64()]);
        assert!(refused(|| builder.call(ty, module.function(c"f").expect("it is there"), &[narrow])));
        assert_eq!(blocks(&module)[0].instructions().count(), 1, "nothing was built");
    }
}
