//! The map that a profiled binary carries: the content of its section `.cotree.map`.
//!
//! The section is not loaded. A sibling section, `.cotree.funcs`, was relocated by the linker and holds one record of
//! 16 bytes per machine function: its link-time address (0: the linker dropped it), the index of its
//! [`CodeFunction`] in [`CodeMap::functions`], and its [`Origin`].

use cotree_core::facts::ProgramMap;
use cotree_core::ids::{FunctionId, Site};
use cotree_core::unit::UnitPlan;
use serde::{Deserialize, Serialize};

pub use crate::elf::{BinaryError, BinaryFile, Resolved};
pub use crate::map::{MapError, encode};

/// The section that carries the encoded [`BinaryMap`].
pub const MAP_SECTION: &str = ".cotree.map";
/// The section of function addresses.
pub const FUNCS_SECTION: &str = ".cotree.funcs";

/// Identifies one build of one link unit: a hash of its map, plan and machine code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnitId(pub [u8; 16]);

impl std::fmt::Display for UnitId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// Everything recovery and reports need to know about a binary.
#[derive(Clone, Debug, PartialEq)]
pub struct BinaryMap {
    /// The program.
    pub program: ProgramMap,
    /// The probes of the unit.
    pub plan: UnitPlan,
    /// The call sites of the unit in machine code.
    pub code: CodeMap,
    /// Counters are per thread.
    pub threaded: bool,
}

/// Return addresses of calls, function by function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeMap {
    /// Machine functions, as the code generator left them.
    pub functions: Vec<CodeFunction>,
}

/// One machine function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeFunction {
    /// Bytes of code.
    pub size: u32,
    /// The calls of the function, by rising offset.
    pub returns: Vec<ReturnPoint>,
}

/// Where the code of a machine function is from, as its record says in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From this module, which was compiled by itself.
    Module(u32),
    /// From one of several modules that were compiled as one. It is this function, or one that LLVM has made.
    Function(Option<FunctionId>),
}

impl Origin {
    const SEVERAL: u32 = 1 << 31;

    /// Whether the code may be of this module.
    pub(crate) fn may_be(self, module: u32) -> bool {
        match self {
            Self::Module(own) => module == own,
            Self::Function(_) => true,
        }
    }

    /// As it is in a record.
    #[must_use]
    pub fn pack(self) -> u32 {
        match self {
            Self::Module(module) => module & !Self::SEVERAL,
            Self::Function(Some(function)) => function.0 | Self::SEVERAL,
            Self::Function(None) => u32::MAX,
        }
    }

    /// From a record.
    #[must_use]
    pub fn unpack(packed: u32) -> Self {
        match packed {
            u32::MAX => Self::Function(None),
            _ if packed & Self::SEVERAL == 0 => Self::Module(packed),
            _ => Self::Function(Some(FunctionId(packed & !Self::SEVERAL))),
        }
    }
}

/// The return address of one call instruction and the call sites that are under way while it runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnPoint {
    /// Return address, relative to the function's start.
    pub offset: u32,
    /// Innermost first: the call itself, then the call site at which its function was inlined, and so on. Empty for the
    /// call that a `resume` was compiled to: its marker has accounted for what is under way.
    pub chain: Vec<(FunctionId, Site)>,
    /// The links of the chain whose path registers the runtime can find while the call is under way, in the order of
    /// its values, outermost first. Empty unless the unit counts paths.
    pub registers: Vec<(FunctionId, Site)>,
}

impl ReturnPoint {
    /// Per link of the chain, which value at the return address is its register.
    pub(crate) fn values(&self) -> Vec<Option<u8>> {
        let mut values = vec![None; self.chain.len()];
        let mut registers = (0u8..=u8::MAX).zip(&self.registers).peekable();
        for (link, place) in self.chain.iter().zip(&mut values).rev() {
            let own = registers.next_if(|(_, register): &(u8, &(FunctionId, Site))| *register == link);
            *place = own.map(|(value, _)| value);
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_survive_the_round_trip() {
        let origins =
            [Origin::Module(0), Origin::Module(70_000), Origin::Function(Some(FunctionId(5))), Origin::Function(None)];
        assert_eq!(origins.map(|origin| Origin::unpack(origin.pack())), origins);
    }
}
