//! Vectors that are read or written lane by lane, as masks say: masked loads and stores, gathers and scatters,
//! expanding loads and compressing stores, by LLVM's own intrinsics and by those of x86.
//!
//! An access of *n* lanes is *n* accesses in a trace, each of which tells its length when it runs: that of a lane, or 0
//! where the mask is off. Lanes that lie in a row whichever of them are active are one access.

use crate::ir::{Call, Instruction, Type, Value};
use crate::module::Module;
use cotree_core::facts::AccessKind;

/// Which lanes are accessed, and where.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    /// The operand whose lanes say whether they are active: truth values, or numbers that are active if negative.
    pub(crate) mask: u32,
    /// Where they are.
    pub(crate) place: LanePlace,
    /// How many bytes each is of.
    pub(crate) size: u64,
}

/// Where the lanes of an access are. Numbers are those of operands.
#[derive(Clone, Copy)]
pub(crate) enum LanePlace {
    /// One behind the other from an address on.
    Row(u32),
    /// The active ones one behind the other from an address on.
    Packed(u32),
    /// Where a vector of addresses says.
    Pointers(u32),
    /// An address, and a vector of numbers that are multiplied by a constant.
    Indexed {
        /// The address.
        base: u32,
        /// The numbers.
        index: u32,
        /// The constant.
        scale: u64,
    },
}

/// An access by lanes: what it does, which lanes, and how many accesses of a trace it is.
pub(super) type Found = (AccessKind, Lanes, u32);

/// What an intrinsic accesses lane by lane; `None` if it is none of these, or its lanes have no addresses.
pub(super) fn of<'m>(module: &'m Module, instruction: Instruction<'m>, call: Call<'m>, name: &str) -> Option<Found> {
    let last = call.argument_count().checked_sub(1)?;
    let (kind, mask, place, data) = match name.strip_prefix("llvm.masked.").and_then(|rest| rest.split_once('.')) {
        // What is taken where the mask is off comes last. Older LLVMs have an alignment before the mask.
        Some(("load", _)) => (AccessKind::Load, last.checked_sub(1)?, LanePlace::Row(0), instruction.ty()),
        Some(("gather", _)) => (AccessKind::Load, last.checked_sub(1)?, LanePlace::Pointers(0), instruction.ty()),
        Some(("expandload", _)) => (AccessKind::Load, last.checked_sub(1)?, LanePlace::Packed(0), instruction.ty()),
        Some(("store", _)) => (AccessKind::Store, last, LanePlace::Row(1), instruction.operand(0)?.ty()),
        Some(("scatter", _)) => (AccessKind::Store, last, LanePlace::Pointers(1), instruction.operand(0)?.ty()),
        Some(("compressstore", _)) => (AccessKind::Store, last, LanePlace::Packed(1), instruction.operand(0)?.ty()),
        _ => of_x86(instruction, name.strip_prefix("llvm.x86.")?)?,
    };
    let (element, lanes) = data.vector_elements()?;
    let (_, masks) = instruction.operand(mask)?.ty().vector_elements()?;
    let own = match place {
        LanePlace::Row(at) | LanePlace::Packed(at) => {
            instruction.operand(at)?.ty().address_space().filter(|&space| space == 0)?;
            lanes
        }
        LanePlace::Pointers(at) => {
            let (pointer, own) = instruction.operand(at)?.ty().vector_elements()?;
            pointer.address_space().filter(|&space| space == 0)?;
            own
        }
        LanePlace::Indexed { index, .. } => instruction.operand(index)?.ty().vector_elements()?.1,
    };
    // Lanes of a bit are packed: they have no addresses of their own.
    let whole = |ty: Type<'m>| ty.size(module).zip(ty.bits()).is_none_or(|(bytes, bits)| 8 * bytes == u64::from(bits));
    let size = element.stored_size(module).filter(|_| whole(element))?;
    // Gathers of wide numbers by narrow ones, or the other way, leave lanes of the longer vector alone.
    let lanes = lanes.min(own).min(masks);
    let count = if let LanePlace::Packed(_) = place { 1 } else { lanes };
    Some((kind, Lanes { mask, place, size }, count))
}

/// What intrinsics of x86 access lane by lane: what they do, the operands of mask and place, and the type of the data.
fn of_x86<'m>(instruction: Instruction<'m>, name: &str) -> Option<(AccessKind, u32, LanePlace, Type<'m>)> {
    let operand = |number| instruction.operand(number);
    let scale = |number| operand(number).and_then(Value::constant);
    let indexed = |base, index, scale| LanePlace::Indexed { base, index, scale };
    if name.starts_with("avx.maskload.") || name.starts_with("avx2.maskload.") {
        return Some((AccessKind::Load, 1, LanePlace::Row(0), instruction.ty()));
    }
    if name.starts_with("avx.maskstore.") || name.starts_with("avx2.maskstore.") {
        return Some((AccessKind::Store, 1, LanePlace::Row(0), operand(2)?.ty()));
    }
    if name == "sse2.maskmov.dqu" {
        return Some((AccessKind::Store, 1, LanePlace::Row(2), operand(0)?.ty()));
    }
    if name.starts_with("avx2.gather.") || name.starts_with("avx512.mask.gather") {
        return Some((AccessKind::Load, 3, indexed(1, 2, scale(4)?), instruction.ty()));
    }
    if name.starts_with("avx512.mask.scatter") {
        return Some((AccessKind::Store, 1, indexed(0, 2, scale(4)?), operand(3)?.ty()));
    }
    None
}

/// May the intrinsic access memory at addresses that nothing here finds? Those of LLVM itself that take addresses and
/// are no copies say something of memory, and do nothing with it.
pub(super) fn is_unknown_access(call: Call<'_>, name: &str) -> bool {
    /// Intrinsics of x86 that are about cache lines, not about what is in them.
    const OF_LINES: [&str; 8] = [
        "sse2.clflush",
        "clflushopt",
        "clwb",
        "cldemote",
        "sse3.monitor",
        "monitorx",
        "avx512.gatherpf.",
        "avx512.scatterpf.",
    ];
    let takes_address = call.arguments().any(|argument| {
        let ty = argument.ty();
        ty.is_pointer() || ty.vector_elements().is_some_and(|(element, _)| element.is_pointer())
    });
    let by_lanes = ["llvm.masked.", "llvm.vp."].iter().any(|prefix| name.starts_with(prefix));
    let of_x86 = name.strip_prefix("llvm.x86.");
    takes_address && (by_lanes || of_x86.is_some_and(|rest| !OF_LINES.iter().any(|line| rest.starts_with(line))))
}
