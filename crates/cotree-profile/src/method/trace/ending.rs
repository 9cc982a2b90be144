//! Which activations the end of a thread or process took with it. The stream says of each of them that it ends, before
//! it says that the thread does: behind all that, nothing is under way any more.

use cotree_core::ids::{CallId, FunctionId};
use cotree_core::method::trace::Event;

/// An activation that ended with its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The function; `None` if nobody knows which.
    pub function: Option<FunctionId>,
    /// The call that it was in, if it was in one that is told.
    pub call: Option<CallId>,
    /// The instruction at which it was interrupted, if it was.
    pub instruction: Option<u64>,
}

/// Collects the activations that end one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Endings {
    taken: Vec<Taken>,
    /// An interrupted activation that has not ended yet, and those that ended since: what was thought to be on top of
    /// it.
    interrupted: Option<(Taken, Vec<Taken>)>,
}

impl Endings {
    /// Something else happens.
    pub(super) fn clear(&mut self) {
        self.taken.clear();
        self.interrupted = None;
    }

    /// The next event. `function_at` is the function of an instruction; `passes_over` says of a call whether nothing is
    /// written for it.
    pub(super) fn event(
        &mut self,
        event: Event,
        function_at: impl FnOnce(u64) -> Option<FunctionId>,
        passes_over: impl Fn(FunctionId, CallId) -> bool,
    ) {
        match event {
            Event::Interrupted(address) => {
                self.settle();
                let taken = Taken { function: function_at(address), call: None, instruction: Some(address) };
                self.interrupted = Some((taken, Vec::new()));
            }
            Event::Abandoned(function, call) => {
                let taken = Taken { function: Some(function), call, instruction: None };
                let (innermost, around) = match &mut self.interrupted {
                    Some((innermost, _)) if innermost.function == Some(function) => {
                        // What is on top of it has not happened, or is over.
                        self.taken.push(*innermost);
                        self.interrupted = None;
                        return;
                    }
                    Some((_, around)) => (1, around),
                    None => (0, &mut self.taken),
                };
                if call.is_some_and(|call| passes_over(function, call)) {
                    // The thread was in that call, or in what it calls: what seemed to follow it has not happened.
                    around.retain(|taken| taken.instruction.is_some());
                }
                if call.is_some() || innermost + around.len() == 0 {
                    around.push(taken);
                }
            }
            Event::Ended(_) => self.settle(),
            // It follows from the interruption.
            Event::Resumed(_) => {}
            _ => self.clear(),
        }
    }

    /// No more frames come of the stack. An interrupted activation that was not known to have begun is the innermost.
    fn settle(&mut self) {
        if let Some((taken, around)) = self.interrupted.take() {
            self.taken.push(taken);
            self.taken.extend(around);
        }
    }

    /// The activations that ended last, innermost first.
    pub(super) fn finish(mut self) -> Vec<Taken> {
        self.settle();
        self.taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotree_core::method::trace::stream::Ending;

    #[test]
    fn an_interrupted_activation_ends_with_what_is_around_it() {
        let function = |number| FunctionId(number);
        let take = |events: &[Event], at: u32| {
            let mut endings = Endings::default();
            events.iter().for_each(|&event| endings.event(event, |_| Some(function(at)), |_, call| call == CallId(7)));
            endings.finish().iter().map(|taken| (taken.function.map(|f| f.0), taken.instruction)).collect::<Vec<_>>()
        };
        let ends = |number| Event::Abandoned(function(number), None);
        let over = Event::Ended(Ending(1));
        // 7 was thought to be on top of 2, which was interrupted.
        let calls = |number| Event::Abandoned(function(number), Some(CallId(1)));
        let events = [ends(9), Event::Begin(function(2)), Event::Interrupted(5), ends(7), ends(2), calls(1), over];
        assert_eq!(take(&events, 2), [(Some(2), Some(5)), (Some(1), None)]);
        // 7 seemed to follow a call of `strlen` that was under way.
        let inside = [ends(7), Event::Abandoned(function(2), Some(CallId(7))), over];
        assert_eq!(take(&inside, 9), [(Some(2), None)]);
        // Nobody knew that 3 had begun.
        assert_eq!(
            take(&[Event::Interrupted(5), calls(2), calls(1), over], 3),
            [(Some(3), Some(5)), (Some(2), None), (Some(1), None)]
        );
    }
}
