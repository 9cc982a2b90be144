//! Phis after their block's predecessors have changed.
//!
//! The C API cannot rename an incoming block, so each phi of the block is built anew.

use super::{Block, Builder, Phi, Value};

/// Edges that now arrive from another block.
pub struct Move<'m> {
    /// The old predecessor.
    pub from: Block<'m>,
    /// The new one, which branches to the block once.
    pub to: Block<'m>,
    /// All entries of the old predecessor have become one entry of the new; else exactly one has moved.
    pub all: bool,
}

/// Rebuilds the phis of `block`, whose predecessors have changed as `moves` say; gives each old one, which is removed,
/// with the new one. The builder is moved.
pub fn redirect<'m>(block: Block<'m>, moves: &[Move<'m>], builder: &Builder<'m>) -> Vec<(Phi<'m>, Phi<'m>)> {
    let mut replaced = Vec::new();
    for phi in block.phis() {
        builder.move_before(*phi);
        builder.set_location(phi.location());
        let name = phi.name();
        phi.set_name("");
        let rebuilt = builder.phi(phi.ty());
        rebuilt.set_name(&name);
        for (value, from) in redirected(phi, moves) {
            // A loop's phi may name itself.
            rebuilt.add_incoming(if value == phi.into() { rebuilt.into() } else { value }, from);
        }
        rebuilt.copy_fast_math(*phi);
        phi.replace_uses(rebuilt);
        builder.module().remove(*phi);
        replaced.push((phi, rebuilt));
    }
    replaced
}

fn redirected<'m>(phi: Phi<'m>, moves: &[Move<'m>]) -> Vec<(Value<'m>, Block<'m>)> {
    let mut entries: Vec<_> = phi.entries().collect();
    for change in moves {
        let Some(at) = entries.iter().position(|&(_, from)| from == change.from) else { continue };
        entries[at].1 = change.to;
        if change.all {
            entries.retain(|&(_, from)| from != change.from);
        }
    }
    entries
}
