//! Which notes a recovered profile has.

use crate::binary::BinaryMap;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use crate::method;
use crate::note::Note;
use crate::unit_profile::UnitProfile;
use cotree_rt::layout::Flags;

/// All notes on a recovered profile.
pub(crate) fn notes(
    profile: &UnitProfile,
    map: &BinaryMap,
    counts: &UnitCounts,
    exits: &UnitExits,
    exits_saturated: bool,
) -> Vec<Note> {
    let flag = |flag: Flags| counts.flags.has(flag);
    let mut notes = Vec::new();
    let mut note = |holds: bool, note: Note| {
        if holds {
            notes.push(note);
        }
    };
    note(!profile.failures.is_empty(), Note::Failed(profile.failures.len() as u64));
    note(counts.runs.cut_off > 0, Note::CutOff(counts.runs.cut_off));
    note(counts.runs.snapshots > 0, Note::Snapshots(counts.runs.snapshots));
    // A library that is unloaded is told that there were some, and not how many.
    note(flag(Flags::THREADS_ALIVE), Note::ThreadsAlive(counts.threads_alive.max(1)));
    note(flag(Flags::THREADS_UNEXPECTED), Note::ThreadsUnexpected);
    note(flag(Flags::THREAD_UNREGISTERED), Note::ThreadUnregistered);
    note(flag(Flags::SLAB_SHARED), Note::SlabShared);
    note(exits.handlers, Note::HandlerUnforeseen);
    note(flag(Flags::FOREIGN_PROCESS), Note::ForeignProcess);
    note(flag(Flags::UNHOOKED), Note::Unhooked);
    note(flag(Flags::WALK_INCOMPLETE), Note::WalkIncomplete);
    note(flag(Flags::FOREIGN_JUMP), Note::ForeignJump);
    note(flag(Flags::THREAD_CANCELLED), Note::ThreadCancelled);
    note(flag(Flags::EARLY_TABLE_FULL), Note::EarlyTableFull);
    note(exits.unknown_total > 0, Note::UnknownExits(exits.unknown_total));
    note(counts.saturated || exits_saturated, Note::Saturated);
    note(flag(Flags::RESET), Note::Reset);
    note(flag(Flags::NOT_MAPPED) && counts.runs.cut_off > 0, Note::NotMapped);
    method::notes(&map.plan.method, counts.flags).for_each(|of_method| note(true, Note::Method(of_method)));
    let runs = counts.runs.total();
    note(counts.weight != runs, Note::Weighted { weight: counts.weight, runs });
    notes
}
