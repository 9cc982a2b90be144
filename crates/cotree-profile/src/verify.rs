//! Checks a profile against its reference: binaries built with `--verify` carry the counters of two methods, the
//! chosen one and [`CounterMethod::Block`], and the same run feeds both.
//!
//! Counts of blocks and edges are compared one by one. Of a method that counts events, the totals are compared with
//! what the reference's blocks have had. Where events are told of each function and call, so are the events and the
//! entries of each function, and how often each call was made. Of a call profile, each call is compared with how often
//! its block got to it.

use crate::binary::BinaryFile;
use crate::counts::UnitCounts;
use crate::exits::UnitExits;
use crate::file::ProfileFile;
use crate::method::counters::recover_alone;
use crate::method::{MethodProfile, event_totals};
use crate::recover::{UnitError, UnitProfile, check_counts, functions, recover, recover_with_file};
use cotree_core::facts::Function;
use cotree_core::facts::events::EventKind;
use cotree_core::ids::{Block, CallId, Edge, FunctionId};
use cotree_core::method::calls::CallProfile;
use cotree_core::method::counters::CounterMethod;
use cotree_core::place::supergraph::executions;
use cotree_core::profile::{EarlyExits, FunctionProfile};

/// The number on which the two methods disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The number of activations.
    Entries,
    /// A block's count.
    Block(Block),
    /// An edge's count.
    Edge(Edge),
    /// How many events of a kind the function had itself, or the whole unit.
    Events(EventKind),
    /// How often a call was made.
    Call(CallId),
    /// One of them could not be recovered at all.
    Whole,
}

/// One disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The function; `None` for what only the whole unit has.
    pub function: Option<FunctionId>,
    /// About what.
    pub subject: Subject,
    /// What the chosen method says.
    pub recovered: u64,
    /// What the reference says.
    pub reference: u64,
    /// The profile itself says that it does not vouch for this function, or for some function if it is about the whole
    /// unit.
    pub declared: bool,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verification {
    /// Functions compared.
    pub functions: u64,
    /// Block counts compared.
    pub blocks: u64,
    /// Edge counts compared.
    pub edges: u64,
    /// Kinds of events compared.
    pub events: u64,
    /// Numbers of calls compared.
    pub calls: u64,
    /// Functions that the profile does not vouch for.
    pub flawed: u64,
    /// The disagreements.
    pub mismatches: Vec<Mismatch>,
}

impl Verification {
    /// Compares what the profile says with what the reference says.
    fn compare(&mut self, function: Option<FunctionId>, subject: Subject, values: [u64; 2], declared: bool) {
        if values[0] != values[1] {
            self.differs(function, subject, values, declared);
        }
    }

    fn differs(&mut self, function: Option<FunctionId>, subject: Subject, values: [u64; 2], declared: bool) {
        let [recovered, reference] = values;
        self.mismatches.push(Mismatch { function, subject, recovered, reference, declared });
    }

    /// Are all disagreements in functions that the profile does not vouch for?
    #[must_use]
    pub fn holds(&self) -> bool {
        self.mismatches.iter().all(|m| m.declared)
    }
}

/// Compares every block and edge count, and every total of events, with the reference that the same run counted.
///
/// # Errors
/// If the counts are not of this binary, or it carries no reference.
pub fn verify(binary: &BinaryFile, counts: &UnitCounts) -> Result<Verification, UnitError> {
    check_counts(binary, counts)?;
    compare(binary, counts, || recover(binary, counts))
}

/// Verifies a unit of a file: where the method's counts come from what the file has besides counters, they are
/// compared, too.
///
/// # Errors
/// As those of [`verify`], or if the file can't be read.
pub fn verify_in(file: &ProfileFile, binary: &BinaryFile, counts: &UnitCounts) -> Result<Verification, UnitError> {
    check_counts(binary, counts)?;
    compare(binary, counts, || recover_with_file(file, binary, counts))
}

/// `recovered`: the profile by the chosen method.
fn compare(
    binary: &BinaryFile,
    counts: &UnitCounts,
    recovered: impl FnOnce() -> Result<UnitProfile, UnitError>,
) -> Result<Verification, UnitError> {
    let plan = &binary.map().plan;
    let Some(check) = &plan.check else {
        return Err(UnitError::NothingToVerify { binary: binary.path().to_owned() });
    };
    let method = plan.method.method();
    let profile = recovered()?;
    let promises = method.promises();
    let counted = promises.blocks || promises.events || promises.calls || profile.functions.iter().any(Option::is_some);
    if !counted && !method.is_none() {
        return Err(UnitError::NotComparable { binary: binary.path().to_owned(), title: method.title() });
    }
    let (exits, _) = UnitExits::new(binary, counts);
    let bases = plan.layout().check;
    let (references, failures) = recover_alone(binary, counts, CounterMethod::Block, check, &bases, &exits);
    let mut result = Verification::default();
    for &(index, _) in profile.failures.iter().chain(&failures) {
        result.differs(Some(index), Subject::Whole, [0, 0], false);
    }
    if let Some(totals) = event_totals(&profile.method) {
        compare_events(binary, &profile, totals, &references, &mut result)?;
        compare_call_sums(binary, &profile, &references, &mut result);
    }
    if let MethodProfile::Calls(calls) = &profile.method {
        compare_call_counts(binary, calls, &references, &mut result);
    }
    for ((recovered, reference), function) in profile.functions.iter().zip(&references).zip(FunctionId::all()) {
        let (Some(recovered), Some(reference)) = (recovered, reference) else { continue };
        let declared = recovered.flaws.iter().any(|flaw| flaw.concerns_recovery());
        result.functions += 1;
        result.flawed += u64::from(declared);
        result.compare(Some(function), Subject::Entries, [recovered.entries, reference.entries], declared);
        for (block, (&a, &b)) in recovered.blocks.iter().zip(&reference.blocks).enumerate() {
            result.compare(Some(function), Subject::Block(Block::new(block)), [a, b], declared);
        }
        result.blocks += recovered.blocks.len() as u64;
        if let (Some(a), Some(b)) = (&recovered.edges, &reference.edges) {
            result.edges += a.len() as u64;
            for (edge, (&a, &b)) in a.iter().zip(b).enumerate() {
                result.compare(Some(function), Subject::Edge(Edge::new(edge)), [a, b], declared);
            }
        }
    }
    Ok(result)
}

