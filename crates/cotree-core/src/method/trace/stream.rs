//! The stream of one thread: what its bytes mean where no token stands.
//!
//! Tokens have no marks of their own. The reader knows where one stands, how wide it is, and where a *control byte*
//! stands instead: as long as no activation of a known function is under way, that is before a thread's first
//! activation and behind its last one, and while a call is opaque.
//!
//! | bytes | who writes them | what it means |
//! | --- | --- | --- |
//! | 0 | code | the opaque call returned normally |
//! | 1, number (4) | code | the function of this number begins |
//! | 16 to 255, high part (1) | code | the same, for most functions ([`entered`]) |
//! | 2, frame (8) | runtime | this frame, the innermost, ends without a return; or an exception reaches a landing pad in it |
//! | 3, reason (1) | runtime | the thread or process ends here, but for what destructors do |
//! | 5, place (8), count (4), frames (8 each) | runtime | this is the stack: a function that is in no call, and around it frames that are, innermost first |
//! | 6 | runtime | the thread stops recording: next comes 7 |
//! | 7 | runtime | it records again: next comes 5 |
//! | 8, stamp (8) | code | the time: a function records its entry behind it |
//! | 9, frame (8) | runtime | this frame comes to life in a call: of several in a row, the innermost comes first |
//!
//! Numbers have their lowest byte first. Functions are numbered through all units of a process: the executable's come
//! first, and those of a library follow those of the libraries before it. A frame is whatever [`Resolve`] makes
//! something of: in files, a return address with tags. One machine frame may stand for several activations, inlined
//! into each other.
//!
//! A function that records its entry does so also when it is called by name, with the time before that if times are
//! told. Nothing else stands between a call by name and what the callee writes. An activation that `resume` ends leaves
//! its caller in an opaque call that does not return: next comes a record of the runtime.
//!
//! Where a function's accesses tell their addresses, each has a number in the stream, in the order in which they run
//! ([`put_number`]): the [`step`] from the address before, or from 0 behind whatever the runtime writes. Of an
//! access whose length only the program knows, that comes before it. No token stands for blocks on both sides of one.
//!
//! Outcomes of branches ([`Encoding::EachBranch`](super::Encoding)) are bits that share bytes, whatever functions they
//! are of and whatever else stands behind the byte by then. A new byte is appended for the first of them: a leading 1,
//! and the bits behind that. It is *open*: the next ones are shifted into it while it has room for all bits of an
//! outcome. The leading 1 says how many it has come to, so the runtime may close it at any time: whenever it appends a
//! record, or moves the bytes away. The reader takes the next byte when the bits of the last one are spent.
//!
//! The place in the record of a stack ([`WrittenAt`]) is where the innermost function has just written something; the
//! stream goes on behind that. So such a record may stand anywhere at the beginning of what is read: where a ring
//! begins. Elsewhere it comes behind 7 only.
//!
//! Signal handlers write to a stream of their own, whose first activation is the handler.

use crate::ids::{Block, CallId, Edge, FunctionId};
use crate::probe::Place;

/// Control bytes.
pub struct ControlByte;
impl ControlByte {
    /// See [`Control::Returned`].
    pub const RETURNED: u8 = 0;
    /// See [`Control::Entered`].
    pub const ENTERED: u8 = 1;
    /// See [`Control::Unwound`].
    pub const UNWOUND: u8 = 2;
    /// See [`Control::Ended`].
    pub const ENDED: u8 = 3;
    /// See [`Control::Started`].
    pub const STARTED: u8 = 5;
    /// See [`Control::SwitchedOff`].
    pub const SWITCHED_OFF: u8 = 6;
    /// See [`Control::SwitchedOn`].
    pub const SWITCHED_ON: u8 = 7;
    /// See [`Control::Time`].
    pub const TIME: u8 = 8;
    /// See [`Control::Revived`].
    pub const REVIVED: u8 = 9;
    /// The first of those that are a part of a function's number ([`entered`]).
    pub const SHORT: u8 = 16;

