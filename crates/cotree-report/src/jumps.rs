//! Jumps at whose positions nothing runs, as compilers place them.

use crate::flow::Flow;
use crate::source::SourceText;
use cotree_core::facts::{BlockFacts, EdgeKind, LineSpan};
use cotree_core::ids::{Block, Edge};
use std::collections::HashSet;

/// A line of one file, in one inlined copy or in the function itself.
pub(crate) type LineKey = (u32, u32, Option<u32>);

/// Is the last span of the block nothing but the jump or branch that leaves it, at a place where nothing runs?
pub(crate) fn ends_in_a_mere_jump(flow: &Flow<'_>, block: Block, text: Option<&SourceText>) -> bool {
    let lines = &flow.function.blocks[block].lines;
    let (Some(last), Some(exit)) = (lines.last(), kind_of_exit(flow, block)) else { return false };
    // A destructor is called at the closing brace, and so is the end of a handler.
    if flow.calls_in_span(block, lines.len() - 1) {
        return false;
    }
    let marks: &[&str] = match exit {
        EdgeKind::Jump => &["}"],
        EdgeKind::True => &["&&", "||"],
        _ => return false,
    };
    let same_line = |s: &LineSpan| s.at.file == last.at.file && s.at.line == last.at.line && s.inlined == last.inlined;
    if let Some(source) = text.and_then(|t| t.line(last.at.line)) {
        let column = (last.at.column as usize).saturating_sub(1);
        let rest = source.as_bytes().get(column..).unwrap_or_default();
        return last.at.column > 0 && marks.iter().any(|m| rest.starts_with(m.as_bytes()));
    }
    // Without the source. Both are the first thing on their lines, and the block has done something on a line before.
    let block_on_line = |b: Block| flow.function.blocks.get(b).and_then(|b| b.lines.first()).is_some_and(same_line);
    let others = || {
        let blocks = flow.function.blocks.iter().enumerate().filter(|(b, _)| *b != block.index());
        blocks.flat_map(|(_, b)| &b.lines).filter(|s| same_line(s))
    };
    let first_on_line = last.at.column > 0
        && lines.len() > 1
        && !lines[..lines.len() - 1].iter().any(same_line)
        && others().any(|s| s.at.column > last.at.column)
        && others().all(|s| s.at.column >= last.at.column);
    let goes_there = flow.cfg.succs(block).iter().any(|&e| block_on_line(flow.cfg.dst(e)));
    // What follows `}` on its line is not where the jump goes; what follows `&&` is where the branch may go.
    first_on_line && goes_there == (exit == EdgeKind::True)
}

/// Does the span stand at `&&` or `||`? At the beginning of a block, that is the value of a whole condition. It says
/// nothing about the operator's line, since the operands there may not have been evaluated.
pub(crate) fn is_an_operator(span: &LineSpan, text: Option<&SourceText>) -> bool {
    let Some(source) = text.and_then(|t| t.line(span.at.line)) else { return false };
    let column = (span.at.column as usize).saturating_sub(1);
    let rest = source.as_bytes().get(column..).unwrap_or_default();
    rest.starts_with(b"&&") || rest.starts_with(b"||")
}

/// Does a block end with a branch at the word `for` or `while`? The loop's condition was evaluated in other blocks.
pub(crate) fn is_at_the_word_of_a_loop(flow: &Flow<'_>, block: Block, text: Option<&SourceText>) -> bool {
    let last = flow.function.blocks[block].lines.last();
    let source = last.and_then(|last| Some((text?.line(last.at.line)?, last.at.column)));
    kind_of_exit(flow, block) == Some(EdgeKind::True)
        && source.is_some_and(|(line, column)| {
            let rest = line.as_bytes().get((column as usize).saturating_sub(1)..).unwrap_or_default();
            column > 0 && (rest.starts_with(b"for") || rest.starts_with(b"while"))
        })
}

/// The heads of loops: where jumps go back to, and the line that they are on. (`while (1)` and `for (;;)` are nothing
/// but such jumps.)
pub(crate) fn loop_heads(flow: &Flow<'_>) -> HashSet<(Block, Option<LineKey>)> {
    let blocks = (0..flow.function.blocks.len()).map(Block::new);
    blocks.filter_map(|b| jump_of(flow, b).filter(|(to, _)| to.index() <= b.index())).collect()
}

/// Where a block jumps to, and from which line.
pub(crate) fn jump_of(flow: &Flow<'_>, block: Block) -> Option<(Block, Option<LineKey>)> {
    if kind_of_exit(flow, block) != Some(EdgeKind::Jump) {
        return None;
    }
    let to = flow.cfg.dst(*flow.cfg.succs(block).first()?);
    let at = flow.function.blocks[block].lines.last().map(|s| (s.at.file, s.at.line, s.inlined));
    Some((to, at))
}

/// Is the position of a block that is nothing but a jump that of something else? Where control falls from one label to
/// the next with no statement between, clang leaves the jump at the position that it wrote last.
pub(crate) fn is_misplaced(flow: &Flow<'_>, block: Block, text: Option<&SourceText>) -> bool {
    let is_label = |e: &Edge| {
        let edge = flow.function.edges.get(*e);
        edge.is_some_and(|e| matches!(e.kind, EdgeKind::Case(_) | EdgeKind::Cases(..) | EdgeKind::Default))
    };
    if flow.cfg.succs(block).iter().any(|&e| flow.cfg.preds(flow.cfg.dst(e)).iter().any(is_label)) {
        return true;
    }
    let Some(last) = flow.function.blocks[block].lines.last() else { return true };
    // A label of a `switch` before another label, behind a jump: `break; case 1: again:`.
    let is_case = |b: Block| flow.function.blocks[b].instructions.total == 1 && flow.cfg.preds(b).iter().all(is_label);
    let same_place = |b: &BlockFacts| b.lines.last().is_some_and(|s| s.at == last.at && s.inlined == last.inlined);
    // clang has written them one behind the other.
    let before = || (0..block.index()).rev().map(Block::new).take_while(|&b| same_place(&flow.function.blocks[b]));
    if is_case(block) && before().any(|b| !is_case(b)) {
        return true;
    }
    if let Some(source) = text.and_then(|t| t.line(last.at.line)) {
        // Statements begin with a word, and with nothing before it that goes on with an expression.
        let column = (last.at.column as usize).saturating_sub(1);
        let (before, rest) = source.as_bytes().split_at_checked(column).unwrap_or_default();
        let is_word = rest.first().is_some_and(|&c| c == b'_' || c.is_ascii_alphabetic() || !c.is_ascii());
        let before = before.trim_ascii_end();
        let begins = before.is_empty() || b";{}):".contains(&before[before.len() - 1]) || before.ends_with(b"else");
        return !is_word || !begins;
    }
    // Without the source: a macro, all of which is at one place, has more there than jumps.
    let same = |s: &LineSpan| s.at == last.at && s.inlined == last.inlined;
    !flow.function.blocks.iter().any(|b| b.instructions.total > 1 && b.lines.iter().any(same))
}

/// The kind of the first edge out of a block.
pub(crate) fn kind_of_exit(flow: &Flow<'_>, block: Block) -> Option<EdgeKind> {
    let first = flow.cfg.succs(block).first()?;
    flow.function.edges.get(*first).map(|e| e.kind)
}
