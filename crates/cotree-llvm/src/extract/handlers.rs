//! Recognises functions that install signal handlers.

use std::ffi::CStr;

/// Their names in the C library.
pub(super) const INSTALLERS: [&CStr; 9] = [
    c"signal",
    c"sigaction",
    c"__sigaction",
    c"bsd_signal",
    c"sysv_signal",
    c"__sysv_signal",
    c"ssignal",
    c"sigset",
    c"sigvec",
];

/// Is it the name of such a function, or a version of it?
pub(crate) fn installs_handlers(symbol: &str) -> bool {
    let name = symbol.split('@').next().unwrap_or(symbol);
    INSTALLERS.iter().any(|installer| installer.to_bytes() == name.as_bytes())
}
