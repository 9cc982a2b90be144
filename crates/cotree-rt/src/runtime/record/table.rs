//! The table of recorders, and what happens to all of them.

use super::dispatch::recorders;
#[cfg(not(feature = "counters-alone"))]
use super::paths;
#[cfg(not(feature = "counters-alone"))]
use super::queries;
use super::recorder::{Activation, Child, Recorder};
#[cfg(not(feature = "counters-alone"))]
use super::trace;
#[cfg(not(feature = "counters-alone"))]
use super::{addressees, call_sums, handler_stack};
use super::{counters, early};
use crate::arch::registers::FrameRegisters;
use crate::layout::Flags;
use crate::runtime::slabs::copy::ProfileCopy;
use crate::runtime::stack::walk::Top;
use crate::runtime::unit::Image;
use core::ffi::c_int;

#[cfg(feature = "counters-alone")]
recorders! {
    early::EarlyExits,
    counters::Counters,
}
#[cfg(not(feature = "counters-alone"))]
recorders! {
    early::EarlyExits,
    paths::Paths,
    counters::Counters,
    trace::Trace,
    queries::Queries,
    handler_stack::HandlerStacks,
    call_sums::CallSums,
    addressees::Addressees,
}

/// The recorders during a walk whose frames are recorded in line.
#[derive(Clone, Copy)]
pub struct Frames {
    image: Image,
    destinations: Destinations,
}

impl Frames {
    /// `None`: nothing is recorded now.
    #[inline(always)]
    pub fn get() -> Option<Self> {
        Some(Self { image: Image::get(), destinations: Destinations::get()? })
    }

    /// The unit's image.
    #[cfg(not(feature = "shared-library"))]
    pub fn image(self) -> Image {
        self.image
    }

    /// Records the activation at the code address, if it is one of this unit.
    #[inline(always)]
    pub fn record(self, pc: u64, tag: u64, delta: i64, registers: Option<&FrameRegisters>) {
        if let Some(frame) = Activation::new(self.image, pc, tag, delta, registers) {
            self.destinations.frame(&frame);
        }
    }
}

/// Records one activation, if it is one of this unit.
#[inline]
pub fn frame(pc: u64, tag: u64, delta: i64, registers: Option<&FrameRegisters>) {
    if let Some(frame) = Activation::new(Image::get(), pc, tag, delta, registers)
        && let Some(destinations) = Destinations::get()
    {
        destinations.frame(&frame);
    }
}
