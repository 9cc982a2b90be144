//! The linker's side of the plugin interface: the types of binutils' `plugin-api.h`, version 1, as far as we use them.
//!
//! Every linker hands `onload` a *transfer vector*: tagged values, some plain, some functions to call. Unknown tags are
//! skipped, absent ones are `None`, so one plugin serves old and new linkers of all three makes.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `enum ld_plugin_status`.
pub type Status = c_int;
/// `LDPS_OK`.
pub const OK: Status = 0;
/// `LDPS_NO_SYMS`: from version 3 of `get_symbols`, "this file is not part of the link".
pub const NO_SYMS: Status = 1;
/// `LDPS_ERR`.
pub const ERR: Status = 3;

/// Tags of the transfer vector (`enum ld_plugin_tag`).
pub mod tag {
    use std::ffi::c_int;

    pub const NULL: c_int = 0;
    pub const LINKER_OUTPUT: c_int = 3;
    pub const OPTION: c_int = 4;
    pub const REGISTER_CLAIM_FILE_HOOK: c_int = 5;
    pub const REGISTER_ALL_SYMBOLS_READ_HOOK: c_int = 6;
    pub const REGISTER_CLEANUP_HOOK: c_int = 7;
    pub const ADD_SYMBOLS: c_int = 8;
    pub const GET_SYMBOLS: c_int = 9;
    pub const ADD_INPUT_FILE: c_int = 10;
    pub const MESSAGE: c_int = 11;
    pub const OUTPUT_NAME: c_int = 15;
    pub const GET_SYMBOLS_V2: c_int = 25;
    pub const GET_SYMBOLS_V3: c_int = 28;
    pub const GET_WRAP_SYMBOLS: c_int = 32;
    pub const ADD_SYMBOLS_V2: c_int = 33;
    pub const GET_API_VERSION: c_int = 34;
}

/// Severities of messages (`enum ld_plugin_level`).
pub mod level {
    use std::ffi::c_int;

    pub const INFO: c_int = 0;
    pub const WARNING: c_int = 1;
    pub const FATAL: c_int = 3;
}

/// Kinds of output (`enum ld_plugin_output_file_type`).
pub mod output {
    use std::ffi::c_int;

    pub const REL: c_int = 0;
    pub const DYN: c_int = 2;
    pub const PIE: c_int = 3;
}

/// Kinds of symbols (`enum ld_plugin_symbol_kind`).
pub mod kind {
    use std::ffi::c_char;

    pub const DEF: c_char = 0;
    pub const WEAKDEF: c_char = 1;
    pub const UNDEF: c_char = 2;
    pub const WEAKUNDEF: c_char = 3;
    pub const COMMON: c_char = 4;
}

/// Visibilities (`enum ld_plugin_symbol_visibility`).
pub mod visibility {
    use std::ffi::c_int;

    pub const DEFAULT: c_int = 0;
    pub const PROTECTED: c_int = 1;
    pub const HIDDEN: c_int = 3;
}

/// Types of symbols (`enum ld_plugin_symbol_type`), read by version 2 of `add_symbols`.
pub mod symbol_type {
    use std::ffi::c_char;

    pub const UNKNOWN: c_char = 0;
    pub const FUNCTION: c_char = 1;
    pub const VARIABLE: c_char = 2;
}

/// Verdicts on symbols (`enum ld_plugin_symbol_resolution`).
pub mod resolution {
    use std::ffi::c_int;

    pub const UNKNOWN: c_int = 0;
    pub const UNDEF: c_int = 1;
    pub const PREVAILING_DEF: c_int = 2;
    pub const PREVAILING_DEF_IRONLY: c_int = 3;
    pub const PREVAILING_DEF_IRONLY_EXP: c_int = 9;
}

/// `LAPI_V0` and `LAPI_V1`. Version 1 promises that our claim-file handler may be called from several threads.
pub const LAPI_V0: c_int = 0;
pub const LAPI_V1: c_int = 1;

/// `struct ld_plugin_input_file`.
#[repr(C)]
pub struct InputFile {
    pub name: *const c_char,
    pub fd: c_int,
    pub offset: i64,
    pub filesize: i64,
    pub handle: *mut c_void,
}

/// `struct ld_plugin_symbol`. The four bytes after `version` stand in the order of little-endian hosts.
#[repr(C)]
pub struct Symbol {
    pub name: *mut c_char,
    pub version: *mut c_char,
    pub def: c_char,
    pub symbol_type: c_char,
    pub section_kind: c_char,
    pub unused: c_char,
    pub visibility: c_int,
    pub size: u64,
    pub comdat_key: *mut c_char,
    pub resolution: c_int,
}

#[cfg(not(target_endian = "little"))]
compile_error!("struct ld_plugin_symbol is laid out otherwise on big-endian hosts");

pub type ClaimFile = unsafe extern "C" fn(file: *const InputFile, claimed: *mut c_int) -> Status;
pub type Hook = unsafe extern "C" fn() -> Status;
pub type RegisterClaimFile = unsafe extern "C" fn(ClaimFile) -> Status;
pub type RegisterHook = unsafe extern "C" fn(Hook) -> Status;
pub type AddSymbols = unsafe extern "C" fn(handle: *mut c_void, count: c_int, symbols: *const Symbol) -> Status;
pub type GetSymbols = unsafe extern "C" fn(handle: *const c_void, count: c_int, symbols: *mut Symbol) -> Status;
pub type AddInputFile = unsafe extern "C" fn(path: *const c_char) -> Status;
pub type Message = unsafe extern "C" fn(level: c_int, format: *const c_char, ...) -> Status;
pub type GetWrapSymbols = unsafe extern "C" fn(count: *mut u64, names: *mut *const *const c_char) -> Status;
pub type GetApiVersion = unsafe extern "C" fn(
    plugin: *const c_char,
    plugin_version: *const c_char,
    minimal: c_int,
    maximal: c_int,
    linker: *mut *const c_char,
    linker_version: *mut *const c_char,
) -> c_int;

/// One entry of the transfer vector (`struct ld_plugin_tv`).
#[repr(C)]
pub struct TransferValue {
    pub tag: c_int,
    pub value: Value,
}

/// `tv_u`: which member holds follows from the tag.
#[repr(C)]
#[derive(Clone, Copy)]
pub union Value {
    pub number: c_int,
    pub string: *const c_char,
    pub register_claim_file: RegisterClaimFile,
    pub register_hook: RegisterHook,
    pub add_symbols: AddSymbols,
    pub get_symbols: GetSymbols,
    pub add_input_file: AddInputFile,
    pub message: Message,
    pub get_wrap_symbols: GetWrapSymbols,
    pub get_api_version: GetApiVersion,
}

const _: () = {
    assert!(size_of::<c_uint>() == 4);
    assert!(size_of::<TransferValue>() == 16);
    assert!(size_of::<InputFile>() == 40);
    assert!(size_of::<Symbol>() == 48);
};
