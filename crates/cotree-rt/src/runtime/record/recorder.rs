//! What a recorder is, and what it is told.

use crate::arch::registers::FrameRegisters;
use crate::layout::Flags;
use crate::runtime::slabs::copy::ProfileCopy;
use crate::runtime::stack::walk::Top;
use crate::runtime::unit::Image;
use core::ffi::c_int;

/// What a method does at the events in the life of the process. Hooks run in any thread, and in signal handlers too.
pub trait Recorder {
    /// Where the recorder puts frames, which it looks up once per stack walk rather than once per frame.
    type Destination: Copy;

    /// Flags that it sets in the profile which stay when the end of the profile is taken back, since what they speak of
    /// is lost for good.
    const LASTING_FLAGS: Flags = Flags::NONE;

    /// Called before the frames of a walk. `None`: nothing is recorded now, by any recorder.
    fn walk_begins() -> Option<Self::Destination>;

    /// An activation ends without a return.
    fn frame(_to: Self::Destination, _frame: &Activation) {}

    /// Whether the code address is in code of the recorder's that generated code calls to record something. That has to
    /// look as if it took one instruction of the function: a walk takes the caller for interrupted there.
    fn is_recording_at(_pc: u64) -> bool {
        false
    }

    /// The file has been created and is open: the recorder may make the room that nearly every program needs.
    fn make_room(_file: c_int) {}

    /// A profile begins, in this thread. `front` is its header page and the table of early exits.
    fn begin(_front: *mut u8) {}

    /// The thread with this index starts: it is this one, or one that runs no code of the unit yet.
    fn thread_starts(_thread: usize, _thread_pointer: u64) {}

    /// This thread's start routine is over. Destructors of thread-local objects may still run.
    fn thread_ends() {}

    /// A signal handler of the program begins on this thread, with a frame at this address.
    fn handler_begins(_frame: u64) {}

    /// The handler with that frame is over: it has returned, or is `left` for good.
    fn handler_ends(_frame: u64, _left: bool) {}

    /// A jump leads to a frame that is not known, or one that was under way is taken back: what is said of frames is
    /// not all, or not in order.
    fn jump_is_unsure() {}

    /// A signal has interrupted this thread for good, be it in code of this unit, in a call that it makes, or
    /// elsewhere. The frames of the stack follow.
    fn interrupted() {}

    /// In a forked child, before it begins a profile of its own: the memory that maps the parent's file must not be
    /// written to.
    fn forked(_child: &Child) {}

    /// The profile is about to be summed up. `alone`: no other thread can be recording at the same time.
    fn complete(_alone: bool) {}

    /// What the user is told of a complete profile with these flags, before its name: something of the recorder's is
    /// missing.
    fn loss(_flags: Flags) -> Option<&'static str> {
        None
    }

    /// Nothing is recorded from now on.
    fn close() {}

    /// All counts become zero.
    fn clear() {}

    /// How many bytes the recorder needs in a copy of the profile, behind what is in the file. The stack whose frames
    /// will count in the copy has that top.
    fn room_in_copy(_top: Top<'_>) -> usize {
        0
    }

    /// Adds to a copy what is not in the file, where it can take the room that it asked for.
    fn copy(_copy: &mut ProfileCopy, _room: usize) {}

    /// An activation is on the stack while the copy is taken: there it counts as if it ended.
    fn frame_in_copy(_copy: &mut ProfileCopy, _frame: &Activation) {}
}

/// A forked child.
pub struct Child {
    /// The index of the thread that forked: the only one in the child.
    pub thread: usize,
    /// The thread forked in a signal handler, which may have interrupted the recording of something.
    pub interrupted: bool,
}

/// An activation of this unit that ends without a return.
pub struct Activation<'a> {
    /// The return address of the call that it is in, or the instruction at which it was interrupted.
    #[cfg(not(feature = "counters-alone"))]
    pub pc: u64,
    /// The address as it was linked.
    pub address: u64,
    /// [`crate::layout::INTERRUPTED`], [`crate::layout::AT_LANDING_PAD`], or 0.
    pub tag: u64,
    /// 1; −1 where it comes to life without a call instead, or an ending is taken back.
    pub delta: i64,
    /// What it has in registers, if anything is known of that ([`crate::runtime::unit::knows_registers`])
    /// and it can be found.
    #[cfg_attr(feature = "counters-alone", expect(dead_code, reason = "recorders of paths read them"))]
    pub registers: Option<&'a FrameRegisters>,
}

impl<'a> Activation<'a> {
    /// The activation at a code address, if that is in this unit.
    #[inline(always)]
    pub fn new(image: Image, pc: u64, tag: u64, delta: i64, registers: Option<&'a FrameRegisters>) -> Option<Self> {
        image.link_address(pc).map(|address| Self {
            #[cfg(not(feature = "counters-alone"))]
            pc,
            address,
            tag,
            delta,
            registers,
        })
    }
}
