//! Spans: what an activation does from a node on is the same each time that it reads the same token there, so it is
//! computed once and remembered.
//!
//! A *span* goes from one node of an activation to another one of the same activation, along one token, a few paths of
//! a packed token, or no token at all. Calls of functions that write nothing are in the midst of it. It ends where the
//! next token is to be read, before any other call, and before the function is left. [`Span::follow`] finds one by the
//! rules of the engine, on a stack of its own; [`Spans`] keeps the sums.

use super::super::segments::{NodeEnd, Target};
use super::super::tables::Tables;
use super::super::token::Token;
use super::checkpoint::{Activation, Checkpoint, Next};
use super::cursor::{Cursor, Halt};
use super::engine::{Flow, MOST_BEGINS_WITHOUT_BYTES, MOST_EVENTS_WITHOUT_BYTES};
use super::input::Input;
use super::sink::{EachCounted, Skipped};
use crate::ids::{CallId, Edge, FunctionId};

/// Where a span begins, and what says where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    function: FunctionId,
    node: u32,
    /// The token; of a packed one, a packed number of its next paths; 0 where nothing is to be read.
    word: u64,
}

/// How a span ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// At the next node.
    Node,
    /// By a link where a packed token goes on.
    Packed,
    /// Before the function is left by this edge, and whether a token says so.
    Leaves { edge: Edge, decides: bool },
}

/// What happens on a span.
#[derive(Clone, Copy, Debug)]
struct Span {
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

/// The spans that were found last. None is of a function that tells addresses, or outcomes in bits that it shares.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    /// Each in the slot that its start says; empty before anything is skipped.
    kept: Vec<Option<Span>>,
    /// How many were found since there were as many slots, or since it was last seen how many were used again.
    found: u32,
    used: u64,
    /// How many steps to go until spans are looked for again.
    rest: u32,
}

/// How many slots there are at first, and at most.
const SLOTS: (usize, usize) = (1 << 6, 1 << 16);
/// A span has at most this many events.
const MOST_EVENTS: u64 = 1 << 12;
/// After this many new ones it is seen whether they are used again; if not, this many steps are taken without them.
const FOUND: u32 = 1 << 12;
const REST: u32 = 1 << 17;

impl Spans {
    #[inline]
    fn slot(&self, start: Start) -> usize {
        let at = u64::from(start.function.0) << 32 | u64::from(start.node);
        let mixed = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ start.word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed >> 32) as usize & (self.kept.len() - 1)
    }

    /// One more has been found. Makes room for more if that is worth while, or for none.
    fn grow(&mut self) {
        self.found += 1;
        let slots = self.kept.len();
        if slots < SLOTS.1 {
            if self.found as usize > slots {
                self.kept = vec![None; slots * 4];
                (self.found, self.used) = (0, 0);
            }
        } else if self.found >= FOUND {
            // To find one costs about as much as three of those that are used again save.
            if self.used < 3 * u64::from(self.found) {
                self.rest = REST;
            }
            (self.found, self.used) = (0, 0);
        }
    }

    /// Skips the span that begins where the innermost activation is, which has these tables. `None`: there is none that
    /// is remembered, and a step has to be taken.
    #[inline]
    pub fn skip<'t>(
        &mut self,
        cursor: &mut Cursor<'t, '_>,
        tables: &'t Tables,
        most: u64,
        skipped: &mut Skipped,
    ) -> Option<Flow<'t>> {
        if tables.has_accesses() || tables.shares_bits() {
            return None;
        }
        self.find(cursor, tables, most, skipped)
    }

    fn find<'t>(
        &mut self,
        cursor: &mut Cursor<'t, '_>,
        tables: &'t Tables,
        most: u64,
        skipped: &mut Skipped,
    ) -> Option<Flow<'t>> {
        if self.rest > 0 {
            self.rest -= 1;
            return None;
        }
        let activation = cursor.at.stack.last()?;
        let node = tables.node(activation.node as usize);
        if activation.next_call != node.first_call {
            return None;
        }
        let (mut word, mut bytes, mut packed) = (0, 0, None);
        if node.undecided {
            match activation.token {
                Some(token) if node.packs => packed = Some(token),
                Some(_) => return None,
                None => {
                    bytes = usize::from(node.bytes);
                    word = cursor.input.peek(bytes)?;
                    if node.packs {
                        packed = Some(tables.token(activation.node as usize, word)?);
                    }
                }
            }
        } else if activation.token.is_some() {
            return None;
        }
        if let Some(packed) = &mut packed {
            word = packed.take_paths(node.base, node.at_once);
        }
        let start = Start { function: activation.function, node: activation.node, word };
        if self.kept.is_empty() {
            self.kept = vec![None; SLOTS.0];
        }
        let slot = self.slot(start);
        if let Some(span) = &self.kept[slot]
            && span.start == start
        {
            self.used += 1;
            return span.apply(cursor, tables, (bytes, packed), most, skipped);
        }
        let span = Span::follow(cursor, tables, start, packed.is_none() && bytes > 0, packed.is_some())?;
        self.kept[slot] = Some(span);
        self.grow();
        span.apply(cursor, tables, (bytes, packed), most, skipped)
    }
}

