//! What files say of what a profile could not tell.

use crate::costs::Costs;
use crate::explain;
use crate::terminal::counted;

/// What a reader of a file must know.
pub(super) fn remarks(costs: &Costs<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    for unit in costs.units {
        remarks.extend(unit.profile.notes.iter().map(explain::note_line));
    }
    if costs.missing {
        remarks.push("NOT ALL EXACT: the trace does not have the whole execution".to_owned());
    }
    if !costs.sums_exact() {
        remarks.push("NOT ALL EXACT: what each function and call had cannot be vouched for".to_owned());
    }
    let doubtful = costs.doubtful();
    if doubtful > 0 {
        remarks.push(format!("NOT ALL EXACT: {} cannot be vouched for", counted(doubtful as u128, "function")));
    }
    remarks
}

/// What stacks mean, for files with stacks.
pub(super) fn meaning_of_stacks(costs: &Costs<'_>) -> &'static str {
    match costs.traced {
        Some(_) => "Stacks are those of the execution; activations of a recursive function are one frame.",
        None => {
            "A frame is a function that is known to be under way; [several callers] stands for functions of which it is not known which was. Nothing is apportioned."
        }
    }
}