    /// Does the runtime write it, and not code?
    #[must_use]
    pub const fn is_of_runtime(byte: u8) -> bool {
        !matches!(byte, Self::RETURNED | Self::ENTERED | Self::TIME | Self::SHORT..)
    }
}

/// How many of the first bytes are parts of a function's number.
const SHORTS: u32 = 256 - ControlByte::SHORT as u32;
/// Functions from this number on have entry records of five bytes.
pub const MOST_SHORT: u32 = SHORTS << 8;

/// What a function writes to record its entry: so many of these bytes. Where the number is known when the program is
/// linked, it is one store.
#[must_use]
pub fn entered(function: FunctionId) -> ([u8; 5], usize) {
    let number = function.0;
    if number < MOST_SHORT {
        let (low, high) = (number % SHORTS, number / SHORTS);
        ([low as u8 + ControlByte::SHORT, high as u8, 0, 0, 0], 2)
    } else {
        let [a, b, c, d] = number.to_le_bytes();
        ([ControlByte::ENTERED, a, b, c, d], 5)
    }
}

/// The function whose number begins with this control byte, [`ControlByte::SHORT`] or more, and goes on with the next
/// byte.
#[must_use]
pub fn short(first: u8, second: u8) -> FunctionId {
    FunctionId(u32::from(first.saturating_sub(ControlByte::SHORT)) + u32::from(second) * SHORTS)
}

/// Appends a number of a length of its own: of so many bytes as the first has zeros at its lower end, and one more,
/// each has seven bits of it. Behind a first byte of zeros come all 64.
pub fn put_number(number: u64, to: &mut Vec<u8>) {
    let bytes = (64 - number.leading_zeros()).div_ceil(7).max(1);
    if bytes > 8 {
        to.push(0);
        to.extend(number.to_le_bytes());
    } else {
        to.extend(&((number << 1 | 1) << (bytes - 1)).to_le_bytes()[..bytes as usize]);
    }
}

/// How many bytes a number has that begins with this one.
#[must_use]
pub const fn number_length(first: u8) -> usize {
    first.trailing_zeros() as usize + 1
}

/// Takes such a number from the bytes; `None` if they are not as many.
#[must_use]
#[inline]
pub fn take_number(from: &mut &[u8]) -> Option<u64> {
    let bytes = number_length(*from.first()?);
    if let Some((word, _)) = from.split_first_chunk()
        && bytes <= 8
    {
        *from = &from[bytes..];
        return Some((u64::from_le_bytes(*word) & (u64::MAX >> (64 - 8 * bytes))) >> bytes);
    }
    let (own, rest) = from.split_at_checked(bytes)?;
    let mut word = [0; 8];
    if bytes > 8 {
        word.copy_from_slice(&own[1..]);
    } else {
        word[..bytes].copy_from_slice(own);
    }
    *from = rest;
    Some(u64::from_le_bytes(word) >> if bytes > 8 { 0 } else { bytes })
}

/// The step from one address to the next that a number in the stream means: numbers that are small in either direction
/// are small.
#[must_use]
pub const fn step(number: u64) -> u64 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

/// The number of a step; see [`step`].
#[must_use]
pub const fn number_of_step(step: u64) -> u64 {
    step << 1 ^ (step.cast_signed() >> 63).cast_unsigned()
}

/// Why a thread, or the process, ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending(pub u8);

/// What stands in the stream where no token does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The opaque call returned normally.
    Returned,
    /// A function begins: called by code of others, or through a pointer.
    Entered(FunctionId),
    /// The innermost frame ends without a return, or an exception reaches a landing pad in it.
    Unwound(u64),
    /// The thread or the process ends here.
    Ended(Ending),
    /// The stack: where the function is that is in no call, if there is one, and how many frames follow.
    Started(Option<WrittenAt>, u32),
    /// The thread stops recording.
    SwitchedOff,
    /// The thread records again.
    SwitchedOn,
    /// The time.
    Time(u64),
    /// A frame comes to life in a call, without being called.
    Revived(u64),
}

