//! Newtyped indices of the things a control-flow graph and a plan are made of.
//!
//! All are dense: the index is a position in some vector, so facts about blocks, edges or counters live in vectors
//! beside the graph, which only ids of their kind index ([`IdMap`]).

mod map;

pub use map::{Id, IdMap};

/// A newtype of an index, which is written as a prefix and the number.
macro_rules! id {
    ($(#[$doc:meta])* $visible:vis $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        $visible struct $name(pub u32);

        impl $name {
            /// The position in a dense table, for a position that fits (graphs beyond 2³² items are refused at
            /// construction).
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 entities of one kind"))
            }

            /// The position in a dense table.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl $crate::ids::Id for $name {
            fn new(index: usize) -> Self {
                Self::new(index)
            }

            fn index(self) -> usize {
                self.index()
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

pub(crate) use id;

id!(
    /// A function of a link unit, in the order of [`crate::facts::ProgramMap::functions`].
    pub FunctionId,
    "f"
);

impl FunctionId {
    /// The functions of a unit, from the first on: to number a list that holds one item for each.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..).map(Self)
    }
}

id!(
    /// A basic block (vertex) of one function's control-flow graph. `Block(0)` is the entry.
    pub Block,
    "b"
);
id!(
    /// A control-flow edge of one function, in the order of the function's edge list.
    pub Edge,
    "e"
);
id!(
    /// A call of one function, in block order and, within a block, in instruction order.
    pub CallId,
    "call"
);
id!(
    /// A call site of one function: a call that may not return, numbered in the order of calls
    /// ([`crate::facts::Calls`]).
    pub Site,
    "s"
);
id!(
    /// A counter of one function's plan; the link unit's counter array holds it at `base + index`.
    pub Counter,
    "c"
);
id!(
    /// A path table of one function's plan.
    pub Table,
    "t"
);
id!(
    /// A word of a slab that the code of a method uses for itself, numbered by the method.
    pub Word,
    "w"
);
id!(
    /// A loop of one function's control-flow graph, outer loops first.
    pub Loop,
    "l"
);
id!(
    /// An affine variable, in the order of the list that a function was planned with.
    pub Variable,
    "v"
);
