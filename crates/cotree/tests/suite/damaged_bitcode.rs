//! Bitcode that is damaged is refused in a sentence: LLVM trusts the lengths and numbers in it, and crashes over some.

use crate::project::Project;
use std::fs;

const SOURCE: &str = "#include <stdio.h>\nstatic int f(int x) { return x > 3 ? x * 2 : x + 1; }\n\
                      int main(int n, char **v) { for (int i = 0; i < n; i++) printf(\"%d %s\\n\", f(i), v[i]); return 0; }\n";

/// Each command ends by itself, says why, and leaves nothing behind, whichever word of the bitcode is wrong.
#[test]
fn is_refused_in_a_sentence() {
    let project = Project::new(&[("a.c", SOURCE)]);
    project.ok("cc -O2 -c a.c -o a.o");
    let good = fs::read(project.path("a.o")).expect("an object");
    let mut crashes = 0;
    for at in (64..good.len() - 64).step_by(good.len() / 40) {
        if crashes > 1 {
            break;
        }
        let mut bytes = good.clone();
        bytes[at] ^= 0x5a;
        bytes[at + 1] ^= 0x24;
        fs::write(project.path("bad.o"), bytes).expect("a file");
        for line in ["plan bad.o", "instrument bad.o -o made", "cc bad.o -o made"] {
            // One crash shows how the others end.
            if line != "plan bad.o" && crashes != 1 {
                continue;
            }
            let output = project.cotree(line).output().expect("it starts");
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code().is_some(), "{line}, byte {at}: {} {text}", output.status);
            assert!(!text.contains("ended by signal"), "{line}, byte {at}: {text}");
            assert!(!text.contains("LLVM ERROR"), "{line}, byte {at}: {text}");
            if !output.status.success() {
                assert!(text.contains("error: ") && !project.path("made").exists(), "{line}, byte {at}: {text}");
                crashes += usize::from(line == "plan bad.o" && text.contains("LLVM crashes over it"));
            }
            let _ = fs::remove_file(project.path("made"));
        }
    }
    assert!(crashes > 0, "some of it crashes LLVM");
}

/// Names in valid bitcode can be wrong, too: here that of a processor.
#[test]
fn a_processor_that_cannot_run_it_is_named_in_a_sentence() {
    let text = "target triple = \"x86_64-pc-linux-gnu\"\ndefine i32 @main() \"target-cpu\"=\"i386\" { ret i32 0 }\n";
    let project = Project::new(&[("a.ll", text)]);
    let output = project.cotree("cc -Wno-override-module a.ll -o made").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && !project.path("made").exists(), "{text}");
    assert!(text.contains("error: LLVM cannot compile this: 64-bit code requested"), "{text}");
}
