//! What a run has done in all, whatever its profile counts.

use super::{Cost, Costs};
use crate::explain;
use crate::functions::Vouched;
use crate::method;
use crate::terminal::counted;
use crate::unit::{Unit, counting_every_turn};
use cotree_core::facts::events::EventKind;
use cotree_core::profile::Flaw;

/// The totals of some units.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// By kind, of units whose blocks or events are counted.
    events: Option<Cost>,
    /// What the method of other units counts, by unit method counts.
    others: Vec<(String, u128)>,
    remarks: Vec<String>,
}

impl Totals {
    /// Adds up units.
    #[must_use]
    pub fn new(units: &[Unit<'_>]) -> Self {
        let mut totals = Self::default();
        for unit in units {
            let method = unit.profile.method.method();
            let promises = method.promises();
            // What traces count is known when they are read.
            if promises.blocks || unit.profile.functions.iter().any(Option::is_some) {
                let cost = Costs::new(std::slice::from_ref(unit)).total();
                *totals.events.get_or_insert_default() += cost;
            } else if let Some(events) = method::event_totals(unit) {
                *totals.events.get_or_insert_default() += events;
            } else if !method.is_none() {
                let (title, amount, _) = method::totals::total(unit, unit.functions());
                match totals.others.iter_mut().find(|(known, _)| known == title) {
                    Some((_, sum)) => *sum += amount,
                    None => totals.others.push((title.to_owned(), amount)),
                }
            }
            totals.remarks.extend(unit.profile.notes.iter().map(explain::note_line));
            if !unit.profile.exact() {
                let functions = counted(u128::from(Vouched::of_unit(unit).doubtful), "function");
                let name = &unit.map.program.name;
                totals.remarks.push(format!(
                    "not all exact: {functions} of {name} cannot be vouched for (`cotree report` says why)"
                ));
                if unit.functions().any(|function| function.flaws().contains(&Flaw::LoopsUnderWay)) {
                    totals.remarks.push(format!(
                        "all that loops under way had counted may be missing: build with {} to have every turn \
                         counted in memory",
                        counting_every_turn(method)
                    ));
                }
            }
        }
        totals.remarks.dedup();
        totals
    }

    /// Titles and amounts of these kinds of events; without any, of all that happened.
    #[must_use]
    pub fn rows(&self, kinds: &[EventKind]) -> Vec<(&str, u128)> {
        let all = kinds.is_empty();
        let kinds = if all { &EventKind::ALL } else { kinds };
        let of_kind = |&kind: &EventKind| self.events.map(|events| (kind.title(), events.of(kind)));
        let others = self.others.iter().map(|(title, amount)| (title.as_str(), *amount));
        kinds.iter().filter_map(of_kind).filter(|&(_, amount)| amount > 0 || !all).chain(others).collect()
    }

    /// By kind of events; `None` if a unit counts neither blocks nor events: the sum of others is not the whole.
    #[must_use]
    pub fn events(&self) -> Option<Cost> {
        self.events.filter(|_| self.others.is_empty())
    }

    /// Is nothing counted at all?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_none_or(|events| events.is_none()) && self.others.is_empty()
    }

    /// What a reader must know.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
