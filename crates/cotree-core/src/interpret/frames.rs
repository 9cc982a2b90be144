//! The runtime's records in traces: frames that end or come to life without a call.

use crate::ids::{CallId, FunctionId};
use crate::method::trace::stream::{Calling, Frame, Resolve};

/// An exception reached a landing pad in the frame.
const LANDS: u64 = 1 << 63;

/// A frame, as the interpreter writes it.
pub(super) fn frame(function: FunctionId, call: CallId) -> u64 {
    u64::from(function.0) << 32 | u64::from(call.0)
}

/// The mark of a frame with the landing pad that an exception reached.
pub(super) fn at_landing_pad(function: FunctionId, call: CallId) -> u64 {
    frame(function, call) | LANDS
}

/// What the frames in traces of a [`Process`](super::Process) mean.
#[derive(Clone, Copy, Debug)]
pub struct Frames;

impl Resolve for Frames {
    fn frame(&self, frame: u64) -> Option<Frame> {
        let calling =
            Calling { function: FunctionId((frame >> 32) as u32 & i32::MAX as u32), call: CallId(frame as u32) };
        Some(match frame & LANDS {
            0 => Frame { activations: vec![calling], ..Frame::default() },
            _ => Frame { caught_at: Some(calling), ..Frame::default() },
        })
    }
}
