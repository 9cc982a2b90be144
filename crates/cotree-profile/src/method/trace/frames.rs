//! What frames in a stream mean: return addresses as chains of activations, through the code map.

use crate::binary::BinaryFile;
use cotree_core::ids::{FunctionId, Site};
use cotree_core::method::trace::stream::{Calling, Frame, Interrupted, Resolve};
use cotree_rt::layout::{AT_LANDING_PAD, INTERRUPTED};

impl Resolve for &BinaryFile {
    fn frame(&self, frame: u64) -> Option<Frame> {
        let address = frame & !(INTERRUPTED | AT_LANDING_PAD);
        if frame & INTERRUPTED != 0 {
            if !self.is_known_code(address) {
                // Code of others in the same image, as a static libc's: what called it is in a call. If that is a call
                // of the runtime in the middle of a probe, the frame around it is found to be interrupted there.
                return Some(Frame::default());
            }
            let interrupted = Interrupted { function: self.function_at(address), address };
            return Some(Frame { interrupted: Some(interrupted), ..Frame::default() });
        }
        let Some(chain) = self.chain_at(frame) else {
            let call = address.saturating_sub(1);
            if !self.is_known_code(call) {
                // Code of others in the same image, as that which calls `main`.
                return Some(Frame::default());
            }
            // A call that no activation is thought to end in, as those of `strlen` are: as if the call itself was
            // interrupted.
            let interrupted = Interrupted { function: self.function_at(call), address: call };
            return Some(Frame { interrupted: Some(interrupted), ..Frame::default() });
        };
        let calling = |(function, site): (FunctionId, Site)| {
            Some(Calling { function, call: self.function(function).calls.call_of(site)? })
        };
        let activations = chain.abandoned.into_iter().map(calling).collect::<Option<_>>()?;
        Some(Frame { activations, caught_at: chain.caught_at.and_then(calling), interrupted: None })
    }
}
