//! Accesses of memory whose addresses a trace tells (Ball & Larus 1994, §4.2 footnote 3 and §6.2).

use crate::ids::{Block, CallId};
use serde::{Deserialize, Serialize};

/// Which accesses are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accesses {
    /// Accesses that read.
    Loads,
    /// Accesses that write.
    Stores,
    /// Both.
    All,
}

impl Accesses {
    /// By its name in options.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "loads" => Self::Loads,
            "stores" => Self::Stores,
            "all" => Self::All,
            _ => return None,
        })
    }

    /// What is told of an access of this kind.
    #[must_use]
    pub fn of(self, kind: AccessKind) -> Option<AccessKind> {
        match (self, kind) {
            (Self::All, kind) => Some(kind),
            (Self::Loads, AccessKind::Load | AccessKind::Update) => Some(AccessKind::Load),
            (Self::Stores, AccessKind::Store | AccessKind::Update) => Some(AccessKind::Store),
            (Self::Loads, AccessKind::Store) | (Self::Stores, AccessKind::Load) => None,
        }
    }
}

/// What an access does. Files know the variants by their order: new ones come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AccessKind {
    /// The access reads.
    Load,
    /// The access writes.
    Store,
    /// The access reads and writes, as atomic additions do.
    Update,
}

impl AccessKind {
    /// The name of the kind, as in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Store => "store",
            Self::Update => "update",
        }
    }
}

/// An access of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The block that holds it.
    pub block: Block,
    /// The access comes before the call of this number, and behind the calls before that one.
    pub before: CallId,
    /// What it does.
    pub kind: AccessKind,
    /// How many bytes it is of; `None` if only the running program knows, which then tells that before the address. Of
    /// no bytes, it is no access.
    pub length: Option<u64>,
    /// The span of its block that it belongs to, an index into [`super::BlockFacts::lines`].
    pub span: Option<u32>,
}

/// An instruction that accesses memory and does not tell where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The block that holds it.
    pub block: Block,
    /// The span of its block that it belongs to, an index into [`super::BlockFacts::lines`].
    pub span: Option<u32>,
}
