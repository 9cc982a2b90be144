//! All calls of a function, and which of them are call sites.
//!
//! A *call site* is a call at which an activation of the caller may be abandoned, because the callee may fail to return
//! (it may exit, throw, `longjmp`, loop for ever), or re-entered, because it may return twice. Early exits, return
//! addresses and path registers belong to call sites, so files number these separately ([`Site`]). Code that counts or
//! follows calls uses all of them ([`CallId`]). In functions that are compiled as they are written (`-O0`),
//! instructions that may fault are call sites, too ([`Callee::Fault`]).
//!
//! The list has every `call`, `invoke` and `callbr` of a block that can be reached, inline assembly included, but no
//! call of an intrinsic (`llvm.*`). Most intrinsics are instructions or nothing at all in machine code; whether one
//! becomes a call of a library function (`llvm.memcpy`, `llvm.sin`) is up to the code generator. A block has as many
//! calls here as [`InstructionCounts::calls`](super::InstructionCounts::calls) says, besides markers
//! ([`Call::is_marker`]).

use super::linker_name;
use crate::ids::{Block, CallId, IdMap, Site};
use serde::{Deserialize, Serialize};

/// The callee of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Callee {
    /// A function by symbol.
    Symbol(String),
    /// Through a pointer.
    #[default]
    Indirect,
    /// Inline assembly. It is assumed to return, so it is never a call site.
    Assembly,
    /// Nobody: it is an instruction that may fault. Always a call site, since the activation ends there if the fault
    /// ends the program.
    Fault,
}

/// The callee of a *safe point*: a call that stands where the program may be taken out of what it does
/// ([`crate::method::events::safe_points`]). It is no instruction of the program, and so no event.
pub const SAFE_POINT: &str = "__cotree_safe_point";

/// One call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The block that holds it.
    pub block: Block,
    /// The callee.
    pub callee: Callee,
    /// The symbol does not say for certain which function runs: it is that of an alias, or the call has another calling
    /// convention than the function.
    pub callee_uncertain: bool,
    /// The call is its block's terminator (an invoke or `callbr`).
    pub terminator: bool,
    /// `musttail`: the caller's frame is gone before the callee runs. Never a call site.
    pub must_tail: bool,
    /// The activation may be abandoned or re-entered here: it is a call site.
    pub is_site: bool,
    /// A call site that is declared never to return.
    pub no_return: bool,
    /// A call site that may return twice (`setjmp`, `vfork`).
    pub returns_twice: bool,
    /// A call site that calls nobody: it stands before a `resume` and marks it, and the frame leaves by the CFG's own
    /// edge.
    pub resume_marker: bool,
    /// The number of a call site, unique in its module and from 1, that ties machine return addresses to it; 0 if it
    /// has none, as instructions that may fault.
    pub probe: u16,
    /// The place of the call in the source, if known.
    pub line: Option<CallLine>,
}

impl Call {
    /// A call site with nothing special about it.
    #[must_use]
    pub fn site(block: Block, callee: Callee) -> Self {
        Self { block, callee, is_site: true, ..Self::default() }
    }

    /// Is it an instruction that may fault, and no call?
    #[must_use]
    pub fn is_fault(&self) -> bool {
        self.callee == Callee::Fault
    }

    /// Can code follow the call in its own activation, so that probes may stand behind it? A `callbr`, which has
    /// several successors, is inline assembly and has no such place either.
    #[must_use]
    pub fn comes_back(&self) -> bool {
        let several_successors = self.terminator && self.callee == Callee::Assembly;
        !self.must_tail && !self.no_return && !self.resume_marker && !several_successors
    }

    /// Is it a safe point?
    #[must_use]
    pub fn is_safe_point(&self) -> bool {
        matches!(&self.callee, Callee::Symbol(symbol) if symbol == SAFE_POINT)
    }

    /// Does it stand for something else than a call of the program's?
    #[must_use]
    pub fn is_marker(&self) -> bool {
        self.resume_marker || self.is_safe_point() || self.is_fault()
    }

    /// The linker's name of the callee, if it calls by name.
    #[must_use]
    pub fn callee_name(&self) -> Option<&str> {
        match &self.callee {
            Callee::Symbol(symbol) if !self.resume_marker => Some(linker_name(symbol)),
            _ => None,
        }
    }
}

/// The place of a call in the source: see [`super::Function::call_position`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallLine {
    /// The span of its block that it belongs to, an index into [`super::BlockFacts::lines`].
    pub span: u32,
    /// The column, from 1; 0 where it is not known. (That of the span is its first instruction's.)
    pub column: u32,
}

/// The calls of a function in block order, then instruction order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calls {
    all: IdMap<CallId, Call>,
    /// Per call site, which call it is.
    sites: IdMap<Site, CallId>,
}

impl Calls {
    /// Appends the next call.
    pub fn push(&mut self, call: Call) -> CallId {
        let id = CallId::new(self.all.len());
        if call.is_site {
            self.sites.push(id);
        }
        self.all.push(call);
        id
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Has the function no calls?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> std::slice::Iter<'_, Call> {
        self.all.iter()
    }

