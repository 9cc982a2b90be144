//! Which functions were optimised before their counters go in, so that their loops make fewer turns than those of the
//! source.
//!
//! The link finds out which modules another compiler has made, and marks their functions. Loops that were vectorised
//! say so themselves, whoever compiled them.

use crate::ir::{At, Block, Function, MetadataKind};
use crate::module::Module;

/// The attribute of functions of modules that another compiler has made.
const MARK: &str = "cotree-optimised-before";

/// Marks the functions of a module that another compiler has made, apart from those that are compiled as written.
pub(crate) fn mark_optimised_before(module: &Module) {
    let mark = module.own_attribute(MARK);
    for function in module.functions().filter(|function| !function.is_declaration()) {
        if !function.has_attribute(At::Function, "optnone") {
            function.add_attribute(At::Function, mark);
        }
    }
}

/// Was the function optimised before? `of_loops` is the kind of metadata that loops have.
pub(super) fn optimised_before(function: Function<'_>, blocks: &[Block<'_>], of_loops: MetadataKind) -> bool {
    function.text_attribute(MARK).is_some() || blocks.iter().any(|&block| ends_vectorised_loop(block, of_loops))
}

/// Does the block end with the jump back of a loop that was vectorised, or of what is left over of one?
fn ends_vectorised_loop(block: Block<'_>, of_loops: MetadataKind) -> bool {
    let Some(node) = block.terminator().metadata(of_loops) else { return false };
    node.node_operands().into_iter().flatten().flatten().filter_map(|hint| hint.node_operands()).any(|hint| {
        let name = hint.first().copied().flatten().and_then(|name| name.metadata_string());
        name.is_some_and(|name| name == "llvm.loop.isvectorized")
    })
}
