//! What the traces of several runs count, added up: blocks, edges, entries and early exits of each function. Sums have
//! no order, so nothing regenerates an execution from them.
//!
//! A raw profile is counted when it is added to others, since its trace can be read only with its binary. So flaws are
//! those of each run: they are kept beside the counts.

use super::notes::TraceNote;
use crate::binary::BinaryMap;
use crate::merged::Stream;
use crate::method::MethodNote;
use crate::note::Note;
use crate::sums::Amount;
use crate::unit_profile::UnitProfile;
use crate::wire::WireError;
use crate::wire::streams::{Reader, Writer};
use cotree_core::facts::Function;
use cotree_core::ids::{Block, Edge, FunctionId, IdMap, Site};
use cotree_core::profile::{Flaw, FunctionProfile};
use std::collections::BTreeMap;

/// What the traces of some runs count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceCounts {
    /// The functions that ran or are doubted.
    functions: BTreeMap<FunctionId, FunctionCounts>,
    /// Runs of which a ring kept the newest part only.
    newest_only: u64,
    /// Streams of which rings kept nothing.
    gone: u64,
}

/// Counts of one function. The lists are as long as those of its profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FunctionCounts {
    entries: u64,
    blocks: IdMap<Block, u64>,
    edges: IdMap<Edge, u64>,
    /// Per call site; empty if there are none anywhere.
    early: IdMap<Site, i64>,
    /// Bits: flaw *n* of [`FLAWS`] is bit *n*.
    flaws: u64,
}

/// Flaws by their bits in files: new ones come last.
const FLAWS: [Flaw; 9] = [
    Flaw::Inconsistent,
    Flaw::LiveFrames,
    Flaw::SuspendedStacks,
    Flaw::UnknownExit,
    Flaw::WalkIncomplete,
    Flaw::Threads,
    Flaw::Damaged,
    Flaw::LoopsUnderWay,
    Flaw::OptimisedBefore,
];

/// No run of a binary counts this.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForeignTraceCounts {
    /// The binary was not built for traces.
    #[error(
        "the profile has counts of traces, and its binary was not built with --profile trace: the profile is damaged"
    )]
    NotTraced,
    /// The binary has no such function, or that has other blocks, edges or calls.
    #[error("the profile counts blocks that function {0} of the binary does not have: the profile is damaged")]
    Function(u32),
}

impl FunctionCounts {
    fn of(profile: &FunctionProfile) -> Option<Self> {
        let counts = Self {
            entries: profile.entries,
            blocks: profile.blocks.clone(),
            edges: profile.edges.clone().unwrap_or_default(),
            early: profile.early.clone(),
            flaws: FLAWS.iter().zip(0..).map(|(flaw, bit)| u64::from(profile.flaws.contains(flaw)) << bit).sum(),
        };
        let ran = counts.entries > 0 || counts.blocks.iter().any(|&count| count > 0);
        (ran || counts.flaws != 0 || !counts.early.is_empty()).then_some(counts)
    }

    fn profile(&self) -> FunctionProfile {
        let has = |bit: u32| self.flaws >> bit & 1 != 0;
        FunctionProfile {
            entries: self.entries,
            blocks: self.blocks.clone(),
            edges: Some(self.edges.clone()),
            early: if self.early.iter().all(|&count| count == 0) { IdMap::default() } else { self.early.clone() },
            flaws: FLAWS.iter().zip(0..).filter(|&(_, bit)| has(bit)).map(|(&flaw, _)| flaw).collect(),
        }
    }

    fn fits(&self, facts: &Function) -> bool {
        self.blocks.len() == facts.blocks.len()
            && self.edges.len() == facts.edges.len()
            && (self.early.is_empty() || self.early.len() == facts.sites().len())
    }

