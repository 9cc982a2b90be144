//! The ties between a function's facts and LLVM's objects.
//!
//! A [`FunctionIr`] borrows its module. Between two uses the module travels from thread to thread, and nobody may
//! borrow it; so the handles are kept closed, and are opened with the very module that they are from.

use super::accesses::AccessIr;
use super::affine::Value as AffineValue;
use crate::ir::{Block, Function, Instruction};
use crate::module::{Module, State};

/// LLVM's objects behind one function of the facts.
pub(crate) struct FunctionIr<'m> {
    pub(crate) function: Function<'m>,
    /// Indexed by the facts' blocks.
    pub(crate) blocks: Vec<Block<'m>>,
    /// Indexed by the facts' calls: the call, or for a resume marker the `resume`.
    pub(crate) calls: Vec<Instruction<'m>>,
    /// Indexed by the facts' accesses.
    pub(crate) accesses: Vec<AccessIr<'m>>,
    /// The function's affine variables.
    pub(crate) affine: Vec<AffineValue<'m>>,
}

/// A [`FunctionIr`] that is kept while nobody borrows its module.
pub(crate) struct Handles {
    /// Not to be used before it is opened: the objects may be gone.
    closed: FunctionIr<'static>,
    /// The module as it was.
    state: State,
}

// SAFETY: a closed handle is a number. It is opened with a borrow of the module, which only one thread has at a time.
unsafe impl Send for Handles {}

impl Handles {
    /// Keeps handles to objects of the module.
    pub(super) fn keep<'m>(module: &'m Module, ir: FunctionIr<'m>) -> Self {
        // SAFETY: only the lifetime differs. The handles are lent again for no longer than a borrow of the module in
        // the same state, and objects are deleted only as that changes.
        let closed = unsafe { std::mem::transmute::<FunctionIr<'m>, FunctionIr<'static>>(ir) };
        Self { closed, state: module.state() }
    }

    /// The handles.
    ///
    /// # Panics
    /// If they are of another module, or objects may have been deleted since.
    pub(crate) fn open<'a, 'm: 'a>(&'a self, module: &'m Module) -> &'a FunctionIr<'m> {
        assert!(self.state == module.state(), "handles are opened with their own module, unchanged");
        &self.closed
    }

    /// Adds the affine variables that were found.
    pub(super) fn keep_affine<'m>(&mut self, module: &'m Module, affine: Vec<AffineValue<'m>>) {
        assert!(self.state == module.state(), "handles are of their own module, unchanged");
        // SAFETY: as in `keep`.
        self.closed.affine = unsafe { std::mem::transmute::<Vec<AffineValue<'m>>, Vec<AffineValue<'static>>>(affine) };
    }
}
