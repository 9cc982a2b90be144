//! What is added to a program: where all that is measured is in counters, the runtime brings nothing for paths, traces
//! and queries.

use crate::project::Project;
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::HashSet;
use std::fs;

/// A program that asks for what edge profiles have not; `main` returns what it is told.
const SOURCE: &str = "#include <stdint.h>\n\
    uint64_t cotree_event_count(int);\n\
    int cotree_event_limit(int, uint64_t, void (*)(void));\n\
    void cotree_trace_start(void), cotree_trace_stop(void);\n\
    static void struck(void) { __builtin_trap(); }\n\
    int main(void) {\n\
      cotree_trace_start();\n\
      uint64_t events = cotree_event_count(0);\n\
      int refused = cotree_event_limit(0, 1, struck);\n\
      cotree_trace_stop();\n\
      return events == 0 ? 10 + refused : 1;\n\
    }\n";

/// Bytes that are loaded of code, constants and unwind tables, and the names of symbols.
fn loaded(project: &Project, program: &str) -> (u64, HashSet<String>) {
    let bytes = fs::read(project.path(program)).expect("a program");
    let file = object::File::parse(&*bytes).expect("ELF");
    let is_loaded = |section: &object::Section<'_, '_>| {
        section.address() != 0 && !matches!(section.kind(), object::SectionKind::UninitializedData)
    };
    let size = file.sections().filter(is_loaded).map(|section| section.size()).sum();
    (size, file.symbols().filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect())
}

#[test]
fn a_program_gets_what_its_profile_takes() {
    let project = Project::new(&[("main.c", SOURCE)]);
    let mut sizes = Vec::new();
    for (profile, kind) in [
        ("edge", ""),
        ("block", ""),
        ("vertex", ""),
        ("vertex-edge", ""),
        ("calls", ""),
        ("edge", "-static"),
        ("path", ""),
        ("trace", ""),
    ] {
        project.ok(&format!("--profile {profile} cc -O1 {kind} main.c -o program"));
        let output =
            project.command(project.path("program")).env("COTREE_FILE", "p.cotree").output().expect("it starts");
        assert_eq!(output.status.code(), Some(11), "{profile} {kind}: {}", String::from_utf8_lossy(&output.stderr));
        project.ok("report p.cotree");
        let (size, symbols) = loaded(&project, "program");
        let records = ["__cotree_path", "__cotree_trace_full", "__cotree_safe_point"];
        let has = records.iter().filter(|name| symbols.contains(**name)).count();
        assert_eq!(has, if matches!(profile, "path" | "trace") { 3 } else { 0 }, "{profile} {kind}");
        sizes.push(size);
    }
    let (edge, path) = (sizes[0], sizes[6]);
    assert!(edge < 128_000, "{edge} bytes of a program that has hardly any itself");
    assert!(edge + 40_000 < path, "{edge} and {path}");
}
