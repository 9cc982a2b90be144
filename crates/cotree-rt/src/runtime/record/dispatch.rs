//! Passes hooks on to the recorders of the [table](super::table), by direct calls, which are inlined.

/// From the table of recorders, a function for each hook that calls all of them in the order of the table.
macro_rules! recorders {
    ($($module:ident::$recorder:ident,)*) => {
        /// Where the recorders put the frames of a stack walk.
        #[derive(Clone, Copy)]
        struct Destinations {
            $($module: <$module::$recorder as Recorder>::Destination,)*
        }

        impl Destinations {
            #[inline(always)]
            fn get() -> Option<Self> {
                Some(Self { $($module: $module::$recorder::walk_begins()?,)* })
            }

            #[inline(always)]
            fn frame(self, frame: &Activation) {
                $($module::$recorder::frame(self.$module, frame);)*
            }
        }

        /// See [`Recorder::LASTING_FLAGS`].
        pub const LASTING_FLAGS: Flags = Flags::NONE$(.with($module::$recorder::LASTING_FLAGS))*;

        /// See [`Recorder::is_recording_at`].
        pub fn is_recording_at(pc: u64) -> bool {
            false $(|| $module::$recorder::is_recording_at(pc))*
        }

        /// See [`Recorder::make_room`].
        pub fn make_room(file: c_int) {
            $($module::$recorder::make_room(file);)*
        }

        /// See [`Recorder::begin`].
        pub fn begin(front: *mut u8) {
            $($module::$recorder::begin(front);)*
        }

        /// See [`Recorder::thread_starts`].
        pub fn thread_starts(thread: usize, thread_pointer: u64) {
            $($module::$recorder::thread_starts(thread, thread_pointer);)*
        }

        /// See [`Recorder::thread_ends`].
        pub fn thread_ends() {
            $($module::$recorder::thread_ends();)*
        }

        /// See [`Recorder::handler_begins`].
        pub fn handler_begins(frame: u64) {
            $($module::$recorder::handler_begins(frame);)*
        }

        /// See [`Recorder::handler_ends`].
        pub fn handler_ends(frame: u64, left: bool) {
            $($module::$recorder::handler_ends(frame, left);)*
        }

        /// See [`Recorder::jump_is_unsure`].
        pub fn jump_is_unsure() {
            $($module::$recorder::jump_is_unsure();)*
        }

        /// See [`Recorder::interrupted`].
        pub fn interrupted() {
            $($module::$recorder::interrupted();)*
        }

        /// See [`Recorder::forked`].
        pub fn forked(child: &Child) {
            $($module::$recorder::forked(child);)*
        }

        /// See [`Recorder::complete`].
        pub fn complete(alone: bool) {
            $($module::$recorder::complete(alone);)*
        }

        /// See [`Recorder::loss`]; the first recorder that misses something says so.
        pub fn loss(flags: Flags) -> Option<&'static str> {
            None$(.or_else(|| $module::$recorder::loss(flags)))*
        }

        /// See [`Recorder::close`].
        pub fn close() {
            $($module::$recorder::close();)*
        }

        /// See [`Recorder::clear`].
        pub fn clear() {
            $($module::$recorder::clear();)*
        }

        /// The bytes that each recorder needs in a copy.
        pub struct Rooms {
            $($module: usize,)*
        }

        impl Rooms {
            /// See [`Recorder::room_in_copy`]. Every room is a number of whole pages.
            pub fn wanted(top: Top<'_>) -> Self {
                let pages = |bytes: usize| bytes.next_multiple_of(crate::layout::PAGE as usize);
                Self { $($module: pages($module::$recorder::room_in_copy(top)),)* }
            }

            /// Bytes of all rooms.
            pub fn total(&self) -> usize {
                0 $(+ self.$module)*
            }

            /// See [`Recorder::copy`].
            pub fn fill(&self, copy: &mut ProfileCopy) {
                $($module::$recorder::copy(copy, self.$module);)*
            }
        }

        /// See [`Recorder::frame_in_copy`].
        pub fn frame_in_copy(copy: &mut ProfileCopy, frame: &Activation) {
            $($module::$recorder::frame_in_copy(copy, frame);)*
        }
    };
}
pub(super) use recorders;