    /// Whom each of them calls, to be renamed.
    pub fn callees_mut(&mut self) -> impl Iterator<Item = &mut Callee> {
        self.all.iter_mut().map(|call| &mut call.callee)
    }

    /// All of them with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (CallId, &Call)> {
        self.all.numbered()
    }

    /// All of them with how many call sites of their block come before each: it is made only if those calls return.
    pub fn after_sites(&self) -> impl Iterator<Item = (&Call, u32)> {
        let (mut block, mut sites) = (Block::default(), 0);
        self.all.iter().map(move |call| {
            if call.block != block {
                (block, sites) = (call.block, 0);
            }
            let before = sites;
            sites += u32::from(call.is_site);
            (call, before)
        })
    }

    /// The call of this number.
    #[must_use]
    pub fn get(&self, call: CallId) -> Option<&Call> {
        self.all.get(call)
    }

    /// The call sites, in the order of their numbers.
    pub fn sites(&self) -> impl DoubleEndedIterator<Item = &Call> + ExactSizeIterator + Clone {
        self.sites.iter().map(|&call| &self.all[call])
    }

    /// The call site of this number.
    #[must_use]
    pub fn site(&self, site: Site) -> Option<&Call> {
        self.get(*self.sites.get(site)?)
    }

    /// Which call a call site is.
    #[must_use]
    pub fn call_of(&self, site: Site) -> Option<CallId> {
        self.sites.get(site).copied()
    }

    /// Which call site a call is, if it is one.
    #[must_use]
    pub fn site_of(&self, call: CallId) -> Option<Site> {
        self.sites.binary_search(&call).ok().map(Site::new)
    }

    /// The call sites of one block, in order.
    pub fn sites_of(&self, block: Block) -> impl Iterator<Item = (Site, &Call)> {
        let start = self.sites.partition_point(|&call| self.all[call].block < block);
        let from_there = self.sites.iter().skip(start).map(|&call| &self.all[call]);
        from_there
            .take_while(move |call| call.block == block)
            .enumerate()
            .map(move |(index, call)| (Site::new(start + index), call))
    }

    /// Changes calls in place. Their order must stay the same.
    pub fn update(&mut self, mut change: impl FnMut(CallId, &mut Call)) {
        for (index, call) in self.all.iter_mut().enumerate() {
            change(CallId::new(index), call);
        }
        self.sites = self.numbered().filter(|(_, call)| call.is_site).map(|(id, _)| id).collect();
    }
}

impl std::ops::Index<CallId> for Calls {
    type Output = Call;

    fn index(&self, call: CallId) -> &Call {
        &self.all[call]
    }
}

impl std::ops::Index<Site> for Calls {
    type Output = Call;

    fn index(&self, site: Site) -> &Call {
        &self.all[self.sites[site]]
    }
}

impl Extend<Call> for Calls {
    fn extend<T: IntoIterator<Item = Call>>(&mut self, calls: T) {
        for call in calls {
            self.push(call);
        }
    }
}

impl FromIterator<Call> for Calls {
    fn from_iter<T: IntoIterator<Item = Call>>(calls: T) -> Self {
        let mut all = Self::default();
        all.extend(calls);
        all
    }
}

impl<'a> IntoIterator for &'a Calls {
    type Item = &'a Call;
    type IntoIter = std::slice::Iter<'a, Call>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls from `block:kind` words: `s` a call site, `c` one that returns.
    fn calls(text: &str) -> Calls {
        let call = |word: &str| {
            let (block, kind) = word.split_once(':').expect("a block and a kind");
            Call { block: Block(block.parse().expect("a number")), is_site: kind == "s", ..Call::default() }
        };
        text.split_whitespace().map(call).collect()
    }

    #[test]
    fn sites_are_numbered_by_themselves() {
        let calls = calls("0:c 0:s 0:c 2:c 2:s 2:s 2:c 3:c");
        let sites: Vec<_> = calls.numbered().map(|(id, _)| calls.site_of(id).map(|s| s.0)).collect();
        assert_eq!(sites, [None, Some(0), None, None, Some(1), Some(2), None, None]);
        assert_eq!(calls.call_of(Site(2)), Some(CallId(5)));
        assert_eq!(calls.sites().len(), 3);
        assert_eq!(calls[Site(1)].block, Block(2));
        assert!(calls.site(Site(3)).is_none());
        let of_block = |block| calls.sites_of(Block(block)).map(|(site, _)| site.0).collect::<Vec<_>>();
        assert_eq!([of_block(0), of_block(1), of_block(2), of_block(3)], [vec![0], vec![], vec![1, 2], vec![]]);
    }

    #[test]
    fn calls_know_the_sites_before_them() {
        let after: Vec<u32> = calls("0:c 0:s 0:c 2:c 2:s 2:s 2:c 3:c").after_sites().map(|(_, after)| after).collect();
        assert_eq!(after, [0, 0, 1, 0, 0, 1, 2, 0]);
    }

    #[test]
    fn a_change_renumbers_the_sites() {
        let mut calls = calls("0:c 0:s 1:s");
        calls.update(|id, call| call.is_site = id != CallId(1));
        assert_eq!(calls.call_of(Site(0)), Some(CallId(0)));
        assert_eq!(calls.call_of(Site(1)), Some(CallId(2)));
    }
}
