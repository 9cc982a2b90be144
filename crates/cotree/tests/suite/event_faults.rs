//! What other people's programs have shown of counted events.

use crate::project::{Project, succeed};
use serde_json::Value;

/// Per function, its own instructions and its entries.
fn told(project: &Project, profile: &str, name: &str) -> (u64, u64) {
    let file: Value = serde_json::from_str(&project.ok(&format!("export --format json {profile}"))).expect("JSON");
    let functions = file["units"][0]["functions"].as_array().expect("functions");
    let function = functions.iter().find(|function| function["name"] == name).expect("the function");
    let number = |value: &Value| value.as_u64().expect("a number");
    (number(&function["events"]["exclusive"]["instructions"]), number(&function["events"]["entries"]))
}

/// An exception arrives at a landing pad that two calls share: sums of calls are read before the pad counts anything.
#[test]
fn calls_that_share_a_landing_pad() {
    let project = Project::new(&[
        ("p.cpp", include_str!("../programs/findings/events-calls-shared-landing-pad.cpp")),
        ("src/main.rs", include_str!("../programs/findings/events-calls-shared-landing-pad.rs")),
        ("Cargo.toml", "[package]\nname = \"panics\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n"),
    ]);
    let verified = || {
        let verdict = project.ok("verify --strict p.cotree");
        assert!(verdict.starts_with("OK: ") && verdict.contains(" calls, 1 kind of events compared"), "{verdict}");
        assert!(verdict.contains("; 0 functions not vouched for, 0 counts differ"), "{verdict}");
    };
    for level in ["-O0", "-O1", "-O2"] {
        project.ok(&format!("--verify --profile events-calls=instructions c++ {level} -w -o p p.cpp"));
        succeed(project.command(project.path("p")).env("COTREE_FILE", "p.cotree"));
        verified();
        if level == "-O0" {
            assert_eq!(told(&project, "p.cotree", "g()"), (19, 1));
            assert_eq!(told(&project, "p.cotree", "X::~X()"), (13, 1));
        }
    }
    for (release, folder) in [("", "debug"), (" --release", "release")] {
        project.ok(&format!("--verify --profile events-calls=instructions cargo build -q{release}"));
        let program = project.path(&format!("target/cotree/x86_64-unknown-linux-gnu/{folder}/panics"));
        succeed(project.command(program).env("COTREE_FILE", "p.cotree"));
        verified();
    }
}
