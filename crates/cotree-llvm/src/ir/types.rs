//! Types, and the constants of a type.

use super::{Value, count};
use crate::ffi::*;
use crate::module::Module;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMType, LLVMTypeKind};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// A type of a module's context. Equal types are the same object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type<'m> {
    raw: NonNull<LLVMType>,
    module: PhantomData<&'m Module>,
}

impl<'m> Type<'m> {
    /// # Safety
    /// `raw` must be a type of the context of a module that is borrowed for `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMTypeRef) -> Self {
        let raw = NonNull::new(raw).expect("LLVM has a type for each value");
        Self { raw, module: PhantomData }
    }

    /// LLVM's pointer.
    pub(crate) fn raw(self) -> LLVMTypeRef {
        self.raw.as_ptr()
    }

    /// What kind of type it is.
    #[must_use]
    pub fn kind(self) -> LLVMTypeKind {
        // SAFETY: a live type.
        unsafe { LLVMGetTypeKind(self.raw()) }
    }

    /// How many bits an integer type has.
    #[must_use]
    pub fn bits(self) -> Option<u32> {
        // SAFETY: an integer type.
        (self.kind() == LLVMTypeKind::LLVMIntegerTypeKind).then(|| unsafe { LLVMGetIntTypeWidth(self.raw()) })
    }

    /// The address space of a pointer type.
    #[must_use]
    pub fn address_space(self) -> Option<u32> {
        // SAFETY: a pointer type.
        self.is_pointer().then(|| unsafe { LLVMGetPointerAddressSpace(self.raw()) })
    }

    /// Whether it is a pointer type.
    #[must_use]
    pub fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Whether it is `float` or `double`.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self.kind(), LLVMTypeKind::LLVMFloatTypeKind | LLVMTypeKind::LLVMDoubleTypeKind)
    }

    /// Whether it is an integer type.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    /// Whether values of it can be in memory.
    #[must_use]
    pub fn is_sized(self) -> bool {
        // SAFETY: a live type.
        unsafe { LLVMTypeIsSized(self.raw()) != 0 }
    }

    /// How many bytes apart the elements of an array of it are.
    #[must_use]
    pub fn size(self, module: &Module) -> Option<u64> {
        if !self.is_sized() {
            return None;
        }
        // SAFETY: a type with a size; the data layout belongs to the module.
        Some(unsafe { LLVMABISizeOfType(LLVMGetModuleDataLayout(module.raw), self.raw()) })
    }

    /// How many bytes a load or store of it is of.
    #[must_use]
    pub fn stored_size(self, module: &Module) -> Option<u64> {
        if !self.is_sized() {
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { LLVMStoreSizeOfType(LLVMGetModuleDataLayout(module.raw), self.raw()) })
    }

    /// The constant with these bits, as many of them as the type has.
    ///
    /// # Panics
    /// If it is no integer type.
    #[must_use]
    pub fn constant(self, value: u64) -> Value<'m> {
        assert!(self.is_integer(), "integers are of an integer type");
        // SAFETY: an integer type; the constant lives as long as its context.
        unsafe { Value::from_raw(LLVMConstInt(self.raw(), value, 0)) }.expect("constants exist")
    }

    /// The constant of a number with a sign.
    ///
    /// # Panics
    /// If it is no integer type.
    #[must_use]
    pub fn signed(self, value: i64) -> Value<'m> {
        assert!(self.is_integer(), "integers are of an integer type");
        // SAFETY: an integer type; the constant lives as long as its context.
        unsafe { Value::from_raw(LLVMConstInt(self.raw(), value.cast_unsigned(), 1)) }.expect("constants exist")
    }

    /// The constant of only zeros.
    ///
    /// # Panics
    /// If the type has no values in memory.
    #[must_use]
    pub fn zero(self) -> Value<'m> {
        assert!(self.is_sized(), "only what is in memory is zero");
        // SAFETY: a sized type has one.
        unsafe { Value::from_raw(LLVMConstNull(self.raw())) }.expect("constants exist")
    }

    /// The type of arrays of it.
    ///
    /// # Panics
    /// If the type has no values in memory.
    #[must_use]
    pub fn array(self, len: u64) -> Self {
        assert!(self.is_sized(), "arrays are in memory");
        // SAFETY: a sized type may be an element.
        unsafe { Self::from_raw(LLVMArrayType2(self.raw(), len)) }
    }

    /// The type of functions from these parameters to it.
    ///
    /// # Panics
    /// If a parameter is of another context, or can't be one.
    #[must_use]
    pub fn function(self, parameters: &[Type<'m>]) -> Self {
        assert!(
            self.is_sized() || self.kind() == LLVMTypeKind::LLVMVoidTypeKind,
            "a function returns a value or nothing"
        );
        let mut raw: Vec<LLVMTypeRef> = parameters.iter().map(|parameter| parameter.raw()).collect();
        let fit = |parameter: &Type<'m>| parameter.context() == self.context() && parameter.is_sized();
        assert!(parameters.iter().all(fit), "parameters are values of one context");
        // SAFETY: LLVM reads as many types as it is told of.
        unsafe { Self::from_raw(LLVMFunctionType(self.raw(), raw.as_mut_ptr(), count(raw.len()), 0)) }
    }

    /// The parameters of a function type, and whether more may follow.
    #[must_use]
    pub fn parameters(self) -> Option<(Vec<Type<'m>>, bool)> {
        if self.kind() != LLVMTypeKind::LLVMFunctionTypeKind {
            return None;
        }
        // SAFETY: a function type, which has as many parameters as it says; they are of its context.
        unsafe {
            let mut raw = vec![std::ptr::null_mut(); LLVMCountParamTypes(self.raw()) as usize];
            LLVMGetParamTypes(self.raw(), raw.as_mut_ptr());
            let parameters = raw.into_iter().map(|parameter| Self::from_raw(parameter)).collect();
            Some((parameters, LLVMIsFunctionVarArg(self.raw()) != 0))
        }
    }

    /// What a function of this type returns.
    #[must_use]
    pub fn returned(self) -> Option<Self> {
        // SAFETY: a function type; what it returns is of its context.
        (self.kind() == LLVMTypeKind::LLVMFunctionTypeKind)
            .then(|| unsafe { Self::from_raw(LLVMGetReturnType(self.raw())) })
    }

    /// The fields of a structure.
    #[must_use]
    pub fn fields(self) -> Option<Vec<Self>> {
        if self.kind() != LLVMTypeKind::LLVMStructTypeKind {
            return None;
        }
        // SAFETY: a structure has as many fields as it says, of its context.
        let field = |index| unsafe { Self::from_raw(LLVMStructGetTypeAtIndex(self.raw(), index)) };
        // SAFETY: a structure.
        Some((0..unsafe { LLVMCountStructElementTypes(self.raw()) }).map(field).collect())
    }

    /// The elements of an array: their type, and how many there are.
    #[must_use]
    pub fn array_elements(self) -> Option<(Self, u64)> {
        let array = self.kind() == LLVMTypeKind::LLVMArrayTypeKind;
        // SAFETY: an array.
        array.then(|| unsafe { (Self::from_raw(LLVMGetElementType(self.raw())), LLVMGetArrayLength2(self.raw())) })
    }

    /// How many elements an array has.
    #[must_use]
    pub fn array_length(self) -> Option<u64> {
        let array = self.kind() == LLVMTypeKind::LLVMArrayTypeKind;
        // SAFETY: an array.
        array.then(|| unsafe { LLVMGetArrayLength2(self.raw()) })
    }

    /// The elements of a vector of a fixed length: their type, and how many there are.
    #[must_use]
    pub fn vector_elements(self) -> Option<(Self, u32)> {
        let vector = self.kind() == LLVMTypeKind::LLVMVectorTypeKind;
        // SAFETY: a vector.
        vector.then(|| unsafe { (Self::from_raw(LLVMGetElementType(self.raw())), LLVMGetVectorSize(self.raw())) })
    }

    /// Which context it is of.
    pub(super) fn context(self) -> LLVMContextRef {
        // SAFETY: a live type.
        unsafe { LLVMGetTypeContext(self.raw()) }
    }
}

