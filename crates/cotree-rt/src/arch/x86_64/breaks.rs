//! Calls in the place of a function's first instructions, and where they lead.

/// A call takes so many bytes.
pub const LENGTH: usize = 5;

/// The first bytes of a function.
pub type Bytes = [u8; LENGTH];

unsafe extern "C" {
    fn cotree_rt_entered();
}

/// A call at that address of what [`entered_stub`] defines; `None` if that is too far away.
pub fn call_from(address: u64) -> Option<Bytes> {
    let to = cotree_rt_entered as unsafe extern "C" fn() as usize as u64;
    let distance = to.wrapping_sub(address.wrapping_add(LENGTH as u64)) as i64;
    let [first, second, third, fourth] = i32::try_from(distance).ok()?.to_le_bytes();
    Some([0xE8, first, second, third, fourth])
}

/// `entered_stub!(entered)`: where a call in the place of a function's first instructions leads. It calls `entered`
/// with a pointer to the [`Caller`](super::registers::Caller) of that function and the function's address, and goes on
/// at the address that it gives with all registers but r11 as they were: no function gets arguments there. The runtime
/// uses no vector registers wider than these.
macro_rules! entered_stub {
    ($entered:path) => {
        core::arch::global_asm!(
            ".pushsection .text.cotree.entered,\"ax\",@progbits",
            ".p2align 4",
            $crate::arch::linkage::hidden!("cotree_rt_entered"),
            ".cfi_startproc",
            ".cfi_adjust_cfa_offset 8",
            "pop r11",
            ".cfi_adjust_cfa_offset -8",
            $crate::arch::stubs::save!(),
            "sub rsp, 584",
            ".cfi_adjust_cfa_offset 584",
            "fxsave64 [rsp]",
            "mov [rsp + 512], rbx",
            "mov [rsp + 520], rbp",
            "mov [rsp + 528], r12",
            "mov [rsp + 536], r13",
            "mov [rsp + 544], r14",
            "mov [rsp + 552], r15",
            "lea rax, [rsp + 656]",
            "mov [rsp + 560], rax",
            "mov rax, [rsp + 648]",
            "mov [rsp + 568], rax",
            "lea rdi, [rsp + 512]",
            "lea rsi, [r11 - {length}]",
            "call {entered}",
            "mov r11, rax",
            "fxrstor64 [rsp]",
            "add rsp, 584",
            ".cfi_adjust_cfa_offset -584",
            $crate::arch::stubs::restore!(),
            "jmp r11",
            ".cfi_endproc",
            ".size cotree_rt_entered, . - cotree_rt_entered",
            ".popsection",
            entered = sym $entered,
            length = const $crate::arch::breaks::LENGTH,
        );
    };
}
pub(crate) use entered_stub;