    /// Adds others, each taken `weight` times. Did some sum not fit?
    fn add(&mut self, other: &Self, weight: u64) -> bool {
        let mut cut = plus(&mut self.blocks, &other.blocks, weight);
        cut |= plus(&mut self.edges, &other.edges, weight);
        cut |= plus(&mut self.early, &other.early, weight);
        let (entries, over) = self.entries.plus(other.entries, weight);
        self.entries = entries;
        self.flaws |= other.flaws;
        cut | over
    }
}

/// Adds a list to another one, which grows to its length.
fn plus<A: Amount>(sums: &mut Vec<A>, others: &[A], weight: u64) -> bool {
    if sums.len() < others.len() {
        sums.resize(others.len(), A::ZERO);
    }
    let mut cut = false;
    for (sum, &other) in sums.iter_mut().zip(others) {
        let (total, over) = sum.plus(other, weight);
        *sum = total;
        cut |= over;
    }
    cut
}

impl TraceCounts {
    /// The counts of one run, whose trace has been counted.
    pub(crate) fn of(profile: &UnitProfile) -> Self {
        let counted = FunctionId::all().zip(&profile.functions);
        let functions = counted.filter_map(|(id, function)| Some((id, FunctionCounts::of(function.as_ref()?)?)));
        let gone = profile.notes.iter().find_map(|note| match note {
            Note::Method(MethodNote::Trace(TraceNote::NewestOnly { gone })) => Some(*gone),
            _ => None,
        });
        Self { functions: functions.collect(), newest_only: u64::from(gone.is_some()), gone: gone.unwrap_or(0) }
    }

    /// Adds others, each taken `weight` times. Did some sum not fit?
    pub(in crate::method) fn add(&mut self, other: &Self, weight: u64) -> bool {
        let mut cut = false;
        for (&id, counts) in &other.functions {
            cut |= self.functions.entry(id).or_default().add(counts, weight);
        }
        self.newest_only = self.newest_only.saturating_add(other.newest_only);
        self.gone = self.gone.saturating_add(other.gone);
        cut
    }

    /// Can runs of this binary have left them?
    pub(in crate::method) fn check(&self, map: &BinaryMap) -> Result<(), ForeignTraceCounts> {
        if map.plan.method.traces().is_none() {
            return Err(ForeignTraceCounts::NotTraced);
        }
        let facts: Vec<&Function> = map.program.functions().map(|(_, facts)| facts).collect();
        let fits = |(id, counts): (&FunctionId, &FunctionCounts)| {
            facts.get(id.index()).is_some_and(|facts| facts.untouched.is_none() && counts.fits(facts))
        };
        match self.functions.iter().find(|&entry| !fits(entry)) {
            Some((id, _)) => Err(ForeignTraceCounts::Function(id.0)),
            None => Ok(()),
        }
    }

    /// Makes them the profile's. They must fit the map.
    pub(in crate::method) fn recover(&self, map: &BinaryMap, saturated: bool, profile: &mut UnitProfile) {
        let recovered = |((_, facts), id): ((_, &Function), FunctionId)| {
            if facts.untouched.is_some() {
                return None;
            }
            let mut profile = match self.functions.get(&id) {
                Some(counts) => counts.profile(),
                None => FunctionCounts {
                    blocks: IdMap::filled(0, facts.blocks.len()),
                    edges: IdMap::filled(0, facts.edges.len()),
                    ..FunctionCounts::default()
                }
                .profile(),
            };
            if saturated && !profile.flaws.contains(&Flaw::Damaged) && profile.entries > 0 {
                profile.flaws.push(Flaw::Damaged);
            }
            Some(profile)
        };
        profile.functions = map.program.functions().zip(FunctionId::all()).map(recovered).collect();
        if self.newest_only > 0 {
            profile.notes.push(Note::Method(MethodNote::Trace(TraceNote::NewestOnly { gone: self.gone })));
        }
        profile.notes.push(Note::Method(MethodNote::Trace(TraceNote::Merged)));
    }

