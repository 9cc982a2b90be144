//! Targets of indirect calls: which functions each call through a pointer has called, and how often.
//!
//! This is no method of its own: it goes with counters of blocks and edges. They know how often a call was made; what
//! is here is whom it led to, all of it and not the first few as in the value profiles of other compilers. Each site
//! has four words of the slab: the address that was looked up last and where it is counted, and the same of the address
//! before that. Another address is looked up by the runtime in the table that path profiles have, under the site's
//! number and the address as it was linked.

use crate::facts::{Callee, Function};
use crate::ids::{CallId, FunctionId};
use crate::slab::Words;

/// How many addresses a site knows the counts of.
pub const KNOWN_TARGETS: u32 = 2;

/// The indirect calls of a link unit whose targets are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitTargetPlan {
    /// Per function, in the order of [`crate::facts::ProgramMap::functions`]: its indirect calls.
    functions: Vec<Vec<CallId>>,
    /// Per function, the number of its first site in the unit; one more at the end.
    first: Vec<u32>,
    /// See [`Self::known`].
    known: u32,
}

impl UnitTargetPlan {
    /// Takes all indirect calls of functions that are measured.
    #[must_use]
    pub fn of<'a>(functions: impl IntoIterator<Item = &'a Function>) -> Self {
        let functions: Vec<Vec<CallId>> = functions.into_iter().map(sites).collect();
        let mut first = vec![0u32];
        for sites in &functions {
            let last = first.last().copied().unwrap_or(0);
            first.push(last.saturating_add(u32::try_from(sites.len()).unwrap_or(u32::MAX)));
        }
        Self { functions, first, known: KNOWN_TARGETS }
    }

    /// As in a program where each site knows the counts of so many addresses.
    #[must_use]
    pub fn with_known(self, known: u32) -> Self {
        Self { known, ..self }
    }

    /// How many addresses a site knows the counts of: [`KNOWN_TARGETS`], and one in programs of earlier versions.
    #[must_use]
    pub fn known(&self) -> u32 {
        self.known
    }

    /// Words of the slab per site.
    #[must_use]
    pub fn words(&self) -> u64 {
        2 * u64::from(self.known)
    }

    /// How many sites there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.first.last().copied().unwrap_or(0)
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sites of a function with their numbers in the unit.
    pub fn sites(&self, function: FunctionId) -> impl Iterator<Item = (u32, CallId)> + '_ {
        let first = self.first.get(function.index()).copied().unwrap_or(0);
        (first..).zip(self.functions.get(function.index()).into_iter().flatten().copied())
    }

    /// Allocates the words of all sites and returns the first. The words of a site are in one page.
    pub(crate) fn lay_out(&self, words: &mut Words) -> u64 {
        words.end_counters();
        words.take((u64::from(self.len()) + 1) * self.words() - 1).next_multiple_of(self.words())
    }
}

/// The indirect calls of a function.
pub fn indirect_calls(function: &Function) -> impl Iterator<Item = CallId> {
    function.calls.numbered().filter(|(_, call)| call.callee == Callee::Indirect).map(|(call, _)| call)
}

/// The indirect calls of a function, if it is measured.
fn sites(function: &Function) -> Vec<CallId> {
    if function.untouched.is_some() { Vec::new() } else { indirect_calls(function).collect() }
}

/// Whom one indirect call has called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteTargets {
    /// The call.
    pub call: CallId,
    /// Functions of the unit and how often each was called; the hottest first, of equals the first in the unit.
    pub functions: Vec<(FunctionId, u64)>,
    /// Calls of code that is no function of the unit: of shared libraries, or of objects that were compiled otherwise.
    pub others: u64,
}

impl SiteTargets {
    /// All calls that were counted; a sum that does not fit saturates.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.functions.iter().fold(self.others, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Adds calls of a function.
    pub fn add(&mut self, function: FunctionId, count: u64) {
        match self.functions.iter_mut().find(|(known, _)| *known == function) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => self.functions.push((function, count)),
        }
    }

    /// Puts the hottest first.
    pub fn sort(&mut self) {
        self.functions.sort_by_key(|&(function, count)| (std::cmp::Reverse(count), function));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Call, Untouched};
    use crate::ids::Block;

    fn function(callees: &[Callee]) -> Function {
        let calls = callees.iter().map(|callee| Call::site(Block(0), callee.clone()));
        Function { calls: calls.collect(), ..Function::default() }
    }

    #[test]
    fn sites_are_numbered_through_the_unit() {
        let named = Callee::Symbol("f".into());
        let functions = [
            function(&[named.clone(), Callee::Indirect, Callee::Assembly, Callee::Indirect]),
            Function { untouched: Some(Untouched::Excluded), ..function(&[Callee::Indirect]) },
            function(&[Callee::Indirect, named]),
        ];
        let plan = UnitTargetPlan::of(&functions);
        let of = |f| plan.sites(FunctionId(f)).collect::<Vec<_>>();
        assert_eq!([of(0), of(1), of(2)], [vec![(0, CallId(1)), (1, CallId(3))], vec![], vec![(2, CallId(0))]]);
        assert_eq!(plan.len(), 3);
        for (known, own) in [(KNOWN_TARGETS, 15), (1, 7)] {
            let mut words = Words::default();
            words.take(3);
            assert_eq!(plan.clone().with_known(known).lay_out(&mut words), 4);
            assert_eq!((words.counter_count(), words.own_count()), (3, own));
        }
    }

    #[test]
    fn targets_add_up() {
        let mut site = SiteTargets { others: 2, ..SiteTargets::default() };
        for (function, count) in [(4, 1), (2, 5), (4, 4), (1, 7)] {
            site.add(FunctionId(function), count);
        }
        site.sort();
        assert_eq!(site.functions, [(FunctionId(1), 7), (FunctionId(2), 5), (FunctionId(4), 5)]);
        assert_eq!(site.total(), 19);
    }
}
