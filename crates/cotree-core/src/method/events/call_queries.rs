//! Which calls the program asks about while it runs: what those on a line of the source have led to so far.
//!
//! Such a call has a sum of its outermost activations in each thread's slab, also if it is not recursive
//! ([`super::call_sums`]). The word beside that sum says whether the call is under way, and whoever ends the call early
//! adds what is missing to the sum at once. So the sum is true at any time: as it is if the word says that no call is
//! under way, and with the thread's counter added if one is.
//!
//! A line may have several calls, and copies of them in other functions and modules. The answer is the sum of all. A
//! call that leads to nothing that is measured adds nothing, and neither does one that returns twice (`setjmp`).

use super::UnitEventPlan;
use super::call_sums::counters;
use super::reach::CallGraph;
use crate::facts::ProgramMap;
use crate::ids::{CallId, FunctionId, Word};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A call by which the program asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallQuery {
    /// The function that asks.
    pub function: FunctionId,
    /// The call.
    pub call: CallId,
    /// The line, in the file in which the call stands; `None`: that is not known before the program runs.
    pub line: Option<u32>,
}

/// A call whose line the compiler has lost, as it does when it makes one of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnplacedCall {
    /// The function that makes it.
    pub function: FunctionId,
    /// The call.
    pub call: CallId,
    /// The function of the source in which it stood.
    pub of: String,
}

/// What the program asks for, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallQueries {
    /// For each query, the number of its line.
    pub line_of: Vec<usize>,
    /// For each line, the calls there that lead to anything.
    pub calls: Vec<BTreeSet<(FunctionId, CallId)>>,
    /// Functions of the source with calls on such lines, and with others whose lines are lost; in order.
    pub unsure: BTreeSet<String>,
}

/// Why a query can't be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallQueryError {
    /// What is asked is not known before the program runs.
    #[error(
        "its arguments are no constants when the program is linked: write a constant kind and line into the call itself"
    )]
    NotConstant,
    /// No debug information.
    #[error("it is not known in which file it stands: compile with -g or -gline-tables-only")]
    NoFile,
    /// Nothing on the line is a call.
    #[error(
        "line {line} has no call that leads to code which is measured: the compiler may have removed or merged it, or the line is \
         another"
    )]
    NoCall {
        /// The line.
        line: u32,
    },
    /// All calls on the line are inlined.
    #[error(
        "the call on line {line} is inlined into {function}, and what it led to cannot be told apart there: keep its callee from being \
         inlined (__attribute__((noinline)), #[inline(never)])"
    )]
    Inlined {
        /// The line.
        line: u32,
        /// The function.
        function: String,
    },
    /// A call on the line takes its caller's place.
    #[error(
        "a call on line {line}, in {function}, takes the place of its caller (musttail), and is not measured: ask for another one"
    )]
    TailCall {
        /// The line.
        line: u32,
        /// The function.
        function: String,
    },
    /// A call on the line has no probes around it.
    #[error(
        "a call on line {line} stands in {function}, which is not profiled: profile that function, or ask for another call"
    )]
    NotProfiled {
        /// The line.
        line: u32,
        /// The function.
        function: String,
    },
}

