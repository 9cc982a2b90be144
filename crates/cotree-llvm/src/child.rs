//! What may crash, done in a child: LLVM ends the process that it crashes in.

use crate::error::Error;
use crate::extract::{self, Selection};
use crate::ffi;
use crate::module::Module;

/// Acts in a child with a copy of this process, in which LLVM's last words are not heard; false if a signal ended it.
pub(crate) fn in_child(act: impl FnOnce()) -> bool {
    // SAFETY: no other thread is at work that could hold a lock which the child needs; the child ends here, without
    // running what the parent has to run at its end. The path ends with a zero.
    unsafe {
        match libc::fork() {
            0 => {
                let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
                libc::dup2(nowhere, libc::STDERR_FILENO);
                limit(libc::RLIMIT_CORE, 0);
                act();
                libc::_exit(0)
            }
            -1 => true,
            child => {
                let mut status = 0;
                while libc::waitpid(child, &raw mut status, 0) == -1 {
                    if std::io::Error::last_os_error().kind() != std::io::ErrorKind::Interrupted {
                        return true;
                    }
                }
                !libc::WIFSIGNALED(status)
            }
        }
    }
}

/// Lets this process have no more than that of something.
fn limit(resource: libc::__rlimit_resource_t, most: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a structure of ours.
    unsafe {
        if libc::getrlimit(resource, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_cur.min(most);
            libc::setrlimit(resource, &raw const limit);
        }
    }
}

/// Refuses bitcode that LLVM crashes over: LLVM trusts the lengths and numbers in it. No other thread may be at work.
///
/// # Errors
/// If it is such bitcode, or there is no LLVM. Other mistakes are told of by whoever reads it for good.
pub fn refuse_damaged(name: &str, bitcode: &[u8]) -> Result<(), Error> {
    /// More than LLVM takes for any module, per byte of its bitcode, and what it takes for none.
    const MOST: [u64; 2] = [1 << 10, 8 << 30];
    ffi::ensure_loaded()?;
    let most = MOST[0].saturating_mul(bitcode.len() as u64).saturating_add(MOST[1]);
    let survives = in_child(|| {
        // A length that is wrong may be as much memory as a machine has.
        limit(libc::RLIMIT_AS, most);
        if let Ok(module) = Module::parse(name, bitcode) {
            drop(extract::extract(&module, &Selection::default()));
        }
    });
    let reason = || "LLVM crashes over it, so it is damaged".to_owned();
    survives.then_some(()).ok_or_else(|| Error::BadBitcode { module: name.into(), reason: reason() })
}

#[cfg(test)]
mod tests {
    use super::in_child;

    #[test]
    fn a_crash_is_seen_from_outside() {
        assert!(in_child(|| ()));
        assert!(!in_child(|| std::process::abort()));
    }
}
