//! Nodes of the cut graph, and the links between them.

use crate::ids::Edge;

/// A node, by its number.
pub(super) type Node = usize;

/// Where a link leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// On in the same segment.
    Node(Node),
    /// The segment ends; the next one starts there.
    Cut(Node),
    /// The segment ends there, but the token goes on.
    Packed(Node),
    /// An indirect branch: the segment ends, and what follows says where the next one starts.
    Dispatch,
    /// The function is left.
    Exit,
}

/// A link out of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The edge; of [`Target::Dispatch`] the first one.
    pub edge: Edge,
    pub target: Target,
    /// What it adds to the token: [`super::types::Encoding::Paths`]; else its bits behind what the token has.
    pub value: u64,
    /// How many bits.
    pub bits: u8,
}

impl Link {
    /// The segment ends on the link, which has this value.
    pub fn ends_with(&mut self, value: u64, bits: u8) {
        (self.value, self.bits) = (value, bits);
        if let Target::Node(to) = self.target {
            self.target = Target::Cut(to);
        }
    }
}
