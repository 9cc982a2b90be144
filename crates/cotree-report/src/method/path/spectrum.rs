//! Path spectra: the paths that only one of two runs took, each beside the nearest one of the other run.
//!
//! Paths with a common beginning have neighbouring numbers. So of the other run's paths, sorted by number, the one
//! that shares the longest beginning with a path is its direct predecessor or successor.

use super::{Executed, PathUnit, Paths};
use cotree_core::ids::{Block, FunctionId};

/// Where a path leaves the nearest one of the other run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The number of the other path.
    pub number: u64,
    /// How often that one ran.
    pub count: u64,
    /// The block at whose end they part.
    pub at: Block,
    /// Where this path goes from there; `None` if it leaves the function.
    pub here: Option<Block>,
    /// Where the other one goes.
    pub there: Option<Block>,
    /// The paths part in the context, before the path itself begins.
    pub in_context: bool,
}

/// A path that only one run took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    /// The path.
    pub executed: Executed,
    /// The nearest path of the other run that begins at the same place.
    pub nearest: Option<Fork>,
}

/// One function of two runs, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spectrum {
    /// The function.
    pub index: FunctionId,
    /// Paths that both took.
    pub common: u64,
    /// Paths that only the run before took, by instructions.
    pub gone: Vec<Only>,
    /// Paths that only the run after took, by instructions.
    pub new: Vec<Only>,
}

/// The functions of two runs of one build whose spectra differ.
#[must_use]
pub fn compare(before: &PathUnit<'_>, after: &PathUnit<'_>, wanted: impl Fn(&str) -> bool) -> Vec<Spectrum> {
    let mut found = Vec::new();
    let mut others = after.functions().iter().peekable();
    for a in before.functions() {
        while others.peek().is_some_and(|b| b.function.index < a.function.index) {
            others.next();
        }
        let Some(b) = others.peek().filter(|b| b.function.index == a.function.index) else { continue };
        let numbers = |paths: &[(u64, u64)]| paths.iter().map(|p| p.0).collect::<Vec<u64>>();
        if !wanted(&a.function.facts.symbol) || numbers(&a.profile.paths) == numbers(&b.profile.paths) {
            continue;
        }
        let (Some(a), Some(b)) = (a.numbered(), b.numbered()) else { continue };
        let (gone, new) = (only(&a, &b), only(&b, &a));
        let common = (a.of.profile.paths.len() - gone.len()) as u64;
        found.push(Spectrum { index: a.of.function.index, common, gone, new });
    }
    found
}

/// The paths that the first took and the second did not.
fn only(these: &Paths<'_>, those: &Paths<'_>) -> Vec<Only> {
    let there = &those.of.profile.paths;
    let mut found: Vec<Only> = these
        .executed()
        .filter_map(|executed| {
            let next = there.binary_search_by_key(&executed.number, |p| p.0).err()?;
            let neighbours = [next.checked_sub(1), Some(next)].into_iter().flatten().filter_map(|i| there.get(i));
            let nearest = neighbours.filter_map(|&(number, count)| fork(these, executed.number, number, count));
            let nearest = nearest.max_by_key(|&(shared, _)| shared).map(|(_, fork)| fork);
            Some(Only { executed, nearest })
        })
        .collect();
    found.sort_by_key(|o| std::cmp::Reverse((o.executed.executed(), o.executed.count)));
    found
}

/// Where two paths part, with the length of what they share; `None` if they do not even begin together.
fn fork(paths: &Paths<'_>, this: u64, other: u64, count: u64) -> Option<(usize, Fork)> {
    let (a, b) = (paths.numbering.arcs(this)?, paths.numbering.arcs(other)?);
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return None;
    }
    let begun = paths.numbering.path_along(&paths.cfg, &a[..shared]);
    let (a, b) = (paths.path(this)?, paths.path(other)?);
    let at = *begun.blocks.last()?;
    let steps = begun.context.len() + begun.edges.len();
    let next = |path: &cotree_core::method::path::Path| {
        let edge = path.context.iter().chain(&path.edges).nth(steps)?;
        let block = paths.cfg.dst(*edge);
        (block != paths.cfg.exit()).then_some(block)
    };
    let fork = Fork { number: other, count, at, here: next(&a), there: next(&b), in_context: steps < a.context.len() };
    Some((shared, fork))
}