impl Module {
    /// The type of nothing.
    #[must_use]
    pub fn void(&self) -> Type<'_> {
        // SAFETY: types live as long as their context, which the module owns.
        unsafe { Type::from_raw(LLVMVoidTypeInContext(self.context)) }
    }

    /// The constant structure of these constants.
    ///
    /// # Panics
    /// If one is no constant of this module.
    #[must_use]
    pub fn structure<'m>(&'m self, fields: &[Value<'m>]) -> Value<'m> {
        assert!(fields.iter().all(|field| field.is_constant() && self.owns(*field)), "constants of this module");
        let mut raw: Vec<LLVMValueRef> = fields.iter().map(|field| field.raw()).collect();
        // SAFETY: as many constants of this context as LLVM is told of.
        let structure = unsafe { LLVMConstStructInContext(self.context, raw.as_mut_ptr(), count(raw.len()), 0) };
        // SAFETY: constants live as long as their context.
        unsafe { Value::from_raw(structure) }.expect("constants exist")
    }

    /// The type of truth values.
    #[must_use]
    pub fn int1(&self) -> Type<'_> {
        // SAFETY: as above.
        unsafe { Type::from_raw(LLVMInt1TypeInContext(self.context)) }
    }

    /// The type of bytes.
    #[must_use]
    pub fn int8(&self) -> Type<'_> {
        // SAFETY: as above.
        unsafe { Type::from_raw(LLVMInt8TypeInContext(self.context)) }
    }

    /// The type of integers of 32 bits.
    #[must_use]
    pub fn int32(&self) -> Type<'_> {
        // SAFETY: as above.
        unsafe { Type::from_raw(LLVMInt32TypeInContext(self.context)) }
    }

    /// The type of words.
    #[must_use]
    pub fn int64(&self) -> Type<'_> {
        // SAFETY: as above.
        unsafe { Type::from_raw(LLVMInt64TypeInContext(self.context)) }
    }

    /// The type of pointers into an address space; 0 is the usual one.
    #[must_use]
    pub fn pointer(&self, address_space: u32) -> Type<'_> {
        // SAFETY: as above.
        unsafe { Type::from_raw(LLVMPointerTypeInContext(self.context, address_space)) }
    }
}
