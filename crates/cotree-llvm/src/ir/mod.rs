//! Safe handles to LLVM's objects: modules' functions, blocks, instructions and values, and a builder of new ones.
//!
//! A handle is a pointer that borrows its [`Module`](crate::module::Module), so the type system proves what most of LLVM's
//! C API asks of its callers: the object is alive.
//!
//! - **Nothing dies while a module is borrowed.** No handle deletes a block, a function or a global. An instruction that is
//!   taken out of its block ([`Module::remove`](crate::module::Module::remove)) stays in memory until somebody borrows the module exclusively and
//!   sweeps ([`Module::sweep`](crate::module::Module::sweep)): a handle to it can be compared, and asked for its operands.
//! - **Kinds are checked once.** `Value::as_instruction` and the like ask LLVM what a value is; an [`Instruction`], a
//!   [`Phi`] or a [`Call`] then offers what is defined for its kind. What depends on an opcode or on a number of operands
//!   is an `Option`.
//! - **One module, one context.** What is built from two values is checked to be of one type, and types are unique in their
//!   context; so objects of two modules can't be mixed. Misuse of the builder is a defect of ours, and panics.
//!
//! A file per kind of object, as in bpf-linker.

mod alias;
mod attribute;
mod block;
mod builder;
mod call;
mod debug_info;
mod function;
mod global;
mod instruction;
mod metadata;
mod types;
mod value;

pub use alias::Alias;
pub use attribute::{At, Attribute};
pub use block::Block;
pub use builder::Builder;
pub use call::{Bundle, Call};
pub use debug_info::{DebugInfoBuilder, FunctionType, Location, Scope, SourceFile};
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
