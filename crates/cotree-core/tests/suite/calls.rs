//! Counts of calls against the truth, on random programs that end early, jump, throw, fork and have several threads.

use crate::programs::{Life, programs, programs_of_llvm};
use cotree_core::ids::{CallId, FunctionId};
use cotree_core::interpret::Outcome;
use cotree_core::method::calls::{CallPlan, plan, recover};
use proptest::prelude::*;

fn lives() -> impl Strategy<Value = Life> {
    (1..4usize, any::<bool>(), any::<bool>()).prop_map(|(threads, signals, jumps_anywhere)| Life {
        threads,
        signals,
        jumps_anywhere,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// A call that was begun counts, however its activation ends.
    #[test]
    fn counts_are_the_truth((program, seed) in prop_oneof![programs(), programs_of_llvm()], life in lives()) {
        let Some(script) = program.script(seed, life) else { return Ok(()) };
        let plans: Vec<CallPlan> = program.functions.iter().map(plan).collect();
        let outcome: Outcome = program.process().with_plans(&plans).run(&script).unwrap();
        for ((number, function), plan) in program.functions.iter().enumerate().zip(&plans) {
            let counts = outcome.counts(FunctionId::new(number)).counters;
            let profile = recover(function, &plan.key, &counts).unwrap();
            prop_assert!(profile.flaws.is_empty());
            let truth = &outcome.truth.functions[number].calls;
            for (call, count) in profile.calls.iter().enumerate() {
                let is_mark = function.calls[CallId::new(call)].resume_marker;
                prop_assert_eq!(*count, (!is_mark).then_some(truth[CallId::new(call)]), "call {} of function {}", call, number);
            }
        }
    }
}
