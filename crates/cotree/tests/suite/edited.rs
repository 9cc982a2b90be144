//! A source that was edited between the build and the look at its counts.

use crate::project::{Project, succeed};
use std::fs;
use std::process::Command;

const SOURCE: &str =
    "int main(int argc, char **argv) {\n    int t = 0;\n    if (argc > 1)\n        t = 3;\n    return t;\n}\n";
const EDITED: &str = "was edited since the program was built";

fn notes(project: &Project, line: &str) -> String {
    let output = project.cotree(line).output().expect("cotree starts");
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn sources_that_were_edited_since_the_build_are_named() {
    let project = Project::new(&[("st.c", SOURCE), ("other.c", "int other(void) { return 1; }\n")]);
    let source = project.path("st.c");
    let views = [
        "report p.cotree",
        "annotate p.cotree",
        "costs p.cotree",
        "export p.cotree",
        "export --format lcov p.cotree",
        "export --format callgrind p.cotree",
    ];
    for options in ["-O0", "-O2 -g", "-O0 -flto"] {
        fs::write(&source, SOURCE).expect("a file");
        project.ok(&format!("cc {options} st.c other.c -o st"));
        succeed(project.command(project.path("st")).env("COTREE_FILE", "p.cotree"));
        // A copy of the same text is no other version, be it newer.
        fs::write(&source, SOURCE).expect("a file");
        for view in views {
            assert_eq!(notes(&project, view), "", "{options}: {view}");
        }
        fs::write(&source, format!("/* new first line */\n{SOURCE}")).expect("a file");
        // An older time hides nothing.
        succeed(Command::new("touch").args(["-d", "2001-01-01"]).arg(&source));
        for view in views {
            let said = notes(&project, view);
            assert!(said.contains("st.c: ") && said.contains(EDITED) && !said.contains("other.c"), "{view}: {said}");
        }
        assert_eq!(notes(&project, "annotate --file other.c p.cotree"), "");
        fs::remove_file(&source).expect("a file");
        assert_eq!(notes(&project, "report p.cotree"), "");
    }
    // Without checksums there are times.
    fs::write(&source, SOURCE).expect("a file");
    project.ok("cc -O0 -gdwarf-4 st.c other.c -o st");
    succeed(project.command(project.path("st")).env("COTREE_FILE", "p.cotree"));
    succeed(Command::new("touch").args(["-d", "+1 hour"]).arg(&source));
    let said = notes(&project, "annotate p.cotree");
    assert!(said.contains("st.c: ") && !said.contains("other.c"), "{said}");
    // Objects of two versions.
    project.ok("--profile trace cc -O0 -c st.c -o one.o");
    fs::write(&source, format!("#define main second\n{SOURCE}")).expect("a file");
    project.ok("--profile trace cc -O0 -c st.c -o two.o");
    project.ok("--profile trace cc one.o two.o -o st");
    succeed(project.command(project.path("st")).env("COTREE_FILE", "p.cotree"));
    for view in ["annotate p.cotree", "trace p.cotree"] {
        assert!(notes(&project, view).contains("built from several versions"), "{view}");
    }
}

#[test]
fn rust_sources_too() {
    let project = Project::new(&[
        ("Cargo.toml", "[package]\nname = \"st\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/main.rs", "fn main() {\n    println!(\"{}\", std::env::args().count());\n}\n"),
    ]);
    let mut build = project.cotree("cargo run -q --offline");
    succeed(build.env("COTREE_FILE", "p.cotree"));
    assert!(!notes(&project, "report p.cotree").contains(EDITED));
    fs::write(project.path("src/main.rs"), "// new\nfn main() {}\n").expect("a file");
    assert!(notes(&project, "report p.cotree").contains(EDITED));
}
