//! Calls of functions by their addresses.

/// Calls a function address with a signature. The caller vouches that it has that signature.
macro_rules! call {
    ($address:expr => fn($($argument:expr => $type:ty),*) -> $result:ty) => {{
        let function: unsafe extern "C" fn($($type),*) -> $result = core::mem::transmute($address);
        function($($argument),*)
    }};
}
pub(crate) use call;
