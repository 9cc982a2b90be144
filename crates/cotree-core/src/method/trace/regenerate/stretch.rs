//! Stretches: what an activation does from a node on is the same each time that the same token says where to, so it is
//! done once and remembered.
//!
//! A *stretch* goes from one node of an activation to another one of the same activation, along one token, a few ways
//! of a packed token, or no token at all. Calls of functions that write nothing are in the midst of it. It ends where
//! the next token is to be read, before any other call, and before the function is left. [`Walk::build`] walks it step
//! by step, on a stack of its own; [`Stretches`] keeps the sums.

use super::super::segments::{Link, NodeEnd, Target};
use super::super::tables::Tables;
use super::super::token::Token;
use super::MOST_SILENT;
use super::activation::MOST_SILENT_BEGINS;
use super::checkpoint::{Activation, Checkpoint, Next};
use super::pass::{Passed, Walk};
use crate::ids::{CallId, FunctionId};

/// Where a stretch begins, and what tells its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    function: FunctionId,
    node: u32,
    /// The token; of a packed one, a packed number of its next ways; 0 where nothing is to be read.
    word: u64,
}

/// How a stretch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// At the next node.
    Node,
    /// By a link where a packed token goes on.
    Packed,
    /// Before the function is left, and whether a token says so.
    Leaves { decides: bool },
}

/// What happens on a stretch.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: Start,
    blocks: u16,
    events: u16,
    begins: u16,
    /// Events, and functions that begin, before the first link, for which a token is read; `None`: it does not get that
    /// far.
    before: Option<(u16, u16)>,
    /// Blocks and events before what the token decides.
    certain: Option<(u16, u16)>,
    end: End,
    node: u32,
    next_call: CallId,
    next_access: u32,
    /// What is left of the token.
    token: Option<Token>,
}

/// The stretches that were walked last. None is of a function that tells addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretches {
    /// Each in the place that its start says; empty before anything is passed.
    kept: Vec<Option<Stretch>>,
    /// How many were built since there were as many places, or since it was last seen how many were found.
    built: u32,
    found: u64,
    /// How many steps to go until stretches are looked for again.
    rest: u32,
}

/// How many places there are at first, and at most.
const PLACES: (usize, usize) = (1 << 6, 1 << 16);
/// A stretch has at most so many events.
const MOST_EVENTS: u64 = 1 << 12;
/// After so many new ones it is seen whether they are found again; if not, so many steps are taken without them.
const BUILT: u32 = 1 << 12;
const REST: u32 = 1 << 17;

impl Stretches {
    fn place(&self, start: Start) -> usize {
        let at = u64::from(start.function.0) << 32 | u64::from(start.node);
        let mixed = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ start.word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed >> 32) as usize & (self.kept.len() - 1)
    }

    /// One more has been built. Makes room for more if that is worth while, or for none.
    fn grow(&mut self) {
        self.built += 1;
        let places = self.kept.len();
        if places < PLACES.1 {
            if self.built as usize > places {
                self.kept = vec![None; places * 4];
                (self.built, self.found) = (0, 0);
            }
        } else if self.built >= BUILT {
            // One costs about as much as three of those that are found save.
            if self.found < 3 * u64::from(self.built) {
                self.rest = REST;
            }
            (self.built, self.found) = (0, 0);
        }
    }
}

