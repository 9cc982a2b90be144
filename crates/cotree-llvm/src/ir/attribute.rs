//! Attributes of functions and calls.

use super::{Call, Function, Type, count, text};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeIndex, LLVMOpaqueAttributeRef};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// What an attribute is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The function, or the call.
    Function,
    /// What it returns.
    Return,
    /// A parameter or argument, from 0.
    Parameter(u32),
}

impl At {
    fn index(self) -> LLVMAttributeIndex {
        match self {
            Self::Function => u32::MAX,
            Self::Return => 0,
            Self::Parameter(number) => number + 1,
        }
    }
}

/// An attribute of a module's context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute<'m> {
    raw: NonNull<LLVMOpaqueAttributeRef>,
    module: PhantomData<&'m Module>,
}

impl Attribute<'_> {
    /// # Safety
    /// `raw` must be an attribute of the context of a module that is borrowed for the lifetime.
    unsafe fn from_raw(raw: LLVMAttributeRef) -> Self {
        Self { raw: NonNull::new(raw).expect("LLVM makes the attribute"), module: PhantomData }
    }

    fn raw(self) -> LLVMAttributeRef {
        self.raw.as_ptr()
    }
}

/// LLVM's number of an attribute that has no text. It is known without any module.
fn number(name: &str) -> u32 {
    // SAFETY: LLVM reads as many bytes as it is told of.
    let number = unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
    assert!(number != 0, "LLVM has no attribute {name}");
    number
}

impl Module {
    /// An attribute that only has a name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Attribute<'_> {
        self.attribute_of(name, 0)
    }

    /// An attribute with a number.
    #[must_use]
    pub fn attribute_of(&self, name: &str, value: u64) -> Attribute<'_> {
        // SAFETY: a kind that LLVM has; attributes live as long as their context.
        unsafe { Attribute::from_raw(LLVMCreateEnumAttribute(self.context, number(name), value)) }
    }

    /// An attribute of a name that LLVM does not know.
    #[must_use]
    pub fn own_attribute(&self, name: &str) -> Attribute<'_> {
        self.text_attribute(name, "")
    }

    /// An attribute with a text.
    #[must_use]
    pub fn text_attribute(&self, name: &str, text: &str) -> Attribute<'_> {
        let part = |text: &str| (text.as_ptr().cast(), count(text.len()));
        let ((key, key_len), (value, value_len)) = (part(name), part(text));
        // SAFETY: LLVM copies as many bytes as it is told of; attributes live as long as their context.
        unsafe { Attribute::from_raw(LLVMCreateStringAttribute(self.context, key, key_len, value, value_len)) }
    }

    /// An attribute with a type.
    #[must_use]
    pub fn type_attribute<'m>(&'m self, name: &str, ty: Type<'m>) -> Attribute<'m> {
        // SAFETY: a kind that LLVM has; attributes live as long as their context.
        unsafe { Attribute::from_raw(LLVMCreateTypeAttribute(self.context, number(name), ty.raw())) }
    }
}

impl<'m> Function<'m> {
    /// Adds an attribute.
    pub fn add_attribute(self, at: At, attribute: Attribute<'m>) {
        // SAFETY: a function and an attribute of its context.
        unsafe { LLVMAddAttributeAtIndex(self.raw(), at.index(), attribute.raw()) };
    }

    /// Whether it has the attribute of this name.
    #[must_use]
    pub fn has_attribute(self, at: At, name: &str) -> bool {
        // SAFETY: a function.
        unsafe { !LLVMGetEnumAttributeAtIndex(self.raw(), at.index(), number(name)).is_null() }
    }

    /// Takes an attribute away, if it has it.
    pub fn remove_attribute(self, at: At, name: &str) {
        // SAFETY: a function.
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.raw(), at.index(), number(name)) };
    }

    /// What an attribute with a text says.
    #[must_use]
    pub fn text_attribute(self, name: &str) -> Option<String> {
        let mut len = 0;
        // SAFETY: a function; the text is LLVM's own storage with its length, which we copy.
        unsafe {
            let key = (name.as_ptr().cast(), count(name.len()));
            let attribute = LLVMGetStringAttributeAtIndex(self.raw(), At::Function.index(), key.0, key.1);
            (!attribute.is_null()).then(|| text(LLVMGetStringAttributeValue(attribute, &raw mut len), len as usize))
        }
    }

    /// Takes an attribute with a text away, if it has it.
    pub fn remove_text_attribute(self, name: &str) {
        // SAFETY: a function; LLVM reads as many bytes as it is told of.
        unsafe {
            let key = (name.as_ptr().cast(), count(name.len()));
            LLVMRemoveStringAttributeAtIndex(self.raw(), At::Function.index(), key.0, key.1);
        }
    }
}

impl<'m> Call<'m> {
    /// Adds an attribute.
    pub fn add_attribute(self, at: At, attribute: Attribute<'m>) {
        // SAFETY: a call and an attribute of its context.
        unsafe { LLVMAddCallSiteAttribute(self.raw(), at.index(), attribute.raw()) };
    }

    /// Whether the call itself has the attribute of this name, whatever the function says.
    #[must_use]
    pub fn has_own_attribute(self, at: At, name: &str) -> bool {
        // SAFETY: a call.
        unsafe { !LLVMGetCallSiteEnumAttribute(self.raw(), at.index(), number(name)).is_null() }
    }

    /// The type that an attribute of the call itself names.
    #[must_use]
    pub fn attribute_type(self, at: At, name: &str) -> Option<Type<'m>> {
        // SAFETY: a call; the attribute is one that has a type, of the call's context.
        unsafe {
            let attribute = LLVMGetCallSiteEnumAttribute(self.raw(), at.index(), number(name));
            (!attribute.is_null()).then(|| Type::from_raw(LLVMGetTypeAttributeValue(attribute)))
        }
    }

    /// Takes an attribute away, if the call has it.
    pub fn remove_attribute(self, at: At, name: &str) {
        // SAFETY: a call.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.raw(), at.index(), number(name)) };
    }

    /// Takes over all attributes of another call with as many arguments.
    pub(super) fn copy_attributes(self, from: Call<'m>) {
        let arguments = (0..from.argument_count()).map(At::Parameter);
        for at in [At::Return].into_iter().chain(arguments).chain([At::Function]) {
            // SAFETY: calls of one context; LLVM writes as many attributes as it says.
            unsafe {
                let count = LLVMGetCallSiteAttributeCount(from.raw(), at.index()) as usize;
                let mut attributes = vec![std::ptr::null_mut(); count];
                LLVMGetCallSiteAttributes(from.raw(), at.index(), attributes.as_mut_ptr());
                for attribute in attributes {
                    LLVMAddCallSiteAttribute(self.raw(), at.index(), attribute);
                }
            }
        }
    }
}