impl Span {
    /// Goes to the end of the span. `bytes`, `packed`: what is to be read of the stream, and what is left of the packed
    /// token. `None`: it can't be gone to from here, and nothing has changed.
    #[inline]
    fn apply<'t>(
        &self,
        cursor: &mut Cursor<'t, '_>,
        tables: &'t Tables,
        (bytes, packed): (usize, Option<Token>),
        most: u64,
        skipped: &mut Skipped,
    ) -> Option<Flow<'t>> {
        let (events, blocks, begins) = (u64::from(self.events), u64::from(self.blocks), u64::from(self.begins));
        // Where the first link is not crossed, its token stays where it is.
        let reads = self.before.filter(|_| bytes > 0);
        let fits = events > 0 || (reads.is_some() && self.end != End::Node);
        // Activations that ended within the span would have to be remembered.
        let remembers = cursor.keeps_left && begins > 0;
        if !fits
            || remembers
            || skipped.blocks + blocks > most
            || cursor.at.events_without_bytes() + events >= MOST_EVENTS_WITHOUT_BYTES
            || cursor.at.begins + begins > MOST_BEGINS_WITHOUT_BYTES
        {
            return None;
        }
        let (mut token, mut certain) = (self.token, self.certain);
        if let Some(mut packed) = packed
            && packed.has_more_paths()
        {
            if self.end != End::Packed {
                return None;
            }
            tables.next_path(self.node as usize, &mut packed)?;
            (token, certain) = (Some(packed), None);
        }
        if let Some((blocks, events)) = certain
            && cursor.at.certain != cursor.at.events + u64::from(events)
        {
            cursor.at.certain = cursor.at.events + u64::from(events);
            skipped.certain = Some(skipped.blocks + u64::from(blocks));
        }
        match reads {
            Some((events_before, begins_before)) => {
                cursor.take(bytes);
                cursor.at.heard += u64::from(events_before);
                cursor.at.begins = begins - u64::from(begins_before);
            }
            None => {
                cursor.at.begins += begins;
                if bytes > 0 {
                    token = None;
                }
            }
        }
        cursor.at.events += events;
        skipped.blocks += blocks;
        let activation = cursor.at.stack.last_mut()?;
        activation.node = self.node;
        (activation.next_call, activation.next_access) = (self.next_call, self.next_access);
        match self.end {
            End::Leaves { edge, decides } => {
                activation.token = None;
                if decides {
                    cursor.is_certain(skipped);
                }
                Some(cursor.leave(tables, edge, skipped))
            }
            End::Node | End::Packed => {
                activation.token = token;
                Some(Ok(Some(tables)))
            }
        }
    }

    /// Follows what happens from a start on. `reads`: its word is a token, which is read before the first link;
    /// `packed`: the word is a part of a packed token.
    fn follow<'t>(
        cursor: &Cursor<'t, '_>,
        tables: &'t Tables,
        start: Start,
        reads: bool,
        packed: bool,
    ) -> Option<Self> {
        let mut at = Checkpoint::beginning();
        at.next = Next::Run;
        // So that what is certain from the start on is seen.
        at.certain = u64::MAX;
        let mut activation = Activation::new(start.function);
        activation.come_to(tables, start.node as usize);
        if packed {
            activation.token = Some(Token::packed(start.word, tables.node(start.node as usize).base)?);
        }
        at.stack.push(activation);
        // Whatever asks for another byte ends it.
        let (mut nothing, mut input) = (&[][..], Input::default());
        let mut own = Cursor::new(cursor.tables(), &mut nothing, &mut input, &mut at);
        let mut sink = EachCounted::default();
        let (mut before, mut begins) = (None, 0);
        let mut span = Self::so_far(&own, start, &sink.0, before, End::Node)?;
        let more = |own: &Cursor<'_, '_>| {
            let token = own.at.stack.last().and_then(|activation| activation.token);
            packed && token.is_some_and(|token| token.has_more_paths())
        };
        while own.at.events < MOST_EVENTS {
            let mut end = End::Node;
            if let ([activation], Next::Run) = (&mut own.at.stack[..], own.at.next)
                && let number = activation.node as usize
                && let node = tables.node(number)
                && activation.next_call >= node.last_call
            {
                if node.end != NodeEnd::Links {
                    break;
                }
                if node.undecided && activation.token.is_none() {
                    let Some(token) = tables.token(number, start.word).filter(|_| reads && before.is_none()) else {
                        break;
                    };
                    activation.token = Some(token);
                }
                if before.is_none() {
                    before = Some((u16::try_from(sink.0.events).ok()?, begins));
                    own.at.begins = 0;
                }
                let mut token = activation.token.unwrap_or_default();
                let link = tables.follow(number, &mut token)?;
                let decides = node.undecided && !tables.leads_on(&link);
                if decides && !token.is_spent(tables.has_bits()) {
                    return None;
                }
                match link.target {
                    Target::Packed(_) if !more(&own) => end = End::Packed,
                    Target::Exit => {
                        let end = End::Leaves { edge: link.edge, decides };
                        span = Self::so_far(&own, start, &sink.0, before, end)?;
                        break;
                    }
                    _ => {}
                }
            }
            if own.step(&mut sink).err() != Some(Halt::Sink) {
                break;
            }
            if before.is_none() {
                begins = u16::try_from(own.at.begins).ok()?;
            }
            if own.at.stack.len() == 1 && own.at.next == Next::Run && !more(&own) {
                span = Self::so_far(&own, start, &sink.0, before, end)?;
                if end == End::Packed {
                    break;
                }
            }
        }
        Some(span)
    }

    /// The span from the start to here.
    fn so_far(
        own: &Cursor<'_, '_>,
        start: Start,
        skipped: &Skipped,
        before: Option<(u16, u16)>,
        end: End,
    ) -> Option<Self> {
        let activation = own.at.stack.last()?;
        let certain = match skipped.certain {
            Some(blocks) => Some((u16::try_from(blocks).ok()?, u16::try_from(own.at.certain).ok()?)),
            None => None,
        };
        Some(Self {
            start,
            blocks: u16::try_from(skipped.blocks).ok()?,
            events: u16::try_from(skipped.events).ok()?,
            begins: u16::try_from(own.at.begins).ok()? + before.map_or(0, |(_, begins)| begins),
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