    /// Writes them into a merged profile.
    pub(in crate::method) fn write(&self, w: &mut Writer) {
        w.put(Stream::TraceFunction, self.functions.len() as u64);
        w.put(Stream::TraceRing, self.newest_only);
        w.put(Stream::TraceRing, self.gone);
        let mut last = 0;
        for (id, counts) in &self.functions {
            w.put(Stream::TraceFunction, u64::from(id.0 - last));
            last = id.0;
            for length in [counts.blocks.len(), counts.edges.len(), counts.early.len()] {
                w.put(Stream::TraceShape, length as u64);
            }
            w.put(Stream::TraceShape, counts.flaws);
            w.put(Stream::TraceBlock, counts.entries);
            counts.blocks.iter().for_each(|&count| w.put(Stream::TraceBlock, count));
            counts.edges.iter().for_each(|&count| w.put(Stream::TraceEdge, count));
            counts.early.iter().for_each(|&count| w.put_signed(Stream::TraceEarly, count));
        }
    }

    /// Reads what [`Self::write`] wrote; `None`: there is nothing of the kind.
    pub(in crate::method) fn read(r: &mut Reader<'_>) -> Result<Option<Self>, WireError> {
        const ORDER: WireError = WireError::Invalid("the functions of its traces are not in order");
        if r.left(Stream::TraceFunction) == 0 {
            return Ok(None);
        }
        let count = r.get_count(Stream::TraceFunction, Stream::TraceFunction)?;
        let mut counts =
            Self { newest_only: r.get(Stream::TraceRing)?, gone: r.get(Stream::TraceRing)?, ..Self::default() };
        let mut last = 0_u32;
        for index in 0..count {
            let step = r.get_u32(Stream::TraceFunction)?;
            last = last.checked_add(step).filter(|_| step > 0 || index == 0).ok_or(ORDER)?;
            let blocks = r.get_count(Stream::TraceShape, Stream::TraceBlock)?;
            let edges = r.get_count(Stream::TraceShape, Stream::TraceEdge)?;
            let early = r.get_count(Stream::TraceShape, Stream::TraceEarly)?;
            let flaws = r.get(Stream::TraceShape)?;
            if flaws >> FLAWS.len() != 0 {
                return Err(WireError::Invalid("its traces have flaws that this cotree does not know"));
            }
            let function = FunctionCounts {
                entries: r.get(Stream::TraceBlock)?,
                blocks: (0..blocks).map(|_| r.get(Stream::TraceBlock)).collect::<Result<_, _>>()?,
                edges: (0..edges).map(|_| r.get(Stream::TraceEdge)).collect::<Result<_, _>>()?,
                early: (0..early).map(|_| r.get_signed(Stream::TraceEarly)).collect::<Result<_, _>>()?,
                flaws,
            };
            counts.functions.insert(FunctionId(last), function);
        }
        Ok(Some(counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(id: u32, entries: u64, early: Vec<i64>) -> TraceCounts {
        let function = FunctionCounts {
            entries,
            blocks: vec![entries, 7].into(),
            edges: vec![entries].into(),
            early: early.into(),
            flaws: 2,
        };
        TraceCounts { functions: BTreeMap::from([(FunctionId(id), function)]), newest_only: 1, gone: 48 }
    }

    #[test]
    fn sums_are_of_each_function() {
        let mut sum = counts(3, 2, vec![]);
        assert!(!sum.add(&counts(3, 5, vec![1, -1]), 2));
        assert!(!sum.add(&counts(9, 1, vec![]), 1));
        let function = &sum.functions[&FunctionId(3)];
        assert_eq!(function.entries, 12);
        assert_eq!(function.blocks, [12, 21]);
        assert_eq!(function.edges, [12]);
        assert_eq!(function.early, [2, -2]);
        assert_eq!(function.flaws, 2);
        assert_eq!(function.profile().flaws, [Flaw::LiveFrames]);
        assert_eq!((sum.functions.len(), sum.newest_only, sum.gone), (2, 3, 144));
        assert!(sum.add(&counts(3, u64::MAX, vec![]), 1), "it does not fit");
    }
}
