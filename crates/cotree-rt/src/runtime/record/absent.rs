//! The public interface of what this build of the runtime does not record: nothing is counted, nothing is switched on.
//! The functions that answer otherwise are in `queries` and in `trace`.

use core::arch::global_asm;

macro_rules! answer {
    ($symbol:literal, $answer:literal) => {
        global_asm!(
            concat!(".pushsection .text.cotree.", $symbol, ",\"ax\",@progbits"),
            concat!(".hidden ", $symbol, "\n.globl ", $symbol, "\n.type ", $symbol, ",@function\n", $symbol, ":"),
            ".cfi_startproc",
            "endbr64",
            concat!("mov eax, ", $answer),
            "ret",
            ".cfi_endproc",
            concat!(".size ", $symbol, ", . - ", $symbol),
            ".popsection",
        );
    };
}

answer!("cotree_event_count", "0");
// The kind is not counted.
answer!("cotree_event_limit", "1");
answer!("cotree_trace_start", "0");
answer!("cotree_trace_stop", "0");
