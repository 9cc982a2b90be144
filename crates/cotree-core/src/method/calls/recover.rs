//! Counts of calls from counters. The key and the counts come from files, so neither is trusted.

use super::CallKey;
use crate::facts::Function;
use crate::ids::CallId;
use crate::profile::Flaw;

/// How often the calls of one function were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallProfile {
    /// Per call, how often it was made; `None` where it is not counted.
    pub calls: Vec<Option<u64>>,
    /// Empty: every number above is exact.
    pub flaws: Vec<Flaw>,
}

/// Why counts can't be turned into a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Another number of counts than of counters.
    #[error("the plan has {expected} counters, but there are {found} counts")]
    CounterMismatch {
        /// Counters of the plan.
        expected: usize,
        /// Counts at hand.
        found: usize,
    },
    /// A counter counts a call that does not exist, or that another one counts.
    #[error("counter {0} counts {1}, which the function does not have or another counter counts")]
    UnknownCall(usize, CallId),
}

/// Recovers the counts of one function.
///
/// # Errors
/// See [`CallError`].
pub fn recover(function: &Function, key: &CallKey, counts: &[u64]) -> Result<CallProfile, CallError> {
    if counts.len() != key.counted.len() {
        return Err(CallError::CounterMismatch { expected: key.counted.len(), found: counts.len() });
    }
    let mut calls = vec![None; function.calls.len()];
    for (counter, (&call, &count)) in key.counted.iter().zip(counts).enumerate() {
        let slot = calls.get_mut(call.index()).filter(|slot| slot.is_none());
        *slot.ok_or(CallError::UnknownCall(counter, call))? = Some(count);
    }
    Ok(CallProfile { calls, flaws: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Call, Callee, Untouched};
    use crate::ids::Block;
    use crate::method::calls::plan;

    /// A call that returns, a call site, a mark before a `resume`, and a call that leaves no frame.
    fn function() -> Function {
        let site = || Call::site(Block(0), Callee::Symbol("f".into()));
        let plain = || Call { is_site: false, ..site() };
        let calls =
            [plain(), site(), Call { resume_marker: true, ..site() }, Call { must_tail: true, ..plain() }].into_iter();
        Function { calls: calls.collect(), ..Function::default() }
    }

    #[test]
    fn every_call_but_marks_has_a_counter() {
        let function = function();
        let key = plan(&function).key;
        assert_eq!(key.counted, [0, 1, 3].map(CallId));
        let profile = recover(&function, &key, &[7, 0, u64::MAX]).unwrap();
        assert_eq!(profile.calls, [Some(7), Some(0), None, Some(u64::MAX)]);
    }

    #[test]
    fn functions_without_probes_have_no_counters() {
        let function = Function { untouched: Some(Untouched::Excluded), ..function() };
        assert_eq!(plan(&function), Default::default());
        assert_eq!(recover(&function, &CallKey::default(), &[]).unwrap().calls, [None; 4]);
    }

    #[test]
    fn nothing_is_trusted() {
        let key = |calls: &[u32]| CallKey { counted: calls.iter().copied().map(CallId).collect() };
        let error = |key: &CallKey, counts: &[u64]| recover(&function(), key, counts).unwrap_err();
        assert_eq!(error(&key(&[0, 1]), &[1]), CallError::CounterMismatch { expected: 2, found: 1 });
        assert_eq!(error(&key(&[0, 4]), &[1, 1]), CallError::UnknownCall(1, CallId(4)));
        assert_eq!(error(&key(&[1, 1]), &[1, 1]), CallError::UnknownCall(1, CallId(1)));
    }
}