impl Control {
    /// The bytes, as the runtime writes them; the frames of [`Control::Started`] follow them.
    pub fn write(self, to: &mut Vec<u8>) {
        match self {
            Self::Returned => to.push(ControlByte::RETURNED),
            Self::Entered(function) => {
                let (bytes, length) = entered(function);
                to.extend(&bytes[..length]);
            }
            Self::Unwound(frame) => {
                to.push(ControlByte::UNWOUND);
                to.extend(frame.to_le_bytes());
            }
            Self::Ended(Ending(reason)) => to.extend([ControlByte::ENDED, reason]),
            Self::Started(at, count) => {
                to.push(ControlByte::STARTED);
                to.extend(at.map_or(u64::MAX, WrittenAt::pack).to_le_bytes());
                to.extend(count.to_le_bytes());
            }
            Self::SwitchedOff => to.push(ControlByte::SWITCHED_OFF),
            Self::SwitchedOn => to.push(ControlByte::SWITCHED_ON),
            Self::Time(stamp) => {
                to.push(ControlByte::TIME);
                to.extend(stamp.to_le_bytes());
            }
            Self::Revived(frame) => {
                to.push(ControlByte::REVIVED);
                to.extend(frame.to_le_bytes());
            }
        }
    }
}

/// In the number of frames of [`Control::Started`]: there are more around them, or may be.
pub const MORE_FRAMES: u32 = 1 << 31;

/// Where a function has just written something. Its number in the stream is: function (32 bits), kind of the place (3
/// bits, in the order of [`Place`]), number of the block, edge or call (29 bits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenAt {
    /// The function.
    pub function: FunctionId,
    /// The place of its probe.
    pub place: Place,
}

impl WrittenAt {
    /// The number of the place in the stream.
    #[must_use]
    pub fn pack(self) -> u64 {
        let (kind, index) = match self.place {
            Place::Start(block) => (0, block.0),
            Place::End(block) => (1, block.0),
            Place::Edge(edge) => (2, edge.0),
            Place::Call(call) => (3, call.0),
            Place::After(call) => (4, call.0),
        };
        u64::from(self.function.0) << 32 | kind << 29 | u64::from(index)
    }

    /// What a number means; `None` if it is none.
    #[must_use]
    pub fn unpack(number: u64) -> Option<Self> {
        let index = number as u32 & ((1 << 29) - 1);
        let place = match number >> 29 & 7 {
            0 => Place::Start(Block(index)),
            1 => Place::End(Block(index)),
            2 => Place::Edge(Edge(index)),
            3 => Place::Call(CallId(index)),
            4 => Place::After(CallId(index)),
            _ => return None,
        };
        Some(Self { function: FunctionId((number >> 32) as u32), place })
    }
}

/// An activation that is in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Calling {
    /// The function.
    pub function: FunctionId,
    /// The call.
    pub call: CallId,
}

/// Where a signal interrupted a frame outside of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted {
    /// The function of the frame's outermost activation, if it is known; others may be inlined there.
    pub function: Option<FunctionId>,
    /// The instruction: what it means is the resolver's business.
    pub address: u64,
}

/// What a frame in the stream means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The activations in it, innermost first. For [`Control::Unwound`]: those that end. One that a signal interrupted
    /// outside of calls is left out.
    pub activations: Vec<Calling>,
    /// For [`Control::Unwound`]: the activation, around those, with the landing pad that the exception reached. Its
    /// call is an invoke.
    pub caught_at: Option<Calling>,
    /// A signal interrupted the frame outside of calls.
    pub interrupted: Option<Interrupted>,
}

/// Makes activations of frames.
pub trait Resolve {
    /// What the frame means; `None` if it belongs to no function of the program.
    fn frame(&self, frame: u64) -> Option<Frame>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_records_have_two_bytes_or_five() {
        for number in [0, 1, SHORTS - 1, SHORTS, 12_345, MOST_SHORT - 1] {
            let (bytes, length) = entered(FunctionId(number));
            assert_eq!(length, 2);
            assert!(bytes[0] >= ControlByte::SHORT);
            assert_eq!(short(bytes[0], bytes[1]), FunctionId(number));
        }
        assert_eq!(entered(FunctionId(MOST_SHORT)), ([ControlByte::ENTERED, 0, 0xf0, 0, 0], 5));
    }
}