impl<'t> Walk<'t, '_> {
    /// Passes the stretch that begins here. `None`: it does not, a step has to be taken.
    pub(super) fn stretch(&mut self, tables: &'t Tables, most: u64, passed: &mut Passed) -> Option<&'t Tables> {
        if self.stretches.rest > 0 {
            self.stretches.rest -= 1;
            return None;
        }
        let activation = self.at.stack.last()?;
        let number = activation.node as usize;
        let node = tables.node(number);
        if activation.next_call != node.first_call || tables.has_accesses() {
            return None;
        }
        let (mut word, mut bytes, mut packed) = (0, 0, None);
        if node.undecided {
            match activation.token {
                Some(token) if node.packs => packed = Some(token),
                Some(_) => return None,
                None => {
                    bytes = usize::from(node.bytes);
                    word = self.peek(bytes)?;
                    if node.packs {
                        packed = Some(tables.token(number, word)?);
                    }
                }
            }
        } else if activation.token.is_some() {
            return None;
        }
        if let Some(packed) = &mut packed {
            word = packed.take_ways(node.base, node.at_once);
        }
        let start = Start { function: activation.function, node: activation.node, word };
        if self.stretches.kept.is_empty() {
            self.stretches.kept = vec![None; PLACES.0];
        }
        let place = self.stretches.place(start);
        let stretch = match self.stretches.kept[place] {
            Some(stretch) if stretch.start == start => {
                self.stretches.found += 1;
                stretch
            }
            _ => {
                let built = self.build(tables, start, packed.is_none().then_some(bytes))?;
                self.stretches.kept[place] = Some(built);
                self.stretches.grow();
                built
            }
        };
        self.apply(tables, &stretch, (bytes, packed), most, passed)
    }

    /// `bytes`, `packed`: what is to be read of the stream, and what is left of the packed token.
    fn apply(
        &mut self,
        tables: &'t Tables,
        stretch: &Stretch,
        (bytes, packed): (usize, Option<Token>),
        most: u64,
        passed: &mut Passed,
    ) -> Option<&'t Tables> {
        let (events, blocks, begins) =
            (u64::from(stretch.events), u64::from(stretch.blocks), u64::from(stretch.begins));
        // Where the first link is not crossed, its token stays where it is.
        let reads = stretch.before.filter(|_| bytes > 0);
        let fits = events > 0 || (reads.is_some() && stretch.end != End::Node);
        if !fits
            || passed.blocks + blocks > most
            || self.at.silent + events >= MOST_SILENT
            || self.at.begins + begins > MOST_SILENT_BEGINS
        {
            return None;
        }
        let (mut token, mut certain) = (stretch.token, stretch.certain);
        if let Some(mut packed) = packed
            && packed.has_more_ways()
        {
            if stretch.end != End::Packed {
                return None;
            }
            tables.next_way(stretch.node as usize, &mut packed)?;
            (token, certain) = (Some(packed), None);
        }
        match reads {
            Some(_) => self.take(bytes),
            None if bytes > 0 => token = None,
            None => {}
        }
        if let Some((blocks, events)) = certain
            && self.at.certain != self.at.events + u64::from(events)
        {
            self.at.certain = self.at.events + u64::from(events);
            passed.certain = Some(passed.blocks + u64::from(blocks));
        }
        self.count(events, passed);
        self.at.begins += begins;
        if let Some((events_before, begins_before)) = reads {
            self.at.silent -= u64::from(events_before);
            self.at.begins -= u64::from(begins_before);
        }
        passed.blocks += blocks;
        let activation = self.at.stack.last_mut()?;
        activation.node = stretch.node;
        (activation.next_call, activation.next_access) = (stretch.next_call, stretch.next_access);
        activation.token = token;
        match stretch.end {
            End::Leaves { decides } => self.leave(decides, passed).or(Some(tables)),
            End::Node | End::Packed => Some(tables),
        }
    }

    /// Walks a stretch on a stack of its own. `bytes`: so many are read of the stream; else the word is of ways of a
    /// packed token.
    fn build(&self, tables: &'t Tables, start: Start, bytes: Option<usize>) -> Option<Stretch> {
        let mut at = Checkpoint::beginning();
        at.next = Next::Run;
        // So that what is certain from the start on is seen.
        at.certain = u64::MAX;
        let token = match bytes {
            Some(_) => None,
            None => Some(Token::packed(start.word, tables.node(start.node as usize).base)?),
        };
        let mut activation = Activation::new(start.function);
        activation.come_to(tables, start.node as usize);
        activation.token = token;
        at.stack.push(activation);
        let buffer = self.buffer.get(self.read..self.read + bytes.unwrap_or_default())?;
        let mut none = Stretches::default();
        let mut walk = Walk { all: self.all, buffer, read: 0, at: &mut at, stretches: &mut none, alone: true };
        let mut passed = Passed::default();
        let (mut before, mut begins) = (None, 0);
        let mut stretch = walk.so_far(start, &passed, before, End::Node)?;
        let mut tables = tables;
        let more = |walk: &Walk<'_, '_>| bytes.is_none() && walk.has_more_ways();
        while walk.at.events < MOST_EVENTS && !tables.has_accesses() {
            let mut end = End::Node;
            if let [activation] = &walk.at.stack[..] {
                let node = tables.node(activation.node as usize);
                if activation.next_call >= node.last_call {
                    if node.end != NodeEnd::Links || walk.read_token(tables).is_none() {
                        break;
                    }
                    if before.is_none() {
                        before = Some((u16::try_from(passed.events).ok()?, begins));
                        walk.at.begins = 0;
                    }
                    let (link, decides) = walk.next_link(tables)?;
                    match link.target {
                        Target::Packed(_) if !more(&walk) => end = End::Packed,
                        Target::Exit if !tables.resumes(link.edge) => {
                            stretch = walk.so_far(start, &passed, before, End::Leaves { decides })?;
                            break;
                        }
                        _ => {}
                    }
                }
            }
            let Some(next) = walk.step(tables, &mut passed) else { break };
            if before.is_none() {
                begins = u16::try_from(walk.at.begins).ok()?;
            }
            tables = next;
            if walk.at.stack.len() == 1 && !more(&walk) {
                stretch = walk.so_far(start, &passed, before, end)?;
                if end == End::Packed {
                    break;
                }
            }
        }
        Some(stretch)
    }

    /// Are there more ways in the token of the innermost activation, which is packed?
    fn has_more_ways(&self) -> bool {
        let activation = self.at.stack.last();
        activation.is_some_and(|activation| activation.token.is_some_and(|token| token.has_more_ways()))
    }

    /// The link by which the innermost activation leaves its node, and whether that is what its token decides. `None`:
    /// the token is wrong.
    fn next_link(&self, tables: &Tables) -> Option<(Link, bool)> {
        let activation = self.at.stack.last()?;
        let number = activation.node as usize;
        let mut token = activation.token.unwrap_or_default();
        let link = tables.follow(number, &mut token)?;
        let decides = tables.node(number).undecided && !tables.leads_on(&link);
        (!decides || token.is_spent(tables.has_bits())).then_some((link, decides))
    }

    /// The stretch from the start to here.
    fn so_far(&self, start: Start, passed: &Passed, before: Option<(u16, u16)>, end: End) -> Option<Stretch> {
        let activation = self.at.stack.last()?;
        let certain = match passed.certain {
            Some(blocks) => Some((u16::try_from(blocks).ok()?, u16::try_from(self.at.certain).ok()?)),
            None => None,
        };
        Some(Stretch {
            start,
            blocks: u16::try_from(passed.blocks).ok()?,
            events: u16::try_from(passed.events).ok()?,
            begins: u16::try_from(self.at.begins).ok()? + before.map_or(0, |(_, begins)| begins),
            before,
            certain,
            end,
            node: activation.node,
            next_call: activation.next_call,
            next_access: activation.next_access,
            token: activation.token,
        })
    }
}
