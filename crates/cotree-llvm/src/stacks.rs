//! Programs that change stacks by themselves: coroutines, fibers, green threads.
//!
//! Activations on a stack that is suspended when the process ends are seen by nobody, so the counts of such a program
//! must not be vouched for. Nothing tells at run time that a stack was changed by a few instructions of assembly. But
//! the link knows all of the program's code: a change of stacks is an instruction that gives the stack pointer a value
//! that is not made from itself or from the frame pointer. We look for it in the assembly of the bitcode, in the
//! machine code of native objects, and for the names of what the common libraries offer.

use crate::module::Module;
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, OpKind, Register};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};
use std::ffi::CStr;

/// Functions that change stacks: of the C library, of boost.context, libco and its copies, libaco, minicoro, libcoro.
pub(crate) const SWITCHES: [&CStr; 14] = [
    c"makecontext",
    c"swapcontext",
    c"jump_fcontext",
    c"make_fcontext",
    c"ontop_fcontext",
    c"jump_zcontext",
    c"co_switch",
    c"co_swap",
    c"acosw",
    c"aco_resume",
    c"mco_resume",
    c"_mco_switch",
    c"coro_transfer",
    c"coro_switch",
];

/// Is it the name of a function that changes stacks?
pub(crate) fn switches(symbol: &str) -> bool {
    SWITCHES.iter().any(|name| name.to_bytes() == symbol.as_bytes())
}

/// Does the machine code of a native object change stacks?
pub(crate) fn object_switches_stacks(bytes: &[u8]) -> bool {
    let Ok(file) = object::File::parse(bytes) else { return false };
    if file.architecture() != object::Architecture::X86_64 {
        return false;
    }
    file.sections().filter(|section| section.kind() == SectionKind::Text).any(|section| {
        let Ok(code) = section.data() else { return false };
        let labels = file.symbols().filter(|s| {
            s.section_index() == Some(section.index())
                && matches!(s.kind(), SymbolKind::Text | SymbolKind::Label | SymbolKind::Unknown)
        });
        let mut starts: Vec<u64> = labels.map(|s| s.address()).collect();
        starts.sort_unstable();
        code_switches_stacks(code, &starts)
    })
}

/// Does code, whose functions start at these offsets, change stacks?
///
/// A function with a frame pointer may set the stack pointer to anything: arrays of variable length do, and get
/// back by the frame pointer.
fn code_switches_stacks(code: &[u8], starts: &[u64]) -> bool {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut starts = starts.iter().copied().peekable();
    let mut framed = false;
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        while starts.next_if(|&start| start <= instruction.ip()).is_some() {
            framed = false;
        }
        framed |= matches!(instruction.code(), Code::Mov_r64_rm64 | Code::Mov_rm64_r64)
            && instruction.op0_register() == Register::RBP
            && instruction.op1_register() == Register::RSP;
        framed |= instruction.code() == Code::Lea_r64_m
            && instruction.op0_register() == Register::RBP
            && instruction.memory_base() == Register::RSP;
        if !framed && sets_stack_pointer(&instruction) {
            return true;
        }
    }
    false
}

/// Does the instruction give the stack pointer a value that is not made from it?
fn sets_stack_pointer(instruction: &Instruction) -> bool {
    let is_rsp = |operand: u32| {
        instruction.op_kind(operand) == OpKind::Register && instruction.op_register(operand) == Register::RSP
    };
    match instruction.code() {
        Code::Mov_r64_rm64 | Code::Mov_rm64_r64 => is_rsp(0),
        Code::Xchg_rm64_r64 | Code::Xchg_r64_RAX => is_rsp(0) || is_rsp(1),
        Code::Pop_r64 | Code::Pop_rm64 => is_rsp(0),
        Code::Lea_r64_m => is_rsp(0) && !matches!(instruction.memory_base(), Register::RSP | Register::RBP),
        _ => false,
    }
}

/// Does the module's own assembly (`global_asm!`, `asm` outside of functions) change stacks?
pub(crate) fn module_assembly_switches(module: &Module) -> bool {
    assembly_switches(&module.assembly())
}

