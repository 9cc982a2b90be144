//! Accesses of memory that a trace with addresses leaves out.

use crate::names::Names;
use crate::terminal::counted;
use cotree_core::facts::{Function, LeftOut, ProgramMap};

/// Says which instructions access memory and are not in the trace, since nobody knows their addresses; nothing if there
/// are none.
#[must_use]
pub(super) fn left_out(program: &ProgramMap, names: Names) -> Option<String> {
    /// At most this many functions, and lines of each, are named.
    const NAMED: usize = 4;
    let total: usize = program.functions().map(|(_, function)| function.left_out.len()).sum();
    let with = || program.functions().map(|(_, function)| function).filter(|function| !function.left_out.is_empty());
    let line = |function: &Function, left: &LeftOut| {
        Some(function.blocks.get(left.block)?.lines.get(left.span? as usize)?.at.line)
    };
    let place = |function: &Function| {
        let mut lines: Vec<u32> = function.left_out.iter().filter_map(|left| line(function, left)).collect();
        lines.sort_unstable();
        lines.dedup();
        let lines: Vec<String> = lines.iter().take(NAMED).map(ToString::to_string).collect();
        let name = names.show(&function.symbol);
        if lines.is_empty() { name } else { format!("{name} (line {})", lines.join(", ")) }
    };
    let mut places: Vec<String> = with().take(NAMED).map(place).collect();
    let others = with().count().saturating_sub(NAMED);
    if others > 0 {
        places.push(counted(others as u128, "other function"));
    }
    (total > 0).then(|| {
        format!(
            "not recorded: where {} access{} memory that take no plain addresses, in {}",
            counted(total as u128, "instruction"),
            if total == 1 { "es" } else { "" },
            places.join(", ")
        )
    })
}
