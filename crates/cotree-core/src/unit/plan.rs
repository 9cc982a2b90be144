//! The plan of a link unit.

use super::planner::{Choices, PlanError, Planner, UnitFacts};
use crate::method::counters::unit::plan_redundant;
use crate::method::targets::UnitTargetPlan;
use crate::method::{Method, MethodPlan};
use crate::plan::CounterPlan;

/// The plan of a link unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitPlan {
    /// What is measured.
    pub method: MethodPlan,
    /// With `--verify`: the reference that the same run carries, a counter on every block and every edge
    /// ([`crate::method::counters::block`]). One plan per function.
    pub check: Option<Vec<CounterPlan>>,
    /// Targets of indirect calls are counted as well.
    pub targets: Option<UnitTargetPlan>,
}

impl UnitPlan {
    /// A plan without a reference.
    #[must_use]
    pub fn new(method: MethodPlan) -> Self {
        Self { method, check: None, targets: None }
    }

    /// Plans all functions of a unit, with a reference if that is to be `verified`.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn of(facts: &UnitFacts<'_>, method: Method, choices: Choices, verified: bool) -> Result<Self, PlanError> {
        let planner = Planner::new(facts, choices);
        let check = (verified && !method.is_none()).then(|| plan_redundant(&planner)).transpose()?;
        let counted = choices.targets && method.counts_targets();
        let targets = counted.then(|| UnitTargetPlan::of(facts.program.functions().map(|(_, function)| function)));
        Ok(Self { method: MethodPlan::of_unit(method, &planner)?, check, targets })
    }
}
