//! Decisions of Rust: generic functions, macros, what is never called, and what cannot be followed.

use crate::project::{Project, succeed};

const MANIFEST: &str = "[package]\nname = \"m\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";

/// The findings' program has clang's vectors, also if rustc has optimised it: then this is said.
#[test]
fn vectors_of_rust_are_those_of_c() {
    let project =
        Project::new(&[("Cargo.toml", MANIFEST), ("src/main.rs", include_str!("../../programs/findings/mcdc.rs"))]);
    for level in ["", "--release"] {
        let run = format!("--coverage --mcdc cargo run --quiet {level} -- 15 12 3 0 8 8 8");
        succeed(project.cotree(&run).env("COTREE_FILE", "m.cotree"));
        let text = project.ok("coverage --show-mcdc m.cotree");
        let decision = text.split_once("Decisions\n").expect("decisions").1;
        assert!(
            decision.ends_with(
                "  src/main.rs:3:8: 3 of 4 conditions are shown to be independent\n    \
                 1  F - F - -> F  1 times\n    2  T F F - -> F  3 times\n    \
                 3  F - T T -> T  1 times\n    4  T T - - -> T  2 times\n    \
                 C1 a: independent by 1 and 4\n    C2 b: independent by 2 and 4\n    \
                 C3 c: independent by 1 and 3\n    C4 d: not shown; missing F - T F -> F\n"
            ),
            "{text}"
        );
        assert_eq!(decision.contains("3:8: not followed: that rustc has optimised"), level == "--release", "{text}");
        std::fs::remove_file(project.path("m.cotree")).expect("a profile");
    }
}

#[test]
fn what_is_not_followed_is_said() {
    let source = "fn both<T: PartialOrd>(a: T, b: T, c: bool) -> bool {\n    a < b && c\n}\n\
        fn never(a: bool, b: bool) -> bool {\n    a || b\n}\n\
        macro_rules! sum { ($a:expr => $b:expr) => { $a as u32 + $b }; }\n\
        fn main() {\n    let n = std::env::args().count() as u32;\n    let o = Some(n);\n    \
        both(n, 2, true);\n    both(2.0, 1.0, n > 7);\n    both('a', 'b', n > 7);\n    \
        if let Some(k) = o && k > 3 {\n        println!(\"{k}\");\n    }\n    \
        assert!(n > 0 && n < 9, \"{n}\");\n    \
        let k = sum!(n > 1 && n < 5 => n);\n    \
        if cfg!(unix) && k > 7 {\n        std::process::exit(never(false, k > 9) as i32);\n    }\n}\n";
    let project = Project::new(&[("Cargo.toml", MANIFEST), ("src/main.rs", source)]);
    succeed(project.cotree("--coverage --mcdc cargo run --quiet").env("COTREE_FILE", "m.cotree"));
    let text = project.ok("coverage --show-mcdc m.cotree");
    for line in [
        "  src/main.rs:14:8: not followed: with a pattern (let)\n",
        "  src/main.rs:18:13: not followed: in what a macro is given\n",
        "  src/main.rs:19:8: not followed: with a constant condition\n",
        // Three instances of one decision.
        "  src/main.rs:2:5: 2 of 2 conditions are shown to be independent\n    1  F - -> F  1 times\n    \
         2  T F -> F  1 times\n    3  T T -> T  1 times\n",
        "  src/main.rs:5:5: 0 of 2 conditions are shown to be independent\n    C1 a: not shown; missing",
        "  src/main.rs:17:13: 0 of 2 conditions are shown to be independent\n    1  T T -> T  1 times\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let json: serde_json::Value = serde_json::from_str(&project.ok("coverage --json m.cotree")).expect("JSON");
    assert_eq!(
        json["total"]["branches"]["total"].as_u64(),
        Some(12),
        "two for each of six conditions that are followed"
    );
    assert_eq!(json["total"]["mcdc"]["total"].as_u64(), Some(6));
    assert_eq!(json["files"][0]["decisions_not_followed"].as_array().map(Vec::len), Some(3));
    let traced = project.ok("coverage --lcov m.cotree");
    assert!(traced.contains("BRDA:2,0,0,2\nBRDA:2,0,1,1\nBRDA:2,1,2,1\nBRDA:2,1,3,1\n"), "{traced}");
}
