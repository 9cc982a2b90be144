//! Metadata: nodes and strings, on instructions and by name.

use super::{Instruction, Value, kind, text};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::debuginfo::LLVMMetadataKind;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMModuleFlagBehavior, LLVMOpaqueMetadata};
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A node, a string, or a value as metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Metadata<'m> {
    raw: NonNull<LLVMOpaqueMetadata>,
    module: PhantomData<&'m Module>,
}

impl<'m> Metadata<'m> {
    /// The handle of metadata, none for null.
    ///
    /// # Safety
    /// `raw` must be null, or metadata of the context of a module that is borrowed for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMMetadataRef) -> Option<Self> {
        NonNull::new(raw).map(|raw| Self { raw, module: PhantomData })
    }

    /// LLVM's pointer.
    pub(crate) fn raw(self) -> LLVMMetadataRef {
        self.raw.as_ptr()
    }

    /// What kind of metadata it is.
    #[must_use]
    pub fn kind(self) -> LLVMMetadataKind {
        // SAFETY: live metadata.
        unsafe { LLVMGetMetadataKind(self.raw()) }
    }
}

kind! {
    /// A node.
    Node is a Metadata
}

/// What metadata on an instruction is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataKind(u32);

impl MetadataKind {
    pub(super) fn number(self) -> u32 {
        self.0
    }
}

impl<'m> Value<'m> {
    /// The operands of a metadata node that is used as a value; absent ones are none.
    #[must_use]
    pub fn node_operands(self) -> Option<Vec<Option<Value<'m>>>> {
        // SAFETY: a node has as many operands as it says, of its own context.
        unsafe {
            let node = !LLVMIsAMDNode(self.raw()).is_null();
            node.then(|| {
                let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(self.raw()) as usize];
                LLVMGetMDNodeOperands(self.raw(), operands.as_mut_ptr());
                operands.into_iter().map(|operand| Value::from_raw(operand)).collect()
            })
        }
    }

    /// A metadata string that is used as a value.
    #[must_use]
    pub fn metadata_string(self) -> Option<String> {
        let mut len = 0;
        // SAFETY: the text is asked only of strings, and copied.
        unsafe {
            let string = !LLVMIsAMDString(self.raw()).is_null();
            string.then(|| text(LLVMGetMDString(self.raw(), &raw mut len), len as usize))
        }
    }

    /// The value as metadata.
    ///
    /// # Panics
    /// If it is an instruction or a parameter: those are metadata of a function only.
    #[must_use]
    pub fn as_metadata(self) -> Metadata<'m> {
        assert!(self.as_instruction().is_none() && !self.is_parameter(), "metadata of the whole module");
        // SAFETY: a constant, a global or what is metadata.
        unsafe { Metadata::from_raw(LLVMValueAsMetadata(self.raw())) }.expect("constants can be metadata")
    }
}

impl Module {
    /// The kind of metadata of this name.
    #[must_use]
    pub fn metadata_kind(&self, name: &str) -> MetadataKind {
        let len = super::count(name.len());
        // SAFETY: LLVM reads as many bytes as it is told of.
        MetadataKind(unsafe { LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), len) })
    }

    /// A string.
    ///
    /// # Panics
    /// Never: LLVM makes the string.
    #[must_use]
    pub fn metadata_string(&self, text: &str) -> Metadata<'_> {
        // SAFETY: LLVM reads as many bytes as it is told of; the string lives as long as its context.
        let string = unsafe { LLVMMDStringInContext2(self.context, text.as_ptr().cast(), text.len()) };
        // SAFETY: as above.
        unsafe { Metadata::from_raw(string) }.expect("LLVM makes the string")
    }

    /// A node with these operands.
    ///
    /// # Panics
    /// Never: LLVM makes the node.
    #[must_use]
    pub fn node<'m>(&'m self, operands: &[Metadata<'m>]) -> Node<'m> {
        let mut raw: Vec<LLVMMetadataRef> = operands.iter().map(|operand| operand.raw()).collect();
        // SAFETY: LLVM reads as many operands as it is told of; the node lives as long as its context.
        let node = unsafe { Metadata::from_raw(LLVMMDNodeInContext2(self.context, raw.as_mut_ptr(), raw.len())) };
        Node(node.expect("LLVM makes the node"))
    }

    /// Metadata as a value of this module.
    ///
    /// # Panics
    /// Never: metadata can be a value.
    #[must_use]
    pub fn metadata_value<'m>(&'m self, metadata: Metadata<'m>) -> Value<'m> {
        // SAFETY: live metadata.
        unsafe { Value::from_raw(LLVMMetadataAsValue(self.context, metadata.raw())) }.expect("metadata can be a value")
    }

    /// Adds a node to the module's metadata of this name.
    ///
    /// # Panics
    /// If there is a NUL in the name.
    pub fn add_named_metadata<'m>(&'m self, name: &str, node: Node<'m>) {
        let name = CString::new(name).expect("no NUL in our own names");
        // SAFETY: a valid module, and a node as a value.
        unsafe { LLVMAddNamedMetadataOperand(self.raw, name.as_ptr(), self.metadata_value(*node).raw()) };
    }

    /// Adds a flag, which modules of one program must agree about.
    pub fn add_flag<'m>(&'m self, name: &str, value: Node<'m>) {
        let key = (name.as_ptr().cast(), name.len());
        // SAFETY: a valid module and a node of its context; LLVM reads as many bytes as it is told of.
        unsafe {
            LLVMAddModuleFlag(self.raw, LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorError, key.0, key.1, value.raw());
        }
    }

    /// Is there a flag of this name?
    #[must_use]
    pub fn has_flag(&self, name: &str) -> bool {
        // SAFETY: a valid module; LLVM reads as many bytes as it is told of.
        unsafe { !LLVMGetModuleFlag(self.raw, name.as_ptr().cast(), name.len()).is_null() }
    }

    /// The nodes of the module's metadata of this name.
    #[must_use]
    pub fn named_metadata(&self, name: &CStr) -> Vec<Value<'_>> {
        // SAFETY: a valid module; LLVM writes as many nodes as it says.
        unsafe {
            let mut nodes =
                vec![std::ptr::null_mut(); LLVMGetNamedMetadataNumOperands(self.raw, name.as_ptr()) as usize];
            LLVMGetNamedMetadataOperands(self.raw, name.as_ptr(), nodes.as_mut_ptr());
            nodes.into_iter().filter_map(|node| Value::from_raw(node)).collect()
        }
    }

    /// Gives a branch weights, one per successor.
    ///
    /// # Panics
    /// If there are more or fewer successors.
    pub fn set_branch_weights<'m>(&'m self, branch: Instruction<'m>, weights: &[u32]) {
        assert!(branch.successor_count() as usize == weights.len(), "a weight per successor");
        let weight = |&weight: &u32| self.int32().constant(weight.into()).as_metadata();
        let tag = self.metadata_string("branch_weights");
        let operands: Vec<Metadata<'m>> = std::iter::once(tag).chain(weights.iter().map(weight)).collect();
        branch.set_metadata(self.metadata_kind("prof"), self.node(&operands));
    }
}
