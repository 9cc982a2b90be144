//! Sets of kinds of events.

use crate::facts::events::EventKind;
use std::fmt;

/// Which kinds of events are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventKinds(u64);

/// Instructions.
impl Default for EventKinds {
    fn default() -> Self {
        [EventKind::Instructions].into_iter().collect()
    }
}

impl EventKinds {
    /// In the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL.into_iter().filter(move |&kind| self.contains(kind))
    }

    /// Is it one of them?
    #[must_use]
    pub const fn contains(self, kind: EventKind) -> bool {
        self.0 >> kind.number() & 1 == 1
    }

    /// The kinds that a list of names means: `loads,stores`.
    ///
    /// # Errors
    /// The first name that is none of a kind.
    pub fn parse(names: &str) -> Result<Self, &str> {
        names.split(',').map(|name| EventKind::of_name(name.trim()).ok_or(name)).collect()
    }

    /// All names, as a sentence lists them.
    #[must_use]
    pub fn all_names() -> String {
        EventKind::ALL.map(EventKind::name).join(", ")
    }
}

/// The names, with commas between, as [`EventKinds::parse`] reads them.
impl fmt::Display for EventKinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(EventKind::name).collect();
        f.write_str(&names.join(","))
    }
}

impl FromIterator<EventKind> for EventKinds {
    fn from_iter<T: IntoIterator<Item = EventKind>>(kinds: T) -> Self {
        Self(kinds.into_iter().fold(0, |set, kind| set | 1 << kind.number()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_make_sets() {
        let parsed = EventKinds::parse("stores,loads, stores").expect("all are names");
        assert_eq!(parsed.iter().collect::<Vec<_>>(), [EventKind::Loads, EventKind::Stores]);
        assert_eq!(EventKinds::parse("loads,seconds"), Err("seconds"));
        assert_eq!(EventKinds::default().iter().collect::<Vec<_>>(), [EventKind::Instructions]);
    }
}
