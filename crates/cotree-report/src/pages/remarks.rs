//! What is said of counts: a sentence, and the code under which `cotree explain` tells more.

use crate::explain::{self, GROUPS};
use crate::unit::{flaw_reason, untouched_reason};
use cotree_core::facts::Untouched;
use cotree_core::profile::Flaw;
use cotree_profile::recover::Note;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A sentence, and its code.
#[derive(Serialize)]
pub(super) struct Remark(Cow<'static, str>, Option<&'static str>);

impl Remark {
    /// A sentence that says all.
    pub(super) fn without_code(sentence: &'static str) -> Self {
        Self(sentence.into(), None)
    }
}

/// Why counts are not vouched for.
pub(super) fn flaw(flaw: Flaw) -> Remark {
    Remark(flaw_reason(flaw).into(), Some(explain::of_flaw(flaw).code))
}

/// Why there are no counts.
pub(super) fn untouched(untouched: Untouched) -> Remark {
    Remark(untouched_reason(untouched).into(), Some(explain::of_untouched(untouched).code))
}

/// What there is to say of the runs.
pub(super) fn note(note: &Note) -> Remark {
    Remark(note.to_string().into(), Some(explain::of_note(note).code))
}

/// Explanations of codes: why, what to do, and what is still true.
pub(super) type Explanations = BTreeMap<&'static str, [&'static str; 3]>;

/// All explanations that belong to profiles.
pub(super) fn explanations() -> Explanations {
    let of_profiles = GROUPS.iter().filter(|group| group.of_profiles).flat_map(|group| group.explanations);
    of_profiles.map(|found| (found.code, [found.why, found.remedy, found.trusted])).collect()
}
