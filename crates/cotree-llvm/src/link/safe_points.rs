//! Puts safe points into the unit, at which it learns that a limit of events is reached
//! ([`cotree_core::method::events::safe_points`]).
//!
//! Where they have to be is known from the facts of all modules. Calls mark them, so the facts are extracted anew. To
//! everything after that a safe point is a call like any other, until it is made conditional (`lower::safe_points`).

use super::callers;
use super::job::Setting;
use super::known_callers::known_callers;
use super::prepared::Prepared;
use crate::lower;
use cotree_core::facts::{Module, ProgramMap};
use cotree_core::ids::Block;
use cotree_core::method::Method;
use cotree_core::method::events::safe_points::safe_points;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Adds the safe points, if limits can be set.
pub(super) fn add(setting: &Setting<'_>, mut modules: Vec<Prepared>) -> Vec<Prepared> {
    let options = setting.options;
    if options.method != Method::Events || !options.events().limits {
        return modules;
    }
    if let Some(job) = setting.link {
        callers::complete(&mut modules, &job.request.modules);
    }
    let known = known_callers(&modules, setting.link.map(|job| &*job.request.modules), &options.foreign);
    let facts =
        |prepared: &Prepared| Module { functions: prepared.extracted.facts.functions.clone(), ..Module::default() };
    let program = ProgramMap { modules: modules.iter().map(facts).collect(), ..ProgramMap::default() };
    // Planning tells of graphs that are none.
    let Ok(points) = safe_points(&program, &known, setting.shared || setting.link.is_none()) else { return modules };
    let mut points = points.into_iter();
    let of_module = |prepared: Prepared| {
        let own: Vec<BTreeSet<Block>> = points.by_ref().take(prepared.extracted.handles.len()).collect();
        (prepared, own)
    };
    let modules: Vec<_> = modules.into_iter().map(of_module).collect();
    let mark = |(Prepared { module, extracted }, points): (Prepared, Vec<BTreeSet<Block>>)| {
        lower::mark_safe_points(&module, &extracted, &points);
        Prepared::of_changed(module, options)
    };
    modules.into_par_iter().map(mark).collect()
}
