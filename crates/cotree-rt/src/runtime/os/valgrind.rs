//! Tells valgrind's detectors of races which memory is the runtime's.
//!
//! Helgrind and DRD know the locks of libpthread and not ours, so that they would report what threads hand on to each
//! other under these. A request to valgrind is a sequence of instructions that do nothing elsewhere (`valgrind.h`);
//! tools other than the one that it is for take no notice.

use core::arch::asm;

/// `VALGRIND_HG_DISABLE_CHECKING` of `helgrind.h`.
const HELGRIND_IGNORE: usize = 0x4847_0127;
/// `DRD_IGNORE_VAR` of `drd.h`.
const DRD_IGNORE: usize = 0x4452_0002;

/// Memory that the detectors don't look at, until it is unmapped.
#[inline(never)]
pub fn ignore(at: *const u8, len: usize) {
    for request in [HELGRIND_IGNORE, DRD_IGNORE] {
        let arguments = [request, at as usize, len, 0, 0, 0];
        // SAFETY: four rotations that add up to none, and an exchange of a register with itself. Valgrind reads the
        // arguments and writes an answer.
        unsafe {
            asm!("rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
                in("rax") arguments.as_ptr(), inout("rdx") 0_usize => _, options(nostack));
        }
    }
}
