//! Finds where calls through pointers may lead: to the functions of the type that the call expects.
//!
//! C lets a program cast pointers as it likes, so this is a guess, and nothing stands on it: paths across functions
//! know whom a pointer led to by the address ([`cotree_core::method::ipath`]).

use super::prepared::Prepared;
use crate::ir::{Call, Type};
use cotree_core::facts::Callee;
use cotree_core::ids::CallId;
use cotree_core::unit::PointerKinds;
use llvm_sys::LLVMTypeKind;
use std::collections::HashMap;
use std::fmt::Write;

/// The kinds of pointers to the functions of a unit, and of its calls through pointers. `reached` says per function
/// whether a call that has its address reaches it for certain.
pub(super) fn kinds(prepared: &[Prepared], reached: &[bool]) -> PointerKinds {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut number = |convention: u32, ty: Type<'_>| {
        let mut key = format!("{convention}:");
        describe(ty, &mut key);
        let next = numbers.len() as u32;
        *numbers.entry(key).or_insert(next)
    };
    let mut kinds = PointerKinds::default();
    for Prepared { module, extracted } in prepared {
        for (facts, handles) in extracted.facts.functions.iter().zip(&extracted.handles) {
            let ir = handles.open(module);
            let certain = reached.get(kinds.functions.len()) == Some(&true);
            let pointed = certain && facts.address_taken;
            kinds.functions.push(pointed.then(|| number(ir.function.convention(), ir.function.function_type())));
            let through = |(id, call): (CallId, &cotree_core::facts::Call)| {
                let call: Call<'_> = ir.calls.get(id.index()).filter(|_| call.callee == Callee::Indirect)?.as_call()?;
                call.intrinsic().is_none().then(|| (id, number(call.convention(), call.called_type())))
            };
            let measured = facts.untouched.is_none();
            kinds.calls.push(if measured { facts.calls.numbered().filter_map(through).collect() } else { Vec::new() });
        }
    }
    kinds
}

/// Writes what tells a type from others.
fn describe(ty: Type<'_>, out: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(out, "{}", ty.kind() as i32);
    let _ = ty.bits().map_or(Ok(()), |bits| write!(out, "i{bits}"));
    if let Some((parameters, more)) = ty.parameters() {
        out.push('(');
        parameters.into_iter().for_each(|parameter| describe(parameter, out));
        out.push_str(if more { "...)" } else { ")" });
    }
    if let Some(returned) = ty.returned() {
        describe(returned, out);
    }
    if let Some(fields) = ty.fields() {
        out.push('{');
        fields.into_iter().for_each(|field| describe(field, out));
        out.push('}');
    }
    let elements = match ty.kind() {
        LLVMTypeKind::LLVMArrayTypeKind => ty.array_elements(),
        _ => ty.vector_elements().map(|(element, count)| (element, count.into())),
    };
    if let Some((element, count)) = elements {
        let _ = write!(out, "[{count}]");
        describe(element, out);
    }
}
