//! Sinks: who is told what happens.
//!
//! The engine has the rules, and a sink has a use for what they yield. What a sink does not look at is not even made,
//! as the engine is compiled for each of them.

use super::event::Event;
use std::ops::ControlFlow::{self, Break, Continue};

/// What the engine tells of an execution.
pub(super) trait Sink {
    /// Takes an event. The engine stops behind it if the sink breaks.
    fn event(&mut self, event: Event) -> ControlFlow<()>;

    /// Notes that all events so far have happened for certain.
    fn certain(&mut self) {}

    /// Notes that an access takes this many bytes of the stream. If it is `told`, its event comes next; else it is of
    /// no bytes of memory.
    fn address(&mut self, _bytes: usize, _told: bool) {}
}

/// Takes one event.
#[derive(Default)]
pub(super) struct One(pub Option<Event>);

impl Sink for One {
    fn event(&mut self, event: Event) -> ControlFlow<()> {
        self.0 = Some(event);
        Break(())
    }
}

/// Events that were skipped: counted and not told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many events.
    pub events: u64,
    /// How many of them were blocks.
    pub blocks: u64,
    /// How many told addresses, and in how many bytes.
    pub addresses: (u64, u64),
    /// How many blocks had been skipped when [`super::Checkpoint::certain`] became what it is, if it did meanwhile:
    /// also if the stream says so behind the last event.
    pub certain: Option<u64>,
}

impl Sink for Skipped {
    fn event(&mut self, event: Event) -> ControlFlow<()> {
        // The checkpoint counts events.
        self.blocks += u64::from(matches!(event, Event::Block { .. }));
        Continue(())
    }

    fn certain(&mut self) {
        self.certain = Some(self.blocks);
    }

    fn address(&mut self, bytes: usize, told: bool) {
        self.addresses.0 += u64::from(told);
        self.addresses.1 += bytes as u64;
    }
}

/// Counts events, and stops behind each.
#[derive(Default)]
pub(super) struct EachCounted(pub Skipped);

impl Sink for EachCounted {
    fn event(&mut self, event: Event) -> ControlFlow<()> {
        let _ = self.0.event(event);
        self.0.events += 1;
        Break(())
    }

    fn certain(&mut self) {
        self.0.certain();
    }
}
