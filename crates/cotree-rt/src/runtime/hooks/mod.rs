//! The hooks: functions that the runtime puts in front of those of libc and the unwinder, by kind. A shared library
//! hooks nothing: it relies on the executable's runtime, and has only the entry points that its generated code calls.

pub mod builtin_setjmp;
#[cfg(not(feature = "shared-library"))]
pub mod clone;
#[cfg(not(feature = "shared-library"))]
pub mod end;
#[cfg(not(feature = "shared-library"))]
pub mod exception;
#[cfg(not(feature = "shared-library"))]
pub mod exec;
#[cfg(not(feature = "shared-library"))]
pub mod fork;
#[cfg(not(feature = "shared-library"))]
pub mod interpose;
#[cfg(not(feature = "shared-library"))]
pub mod jump;
#[cfg(not(feature = "shared-library"))]
pub mod random;
#[cfg(not(feature = "shared-library"))]
pub mod raw;
pub mod resume;
#[cfg(not(feature = "shared-library"))]
pub mod signals;
#[cfg(not(feature = "shared-library"))]
pub mod spawn;
#[cfg(not(any(feature = "shared-library", feature = "static-executable")))]
pub mod unload;
