//! Parts of the section that says of decisions what the compiler's map does not (docs/formats.md, "Decisions").

use cotree_profile::coverage::DECISIONS;
use std::fmt::Write as _;

/// The flags of a part that each module has for itself.
pub(super) const ONCE_PER_MODULE: &str = "\"aR\",@progbits";

/// Assembly that says that a module's decisions are counted, with lines on the outcomes of some.
pub(super) fn of_map(outcomes: &str) -> String {
    assembly(ONCE_PER_MODULE, &format!("C\t1\n{outcomes}"))
}

/// Assembly that writes a part with these flags of the section.
pub(super) fn assembly(flags: &str, text: &str) -> String {
    let mut out = format!("\t.pushsection {DECISIONS},{flags}\n");
    for part in text.as_bytes().chunks(64) {
        let bytes: Vec<String> = part.iter().map(u8::to_string).collect();
        let _ = writeln!(out, "\t.byte {}", bytes.join(","));
    }
    out.push_str("\t.popsection\n");
    out
}