/// Does assembly, of either syntax, change stacks? By the letter: an operand that the compiler fills in is not seen.
pub(crate) fn assembly_switches(text: &str) -> bool {
    if !text.contains("sp") {
        return false;
    }
    text.split(['\n', ';', '\r']).any(|statement| {
        let statement = statement.split(['#']).next().unwrap_or_default();
        // A label may stand in front.
        let statement = statement.rsplit(": ").next().unwrap_or_default().trim();
        let Some((mnemonic, operands)) = statement.split_once(char::is_whitespace) else { return false };
        let mut depth = 0;
        let mut operands: Vec<&str> = operands
            .split(|c| {
                depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
                c == ',' && depth == 0
            })
            .map(str::trim)
            .collect();
        let is_rsp = |operand: &&str| matches!(operand.trim_start_matches('%'), "rsp" | "esp");
        // AT&T writes registers with a percent sign and the destination last.
        if statement.contains('%') {
            operands.reverse();
        }
        let set = operands.first().is_some_and(is_rsp);
        let from_frame = operands.get(1).is_some_and(|o| {
            let made_of = |register: &str| o.contains(register);
            made_of("rbp") || made_of("ebp") || (mnemonic.starts_with("lea") && (made_of("rsp") || made_of("esp")))
        });
        match mnemonic {
            "mov" | "movq" | "movl" | "lea" | "leaq" | "pop" | "popq" => set && !from_frame,
            "xchg" | "xchgq" => operands.iter().any(is_rsp),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assembly_that_changes_stacks() {
        for text in [
            "movq %rdi, %rsp",
            "pushq %rbx\n\tmovq (%rsi), %rsp\n\tpopq %rbx",
            "mov rsp, rdi",
            "mov rsp, [rsi + 8]",
            "1: xchg %rax, %rsp",
            "xchg rsp, qword ptr [rdi]",
            "leaq -8(%rdi,%rax,8), %rsp # the new stack",
            "mov rsp, $0",
            "movq $1, %rsp",
            "pop rsp",
        ] {
            assert!(assembly_switches(text), "{text}");
        }
    }

    #[test]
    fn assembly_that_does_not() {
        for text in [
            "",
            "movq %rsp, %rdi",
            "mov rdi, rsp",
            "movq %rbp, %rsp",
            "subq $16, %rsp",
            "andq $-16, %rsp",
            "lea rsp, [rsp - 128]",
            "leaq -128(%rsp), %rsp",
            "movq (%rsp), %rax",
            "mov [rsp], rax",
            "pushq %rsp",
            ".symver espresso, esp@V1",
        ] {
            assert!(!assembly_switches(text), "{text}");
        }
    }

    #[test]
    fn machine_code_that_changes_stacks() {
        // mov %rdi,%rsp; ret
        assert!(code_switches_stacks(&[0x48, 0x89, 0xFC, 0xC3], &[0]));
        // mov 0x10(%rsi),%rsp; ret
        assert!(code_switches_stacks(&[0x48, 0x8B, 0x66, 0x10, 0xC3], &[0]));
        // xchg %rax,%rsp; ret
        assert!(code_switches_stacks(&[0x48, 0x94, 0xC3], &[0]));
    }

    #[test]
    fn frames_and_arrays_of_variable_length_do_not() {
        // push %rbp; mov %rsp,%rbp; sub %rax,%rsp; mov %rcx,%rsp; mov %rbp,%rsp; pop %rbp; ret
        let function = [0x55, 0x48, 0x89, 0xE5, 0x48, 0x29, 0xC4, 0x48, 0x89, 0xCC, 0x48, 0x89, 0xEC, 0x5D, 0xC3];
        assert!(!code_switches_stacks(&function, &[0]));
        // The same, and then a function that changes stacks.
        let mut both = function.to_vec();
        both.extend([0x48, 0x89, 0xFC, 0xC3]);
        assert!(code_switches_stacks(&both, &[0, function.len() as u64]));
        // sub $8,%rsp; add $8,%rsp; ret
        assert!(!code_switches_stacks(&[0x48, 0x83, 0xEC, 8, 0x48, 0x83, 0xC4, 8, 0xC3], &[0]));
    }
}
