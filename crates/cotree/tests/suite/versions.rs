//! Parts that different versions of cotree have made: each is refused in a sentence, and no number comes of them.

use crate::project::Project;
use object::{Object, ObjectSection, ObjectSymbol};
use std::fs;
use std::path::Path;

const SOURCE: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 5; }\n";

/// A program with a profile of one run.
fn profiled() -> Project {
    let project = Project::new(&[("main.c", SOURCE)]);
    project.ok("cc -O1 main.c -o program");
    let output = project.command(project.path("program")).env("COTREE_FILE", "p.cotree").output().expect("it starts");
    assert_eq!(output.status.code(), Some(5));
    project
}

/// Sets the 32 bits at this place of a file.
fn set(path: &Path, at: u64, value: u32) {
    let mut bytes = fs::read(path).expect("a file");
    let at = usize::try_from(at).expect("a small file");
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    fs::write(path, bytes).expect("a file");
}

#[test]
fn a_program_of_parts_that_do_not_fit_runs_without_a_profile_and_says_so() {
    let project = profiled();
    fs::remove_file(project.path("p.cotree")).expect("a profile");
    let path = project.path("program");
    let bytes = fs::read(&path).expect("a program");
    let file = object::File::parse(&*bytes).expect("ELF");
    let unit = file.symbols().find(|symbol| symbol.name() == Ok("__cotree_unit")).expect("a descriptor");
    let section = file.section_by_index(unit.section_index().expect("it is defined")).expect("a section");
    let (start, _) = section.file_range().expect("bytes");
    // The version of the interface comes first.
    set(&path, start + unit.address() - section.address(), 99);
    let output = project.command(&path).env("COTREE_FILE", "p.cotree").output().expect("it starts");
    assert_eq!((output.status.code(), &*output.stdout), (Some(5), &b"hello\n"[..]));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "cotree: no profile of this program: its parts are of different versions of cotree; build it anew with one of them\n"
    );
    let written = fs::read_dir(project.path(".")).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let written: Vec<_> = written.filter(|name| name.to_string_lossy().contains(".cotree")).collect();
    assert!(written.is_empty(), "{written:?}");
}

#[test]
fn maps_and_profiles_of_other_versions_are_refused() {
    let project = profiled();
    let path = project.path("p.cotree");
    let whole = fs::read(&path).expect("a profile");
    for version in [0, 99] {
        set(&path, 8, version);
        for command in ["report p.cotree", "merge p.cotree -o sum.cotree"] {
            let text = project.fails(command);
            assert!(
                text.contains(&format!("p.cotree has format version {version}, this cotree reads version")),
                "{text}"
            );
            assert!(text.contains("use the cotree that built the program, or build and run it again"), "{text}");
        }
    }
    fs::write(&path, whole).expect("a profile");
    assert!(project.ok("report p.cotree").contains("exact: every count"));

    let program = project.path("program");
    let bytes = fs::read(&program).expect("a program");
    let map = bytes.windows(8).position(|window| window == b"COTREEMP").expect("a map") as u64;
    set(&program, map + 8, 99);
    let text = project.fails("report p.cotree");
    assert!(text.contains("program has format version 99, this cotree reads version"), "{text}");
    assert!(text.contains("use the cotree that built it, or build it again"), "{text}");
    assert!(!project.path("sum.cotree").exists());
}
