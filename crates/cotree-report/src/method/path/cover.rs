//! How much of one run's paths another run took too (Ball & Larus 1996, §7, Table 3): would a short training run have
//! shown the paths that matter?

use super::{Executed, PathUnit, Paths};

/// The paths that two runs have in common, weighted by the counts of the first run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// Paths that ran.
    pub paths: u64,
    /// Paths that ran in the other run too.
    pub paths_common: u64,
    /// Paths that ran in the other run only.
    pub only_there: u64,
    /// Executions.
    pub executions: u128,
    /// Executions of common paths.
    pub executions_common: u128,
    /// Instructions in paths.
    pub instructions: u128,
    /// Instructions in common paths.
    pub instructions_common: u128,
}

impl Common {
    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.paths += other.paths;
        self.paths_common += other.paths_common;
        self.only_there += other.only_there;
        self.executions += other.executions;
        self.executions_common += other.executions_common;
        self.instructions += other.instructions;
        self.instructions_common += other.instructions_common;
    }

    /// Instructions in paths that the other run did not take.
    #[must_use]
    pub fn missed(&self) -> u128 {
        self.instructions - self.instructions_common
    }
}

/// One function of two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The place of the function in [`PathUnit::functions`].
    pub function: usize,
    /// What is common.
    pub common: Common,
    /// Paths that the other run did not take, with counts, by number.
    pub missed: Vec<(u64, u64)>,
}

/// Compares all wanted functions that ran in either run. Both units are of one build.
#[must_use]
pub fn compare(run: &PathUnit<'_>, other: &PathUnit<'_>, wanted: impl Fn(&str) -> bool) -> Vec<Covered> {
    let mut others = other.functions().iter().peekable();
    let mut found = Vec::new();
    for (function, of) in run.functions().iter().enumerate() {
        let index = of.function.index;
        while others.peek().is_some_and(|o| o.function.index < index) {
            others.next();
        }
        let there = others.peek().filter(|o| o.function.index == index).map_or(&[][..], |o| &o.profile.paths);
        if !wanted(&of.function.facts.symbol) || (of.profile.paths.is_empty() && there.is_empty()) {
            continue;
        }
        found.extend(of.numbered().map(|paths| covered(function, &paths, there)));
    }
    found
}

fn covered(function: usize, paths: &Paths<'_>, there: &[(u64, u64)]) -> Covered {
    let ran_there = |number: u64| there.binary_search_by_key(&number, |p| p.0).is_ok();
    let mut covered = Covered { function, common: Common::default(), missed: Vec::new() };
    let common = &mut covered.common;
    for executed @ Executed { number, count, .. } in paths.executed() {
        common.paths += 1;
        common.executions += u128::from(count);
        common.instructions += executed.executed();
        if ran_there(number) {
            common.paths_common += 1;
            common.executions_common += u128::from(count);
            common.instructions_common += executed.executed();
        } else {
            covered.missed.push((number, count));
        }
    }
    common.only_there = there.len() as u64 - common.paths_common;
    covered
}
