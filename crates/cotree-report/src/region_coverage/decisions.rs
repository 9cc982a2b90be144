//! The decisions of the coverage map, with what occurred of them.
//!
//! The map has a region for a decision and one for each of its conditions. A condition is of the smallest decision that
//! has its text, in the same file or through macros, and no other condition of its number.

use super::decision::{CountedDecision, DecisionCondition};
use super::functions::CountedFunction;
use super::uses::uses;
use cotree_core::decision::{Decision, Next, Numbering};
use cotree_profile::coverage::{Counter, MappedFunction, Region, RegionKind, VirtualFile};

/// What is known of the decisions of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions {
    /// The decisions, in the order of the map.
    pub decisions: Vec<CountedDecision>,
    /// Decisions of the map that make no sense, and are left out.
    pub unreadable: u64,
}

/// A decision of the map.
struct Mapped<'m> {
    region: &'m Region,
    /// The place of the region in the list of the function.
    index: usize,
    /// Where its vectors end in the bitmap of the function, or where they begin.
    bitmap: u32,
    /// By number.
    conditions: Vec<Option<&'m Region>>,
}

impl CountedFunction<'_> {
    /// The decisions of the function.
    #[must_use]
    pub fn decisions(&self) -> Decisions {
        let mut mapped = mapped(self.function);
        // Before clang 20, places in the bitmap are those of the first vector.
        let begins = mapped.iter().any(|decision| decision.bitmap == 0);
        mapped.retain(|decision| !self.is_excluded_region(decision.index));
        let mut all = Decisions::default();
        for decision in mapped {
            match self.decision(&decision, begins) {
                Some(counted) => all.decisions.push(counted),
                None => all.unreadable += 1,
            }
        }
        all
    }

    fn decision(&self, mapped: &Mapped<'_>, begins: bool) -> Option<CountedDecision> {
        let regions: Vec<&Region> = mapped.conditions.iter().copied().collect::<Option<_>>()?;
        let next = |region: &&Region| match region.kind {
            RegionKind::Condition { if_true, if_false, .. } => {
                let to = |next: Option<u16>, outcome| next.map_or(Next::Made(outcome), Next::Condition);
                Some([to(if_false, false), to(if_true, true)])
            }
            _ => None,
        };
        let mut decision = Decision::new(regions.iter().map(next).collect::<Option<_>>()?).ok()?;
        let numbering: Numbering = decision.numbering()?;
        let first = if begins { mapped.bitmap } else { mapped.bitmap.checked_sub(numbering.vectors)? };
        let MappedFunction { name_hash, structural_hash, .. } = *self.function;
        let opposite = self.map.outcomes.opposite(name_hash, structural_hash, first);
        for &number in opposite.into_iter().flatten() {
            let (condition, outcome) = numbering.last(number)?;
            decision.make(condition, outcome, !outcome);
        }
        // A function that never ran has no counts.
        let counts = match self.vectors.as_slice() {
            [] => &[],
            vectors => vectors.get(first as usize..)?.get(..numbering.vectors as usize)?,
        };
        // Places of conditions in macros tell no order.
        let condition = |&number: &u16| {
            let region = regions[usize::from(number)];
            let (taken, not_taken) = region.kind.counters();
            DecisionCondition {
                number,
                start: region.start,
                end: region.end,
                of_macro: region.file != mapped.region.file,
                constant: taken == Counter::Zero || not_taken == Counter::Zero,
            }
        };
        let VirtualFile(file) = mapped.region.file;
        let used = uses(self.function, self.main_file)[file as usize];
        Some(CountedDecision {
            path: self.path(mapped.region.file).to_owned(),
            symbol: self.function.symbol().to_owned(),
            start: mapped.region.start,
            end: mapped.region.end,
            line: used.unwrap_or(mapped.region.start).line,
            conditions: decision.order().iter().map(condition).collect(),
            // No code was made of functions that nobody uses.
            knows_outcomes: opposite.is_some() && structural_hash != 0,
            table: decision.table(&numbering, counts),
        })
    }
}

/// The decisions of a function with their conditions.
fn mapped(function: &MappedFunction) -> Vec<Mapped<'_>> {
    let mut decisions: Vec<Mapped<'_>> = Vec::new();
    for (index, region) in function.regions.iter().enumerate() {
        if let RegionKind::Decision { bitmap, conditions } = region.kind {
            decisions.push(Mapped { region, index, bitmap, conditions: vec![None; conditions.into()] });
        }
    }
    if decisions.is_empty() {
        return decisions;
    }
    let mut replaced: Vec<Option<&Region>> = vec![None; function.files.len()];
    for region in &function.regions {
        if let RegionKind::Expansion { into, .. } = region.kind {
            replaced[into.0 as usize] = Some(region);
        }
    }
    for region in &function.regions {
        let RegionKind::Condition { number, .. } = region.kind else { continue };
        let takes = |decision: &&mut Mapped<'_>| {
            decision.conditions.get(usize::from(number)).is_some_and(Option::is_none)
                && holds(decision.region, region, &replaced)
        };
        let extent = |region: &Region| (region.end.line - region.start.line, region.end.column);
        let smallest = decisions.iter_mut().filter(takes).min_by_key(|decision| extent(decision.region));
        if let Some(decision) = smallest {
            decision.conditions[usize::from(number)] = Some(region);
        }
    }
    decisions
}

/// Whether a region is in the text of another one, or in what replaces a part of it.
fn holds(outer: &Region, inner: &Region, replaced: &[Option<&Region>]) -> bool {
    let within = |region: &Region| region.file == outer.file && outer.start <= region.start && region.end <= outer.end;
    let above = |region: &&Region| {
        let VirtualFile(file) = region.file;
        replaced[file as usize]
    };
    // A file replaces no region of its own, so that there are no more regions above than files.
    std::iter::successors(Some(inner), above).take(replaced.len() + 1).any(within)
}