/// Compares the totals of a unit with the events of its blocks.
fn compare_events(
    binary: &BinaryFile,
    profile: &UnitProfile,
    totals: impl Iterator<Item = (EventKind, u64)>,
    references: &[Option<FunctionProfile>],
    result: &mut Verification,
) -> Result<(), UnitError> {
    let functions = functions(binary.map());
    let counted: Vec<(&Function, &FunctionProfile)> = functions
        .into_iter()
        .zip(references)
        .filter_map(|(function, counts)| Some((function, counts.as_ref()?)))
        .collect();
    result.functions += counted.len() as u64;
    result.blocks += counted.iter().map(|(_, counts)| counts.blocks.len() as u64).sum::<u64>();
    result.flawed += profile.all_flaws().filter(|flaws| !flaws.is_empty()).count() as u64;
    let declared = result.flawed > 0;
    for (kind, total) in totals {
        let of_blocks = counted.iter().map(|(function, counts)| counts.events(function, kind));
        let reference: Option<i128> = of_blocks.sum();
        let Some(reference) = reference else {
            return Err(UnitError::NotComparable {
                binary: binary.path().to_owned(),
                title: profile.method.method().title(),
            });
        };
        result.events += 1;
        // No total is negative or beyond 64 bits.
        let reference = u64::try_from(reference).unwrap_or(if reference < 0 { 0 } else { u64::MAX });
        result.compare(None, Subject::Events(kind), [total, reference], declared);
    }
    Ok(())
}

/// Compares what is told of each function and call with the blocks of the function.
fn compare_call_sums(
    binary: &BinaryFile,
    profile: &UnitProfile,
    references: &[Option<FunctionProfile>],
    result: &mut Verification,
) {
    let Some(events) = profile.method.events() else { return };
    let Some(sums) = &events.calls else { return };
    // An activation whose end is not known may have been part of any call.
    let declared = !sums.exact || !profile.exact();
    let functions = functions(binary.map()).into_iter().zip(FunctionId::all());
    for (((function, id), sums), reference) in functions.zip(&sums.functions).zip(references) {
        let (Some(sums), Some(reference)) = (sums, reference) else { continue };
        result.compare(Some(id), Subject::Entries, [sums.entries, reference.entries], declared);
        for (&kind, &own) in events.kinds.iter().zip(&sums.exclusive) {
            let of_blocks = reference.events(function, kind).map(|events| u64::try_from(events).unwrap_or(0));
            result.compare(Some(id), Subject::Events(kind), [own, of_blocks.unwrap_or(0)], declared);
        }
        let calls = sums.calls.iter().map(|sum| sum.as_ref().map(|sum| sum.calls));
        compare_calls(id, function, calls, reference, declared, result);
    }
}

/// Compares the calls of a call profile with the blocks of the functions that make them.
fn compare_call_counts(
    binary: &BinaryFile,
    profiles: &[Option<CallProfile>],
    references: &[Option<FunctionProfile>],
    result: &mut Verification,
) {
    let functions = functions(binary.map()).into_iter().zip(FunctionId::all());
    for (((function, id), calls), reference) in functions.zip(profiles).zip(references) {
        let (Some(calls), Some(reference)) = (calls, reference) else { continue };
        let declared = calls.flaws.iter().chain(&reference.flaws).any(|flaw| flaw.concerns_recovery());
        result.functions += 1;
        result.flawed += u64::from(declared);
        compare_calls(id, function, calls.calls.iter().copied(), reference, declared, result);
    }
}

/// Compares how often each call of a function was made with how often its block got to it.
fn compare_calls(
    id: FunctionId,
    function: &Function,
    calls: impl Iterator<Item = Option<u64>>,
    reference: &FunctionProfile,
    declared: bool,
    result: &mut Verification,
) {
    let early = EarlyExits { at_site: reference.early.clone() };
    let (mut block, mut sites_before) = (None, 0);
    for ((call, facts), calls) in function.calls.numbered().zip(calls) {
        if block.replace(facts.block) != Some(facts.block) {
            sites_before = 0;
        }
        let entered = reference.blocks.get(facts.block).copied().unwrap_or(0);
        let made = executions(function, &early, entered.into(), facts.block, sites_before);
        sites_before += u32::from(facts.is_site);
        if let Some(calls) = calls {
            result.calls += 1;
            let made = u64::try_from(made.max(0)).unwrap_or(u64::MAX);
            result.compare(Some(id), Subject::Call(call), [calls, made], declared);
        }
    }
}
