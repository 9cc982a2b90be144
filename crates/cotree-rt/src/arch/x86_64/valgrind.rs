//! Requests to valgrind: a sequence of instructions that do nothing elsewhere (`valgrind.h`).

use core::arch::asm;

/// Makes a request; its answer is not read.
pub fn request(arguments: &[usize; 6]) {
    // SAFETY: four rotations that add up to none, and an exchange of a register with itself. Valgrind reads the
    // arguments and writes an answer.
    unsafe {
        asm!("rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51", "xchg rbx, rbx",
            in("rax") arguments.as_ptr(), inout("rdx") 0_usize => _, options(nostack));
    }
}