impl CallQueries {
    /// Finds what is asked for.
    ///
    /// # Errors
    /// A query that can't be answered, and why.
    pub fn find(
        program: &ProgramMap,
        preemptible: bool,
        queries: &[CallQuery],
        unplaced: &[UnplacedCall],
    ) -> Result<Self, (CallQuery, CallQueryError)> {
        let graph = CallGraph::new(program, preemptible);
        let files: Vec<String> = program.files.iter().map(|path| plain(path)).collect();
        let asking: HashSet<(FunctionId, CallId)> = queries.iter().map(|query| (query.function, query.call)).collect();
        let mut lines: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        let mut found = Self::default();
        for query in queries {
            let failed = |error| (*query, error);
            let line = query.line.ok_or(failed(CallQueryError::NotConstant))?;
            let (_, function) = graph.functions[query.function.index()];
            let position = function.call_position(query.call).ok_or(failed(CallQueryError::NoFile))?;
            let next = lines.len();
            let number = *lines.entry((&files[position.file as usize], line)).or_insert(next);
            found.line_of.push(number);
        }
        found.calls = vec![BTreeSet::new(); lines.len()];
        let mut sources: BTreeSet<&str> = BTreeSet::new();
        let first_of = |number| found.line_of.iter().position(|&of| of == number).map(|first| queries[first]);
        for (number, (_, function)) in graph.functions.iter().enumerate() {
            let id = FunctionId::new(number);
            for (call, facts) in function.calls.numbered() {
                let Some(at) = function.call_position(call) else { continue };
                let Some(&asked) = lines.get(&(files[at.file as usize].as_str(), at.line)) else { continue };
                let entered = graph.entered(number, facts);
                let leads_nowhere = facts.is_marker() || (entered.functions.is_empty() && !entered.unknown);
                if leads_nowhere || facts.returns_twice || asking.contains(&(id, call)) {
                    continue;
                }
                let (line, function_name) = (at.line, || function.symbol.clone());
                let error = match (facts.must_tail, function.untouched) {
                    (true, _) => Some(CallQueryError::TailCall { line, function: function_name() }),
                    (_, Some(_)) => Some(CallQueryError::NotProfiled { line, function: function_name() }),
                    _ => None,
                };
                if let (Some(error), Some(query)) = (error, first_of(asked)) {
                    return Err((query, error));
                }
                found.calls[asked].insert((id, call));
                let inlined = function.line_span(facts).and_then(|span| span.inlined);
                let copy = inlined.and_then(|inlined| function.inlined.get(inlined as usize));
                sources.insert(copy.map_or(&function.symbol, |copy| &copy.symbol));
            }
        }
        for (&(file, line), &number) in &lines {
            if let (true, Some(query)) = (found.calls[number].is_empty(), first_of(number)) {
                let inlined = graph.functions.iter().find(|(_, function)| {
                    let mut calls = function.inlined.iter().filter_map(|copy| copy.call);
                    calls.any(|at| at.line == line && files[at.file as usize] == file)
                });
                let error = match inlined {
                    Some((_, function)) => CallQueryError::Inlined { line, function: function.symbol.clone() },
                    None => CallQueryError::NoCall { line },
                };
                return Err((query, error));
            }
        }
        let counts = |call: &&UnplacedCall| {
            let (_, function) = graph.functions[call.function.index()];
            let facts = &function.calls[call.call];
            let entered = graph.entered(call.function.index(), facts);
            let leads = !facts.is_marker() && (entered.unknown || !entered.functions.is_empty());
            leads
                && !facts.no_return
                && sources.contains(call.of.as_str())
                && !asking.contains(&(call.function, call.call))
        };
        found.unsure = unplaced.iter().filter(counts).map(|call| call.of.clone()).collect();
        Ok(found)
    }

    /// The calls that are asked for, by function.
    #[must_use]
    pub fn by_function(&self, functions: usize) -> Vec<BTreeSet<CallId>> {
        let mut calls = vec![BTreeSet::new(); functions];
        for &(function, call) in self.calls.iter().flatten() {
            calls[function.index()].insert(call);
        }
        calls
    }

    /// For each line, the words that belong to its calls; `None` if the plan does not measure them all.
    #[must_use]
    pub fn words(&self, plan: &UnitEventPlan) -> Option<Vec<Vec<Word>>> {
        let (counters, _) = counters(&plan.functions, plan.kinds.len());
        let word = |&(function, call): &(FunctionId, CallId)| {
            let outermost = counters.get(function.index())?.outermost_calls.get(call.index())?;
            outermost.map(|counters| counters.word)
        };
        self.calls.iter().map(|calls| calls.iter().map(word).collect()).collect()
    }
}

/// A path without parts that mean nothing, as includes leave them: `a/./b/../c.h` is `a/c.h`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|&last| last != "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn paths_that_lead_to_one_file_are_one() {
        for (path, same) in [
            ("/a/./b//c.h", "/a/b/c.h"),
            ("/a/x/../b/c.h", "/a/b/c.h"),
            ("./c.h", "c.h"),
            ("../../c.h", "../../c.h"),
            ("a/../../c.h", "../c.h"),
        ] {
            assert_eq!(plain(path), same, "{path}");
        }
    }
}
