//! Processes that are started with a cleared environment write their profiles where the build says.

use crate::project::{Project, succeed};
use std::fs;

#[test]
fn children_with_a_cleared_environment() {
    let project = Project::new(&[
        ("Cargo.toml", include_str!("../programs/findings/spawned/Cargo.toml")),
        ("src/main.rs", include_str!("../programs/findings/spawned/src/main.rs")),
        ("tests/cli.rs", include_str!("../programs/findings/spawned/tests/cli.rs")),
    ]);
    // A relative path is one of the folder where the build is started.
    let mut tests = project.cotree("cargo --profile-file profiles/%n.%p.cotree test -q --offline");
    succeed(tests.env("CARGO_NET_OFFLINE", "true"));
    let report = project.ok("report profiles -f spawned::main");
    assert!(report.contains("main.rs"), "{report}");
    let json: serde_json::Value = serde_json::from_str(&project.ok("export profiles")).expect("JSON");
    let units = json["units"].as_array().expect("units");
    // Four tests start it, one of them without an environment.
    let runs: Vec<_> = units.iter().map(|unit| unit["runs"]["finished"].as_u64()).collect();
    assert!(runs.contains(&Some(4)), "{runs:?}");
    assert!(fs::read_dir(project.path(".")).expect("a folder").all(|entry| {
        let name = entry.expect("an entry").file_name();
        !name.to_string_lossy().ends_with(".cotree")
    }));
}
